//! The contract of `Secrets`.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use yuba_core::id::SecretName;
use yuba_core::spec::ValuesKind::{ConfigMap, Secret};

use crate::Secrets;

/// Holds secrets and config maps to their contract; `fresh` makes an empty place.
pub async fn secrets<S: Secrets>(mut fresh: impl AsyncFnMut() -> S) {
    what_is_put_is_got(&fresh().await).await;
    a_version_follows_the_values(&fresh().await).await;
    kinds_and_namespaces_are_apart(&fresh().await).await;
}

fn values(pairs: &[(&str, &str)]) -> BTreeMap<String, SecretString> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), SecretString::from(*value))).collect()
}

async fn what_is_put_is_got(secrets: &impl Secrets) {
    let name = SecretName::new("default", "db.prod-1");
    assert!(secrets.get(Secret, &name).await.unwrap().is_none());
    assert_eq!(secrets.version(Secret, &name).await.unwrap(), None);
    secrets.put(Secret, &name, values(&[("old", "x")])).await.unwrap();
    secrets.put(Secret, &name, values(&[("password", "p\"w\n\u{1F980}"), ("empty", "")])).await.unwrap();
    let object = secrets.get(Secret, &name).await.unwrap().unwrap();
    let read: Vec<_> =
        object.values.iter().map(|(key, value)| (key.as_str(), value.expose_secret())).collect();
    assert_eq!(read, [("empty", ""), ("password", "p\"w\n\u{1F980}")]);
}

async fn a_version_follows_the_values(secrets: &impl Secrets) {
    let name = SecretName::new("default", "s");
    let version = async |value| {
        secrets.put(Secret, &name, values(&[("key", value)])).await.unwrap();
        let version = secrets.version(Secret, &name).await.unwrap().unwrap();
        assert_eq!(secrets.get(Secret, &name).await.unwrap().unwrap().version, version);
        version
    };
    let first = version("hunter2").await;
    assert_eq!(version("hunter2").await, first, "equal values keep the version");
    let second = version("hunter3").await;
    assert_ne!(first, second);
    assert!(!second.contains("hunter3"));
}

async fn kinds_and_namespaces_are_apart(secrets: &impl Secrets) {
    let (one, other) = (SecretName::new("a", "x"), SecretName::new("b", "x"));
    secrets.put(Secret, &one, values(&[("k", "1")])).await.unwrap();
    secrets.put(Secret, &other, values(&[("k", "2")])).await.unwrap();
    assert!(secrets.get(ConfigMap, &one).await.unwrap().is_none());
    assert_eq!(secrets.list(Secret, None).await.unwrap(), [one.clone(), other]);
    assert_eq!(secrets.list(Secret, Some("a")).await.unwrap(), [one]);
    assert_eq!(secrets.list(ConfigMap, None).await.unwrap(), []);
}
