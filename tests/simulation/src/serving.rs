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
use yuba_core::message::Message;
use yuba_core::time::Span;
use yuba_core::why::Why;
use yuba_notifier::{Buttons, NotifierSettings};
use yuba_ports::{PortError, Ports, Queue, QueueName, Received, Remedy};
use yuba_slack::{Slack, SlackSettings};
use yuba_source::SourceSettings;
use yuba_tasks::{ObjectsDirectory, TaskSettings, TasksState};
use yuba_webhook::{Webhook, WebhookSettings};

use crate::history::{Mark, Sign};
use crate::mutation::Mutation;
use crate::process::Doing;
use crate::world::gate::gate;
use crate::world::{Answer, Asked, World};

/// The token of the API.
pub(crate) const TOKEN: &str = "the token of a simulated installation";
/// The secret that pushes are signed with.
pub(crate) const SECRET: &str = "the secret of a simulated host";
/// The secret that Slack signs with.
pub(crate) const SIGNING_SECRET: &str = "the secret of a simulated Slack";
/// Where people reach the pages.
pub(crate) const WEB: &str = "https://yuba.example";
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
pub(crate) fn routes(world: &World, ports: &Ports, manifests: &[ManifestSetName]) -> Router {
    let secrets = vec![SecretString::from(SECRET)];
    let webhook =
        WebhookSettings { github: secrets.clone(), generic: secrets, manifests: manifests.to_vec() };
    let tasks = TaskSettings {
        objects: Arc::new(ObjectsDirectory(PathBuf::from("objects"))),
        local_state: None,
        provider_cache: None,
    };
    let slack = SlackSettings {
        signing_secrets: vec![SecretString::from(SIGNING_SECRET)],
        http: Arc::new(world.clone()),
    };
    Router::new()
        .merge(yuba_slack::router(Slack::new(ports.clone(), slack)))
        .merge(yuba_tasks::router(TasksState { ports: ports.clone(), settings: Arc::new(tasks) }))
        .merge(yuba_webhook::router(Webhook::new(ports.clone(), webhook)))
        .merge(yuba_api::router(Api::new(ports.clone(), SecretString::from(TOKEN), Arc::new(NobodyAsks))))
}

/// What the notifier works with.
fn notifier_settings(world: &World) -> NotifierSettings {
    let (http, web) = (Arc::new(world.clone()), Some(WEB.to_owned()));
    NotifierSettings { http, web, buttons: Buttons::Shown, aws_endpoint: None }
}

/// Nobody asks why in a simulation.
struct NobodyAsks;

#[async_trait]
impl Explain for NobodyAsks {
    async fn why(&self, stack: &StackName, _revision: Option<&str>) -> Result<Why, Unexplained> {
        Err(Unexplained::Unknown(stack.to_string()))
    }
}

/// Handles messages of one group as a worker does: acknowledged when that went well, given back when not.
pub(crate) fn worker(
    world: &World,
    ports: &Ports,
    sources: &Arc<SourceSettings>,
    received: Vec<Received>,
) -> Option<(String, Doing)> {
    let queue = QueueName::of(&received.first()?.message);
    if world.state().mutation == Some(Mutation::AckBeforeCommit) {
        for received in &received {
            world.state().line.ack(received);
        }
    }
    let (world, ports, sources) = (world.clone(), ports.clone(), sources.clone());
    Some(match queue {
        QueueName::Stacks => {
            ("orchestrator".to_owned(), Box::pin(async move { orchestrate(&world, &ports, &received).await }))
        }
        QueueName::Sources => {
            ("source".to_owned(), Box::pin(async move { look(&world, &ports, &sources, &received).await }))
        }
        QueueName::Notices => {
            ("notifier".to_owned(), Box::pin(async move { notify(&world, &ports, &received).await }))
        }
    })
}

/// Has messages handled one after the other, up to the first that fails; that one and all after it come again.
async fn orchestrate(world: &World, ports: &Ports, mut left: &[Received]) {
    while let Some((first, rest)) = left.split_first() {
        if world.state().is_poison(first) {
            return die(world, left).await;
        }
        let outcome = yuba_orchestrator::handle(ports, &first.message).await.map(drop);
        drop(acknowledge(world, first, &outcome).await);
        if let Err(error) = outcome {
            for later in rest {
                drop(ports.queue.release(later, pause(&error, later)).await);
            }
            return;
        }
        if world.state().mutation == Some(Mutation::AckWithFirst) {
            return rest.iter().for_each(|later| world.state().line.ack(later));
        }
        left = rest;
    }
}

/// Has messages handled together: all of them, or all come again.
async fn look(world: &World, ports: &Ports, sources: &SourceSettings, received: &[Received]) {
    if received.iter().any(|received| world.state().is_poison(received)) {
        return die(world, received).await;
    }
    let messages: Vec<Message> = received.iter().map(|received| received.message.clone()).collect();
    let outcome = yuba_source::handle(ports, sources, &messages).await.map(drop);
    if outcome.is_ok() && world.state().mutation == Some(Mutation::AckWhatCameMeanwhile) {
        for message in &messages {
            world.state().line.drop_all(&message.group());
        }
    }
    for received in received {
        drop(acknowledge(world, received, &outcome).await);
    }
}

/// Has notices handled together: all of them, or all come again.
async fn notify(world: &World, ports: &Ports, received: &[Received]) {
    if received.iter().any(|received| world.state().is_poison(received)) {
        return die(world, received).await;
    }
    let messages: Vec<Message> = received.iter().map(|received| received.message.clone()).collect();
    let outcome = yuba_notifier::handle(ports, &notifier_settings(world), &messages).await.map(drop);
    for received in received {
        drop(acknowledge(world, received, &outcome).await);
    }
}

/// Whoever handles the messages dies of one of them, until all that came with it each time are dropped.
async fn die(world: &World, received: &[Received]) {
    gate().await;
    let mut state = world.state();
    state.note_as(Sign::fault(), || "dies of a message".to_owned());
    for received in received.iter().filter(|received| received.receives >= MOST_RECEIVES) {
        state.dropped(received);
    }
}

async fn acknowledge(
    world: &World,
    received: &Received,
    outcome: &Result<(), PortError>,
) -> Result<(), PortError> {
    let Err(error) = outcome else { return world.ack(received).await };
    if error.remedy == Remedy::Permanent && received.receives >= MOST_RECEIVES {
        world.state().oracle.gave_up(&received.message.cause);
        return world.ack(received).await;
    }
    world.release(received, pause(error, received)).await
}

fn pause(error: &PortError, received: &Received) -> Span {
    match error.remedy {
        Remedy::Wait(span) => span.max(Span::seconds(1)),
        Remedy::Permanent | Remedy::Transient => Span::seconds(1 << received.receives.clamp(1, 6)),
    }
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
