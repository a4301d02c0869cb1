//! Reads `backendConfig.customConfiguration` as far as it says where the state lies.

use std::collections::BTreeMap;

use hcl_edit::structure::{Block, BlockLabel, Body};

use crate::spec::StackSpec;

/// How deep brackets may lie in each other: the parser's stack grows with them.
const MAX_DEPTH: usize = 32;

/// What a backend configuration says of the state's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Backend {
    /// No backend block at all.
    None,
    /// A backend, whose place the manifest does not say in full.
    Unknown,
    /// A backend and its state's place, equal for equal states.
    At(String),
}

/// For each type of backend: what makes the place, and what else belongs to it if it is given.
const PLACES: &[(&str, &[&str], &[&str])] = &[
    ("s3", &["bucket", "key"], &["workspace_key_prefix", "endpoint"]),
    ("gcs", &["bucket"], &["prefix"]),
    ("azurerm", &["storage_account_name", "container_name", "key"], &[]),
    ("consul", &["path"], &["datacenter"]),
    ("cos", &["bucket"], &["prefix", "key"]),
    ("oss", &["bucket"], &["prefix", "key"]),
    ("http", &["address"], &[]),
    ("local", &["path"], &["workspace_dir"]),
    ("kubernetes", &["secret_suffix"], &["namespace", "config_path", "config_context", "host"]),
];

/// Where a stack's state lies: equal for equal states, `None` where the manifest does not say it in full.
pub fn state_address(spec: &StackSpec) -> Option<String> {
    match read(spec.backend.as_deref()?) {
        Ok(Backend::At(place)) => Some(address(&place, &spec.workspace)),
        _ => None,
    }
}

/// The address of a state: a backend's place, and the workspace.
pub(super) fn address(place: &str, workspace: &str) -> String {
    format!("{place}, workspace {workspace}")
}

/// Reads a configuration; the error says why it is not HCL, with the line within it.
pub(super) fn read(configuration: &str) -> Result<Backend, String> {
    if depth(configuration) > MAX_DEPTH {
        return Err(format!("brackets lie more than {MAX_DEPTH} deep"));
    }
    let body: Body = configuration.parse().map_err(|error: hcl_edit::parser::Error| {
        let at = error.location();
        format!("line {}, column {}: {}", at.line(), at.column(), error.message())
    })?;
    for block in body.iter().filter_map(|structure| structure.as_block()) {
        match block.ident.as_str() {
            "backend" => return Ok(place(block)),
            "cloud" => return Ok(Backend::Unknown),
            _ => {}
        }
    }
    Ok(Backend::None)
}

fn place(block: &Block) -> Backend {
    let name = block.labels.first().map(BlockLabel::as_str).unwrap_or_default();
    let texts: BTreeMap<&str, &str> = block
        .body
        .iter()
        .filter_map(|structure| structure.as_attribute())
        .filter_map(|attribute| Some((attribute.key.as_str(), attribute.value.as_str()?)))
        .collect();
    let Some((_, needed, optional)) = PLACES.iter().find(|(kind, ..)| *kind == name) else {
        return Backend::Unknown;
    };
    // A relative path means another file in each stack's directory.
    let relative = name == "local" && texts.get("path").is_some_and(|path| !path.starts_with('/'));
    if relative || needed.iter().any(|key| !texts.contains_key(key)) {
        return Backend::Unknown;
    }
    let settings = needed.iter().chain(*optional).filter_map(|key| Some((key, texts.get(key)?)));
    let written = settings.map(|(key, text)| format!(" {key}={}", text.trim_matches('/')));
    Backend::At(format!("{name}{}", written.collect::<String>()))
}

/// The most brackets that are open at once; those inside texts are counted too, which does no harm.
fn depth(text: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for letter in text.chars() {
        match letter {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_what_the_type_makes_it_of() {
        let s3 = "backend \"s3\" {\n  key = \"a/b\" # of b\n  bucket=\"c\"\n  region = \"eu-west-1\"\n}";
        assert_eq!(read(s3), Ok(Backend::At("s3 bucket=c key=a/b".to_owned())));
        assert_eq!(read("backend \"s3\" { bucket = \"c\" }"), Ok(Backend::Unknown));
        assert_eq!(read("backend \"s3\" {\n bucket = \"c${1}\"\n key = \"k\"\n}"), Ok(Backend::Unknown));
        assert_eq!(read("backend \"http\" {}"), Ok(Backend::Unknown));
        assert_eq!(read("backend \"local\" {\n path = \"a\"\n}"), Ok(Backend::Unknown));
        assert_eq!(
            read("backend \"local\" {\n path = \"/a\"\n}"),
            Ok(Backend::At("local path=a".to_owned()))
        );
        assert_eq!(read("required_version = \"> 1\""), Ok(Backend::None));
        assert_eq!(read("cloud {}"), Ok(Backend::Unknown));
    }

    #[test]
    fn what_is_not_hcl_is_refused() {
        assert!(read("backend s3 {").is_err());
        assert!(read(&"[".repeat(100_000)).is_err());
    }
}
