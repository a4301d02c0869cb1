//! Reads of a state file what people may see of it: which one it is, and the addresses that it holds. Never a value.
//!
//! The form is that of `terraform state pull` (version 4), and OpenTofu's where it encrypts states.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// What a state file says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFile {
    /// Counts its writes; a backend refuses one that is lower than its own.
    pub serial: u64,
    /// Names the state from its first write on; a backend refuses another than its own.
    pub lineage: String,
    /// What it manages.
    pub resources: Held,
}

/// What a state manages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// Addresses of instances, sorted.
    Addresses(Vec<String>),
    /// It is encrypted; only the engine can read it.
    Encrypted,
}

/// The file is no state.
#[derive(Debug, thiserror::Error)]
#[error("it is no state file")]
pub struct NoState(#[from] serde_json::Error);

#[derive(Deserialize)]
struct Written {
    serial: u64,
    lineage: String,
    #[serde(default)]
    resources: Vec<Resource>,
    encrypted_data: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Resource {
    module: Option<String>,
    mode: String,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    #[serde(default)]
    instances: Vec<Instance>,
}

#[derive(Deserialize)]
struct Instance {
    /// A number, a text, or nothing.
    index_key: Option<serde_json::Value>,
}

/// Reads a state file.
pub fn read_state_file(bytes: &[u8]) -> Result<StateFile, NoState> {
    let Written { serial, lineage, resources, encrypted_data } = serde_json::from_slice(bytes)?;
    let managed = resources.iter().filter(|resource| resource.mode == "managed");
    // A deposed object has the address of the one that replaces it.
    let addresses: BTreeSet<String> = managed.flat_map(Resource::addresses).collect();
    let resources = match encrypted_data {
        Some(_) => Held::Encrypted,
        None => Held::Addresses(addresses.into_iter().collect()),
    };
    Ok(StateFile { serial, lineage, resources })
}

impl Resource {
    fn addresses(&self) -> impl Iterator<Item = String> {
        let module = self.module.as_ref().map(|module| format!("{module}.")).unwrap_or_default();
        let resource = format!("{module}{}.{}", self.kind, self.name);
        self.instances.iter().map(move |instance| match &instance.index_key {
            Some(key) => format!("{resource}[{key}]"),
            None => resource.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_the_engine_writes_them_and_no_value_is() {
        let text = r#"{"version":4,"terraform_version":"1.11.4","serial":3,"lineage":"5f2a","outputs":{"x":{"value":"s3cr3t"}},
            "resources":[
              {"mode":"data","type":"toy","name":"seen","instances":[{"attributes":{}}]},
              {"module":"module.a[\"b\"]","mode":"managed","type":"toy","name":"one","instances":[
                {"index_key":0,"attributes":{"id":"s3cr3t"}},{"index_key":"k","attributes":{}}]},
              {"mode":"managed","type":"toy","name":"two","instances":[{"attributes":{}},{"deposed":"0a","attributes":{}}]}]}"#;
        let state = read_state_file(text.as_bytes()).unwrap();
        assert_eq!((state.serial, state.lineage.as_str()), (3, "5f2a"));
        let addresses = [r#"module.a["b"].toy.one["k"]"#, r#"module.a["b"].toy.one[0]"#, "toy.two"];
        assert_eq!(state.resources, Held::Addresses(addresses.map(str::to_owned).into()));
    }

    #[test]
    fn an_encrypted_state_says_which_it_is_and_other_files_are_none() {
        let text =
            r#"{"serial":1,"lineage":"5f2a","meta":{},"encrypted_data":"AAAA","encryption_version":"v0"}"#;
        assert_eq!(read_state_file(text.as_bytes()).unwrap().resources, Held::Encrypted);
        assert!(read_state_file(b"{}").is_err() && read_state_file(b"").is_err());
    }
}
