//! Writes the outputs that an apply stored into the secret that the manifest names.

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use yuba_core::decide::values_name;
use yuba_core::id::{AttemptId, SecretName, StackId};
use yuba_core::job::{attempt_prefix, object};
use yuba_core::message::Cause;
use yuba_core::record::readers_partition;
use yuba_core::spec::{KeyMapping, ValuesKind};
use yuba_ports::{PortError, Ports};

use crate::wake::wake_all;

/// One entry of `output -json`.
#[derive(Deserialize)]
struct Output {
    value: Value,
    #[serde(rename = "type")]
    kind: Value,
}

/// Reads the attempt's outputs, writes the chosen ones, and wakes the stacks that read the secret.
pub(crate) async fn write_outputs(
    ports: &Ports,
    stack: StackId,
    attempt: AttemptId,
    secret: &SecretName,
    wanted: &[KeyMapping],
) -> Result<(), PortError> {
    let key = format!("{}{}", attempt_prefix(stack, attempt), object::OUTPUTS);
    let bytes = ports.blobs.get(&key).await?;
    let bytes = bytes
        .ok_or_else(|| PortError::permanent(format!("the outputs of {attempt} are not stored ({key})")))?;
    let outputs: BTreeMap<String, Output> = serde_json::from_slice(&bytes).map_err(|error| {
        PortError::permanent(format!("the outputs of {attempt} are not JSON")).because(error)
    })?;
    ports.secrets.put(ValuesKind::Secret, secret, chosen(&outputs, wanted)?).await?;
    wake_readers(ports, secret).await
}

/// The values to write: strings as they are, anything else as JSON beside `<name>__type`, as tofu-controller does.
fn chosen(
    outputs: &BTreeMap<String, Output>,
    wanted: &[KeyMapping],
) -> Result<BTreeMap<String, SecretString>, PortError> {
    let all: Vec<KeyMapping> =
        outputs.keys().map(|name| KeyMapping { key: name.clone(), name: name.clone() }).collect();
    let mut values = BTreeMap::new();
    for mapping in if wanted.is_empty() { &all } else { wanted } {
        let output = outputs.get(&mapping.key).ok_or_else(|| not_found(outputs, &mapping.key))?;
        match &output.value {
            Value::String(text) => values.insert(mapping.name.clone(), SecretString::from(text.clone())),
            other => {
                values.insert(format!("{}__type", mapping.name), SecretString::from(output.kind.to_string()));
                values.insert(mapping.name.clone(), SecretString::from(other.to_string()))
            }
        };
    }
    Ok(values)
}

fn not_found(outputs: &BTreeMap<String, Output>, name: &str) -> PortError {
    let known: Vec<&str> = outputs.keys().map(String::as_str).collect();
    PortError::permanent(format!("output not found: {name}; the stack's outputs are: {}", known.join(", ")))
}

async fn wake_readers(ports: &Ports, secret: &SecretName) -> Result<(), PortError> {
    let version = ports.secrets.version(ValuesKind::Secret, secret).await?.unwrap_or_default();
    let cause = Cause::Values { name: values_name(ValuesKind::Secret, secret), version };
    wake_all(ports, readers_partition(secret), &cause).await
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;
    use serde_json::json;

    use super::*;

    fn outputs() -> BTreeMap<String, Output> {
        serde_json::from_value(json!({
            "vpc_id": {"value": "vpc-1", "type": "string", "sensitive": false},
            "subnets": {"value": ["a", "b"], "type": ["list", "string"], "sensitive": false},
        }))
        .unwrap()
    }

    #[test]
    fn strings_are_written_as_they_are_and_the_rest_as_json_with_its_type() {
        let values = chosen(&outputs(), &[]).unwrap();
        let shown: Vec<String> =
            values.iter().map(|(name, value)| format!("{name}={}", value.expose_secret())).collect();
        assert_eq!(shown, [r#"subnets=["a","b"]"#, r#"subnets__type=["list","string"]"#, "vpc_id=vpc-1"]);
    }

    #[test]
    fn an_output_goes_under_its_alias_and_an_unknown_one_is_named() {
        let alias = KeyMapping { key: "vpc_id".to_owned(), name: "network".to_owned() };
        assert!(chosen(&outputs(), &[alias]).unwrap().contains_key("network"));
        let unknown = KeyMapping { key: "vpc".to_owned(), name: "vpc".to_owned() };
        let error = chosen(&outputs(), &[unknown]).unwrap_err().to_string();
        assert_eq!(error, "output not found: vpc; the stack's outputs are: subnets, vpc_id");
    }
}
