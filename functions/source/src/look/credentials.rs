//! The credentials of a source, from the secret that its manifest names, under the keys that Flux uses.

use secrecy::ExposeSecret;
use yuba_core::id::SecretName;
use yuba_core::spec::ValuesKind;
use yuba_git::fetch::{Credentials, Login};
use yuba_ports::{PortError, Ports, SecretValues};

use crate::backoff::Trouble;

/// Reads credentials; none where no secret is named.
pub(crate) async fn of(
    ports: &Ports,
    secret: Option<&SecretName>,
) -> Result<Result<Credentials, Trouble>, PortError> {
    let Some(name) = secret else { return Ok(Ok(Credentials::default())) };
    let Some(values) = ports.secrets.get(ValuesKind::Secret, name).await? else {
        let trouble = format!("there is no secret {name}; set it with `yuba secret set {name}`");
        return Ok(Err(Trouble::for_people(trouble)));
    };
    Ok(read(&values).ok_or_else(|| {
        let keys = values.values.keys().cloned().collect::<Vec<_>>().join(", ");
        Trouble::for_people(format!(
            "secret {name} has neither `username` and `password`, nor `bearerToken`, nor `identity` and `known_hosts`, nor \
             `ca.crt`; it has: {keys}"
        ))
    }))
}

fn read(values: &SecretValues) -> Option<Credentials> {
    let text = |key: &str| values.values.get(key).map(|value| value.expose_secret().to_owned());
    // Flux reads the older `caFile` too.
    let authority = text("ca.crt").or_else(|| text("caFile"));
    let login = login(values).or_else(|| authority.is_some().then_some(Login::Anonymous))?;
    Some(Credentials { login, authority })
}

fn login(values: &SecretValues) -> Option<Login> {
    let value = |key: &str| values.values.get(key).cloned();
    let text = |key: &str| value(key).map(|value| value.expose_secret().to_owned());
    if let Some(identity) = value("identity") {
        let known_hosts = text("known_hosts").unwrap_or_default();
        return Some(Login::Key { identity, known_hosts });
    }
    if let Some(token) = value("bearerToken") {
        return Some(Login::Bearer(token));
    }
    let password = value("password")?;
    let username = text("username").unwrap_or_else(|| "git".to_owned());
    Some(Login::Password { username, password })
}
