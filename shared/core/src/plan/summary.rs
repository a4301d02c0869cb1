//! A plan as Yuba keeps it: small, without any sensitive value, the same for both engines.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{ContentDigest, FileDigest, PlanId, ValueDigest};
use crate::plan::datum::Datum;
use crate::spec::EngineTool;

/// What one plan would do. Stored whole as the attempt's `summary.json`; runs carry only [`PlanCounts`].
///
/// Its size is bounded however large the plan is: attributes are kept for the first 1,000 destructive and the first
/// 1,000 other changes and up to 2 MiB of text in each group; addresses alone for up to 20,000 entries; a value over
/// 8 KiB as its beginning, length and digest. [`PlanSummary::left_out`] says what is missing; counts are always full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanSummary {
    /// Of the stored form; now 1.
    pub schema: u32,
    /// `format_version` of the plan JSON.
    pub format_version: String,
    /// Version of the engine that made the plan, where the plan names it.
    pub engine_version: Option<String>,
    /// How many of what.
    pub counts: PlanCounts,
    /// Whether the plan, applied, would do anything at all to state or reality (moves, imports, forgets and outputs
    /// count): the engine's exit code 2.
    pub has_changes: bool,
    /// Whether the engine says that the plan can be applied; an errored or incomplete plan cannot.
    pub applyable: bool,
    /// Whether planning failed half-way; what is listed is then not all.
    pub errored: bool,
    /// Resources that would change, deletes and replaces first, then by address.
    pub changes: Vec<ResourceChange>,
    /// Root outputs that would change, by name.
    pub outputs: Vec<OutputChange>,
    /// What was changed behind the engine's back: real differences only.
    pub drift: Vec<ResourceDrift>,
    /// Checks (`check`, pre- and postconditions, validations) that did not pass.
    pub failed_checks: Vec<FailedCheck>,
    /// Actions (`action` blocks of newer engines) that apply would invoke, by address.
    #[serde(default)]
    pub invocations: Vec<String>,
    /// What was too much to keep.
    #[serde(default)]
    pub left_out: LeftOut,
    /// Providers used, by source address, with the version from the lock file where known.
    pub providers: BTreeMap<String, Option<String>>,
}

/// How many entries of a [`PlanSummary`] were too many to keep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Changes and drift entries that are listed without their attributes.
    pub details: u32,
    /// Changes, outputs and drift entries that are not listed at all.
    pub entries: u32,
}

/// How many of what a plan would do. A replaced resource counts as a replace only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanCounts {
    /// Created.
    pub create: u32,
    /// Updated in place.
    pub update: u32,
    /// Deleted.
    pub delete: u32,
    /// Deleted and created, in either order. One that is forgotten and created counts as a create and a forget.
    pub replace: u32,
    /// Dropped from the state, left in reality.
    pub forget: u32,
    /// Imported into the state (also when updated too).
    pub import: u32,
    /// Moved to another address (also when updated too).
    pub moved: u32,
    /// Data sources read during apply.
    pub read: u32,
    /// Root outputs that change.
    pub output: u32,
    /// Resources with real drift.
    pub drift: u32,
    /// Actions that would be invoked.
    #[serde(default)]
    pub invoke: u32,
    /// Resources with an action that this version of Yuba does not know.
    #[serde(default)]
    pub other: u32,
}

/// What would be done to a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Nothing, but for a move or an import.
    NoOp,
    /// Created.
    Create,
    /// A data source is read during apply.
    Read,
    /// Updated in place.
    Update,
    /// Deleted.
    Delete,
    /// Deleted, then created.
    DeleteThenCreate,
    /// Created, then deleted.
    CreateThenDelete,
    /// Dropped from the state and created anew, in either order.
    ForgetThenCreate,
    /// Dropped from the state.
    Forget,
    /// What a newer engine calls it; passed through.
    Other(String),
}

impl Action {
    /// Whether something that exists would be gone, or out of the state's sight.
    pub fn is_destructive(&self) -> bool {
        matches!(
            self,
            Self::Delete
                | Self::DeleteThenCreate
                | Self::CreateThenDelete
                | Self::ForgetThenCreate
                | Self::Forget
        )
    }
}

/// A resource that would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResourceChange {
    /// The full address, `module.a["x"].aws_s3_bucket.b[0]`.
    pub address: String,
    /// Resource type.
    pub kind: String,
    /// What would be done.
    pub action: Action,
    /// The address it had before, where it moves.
    pub moved_from: Option<String>,
    /// The key of the deposed object that this is about: a left-over of an interrupted replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposed: Option<String>,
    /// The id it is imported by.
    pub imported: Option<String>,
    /// Why, in the engine's word (`replace_because_cannot_update`, `delete_because_no_resource_config`).
    pub reason: Option<String>,
    /// Attribute paths that force a replace.
    pub replace_paths: Vec<String>,
    /// Attributes that differ, sensitive values masked.
    pub attributes: Vec<AttributeChange>,
}

/// One attribute that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttributeChange {
    /// Path within the resource: `tags.team`, `tags["a/b"]`, `rule[0].port`; empty for the whole of an output.
    pub path: String,
    /// What it is now.
    pub before: Shown,
    /// What it would be.
    pub after: Shown,
}

/// A value as people may see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// The attribute is not there, or null.
    Absent,
    /// The value; parts of it that are sensitive or unknown are replaced by a text that says so.
    Value(Datum),
    /// The beginning of a value over 8 KiB (of its JSON text where it is not a string).
    Long {
        /// The first 2 KiB.
        prefix: String,
        /// Length of the whole in bytes.
        bytes: u64,
        /// Digest of the whole, so that a difference past the beginning is seen.
        digest: ValueDigest,
    },
    /// Known only after apply.
    Unknown,
    /// There is a value, and it must not be shown.
    Sensitive,
}

/// A root output that would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputChange {
    /// The output's name.
    pub name: String,
    /// What would be done.
    pub action: Action,
    /// The parts of its value that differ.
    pub attributes: Vec<AttributeChange>,
}

/// A resource that was changed outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResourceDrift {
    /// The full address.
    pub address: String,
    /// Resource type.
    pub kind: String,
    /// [`Action::Update`] where it was changed, [`Action::Delete`] where it is gone.
    pub action: Action,
    /// Attributes that differ: state → reality.
    pub attributes: Vec<AttributeChange>,
}

/// A check that did not pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCheck {
    /// What was checked: `check.health`, `aws_instance.a`.
    pub address: String,
    /// `fail` or `error`. What is not known before apply has not failed, and is not listed.
    pub status: String,
    /// The messages of its problems.
    pub problems: Vec<String>,
}

/// The part of a stored plan that decisions read and runs carry: the report of a plan attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanReport {
    /// What people type to approve it.
    pub plan_id: PlanId,
    /// What people approve.
    pub content: ContentDigest,
    /// What the runner checks before apply.
    pub file: FileDigest,
    /// How many of what.
    pub counts: PlanCounts,
    /// See [`PlanSummary::has_changes`].
    pub has_changes: bool,
    /// See [`PlanSummary::applyable`].
    pub applyable: bool,
    /// Whether the state held nothing before this plan (no resources, no outputs).
    pub state_was_empty: bool,
    /// Whether the engine found a backend named by code or manifest.
    pub backend_named: bool,
    /// The tool that made it.
    pub engine: EngineTool,
    /// Its version.
    pub engine_version: String,
    /// Things people should know: another engine than asked for, values left out.
    pub notices: Vec<String>,
    /// Whether real drift was found: see [`PlanSummary::drift`].
    pub drifted: bool,
    /// For a drift check: why Yuba may not put it right by itself; `None` where it may.
    pub remediation_refused: Option<String>,
}
