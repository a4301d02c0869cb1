//! Sentences for people that several views share.

use yuba_core::plan::summary::PlanCounts;
use yuba_core::run::{Run, Waiting};
use yuba_core::source::Reason;
use yuba_core::spec::{ApprovePlan, EnginePreference, EngineTool};

/// Why a run was made.
pub(crate) fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Path { path, change, because } => format!("{path} {change} ({because})"),
        Reason::First => "planned for the first time".to_owned(),
        Reason::Settings => "the manifest's settings changed".to_owned(),
        Reason::Values(name) => format!("{name} changed"),
        Reason::Asked(who) => who.clone(),
        Reason::Forced => "the interval came round, and force is set".to_owned(),
        Reason::Remediation => "drift is put right".to_owned(),
        Reason::DriftApproved => "drift was approved to be put right".to_owned(),
        Reason::DriftCheck => "the interval came round: drift check".to_owned(),
        Reason::Stale(why) => format!("the plan became stale: {why}"),
        Reason::Retry => "a failed run is tried again".to_owned(),
    }
}

/// All reasons in one line: the first, and how many more.
pub(crate) fn reasons(run: &Run) -> String {
    let first = run.because.first().map(reason).unwrap_or_default();
    match run.because.len() {
        0 | 1 => first,
        count => format!("{first} and {} more", count - 1),
    }
}

/// What a run waits for; empty once it has ended.
pub(crate) fn waiting(run: &Run) -> String {
    match &run.waits_for {
        Waiting::Nothing => String::new(),
        Waiting::Claim => "a task to start".to_owned(),
        Waiting::Report => match run.attempt_out() {
            Some(attempt) => format!("the report of attempt {}-{}", attempt.phase, attempt.number),
            None => "the report of its attempt".to_owned(),
        },
        Waiting::Approval => match &run.plan {
            Some(plan) => format!("approval of {}", plan.report.plan_id),
            None => "approval".to_owned(),
        },
        Waiting::Adoption => "a word on its state: `yuba adopt STACK --new` or `--state FILE`".to_owned(),
        Waiting::Dependencies(stacks) => format!("its dependencies: {}", stacks.join("; ")),
        Waiting::Retry { at } => format!("its next try at {at}"),
        Waiting::Resume => "`yuba resume`".to_owned(),
        Waiting::SharedState(why) => format!("its state to be its own: {why}"),
        Waiting::Unpause => "`yuba unpause --all`".to_owned(),
    }
}

/// What a plan does: `2 to add, 1 to change, 1 to destroy`; a replaced resource counts once.
pub(crate) fn changes(counts: &PlanCounts) -> String {
    let parts = [
        (counts.create, "to add"),
        (counts.update, "to change"),
        (counts.replace, "to replace"),
        (counts.delete, "to destroy"),
        (counts.forget, "to forget"),
        (counts.import, "to import"),
        (counts.moved, "moved"),
        (counts.output, "outputs"),
        (counts.drift, "drifted"),
        (counts.invoke, "to invoke"),
        (counts.other, "other"),
    ];
    let written: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if written.is_empty() { "no changes".to_owned() } else { written.join(", ") }
}

/// approvePlan as a manifest writes it.
pub(crate) fn approve_plan(approve: &ApprovePlan) -> String {
    match approve {
        ApprovePlan::Manual => "manual".to_owned(),
        ApprovePlan::Auto => "auto".to_owned(),
        ApprovePlan::Disable => "disable".to_owned(),
        ApprovePlan::Plan { id, digest: None } => id.to_string(),
        ApprovePlan::Plan { id, digest: Some(digest) } => format!("{id}@{digest}"),
    }
}

/// The tool's name as it stands on the PATH.
pub(crate) fn tool(tool: EngineTool) -> &'static str {
    match tool {
        EngineTool::Tofu => "tofu",
        EngineTool::Terraform => "terraform",
    }
}

/// The engine that is asked for; `None` where any will do.
pub(crate) fn engine(engine: &EnginePreference) -> Option<String> {
    let parts: Vec<&str> = engine.tool.map(tool).into_iter().chain(engine.version.as_deref()).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// A value that serialises to a text, as that text: the word that stands on the wire.
pub(crate) fn word(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_in_short() {
        let counts = PlanCounts { create: 2, replace: 1, delete: 3, ..PlanCounts::default() };
        assert_eq!(changes(&counts), "2 to add, 1 to replace, 3 to destroy");
        assert_eq!(changes(&PlanCounts::default()), "no changes");
    }

    #[test]
    fn each_reason_is_a_sentence() {
        let path = Reason::Path {
            path: "modules/net/main.tf".to_owned(),
            change: "changed".to_owned(),
            because: "module ./modules/net, called from main.tf".to_owned(),
        };
        assert_eq!(reason(&path), "modules/net/main.tf changed (module ./modules/net, called from main.tf)");
        assert_eq!(reason(&Reason::Values("Secret default/a".to_owned())), "Secret default/a changed");
    }
}
