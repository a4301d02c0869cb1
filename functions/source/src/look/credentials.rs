//! The credentials of a source, from the secret that its manifest names, under the keys that Flux uses.

use secrecy::{ExposeSecret, SecretString};
use yuba_core::id::SecretName;
use yuba_core::spec::ValuesKind;
use yuba_git::fetch::Credentials;
use yuba_ports::{PortError, Ports, SecretValues};

use crate::backoff::Trouble;

/// Reads credentials; none where no secret is named.
pub(crate) async fn of(
    ports: &Ports,
    secret: Option<&SecretName>,
) -> Result<Result<Credentials, Trouble>, PortError> {
    let Some(name) = secret else { return Ok(Ok(Credentials::Anonymous)) };
    let Some(values) = ports.secrets.get(ValuesKind::Secret, name).await? else {
        let trouble = format!("there is no secret {name}; set it with `yuba secret set {name}`");
        return Ok(Err(Trouble::for_people(trouble)));
    };
    Ok(read(&values).ok_or_else(|| {
        let keys = values.values.keys().cloned().collect::<Vec<_>>().join(", ");
        Trouble::for_people(format!(
            "secret {name} has neither `username` and `password`, nor `bearerToken`, nor `identity` and `known_hosts`; \
             it has: {keys}"
        ))
    }))
}

fn read(values: &SecretValues) -> Option<Credentials> {
    let value = |key: &str| values.values.get(key);
    let text = |key: &str| value(key).map(|value| value.expose_secret().to_owned());
    if let Some(identity) = value("identity") {
        let known_hosts = text("known_hosts").unwrap_or_default();
        return Some(Credentials::Key { identity: identity.clone(), known_hosts });
    }
    if let Some(token) = value("bearerToken") {
        return Some(Credentials::Bearer(token.clone()));
    }
    let password: SecretString = value("password")?.clone();
    let username = text("username").unwrap_or_else(|| "git".to_owned());
    Some(Credentials::Password { username, password })
}
