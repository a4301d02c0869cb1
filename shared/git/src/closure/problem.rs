//! What can be wrong with a stack's paths, in words for people.

use std::fmt;

use yuba_core::artifact::FaultyLink;

/// Something wrong in a closure. A plan of the stack would fail or mislead where it [is fatal](Self::is_fatal).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClosureProblem {
    /// The path that it is about, relative to the repository's root, or as written where it leaves that.
    pub path: String,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What is wrong with a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// The stack's directory does not exist.
    MissingStack,
    /// The stack's directory is a file.
    StackNotADirectory,
    /// A called module's directory does not exist.
    MissingModule {
        /// The file that calls it.
        called_from: String,
    },
    /// A called module lies outside the repository.
    ModuleOutside {
        /// The file that calls it.
        called_from: String,
    },
    /// A file that is named does not exist.
    MissingFile {
        /// What names it: "tfvars file", "read by file() in a/main.tf".
        named_by: String,
    },
    /// A path that is read lies outside the repository.
    Outside {
        /// What names it.
        named_by: String,
    },
    /// A link leads to nothing in the repository, so it is not packed.
    FaultyLink(FaultyLink),
    /// A configuration file does not parse.
    Unparsable {
        /// The line, counted from 1.
        line: usize,
        /// What the parser says.
        reason: String,
    },
    /// A submodule: its files are not fetched.
    Submodule,
    /// A pointer of Git LFS stands in the file's place.
    LfsPointer,
    /// A trigger is no glob.
    BadTrigger {
        /// What the glob parser says.
        reason: String,
    },
}

impl ClosureProblem {
    pub(super) fn new(path: impl Into<String>, kind: ProblemKind) -> Self {
        Self { path: path.into(), kind }
    }

    /// Whether a plan made in spite of it would fail or show something else than the code says. Others are notices: a
    /// file that is missing may be made before tofu reads it, and tofu's own parser has the last word on syntax.
    pub fn is_fatal(&self) -> bool {
        !matches!(
            self.kind,
            ProblemKind::MissingFile { .. }
                | ProblemKind::Outside { .. }
                | ProblemKind::Unparsable { .. }
                | ProblemKind::BadTrigger { .. }
        )
    }
}

impl fmt::Display for ClosureProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "." } else { &self.path };
        match &self.kind {
            ProblemKind::MissingStack => {
                write!(
                    formatter,
                    "{path}: the stack's directory does not exist in this revision; correct `path`"
                )
            }
            ProblemKind::StackNotADirectory => {
                write!(formatter, "{path}: the stack's path is a file; `path` must name a directory")
            }
            ProblemKind::MissingModule { called_from } => {
                write!(formatter, "{path}: the module does not exist; it is called from {called_from}")
            }
            ProblemKind::ModuleOutside { called_from } => write!(
                formatter,
                "{path}: the module lies outside the repository; it is called from {called_from}. Move it into the \
                 repository or call it by its Git address"
            ),
            ProblemKind::MissingFile { named_by } => write!(formatter, "{path}: no such file; {named_by}"),
            ProblemKind::Outside { named_by } => {
                write!(formatter, "{path}: outside the repository, so changes to it are not seen; {named_by}")
            }
            ProblemKind::FaultyLink(link) => {
                write!(
                    formatter,
                    "{link}, so it is not packed; remove it, or link to a path that exists inside"
                )
            }
            ProblemKind::Unparsable { line, reason } => {
                write!(formatter, "{path}:{line}: does not parse: {reason}")
            }
            ProblemKind::Submodule => {
                write!(
                    formatter,
                    "{path}: a Git submodule; submodules are not fetched, so its files are missing"
                )
            }
            ProblemKind::LfsPointer => {
                write!(
                    formatter,
                    "{path}: a Git LFS pointer; LFS is not fetched, so the file's content is missing"
                )
            }
            ProblemKind::BadTrigger { reason } => write!(formatter, "trigger `{path}` is no glob: {reason}"),
        }
    }
}
