//! The people outside: they push, approve, reject, suspend, edit manifests, and change things by hand.

mod asks;
mod code;
mod office;
mod presses;
mod repository;

use axum::body::Body;
use axum::http::Request;
use secrecy::SecretString;
use yuba_core::id::{ManifestSetName, RunId, SecretName, SourceName};
use yuba_core::run::{Run, RunState};
use yuba_core::spec::ValuesKind;
use yuba_core::stack::Stack;

use crate::chance::Chance;
use crate::faults::Rates;
use crate::history::Sign;
use crate::lane::Lane;
use crate::process::Doing;
use crate::serving::SECRET;
use crate::world::{State, World};
use office::{BOT, Office};
pub(crate) use office::{PROVIDERS, slack_id};
use repository::Repository;

/// Who asks for things.
pub(crate) const NAMES: [&str; 4] = ["ann", "bob", "cem", "dee"];
/// Who is in no team, and presses buttons all the same.
pub(crate) const STRANGER: &str = "eve";

/// A repository, and the source that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where it lies.
    pub(crate) url: &'static str,
    /// The source's name.
    source: &'static str,
    /// The names of its stacks begin with it.
    letter: char,
    /// Its stacks may have their code in the library.
    reads_library: bool,
}

/// The repositories that hold manifests, and code beside them: a world has the first, or both.
const INFRA: [Place; 2] = [
    Place { url: "https://git.example/infra", source: "live", letter: 's', reads_library: true },
    Place { url: "https://git.example/team", source: "team", letter: 't', reads_library: false },
];
/// The repository that holds code alone.
const LIBRARY: Place =
    Place { url: "https://git.example/library", source: "library", letter: 'l', reads_library: false };
/// The root modules of the library.
const SHELVES: [&str; 3] = ["stacks/dns", "stacks/mail", "stacks/web"];

/// Where the code of a source lies.
pub(crate) fn url_of(source: &SourceName) -> Option<&'static str> {
    [INFRA[0], INFRA[1], LIBRARY].into_iter().find(|place| place.source == source.name).map(|place| place.url)
}

impl Place {
    /// The manifest of its source.
    fn written(self) -> String {
        let Self { url, source, .. } = self;
        format!(
            "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: {source}\nspec:\n  \
             interval: 10m\n  url: {url}\n  ref:\n    branch: main\n"
        )
    }
}

/// The people, and what they have in mind.
pub(crate) struct People {
    manifests: Vec<ManifestSetName>,
    /// The repositories with manifests.
    infra: Vec<Repository>,
    library: Repository,
}

/// What somebody may do.
#[derive(Debug, Clone, Copy)]
enum Act {
    Push,
    PushBack,
    EditManifest,
    Move,
    Approve,
    Press,
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
    /// People with a few stacks, or with many, in one set of manifests or two.
    pub(crate) fn found(world: &World, rates: &Rates, chance: &mut Chance) -> Self {
        let sets = if chance.permille(400) { 2 } else { 1 };
        let most = if chance.permille(rates.large) { LARGE } else { 1 + chance.below(4) };
        let infra = INFRA.into_iter().take(sets).zip([most, 2]);
        let mut infra: Vec<_> = infra.map(|(place, stacks)| Repository::new(place, stacks, chance)).collect();
        let has_office = chance.permille(rates.office);
        if let Some(first) = infra.first_mut().filter(|_| has_office) {
            first.open_office(Office::any(chance), chance);
            let name = SecretName::new("default", BOT);
            world.secrets().set(ValuesKind::Secret, &name, &[("token", "the token of a simulated bot")]);
        }
        let set = |repository: &Repository| ManifestSetName(format!("{}@main//flux", repository.place.url));
        let manifests = infra.iter().map(set).collect();
        let mut people = Self { manifests, infra, library: Repository::library() };
        let mut state = world.state();
        state.has_office = has_office;
        for repository in people.repositories() {
            repository.commit(&mut state.git, ("ann", 0));
        }
        drop(state);
        people
    }

    /// The configured places of manifests.
    pub(crate) fn manifests(&self) -> &[ManifestSetName] {
        &self.manifests
    }

    /// What stands in the manifests, set by set.
    pub(crate) fn sets(&self) -> impl Iterator<Item = (&ManifestSetName, &Repository)> {
        self.manifests.iter().zip(&self.infra)
    }

    fn repositories(&mut self) -> Vec<&mut Repository> {
        self.infra.iter_mut().chain([&mut self.library]).collect()
    }

    /// Somebody does something; a process where it takes a request.
    pub(crate) fn act(&mut self, world: &World) -> Option<(String, Doing)> {
        let (who, act) = {
            let mut state = world.state();
            let rates = state.rates;
            let who = state.chance.one_of(&NAMES).copied().unwrap_or("ann");
            who.clone_into(&mut state.current.name);
            let acts = [
                (rates.push, Act::Push),
                (rates.back, Act::PushBack),
                (rates.edit, Act::EditManifest),
                (if self.infra.len() > 1 { 3 } else { 0 }, Act::Move),
                (60, Act::Approve),
                (if state.services.messages.is_empty() { 0 } else { rates.press }, Act::Press),
                (8, Act::Reject),
                (rates.suspend, Act::Suspend),
                (10, Act::Drift),
                (12, Act::Ask),
                (4, Act::Pause),
                (20, Act::Repair),
                (3, Act::Branch),
                (8, Act::Secret),
            ];
            (who, state.chance.weighted(&acts)?)
        };
        let stacks = stacks(world);
        match act {
            Act::Push => self.push(world, who),
            Act::PushBack => self.push_back(world, who),
            Act::EditManifest => self.edit(world, who),
            Act::Move => self.move_stack(world, who),
            Act::Drift => drift(world),
            Act::Press => presses::press(world),
            Act::Approve => asks::approve(world, who, &stacks),
            Act::Reject => asks::reject(world, who, &stacks),
            Act::Suspend => asks::suspend(world, who, &stacks),
            Act::Ask => asks::ask(world, who, &stacks),
            Act::Pause => Some(asks::pause(world, who)),
            Act::Repair => asks::repair(world, who, &stacks),
            Act::Secret => write_secret(world),
            Act::Branch => self.branch(world, who),
        }
    }

    fn push(&mut self, world: &World, who: &str) -> Option<(String, Doing)> {
        let mut state = world.state();
        let mut repositories = self.repositories();
        let repository = state.chance.one_of_mut(&mut repositories)?;
        let what = repository.code.change(&mut state.chance);
        Some((who.to_owned(), commit(world, &mut state, (who, &mut *repository), &what)))
    }

    fn edit(&mut self, world: &World, who: &str) -> Option<(String, Doing)> {
        let mut state = world.state();
        let repository = state.chance.one_of_mut(&mut self.infra)?;
        let what = repository.change_manifest(&mut state);
        Some((who.to_owned(), commit(world, &mut state, (who, &mut *repository), &what)))
    }

    /// A stack moves from one set of manifests to the other; nobody tells of the push that takes it away.
    fn move_stack(&mut self, world: &World, who: &str) -> Option<(String, Doing)> {
        let mut state = world.state();
        let [one, other] = self.infra.as_mut_slice() else { return None };
        let (from, to) = if state.chance.permille(500) { (one, other) } else { (other, one) };
        let (name, document) = from.give_away(&mut state.chance)?;
        let what = format!("{name} moves to {}", to.place.url);
        to.take_in(name, document);
        drop(commit(world, &mut state, (who, &mut *from), &what));
        Some((who.to_owned(), commit(world, &mut state, (who, to), &what)))
    }

    /// A branch is forced back to a commit it led to before.
    fn push_back(&mut self, world: &World, who: &str) -> Option<(String, Doing)> {
        let mut state = world.state();
        let mut repositories = self.repositories();
        let repository = state.chance.one_of_mut(&mut repositories)?;
        let url = repository.place.url;
        let pushed: Vec<_> = state.git.pushed.iter().filter(|(to, _)| to == url).cloned().collect();
        let (_, commit) = state.chance.one_of(&pushed)?.clone();
        repository.read_back(&*state.git.files(&commit.tree)?);
        state.note_as(Sign::to(Lane::GitHost), || {
            format!("forces {url} back to {}", commit.id.as_str().get(..10).unwrap_or_default())
        });
        state.git.lead(url, "main", commit);
        Some((who.to_owned(), notify(world.clone(), url)))
    }

    /// A branch is deleted, or made again.
    fn branch(&mut self, world: &World, who: &str) -> Option<(String, Doing)> {
        let mut state = world.state();
        let mut repositories = self.repositories();
        let repository = state.chance.one_of_mut(&mut repositories)?;
        let url = repository.place.url;
        if state.git.delete(url, "main").is_none() {
            let what = "the branch is made again";
            return Some((who.to_owned(), commit(world, &mut state, (who, &mut *repository), what)));
        }
        state.note_as(Sign::to(Lane::GitHost), || format!("deletes the branch of {url}"));
        Some((who.to_owned(), notify(world.clone(), url)))
    }

    /// What stands in the way of settling is taken away.
    pub(crate) fn calm_down(&mut self, world: &World) {
        let mut state = world.state();
        "the world".clone_into(&mut state.current.name);
        for repository in self.repositories() {
            if state.git.head(repository.place.url, "main").is_none() {
                drop(commit(world, &mut state, ("ann", repository), "the branch is made again"));
            }
        }
        state.mend_all();
        state.note(|| "faults and people stop".to_owned());
    }
}

/// Commits what a repository is meant to hold. Gives what tells of it.
fn commit(world: &World, state: &mut State, (who, repository): (&str, &mut Repository), what: &str) -> Doing {
    let (url, salt) = (repository.place.url, state.number());
    let commit = repository.commit(&mut state.git, (who, salt));
    state.note_as(Sign::to(Lane::GitHost), || {
        format!("pushes {} to {url}: {what}", commit.id.as_str().get(..10).unwrap_or_default())
    });
    notify(world.clone(), url)
}

/// How many stacks a large set has: more than make one trouble of the same error.
const LARGE: usize = yuba_core::trouble::MANY + 3;

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

/// A secret that stacks may read gets another value, or another of its values changes, which no stack reads: past
/// everybody who would wake them.
fn write_secret(world: &World) -> Option<(String, Doing)> {
    let (name, values) = {
        let mut state = world.state();
        let name = format!("outputs-{}", state.chance.below(4));
        let value = format!("value {}", state.number());
        let (id, other) =
            if state.chance.permille(500) { (value.as_str(), "") } else { ("the same", value.as_str()) };
        state.note_as(Sign::to(Lane::Secrets), || format!("writes secret {name}"));
        (SecretName::new("default", name), [id.to_owned(), other.to_owned()])
    };
    let [id, other] = &values;
    world.secrets().set(ValuesKind::Secret, &name, &[("id", id), ("other", other)]);
    None
}

/// The host tells of a push.
fn notify(world: World, url: &'static str) -> Doing {
    Box::pin(async move {
        let body = serde_json::json!({ "url": url, "ref": "refs/heads/main" }).to_string();
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

/// All stacks, as they stand.
fn stacks(world: &World) -> Vec<Seen> {
    let state = world.state();
    let run = |id: Option<RunId>| state.oracle.run(id?).cloned();
    let seen = |stack: &Stack| Seen { run: run(stack.run), latest: run(stack.latest), stack: stack.clone() };
    state.oracle.stacks().map(seen).collect()
}

impl Seen {
    fn waits(&self, state: RunState) -> bool {
        self.run.as_ref().is_some_and(|run| run.state == state)
    }
}
