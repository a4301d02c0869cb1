//! A world in memory with a real Git repository, and the queue's worker in between.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part of the kit")]
#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

pub mod faults;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use yuba_core::id::{ManifestSetName, SourceName, StackId, StackName};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::people::Roster;
use yuba_core::record::{Key, Record, StackAlias};
use yuba_core::source::{Definition, ManifestSetRecord, Observation, Source};
use yuba_core::time::Span;
use yuba_ports::memory::MemoryWorld;
use yuba_ports::records::{Versioned, load};
use yuba_ports::{Clock, Ports, Queue, QueueName, Received};
use yuba_source::{SourceSettings, configure, handle};

use faults::Faults;

/// A world in memory, a repository with a working tree, and a directory of manifests.
pub struct World {
    pub memory: MemoryWorld,
    pub faults: Faults,
    pub settings: SourceSettings,
    directory: TempDir,
}

impl World {
    /// A world whose repository is empty, with one directory of manifests.
    pub fn empty() -> Self {
        let directory = TempDir::new().unwrap();
        let mut settings = SourceSettings::new(directory.path().join("cache"));
        let manifests = directory.path().join("flux");
        fs::create_dir_all(&manifests).unwrap();
        settings.manifests = vec![ManifestSetName(manifests.display().to_string())];
        let world = Self { memory: MemoryWorld::new(), faults: Faults::default(), settings, directory };
        fs::create_dir_all(world.repository()).unwrap();
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        world
    }

    /// A world with these files committed and these manifests taken over, all stacks observed, and nothing left to do.
    pub async fn settled(files: &[(&str, &str)], manifests: &str) -> Self {
        let world = Self::empty();
        world.commit(files);
        world.manifests(manifests);
        world.start().await;
        world.woken().await;
        world
    }

    pub fn repository(&self) -> PathBuf {
        self.directory.path().join("live repository ü")
    }

    /// The manifest of the source that names the repository.
    pub fn source_manifest(&self) -> String {
        source_manifest("live", &self.repository())
    }

    /// Writes the manifest of the source, and others below it.
    pub fn manifests(&self, others: &str) {
        let text = format!("{}{others}", self.source_manifest());
        fs::write(self.directory.path().join("flux/all.yaml"), text).unwrap();
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.repository(), arguments)
    }

    /// Commits everything with these files written; returns the commit.
    pub fn commit(&self, files: &[(&str, &str)]) -> String {
        for (path, text) in files {
            let path = self.repository().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "a change"]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    pub fn ports(&self) -> Ports {
        self.faults.over(self.memory.ports())
    }

    pub fn set(&self) -> ManifestSetName {
        self.settings.manifests.first().unwrap().clone()
    }

    /// Configures the manifests and handles everything until nothing is left.
    pub async fn start(&self) -> Vec<String> {
        configure(&self.memory.ports(), &self.settings.manifests).await.unwrap();
        self.send(Wake::Manifests(self.set())).await;
        self.work().await
    }

    /// Wakes the manifests, or a source, as the scheduler would at this time.
    pub async fn send(&self, wake: Wake) {
        let slot = self.memory.clock.now();
        self.memory.queue.send(vec![Message::new(wake, Cause::Due { slot })]).await.unwrap();
    }

    /// Lets an hour pass, so that everything is due and no message counts as a repetition, and looks at the source.
    pub async fn look(&self) -> Vec<String> {
        self.memory.clock.advance(Span::hours(1));
        self.send(Wake::Source(live())).await;
        self.work().await
    }

    /// A whole look by another process, with a cache of its own.
    pub async fn look_beside(&self) {
        let mut settings = SourceSettings::new(self.directory.path().join("other cache"));
        settings.manifests.clone_from(&self.settings.manifests);
        let slot = self.memory.clock.now();
        let message = Message::new(Wake::Source(live()), Cause::Due { slot });
        handle(&self.memory.ports(), &settings, &[message]).await.unwrap();
    }

    /// The same for the manifests.
    pub async fn take_over(&self) -> Vec<String> {
        self.memory.clock.advance(Span::hours(1));
        self.send(Wake::Manifests(self.set())).await;
        self.work().await
    }

    /// Looks at the manifests once, however that goes, and not again.
    pub async fn try_to_take_over(&self) {
        self.memory.clock.advance(Span::hours(1));
        let slot = self.memory.clock.now();
        let message = Message::new(Wake::Manifests(self.set()), Cause::Due { slot });
        let _ = handle(&self.ports(), &self.settings, &[message]).await;
    }

    /// Handles messages until none is left, those of a group together; where that fails, all of them come again.
    pub async fn work(&self) -> Vec<String> {
        let (ports, mut reports) = (self.ports(), Vec::new());
        loop {
            let received = self.memory.queue.receive(QueueName::Sources, 10, Span::ZERO).await.unwrap();
            if received.is_empty() {
                return reports;
            }
            reports.extend(Box::pin(self.handle(&ports, &received)).await);
        }
    }

    async fn handle(&self, ports: &Ports, received: &[Received]) -> Vec<String> {
        let messages: Vec<Message> = received.iter().map(|received| received.message.clone()).collect();
        match handle(ports, &self.settings, &messages).await {
            Ok(reports) => {
                for received in received {
                    self.memory.queue.ack(received).await.unwrap();
                }
                reports.iter().map(ToString::to_string).collect()
            }
            Err(error) => {
                for received in received {
                    self.memory.queue.release(received, Span::ZERO).await.unwrap();
                }
                vec![format!("again: {error}")]
            }
        }
    }

    /// The names of the stacks that were woken since this was asked last, and what for.
    pub async fn woken(&self) -> Vec<String> {
        let mut woken = Vec::new();
        loop {
            let received = self.memory.queue.receive(QueueName::Stacks, 10, Span::ZERO).await.unwrap();
            if received.is_empty() {
                woken.sort();
                return woken;
            }
            for received in received {
                self.memory.queue.ack(&received).await.unwrap();
                woken.push(self.shown(&received.message).await);
            }
        }
    }

    async fn shown(&self, message: &Message) -> String {
        let Wake::Stack(id) = message.wake else { return format!("{message:?}") };
        let name = self.load::<Definition>(&Key::definition(id)).await.map(|known| known.name.name);
        let name = name.unwrap_or_else(|| id.to_string());
        match &message.cause {
            Cause::Observation { number, .. } => format!("{name}: observation {number}"),
            Cause::Definition { snapshot, .. } => format!("{name}: snapshot {snapshot}"),
            Cause::Values { name: values, .. } => format!("{name}: {values}"),
            Cause::SameState { .. } => format!("{name}: same state"),
            other => format!("{name}: {other:?}"),
        }
    }

    pub async fn load<T: Record>(&self, key: &Key) -> Option<T> {
        load::<T>(&*self.memory.store, key).await.unwrap().map(Versioned::into_value)
    }

    pub async fn source(&self) -> Source {
        self.load(&Key::source(&live())).await.unwrap()
    }

    pub async fn record(&self) -> ManifestSetRecord {
        self.load(&Key::manifest_set(&self.set())).await.unwrap()
    }

    pub async fn id(&self, name: &str) -> Option<StackId> {
        let alias: Option<StackAlias> = self.load(&Key::stack_name(&stack_name(name))).await;
        alias.map(|alias| alias.stack)
    }

    pub async fn definition(&self, name: &str) -> Definition {
        self.load(&Key::definition(self.id(name).await.unwrap())).await.unwrap()
    }

    pub async fn observation(&self, name: &str) -> Observation {
        self.load(&Key::observation(self.id(name).await.unwrap())).await.unwrap()
    }

    /// How often teams changed, and each with the names of its members.
    pub async fn teams(&self) -> (u64, Vec<String>) {
        let changes = self.load::<Roster>(&Key::roster()).await.map_or(0, |roster| roster.changes);
        let teams = yuba_ports::around::teams(&*self.memory.store).await.unwrap();
        let shown = teams.iter().map(|team| {
            let names = team.members.iter().flat_map(|member| &member.identities).map(ToString::to_string);
            format!("{}: {}", team.name, names.collect::<Vec<_>>().join(", "))
        });
        (changes, shown.collect())
    }

    /// How often teams and freezes changed, and each freeze that stands with its reason.
    pub async fn freezes(&self) -> (u64, Vec<String>) {
        let changes = self.load::<Roster>(&Key::roster()).await.map_or(0, |roster| roster.changes);
        let freezes = yuba_ports::around::bound(&*self.memory.store).await.unwrap().freezes;
        let standing = freezes.iter().filter(|freeze| freeze.vanished.is_none());
        (changes, standing.map(|freeze| format!("{}: {}", freeze.name, freeze.spec.reason)).collect())
    }

    /// The cache is lost, as with the machine that it lay on.
    pub fn lose_cache(&self) {
        fs::remove_dir_all(&self.settings.cache_dir).unwrap();
    }
}

pub fn live() -> SourceName {
    SourceName::new("default", "live")
}

pub fn stack_name(name: &str) -> StackName {
    StackName::new("default", name)
}

/// A `GitRepository` that follows `main`.
pub fn source_manifest(name: &str, repository: &Path) -> String {
    format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: {name}\nspec:\n  interval: \
         1m\n  url: \"file://{}\"\n  ref:\n    branch: main\n",
        repository.display()
    )
}

/// A `Terraform` manifest with more lines of its spec.
pub fn stack(name: &str, path: &str, more: &[&str]) -> String {
    let more = more.iter().flat_map(|line| ["  ", line, "\n"]).collect::<String>();
    format!(
        "---\napiVersion: infra.contrib.fluxcd.io/v1alpha2\nkind: Terraform\nmetadata:\n  name: {name}\nspec:\n  \
         interval: 1h\n  path: {path}\n  sourceRef:\n    kind: GitRepository\n    name: live\n{more}"
    )
}

/// A backend of its own for a stack, so that its state has an address.
pub const STATE: [&str; 6] = [
    "backendConfig:",
    "  customConfiguration: |",
    "    backend \"s3\" {",
    "      bucket = \"b\"",
    "      key    = \"k\"",
    "    }",
];

#[expect(clippy::disallowed_methods, reason = "real git, in a test")]
pub fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(directory)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Ada Lovelace")
        .env("GIT_AUTHOR_EMAIL", "ada@example.org")
        .env("GIT_COMMITTER_NAME", "Grace Hopper")
        .env("GIT_COMMITTER_EMAIL", "grace@example.org")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
