//! What one provider process knows: how it was configured, and whether it is to stop.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use super::error::CallError;
use super::value::{Object, Value, get};
use crate::cloud::Cloud;

/// The provider's environment, read once.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    /// `TOY_CLOUD_DIR`: the cloud, where the code does not name it.
    pub(crate) dir: Option<PathBuf>,
    /// `TOY_CLOUD_TOKEN`, where the code does not name it.
    pub(crate) token: Option<String>,
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

    /// Asks the calls in flight to end promptly.
    pub(crate) fn stop(&self) {
        self.stopped.send_replace(true);
    }

    /// Tells when to stop.
    pub(crate) fn watch(&self) -> watch::Receiver<bool> {
        self.stopped.subscribe()
    }
}
