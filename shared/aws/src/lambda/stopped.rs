//! Serves HTTP, and what ECS says of tasks beside it.

use axum::Router;
use lambda_http::lambda_runtime;
use lambda_http::request::LambdaRequest;
use lambda_http::{Adapter, LambdaEvent, Service, service_fn};
use serde::Deserialize;
use serde_json::Value;
use yuba_core::id::AttemptId;
use yuba_ports::{PortError, chain};

use super::Error;
use super::http::observed;
use super::metrics::Metrics;
use crate::trace::TraceContext;

/// Serves routes behind a Function URL, and has it told when the task of an attempt has stopped, until the environment is
/// taken away.
pub async fn http_and_stopped<F>(
    routes: Router,
    metrics: &Metrics,
    stopped: impl Fn(AttemptId) -> F,
) -> Result<(), Error>
where
    F: Future<Output = Result<(), PortError>>,
{
    let http = Adapter::from(observed(routes, metrics));
    lambda_runtime::run(service_fn(async |event: LambdaEvent<Value>| match Called::by(event.payload) {
        Called::Http(request) => {
            let request: LambdaRequest = serde_json::from_value(request)?;
            let answer = http.clone().call(LambdaEvent::new(request, event.context)).await?;
            Ok::<_, Error>(serde_json::to_value(answer)?)
        }
        Called::Stopped(attempt) => {
            let told = TraceContext::begin().scope(stopped(attempt)).await;
            told.inspect_err(|error| {
                tracing::error!(%attempt, error = chain(error), "that a task has stopped cannot be told");
            })?;
            Ok(Value::Null)
        }
        Called::Other(why) => {
            tracing::info!(why, "an event is of no use here");
            Ok(Value::Null)
        }
    }))
    .await
}

/// Why the function is called.
#[derive(Debug, PartialEq)]
enum Called {
    /// A request of HTTP.
    Http(Value),
    /// The task of an attempt has stopped.
    Stopped(AttemptId),
    /// Something else; what.
    Other(String),
}

/// What EventBridge says of a task.
/// <https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_task_events.html>
#[derive(Debug, Deserialize)]
struct TaskEvent {
    source: String,
    #[serde(rename = "detail-type")]
    kind: String,
    detail: Task,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Task {
    last_status: String,
    started_by: String,
}

impl Called {
    /// Only EventBridge writes this field: of a request of HTTP, all that its sender wrote lies deeper.
    fn by(payload: Value) -> Self {
        if payload.get("detail-type").is_none() {
            return Self::Http(payload);
        }
        let event: TaskEvent = match serde_json::from_value(payload) {
            Ok(event) => event,
            Err(error) => return Self::Other(format!("it is not what ECS says of a task: {error}")),
        };
        if event.source != "aws.ecs" || event.kind != "ECS Task State Change" {
            return Self::Other(format!("it is a `{}` of {}", event.kind, event.source));
        }
        match (event.detail.last_status.as_str(), event.detail.started_by.parse()) {
            ("STOPPED", Ok(attempt)) => Self::Stopped(attempt),
            ("STOPPED", Err(_)) => Self::Other(format!("`{}` is no attempt", event.detail.started_by)),
            (status, _) => Self::Other(format!("a task is {status}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ATTEMPT: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV-plan-1";

    /// As ECS writes it, with what is of no use here left out.
    fn event(status: &str, started_by: &str) -> Value {
        json!({
            "version": "0",
            "id": "3317b2af-7005-947d-b652-f55e762e571a",
            "detail-type": "ECS Task State Change",
            "source": "aws.ecs",
            "account": "111122223333",
            "time": "2026-01-01T00:00:00Z",
            "detail": {
                "clusterArn": "arn:aws:ecs:eu-central-1:111122223333:cluster/yuba-prod",
                "lastStatus": status,
                "startedBy": started_by,
                "stopCode": "EssentialContainerExited",
            },
        })
    }

    #[test]
    fn a_stopped_task_names_its_attempt() {
        assert_eq!(Called::by(event("STOPPED", ATTEMPT)), Called::Stopped(ATTEMPT.parse().unwrap()));
    }

    #[test]
    fn what_is_of_no_use_is_said() {
        let why = |payload| match Called::by(payload) {
            Called::Other(why) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why(event("RUNNING", ATTEMPT)), "a task is RUNNING");
        assert_eq!(why(event("STOPPED", "ecs-svc/1")), "`ecs-svc/1` is no attempt");
        let scheduled = json!({ "source": "aws.events", "detail-type": "Scheduled Event", "detail": {} });
        assert_eq!(why(scheduled), "it is a `Scheduled Event` of aws.events");
        assert!(why(json!({ "detail-type": "x" })).starts_with("it is not what ECS says of a task"));
    }

    #[test]
    fn a_request_is_not_taken_for_an_event() {
        let request =
            json!({ "version": "2.0", "rawPath": "/", "body": event("STOPPED", ATTEMPT).to_string() });
        assert_eq!(Called::by(request.clone()), Called::Http(request));
    }
}
