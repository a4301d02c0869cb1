//! Runs: shown, followed, ended.

use std::fmt::Write;
use std::time::Duration;

use yuba_api::wire::{FailureView, LockView, ProgressView, RunDetail, RunItem};

use super::{Now, elapsed};

/// How many of the last lines of a failed run's log are shown.
const LAST_LINES: usize = 40;

/// All that is known of a run; `log` is the log of a failed one.
pub(crate) fn show(detail: &RunDetail, log: &str, now: Now) -> String {
    let run = &detail.run;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{:<12}{value}", format!("{name}:"));
        }
    };
    line("Run", &format!("{} (number {} of {}/{})", run.id, run.number, run.namespace, run.name));
    line("Kind", &run.kind);
    line("State", &run.state);
    line("Revision", &run.revision);
    line("Commit", &format!("{} ({})", detail.commit.subject, detail.commit.author));
    line("Because", &detail.because.join("; "));
    line("Waits for", &detail.waits_for);
    if let Some(plan) = &detail.plan {
        line("Plan", &format!("{}@{}: {}", plan.id, short(&plan.content), plan.changes));
        line("Engine", &plan.engine);
        line("Notices", &plan.notices.join("; "));
    }
    line("Made", &run.created_at);
    line("Ended", run.ended_at.as_deref().unwrap_or_default());
    for attempt in &detail.attempts {
        line("Attempt", &format!("{} {}", attempt.id, attempt.how.as_deref().unwrap_or("is out")));
    }
    for decision in &detail.decisions {
        line(
            "Decision",
            &format!(
                "{} by {} from {} at {} {}",
                decision.verdict, decision.by.who, decision.by.from, decision.by.at, decision.by.message
            ),
        );
    }
    if let Some(failure) = &detail.failure {
        text.push_str(&failed(failure, run, now));
        text.push_str(&last_lines(log));
    }
    text
}

/// The first 12 digits of a digest, as people type them.
fn short(content: &str) -> String {
    content.trim_start_matches("sha256:").chars().take(12).collect()
}

fn failed(failure: &FailureView, run: &RunItem, now: Now) -> String {
    let mut text = format!("\nFailed ({}): {}\n", failure.class, failure.message);
    if !failure.detail.is_empty() {
        let _ = writeln!(text, "{}", failure.detail.trim_end());
    }
    if let Some(lock) = &failure.lock {
        let _ = writeln!(
            text,
            "Lock {} is {}; `yuba unlock {}/{}` releases it.",
            lock.id,
            held(lock, now),
            run.namespace,
            run.name
        );
    }
    if failure.recoverable {
        let _ = writeln!(
            text,
            "A state was left behind that could not be saved; `yuba recover {}` shows and pushes it.",
            run.id
        );
    }
    text
}

fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    if lines.is_empty() {
        return String::new();
    }
    let from = lines.len().saturating_sub(LAST_LINES);
    let shown = lines.get(from..).unwrap_or_default();
    format!("\nThe last {} lines of its log:\n{}\n", shown.len(), shown.join("\n"))
}

/// Who holds a lock, for what, since when, and how long that is now, where the time could be read.
pub(crate) fn held(lock: &LockView, now: Now) -> String {
    let age = now.age(&lock.created);
    let ago = if age.is_empty() { String::new() } else { format!(", {age} ago") };
    format!("held by {} for {} since {}{ago}", lock.who, lock.operation, lock.created)
}

/// One line while a run is followed: phase, time, resources done of all.
pub(crate) fn progress(progress: &ProgressView, since: Duration) -> String {
    let done = match progress.total {
        Some(total) => format!(", {} of {total} resources", progress.done),
        None if progress.done > 0 => format!(", {} resources", progress.done),
        None => String::new(),
    };
    let current = progress.current.as_ref().map(|address| format!(", {address}")).unwrap_or_default();
    // Each phase has a step of its own name.
    let step = if progress.step == progress.phase { String::new() } else { format!(" {}", progress.step) };
    format!("[{}{step}, {}{done}{current}]", progress.phase, elapsed(since))
}

/// How a followed run ended, or what it waits for.
pub(crate) fn ending(detail: &RunDetail, now: Now) -> String {
    let run = &detail.run;
    let name = format!("{}/{}: run {}", run.namespace, run.name, run.number);
    match (&detail.failure, &run.plan) {
        (Some(failure), _) if run.state == "failed" => format!("{name} failed{}", failed(failure, run, now)),
        (_, Some(plan)) if run.state == "awaiting-approval" => {
            let changes = run.changes.as_deref().unwrap_or_default();
            format!(
                "{name} waits for approval ({changes}): yuba approve {}/{} --plan {plan}",
                run.namespace, run.name
            )
        }
        _ if !detail.waits_for.is_empty() => format!("{name} waits for {}", detail.waits_for),
        _ => format!("{name} is {}", run.state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_one_line() {
        let view = ProgressView {
            phase: "apply".to_owned(),
            step: "apply".to_owned(),
            done: 3,
            total: Some(7),
            current: Some("toy_bucket.a".to_owned()),
        };
        insta::assert_snapshot!(progress(&view, Duration::from_secs(75)), @"[apply, 1m15s, 3 of 7 resources, toy_bucket.a]");
    }

    #[test]
    fn a_failed_run_shows_its_last_forty_lines() {
        let log: String = (1..=60).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n") + "\n";
        let shown = last_lines(&log);
        assert!(shown.starts_with("\nThe last 40 lines of its log:\nline 21\n"), "{shown}");
        assert!(shown.ends_with("line 60\n"), "{shown}");
        assert_eq!(last_lines(""), "");
    }
}
