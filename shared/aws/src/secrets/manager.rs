//! Secrets Manager: what secrets are stored in that are too large for SSM, or that somebody keeps there.

use aws_config::SdkConfig;
use aws_sdk_secretsmanager::Client;
use aws_sdk_secretsmanager::error::ProvideErrorMetadata;
use aws_sdk_secretsmanager::types::{Filter, FilterNameStringType};
use secrecy::{ExposeSecret, SecretString};
use yuba_ports::PortError;

use super::Stored;
use crate::error::port_error;

/// The label of the version that holds.
const CURRENT: &str = "AWSCURRENT";

/// Secrets in Secrets Manager.
#[derive(Debug, Clone)]
pub(super) struct Manager {
    client: Client,
    key: Option<String>,
}

impl Manager {
    pub(super) fn new(config: &SdkConfig, key: Option<String>) -> Self {
        Self { client: Client::new(config), key }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Option<Stored>, PortError> {
        match self.client.get_secret_value().secret_id(path).send().await {
            Ok(answer) => {
                let text = answer.secret_string.ok_or_else(|| {
                    PortError::permanent(format!("{path} in Secrets Manager holds bytes, not a JSON object"))
                })?;
                let version = answer.version_id.unwrap_or_default();
                Ok(Some(Stored { version, text: SecretString::from(text) }))
            }
            Err(error) if error.code() == Some("ResourceNotFoundException") => Ok(None),
            Err(error) => Err(port_error(format!("reading {path} from Secrets Manager"), error)),
        }
    }

    /// The version alone; `None` also where none was written yet.
    pub(super) async fn version(&self, path: &str) -> Result<Option<String>, PortError> {
        match self.client.describe_secret().secret_id(path).send().await {
            Ok(answer) => {
                let mut versions = answer.version_ids_to_stages.unwrap_or_default().into_iter();
                Ok(versions.find(|(_, labels)| labels.iter().any(|label| label == CURRENT)).map(|(id, _)| id))
            }
            Err(error) if error.code() == Some("ResourceNotFoundException") => Ok(None),
            Err(error) => Err(port_error(format!("looking for {path} in Secrets Manager"), error)),
        }
    }

    /// Writes a secret, unless it holds just that.
    pub(super) async fn put(&self, path: &str, text: &SecretString) -> Result<(), PortError> {
        let what = format!("writing {path} to Secrets Manager");
        match self.get(path).await? {
            Some(stored) if stored.text.expose_secret() == text.expose_secret() => Ok(()),
            Some(_) => {
                let request = self.client.put_secret_value().secret_id(path);
                let written = request.secret_string(text.expose_secret()).send().await;
                written.map(drop).map_err(|error| port_error(what, error))
            }
            None => {
                let request = self.client.create_secret().name(path).set_kms_key_id(self.key.clone());
                let written = request.secret_string(text.expose_secret()).send().await;
                written.map(drop).map_err(|error| port_error(what, error))
            }
        }
    }

    pub(super) async fn list(&self, below: &str) -> Result<Vec<String>, PortError> {
        let names = Filter::builder().key(FilterNameStringType::Name).values(format!("{below}/")).build();
        let mut pages = self.client.list_secrets().filters(names).into_paginator().send();
        let mut paths = Vec::new();
        while let Some(page) = pages.next().await {
            let page =
                page.map_err(|error| port_error(format!("listing {below} in Secrets Manager"), error))?;
            paths.extend(page.secret_list.unwrap_or_default().into_iter().filter_map(|secret| secret.name));
        }
        Ok(paths)
    }
}
