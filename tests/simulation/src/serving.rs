//! The functions as processes: the handlers with what stands around them where they run.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use secrecy::SecretString;
use serde_json::Value;
use tower::ServiceExt;
use yuba_api::{Api, Explain, Unexplained};
use yuba_core::id::{ManifestSetName, StackName};
use yuba_core::time::Span;
use yuba_core::why::Why;
use yuba_ports::{PortError, Ports, Queue, QueueName, Received, Remedy};
use yuba_source::SourceSettings;
use yuba_tasks::{ObjectsDirectory, TaskSettings, TasksState};
use yuba_webhook::{Webhook, WebhookSettings};

use crate::history::{Mark, Sign};
use crate::mutation::Mutation;
use crate::process::Doing;
use crate::world::{Answer, Asked, World};

/// The token of the API.
pub(crate) const TOKEN: &str = "the token of a simulated installation";
/// The secret that pushes are signed with.
pub(crate) const SECRET: &str = "the secret of a simulated host";
/// How often a message comes whose handler says that trying again cannot help.
const MOST_RECEIVES: u32 = 8;

/// Settings of the source function.
pub(crate) fn source_settings(world: &World, manifests: &[ManifestSetName]) -> SourceSettings {
    SourceSettings {
        manifests: manifests.to_vec(),
        manifests_interval: Span::minutes(5),
        git: Arc::new(world.clone()),
        ..SourceSettings::new(PathBuf::from("cache"))
    }
}

/// The routes of all functions.
pub(crate) fn routes(ports: &Ports, manifests: &[ManifestSetName]) -> Router {
    let secrets = vec![SecretString::from(SECRET)];
    let webhook =
        WebhookSettings { github: secrets.clone(), generic: secrets, manifests: manifests.to_vec() };
    let tasks = TaskSettings {
        objects: Arc::new(ObjectsDirectory(PathBuf::from("objects"))),
        local_state: None,
        provider_cache: None,
    };
    Router::new()
        .merge(yuba_tasks::router(TasksState { ports: ports.clone(), settings: Arc::new(tasks) }))
        .merge(yuba_webhook::router(Webhook::new(ports.clone(), webhook)))
        .merge(yuba_api::router(Api::new(ports.clone(), SecretString::from(TOKEN), Arc::new(NobodyAsks))))
}

/// Nobody asks why in a simulation.
struct NobodyAsks;

#[async_trait]
impl Explain for NobodyAsks {
    async fn why(&self, stack: &StackName, _revision: Option<&str>) -> Result<Why, Unexplained> {
        Err(Unexplained::Unknown(stack.to_string()))
    }
}

/// Handles one message as a worker does: acknowledged when that went well, given back when not.
pub(crate) fn worker(
    world: &World,
    ports: &Ports,
    sources: &Arc<SourceSettings>,
    (queue, received): (QueueName, Received),
) -> (String, Doing) {
    let (ports, sources) = (ports.clone(), sources.clone());
    if world.state().mutation == Some(Mutation::AckBeforeCommit) {
        world.state().line.ack(&received);
    }
    match queue {
        QueueName::Stacks => {
            let doing = async move {
                let outcome = yuba_orchestrator::handle(&ports, &received.message).await.map(drop);
                drop(acknowledge(&*ports.queue, &received, outcome).await);
            };
            ("orchestrator".to_owned(), Box::pin(doing))
        }
        QueueName::Sources => {
            let doing = async move {
                let outcome = yuba_source::handle(&ports, &sources, &received.message).await.map(drop);
                drop(acknowledge(&*ports.queue, &received, outcome).await);
            };
            ("source".to_owned(), Box::pin(doing))
        }
    }
}

async fn acknowledge(
    queue: &dyn Queue,
    received: &Received,
    outcome: Result<(), PortError>,
) -> Result<(), PortError> {
    let Err(error) = outcome else { return queue.ack(received).await };
    if error.remedy == Remedy::Permanent && received.receives >= MOST_RECEIVES {
        return queue.ack(received).await;
    }
    let pause = match error.remedy {
        Remedy::Wait(span) => span.max(Span::seconds(1)),
        Remedy::Permanent | Remedy::Transient => Span::seconds(1 << received.receives.clamp(1, 6)),
    };
    queue.release(received, pause).await
}

/// Answers one request.
pub(crate) fn server(world: &World, routes: &Router, request: Request<Body>, asked: Asked) -> Doing {
    let (world, routes) = (world.clone(), routes.clone());
    Box::pin(async move {
        let Ok(response) = routes.oneshot(request).await;
        let status = response.status();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap_or_default();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        let mut state = world.state();
        let (mark, lost) =
            if asked.is_answer_lost { (Mark::Fault, " — the answer is lost") } else { (Mark::Plain, "") };
        state.note_as(Sign::to(asked.by).marked(mark), || format!("answers {status}{lost}"));
        if !asked.is_answer_lost {
            state.answers.insert(asked.answer, Answer { status, body });
        }
    })
}
