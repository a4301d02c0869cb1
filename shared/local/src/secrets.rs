//! `Secrets` as files: `<kind>/<namespace>/<name>.json`, each a JSON object of texts. Secrets are of mode 0600; one that
//! others may read is refused, with the command that mends it.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};
use yuba_core::id::SecretName;
use yuba_core::secret::check_name;
use yuba_core::spec::ValuesKind;
use yuba_ports::{PortError, SecretValues, Secrets};

use crate::{key, private};

/// Secrets and config maps below a directory.
#[derive(Clone)]
pub struct LocalSecrets {
    root: PathBuf,
    key: SecretString,
}

impl LocalSecrets {
    /// Objects below a directory; versions are digests under the key.
    pub fn new(root: impl Into<PathBuf>, key: SecretString) -> Self {
        Self { root: root.into(), key }
    }

    fn path(&self, kind: ValuesKind, name: &SecretName) -> Result<PathBuf, PortError> {
        plain(name)?;
        Ok(self.root.join(word(kind)).join(&name.namespace).join(format!("{}.json", name.name)))
    }

    fn version_of(&self, name: &SecretName, values: &BTreeMap<String, SecretString>) -> String {
        let name = name.to_string();
        let mut parts: Vec<&[u8]> = vec![b"yuba values version", name.as_bytes()];
        for (key, value) in values {
            parts.extend([key.as_bytes(), value.expose_secret().as_bytes()]);
        }
        key::derive(&self.key, &parts).chars().take(16).collect()
    }

    fn read(&self, kind: ValuesKind, name: &SecretName) -> Result<Option<SecretValues>, PortError> {
        let path = self.path(kind, name)?;
        let Some(content) = private_content(kind, &path)? else { return Ok(None) };
        // The error is not carried on: it may quote a value.
        let values: BTreeMap<String, String> = serde_json::from_slice(&content).map_err(|_| {
            PortError::permanent(format!("{} is not a JSON object whose values are texts", path.display()))
        })?;
        let values = values.into_iter().map(|(key, value)| (key, SecretString::from(value))).collect();
        Ok(Some(SecretValues { version: self.version_of(name, &values), values }))
    }
}

#[async_trait]
impl Secrets for LocalSecrets {
    async fn get(&self, kind: ValuesKind, name: &SecretName) -> Result<Option<SecretValues>, PortError> {
        let (secrets, name) = (self.clone(), name.clone());
        blocking(move || secrets.read(kind, &name)).await
    }

    async fn version(&self, kind: ValuesKind, name: &SecretName) -> Result<Option<String>, PortError> {
        Ok(self.get(kind, name).await?.map(|object| object.version))
    }

    async fn put(
        &self,
        kind: ValuesKind,
        name: &SecretName,
        values: BTreeMap<String, SecretString>,
    ) -> Result<(), PortError> {
        let path = self.path(kind, name)?;
        let values: BTreeMap<&str, &str> =
            values.iter().map(|(key, value)| (key.as_str(), value.expose_secret())).collect();
        let content = serde_json::to_vec(&values)
            .map_err(|error| PortError::permanent("values cannot be written as JSON").because(error))?;
        blocking(move || {
            let write = private::make_directory(path.parent().unwrap_or(&path));
            write.and_then(|()| private::replace(&path, &content)).map_err(|error| unusable(&path, error))
        })
        .await
    }

    async fn list(&self, kind: ValuesKind, namespace: Option<&str>) -> Result<Vec<SecretName>, PortError> {
        if let Some(namespace) = namespace {
            plain(&SecretName::new(namespace, "any"))?;
        }
        let (root, namespace) = (self.root.join(word(kind)), namespace.map(str::to_owned));
        blocking(move || {
            let namespaces = match namespace {
                Some(namespace) => vec![namespace],
                None => names_in(&root)?,
            };
            let mut found = Vec::new();
            for namespace in namespaces {
                let files = names_in(&root.join(&namespace))?;
                let names = files.iter().filter_map(|file| file.strip_suffix(".json"));
                found.extend(names.map(|name| SecretName::new(&namespace, name)));
            }
            found.sort();
            Ok(found)
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PortError> + Send + 'static,
) -> Result<T, PortError> {
    let gone = |error| PortError::transient("reading secrets was given up").because(error);
    tokio::task::spawn_blocking(work).await.map_err(gone)?
}

/// Refuses a name that leads out of the directory.
fn plain(name: &SecretName) -> Result<(), PortError> {
    check_name(name).map_err(|error| PortError::permanent(error.to_string()))
}

fn private_content(kind: ValuesKind, path: &Path) -> Result<Option<Vec<u8>>, PortError> {
    let absent = |error: &io::Error| error.kind() == ErrorKind::NotFound;
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if absent(&error) => return Ok(None),
        Err(error) => return Err(unusable(path, error)),
    };
    if kind == ValuesKind::Secret && is_open_to_others(&metadata) {
        let path = path.display();
        return Err(PortError::permanent(format!("others may read {path}; run: chmod 600 {path}")));
    }
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if absent(&error) => Ok(None),
        Err(error) => Err(unusable(path, error)),
    }
}

fn is_open_to_others(metadata: &Metadata) -> bool {
    metadata.permissions().mode() & 0o077 != 0
}

/// The names in a directory; none where it is missing. Unfinished files are passed over.
fn names_in(directory: &Path) -> Result<Vec<String>, PortError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(unusable(directory, error)),
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter(|name| !name.starts_with(private::UNFINISHED)).collect())
}

fn unusable(path: &Path, error: io::Error) -> PortError {
    PortError::transient(format!("{} cannot be used", path.display())).because(error)
}

fn word(kind: ValuesKind) -> &'static str {
    match kind {
        ValuesKind::Secret => "secrets",
        ValuesKind::ConfigMap => "config-maps",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_secret_that_others_may_read_is_refused_with_the_command_that_mends_it() {
        let directory = tempfile::tempdir().unwrap();
        let secrets = LocalSecrets::new(directory.path(), SecretString::from("key"));
        let name = SecretName::new("default", "db");
        let values = BTreeMap::from([("password".to_owned(), SecretString::from("x"))]);
        secrets.put(ValuesKind::Secret, &name, values).await.unwrap();
        let path = directory.path().join("secrets/default/db.json");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let refused = secrets.get(ValuesKind::Secret, &name).await.unwrap_err().to_string();
        assert!(refused.ends_with(&format!("run: chmod 600 {}", path.display())), "{refused}");
    }

    #[tokio::test]
    async fn an_error_quotes_no_value_and_a_name_leads_nowhere_else() {
        let directory = tempfile::tempdir().unwrap();
        let secrets = LocalSecrets::new(directory.path(), SecretString::from("key"));
        let maps = directory.path().join("config-maps/default");
        fs::create_dir_all(&maps).unwrap();
        fs::write(maps.join("m.json"), r#"{"hunter2": ["hunter2"]}"#).unwrap();
        let error = secrets.get(ValuesKind::ConfigMap, &SecretName::new("default", "m")).await.unwrap_err();
        assert!(!format!("{error:?}").contains("hunter2"));
        for (namespace, name) in [("..", "x"), ("a/b", "x"), ("a", "../x"), ("a", "b/c"), ("", "x")] {
            let name = SecretName::new(namespace, name);
            assert!(secrets.get(ValuesKind::Secret, &name).await.is_err(), "{name}");
        }
        for namespace in ["..", "/", "a/.."] {
            assert!(secrets.list(ValuesKind::ConfigMap, Some(namespace)).await.is_err(), "{namespace}");
        }
    }
}
