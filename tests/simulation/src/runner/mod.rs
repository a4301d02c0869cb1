//! A model of the runner: what a task does, as `yuba runner` does it, with a cloud that watches.

mod apply;
mod plan;

pub(crate) use plan::{place, wanted};

use axum::body::Body;
use axum::http::{Request, header};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::Value;
use yuba_core::attempt::AttemptReport;
use yuba_core::id::{AttemptId, Phase};
use yuba_core::job::{Job, object};
use yuba_core::run::{Failure, FailureClass};
use yuba_core::task::{ClaimAnswer, ClaimRequest, Heartbeat, HeartbeatAnswer, ReportRequest, ResolvedValue};
use yuba_core::time::Span;
use yuba_ports::{Blobs, PutMode, StartTask};

use crate::history::Sign;
use crate::world::World;

/// How long a claim is tried while the server is away.
const CLAIM_PATIENCE: Span = Span::minutes(2);
/// How long a report is tried while the server is away.
const REPORT_PATIENCE: Span = Span::hours(1);

/// Why a request came to nothing.
enum Away {
    Refused,
    NoAnswer,
}

/// An attempt that was claimed.
pub(crate) struct Attempt {
    world: World,
    id: AttemptId,
    process: u64,
    job: Job,
    values: Vec<ResolvedValue>,
    token: String,
    /// Why it is to stop.
    stop: Option<Stop>,
}

/// What an attempt that did not get to its end reports.
type Ended = Box<AttemptReport>;

/// Why an attempt is to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stop {
    Told(String),
    Fenced,
}

/// Runs the task of an attempt to its end. Whatever it does between two gates happens at once.
pub(crate) async fn run(world: World, start: StartTask, process: u64) {
    let delay = Span(world.state().chance.between(500, 20_000));
    world.sleep(delay).await;
    let request = ClaimRequest { schema: 1, attempt: start.attempt };
    let claimed = insist(&world, "/tasks/claim", &start.token, &request, CLAIM_PATIENCE).await;
    let claim = claimed.ok().and_then(|body| serde_json::from_value::<ClaimAnswer>(body).ok());
    let Some(claim) = claim else { return world.state().note(|| "gives up: nothing was claimed".to_owned()) };
    let mut attempt = Attempt {
        world: world.clone(),
        id: start.attempt,
        process,
        token: claim.claim_token,
        values: claim.values,
        job: claim.job,
        stop: None,
    };
    let report = match start.attempt.phase {
        Phase::Plan => attempt.plan().await,
        Phase::Apply => attempt.apply().await,
    };
    // A log that cannot be stored stops nobody.
    let log = format!("{}{}", attempt.job.prefix(), object::LOG);
    drop(world.put(&log, b"what was said", PutMode::Replace).await);
    attempt.deliver(report).await;
}

impl Attempt {
    /// Works for a while, and hears meanwhile whether it is to stop.
    async fn work(&mut self, least: i64, most: i64) {
        let span = Span(self.world.state().chance.between(least, most));
        self.world.sleep(span).await;
        let beat = Heartbeat { schema: 1, attempt: self.id, progress: None };
        match post(&self.world, "/tasks/heartbeat", &SecretString::from(self.token.clone()), &beat).await {
            Ok(body) => {
                let answer = serde_json::from_value::<HeartbeatAnswer>(body).ok();
                if let Some(why) = answer.and_then(|answer| answer.stop) {
                    self.stop.get_or_insert(Stop::Told(why));
                }
            }
            Err(Away::Refused) => self.stop = Some(Stop::Fenced),
            Err(Away::NoAnswer) => {}
        }
    }

    async fn deliver(&mut self, report: AttemptReport) {
        if self.stop == Some(Stop::Fenced) {
            return self.world.state().note(|| "is fenced, and ends".to_owned());
        }
        let rate = self.world.state().rates.kill;
        if self.world.state().goes_wrong(rate) {
            return self.world.state().note_as(Sign::fault(), || "ends without a report".to_owned());
        }
        if self.world.state().goes_wrong(rate) {
            let late = Span(self.world.state().chance.between(60_000, 7_200_000));
            self.world.state().note_as(Sign::fault(), || format!("reports {late} late"));
            self.world.sleep(late).await;
        }
        let request = ReportRequest { schema: 1, attempt: self.id, report };
        let token = SecretString::from(self.token.clone());
        let times = if self.world.state().goes_wrong(rate) { 2 } else { 1 };
        for _ in 0..times {
            if insist(&self.world, "/tasks/report", &token, &request, REPORT_PATIENCE).await.is_err() {
                self.world.state().note(|| "could not report".to_owned());
            }
        }
    }

    /// What is reported of an attempt that was stopped.
    fn stopped(&self, acted: bool) -> AttemptReport {
        let message = match &self.stop {
            Some(Stop::Told(why)) => why.clone(),
            _ => "interrupted".to_owned(),
        };
        AttemptReport::Stopped { message, acted, errored_state: false }
    }
}

/// A failure with a message alone.
fn failed(class: FailureClass, message: impl Into<String>) -> AttemptReport {
    let message = message.into();
    AttemptReport::Failed(Failure { class, message, detail: String::new(), lock: None, errored_state: false })
}

async fn post<B: Serialize>(
    world: &World,
    path: &str,
    token: &SecretString,
    body: &B,
) -> Result<Value, Away> {
    let request = Request::post(path)
        .header(header::AUTHORIZATION, format!("Bearer {}", token.expose_secret()))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(serde_json::to_vec(body).unwrap_or_default()));
    let Ok(request) = request else { return Err(Away::NoAnswer) };
    match world.request(request).await {
        Some(answer) if answer.status.is_success() => Ok(answer.body),
        Some(answer) if answer.status.is_client_error() => Err(Away::Refused),
        None | Some(_) => Err(Away::NoAnswer),
    }
}

async fn insist<B: Serialize>(
    world: &World,
    path: &str,
    token: &SecretString,
    body: &B,
    patience: Span,
) -> Result<Value, Away> {
    let until = world.state().now + patience;
    let mut wait = Span(100);
    loop {
        match post(world, path, token, body).await {
            Err(Away::NoAnswer) if world.state().now < until => {}
            outcome => return outcome,
        }
        world.sleep(wait).await;
        wait = Span(wait.0 * 2).min(Span::seconds(5));
    }
}
