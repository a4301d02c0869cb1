//! `yuba serve`: all functions in one process, over the ports of one machine.

mod announce;
mod engine;
mod explain;
mod http;
mod schedule;
mod stopped;
mod stopping;
mod worker;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use yuba_core::capacity::{Caps, Label};
use yuba_core::id::{ManifestSetName, SecretName};
use yuba_core::measured::Tally;
use yuba_core::task::Isolation;
use yuba_core::time::Span;
use yuba_http::{PrivateAddresses, WebClient, access_keys};
use yuba_local::LocalSettings;
use yuba_notifier::{Buttons, NotifierSettings};
use yuba_ports::{Ports, QueueName};
use yuba_runner::isolation_of;
use yuba_slack::{Slack, SlackSettings};
use yuba_source::SourceSettings;

use explain::Explainer;
use stopping::Stopping;
use worker::Handler;

/// How many stacks are handled at once, each a message at a time.
const STACK_WORKERS: usize = 8;
/// How many sources are looked at, and places of manifests taken over, at once.
const SOURCE_WORKERS: usize = 4;
/// How many messages for one of them one look may serve.
const MOST_FOR_A_LOOK: usize = 250;
/// How long a source rests after a look: under many webhooks, looks that follow each other at once would keep a core busy
/// with `git`, and webhooks waiting for it (docs/benchmarks.md).
const REST: Duration = Duration::from_millis(100);
/// How many stacks are told of, and providers delivered to, at once: so many providers may hang before another waits.
const NOTICE_WORKERS: usize = 16;
/// How many messages for one of them are handled together.
const MOST_NOTICES: usize = 100;
/// How long handlers and requests that are under way may go on when the server is asked to stop.
const LAST_WORDS: Duration = Duration::from_secs(20);

/// What a server is started with.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The data directory.
    pub(crate) data: PathBuf,
    /// The address to listen on.
    pub(crate) listen: SocketAddr,
    /// The configured places of manifests.
    pub(crate) manifests: Vec<ManifestSetName>,
    /// How often they are looked at.
    pub(crate) manifests_interval: Span,
    /// The secret with the credentials for those in Git.
    pub(crate) manifests_secret: Option<SecretName>,
    /// How many tasks may run at once.
    pub(crate) tasks: u16,
    /// How many of stacks that carry a label.
    pub(crate) tasks_per_label: BTreeMap<Label, u32>,
    /// Secrets that webhooks are signed with.
    pub(crate) webhook_secrets: Vec<SecretString>,
    /// Secrets that Slack signs with what people do there.
    pub(crate) slack_secrets: Vec<SecretString>,
    /// Whether messages may go to addresses outside the public network.
    pub(crate) private: PrivateAddresses,
    /// Where people reach the pages: messages link there.
    pub(crate) web: Option<String>,
    /// This program: it runs tasks too.
    pub(crate) program: PathBuf,
    /// What tasks and engines inherit.
    pub(crate) environment: BTreeMap<String, String>,
    /// Whether engines run as other users.
    pub(crate) isolation: Isolation,
}

/// Serves until SIGTERM or Ctrl-C. Tasks are left running: the next server finds them.
pub(crate) async fn serve(settings: Settings) -> anyhow::Result<()> {
    let local = LocalSettings {
        program: settings.program.clone(),
        environment: settings.environment.clone(),
        tasks: settings.tasks.into(),
        isolation: settings.isolation,
    };
    let (ports, handles) = yuba_local::open(&settings.data, local).await?;
    let labels = settings.tasks_per_label.clone();
    let ports = ports.capped(Caps { installation: Some(settings.tasks.into()), labels });
    let is_isolated = isolation_of(settings.isolation, &handles.paths.work).map_err(anyhow::Error::msg)?;
    let listener = TcpListener::bind(settings.listen)
        .await
        .with_context(|| format!("cannot listen on {}", settings.listen))?;
    let address = listener.local_addr().context("the address that is listened on is not known")?;
    announce::write_addresses(&handles, address, &settings.environment)?;
    announce::greet(&settings, &handles, address);
    announce::say_isolation(is_isolated);

    let stopping = Stopping::on_signals()?;
    let mut work = JoinSet::new();
    let sources = Arc::new(SourceSettings {
        manifests: settings.manifests.clone(),
        manifests_interval: settings.manifests_interval,
        manifests_secret: settings.manifests_secret.clone(),
        ..SourceSettings::new(handles.paths.git.clone())
    });
    let explain = Arc::new(Explainer { ports: ports.clone(), settings: sources.clone() });
    let tally = Arc::<Mutex<Tally>>::default();
    let variable = |name: &str| settings.environment.get(name).cloned();
    let web = Arc::new(WebClient::new(settings.private)?.signing_with(access_keys(variable)));
    let slack = SlackSettings { signing_secrets: settings.slack_secrets.clone(), http: web.clone() };
    let routes = http::routes(&ports, &settings, &handles, (explain, tally.clone()))
        .merge(yuba_slack::router(Slack::new(ports.clone(), slack)));
    work.spawn(http::serve(listener, routes, stopping.clone()));
    yuba_source::configure(&ports, &settings.manifests).await?;
    let notifier = Arc::new(NotifierSettings {
        http: web,
        web: settings.web.clone(),
        buttons: if settings.slack_secrets.is_empty() { Buttons::Hidden } else { Buttons::Shown },
        aws_endpoint: variable("AWS_ENDPOINT_URL"),
    });
    start_workers(&mut work, &ports, (sources, tally, notifier), &stopping);
    work.spawn(stopped::tell(ports, handles.stopped, stopping.clone()));
    stopping.asked().await;
    tracing::info!("stopping; tasks that run are left running");
    if tokio::time::timeout(LAST_WORDS, async { while work.join_next().await.is_some() {} }).await.is_err() {
        tracing::warn!("stopped with work under way; it is taken up again by the next server");
    }
    Ok(())
}

fn start_workers(
    work: &mut JoinSet<()>,
    ports: &Ports,
    (source, tally, notifier): (Arc<SourceSettings>, Arc<Mutex<Tally>>, Arc<NotifierSettings>),
    stopping: &Stopping,
) {
    let sources: Handler = Arc::new(move |ports, messages| {
        let settings = source.clone();
        Box::pin(async move {
            yuba_source::handle(&ports, &settings, &messages).await?;
            // The next messages for the same source are received once these are settled.
            tokio::time::sleep(REST).await;
            Ok(())
        })
    });
    let mut start = |queue, most, handler: &Handler| {
        work.spawn(worker::work(ports.clone(), queue, most, handler.clone(), stopping.clone()));
    };
    (0..SOURCE_WORKERS).for_each(|_| start(QueueName::Sources, MOST_FOR_A_LOOK, &sources));
    let stacks: Handler = Arc::new(move |ports, messages| {
        let tally = tally.clone();
        Box::pin(async move {
            for message in &messages {
                let handled = yuba_orchestrator::handle(&ports, message).await?;
                tally.lock().unwrap_or_else(PoisonError::into_inner).add(&handled.measured);
            }
            Ok(())
        })
    });
    (0..STACK_WORKERS).for_each(|_| start(QueueName::Stacks, 1, &stacks));
    let notices: Handler = Arc::new(move |ports, messages| {
        let settings = notifier.clone();
        Box::pin(async move { yuba_notifier::handle(&ports, &settings, &messages).await.map(drop) })
    });
    (0..NOTICE_WORKERS).for_each(|_| start(QueueName::Notices, MOST_NOTICES, &notices));
    work.spawn(schedule::tick_on(ports.clone(), stopping.clone()));
}
