//! `varsFrom`: values read from secrets and config maps, under the names that the root module knows.
//!
//! Unlike tofu-controller, which reads a listed key that is absent from a secret as `""` and ignores any error of an
//! `optional` object, an absent key is an error that names it, and `optional` excuses only an object that is not there.

use secrecy::{ExposeSecret as _, SecretString};
use yuba_core::id::StackName;
use yuba_core::spec::{HostSecret, ValuesKind, VarsFrom};
use yuba_core::task::{HostCredentials, ResolvedValue};
use yuba_ports::{PortError, Remedy, SecretValues, Secrets};

/// Why values could not be had.
#[derive(Debug)]
pub(crate) enum ValuesError {
    /// Only a change of manifest or secrets can mend it.
    Missing(String),
    /// Asking again may mend it.
    Passing(PortError),
}

/// All values of a stack's `varsFrom`, in order: later ones win.
pub(crate) async fn resolve(
    secrets: &dyn Secrets,
    stack: &StackName,
    entries: &[VarsFrom],
) -> Result<Vec<ResolvedValue>, ValuesError> {
    let mut values = Vec::new();
    for entry in entries {
        let found = secrets.get(entry.kind, &entry.name).await.map_err(|error| unreadable(entry, error))?;
        match found {
            Some(object) => take(stack, entry, &object, &mut values)?,
            None if entry.optional => {}
            None => {
                let what = describe(entry);
                return Err(ValuesError::Missing(format!(
                    "{what}, named by varsFrom of {stack}, does not exist"
                )));
            }
        }
    }
    Ok(values)
}

/// What opens the hosts that a stack's modules and providers come from.
pub(crate) async fn open_hosts(
    secrets: &dyn Secrets,
    stack: &StackName,
    hosts: &[HostSecret],
) -> Result<Vec<HostCredentials>, ValuesError> {
    let mut opened = Vec::new();
    for HostSecret { host, secret } in hosts {
        let found = secrets.get(ValuesKind::Secret, secret).await.map_err(|error| {
            if error.remedy == Remedy::Permanent {
                ValuesError::Missing(format!("secret {secret} cannot be read: {}", error.what))
            } else {
                ValuesError::Passing(error)
            }
        })?;
        let Some(found) = found else {
            let why = format!("secret {secret}, named by hosts of {stack} for {host}, does not exist");
            return Err(ValuesError::Missing(why));
        };
        let exposed = |(key, value): (String, SecretString)| (key, value.expose_secret().to_owned());
        opened.push(HostCredentials {
            host: host.clone(),
            values: found.values.into_iter().map(exposed).collect(),
        });
    }
    Ok(opened)
}

fn take(
    stack: &StackName,
    entry: &VarsFrom,
    object: &SecretValues,
    values: &mut Vec<ResolvedValue>,
) -> Result<(), ValuesError> {
    if entry.keys.is_empty() {
        values.extend(object.values.iter().map(|(key, value)| resolved(entry, key, value)));
        return Ok(());
    }
    for mapping in &entry.keys {
        let Some(value) = object.values.get(&mapping.key) else {
            let (what, key) = (describe(entry), &mapping.key);
            let there: Vec<&str> = object.values.keys().map(String::as_str).collect();
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            let why = format!("{what}, named by varsFrom of {stack}, has no key `{key}` (keys: {there})");
            return Err(ValuesError::Missing(why));
        };
        values.push(resolved(entry, &mapping.name, value));
    }
    Ok(())
}

fn resolved(entry: &VarsFrom, name: &str, value: &SecretString) -> ResolvedValue {
    ResolvedValue {
        name: name.to_owned(),
        value: value.expose_secret().to_owned(),
        secret: entry.kind == ValuesKind::Secret,
    }
}

fn describe(entry: &VarsFrom) -> String {
    let kind = match entry.kind {
        ValuesKind::Secret => "secret",
        ValuesKind::ConfigMap => "config map",
    };
    format!("{kind} {}", entry.name)
}

fn unreadable(entry: &VarsFrom, error: PortError) -> ValuesError {
    if error.remedy == Remedy::Permanent {
        ValuesError::Missing(format!("{} cannot be read: {}", describe(entry), error.what))
    } else {
        ValuesError::Passing(error)
    }
}
