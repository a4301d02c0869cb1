//! Numbers for Prometheus, computed from the store when they are asked for.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::PoisonError;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::measured::Tally;
use yuba_core::record::{Index, Installation, Key};
use yuba_core::source::{FindingCounts, ManifestSetRecord};
use yuba_core::stack::Stack;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::{PortError, Store};

use crate::Api;
use crate::lookup;
use crate::problem::Problem;
use crate::view::manifests::ready_and_status;
use crate::view::stack::ready;

/// What is counted.
#[derive(Debug, Default)]
struct Counted {
    stacks_by_ready: BTreeMap<&'static str, u64>,
    stacks_by_state: BTreeMap<String, u64>,
    drifted: u64,
    pending_effects: u64,
    given_up_effects: u64,
    oldest_effect: Option<Timestamp>,
    oldest_due: Option<Timestamp>,
    claims: u64,
    oldest_silence: Option<Timestamp>,
    paused: bool,
    sets_by_ready: BTreeMap<&'static str, u64>,
    findings: FindingCounts,
}

/// Numbers in Prometheus' text format.
#[utoipa::path(get, path = "/metrics", tag = "installation",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub(crate) async fn show(State(api): State<Api>) -> Result<Response, Problem> {
    let counted = count(&*api.ports.store).await?;
    let mut text = render(&counted, api.ports.clock.now());
    render_tally(&mut text, &api.tally.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

async fn count(store: &dyn Store) -> Result<Counted, PortError> {
    let mut counted = Counted {
        oldest_due: oldest_due(store).await?,
        paused: lookup::read::<Installation>(store, &Key::installation())
            .await?
            .is_some_and(|installation| installation.paused.is_some()),
        ..Counted::default()
    };
    counted.manifests(store).await?;
    let mut after = None;
    loop {
        let query = lookup::index(Index::Stacks, String::new(), after, 500);
        let (stacks, next) = lookup::values::<Stack>(store, query).await?;
        for stack in &stacks {
            counted.stack(stack);
            if matches!(stack.shown.state.as_str(), "planning" | "applying") {
                counted.attempt(attempt_out(store, stack).await?.as_ref());
            }
        }
        after = next;
        if after.is_none() {
            return Ok(counted);
        }
    }
}

async fn oldest_due(store: &dyn Store) -> Result<Option<Timestamp>, PortError> {
    let page = store.query(lookup::index(Index::Due, String::new(), None, 1)).await?;
    let due = page.items.first().and_then(|item| item.body.get("due")).and_then(Value::as_i64);
    Ok(due.map(Timestamp))
}

async fn attempt_out(store: &dyn Store, stack: &Stack) -> Result<Option<Attempt>, PortError> {
    let run = lookup::run_of(store, stack.id, stack.run).await?;
    match run.and_then(|run| run.attempt_out()) {
        Some(attempt) => lookup::read(store, &Key::attempt(attempt)).await,
        None => Ok(None),
    }
}

impl Counted {
    async fn manifests(&mut self, store: &dyn Store) -> Result<(), PortError> {
        let mut after = None;
        loop {
            let query = lookup::index(Index::Manifests, String::new(), after, 100);
            let (sets, next) = lookup::values::<ManifestSetRecord>(store, query).await?;
            for set in &sets {
                *self.sets_by_ready.entry(ready_and_status(set).0).or_default() += 1;
                self.findings.errors += set.found.errors;
                self.findings.warnings += set.found.warnings;
            }
            after = next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    fn stack(&mut self, stack: &Stack) {
        *self.stacks_by_ready.entry(ready(stack.shown.ready)).or_default() += 1;
        if !stack.shown.state.is_empty() {
            *self.stacks_by_state.entry(stack.shown.state.clone()).or_default() += 1;
        }
        self.drifted += u64::from(stack.drift.is_some());
        self.given_up_effects += stack.given_up;
        for pending in &stack.outbox {
            self.pending_effects += 1;
            self.oldest_effect =
                Some(self.oldest_effect.map_or(pending.since, |oldest| oldest.min(pending.since)));
        }
    }

    fn attempt(&mut self, attempt: Option<&Attempt>) {
        let Some(attempt) = attempt.filter(|attempt| attempt.state == AttemptState::Claimed) else { return };
        self.claims += 1;
        let heard = attempt.heard_at.or(attempt.claimed_at).unwrap_or(attempt.issued_at);
        self.oldest_silence = Some(self.oldest_silence.map_or(heard, |oldest| oldest.min(heard)));
    }
}

fn render(counted: &Counted, now: Timestamp) -> String {
    let mut text = String::new();
    let by_ready =
        counted.stacks_by_ready.iter().map(|(ready, count)| (format!("{{ready=\"{ready}\"}}"), *count));
    gauge(&mut text, "yuba_stacks", "Stacks by readiness.", by_ready);
    let by_state =
        counted.stacks_by_state.iter().map(|(state, count)| (format!("{{state=\"{state}\"}}"), *count));
    gauge(&mut text, "yuba_runs", "Current or last runs of stacks by state.", by_state);
    let labelled = |(ready, count): (&&str, &u64)| (format!("{{ready=\"{ready}\"}}"), *count);
    let sets = counted.sets_by_ready.iter().map(labelled);
    gauge(&mut text, "yuba_manifest_sets", "Places of manifests by readiness.", sets);
    let findings = [("error", counted.findings.errors), ("warning", counted.findings.warnings)]
        .map(|(severity, count)| (format!("{{severity=\"{severity}\"}}"), u64::from(count)));
    gauge(&mut text, "yuba_manifest_findings", "What is wrong in manifests; errors hold back.", findings);
    let seconds = |since: Option<Timestamp>| since.map_or(0, |since| seconds(now.since(since)));
    let single = [
        ("yuba_stacks_drifted", "Stacks with drift.", counted.drifted),
        ("yuba_effects_pending", "Effects of decisions that are still to do.", counted.pending_effects),
        (
            "yuba_oldest_pending_effect_seconds",
            "Age of the oldest pending effect.",
            seconds(counted.oldest_effect),
        ),
        (
            "yuba_oldest_due_seconds",
            "How long the oldest due item has been due.",
            seconds(counted.oldest_due),
        ),
        ("yuba_claims_without_report", "Attempts that were claimed and have not reported.", counted.claims),
        (
            "yuba_longest_silence_seconds",
            "Since when the quietest claimed attempt was not heard of.",
            seconds(counted.oldest_silence),
        ),
        ("yuba_paused", "1 while new applies are stopped.", u64::from(counted.paused)),
    ];
    for (name, help, value) in single {
        gauge(&mut text, name, help, [(String::new(), value)]);
    }
    let (name, help) =
        ("yuba_effects_given_up_total", "Effects that were given up since the stacks are known.");
    metric(&mut text, (name, "counter", help), [(String::new(), counted.given_up_effects)]);
    text
}

/// What ended since this process began; nothing where nothing did, as on AWS, where another function decides.
fn render_tally(text: &mut String, tally: &Tally) {
    if !tally.runs.is_empty() {
        let runs = tally.runs.iter().map(|(state, count)| (format!("{{outcome=\"{state}\"}}"), *count));
        let help = "Runs that ended since the server started, by outcome.";
        metric(text, ("yuba_runs_ended_total", "counter", help), runs);
    }
    if tally.phases.is_empty() {
        return;
    }
    let name = "yuba_phase_seconds";
    // Writing to a string cannot fail.
    let _ =
        writeln!(text, "# HELP {name} How long attempts took from when they were issued until they ended.");
    let _ = writeln!(text, "# TYPE {name} summary");
    for (phase, (count, sum)) in &tally.phases {
        let sum = sum.to_std().as_secs_f64();
        let _ = writeln!(
            text,
            "{name}_sum{{phase=\"{phase}\"}} {sum}\n{name}_count{{phase=\"{phase}\"}} {count}"
        );
    }
}

fn seconds(span: Span) -> u64 {
    span.to_std().as_secs()
}

fn gauge(text: &mut String, name: &str, help: &str, samples: impl IntoIterator<Item = (String, u64)>) {
    metric(text, (name, "gauge", help), samples);
}

fn metric(
    text: &mut String,
    (name, kind, help): (&str, &str, &str),
    samples: impl IntoIterator<Item = (String, u64)>,
) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    for (labels, value) in samples {
        let _ = writeln!(text, "{name}{labels} {value}");
    }
}

#[cfg(test)]
mod tests {
    use yuba_core::id::Phase;
    use yuba_core::run::RunState;

    use super::*;

    #[test]
    fn what_ended_is_counted_by_outcome_and_timed_by_phase() {
        let mut text = String::new();
        render_tally(&mut text, &Tally::default());
        assert_eq!(text, "", "nothing is said where nothing ended");
        let tally = Tally {
            runs: BTreeMap::from([(RunState::Applied, 2), (RunState::Failed, 1)]),
            phases: BTreeMap::from([(Phase::Plan, (3, Span(4_500)))]),
        };
        render_tally(&mut text, &tally);
        insta::assert_snapshot!(text, @r#"
        # HELP yuba_runs_ended_total Runs that ended since the server started, by outcome.
        # TYPE yuba_runs_ended_total counter
        yuba_runs_ended_total{outcome="applied"} 2
        yuba_runs_ended_total{outcome="failed"} 1
        # HELP yuba_phase_seconds How long attempts took from when they were issued until they ended.
        # TYPE yuba_phase_seconds summary
        yuba_phase_seconds_sum{phase="plan"} 4.5
        yuba_phase_seconds_count{phase="plan"} 3
        "#);
    }

    #[test]
    fn numbers_are_written_as_prometheus_reads_them() {
        let counted = Counted {
            stacks_by_ready: BTreeMap::from([("True", 2), ("False", 1)]),
            oldest_due: Some(Timestamp(1_000)),
            ..Counted::default()
        };
        let text = render(&counted, Timestamp(61_000));
        assert!(text.contains("yuba_stacks{ready=\"True\"} 2\n"), "{text}");
        assert!(
            text.contains("# TYPE yuba_oldest_due_seconds gauge\nyuba_oldest_due_seconds 60\n"),
            "{text}"
        );
    }
}
