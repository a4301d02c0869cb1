//! What one provider process knows: how it was configured, and whether it is to stop.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use super::error::CallError;
use super::{calls, change, schema};
use crate::cloud::Cloud;
use crate::plugin::Plugin;
use crate::plugin::value::{Object, Value, get};
use crate::plugin::wire::{
    ApplyRequest, ApplyResponse, ConfigureRequest, DiagnosticsResponse, Empty, ImportRequest, ImportResponse,
    PlanRequest, PlanResponse, ReadRequest, SchemaResponse, StateResponse, UpgradeRequest, ValidateRequest,
};

/// The provider's environment, read once.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    /// `TOY_CLOUD_DIR`: the cloud, where the code does not name it.
    pub(crate) dir: Option<PathBuf>,
    /// `TOY_CLOUD_TOKEN`, where the code does not name it.
    pub(crate) token: Option<String>,
}

impl Environment {
    #[expect(clippy::disallowed_methods, reason = "read once, before anything else")]
    pub(crate) fn read() -> Self {
        Self {
            dir: std::env::var_os("TOY_CLOUD_DIR").map(Into::into),
            token: std::env::var("TOY_CLOUD_TOKEN").ok(),
        }
    }
}

/// How the provider was configured.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) cloud: Cloud,
    pub(crate) latency_ms: Value,
    pub(crate) fail: Value,
}

/// One provider process.
#[derive(Debug)]
pub(crate) struct Toy {
    environment: Environment,
    settings: RwLock<Option<Arc<Settings>>>,
    stopped: watch::Sender<bool>,
}

impl Toy {
    pub(crate) fn new(environment: Environment) -> Self {
        Self { environment, settings: RwLock::default(), stopped: watch::Sender::new(false) }
    }

    /// Takes the configuration over; the token is checked as the cloud would.
    pub(crate) fn configure(&self, config: &Object) -> Result<(), CallError> {
        let named = get(config, "dir").as_str().map(PathBuf::from);
        let dir = named.or_else(|| self.environment.dir.clone()).ok_or(CallError::NoDirectory)?;
        let cloud = Cloud::at(dir);
        cloud.open()?;
        let token = get(config, "token").as_str().or(self.environment.token.as_deref());
        let wanted = cloud.control()?.token;
        if wanted.is_some() && wanted.as_deref() != token {
            return Err(CallError::WrongToken);
        }
        let (latency_ms, fail) = (get(config, "latency_ms").clone(), get(config, "fail").clone());
        let settings = Arc::new(Settings { cloud, latency_ms, fail });
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Some(settings);
        Ok(())
    }

    pub(crate) fn settings(&self) -> Result<Arc<Settings>, CallError> {
        let settings = self.settings.read().unwrap_or_else(PoisonError::into_inner);
        settings.clone().ok_or(CallError::NotConfigured)
    }

    /// Tells when to stop.
    pub(crate) fn watch(&self) -> watch::Receiver<bool> {
        self.stopped.subscribe()
    }
}

impl Plugin for Toy {
    async fn schema(self: Arc<Self>, _: Empty) -> SchemaResponse {
        schema::all()
    }

    async fn configure(self: Arc<Self>, request: ConfigureRequest) -> DiagnosticsResponse {
        calls::configure(&self, &request)
    }

    async fn validate(self: Arc<Self>, request: ValidateRequest) -> DiagnosticsResponse {
        calls::validate(&request)
    }

    async fn upgrade(self: Arc<Self>, request: UpgradeRequest) -> StateResponse {
        calls::upgrade(request)
    }

    async fn read(self: Arc<Self>, request: ReadRequest) -> StateResponse {
        calls::read(&self, request).await
    }

    async fn plan(self: Arc<Self>, request: PlanRequest) -> PlanResponse {
        calls::plan(&self, request).await
    }

    async fn apply(self: Arc<Self>, request: ApplyRequest) -> ApplyResponse {
        change::apply(&self, request).await
    }

    async fn import(self: Arc<Self>, request: ImportRequest) -> ImportResponse {
        calls::import(&self, request).await
    }

    async fn read_data(self: Arc<Self>, request: ReadRequest) -> StateResponse {
        calls::read_data(&self, request).await
    }

    fn interrupt(&self) {
        self.stopped.send_replace(true);
    }
}
