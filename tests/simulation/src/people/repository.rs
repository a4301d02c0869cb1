//! The repository that people edit: code, modules, and the manifests beside them, as a model that is written out whole.

use std::collections::BTreeMap;

use crate::chance::Chance;
use crate::people::URL;
use crate::world::git::Files;

/// The file that holds the manifests.
const MANIFESTS: &str = "flux/all.yaml";

/// What the repository is meant to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Infra {
    code: BTreeMap<String, u32>,
    documents: BTreeMap<String, Document>,
    /// The names that were ever used: a commit that comes back brings its documents with it.
    known: BTreeMap<String, BTreeMap<String, Document>>,
    numbers: u32,
}

/// The manifest of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Document {
    path: String,
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
}

/// Who lets its plans be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Approve {
    People,
    Auto,
    Nobody,
}

impl Infra {
    /// A repository of one to four stacks.
    pub(crate) fn new(chance: &mut Chance) -> Self {
        let mut infra =
            Self { code: BTreeMap::new(), documents: BTreeMap::new(), known: BTreeMap::new(), numbers: 0 };
        infra.code.insert("modules/net/main.tf".to_owned(), 1);
        for number in 0..=chance.below(4) {
            infra.add(&format!("s{number}"), chance);
        }
        infra
    }

    fn add(&mut self, name: &str, chance: &mut Chance) {
        let path = format!("stacks/{name}");
        self.code.insert(format!("{path}/main.tf"), 1);
        let approve = [Approve::People, Approve::Auto, Approve::Auto, Approve::People, Approve::Nobody];
        let others: Vec<String> = self.documents.keys().cloned().collect();
        let waits_for = if chance.permille(250) { chance.one_of(&others).cloned() } else { None };
        let document = Document {
            path,
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
        };
        self.documents.insert(name.to_owned(), document);
    }

    /// Somebody changes code. Says what.
    pub(crate) fn change_code(&mut self, chance: &mut Chance) -> String {
        self.numbers += 1;
        let paths: Vec<String> = self.code.keys().cloned().collect();
        let Some(path) = chance.one_of(&paths) else { return "nothing".to_owned() };
        self.code.insert(path.clone(), self.numbers + 1);
        format!("{path} changed")
    }

    /// Somebody changes a manifest. Says what.
    pub(crate) fn change_manifest(&mut self, chance: &mut Chance) -> String {
        self.numbers += 1;
        let names: Vec<String> = self.documents.keys().cloned().collect();
        let Some(name) = chance.one_of(&names).cloned() else {
            self.add("s0", chance);
            return "s0 is new".to_owned();
        };
        match chance.below(24) {
            0 => self.rename(&name),
            1 => {
                self.documents.remove(&name);
                format!("{name} is removed")
            }
            2 if names.len() < 5 => {
                let name = format!("s{}", 10 + self.numbers);
                self.add(&name, chance);
                format!("{name} is new")
            }
            choice => self.change_document(&name, choice),
        }
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

    /// Everything in it, by path.
    pub(crate) fn files(&self) -> Files {
        let mut files: Files = self
            .code
            .iter()
            .map(|(path, version)| {
                let module = if path.starts_with("stacks/") { "\nmodule modules/net" } else { "" };
                (path.clone(), format!("version {version}{module}"))
            })
            .collect();
        files.insert(MANIFESTS.to_owned(), self.manifests());
        files
    }

    /// Remembers what the manifests as they stand mean.
    pub(crate) fn remember(&mut self) {
        self.known.insert(self.manifests(), self.documents.clone());
    }

    /// The branch was forced back: what people go on from is what stands there.
    pub(crate) fn read_back(&mut self, files: &Files) {
        if let Some(documents) = files.get(MANIFESTS).and_then(|text| self.known.get(text)) {
            self.documents = documents.clone();
        }
        let code = files.iter().filter(|(path, _)| *path != MANIFESTS);
        let version = |text: &String| {
            text.lines().next().and_then(|line| line.strip_prefix("version ")?.parse().ok()).unwrap_or(0)
        };
        self.code = code.map(|(path, text)| (path.clone(), version(text))).collect();
    }

    fn manifests(&self) -> String {
        let mut text = format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: live\nspec:\n  \
             interval: 10m\n  url: {URL}\n  ref:\n    branch: main\n"
        );
        for (name, document) in &self.documents {
            text.push_str(&document.written(name));
        }
        text
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
             name: live\n  suspend: {}\n  destroy: {}\n  vars:\n    - name: size\n      value: {}\n",
            self.minutes, self.path, self.is_suspended, self.is_destroyed, self.size
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
            format!("  varsFrom:\n    - kind: Secret\n      name: {name}\n      optional: true\n")
        });
        let writes = self.writes.as_ref().map(|name| format!("  writeOutputsToSecret:\n    name: {name}\n"));
        let waits = self.waits_for.as_ref().map(|other| format!("  dependsOn:\n    - name: {other}\n"));
        let others = [waits, reads, writes].into_iter().flatten().collect::<String>();
        [spec, backend, further, others].concat()
    }
}
