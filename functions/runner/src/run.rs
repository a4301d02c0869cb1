//! One attempt from claim to report.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use secrecy::SecretString;
use yuba_core::attempt::AttemptReport;
use yuba_core::id::{AttemptId, Phase};
use yuba_core::job::object;
use yuba_core::run::{Failure, FailureClass};
use yuba_core::task::{
    ClaimAnswer, ClaimRequest, CredentialsAnswer, CredentialsRequest, Heartbeat, HeartbeatAnswer,
    ReportRequest,
};
use yuba_core::time::Span;

use crate::apply::apply;
use crate::attempt::{Attempt, Track};
use crate::ended::{Ended, Step, cut};
use crate::engine::descendants::Processes;
use crate::interrupt::{Interrupt, Interruption};
use crate::objects::OpenBucket;
use crate::plan::plan;
use crate::server::{Server, ServerError};
use crate::settings::Settings;
use crate::workspace::Workspace;

/// How long a claim is tried while the server is away.
const CLAIM_PATIENCE: Duration = Duration::from_mins(2);

/// How long a report is tried.
const REPORT_PATIENCE: Patience =
    Patience { while_away: Duration::from_hours(1), after_signal: Duration::from_mins(10) };

/// How long a report is tried, counted from when there is one: the engine's time to save its state is not taken from it.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// While the server is away.
    while_away: Duration,
    /// Where the task was told to stop by a signal.
    after_signal: Duration,
}

/// How often the server hears of the attempt.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// How long new credentials are asked for at a stretch.
const RENEWAL_PATIENCE: Duration = Duration::from_mins(10);

/// The shortest time between two renewals.
const SHORTEST_LEASE: Duration = Duration::from_millis(100);

/// Exit code where nothing was claimed, or what was done could not be reported.
const UNREPORTED: u8 = 1;

/// Runs the attempt that the environment names: claims it, does it, reports. Exit code 0 says that a report was
/// accepted (also of a failure), 1 that there was none. SIGTERM and SIGINT interrupt the engine once, whatever it does;
/// what came of it is reported. Within a runtime of several threads.
pub async fn run(
    environment: BTreeMap<String, String>,
    processes: Processes,
    buckets: Option<OpenBucket>,
) -> ExitCode {
    let settings = match Settings::read(&environment, processes, buckets) {
        Ok(settings) => settings,
        Err(error) => {
            tracing::error!("{error}");
            return ExitCode::from(UNREPORTED);
        }
    };
    match Box::pin(carry_out(settings)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("nothing was reported: {error}");
            ExitCode::from(UNREPORTED)
        }
    }
}

async fn carry_out(settings: Settings) -> Result<(), ServerError> {
    let server = Server::new(settings.address.clone())?;
    let interrupt = Interrupt::new();
    let signals = tokio::spawn(interrupt.clone().watch_signals());
    let request = ClaimRequest { schema: 1, attempt: settings.attempt };
    let claim: ClaimAnswer = tokio::select! {
        claim = server.insist("/tasks/claim", &settings.token, &request, CLAIM_PATIENCE) => claim?,
        () = interrupt.raised() => return Err(ServerError::Away("told to stop before it was claimed".to_owned())),
    };
    let token = SecretString::from(claim.claim_token.clone());
    let id = settings.attempt;
    let report = match Attempt::new(claim, &settings, interrupt.clone()) {
        Ok(attempt) => attend(&server, &token, &attempt).await,
        Err(ended) => ended_report(&interrupt, ended, Phase::Plan),
    };
    let outcome = if let Some(Interruption::Fenced(why)) = interrupt.reason() {
        Err(ServerError::Away(why))
    } else {
        let request = ReportRequest { schema: 1, attempt: id, report };
        deliver(&server, &token, &request, &interrupt, REPORT_PATIENCE).await
    };
    signals.abort();
    outcome
}

async fn deliver(
    server: &Server,
    token: &SecretString,
    request: &ReportRequest,
    interrupt: &Interrupt,
    patience: Patience,
) -> Result<(), ServerError> {
    tokio::select! {
        outcome = server.insist::<_, serde_json::Value>("/tasks/report", token, request, patience.while_away) => {
            outcome.map(drop)
        }
        () = interrupt.signalled_for(patience.after_signal) => {
            Err(ServerError::Away("told to stop, and no server has answered since".to_owned()))
        }
    }
}

/// Carries the attempt out while heartbeats, log pieces and the time bound run beside it.
async fn attend(server: &Server, token: &SecretString, attempt: &Attempt) -> AttemptReport {
    let interrupt = &attempt.interrupt;
    let pieces = tokio::spawn(attempt.log.clone().store_pieces());
    let bound = tokio::spawn(interrupt.clone().watch_bound(attempt.job.timeout));
    let outcome = tokio::select! {
        outcome = phase(attempt) => outcome,
        () = beat(server, token, attempt.job.attempt, &attempt.progress, interrupt) => Err(Ended::Interrupted),
        () = renew(server, token, attempt) => Err(Ended::Interrupted),
    };
    bound.abort();
    pieces.abort();
    let report = match outcome {
        Ok(report) => report,
        Err(ended) => with_errored_state(attempt, ended_report(interrupt, ended, attempt.job.attempt.phase)),
    };
    let report = masked(attempt, report);
    if let AttemptReport::Failed(failure) = &report {
        attempt.log.line(&format!("Failed: {}", failure.message));
    }
    if let Err(error) = attempt.log.close() {
        tracing::error!(?error, "the log could not be stored");
    }
    report
}

async fn phase(attempt: &Attempt) -> Step<AttemptReport> {
    if let Err(not_done) = attempt.processes.adopt() {
        attempt.log.line(&format!("Notice: {not_done}"));
    }
    let mut workspace = Workspace::prepare(attempt)?;
    let outcome = match attempt.job.attempt.phase {
        Phase::Plan => plan(attempt, &mut workspace).await,
        Phase::Apply => apply(attempt, &mut workspace).await,
    };
    let ended = attempt.user.end().await;
    let ended = attempt.processes.end().await.and(ended);
    let taken = workspace.remove();
    ended.and(taken).and(outcome)
}

/// Gets new credentials before those that there are end; never ends.
async fn renew(server: &Server, token: &SecretString, attempt: &Attempt) {
    let request = CredentialsRequest { schema: 1, attempt: attempt.job.attempt };
    let mut lease = attempt.lease;
    while let Some(held) = lease {
        tokio::time::sleep(held.renew_after.to_std().max(SHORTEST_LEASE)).await;
        let asked = server.insist("/tasks/credentials", token, &request, RENEWAL_PATIENCE);
        match asked.await {
            Ok::<CredentialsAnswer, _>(answer) => {
                lease = answer.lease;
                if attempt.renew(&answer).is_err() {
                    attempt.log.line("Notice: new credentials are too large to mask; the old ones end.");
                }
            }
            Err(ServerError::Away(why)) => tracing::warn!(why, "credentials could not be renewed; trying on"),
            // The heartbeat hears the same, and ends the attempt.
            Err(ServerError::Refused { .. } | ServerError::Gone(_)) => lease = None,
        }
    }
    std::future::pending::<()>().await;
}

/// Tells the server how far the attempt is; never ends.
async fn beat(
    server: &Server,
    token: &SecretString,
    attempt: AttemptId,
    progress: &Track,
    interrupt: &Interrupt,
) {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        let body = Heartbeat { schema: 1, attempt, progress: Some(progress.now()) };
        match server.post::<_, HeartbeatAnswer>("/tasks/heartbeat", token, &body).await {
            Ok(HeartbeatAnswer { stop: Some(why), .. }) => interrupt.raise(Interruption::Told(why)),
            Ok(_) => {}
            Err(ServerError::Refused { status, why }) => {
                interrupt
                    .raise(Interruption::Fenced(format!("the server refuses the claim ({status}): {why}")));
            }
            Err(gone @ ServerError::Gone(_)) => interrupt.raise(Interruption::Fenced(gone.to_string())),
            Err(ServerError::Away(why)) => tracing::warn!(why, "a heartbeat did not get through"),
        }
    }
}

/// What is reported of an attempt that did not end well.
fn ended_report(interrupt: &Interrupt, ended: Ended, phase: Phase) -> AttemptReport {
    let acted = phase == Phase::Apply;
    let killed = interrupt.killed_after().map_or_else(String::new, |after| killed(phase, after));
    match (ended, interrupt.reason()) {
        (Ended::Failed(failure), Some(Interruption::Told(why))) => AttemptReport::Stopped {
            message: format!("{why}; {}", failure.message),
            acted,
            errored_state: false,
        },
        (Ended::Failed(failure), _) => AttemptReport::Failed(*failure),
        (Ended::Interrupted, Some(Interruption::TimedOut(bound))) => AttemptReport::Failed(Failure {
            class: FailureClass::TimedOut,
            message: format!("the {phase} took longer than {bound} and was interrupted{killed}"),
            detail: String::new(),
            lock: None,
            errored_state: false,
        }),
        (Ended::Interrupted, reason) => {
            let message = match reason {
                Some(Interruption::Told(why) | Interruption::Fenced(why)) => why,
                _ => "interrupted".to_owned(),
            };
            let message = format!("{message}{killed}");
            AttemptReport::Stopped { message, acted, errored_state: false }
        }
    }
}

/// That an engine did not end when it was interrupted, and what may come of that.
fn killed(phase: Phase, after: Duration) -> String {
    let after = Span(i64::try_from(after.as_millis()).unwrap_or(i64::MAX));
    let left = match phase {
        Phase::Plan => "a lock that it held is left",
        Phase::Apply => {
            "what it had changed since it saved its state last is not in the state, and a lock that it held is left"
        }
    };
    format!("; it still ran {after} later and was killed: {left}")
}

/// Says in the report that a state was left behind, if one was stored.
fn with_errored_state(attempt: &Attempt, mut report: AttemptReport) -> AttemptReport {
    let stored = matches!(attempt.objects.open(&attempt.object(object::ERRORED_STATE)), Ok(Some(_)));
    match &mut report {
        AttemptReport::Failed(failure) => failure.errored_state = stored,
        AttemptReport::Stopped { errored_state, .. } => *errored_state = stored,
        AttemptReport::Planned(_) | AttemptReport::Applied { .. } => {}
    }
    report
}

fn masked(attempt: &Attempt, mut report: AttemptReport) -> AttemptReport {
    match &mut report {
        AttemptReport::Failed(failure) => {
            failure.message = attempt.log.mask(&failure.message);
            failure.detail = cut(&attempt.log.mask(&failure.detail));
        }
        AttemptReport::Stopped { message, .. } => *message = attempt.log.mask(message),
        AttemptReport::Planned(_) | AttemptReport::Applied { .. } => {}
    }
    report
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, timeout};

    use super::*;
    use crate::settings::Address;

    const SHORT: Duration = Duration::from_millis(300);

    /// Reports to a server that is away; why it was given up, and after how long, or that it was not within thrice the time.
    async fn given_up(interrupt: &Interrupt, patience: Patience) -> Option<(String, Duration)> {
        let data = tempfile::tempdir().unwrap();
        let server = Server::new(Address::File(data.path().join("server.url"))).unwrap();
        let attempt = "01ARZ3NDEKTSV4RRFFQ69G5FAV-apply-1".parse().unwrap();
        let message = "told to stop".to_owned();
        let report = AttemptReport::Stopped { message, acted: true, errored_state: false };
        let request = ReportRequest { schema: 1, attempt, report };
        let begun = Instant::now();
        let token = SecretString::from("a token");
        let delivered = timeout(SHORT * 3, deliver(&server, &token, &request, interrupt, patience)).await;
        delivered.ok().map(|outcome| (outcome.unwrap_err().to_string(), begun.elapsed()))
    }

    #[tokio::test]
    async fn a_report_is_tried_for_long_unless_a_signal_came() {
        let patience = Patience { after_signal: SHORT, ..REPORT_PATIENCE };
        let (calm, asked) = (Interrupt::new(), Interrupt::new());
        assert_eq!(given_up(&calm, patience).await, None);
        asked.signal("SIGTERM");
        let (why, after) = given_up(&asked, patience).await.unwrap();
        assert_eq!(why, "told to stop, and no server has answered since");
        assert!(after >= SHORT, "{after:?}");
    }

    #[tokio::test]
    async fn a_server_that_stays_away_is_given_up() {
        let patience = Patience { while_away: SHORT, ..REPORT_PATIENCE };
        let (why, after) = given_up(&Interrupt::new(), patience).await.unwrap();
        assert!(why.starts_with("the server's address is not in ") && after >= SHORT, "{why} {after:?}");
    }
}
