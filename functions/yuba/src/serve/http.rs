//! The HTTP side: the routers of all functions on one address.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use yuba_api::{Api, Explain};
use yuba_core::measured::Tally;
use yuba_local::LocalHandles;
use yuba_ports::Ports;
use yuba_tasks::{ObjectsDirectory, TaskSettings, TasksState};
use yuba_webhook::{Webhook, WebhookSettings};

use super::Settings;
use super::stopping::Stopping;

/// How long requests that are under way may go on: streams of events never end by themselves.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// The routes of all functions.
pub(crate) fn routes(
    ports: &Ports,
    settings: &Settings,
    handles: &LocalHandles,
    (explain, tally): (Arc<dyn Explain>, Arc<Mutex<Tally>>),
) -> Router {
    let webhook = WebhookSettings {
        github: settings.webhook_secrets.clone(),
        generic: settings.webhook_secrets.clone(),
        manifests: settings.manifests.clone(),
    };
    let tasks = TaskSettings {
        objects: Arc::new(ObjectsDirectory(handles.paths.objects.clone())),
        local_state: Some(handles.paths.state.clone()),
        provider_cache: Some(handles.paths.providers.clone()),
    };
    let tasks = TasksState { ports: ports.clone(), settings: Arc::new(tasks) };
    Router::new()
        .merge(yuba_tasks::router(tasks))
        .merge(yuba_webhook::router(Webhook::new(ports.clone(), webhook)))
        .merge(yuba_api::router(Api { tally, ..Api::new(ports.clone(), handles.api_token.clone(), explain) }))
}

/// Serves until the server is asked to stop.
pub(crate) async fn serve(listener: TcpListener, routes: Router, stopping: Stopping) {
    let (asked, patience) = (stopping.clone(), stopping);
    let serving = axum::serve(listener, routes).with_graceful_shutdown(async move { asked.asked().await });
    let enough = async move {
        patience.asked().await;
        tokio::time::sleep(LAST_ANSWERS).await;
    };
    tokio::select! {
        served = serving => {
            if let Err(error) = served {
                tracing::error!(%error, "serving HTTP ended");
            }
        }
        () = enough => {}
    }
}
