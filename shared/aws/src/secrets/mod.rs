//! `Secrets` on SSM and Secrets Manager: `<prefix>/<namespace>/<name>`, each one JSON object of texts.
//!
//! What is written goes to SSM, which costs nothing per object, as long as it fits there. What does not, and what
//! somebody keeps in Secrets Manager already, lies in Secrets Manager. SSM is asked first.

mod manager;
mod parameters;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use aws_config::SdkConfig;
use secrecy::{ExposeSecret, SecretString};
use yuba_core::id::SecretName;
use yuba_core::secret::check_name;
use yuba_core::spec::ValuesKind;
use yuba_ports::{PortError, SecretValues, Secrets};

use crate::settings::{Variables, key_id, name_prefix};
use manager::Manager;
use parameters::Parameters;

/// Where secrets and config maps are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretsSettings {
    /// What names of secrets begin with: `/yuba/prod/secrets`.
    pub secrets: String,
    /// What names of config maps begin with: `/yuba/prod/config-maps`.
    pub config_maps: String,
    /// The KMS key that secrets are encrypted under: id, ARN or alias. `None` means the account's own for SSM.
    pub key: Option<String>,
}

impl SecretsSettings {
    /// Reads `YUBA_SECRETS_PREFIX`, `YUBA_CONFIG_MAPS_PREFIX` and, if set, `YUBA_KMS_KEY`.
    pub fn read(variables: &mut Variables) -> Option<Self> {
        let secrets = "what names of secrets begin with";
        let config_maps = "what names of config maps begin with";
        let secrets = variables.required("YUBA_SECRETS_PREFIX", secrets, name_prefix);
        let config_maps = variables.required("YUBA_CONFIG_MAPS_PREFIX", config_maps, name_prefix);
        let key = variables.optional("YUBA_KMS_KEY", "the KMS key that Yuba encrypts under", key_id);
        Some(Self { secrets: secrets?, config_maps: config_maps?, key })
    }
}

/// Secrets and config maps in SSM and Secrets Manager.
#[derive(Debug, Clone)]
pub struct AwsSecrets {
    settings: SecretsSettings,
    parameters: Parameters,
    manager: Manager,
}

/// An object as it is stored.
struct Stored {
    /// Changes whenever it is written.
    version: String,
    /// The JSON object.
    text: SecretString,
}

impl AwsSecrets {
    /// Objects below the settings' prefixes. Nothing is asked of AWS yet.
    pub fn new(config: &SdkConfig, settings: SecretsSettings) -> Self {
        let key = settings.key.clone();
        let (parameters, manager) = (Parameters::new(config, key.clone()), Manager::new(config, key));
        Self { settings, parameters, manager }
    }

    fn prefix(&self, kind: ValuesKind) -> &str {
        match kind {
            ValuesKind::Secret => &self.settings.secrets,
            ValuesKind::ConfigMap => &self.settings.config_maps,
        }
    }

    fn path(&self, kind: ValuesKind, name: &SecretName) -> Result<String, PortError> {
        check_name(name).map_err(|error| PortError::permanent(error.to_string()))?;
        Ok(format!("{}/{}/{}", self.prefix(kind), name.namespace, name.name))
    }

    async fn read(&self, kind: ValuesKind, path: &str) -> Result<Option<Stored>, PortError> {
        match self.parameters.get(path).await? {
            Some(stored) => Ok(Some(stored)),
            None if kind == ValuesKind::Secret => self.manager.get(path).await,
            None => Ok(None),
        }
    }
}

#[async_trait]
impl Secrets for AwsSecrets {
    async fn get(&self, kind: ValuesKind, name: &SecretName) -> Result<Option<SecretValues>, PortError> {
        let path = self.path(kind, name)?;
        let Some(stored) = self.read(kind, &path).await? else { return Ok(None) };
        Ok(Some(SecretValues { values: parse(&path, &stored.text)?, version: stored.version }))
    }

    async fn version(&self, kind: ValuesKind, name: &SecretName) -> Result<Option<String>, PortError> {
        let path = self.path(kind, name)?;
        match self.parameters.version(&path).await? {
            Some(version) => Ok(Some(version)),
            None if kind == ValuesKind::Secret => self.manager.version(&path).await,
            None => Ok(None),
        }
    }

    async fn put(
        &self,
        kind: ValuesKind,
        name: &SecretName,
        values: BTreeMap<String, SecretString>,
    ) -> Result<(), PortError> {
        let path = self.path(kind, name)?;
        let text = write(&values)?;
        let present = self.parameters.get(&path).await?;
        if parameters::fits(&text) && (present.is_some() || !self.keeps(kind, &path).await?) {
            let is_equal = present.is_some_and(|stored| stored.text.expose_secret() == text.expose_secret());
            return if is_equal { Ok(()) } else { self.parameters.put(kind, &path, &text).await };
        }
        if kind == ValuesKind::ConfigMap {
            let most = parameters::LARGEST;
            return Err(PortError::permanent(format!(
                "config map {name} is larger than {most} bytes, the most that SSM holds"
            )));
        }
        self.manager.put(&path, &text).await?;
        if present.is_some() { self.parameters.delete(&path).await } else { Ok(()) }
    }

    async fn list(&self, kind: ValuesKind, namespace: Option<&str>) -> Result<Vec<SecretName>, PortError> {
        let below = match namespace {
            Some(namespace) => {
                self.path(kind, &SecretName::new(namespace, "any"))?.trim_end_matches("/any").to_owned()
            }
            None => self.prefix(kind).to_owned(),
        };
        let mut paths = self.parameters.list(&below).await?;
        if kind == ValuesKind::Secret {
            paths.extend(self.manager.list(&below).await?);
        }
        let names: BTreeSet<SecretName> =
            paths.iter().filter_map(|path| name_of(self.prefix(kind), path)).collect();
        Ok(names.into_iter().collect())
    }
}

impl AwsSecrets {
    /// Whether Secrets Manager keeps the object.
    async fn keeps(&self, kind: ValuesKind, path: &str) -> Result<bool, PortError> {
        match kind {
            ValuesKind::Secret => Ok(self.manager.version(path).await?.is_some()),
            ValuesKind::ConfigMap => Ok(false),
        }
    }
}

/// The name of the object at a path; `None` where somebody put something else below the prefix.
fn name_of(prefix: &str, path: &str) -> Option<SecretName> {
    let name: SecretName = path.strip_prefix(prefix)?.strip_prefix('/')?.parse().ok()?;
    check_name(&name).ok().map(|()| name)
}

/// The error is not carried on: it may quote a value.
fn parse(path: &str, text: &SecretString) -> Result<BTreeMap<String, SecretString>, PortError> {
    let values: BTreeMap<String, String> = serde_json::from_str(text.expose_secret())
        .map_err(|_| PortError::permanent(format!("{path} is not a JSON object whose values are texts")))?;
    Ok(values.into_iter().map(|(key, value)| (key, SecretString::from(value))).collect())
}

/// SSM takes no value with `{{` in it: that would name another parameter. Only texts can hold it, where it can be
/// escaped.
fn write(values: &BTreeMap<String, SecretString>) -> Result<SecretString, PortError> {
    let plain: BTreeMap<&str, &str> =
        values.iter().map(|(key, value)| (key.as_str(), value.expose_secret())).collect();
    let text = serde_json::to_string(&plain)
        .map_err(|error| PortError::permanent("values cannot be written as JSON").because(error))?;
    Ok(SecretString::from(text.replace("{{", "{\\u007b")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_escaped_and_read_back() {
        for braces in ["{{ .Values.x }}", "{{{", "{", "{{{{"] {
            let values = BTreeMap::from([("key".to_owned(), SecretString::from(braces))]);
            let text = write(&values).unwrap();
            assert!(!text.expose_secret().contains("{{"), "{braces}");
            assert_eq!(parse("p", &text).unwrap()["key"].expose_secret(), braces);
        }
    }

    #[test]
    fn only_objects_below_the_prefix_have_names() {
        assert_eq!(name_of("/yuba/prod/secrets", "/yuba/prod/secrets/a/b"), Some(SecretName::new("a", "b")));
        for path in ["/yuba/prod/secrets2/a/b", "/yuba/prod/secrets/a", "/yuba/prod/secrets/a/b/c", "/x"] {
            assert_eq!(name_of("/yuba/prod/secrets", path), None, "{path}");
        }
    }

    #[test]
    fn what_is_no_object_of_texts_is_refused_without_quoting_it() {
        let error = parse("/p/a/b", &SecretString::from(r#"{"k": ["hunter2"]}"#)).unwrap_err();
        assert!(!format!("{error:?}").contains("hunter2") && error.what.contains("/p/a/b"));
    }
}
