//! What of a tree was looked at for one closure: while nothing of it changes, the closure stays the same.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The paths whose change can change a closure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Watched {
    /// Each with everything below it, and what would stand in its place above it. Empty for the whole tree.
    below: BTreeSet<String>,
    /// Directories of which the files count, and not what lies deeper.
    beside: BTreeSet<String>,
}

impl Watched {
    /// Watches a path and everything below it.
    pub(super) fn below(&mut self, path: &str) {
        if !self.below.contains(path) {
            self.below.insert(path.to_owned());
        }
    }

    /// Watches the files that lie directly in a directory.
    pub(super) fn beside(&mut self, directory: &str) {
        self.beside.insert(directory.to_owned());
    }

    /// Watches the whole tree.
    pub(super) fn everything(&mut self) {
        self.below("");
    }

    /// Whether one of the changed paths can matter.
    pub(super) fn touched_by(&self, changed: &ChangedPaths) -> bool {
        self.below.iter().any(|path| changed.touch(path))
            || self.beside.iter().any(|directory| changed.parents.contains(directory))
    }
}

/// Paths that differ between two trees.
#[derive(Debug, Default)]
pub(super) struct ChangedPaths {
    paths: BTreeSet<String>,
    /// The directories that they lie in.
    parents: BTreeSet<String>,
}

impl ChangedPaths {
    /// Whether a path is among them.
    pub(super) fn contains(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Whether one of them is a path, lies below it, or stands where one of its directories would.
    fn touch(&self, path: &str) -> bool {
        if path.is_empty() {
            return !self.paths.is_empty();
        }
        let inside = format!("{path}/");
        let below =
            || self.paths.range(inside.clone()..).next().is_some_and(|next| next.starts_with(&inside));
        let mut above = path.match_indices('/').filter_map(|(end, _)| path.get(..end));
        self.contains(path) || below() || above.any(|path| self.contains(path))
    }
}

impl FromIterator<String> for ChangedPaths {
    fn from_iter<Paths: IntoIterator<Item = String>>(paths: Paths) -> Self {
        let paths: BTreeSet<String> = paths.into_iter().collect();
        let parents =
            paths.iter().map(|path| path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned());
        Self { parents: parents.collect(), paths }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_at_below_or_above_a_watched_path_matters() {
        let mut watched = Watched::default();
        watched.below("a/b");
        watched.beside("c");
        for (path, matters) in [
            ("a/b", true),
            ("a/b/x/y", true),
            ("a", true),
            ("a/b.tf", false),
            ("a/c", false),
            ("c/x", true),
            ("c/d/x", false),
            ("c", false),
        ] {
            let changed = ChangedPaths::from_iter([path.to_owned()]);
            assert_eq!(watched.touched_by(&changed), matters, "{path}");
        }
        watched.everything();
        assert!(watched.touched_by(&ChangedPaths::from_iter(["z".to_owned()])));
        assert!(!watched.touched_by(&ChangedPaths::default()));
    }
}
