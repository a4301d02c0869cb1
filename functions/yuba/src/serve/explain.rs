//! Joins the API, which is asked why, with the source function, which has the repositories that know.

use std::sync::Arc;

use yuba_api::{Explain, Unexplained};
use yuba_core::id::StackName;
use yuba_core::why::Why;
use yuba_ports::Ports;
use yuba_source::{SourceSettings, WhyError};

/// The source function of this process, as the API asks it.
pub(crate) struct Explainer {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<SourceSettings>,
}

#[async_trait::async_trait]
impl Explain for Explainer {
    async fn why(&self, stack: &StackName, revision: Option<&str>) -> Result<Why, Unexplained> {
        let why = yuba_source::why(&self.ports, &self.settings, stack, revision).await;
        why.map_err(|error| match error {
            WhyError::Port(error) => Unexplained::Port(error),
            unknown => Unexplained::Unknown(unknown.to_string()),
        })
    }
}
