//! Which paths can change a stack's plan, worked out from Git's tree and blob ids without a checkout.
//!
//! A stack's closure is its directory, the local modules that it reaches, its tfvars files, what its code reads by paths
//! that can be seen, the targets of symbolic links, and its triggers. Two closures with equal digests need no new plan.
//!
//! Rules, each with its reason:
//! - A file belongs to its nearest stack: a directory inside another stack's directory that is itself a stack's is not
//!   part of the outer one, unless that reaches it as a module or reads it.
//! - A module brings its whole directory, since providers read files that no function names (`source_dir`), except where
//!   the module's directory contains the stack: then it brings its own files and what they read, not everything beside
//!   the stack.
//! - Where a path is not literal, the enclosing directory counts.
//! - A closure with problems still has a digest, so that mending the problem wakes the stack.

mod build;
mod carried;
mod digest;
mod explain;
mod facts;
mod ground;
mod hcl;
mod index;
pub(crate) mod links;
mod problem;
mod scan;
mod stored;
mod watched;

use std::collections::BTreeSet;
use std::fmt;

use gix::ObjectId;
use serde::{Deserialize, Serialize};
use yuba_core::id::ClosureDigest;

pub use explain::ChangedPath;
pub use index::{Before, Closures, Index, IndexError, News};
pub use problem::{ClosureProblem, ProblemKind};

/// What of a stack's settings its closure depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackPaths {
    /// The root module's directory, relative to the repository's root; empty for the root itself.
    pub path: String,
    /// `-var-file` arguments, relative to the repository's root.
    pub tf_vars_files: Vec<String>,
    /// Globs relative to the repository's root; one that names a directory means everything below it.
    pub triggers: Vec<String>,
}

/// The paths that can change a stack's plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closure {
    /// The tree that it was worked out of.
    pub tree: ObjectId,
    /// The paths, ordered. A directory stands for everything below it.
    pub entries: Vec<Entry>,
    /// Over paths, modes and object ids of what no directory among the entries covers already.
    pub digest: ClosureDigest,
    /// What is wrong with it.
    pub problems: Vec<ClosureProblem>,
}

/// One path of a closure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The path, relative to the repository's root.
    pub path: String,
    /// What lies there.
    pub content: Content,
    /// Why it belongs to the closure: the first reason that was found.
    pub why: Why,
}

/// What lies at a path of a closure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A file or link.
    File {
        /// Its blob.
        id: ObjectId,
        /// Whether it is executable or a link, as Git writes it: 100644, 100755, 120000.
        mode: u16,
    },
    /// A directory with everything below it but the directories of other stacks.
    Directory {
        /// The id that its tree has without what is left out: equal ids, equal content.
        id: ObjectId,
        /// Its tree in the repository.
        tree: ObjectId,
        /// Directories below it that are left out, relative to the repository's root.
        without: BTreeSet<String>,
    },
    /// Nothing: what appears there belongs to the closure.
    Missing,
}

/// Why a path belongs to a closure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// It lies in the stack's directory.
    StackDirectory,
    /// It lies in a local module.
    Module {
        /// The module's source as written.
        source: String,
        /// The file that calls it.
        called_from: String,
    },
    /// It is one of the stack's tfvars files.
    TfVarsFile,
    /// A function reads it.
    ReadBy {
        /// The function's name.
        function: String,
        /// The file that calls the function.
        file: String,
    },
    /// A string in a file names it.
    MentionedIn {
        /// The file.
        file: String,
    },
    /// It is the target of a symbolic link, or a link on the way.
    Link {
        /// The link.
        link: String,
    },
    /// A trigger of the manifest names it.
    Trigger {
        /// The glob.
        glob: String,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StackDirectory => formatter.write_str("stack directory"),
            Self::Module { source, called_from } => {
                write!(formatter, "module {source}, called from {called_from}")
            }
            Self::TfVarsFile => formatter.write_str("tfvars file"),
            Self::ReadBy { function, file } => write!(formatter, "read by {function}() in {file}"),
            Self::MentionedIn { file } => write!(formatter, "path named in {file}"),
            Self::Link { link } => write!(formatter, "target of the link {link}"),
            Self::Trigger { glob } => write!(formatter, "trigger {glob}"),
        }
    }
}

/// Whether tofu reads a file of this name as configuration.
pub(crate) fn is_configuration(name: &str) -> bool {
    hcl::Dialect::of(name.as_bytes()).is_some()
}
