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
        let Some(name) = chance.one_of(&names).cloned() else { return "nothing".to_owned() };
        let choice = chance.below(6);
        let number = self.numbers;
        let Some(document) = self.documents.get_mut(&name) else { return "nothing".to_owned() };
        match choice {
            0 => {
                document.approve =
                    if document.approve == Approve::Auto { Approve::People } else { Approve::Auto };
                format!("{name}: approvePlan {:?}", document.approve)
            }
            1 => {
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
        let waits = self.waits_for.as_ref().map(|other| format!("  dependsOn:\n    - name: {other}\n"));
        [spec, backend, waits.unwrap_or_default()].concat()
    }
}
