//! What is particular to secrets in SSM and Secrets Manager.

use std::collections::BTreeMap;
use std::slice;

use secrecy::{ExposeSecret, SecretString};
use yuba_aws::AwsSecrets;
use yuba_core::id::SecretName;
use yuba_core::spec::ValuesKind::{ConfigMap, Secret};
use yuba_ports::{Remedy, Secrets};

use crate::contract::secrets_settings;
use crate::emulator::emulator;

fn values(value: &str) -> BTreeMap<String, SecretString> {
    BTreeMap::from([("key".to_owned(), SecretString::from(value))])
}

async fn value(secrets: &AwsSecrets, name: &SecretName) -> String {
    secrets.get(Secret, name).await.unwrap().unwrap().values["key"].expose_secret().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_outgrows_ssm_moves_to_secrets_manager_and_stays() {
    let config = emulator().config().await;
    let (secrets, name) = (AwsSecrets::new(&config, secrets_settings()), SecretName::new("default", "s"));
    let large = "x".repeat(5000);
    for text in ["small", &large, "small again"] {
        secrets.put(Secret, &name, values(text)).await.unwrap();
        assert_eq!(value(&secrets, &name).await, text);
        assert_eq!(secrets.list(Secret, None).await.unwrap(), slice::from_ref(&name));
    }
    let version = secrets.version(Secret, &name).await.unwrap();
    secrets.put(Secret, &name, values("small again")).await.unwrap();
    assert_eq!(secrets.version(Secret, &name).await.unwrap(), version, "equal values keep the version");
    let refused = secrets.put(ConfigMap, &name, values(&large)).await.unwrap_err();
    assert_eq!(refused.remedy, Remedy::Permanent);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_keeps_in_secrets_manager_is_read_and_stays_there() {
    let (config, settings) = (emulator().config().await, secrets_settings());
    let (secrets, name) = (AwsSecrets::new(&config, settings.clone()), SecretName::new("default", "own"));
    let path = format!("{}/default/own", settings.secrets);
    let manager = aws_sdk_secretsmanager::Client::new(&config);
    manager.create_secret().name(&path).secret_string(r#"{"key": "by hand"}"#).send().await.unwrap();
    assert_eq!(value(&secrets, &name).await, "by hand");
    assert_eq!(secrets.list(Secret, Some("default")).await.unwrap(), slice::from_ref(&name));
    secrets.put(Secret, &name, values("by yuba")).await.unwrap();
    let kept = manager.get_secret_value().secret_id(&path).send().await.unwrap().secret_string.unwrap();
    assert_eq!(kept, r#"{"key":"by yuba"}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_secure_strings() {
    let (config, settings) = (emulator().config().await, secrets_settings());
    let secrets = AwsSecrets::new(&config, settings.clone());
    secrets.put(Secret, &SecretName::new("a", "s"), values("v")).await.unwrap();
    secrets.put(ConfigMap, &SecretName::new("a", "m"), values("v")).await.unwrap();
    let ssm = aws_sdk_ssm::Client::new(&config);
    for (path, expected) in [
        (format!("{}/a/s", settings.secrets), "SecureString"),
        (format!("{}/a/m", settings.config_maps), "String"),
    ] {
        let stored = ssm.get_parameter().name(&path).send().await.unwrap().parameter.unwrap();
        assert_eq!(stored.r#type.unwrap().as_str(), expected, "{path}");
    }
}
