//! A run as one message in Slack. It is drawn from records alone, so that the same message, drawn again, always shows
//! the truth; buttons are there only while pressing them means something.

use super::blocks::{Blocks, Button, Look};
use super::button::{Action, ButtonValue};
use super::text::Mrkdwn;
use crate::drift::{drift_sentence, drifted_resources};
use crate::plan::style::{Paint, Styles};
use crate::plan::summary::{AttributeChange, PlanSummary, ResourceChange, ResourceDrift};
use crate::request::{Decision, DecisionVerdict};
use crate::run::{Failure, Run, RunKind, RunState, Waiting};

/// How many resources are named.
const MOST_RESOURCES: usize = 20;
/// How many attributes are named of a resource that drifted.
const MOST_ATTRIBUTES: usize = 5;
/// How much is shown of what an engine wrote.
const LONGEST_DETAIL: usize = 1200;
/// How many decisions are named.
const MOST_DECISIONS: usize = 10;

/// A message: blocks, and a text for where blocks are not shown (notifications, screen readers).
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// One line in `mrkdwn`.
    pub text: Mrkdwn,
    /// The message itself.
    pub blocks: Blocks,
}

/// What a run's message is drawn from.
#[derive(Debug, Clone, Copy)]
pub struct RunCard<'a> {
    /// The run.
    pub run: &'a Run,
    /// The summary of its plan, where there is one.
    pub summary: Option<&'a PlanSummary>,
    /// Where people see the run: an address of the web.
    pub url: Option<&'a str>,
    /// Whether presses come back: an incoming webhook can show no buttons.
    pub has_buttons: bool,
    /// Whether the drift that the run found stands.
    pub drift_stands: bool,
    /// What somebody answered to it, while that is in force.
    pub drift_answer: Option<&'a Decision>,
}

impl RunCard<'_> {
    /// Draws the message.
    pub fn draw(&self) -> Card {
        let headline = self.headline();
        let blocks = Blocks::default()
            .header(&headline)
            .section(&self.what())
            .section(&self.resources())
            .section(&self.drift())
            .section(&self.run.failure.as_ref().map(failure).unwrap_or_default())
            .section(&decisions(&self.decisions()))
            .context(&[self.commit(), self.number()])
            .buttons(&self.buttons());
        Card { text: Mrkdwn::of(&headline), blocks }
    }

    fn headline(&self) -> String {
        let run = self.run;
        let destroys = run.kind == RunKind::Destroy;
        let what = match run.state {
            RunState::Queued => "a run is queued",
            RunState::Planning => "being planned",
            RunState::AwaitingApproval if destroys => "its destruction waits for approval",
            RunState::AwaitingApproval => "a plan waits for approval",
            RunState::AwaitingAdoption => "its first plan waits for a word on its state",
            RunState::Applying if destroys => "being destroyed",
            RunState::Applying => "being applied",
            RunState::Planned => "planned, and not to be applied",
            RunState::Unchanged if run.kind == RunKind::Drift => "no drift",
            RunState::Unchanged => "nothing to change",
            RunState::Applied if destroys => "destroyed",
            RunState::Applied => "applied",
            RunState::Drifted if !self.drift_stands => "drift that was found is gone",
            RunState::Drifted => {
                let resources = run.plan.as_ref().map_or(0, |plan| drifted_resources(&plan.report));
                return format!("{}: {}", run.name, drift_sentence(resources));
            }
            RunState::Failed => "failed",
            RunState::Denied => "denied by a policy",
            RunState::Discarded => "rejected",
            RunState::Cancelled => "cancelled",
            RunState::Superseded => "superseded by something newer",
        };
        format!("{}: {what}", run.name)
    }

    /// What the plan would do, and what is waited for.
    fn what(&self) -> Mrkdwn {
        let mut text = Mrkdwn::default();
        if let Some(plan) = &self.run.plan
            && plan.report.has_changes
            && self.run.kind != RunKind::Drift
        {
            let name = format!("{}@{}", plan.report.plan_id, plan.report.content.short());
            text = text.bold(&plan.report.counts.sentence()).plain(" · ").code(&name);
        }
        match &self.run.waits_for {
            Waiting::Nothing | Waiting::Claim | Waiting::Report => text,
            waiting => text.next_line().plain(&format!("Waits for {}.", waiting.words())),
        }
    }

    /// What would change: destroys and replaces first, as the summary has them.
    fn resources(&self) -> Mrkdwn {
        let Some(summary) = self.summary.filter(|_| self.run.kind != RunKind::Drift) else {
            return Mrkdwn::default();
        };
        let lines: Vec<Mrkdwn> = summary.changes.iter().take(MOST_RESOURCES).map(change).collect();
        let beyond = summary.changes.len() - lines.len() + left_out(summary);
        list(&lines, beyond)
    }

    /// What was changed outside.
    fn drift(&self) -> Mrkdwn {
        let Some(summary) = self.summary.filter(|_| self.run.kind == RunKind::Drift) else {
            return Mrkdwn::default();
        };
        let lines: Vec<Mrkdwn> = summary.drift.iter().take(MOST_RESOURCES).map(drifted).collect();
        let beyond = summary.drift.len() - lines.len() + left_out(summary);
        list(&lines, beyond)
    }

    fn commit(&self) -> Mrkdwn {
        let commit = &self.run.commit;
        let id: String = commit.id.as_str().chars().take(10).collect();
        let text = Mrkdwn::default().code(&id).plain(" ").plain(&first_line(&commit.subject));
        if commit.author.is_empty() { text } else { text.plain(" · ").plain(&first_line(&commit.author)) }
    }

    fn number(&self) -> Mrkdwn {
        let label = format!("run {} ({})", self.run.number, self.run.kind);
        match self.url {
            Some(url) => Mrkdwn::default().link(url, &label),
            None => Mrkdwn::of(&label),
        }
    }

    /// What people decided of the plan, and of the drift.
    fn decisions(&self) -> Vec<Decision> {
        let of_drift = self.drift_answer.filter(|_| self.drift_stands);
        self.run.decisions.iter().chain(of_drift).cloned().collect()
    }

    fn buttons(&self) -> Vec<Button> {
        if !self.has_buttons {
            return Vec::new();
        }
        let content = self.run.plan.as_ref().map(|plan| plan.report.content);
        let value = ButtonValue::new(self.run.stack, self.run.id, content);
        let button = |action, label, look| Button::new(action, label, value).looking(look);
        let mut buttons = match (self.run.state, self.run.kind) {
            (RunState::AwaitingApproval, RunKind::Destroy) => vec![
                button(Action::ConfirmDestroy, "Confirm destroy…", Look::Danger),
                button(Action::Reject, "Reject…", Look::Plain),
            ],
            (RunState::AwaitingApproval, _) => vec![
                button(Action::Approve, "Approve", Look::Primary),
                button(Action::Reject, "Reject…", Look::Danger),
            ],
            (RunState::Drifted, _) if self.drift_stands => {
                let remediate = button(Action::Remediate, "Remediate", Look::Primary);
                let answers = answers_to_drift(self.drift_answer).iter();
                let answers = answers.map(|(action, label)| button(*action, label, Look::Plain));
                std::iter::once(remediate).chain(answers).collect()
            }
            _ => Vec::new(),
        };
        if let Some(url) = self.url.filter(|_| self.run.plan.is_some()) {
            buttons.push(Button::new(Action::ViewPlan, "View plan", value).opening(url));
        }
        buttons
    }
}

const IGNORE_DAY: (Action, &str) = (Action::IgnoreDay, "Ignore for 24 h");
const IGNORE_WEEK: (Action, &str) = (Action::IgnoreWeek, "Ignore for 7 d");
const ACKNOWLEDGE: (Action, &str) = (Action::Acknowledge, "Acknowledge");

/// What may still be answered to drift.
fn answers_to_drift(given: Option<&Decision>) -> &'static [(Action, &'static str)] {
    match given.map(|decision| decision.verdict) {
        Some(DecisionVerdict::Ignore { .. }) => &[ACKNOWLEDGE],
        Some(DecisionVerdict::Acknowledge) => &[IGNORE_DAY, IGNORE_WEEK],
        _ => &[IGNORE_DAY, IGNORE_WEEK, ACKNOWLEDGE],
    }
}

fn change(change: &ResourceChange) -> Mrkdwn {
    let text = Mrkdwn::default()
        .code(&Paint::of(Styles::Plain, &change.action).symbol())
        .plain(" ")
        .code(&change.address);
    if change.replace_paths.is_empty() {
        return text;
    }
    text.plain(" because of ").plain(&some(change.replace_paths.iter().map(String::as_str)))
}

fn drifted(drift: &ResourceDrift) -> Mrkdwn {
    let text = Mrkdwn::default().code(&drift.address);
    if drift.action.is_destructive() {
        return text.plain(" is gone");
    }
    let paths = drift.attributes.iter().map(|AttributeChange { path, .. }| path.as_str());
    text.plain(": ").plain(&some(paths))
}

/// The first names, and how many more there are.
fn some<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    let first: Vec<&str> = names.clone().take(MOST_ATTRIBUTES).collect();
    match names.count() - first.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

fn left_out(summary: &PlanSummary) -> usize {
    usize::try_from(summary.left_out.entries).unwrap_or(usize::MAX)
}

fn list(lines: &[Mrkdwn], beyond: usize) -> Mrkdwn {
    let more = |left: usize| format!("… and {left} more");
    let text = Mrkdwn::default().lines(lines, |left| more(left.saturating_add(beyond)));
    let is_whole = text.as_str().matches('\n').count() + 1 == lines.len();
    if beyond > 0 && is_whole { text.next_line().plain(&more(beyond)) } else { text }
}

fn failure(failure: &Failure) -> Mrkdwn {
    let text = Mrkdwn::default().plain(&first_line(&failure.message));
    let detail = Mrkdwn::up_to(LONGEST_DETAIL).fence(&failure.detail);
    text.next_line().and(&detail)
}

fn decisions(decisions: &[Decision]) -> Mrkdwn {
    let newest = decisions.iter().rev().take(MOST_DECISIONS).map(|decision| {
        let word = match decision.verdict {
            DecisionVerdict::Approve => "Approved".to_owned(),
            DecisionVerdict::Reject => "Rejected".to_owned(),
            DecisionVerdict::Ignore { until } => format!("Ignored until {until}"),
            DecisionVerdict::Acknowledge => "Acknowledged".to_owned(),
        };
        let by = &decision.by;
        let text = Mrkdwn::default().bold(&word).plain(&format!(" by {} ({})", by.who, by.from));
        if by.message.is_empty() { text } else { text.plain(": ").plain(&first_line(&by.message)) }
    });
    let lines: Vec<Mrkdwn> = newest.collect();
    list(&lines, decisions.len() - lines.len())
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::plan::summary::Action as Change;
    use crate::run::FailureClass;

    fn run(change: impl FnOnce(&mut Run)) -> Run {
        let mut run = serde_json::from_str(include_str!("../../tests/golden/run.v1.json")).unwrap();
        change(&mut run);
        run
    }

    fn waiting() -> Run {
        run(|run| {
            run.state = RunState::AwaitingApproval;
            run.waits_for = Waiting::Approval;
            run.decisions.clear();
        })
    }

    fn summary(changes: &[(&str, Change)]) -> PlanSummary {
        let changes = changes.iter().map(|(address, action)| ResourceChange {
            address: (*address).to_owned(),
            kind: "toy_bucket".to_owned(),
            action: action.clone(),
            moved_from: None,
            deposed: None,
            imported: None,
            reason: None,
            replace_paths: if *action == Change::DeleteThenCreate {
                vec!["region".to_owned()]
            } else {
                Vec::new()
            },
            attributes: Vec::new(),
        });
        PlanSummary { changes: changes.collect(), ..empty() }
    }

    fn empty() -> PlanSummary {
        serde_json::from_value(json!({
            "schema": 1, "format_version": "1.2", "engine_version": null, "counts": {
                "create": 0, "update": 0, "delete": 0, "replace": 0, "forget": 0, "import": 0, "moved": 0, "read": 0,
                "output": 0, "drift": 0,
            },
            "has_changes": true, "applyable": true, "errored": false, "changes": [], "outputs": [], "drift": [],
            "failed_checks": [], "providers": {},
        }))
        .unwrap()
    }

    fn draw(run: &Run, summary: Option<&PlanSummary>) -> Value {
        let url = Some("https://yuba.example/runs/1");
        let card =
            RunCard { run, summary, url, has_buttons: true, drift_stands: true, drift_answer: None }.draw();
        serde_json::to_value(card.blocks).unwrap()
    }

    /// The texts of a message, a line each, and its buttons in brackets.
    fn shown(blocks: &Value) -> String {
        let texts = blocks.as_array().unwrap().iter().map(|block| match block["type"].as_str().unwrap() {
            "actions" => {
                let labels = block["elements"].as_array().unwrap().iter();
                let labels = labels.map(|button| button["text"]["text"].as_str().unwrap());
                format!("[{}]", labels.collect::<Vec<_>>().join("]["))
            }
            "context" => {
                let texts = block["elements"].as_array().unwrap().iter();
                texts.map(|text| text["text"].as_str().unwrap()).collect::<Vec<_>>().join(" | ")
            }
            _ => block["text"]["text"].as_str().unwrap().to_owned(),
        });
        texts.collect::<Vec<String>>().join("\n")
    }

    #[test]
    fn a_plan_that_waits_shows_what_it_would_do_and_asks() {
        let summary = summary(&[
            ("module.a.toy_bucket.logs", Change::DeleteThenCreate),
            ("toy_bucket.new[\"<!here>\"]", Change::Create),
        ]);
        insta::assert_snapshot!(shown(&draw(&waiting(), Some(&summary))), @r#"
        infra/network-prod: a plan waits for approval
        *2 to add, 0 to change, 0 to destroy; 1 output* · `plan-main-08747a1433@95cc1abab6db`
        Waits for approval.
        `-/+` `module.a.toy_bucket.logs` because of region
        `+` `toy_bucket.new["&lt;!here&gt;"]`
        `08747a1433` Move the logs of prod to eu-2 · Ada &lt;ada@example.com&gt; | <https://yuba.example/runs/1|run 2 (tracked)>
        [Approve][Reject…][View plan]
        "#);
    }

    #[test]
    fn a_destruction_is_confirmed_and_never_merely_approved() {
        let destroy = run(|run| {
            run.kind = RunKind::Destroy;
            run.state = RunState::AwaitingApproval;
        });
        let shown = shown(&draw(&destroy, None));
        assert!(shown.starts_with("infra/network-prod: its destruction waits for approval"), "{shown}");
        assert!(shown.ends_with("[Confirm destroy…][Reject…][View plan]"), "{shown}");
    }

    #[test]
    fn what_ended_has_no_buttons_and_says_who_let_it_happen() {
        insta::assert_snapshot!(shown(&draw(&run(|_| ()), None)), @r"
        infra/network-prod: applied
        *2 to add, 0 to change, 0 to destroy; 1 output* · `plan-main-08747a1433@95cc1abab6db`
        *Approved* by token holder (cli): Reviewed
        `08747a1433` Move the logs of prod to eu-2 · Ada &lt;ada@example.com&gt; | <https://yuba.example/runs/1|run 2 (tracked)>
        [View plan]
        ");
    }

    #[test]
    fn drift_is_told_by_resource_and_attribute() {
        let drifted = run(|run| {
            (run.kind, run.state) = (RunKind::Drift, RunState::Drifted);
            run.decisions.clear();
            run.plan.as_mut().unwrap().report.counts.drift = 2;
        });
        let attribute = |path: &str| json!({ "path": path, "before": "absent", "after": "absent" });
        let drift = json!([
            { "address": "toy_bucket.a", "kind": "toy_bucket", "action": "update",
              "attributes": [attribute("tags.team"), attribute("size")] },
            { "address": "toy_bucket.b", "kind": "toy_bucket", "action": "delete", "attributes": [] },
        ]);
        let summary = PlanSummary { drift: serde_json::from_value(drift).unwrap(), ..empty() };
        insta::assert_snapshot!(shown(&draw(&drifted, Some(&summary))), @r"
        infra/network-prod: Drift detected: 2 resources
        `toy_bucket.a`: tags.team, size
        `toy_bucket.b` is gone
        `08747a1433` Move the logs of prod to eu-2 · Ada &lt;ada@example.com&gt; | <https://yuba.example/runs/1|run 2 (drift)>
        [Remediate][Ignore for 24 h][Ignore for 7 d][Acknowledge][View plan]
        ");
        let gone = RunCard {
            run: &drifted,
            summary: None,
            url: None,
            has_buttons: true,
            drift_stands: false,
            drift_answer: None,
        };
        insta::assert_snapshot!(shown(&serde_json::to_value(gone.draw().blocks).unwrap()), @r"
        infra/network-prod: drift that was found is gone
        `08747a1433` Move the logs of prod to eu-2 · Ada &lt;ada@example.com&gt; | run 2 (drift)
        ");
    }

    #[test]
    fn an_answer_to_drift_is_shown_and_the_others_can_still_be_given() {
        let drifted = run(|run| {
            (run.kind, run.state) = (RunKind::Drift, RunState::Drifted);
            run.decisions.clear();
        });
        let said = |verdict, drift_stands| {
            let mut answer = run(|_| ()).decisions[0].clone();
            answer.verdict = verdict;
            let (summary, url, drift_answer) = (None, None, Some(&answer));
            let card =
                RunCard { run: &drifted, summary, url, has_buttons: true, drift_stands, drift_answer }.draw();
            shown(&serde_json::to_value(card.blocks).unwrap())
        };
        let until = crate::time::Timestamp(1_796_108_157_000);
        let ignored = said(DecisionVerdict::Ignore { until }, true);
        assert!(ignored.contains("*Ignored until 2026-12-01T06:55:57Z* by token holder (cli)"), "{ignored}");
        assert!(ignored.ends_with("[Remediate][Acknowledge]"), "{ignored}");
        let acknowledged = said(DecisionVerdict::Acknowledge, true);
        assert!(acknowledged.contains("*Acknowledged* by token holder"), "{acknowledged}");
        assert!(acknowledged.ends_with("[Remediate][Ignore for 24 h][Ignore for 7 d]"), "{acknowledged}");
        assert!(!said(DecisionVerdict::Acknowledge, false).contains("Acknowledged"), "the drift is gone");
    }

    #[test]
    fn a_failure_shows_its_error() {
        let failed = run(|run| {
            run.state = RunState::Failed;
            run.decisions.clear();
            run.failure = Some(Failure {
                class: FailureClass::Transient,
                message: "Apply error: quota & more".to_owned(),
                detail: "Error: ```\nquota".to_owned(),
                lock: None,
                errored_state: false,
            });
        });
        let shown = shown(&draw(&failed, None));
        assert!(shown.contains("Apply error: quota &amp; more\n```\nError: ˋˋˋ\nquota\n```\n"), "{shown}");
    }

    #[test]
    fn five_thousand_changes_and_long_names_stay_within_slacks_limits() {
        let address = format!("module.{}[\"{}\"]", "very_long_name".repeat(40), "مرحبا😀".repeat(30));
        let changes = vec![(address.as_str(), Change::Delete); 5000];
        let blocks = draw(&waiting(), Some(&summary(&changes)));
        let resources = blocks[2]["text"]["text"].as_str().unwrap();
        let units: usize = resources.chars().map(char::len_utf16).sum();
        assert!(units <= 3000, "{units}");
        let named = resources.lines().count() - 1;
        assert!(resources.ends_with(&format!("… and {} more", 5000 - named)), "{resources}");
        assert_eq!(resources.matches('`').count() % 2, 0);
    }

    #[test]
    fn more_resources_than_are_named_are_counted() {
        let names: Vec<String> = (0..25).map(|number| format!("toy_bucket.b{number}")).collect();
        let changes: Vec<(&str, Change)> = names.iter().map(|name| (name.as_str(), Change::Create)).collect();
        let blocks = draw(&waiting(), Some(&summary(&changes)));
        let resources = blocks[2]["text"]["text"].as_str().unwrap();
        assert_eq!(resources.lines().count(), MOST_RESOURCES + 1);
        assert!(resources.ends_with("`+` `toy_bucket.b19`\n… and 5 more"), "{resources}");
    }
}
