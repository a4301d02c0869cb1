//! Code that people edit: files whose version alone matters, and the modules that they name.

use std::collections::BTreeMap;

use crate::chance::Chance;
use crate::world::git::Files;

/// The files of a repository, by path, with a version each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    versions: BTreeMap<String, u32>,
    /// The version given last.
    latest: u32,
}

impl Code {
    /// A module, and the root modules of these stacks, which use it.
    pub(super) fn new(stacks: &[&str]) -> Self {
        let mut code = Self { versions: BTreeMap::from([("modules/net/main.tf".to_owned(), 1)]), latest: 1 };
        for path in stacks {
            code.add(path);
        }
        code
    }

    /// A root module is written.
    pub(super) fn add(&mut self, path: &str) {
        self.versions.entry(format!("{path}/main.tf")).or_insert(1);
    }

    /// Somebody changes a file. Says which.
    pub(super) fn change(&mut self, chance: &mut Chance) -> String {
        self.latest += 1;
        let paths: Vec<String> = self.versions.keys().cloned().collect();
        let Some(path) = chance.one_of(&paths) else { return "nothing".to_owned() };
        self.versions.insert(path.clone(), self.latest);
        format!("{path} changed")
    }

    /// All files.
    pub(super) fn files(&self) -> Files {
        let written = |(path, version): (&String, &u32)| {
            let module = if path.starts_with("stacks/") { "\nmodule modules/net" } else { "" };
            (path.clone(), format!("version {version}{module}"))
        };
        self.versions.iter().map(written).collect()
    }

    /// Goes on from files as they were once.
    pub(super) fn read_back(&mut self, files: &Files) {
        let version = |text: &String| text.lines().next()?.strip_prefix("version ")?.parse().ok();
        self.versions =
            files.iter().filter_map(|(path, text)| Some((path.clone(), version(text)?))).collect();
    }
}
