//! Sentences for people that several views share.

use yuba_core::dialect::binary;
use yuba_core::plan::summary::PlanCounts;
use yuba_core::run::{Run, Waiting};
use yuba_core::spec::{ApprovePlan, EnginePreference};
use yuba_core::stack::Stack;

/// All reasons in one line: the first, and how many more.
pub(crate) fn reasons(run: &Run) -> String {
    let first = run.because.first().map(ToString::to_string).unwrap_or_default();
    match run.because.len() {
        0 | 1 => first,
        count => format!("{first} and {} more", count - 1),
    }
}

/// What a run of a stack waits for, and what stands in its way; empty once it has ended.
pub(crate) fn waiting(run: &Run, stack: &Stack) -> String {
    match &run.waits_for {
        Waiting::Claim => match run.attempt_out().and_then(|attempt| stack.start_trouble(attempt)) {
            Some(trouble) => format!("{}: {trouble}", run.waits_for.words()),
            None => run.waits_for.words(),
        },
        Waiting::Report => match run.attempt_out() {
            Some(attempt) => format!("the report of attempt {}-{}", attempt.phase, attempt.number),
            None => "the report of its attempt".to_owned(),
        },
        Waiting::Approval => match &run.plan {
            Some(plan) => format!("approval of {}", plan.report.plan_id),
            None => "approval".to_owned(),
        },
        other => other.words(),
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
        (counts.output, if counts.output == 1 { "output" } else { "outputs" }),
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

/// The engine that is asked for; `None` where any will do.
pub(crate) fn engine(engine: &EnginePreference) -> Option<String> {
    let parts: Vec<&str> = engine.tool.map(binary).into_iter().chain(engine.version.as_deref()).collect();
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
}
