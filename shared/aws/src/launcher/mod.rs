//! `Launcher` on ECS: a task of Fargate for each attempt.
//!
//! The attempt's id is the request's client token, so that asking twice starts one task; what was started is a record
//! beside the attempt's, because ECS forgets a task an hour after it stopped, and a client token after a day.

mod launched;
mod outcome;
mod request;

use std::sync::Arc;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_ecs::Client;
use aws_sdk_ecs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_ecs::operation::run_task::{RunTaskError, RunTaskOutput};
use aws_sdk_ecs::operation::stop_task::StopTaskError;
use yuba_core::id::{AttemptId, InstallationId};
use yuba_core::time::Span;
use yuba_ports::records::{Versioned, load, put_any};
use yuba_ports::{Clock, LaunchOutcome, Launcher, PortError, StartTask, Store, TaskStatus};

use crate::error::port_error;
use launched::{Launched, launched_key};
use outcome::{NotStarted, how_it_ended, of_failure, of_refusal};

pub use request::{LauncherSettings, PlanCapacity, PublicIp};

/// For how long at least ECS knows a task that has stopped.
const REMEMBERED: Span = Span::hours(1);

/// Tasks on ECS.
#[derive(Clone)]
pub struct EcsLauncher {
    client: Client,
    settings: LauncherSettings,
    installation: InstallationId,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

/// What became of a request to run a task.
enum Asked {
    /// The task of this ARN runs, or ran already.
    Runs(String),
    NoRoom(Span),
}

impl EcsLauncher {
    /// Tasks in a cluster that exists. Nothing is asked of AWS yet.
    pub fn new(
        config: &SdkConfig,
        settings: LauncherSettings,
        installation: &InstallationId,
        (store, clock): (Arc<dyn Store>, Arc<dyn Clock>),
    ) -> Self {
        Self { client: Client::new(config), settings, installation: installation.clone(), store, clock }
    }

    async fn launched(&self, attempt: AttemptId) -> Result<Option<Launched>, PortError> {
        Ok(load::<Launched>(&*self.store, &launched_key(attempt)).await?.map(Versioned::into_value))
    }

    async fn run(&self, start: &StartTask) -> Result<Asked, PortError> {
        let attempt = start.attempt;
        let request = request::run_task(&self.client, &self.settings, &self.installation, start)?;
        match request.send().await {
            Ok(answer) => started(attempt, &answer),
            Err(error) => refused(attempt, error),
        }
    }

    /// The task of an attempt that runs, though nothing is remembered of it: the memory was lost on the way.
    async fn running(&self, attempt: AttemptId) -> Result<Option<String>, PortError> {
        let request =
            self.client.list_tasks().cluster(&self.settings.cluster).started_by(attempt.to_string());
        let tasks = request
            .send()
            .await
            .map_err(|error| port_error(format!("looking for the task of {attempt}"), error))?;
        Ok(tasks.task_arns().first().cloned())
    }

    /// What ECS says of a task; `None` where it does not know it.
    async fn status(&self, attempt: AttemptId, task: &str) -> Result<Option<TaskStatus>, PortError> {
        let request = self.client.describe_tasks().cluster(&self.settings.cluster).tasks(task);
        let answer = request
            .send()
            .await
            .map_err(|error| port_error(format!("describing the task of {attempt}"), error))?;
        Ok(answer.tasks().first().map(|task| match task.last_status() {
            Some("STOPPED") => TaskStatus::Stopped { how: how_it_ended(task) },
            _ => TaskStatus::Running,
        }))
    }
}

#[async_trait]
impl Launcher for EcsLauncher {
    async fn start(&self, start: StartTask) -> Result<LaunchOutcome, PortError> {
        let attempt = start.attempt;
        if self.launched(attempt).await?.is_some() {
            return Ok(LaunchOutcome::Started);
        }
        let at = self.clock.now();
        match self.run(&start).await? {
            Asked::Runs(task) => {
                self.store.commit(vec![put_any(&Launched { attempt, task, at })?]).await?;
                Ok(LaunchOutcome::Started)
            }
            Asked::NoRoom(span) => Ok(LaunchOutcome::NoRoom(span)),
        }
    }

    async fn describe(&self, attempt: AttemptId) -> Result<TaskStatus, PortError> {
        let Some(launched) = self.launched(attempt).await? else {
            let runs = self.running(attempt).await?.is_some();
            return Ok(if runs { TaskStatus::Running } else { TaskStatus::NeverStarted });
        };
        if let Some(status) = self.status(attempt, &launched.task).await? {
            return Ok(status);
        }
        // A task that ECS does not know yet is not known to have stopped; one that it no longer knows has.
        if self.clock.now().since(launched.at) < REMEMBERED {
            return Ok(TaskStatus::Running);
        }
        Ok(TaskStatus::Stopped { how: "not known: ECS has forgotten it".to_owned() })
    }

    async fn kill(&self, attempt: AttemptId) -> Result<(), PortError> {
        let task = match self.launched(attempt).await? {
            Some(launched) => Some(launched.task),
            None => self.running(attempt).await?,
        };
        let Some(task) = task else { return Ok(()) };
        let request = self.client.stop_task().cluster(&self.settings.cluster).task(task);
        match request.reason("killed by Yuba").send().await {
            Ok(_) => Ok(()),
            Err(error) if is_gone(&error) => Ok(()),
            Err(error) => Err(port_error(format!("stopping the task of {attempt}"), error)),
        }
    }
}

fn started(attempt: AttemptId, answer: &RunTaskOutput) -> Result<Asked, PortError> {
    if let Some(task) = answer.tasks().first().and_then(|task| task.task_arn()) {
        return Ok(Asked::Runs(task.to_owned()));
    }
    let Some(failure) = answer.failures().first() else {
        return Err(PortError::transient(format!(
            "starting the task of {attempt}: ECS started none and said nothing"
        )));
    };
    match of_failure(failure) {
        NotStarted::NoRoom(span) => Ok(Asked::NoRoom(span)),
        NotStarted::Wrong(remedy) => {
            let (reason, detail) =
                (failure.reason().unwrap_or("no reason"), failure.detail().unwrap_or_default());
            let what = format!("starting the task of {attempt}: {reason} {detail}").trim_end().to_owned();
            Err(PortError { what, remedy, source: None })
        }
    }
}

fn refused(attempt: AttemptId, error: SdkError<RunTaskError>) -> Result<Asked, PortError> {
    // The token was used with another request, by another version of Yuba perhaps: its task is the attempt's all the same.
    if let Some(RunTaskError::ConflictException(conflict)) = error.as_service_error()
        && let Some(task) = conflict.resource_ids().first()
    {
        return Ok(Asked::Runs(task.clone()));
    }
    let (code, message) = (error.code().unwrap_or_default(), error.message().unwrap_or_default());
    if let Some(span) = of_refusal(code, message) {
        return Ok(Asked::NoRoom(span));
    }
    Err(port_error(format!("starting the task of {attempt}"), error))
}

/// Whether a task cannot be stopped because ECS no longer knows it.
fn is_gone(error: &SdkError<StopTaskError>) -> bool {
    matches!(error.as_service_error(), Some(StopTaskError::InvalidParameterException(_)))
        && error.message().is_some_and(|message| message.contains("not found"))
}
