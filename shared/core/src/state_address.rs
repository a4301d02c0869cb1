//! Where a stack's state lies, as one text that is equal for equal states: from what the manifest says, the workspace,
//! and the backend that the code names.
//!
//! A backend block in the manifest replaces the code's whole, as engines do with an override file; nothing of the two is
//! merged. A stack for which neither names one, or only a directory that is gone after the run, has its state under its
//! own id, so it never shares it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{InputsDigest, StackName};
use crate::manifest::read_backend;
use crate::source::{Definition, Observation};
use crate::spec::StackSpec;

/// A `backend` or `cloud` block, as far as it says where states lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendBlock {
    /// Its type: `s3`, `local`, `cloud`.
    pub kind: String,
    /// Settings that make the place, by name (`workspaces.name` for one in a block); `None` where the text is not
    /// literal. Nothing else is kept: other settings may be secret.
    pub settings: BTreeMap<String, Option<String>>,
}

impl BackendBlock {
    /// Keeps of a block's settings what makes its place.
    pub fn new(kind: &str, settings: impl IntoIterator<Item = (String, Option<String>)>) -> Self {
        let kept = settings.into_iter().filter(|(name, _)| makes_place(kind, name));
        let settings = kept.map(|(name, text)| (name, text.map(|text| without_login(&text)))).collect();
        Self { kind: kind.to_owned(), settings }
    }

    fn literal(&self, name: &str) -> Option<&str> {
        self.settings.get(name).and_then(Option::as_deref)
    }

    /// The place, if the block says it in full.
    fn place(&self, spec: &StackSpec) -> Option<String> {
        if self.kind == LOCAL {
            return self.local_place(spec);
        }
        let of_kind = PLACES.iter().filter(|row| row.kind == self.kind);
        let row =
            of_kind.into_iter().find(|row| row.needed.iter().all(|name| self.literal(name).is_some()))?;
        let beyond = row.beyond_default.iter().filter(|_| spec.workspace != DEFAULT);
        let names = row.needed.iter().chain(row.optional).chain(beyond);
        let given = names.filter(|name| self.settings.contains_key(**name));
        let written = given.map(|name| Some(format!(" {name}={}", self.literal(name)?.trim_matches('/'))));
        Some(format!("{}{}", self.kind, written.collect::<Option<String>>()?))
    }

    fn local_place(&self, spec: &StackSpec) -> Option<String> {
        let name = local_setting(&spec.workspace);
        Some(format!("{LOCAL} {name}=/{}", plain(self.literal(name)?)))
    }

    /// Whether states would lie in the directory that the code is run in, which is removed after each run: a local
    /// backend without an absolute path. The installation keeps such a state as one for which nobody names a backend.
    pub fn lies_beside_the_code(&self, workspace: &str) -> bool {
        let absolute = |text: &Option<String>| text.as_ref().is_none_or(|path| path.starts_with('/'));
        self.kind == LOCAL && !self.settings.get(local_setting(workspace)).is_some_and(absolute)
    }
}

/// What a local backend names its path by.
fn local_setting(workspace: &str) -> &'static str {
    if workspace == DEFAULT { "path" } else { "workspace_dir" }
}

/// What the code of a stack says of its backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodeBackend {
    /// The code was not seen, or not all of it can be read.
    #[default]
    Unseen,
    /// The code names none.
    NotNamed,
    /// The code names this one.
    Named(BackendBlock),
}

impl CodeBackend {
    /// Whether the code was not seen.
    pub fn is_unseen(&self) -> bool {
        *self == Self::Unseen
    }
}

/// Where a stack's state lies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateAddress {
    /// With the installation, under the stack's own id: nobody names a backend.
    Own,
    /// At this place, equal for equal states.
    At(String),
    /// In a backend whose place is not written out. Stacks with equal texts may have one state.
    Perhaps(String),
}

impl StateAddress {
    /// The place, where it is known in full.
    pub fn place(&self) -> Option<&str> {
        match self {
            Self::At(place) => Some(place),
            Self::Own | Self::Perhaps(_) => None,
        }
    }

    /// Whether the state of another stack, in the manifests or not any more, is this one.
    pub fn is_shared_by(&self, other: &Definition, seen: Option<&Observation>) -> bool {
        *self != Self::Own && known_address(&other.spec, seen) == *self
    }

    /// What stacks that may share the state are found by; `None` where no other stack can have it.
    pub fn digest(&self) -> Option<InputsDigest> {
        match self {
            Self::Own => None,
            Self::At(text) | Self::Perhaps(text) => Some(InputsDigest::of(text.as_bytes())),
        }
    }
}

/// The address of a stack's state.
pub fn state_address(spec: &StackSpec, code: &CodeBackend) -> StateAddress {
    let in_manifest = spec.backend.as_deref().and_then(|text| read_backend(text).ok().flatten());
    let workspace = &spec.workspace;
    let block = match (&in_manifest, code) {
        (Some(block), _) | (None, CodeBackend::Named(block)) => Some(block),
        (None, CodeBackend::NotNamed) => return StateAddress::Own,
        (None, CodeBackend::Unseen) => None,
    };
    if block.is_some_and(|block| block.lies_beside_the_code(workspace)) {
        return StateAddress::Own;
    }
    if let Some(place) = block.and_then(|block| block.place(spec)) {
        return StateAddress::At(format!("{place}, workspace {workspace}"));
    }
    let kind = block.map_or("backend", |block| &block.kind);
    let written = spec.backend.as_deref().unwrap_or_default();
    let StackSpec { source, path, .. } = spec;
    let digest = InputsDigest::of(written.as_bytes());
    StateAddress::Perhaps(format!("{kind} of {source}//{path} with {digest}, workspace {workspace}"))
}

/// The address of a stack's state, by its records. What was seen of other code than the settings name now says nothing.
pub fn known_address(spec: &StackSpec, seen: Option<&Observation>) -> StateAddress {
    let same_code =
        |seen: &&Observation| seen.source == spec.source && seen.path.as_ref() == Some(&spec.path);
    seen.filter(same_code)
        .map_or_else(|| state_address(spec, &CodeBackend::Unseen), |seen| state_address(spec, &seen.backend))
}

/// Another stack that names the same state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SameState {
    /// Its name.
    pub name: StackName,
    /// Where its manifest stands: `flux/dev.yaml:12`.
    pub place: String,
    /// The state that both name.
    pub address: StateAddress,
}

impl SameState {
    /// Another stack, if the manifests name it and its state is this one.
    pub fn of(mine: &StateAddress, other: &Definition, seen: Option<&Observation>) -> Option<Self> {
        let shared = other.vanished.is_none() && mine.is_shared_by(other, seen);
        shared.then(|| Self { name: other.name.clone(), place: other.place.clone(), address: mine.clone() })
    }
}

const LOCAL: &str = "local";
const DEFAULT: &str = "default";

/// What makes a place.
struct Row {
    kind: &'static str,
    /// All of these.
    needed: &'static [&'static str],
    /// These too, where they are given.
    optional: &'static [&'static str],
    /// These only in workspaces other than the default one.
    beyond_default: &'static [&'static str],
}

const fn row(
    kind: &'static str,
    needed: &'static [&'static str],
    optional: &'static [&'static str],
    beyond_default: &'static [&'static str],
) -> Row {
    Row { kind, needed, optional, beyond_default }
}

/// For each type of backend that Yuba knows. Types with two ways of naming a place have two rows.
const PLACES: &[Row] = &[
    row("s3", &["bucket", "key"], &["endpoint", "endpoints.s3"], &["workspace_key_prefix"]),
    row("gcs", &["bucket"], &["prefix"], &[]),
    row("azurerm", &["storage_account_name", "container_name", "key"], &[], &[]),
    row("consul", &["path"], &["address", "datacenter"], &[]),
    row("cos", &["bucket"], &["prefix", "key"], &[]),
    row("oss", &["bucket"], &["prefix", "key"], &[]),
    row("http", &["address"], &[], &[]),
    row("kubernetes", &["secret_suffix"], &["namespace", "config_path", "config_context", "host"], &[]),
    row("remote", &["organization", "workspaces.name"], &["hostname"], &[]),
    row("remote", &["organization", "workspaces.prefix"], &["hostname"], &[]),
    row("cloud", &["organization", "workspaces.name"], &["hostname"], &[]),
    row(LOCAL, &[], &["path"], &["workspace_dir"]),
];

fn makes_place(kind: &str, name: &str) -> bool {
    let rows = PLACES.iter().filter(|row| row.kind == kind);
    rows.flat_map(|row| [row.needed, row.optional, row.beyond_default]).any(|names| names.contains(&name))
}

/// A URL may carry a user's name and password.
fn without_login(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// A path without `.`, `..` and empty parts.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SourceName;
    use crate::time::Span;

    fn spec(path: &str, backend: Option<&str>) -> StackSpec {
        let mut spec = StackSpec::new(SourceName::new("infra", "code"), path, Span::hours(1));
        spec.backend = backend.map(str::to_owned);
        spec
    }

    fn named(kind: &str, settings: &[(&str, &str)]) -> CodeBackend {
        let literal = |(name, text): &(&str, &str)| ((*name).to_owned(), Some((*text).to_owned()));
        CodeBackend::Named(BackendBlock::new(kind, settings.iter().map(literal)))
    }

    fn at(spec: &StackSpec, code: &CodeBackend) -> String {
        state_address(spec, code).place().unwrap_or("nowhere").to_owned()
    }

    #[test]
    fn the_place_is_what_the_type_makes_it_of() {
        let at = |kind, settings| at(&spec("net", None), &named(kind, settings));
        let s3 = [("bucket", "b"), ("key", "/a/b"), ("region", "eu"), ("workspace_key_prefix", "w")];
        assert_eq!(at("s3", &s3), "s3 bucket=b key=a/b, workspace default");
        assert_eq!(at("s3", &[("bucket", "b")]), "nowhere");
        assert_eq!(at("pg", &[("conn_str", "postgres://a:b@h/d")]), "nowhere");
        assert_eq!(
            at("http", &[("address", "https://u:secret@h:1/s")]),
            "http address=https://h:1/s, workspace default"
        );
        assert_eq!(
            at("cloud", &[("organization", "o"), ("workspaces.name", "n")]),
            "cloud organization=o workspaces.name=n, workspace default"
        );
    }

    #[test]
    fn what_is_no_literal_text_leaves_the_place_open() {
        let settings = [("bucket", Some("b")), ("key", Some("k")), ("endpoint", None)];
        let settings = settings.map(|(name, text)| (name.to_owned(), text.map(str::to_owned)));
        let code = CodeBackend::Named(BackendBlock::new("s3", settings));
        assert!(matches!(state_address(&spec("net", None), &code), StateAddress::Perhaps(_)));
    }

    #[test]
    fn a_local_state_is_its_stacks_own_unless_its_path_is_absolute() {
        let relative = named("local", &[("path", "../x.tfstate")]);
        assert_eq!(state_address(&spec("stacks/a", None), &relative), StateAddress::Own);
        let in_manifest = spec("stacks/a", Some("backend \"local\" {}"));
        assert_eq!(state_address(&in_manifest, &CodeBackend::Unseen), StateAddress::Own);
        let whole = named("local", &[("path", "/var//x/../y")]);
        assert_eq!(at(&spec("stacks/a", None), &whole), "local path=/var/y, workspace default");
        let mut other = spec("stacks/a", None);
        other.workspace = "eu".to_owned();
        assert_eq!(state_address(&other, &whole), StateAddress::Own);
        let both = named("local", &[("path", "x"), ("workspace_dir", "/var/w")]);
        assert_eq!(at(&other, &both), "local workspace_dir=/var/w, workspace eu");
        let open = BackendBlock::new("local", [("path".to_owned(), None)]);
        let open = state_address(&spec("stacks/a", None), &CodeBackend::Named(open));
        assert!(matches!(open, StateAddress::Perhaps(_)));
    }

    #[test]
    fn the_manifest_replaces_what_the_code_names_and_none_of_both_is_ones_own() {
        let whole = "backend \"s3\" {\n bucket = \"m\"\n key = \"k\"\n}";
        let code = named("s3", &[("bucket", "c"), ("key", "k")]);
        assert_eq!(at(&spec("net", Some(whole)), &code), "s3 bucket=m key=k, workspace default");
        assert_eq!(
            at(&spec("net", Some("required_version = \"1\"")), &code),
            "s3 bucket=c key=k, workspace default"
        );
        let partial = spec("net", Some("backend \"s3\" {}"));
        assert!(matches!(state_address(&partial, &code), StateAddress::Perhaps(_)));
        assert_eq!(state_address(&spec("net", None), &CodeBackend::NotNamed), StateAddress::Own);
        let unseen = |path| state_address(&spec(path, None), &CodeBackend::Unseen);
        assert!(unseen("a") == unseen("a") && unseen("a") != unseen("b"));
    }
}
