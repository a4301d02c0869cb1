//! A repository that people edit, code and manifests, as a model that is written out whole.

use std::collections::BTreeMap;

use yuba_core::id::StackName;

use super::code::Code;
use super::office::{Office, TEAMS};
use super::{LIBRARY, Place, SHELVES};
use crate::chance::Chance;
use crate::world::State;
use crate::world::git::{Commit, Files, GitHost};

/// The file that holds the manifests.
const MANIFESTS: &str = "flux/all.yaml";
/// More stacks are not added to a set of the usual size.
const MOST: usize = 5;

/// What the repository is meant to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    pub(super) place: Place,
    pub(super) code: Code,
    documents: BTreeMap<String, Document>,
    /// What was ever written: a commit that comes back brings its documents with it.
    known: BTreeMap<String, (BTreeMap<String, Document>, Option<Office>)>,
    /// Teams, and where messages go.
    office: Option<Office>,
    numbers: u32,
}

/// The manifest of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Document {
    path: String,
    /// The name of the source that holds its code.
    source: String,
    approve: Approve,
    minutes: i64,
    has_backend: bool,
    is_suspended: bool,
    is_destroyed: bool,
    waits_for: Option<String>,
    size: u32,
    /// Names its state: it stays when the stack is renamed.
    state: String,
    /// Puts drift right by itself.
    remediates: bool,
    is_plan_only: bool,
    /// The secret that it reads a variable from.
    reads: Option<String>,
    /// The secret that its outputs are written to.
    writes: Option<String>,
    /// What is demanded of those who approve its plans.
    rule: Rule,
}

/// Who lets its plans be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Approve {
    People,
    Auto,
    Nobody,
}

/// What is demanded of those who approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    None,
    One,
    Two,
    Other,
    Fresh,
    Team(usize),
    BothTeams,
    TwoToDestroy,
}

impl Rule {
    const ALL: [Self; 9] = [
        Self::None,
        Self::One,
        Self::Two,
        Self::Other,
        Self::Fresh,
        Self::Team(0),
        Self::Team(1),
        Self::BothTeams,
        Self::TwoToDestroy,
    ];

    fn written(self) -> String {
        let team = |at: usize| TEAMS.get(at).copied().unwrap_or_default();
        let rule = match self {
            Self::None => return String::new(),
            Self::One => "count: 1".to_owned(),
            Self::Two => "count: 2".to_owned(),
            Self::Other => "count: 1, notAuthor: true".to_owned(),
            Self::Fresh => "count: 2, expiresAfter: 30m".to_owned(),
            Self::Team(at) => format!("count: 1, teams: [{{name: {}}}]", team(at)),
            Self::BothTeams => format!("teams: [{{name: {}}}, {{name: {}}}]", team(0), team(1)),
            Self::TwoToDestroy => "when: [{if: destroys > 0, count: 2}]".to_owned(),
        };
        format!("  approval: {{{rule}}}\n")
    }
}

impl Repository {
    /// A repository of so many stacks.
    pub(super) fn new(place: Place, stacks: usize, chance: &mut Chance) -> Self {
        let mut repository = Self::empty(place, Code::new(&[]));
        for number in 0..stacks {
            repository.add(&format!("{}{number}", place.letter), chance);
        }
        repository
    }

    /// The library: code alone.
    pub(super) fn library() -> Self {
        Self::empty(LIBRARY, Code::new(&SHELVES))
    }

    /// Teams and messages come beside the stacks, some of which ask more of those who approve.
    pub(super) fn open_office(&mut self, office: Office, chance: &mut Chance) {
        self.office = Some(office);
        for document in self.documents.values_mut() {
            document.rule = chance.one_of(&Rule::ALL).copied().unwrap_or(Rule::None);
        }
    }

    fn empty(place: Place, code: Code) -> Self {
        Self { place, code, documents: BTreeMap::new(), known: BTreeMap::new(), office: None, numbers: 0 }
    }

    fn add(&mut self, name: &str, chance: &mut Chance) {
        let is_shelved = self.place.reads_library && chance.permille(250);
        let (source, path) = match chance.one_of(&SHELVES).filter(|_| is_shelved) {
            Some(path) => (LIBRARY.source, (*path).to_owned()),
            None => (self.place.source, format!("stacks/{name}")),
        };
        if !is_shelved {
            self.code.add(&path);
        }
        let approve = [Approve::People, Approve::Auto, Approve::Auto, Approve::People, Approve::Nobody];
        let others: Vec<String> = self.documents.keys().cloned().collect();
        let waits_for = if chance.permille(250) { chance.one_of(&others).cloned() } else { None };
        let document = Document {
            path,
            source: source.to_owned(),
            approve: chance.one_of(&approve).copied().unwrap_or(Approve::Auto),
            minutes: chance.one_of(&[20, 60, 180]).copied().unwrap_or(60),
            has_backend: chance.permille(800),
            is_suspended: false,
            is_destroyed: false,
            waits_for,
            size: 1,
            state: name.to_owned(),
            remediates: chance.permille(500),
            is_plan_only: chance.permille(80),
            reads: chance.permille(300).then(|| format!("outputs-{}", chance.below(4))),
            writes: chance.permille(300).then(|| format!("outputs-{}", name.trim_start_matches('s'))),
            rule: Rule::None,
        };
        self.documents.insert(name.to_owned(), document);
    }

    /// Somebody changes a manifest. Says what.
    pub(super) fn change_manifest(&mut self, state: &mut State) -> String {
        let (is_about_approval, chance) = (state.rates.approval, &mut state.chance);
        self.numbers += 1;
        let names: Vec<String> = self.documents.keys().cloned().collect();
        let Some(name) = chance.one_of(&names).cloned() else {
            let name = format!("{}0", self.place.letter);
            self.add(&name, chance);
            return format!("{name} is new");
        };
        if let Some(office) = self.office.as_mut().filter(|_| chance.permille(250)) {
            if chance.permille(500) {
                return office.change(chance);
            }
            let rule = chance.one_of(&Rule::ALL).copied().unwrap_or(Rule::None);
            if let Some(document) = self.documents.get_mut(&name) {
                document.rule = rule;
            }
            return format!("{name}: approval {rule:?}");
        }
        if chance.permille(is_about_approval) {
            let choice = chance.one_of(&[6, 6, 7, 8, 9, 12]).copied().unwrap_or(7);
            return self.change_document(&name, choice);
        }
        match chance.below(24) {
            0 => self.rename(&name),
            1 => {
                self.documents.remove(&name);
                format!("{name} is removed")
            }
            2 if names.len() < MOST => {
                let name = format!("{}{}", self.place.letter, 10 + self.numbers);
                self.add(&name, chance);
                format!("{name} is new")
            }
            choice => self.change_document(&name, choice),
        }
    }

    /// Any of its stacks is taken out, to be put in elsewhere.
    pub(super) fn give_away(&mut self, chance: &mut Chance) -> Option<(String, Document)> {
        let names: Vec<String> = self.documents.keys().cloned().collect();
        self.documents.remove_entry(chance.one_of(&names)?)
    }

    /// A stack comes from elsewhere, with its code.
    pub(super) fn take_in(&mut self, name: String, document: Document) {
        let source = self.place.source.to_owned();
        self.code.add(&document.path);
        self.documents.insert(name, Document { source, waits_for: None, rule: Rule::None, ..document });
    }

    /// The stacks that nothing in these manifests can hold back, with the path and the size that they are given.
    pub(crate) fn free_standing(&self) -> impl Iterator<Item = (StackName, &str, u32)> {
        let shares = |one: &Document| {
            let same = |other: &&Document| other.has_backend && other.state == one.state;
            one.has_backend && self.documents.values().filter(same).count() > 1
        };
        let free = self.documents.iter();
        let free = free.filter(move |(_, document)| document.waits_for.is_none() && !shares(document));
        free.map(|(name, document)| (StackName::new("default", name), document.path.as_str(), document.size))
    }

    fn rename(&mut self, name: &str) -> String {
        let new = format!("{}r{}", name.split('r').next().unwrap_or(name), self.numbers);
        if let Some(document) = self.documents.remove(name) {
            self.documents.insert(new.clone(), document);
        }
        format!("{name} is renamed to {new}")
    }

    fn change_document(&mut self, name: &str, choice: usize) -> String {
        let number = self.numbers;
        let Some(document) = self.documents.get_mut(name) else { return "nothing".to_owned() };
        match choice {
            3 => {
                document.is_destroyed = !document.is_destroyed;
                format!("{name}: destroy {}", document.is_destroyed)
            }
            4 => {
                document.is_plan_only = !document.is_plan_only;
                format!("{name}: planOnly {}", document.is_plan_only)
            }
            5 => {
                document.remediates = !document.remediates;
                format!("{name}: remediates {}", document.remediates)
            }
            6 => {
                document.approve = Approve::Nobody;
                format!("{name}: approvePlan disable")
            }
            7..=11 => {
                document.approve =
                    if document.approve == Approve::Auto { Approve::People } else { Approve::Auto };
                format!("{name}: approvePlan {:?}", document.approve)
            }
            12..=16 => {
                document.is_suspended = !document.is_suspended;
                format!("{name}: suspend {}", document.is_suspended)
            }
            _ => {
                document.size = number;
                format!("{name}: size {number}")
            }
        }
    }

    /// Commits everything in it, and remembers what its manifests mean.
    pub(super) fn commit(&mut self, git: &mut GitHost, by: (&str, u64)) -> Commit {
        let (mut files, manifests) = (self.code.files(), self.manifests());
        self.known.insert(manifests.clone(), (self.documents.clone(), self.office.clone()));
        files.insert(MANIFESTS.to_owned(), manifests);
        git.commit(self.place.url, "main", files, by)
    }

    /// The branch was forced back: what people go on from is what stands there.
    pub(super) fn read_back(&mut self, files: &Files) {
        if let Some((documents, office)) = files.get(MANIFESTS).and_then(|text| self.known.get(text)) {
            self.documents = documents.clone();
            self.office = office.clone();
        }
        self.code.read_back(files);
    }

    fn manifests(&self) -> String {
        let library = self.place.reads_library.then_some(LIBRARY);
        let sources = [Some(self.place), library].into_iter().flatten().map(Place::written);
        let stacks = self.documents.iter().map(|(name, document)| document.written(name));
        let office = self.office.iter().map(Office::written);
        sources.chain(stacks).chain(office).collect()
    }
}

impl Document {
    fn written(&self, name: &str) -> String {
        let approve = match self.approve {
            Approve::People => "manual",
            Approve::Auto => "auto",
            Approve::Nobody => "disable",
        };
        let spec = format!(
            "---\napiVersion: yuba.dev/v1\nkind: Stack\nmetadata:\n  name: {name}\nspec:\n  interval: {}m\n  path: {}\n  \
             approvePlan: {approve}\n  timeout: 20m\n  applyTimeout: 40m\n  sourceRef:\n    kind: GitRepository\n    \
             name: {}\n  suspend: {}\n  destroy: {}\n  vars:\n    - name: size\n      value: {}\n",
            self.minutes, self.path, self.source, self.is_suspended, self.is_destroyed, self.size
        );
        let backend = format!(
            "  backendConfig:\n    customConfiguration: |\n      backend \"s3\" {{\n        bucket = \"b\"\n        \
             key = \"{}\"\n      }}\n",
            self.state
        );
        let backend = if self.has_backend { backend } else { String::new() };
        let may_remediate = self.approve != Approve::Nobody && !self.is_plan_only;
        let mode = if self.remediates && may_remediate { "remediate" } else { "alert" };
        let further = format!("  planOnly: {}\n  drift:\n    mode: {mode}\n", self.is_plan_only);
        let reads = self.reads.as_ref().map(|name| {
            format!("  varsFrom:\n    - kind: Secret\n      name: {name}\n      optional: true\n      varsKeys:\n        - id\n")
        });
        let writes = self.writes.as_ref().map(|name| format!("  writeOutputsToSecret:\n    name: {name}\n"));
        let waits = self.waits_for.as_ref().map(|other| format!("  dependsOn:\n    - name: {other}\n"));
        let others =
            [waits, reads, writes, Some(self.rule.written())].into_iter().flatten().collect::<String>();
        [spec, backend, further, others].concat()
    }
}
