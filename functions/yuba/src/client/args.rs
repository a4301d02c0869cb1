//! What can be typed: the verbs that ask a server.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;
use yuba_core::id::{AuditHash, InvalidId, ObjectName, SecretName};
use yuba_core::run::RunState;
use yuba_core::secret::{check_key, check_name};
use yuba_core::time::Span;

/// The verbs that ask a server.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List stacks, sources, manifests, runs, events or providers.
    Get {
        /// What to list.
        what: Listed,
        /// Only the stack, source or provider of this name; for runs and events, only those of this stack.
        name: Option<String>,
        #[command(flatten)]
        filter: Filter,
    },
    /// Show all that is known of a stack.
    Describe {
        /// `name` or `namespace/name`.
        stack: String,
    },
    /// Show a plan or a run.
    #[command(subcommand)]
    Show(Show),
    /// Print the log of a run.
    Logs {
        /// The run's id, or a stack for its current or last run.
        run: String,
        /// Go on while the run does.
        #[arg(short, long)]
        follow: bool,
    },
    /// Tell why a stack was planned, or was not.
    Why {
        /// `name` or `namespace/name`.
        stack: String,
        /// A revision or the beginning of a commit id; left out, the newest.
        revision: Option<String>,
    },
    /// Let the plan that waits be applied.
    Approve {
        #[command(flatten)]
        stacks: Stacks,
        /// The plan that was seen: refused if another one waits.
        #[arg(long, value_name = "PLAN_ID")]
        plan: Option<String>,
    },
    /// Do not let the plan that waits be applied.
    Reject(Stacks),
    /// Look at the source now, and plan if anything changed; else check for drift.
    Reconcile {
        #[command(flatten)]
        stacks: Stacks,
        /// Follow the run until it ends or waits for a decision.
        #[arg(long)]
        wait: bool,
    },
    /// Plan again.
    Replan(Stacks),
    /// Start no new runs.
    Suspend(Stacks),
    /// Take a person's suspension back.
    Resume(Stacks),
    /// Plan the destruction of all that the state holds; applying it waits for approval.
    Destroy(Stacks),
    /// Release the backend's lock, then plan.
    Unlock {
        #[command(flatten)]
        stacks: Stacks,
        /// The lock's id; left out, the one that the last run reported.
        #[arg(long, value_name = "ID")]
        lock: Option<String>,
    },
    /// Say where the state of a stack is that waits for adoption.
    Adopt {
        #[command(flatten)]
        stacks: Stacks,
        #[command(flatten)]
        state: AdoptedState,
    },
    /// End a run.
    Cancel(OneRun),
    /// Push the state that a failed apply left behind, after showing it.
    Recover(Recover),
    /// Stop all new applies at once.
    Pause(Everything),
    /// Let applies start again.
    Unpause(Everything),
    /// List drift, or check for it.
    #[command(subcommand)]
    Drift(Drift),
    /// Show a stack's outputs.
    Outputs {
        /// `name` or `namespace/name`.
        stack: String,
        /// Show sensitive values too.
        #[arg(long)]
        reveal: bool,
    },
    /// Show what a stack manages.
    Inventory {
        /// `name` or `namespace/name`.
        stack: String,
    },
    /// Wait until a stack's current or last run is in a state.
    Wait(Wait),
    /// List messages that could not be handled, or send them again.
    #[command(subcommand)]
    Queue(Queue),
    /// Write secrets and config maps, or list their names and keys.
    #[command(subcommand)]
    Secret(Secret),
    /// Make, list or revoke tokens for the API.
    #[command(subcommand)]
    Token(super::token::Token),
    /// Try a provider of notifications, or send again what it was given up for.
    #[command(subcommand)]
    Notify(Notify),
    /// Tell who let what happen, and check that nobody changed what is told.
    #[command(subcommand)]
    Audit(Audit),
    /// Approve or suspend as kubectl would.
    Patch {
        /// `terraform` or `stack`.
        kind: PatchedKind,
        /// `name` or `namespace/name`.
        name: String,
        /// The kind of patch.
        #[arg(long, value_enum, default_value = "merge")]
        r#type: PatchType,
        /// The patch: `{"spec":{"approvePlan":"plan-…"}}`.
        #[arg(short, long, value_name = "JSON", value_parser = json)]
        patch: Value,
    },
}

/// What is waited for.
#[derive(Debug, Args)]
pub(crate) struct Wait {
    /// `name` or `namespace/name`.
    pub(crate) stack: String,
    /// The state, or several: `applied,unchanged`.
    #[arg(long = "for", value_name = "STATE", value_delimiter = ',', required = true)]
    pub(crate) states: Vec<RunState>,
    /// Only with this revision, or the beginning of its commit id.
    #[arg(long)]
    pub(crate) revision: Option<String>,
    /// How long to wait: `30s`, `5m`.
    #[arg(long, default_value = "5m")]
    pub(crate) timeout: Span,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listed {
    /// Stacks.
    #[value(aliases = ["stack", "terraform", "terraforms", "tf"])]
    Stacks,
    /// Sources.
    #[value(aliases = ["source", "gitrepository", "gitrepositories"])]
    Sources,
    /// Places of manifests, and what is wrong in them.
    #[value(aliases = ["manifest", "manifestset", "manifestsets"])]
    Manifests,
    /// Runs, newest first.
    #[value(alias = "run")]
    Runs,
    /// Events, newest first.
    #[value(alias = "event")]
    Events,
    /// Providers of notifications, and how they fare.
    #[value(alias = "provider")]
    Providers,
}

/// Which stacks a list is about.
#[derive(Debug, Default, Args)]
pub(crate) struct Filter {
    /// Only those with these labels: `key=value,…`.
    #[arg(short = 'l', long = "selector", value_name = "LABELS")]
    pub(crate) labels: Option<String>,
    /// Only those whose last run failed.
    #[arg(long)]
    pub(crate) failed: bool,
    /// How many runs or events at most.
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: usize,
}

/// Which stacks a verb is about, and what to write beside it.
#[derive(Debug, Args)]
pub(crate) struct Stacks {
    /// `name` or `namespace/name`.
    #[arg(value_name = "STACK", required_unless_present_any = ["labels", "all", "failed"])]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Why, for everybody to see.
    #[arg(short, long)]
    pub(crate) message: Option<String>,
}

/// Stacks that are not named one by one.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Every stack with these labels: `key=value,…`.
    #[arg(short = 'l', long = "selector", value_name = "LABELS", conflicts_with = "names")]
    pub(crate) labels: Option<String>,
    /// Every stack.
    #[arg(long, conflicts_with_all = ["names", "labels"])]
    all: bool,
    /// Every stack whose last run failed.
    #[arg(long, conflicts_with = "names")]
    pub(crate) failed: bool,
}

/// Where the state is.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct AdoptedState {
    /// There is none: the stack starts anew.
    #[arg(long)]
    pub(crate) new: bool,
    /// In this file, as `tofu state pull` writes it.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Yuba keeps it for this stack, which vanished from the manifests: the one that waits goes on under it.
    #[arg(long, value_name = "STACK")]
    pub(crate) from: Option<String>,
}

/// A run, and what to write beside it.
#[derive(Debug, Args)]
pub(crate) struct OneRun {
    /// The run's id, or a stack for its current or last run.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Why, for everybody to see.
    #[arg(short, long)]
    pub(crate) message: Option<String>,
}

/// The run whose state is pushed.
#[derive(Debug, Args)]
pub(crate) struct Recover {
    #[command(flatten)]
    pub(crate) run: OneRun,
    /// Push it without asking.
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// That everything is meant.
#[derive(Debug, Args)]
pub(crate) struct Everything {
    /// The whole installation; must be said.
    #[arg(long, required = true)]
    pub(crate) all: bool,
    /// Why, for everybody to see.
    #[arg(short, long)]
    pub(crate) message: Option<String>,
}

/// What to show.
#[derive(Debug, Subcommand)]
pub(crate) enum Show {
    /// A plan: destroys and replaces first.
    Plan {
        /// A stack, or the id of a run.
        target: String,
        /// Only this resource, or those below this module.
        #[arg(long)]
        address: Option<String>,
    },
    /// A run.
    Run {
        /// Its id, or a stack for its current or last run.
        run: String,
    },
}

/// What to do about drift.
#[derive(Debug, Subcommand)]
pub(crate) enum Drift {
    /// List stacks with drift.
    List,
    /// Check now; exits with 2 where there is drift.
    Check {
        /// `name` or `namespace/name`.
        #[arg(value_name = "STACK", required_unless_present_any = ["labels", "all", "failed", "local"])]
        names: Vec<String>,
        #[command(flatten)]
        selection: Selection,
        /// Check plain directories instead, without a server: in a private copy, changing and locking nothing.
        #[arg(long, value_name = "DIR", num_args = 1.., conflicts_with_all = ["names", "labels", "all", "failed"])]
        local: Vec<PathBuf>,
    },
}

/// What to do with messages that could not be handled.
#[derive(Debug, Subcommand)]
pub(crate) enum Queue {
    /// List them, with why they could not be handled.
    List {
        /// Whose messages.
        queue: QueueArg,
    },
    /// Send them again.
    Redrive {
        /// Whose messages.
        queue: QueueArg,
    },
}

/// A queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QueueArg {
    /// What wakes stacks.
    Stacks,
    /// What wakes sources and places of manifests.
    Sources,
    /// What tells people and programs.
    Notices,
}

impl QueueArg {
    /// Its name in the API.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Stacks => "stacks",
            Self::Sources => "sources",
            Self::Notices => "notices",
        }
    }
}

/// What to do with secrets.
#[derive(Debug, Subcommand)]
pub(crate) enum Secret {
    /// Write values; keys that are not named keep theirs.
    Set {
        /// `namespace/name`.
        #[arg(value_parser = secret_name)]
        name: SecretName,
        /// `key=value`, `key=@file`, or `key=-` for standard input.
        #[arg(required = true, value_name = "KEY=VALUE", value_parser = pair)]
        values: Vec<(String, String)>,
        /// Write a config map: its values may be shown.
        #[arg(long)]
        config_map: bool,
    },
    /// List names and keys.
    List {
        /// Only this one: `namespace/name`.
        name: Option<String>,
        /// List config maps.
        #[arg(long)]
        config_map: bool,
    },
}

/// What to do with a provider of notifications.
#[derive(Debug, Subcommand)]
pub(crate) enum Notify {
    /// Send a message that says who tries; exits with 3 where the provider does not take it.
    Test {
        /// `namespace/name`.
        provider: ObjectName,
    },
    /// Send again what was given up.
    Redeliver {
        /// `namespace/name`.
        provider: ObjectName,
    },
}

/// What to do with the audit trail.
#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// List entries, newest first.
    List {
        /// Only those of this stack; left out, those of all.
        stack: Option<String>,
        /// How many at most.
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Write the whole trail into a file, a line each; `-` is standard output.
    Export {
        /// The file; one that is there is replaced.
        file: PathBuf,
    },
    /// Check that no entry was changed, removed or moved; exits with 1 where one was, and names the first.
    Verify {
        /// A file that `audit export` wrote, without asking a server; left out, the server's trail.
        file: Option<PathBuf>,
        /// The hash of an anchor that was kept elsewhere: the trail must hold it.
        #[arg(long, value_name = "HASH")]
        anchor: Option<AuditHash>,
    },
}

/// What a patch is about; both words mean a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PatchedKind {
    /// A `Terraform` manifest's stack.
    #[value(aliases = ["tf", "terraforms"])]
    Terraform,
    /// A `Stack` manifest's stack.
    #[value(alias = "stacks")]
    Stack,
}

/// Kinds of patches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PatchType {
    /// RFC 7396.
    Merge,
}

/// The name of a secret, as a manifest may name it.
fn secret_name(text: &str) -> Result<SecretName, String> {
    let name: SecretName = text.parse().map_err(|error: InvalidId| error.to_string())?;
    check_name(&name).map_err(|error| error.to_string())?;
    Ok(name)
}

/// Splits `key=value`; what the value means is found out when it is sent.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) => match check_key(key) {
            Ok(()) => Ok((key.to_owned(), value.to_owned())),
            Err(error) => Err(error.to_string()),
        },
        None => Err("write KEY=VALUE, KEY=@FILE, or KEY=- for standard input".to_owned()),
    }
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_needs_a_key_and_a_patch_must_be_json() {
        assert_eq!(pair("key=a=b"), Ok(("key".to_owned(), "a=b".to_owned())));
        assert!(pair("kk").is_err() && pair("=value").is_err() && pair("a b=c").is_err());
        assert!(secret_name("infra/db").is_ok());
        assert!(secret_name("infra/../../evil").is_err() && secret_name("infra/..").is_err());
        assert!(json(r#"{"spec":{"suspend":true}}"#).is_ok() && json("x").is_err());
    }
}
