//! What is told, as the records say at the moment it is told.

use std::collections::BTreeMap;

use yuba_core::event::Event;
use yuba_core::id::{AttemptId, InstallationId, ObjectName, RequestId, RunId, StackId};
use yuba_core::job::{attempt_prefix, object};
use yuba_core::notify::{Occasion, SlackThread, drift_stands};
use yuba_core::plan::summary::PlanSummary;
use yuba_core::record::Key;
use yuba_core::request::{Decision, Signed};
use yuba_core::run::Run;
use yuba_core::stack::Stack;
use yuba_ports::records::{Versioned, load};
use yuba_ports::{PortError, Ports};

/// What is told.
#[derive(Debug, Clone)]
pub(crate) enum Notice {
    /// An event.
    Event(Box<Told>),
    /// How a run stands.
    Run(Box<RunView>),
    /// Nothing: somebody tries the provider.
    Test {
        /// Names the try.
        id: RequestId,
        /// Who tries it.
        by: Signed,
    },
}

/// An event that is told.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    /// The event.
    pub(crate) event: Event,
    /// Whose event it is.
    pub(crate) installation: InstallationId,
    /// What its alert says with every message.
    pub(crate) metadata: BTreeMap<String, String>,
    /// The run whose record tells all of it, where one does.
    pub(crate) run: Option<RunView>,
}

/// A run, and what else its message is drawn from.
#[derive(Debug, Clone)]
pub(crate) struct RunView {
    /// The run.
    pub(crate) run: Run,
    /// The summary of its plan.
    pub(crate) summary: Option<PlanSummary>,
    /// Whether the drift that it found is still there.
    pub(crate) drift_stands: bool,
    /// What somebody answered to it, while that is in force.
    pub(crate) drift_answer: Option<Decision>,
    /// The message that shows it.
    pub(crate) thread: Option<Versioned<SlackThread>>,
}

impl RunView {
    /// Whether nothing of what is shown can change any more.
    pub(crate) fn is_final(&self) -> bool {
        self.run.state.is_terminal() && !self.drift_stands
    }
}

impl Notice {
    /// Reads what is to be told; `None` where it is gone from the records.
    pub(crate) async fn load(
        ports: &Ports,
        provider: &ObjectName,
        of: &Occasion,
    ) -> Result<Option<Self>, PortError> {
        let view = match of.run() {
            Some((stack, run)) => view(ports, provider, stack, run).await?,
            None => None,
        };
        Ok(match of {
            Occasion::Alert { stack, event, metadata, .. } => {
                let event = load::<Event>(&*ports.store, &Key::event(*stack, *event)).await?;
                let told = |event: Versioned<Event>| Told {
                    event: event.into_value(),
                    installation: ports.installation.clone(),
                    metadata: metadata.clone(),
                    run: view,
                };
                event.map(told).map(Box::new).map(Self::Event)
            }
            Occasion::Again { .. } => view.map(Box::new).map(Self::Run),
            Occasion::Test { id, by } => Some(Self::Test { id: *id, by: by.clone() }),
        })
    }

    /// The run that is shown.
    pub(crate) fn run(&self) -> Option<&RunView> {
        match self {
            Self::Event(told) => told.run.as_ref(),
            Self::Run(view) => Some(view),
            Self::Test { .. } => None,
        }
    }

    /// The message that shows the run is gone: another is to be sent.
    pub(crate) fn forget_message(&mut self) {
        let view = match self {
            Self::Event(told) => told.run.as_mut(),
            Self::Run(view) => Some(&mut **view),
            Self::Test { .. } => None,
        };
        if let Some(thread) = view.and_then(|view| view.thread.as_mut()) {
            thread.posted = None;
            thread.shown = None;
        }
    }
}

async fn view(
    ports: &Ports,
    provider: &ObjectName,
    stack: StackId,
    run: RunId,
) -> Result<Option<RunView>, PortError> {
    let store = &*ports.store;
    let Some(found) = load::<Run>(store, &Key::run(stack, run)).await? else { return Ok(None) };
    let found = found.into_value();
    let record = load::<Stack>(store, &Key::stack(stack)).await?;
    Ok(Some(RunView {
        summary: match &found.plan {
            Some(plan) => summary(ports, stack, plan.attempt).await?,
            None => None,
        },
        drift_stands: record.as_ref().is_some_and(|stack| drift_stands(stack, &found)),
        drift_answer: record.and_then(|stack| stack.drift_answer(ports.clock.now()).cloned()),
        thread: load(store, &SlackThread::key_of(stack, run, provider)).await?,
        run: found,
    }))
}

/// A summary that cannot be read is left out: the message says less, and is sent.
async fn summary(
    ports: &Ports,
    stack: StackId,
    attempt: AttemptId,
) -> Result<Option<PlanSummary>, PortError> {
    let key = format!("{}{}", attempt_prefix(stack, attempt), object::SUMMARY);
    let bytes = ports.blobs.get(&key).await?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}
