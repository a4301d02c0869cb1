//! The people outside: they push, approve, reject, suspend, edit manifests, and change things by hand.

mod asks;
mod repository;

use axum::body::Body;
use axum::http::Request;
use secrecy::SecretString;
use yuba_core::id::{ManifestSetName, SecretName, StackId};
use yuba_core::record::Record;
use yuba_core::run::{Run, RunState};
use yuba_core::spec::ValuesKind;
use yuba_core::stack::Stack;
use yuba_ports::Item;
use yuba_ports::records::Versioned;

use crate::chance::Chance;
use crate::history::Sign;
use crate::lane::Lane;
use crate::process::Doing;
use crate::serving::SECRET;
use crate::world::World;
use crate::world::git::GitHost;
use repository::Infra;

/// Who asks for things.
pub(crate) const NAMES: [&str; 4] = ["ann", "bob", "cem", "dee"];
/// Where the repository lies.
pub(crate) const URL: &str = "https://git.example/infra";

/// The people, and what they have in mind.
pub(crate) struct People {
    manifests: Vec<ManifestSetName>,
    infra: Infra,
}

/// What somebody may do.
#[derive(Debug, Clone, Copy)]
enum Act {
    Push,
    PushBack,
    EditManifest,
    Approve,
    Reject,
    Suspend,
    Drift,
    Ask,
    Pause,
    Repair,
    Branch,
    Secret,
}

impl People {
    /// People with a repository of a few stacks.
    pub(crate) fn found(git: &mut GitHost, chance: &mut Chance) -> Self {
        let mut infra = Infra::new(chance);
        infra.remember();
        git.commit(URL, "main", infra.files(), ("ann", 0));
        Self { manifests: vec![ManifestSetName(format!("{URL}@main//flux"))], infra }
    }

    /// The configured places of manifests.
    pub(crate) fn manifests(&self) -> &[ManifestSetName] {
        &self.manifests
    }

    /// Somebody does something; a process where it takes a request.
    pub(crate) fn act(&mut self, world: &World, records: &[Item]) -> Option<(String, Doing)> {
        let (who, act) = {
            let mut state = world.state();
            let who = state.chance.one_of(&NAMES).copied().unwrap_or("ann");
            who.clone_into(&mut state.current.name);
            let acts = [
                (30, Act::Push),
                (6, Act::PushBack),
                (25, Act::EditManifest),
                (60, Act::Approve),
                (8, Act::Reject),
                (6, Act::Suspend),
                (10, Act::Drift),
                (12, Act::Ask),
                (4, Act::Pause),
                (20, Act::Repair),
                (3, Act::Branch),
                (8, Act::Secret),
            ];
            (who, state.chance.weighted(&acts)?)
        };
        let stacks = stacks(records);
        match act {
            Act::Push => Some(self.push(world, who)),
            Act::PushBack => self.push_back(world, who),
            Act::EditManifest => Some(self.edit(world, who)),
            Act::Drift => drift(world),
            Act::Approve => asks::approve(world, who, &stacks),
            Act::Reject => asks::reject(world, who, &stacks),
            Act::Suspend => asks::suspend(world, who, &stacks),
            Act::Ask => asks::ask(world, who, &stacks),
            Act::Pause => Some(asks::pause(world, who)),
            Act::Repair => asks::repair(world, who, &stacks),
            Act::Secret => write_secret(world),
            Act::Branch => Some(self.branch(world, who)),
        }
    }

    fn push(&mut self, world: &World, who: &str) -> (String, Doing) {
        {
            let mut state = world.state();
            let what = self.infra.change_code(&mut state.chance);
            self.commit(&mut state, who, &what);
        }
        (who.to_owned(), notify(world.clone()))
    }

    fn edit(&mut self, world: &World, who: &str) -> (String, Doing) {
        {
            let mut state = world.state();
            let what = self.infra.change_manifest(&mut state.chance);
            self.commit(&mut state, who, &what);
        }
        (who.to_owned(), notify(world.clone()))
    }

    fn commit(&mut self, state: &mut crate::world::State, who: &str, what: &str) {
        self.infra.remember();
        let salt = state.number();
        let commit = state.git.commit(URL, "main", self.infra.files(), (who, salt));
        state.note_as(Sign::to(Lane::GitHost), || {
            format!("pushes {}: {what}", commit.id.as_str().get(..10).unwrap_or_default())
        });
    }

    /// The branch is forced back to a commit it led to before.
    fn push_back(&mut self, world: &World, who: &str) -> Option<(String, Doing)> {
        let commit = {
            let mut state = world.state();
            let pushed = state.git.pushed.clone();
            let (_, commit) = state.chance.one_of(&pushed)?.clone();
            state.git.lead(URL, "main", commit.clone());
            state.note_as(Sign::to(Lane::GitHost), || {
                format!("forces the branch to {}", commit.id.as_str().get(..10).unwrap_or_default())
            });
            state.git.files(&commit.tree)?
        };
        self.infra.read_back(&commit);
        Some((who.to_owned(), notify(world.clone())))
    }

    /// The branch is deleted, or made again.
    fn branch(&mut self, world: &World, who: &str) -> (String, Doing) {
        {
            let mut state = world.state();
            match state.git.delete(URL, "main") {
                Some(_) => state.note_as(Sign::to(Lane::GitHost), || "deletes the branch".to_owned()),
                None => self.commit(&mut state, who, "the branch is made again"),
            }
        }
        (who.to_owned(), notify(world.clone()))
    }

    /// What stands in the way of settling is taken away.
    pub(crate) fn calm_down(&mut self, world: &World) {
        let mut state = world.state();
        "the world".clone_into(&mut state.current.name);
        if state.git.head(URL, "main").is_none() {
            self.commit(&mut state, "ann", "the branch is made again");
        }
        state.note(|| "faults and people stop".to_owned());
    }
}

/// Something is changed behind everybody's back.
fn drift(world: &World) -> Option<(String, Doing)> {
    let mut state = world.state();
    let places: Vec<String> = state.cloud.places.keys().cloned().collect();
    let address = state.chance.one_of(&places)?.clone();
    let resources: Vec<String> = state.cloud.place(&address).real.keys().cloned().collect();
    let resource = state.chance.one_of(&resources)?.clone();
    let value = format!("by hand {}", state.number());
    state.note_as(Sign::to(Lane::Cloud), || format!("changes {resource} of {address} by hand"));
    state.cloud.place(&address).real.insert(resource, value);
    None
}

/// A secret that stacks may read gets another value, past everybody who would wake them.
fn write_secret(world: &World) -> Option<(String, Doing)> {
    let (name, value) = {
        let mut state = world.state();
        let name = format!("outputs-{}", state.chance.below(4));
        let value = format!("value {}", state.number());
        state.note_as(Sign::to(Lane::Secrets), || format!("writes secret {name}"));
        (SecretName::new("default", name), value)
    };
    world.secrets().set(ValuesKind::Secret, &name, &[("id", value.as_str())]);
    None
}

/// The host tells of a push.
fn notify(world: World) -> Doing {
    Box::pin(async move {
        let body = serde_json::json!({ "url": URL, "ref": "refs/heads/main" }).to_string();
        let signature = yuba_git::webhook::sign(body.as_bytes(), &SecretString::from(SECRET));
        let delivery = world.state().number();
        let request = Request::post("/webhooks/generic")
            .header("x-yuba-signature", signature.unwrap_or_default())
            .header("x-yuba-delivery", format!("delivery-{delivery}"))
            .body(Body::from(body));
        let Ok(request) = request else { return };
        if let Some(answer) = world.request(request).await
            && answer.status.is_success()
            && let Some(id) = answer.body.get("delivery").and_then(serde_json::Value::as_str)
        {
            world.state().oracle.accepted_delivery(id);
        }
    })
}

/// A stack with the run it has under way, as a person looks it up.
pub(crate) struct Seen {
    pub(crate) stack: Stack,
    pub(crate) run: Option<Run>,
    pub(crate) latest: Option<Run>,
}

fn stacks(records: &[Item]) -> Vec<Seen> {
    let run = |stack: StackId, id: Option<yuba_core::id::RunId>| {
        let key = yuba_core::record::Key::run(stack, id?);
        of_kind::<Run>(records.iter().find(|item| item.key == key)?)
    };
    let stacks =
        records.iter().filter(|item| item.key.sort == "stack" && item.key.partition.starts_with("stack#"));
    stacks
        .filter_map(of_kind::<Stack>)
        .map(|stack| Seen { run: run(stack.id, stack.run), latest: run(stack.id, stack.latest), stack })
        .collect()
}

fn of_kind<T: Record>(item: &Item) -> Option<T> {
    Versioned::<T>::from_item(item.clone()).ok().map(Versioned::into_value)
}

impl Seen {
    fn waits(&self, state: RunState) -> bool {
        self.run.as_ref().is_some_and(|run| run.state == state)
    }
}
