//! The settings that tests start from: every default of a manifest that names only what it must.

use crate::id::SourceName;
use crate::spec::{ApprovePlan, DriftMode, DriftSettings, EnginePreference, Roles, StackSpec};
use crate::time::Span;

/// A stack at `network` that waits for approval.
pub(super) fn spec() -> StackSpec {
    StackSpec {
        source: SourceName::new("infra", "code"),
        path: "network".to_owned(),
        interval: Span::minutes(10),
        retry_interval: Span::seconds(15),
        timeout: Span::minutes(30),
        apply_timeout: Span::hours(6),
        approve_plan: ApprovePlan::Manual,
        plan_only: false,
        suspend: false,
        force: false,
        destroy: false,
        vars: Vec::new(),
        vars_from: Vec::new(),
        tf_vars_files: Vec::new(),
        backend: None,
        workspace: "default".to_owned(),
        depends_on: Vec::new(),
        write_outputs: None,
        enable_inventory: false,
        roles: Roles::default(),
        engine: EnginePreference::default(),
        labels: std::collections::BTreeMap::new(),
        drift: DriftSettings { mode: DriftMode::Alert },
        triggers: Vec::new(),
        state_is_new: false,
        not_applied: Vec::new(),
    }
}
