//! SSM: what secrets and config maps are stored in, as long as they fit.

use aws_config::SdkConfig;
use aws_sdk_ssm::Client;
use aws_sdk_ssm::error::ProvideErrorMetadata;
use aws_sdk_ssm::types::{Parameter, ParameterTier, ParameterType};
use secrecy::{ExposeSecret, SecretString};
use yuba_core::spec::ValuesKind;
use yuba_ports::PortError;

use super::Stored;
use crate::error::port_error;

/// The most that a parameter which costs nothing holds, in bytes.
pub(super) const LARGEST: usize = 4096;

/// Whether a parameter holds it.
pub(super) fn fits(text: &SecretString) -> bool {
    text.expose_secret().len() <= LARGEST
}

/// Parameters in SSM.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    client: Client,
    key: Option<String>,
}

impl Parameters {
    pub(super) fn new(config: &SdkConfig, key: Option<String>) -> Self {
        Self { client: Client::new(config), key }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Option<Stored>, PortError> {
        let Some(parameter) = self.find(path, true).await? else { return Ok(None) };
        let version = version_of(&parameter);
        Ok(Some(Stored { version, text: SecretString::from(parameter.value.unwrap_or_default()) }))
    }

    /// The version alone: the value is not decrypted for it.
    pub(super) async fn version(&self, path: &str) -> Result<Option<String>, PortError> {
        Ok(self.find(path, false).await?.as_ref().map(version_of))
    }

    async fn find(&self, path: &str, decrypted: bool) -> Result<Option<Parameter>, PortError> {
        match self.client.get_parameter().name(path).with_decryption(decrypted).send().await {
            Ok(answer) => Ok(answer.parameter),
            Err(error) if error.code() == Some("ParameterNotFound") => Ok(None),
            Err(error) => Err(port_error(format!("reading {path} from SSM"), error)),
        }
    }

    pub(super) async fn put(
        &self,
        kind: ValuesKind,
        path: &str,
        text: &SecretString,
    ) -> Result<(), PortError> {
        let (stored_as, key) = match kind {
            ValuesKind::Secret => (ParameterType::SecureString, self.key.clone()),
            ValuesKind::ConfigMap => (ParameterType::String, None),
        };
        let request = self
            .client
            .put_parameter()
            .name(path)
            .r#type(stored_as)
            .set_key_id(key)
            .tier(ParameterTier::Standard)
            .overwrite(true)
            .value(text.expose_secret());
        request.send().await.map(drop).map_err(|error| port_error(format!("writing {path} to SSM"), error))
    }

    pub(super) async fn delete(&self, path: &str) -> Result<(), PortError> {
        match self.client.delete_parameter().name(path).send().await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some("ParameterNotFound") => Ok(()),
            Err(error) => Err(port_error(format!("deleting {path} from SSM"), error)),
        }
    }

    pub(super) async fn list(&self, below: &str) -> Result<Vec<String>, PortError> {
        let request = self.client.get_parameters_by_path().path(below).recursive(true).with_decryption(false);
        let mut pages = request.into_paginator().send();
        let mut paths = Vec::new();
        while let Some(page) = pages.next().await {
            let page = page.map_err(|error| port_error(format!("listing {below} in SSM"), error))?;
            paths.extend(
                page.parameters.unwrap_or_default().into_iter().filter_map(|parameter| parameter.name),
            );
        }
        Ok(paths)
    }
}

/// Counts writes; the time tells a parameter that was deleted and made anew from what it was.
fn version_of(parameter: &Parameter) -> String {
    let at = parameter.last_modified_date.map_or(0, |at| at.to_millis().unwrap_or_default());
    format!("{}-{at}", parameter.version)
}
