//! A set of manifests as a whole: what can be used, what is held back, and all that was found.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::checks;
use super::code::{backend_gap, backend_gaps};
use super::document::{self, Identity, Item};
use super::finding::{Finding, Place, Severity, Spot};
use super::helm::{self, Charts};
use super::kinds::{self, Class};
use super::messages;
use super::parse;
use super::report::Report;
use super::source::SourceDraft;
use super::stack::StackDraft;
use super::yaml::{Document, Node, Tree};
use crate::freeze::FreezeSpec;
use crate::id::{DocumentDigest, ObjectName, SecretName, SourceName, StackName};
use crate::notify::{AlertSpec, ProviderSpec};
use crate::people::Member;
use crate::spec::{SourceSpec, StackSpec};

/// Files longer than this are not read.
const MAX_MIB: usize = 4;

/// The text of a manifest file, and what it is called in messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFile {
    /// Its path, as people know it.
    pub path: String,
    /// What it holds. Bytes that are not UTF-8 are U+FFFD: a manifest with such a sign is refused.
    pub text: String,
}

impl ManifestFile {
    /// The file of these bytes.
    pub fn new(path: String, bytes: Vec<u8>) -> Self {
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Self { path, text }
    }

    /// Why it cannot be read at all, and where.
    fn fault(&self) -> Option<(Spot, String)> {
        if self.text.len() > MAX_MIB << 20 {
            return Some((Spot::START, messages::too_long(MAX_MIB)));
        }
        if !self.text.contains("apiVersion") {
            return None;
        }
        let line = self.text.lines().position(|line| line.contains(char::REPLACEMENT_CHARACTER))?;
        let line = u32::try_from(line).unwrap_or(u32::MAX).saturating_add(1);
        Some((Spot { line, ..Spot::START }, messages::not_utf8()))
    }

    /// The kind of a document in it that may forbid something, as far as can be told without reading it.
    fn may_restrict(&self) -> Option<&'static str> {
        let is_ours = self.text.contains("yuba.dev/");
        RESTRICTIONS.into_iter().find(|kind| is_ours && self.text.contains(kind))
    }
}

/// A stack that can be used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StackManifest {
    /// Its name.
    pub name: StackName,
    /// Its settings.
    pub spec: StackSpec,
    /// Where its document starts.
    pub place: Place,
    /// Where it was said that the manifest names no backend, if it was.
    pub backend_gap: Option<Place>,
    /// Changes when its document says something else; comments and the order of fields aside.
    pub digest: DocumentDigest,
}

/// A source that can be used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SourceManifest {
    /// Its name.
    pub name: SourceName,
    /// Its settings.
    pub spec: SourceSpec,
    /// Where its document starts.
    pub place: Place,
}

/// A config map: values for `varsFrom`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigMapManifest {
    /// Its name, as `varsFrom` resolves it.
    pub name: SecretName,
    /// Its values.
    pub values: BTreeMap<String, String>,
    /// Where its document starts.
    pub place: Place,
}

/// A document that is stored as it says: a `Provider`, an `Alert`, a `Freeze`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeclaredManifest<S> {
    /// Its name.
    pub name: ObjectName,
    /// What it says.
    pub spec: S,
    /// Where its document starts.
    pub place: Place,
}

/// A team that can be used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TeamManifest {
    /// Its name.
    pub name: ObjectName,
    /// Who belongs to it.
    pub members: Vec<Member>,
    /// Where its document starts.
    pub place: Place,
}

/// A document that cannot be used: its last good version stays in force.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct HeldBack {
    /// Its kind, as it is written.
    pub kind: String,
    /// Its `namespace/name`; `None` where not even that could be read, so that no stack may be taken for vanished.
    pub name: Option<String>,
    /// Where it starts.
    pub place: Place,
}

/// All that a set of manifest files says.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ManifestSet {
    /// The stacks, by name.
    pub stacks: Vec<StackManifest>,
    /// The sources, by name.
    pub sources: Vec<SourceManifest>,
    /// The config maps, by name.
    pub config_maps: Vec<ConfigMapManifest>,
    /// The providers of notifications, by name.
    pub providers: Vec<DeclaredManifest<ProviderSpec>>,
    /// The alerts, by name.
    pub alerts: Vec<DeclaredManifest<AlertSpec>>,
    /// The teams, by name.
    pub teams: Vec<TeamManifest>,
    /// The freezes, by name.
    pub freezes: Vec<DeclaredManifest<FreezeSpec>>,
    /// What is held back.
    pub held_back: Vec<HeldBack>,
    /// Whether nothing of the set may be taken over, because a `Policy`, `Team` or `Freeze` is faulty. What could be
    /// used otherwise is listed all the same.
    pub is_held_back: bool,
    /// What was found, by place.
    pub findings: Vec<Finding>,
}

impl ManifestSet {
    /// Reads a set of files; the same as [`read_set`].
    pub fn read(files: &[ManifestFile]) -> Self {
        read_set(files)
    }

    /// The findings of one severity.
    pub fn of_severity(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.severity == severity)
    }

    /// Whether a set that lacks this stack says that it is gone: not if the set, the stack or a document without a
    /// readable name is held back.
    pub fn lacks(&self, name: &StackName) -> bool {
        let text = name.to_string();
        let held = |held: &HeldBack| held.name.as_ref().is_none_or(|held| *held == text);
        !self.is_held_back
            && self.stacks.iter().all(|stack| stack.name != *name)
            && !self.held_back.iter().any(held)
    }
}

impl ManifestSet {
    /// Why the last good version of a stack stays in force, which stood in this file; `None` where nothing of the set
    /// holds it back. A document whose name cannot be read may be that of any stack that is missing.
    pub fn why_held_back(&self, name: &StackName, file: &str) -> Option<String> {
        if self.stacks.iter().any(|stack| stack.name == *name) {
            return None;
        }
        let text = name.to_string();
        let is_stack = |held: &&HeldBack| ["Stack", "Terraform"].contains(&held.kind.as_str());
        let named = self.held_back.iter().filter(is_stack).filter(|held| held.name.as_ref() == Some(&text));
        let nameless = || self.held_back.iter().filter(|held| held.name.is_none());
        let beside = nameless().filter(|held| held.place.file == file);
        let held: Vec<&HeldBack> = named.chain(beside).chain(nameless()).collect();
        let fault = held.iter().find_map(|held| self.fault(held)).map(ToString::to_string);
        fault.or_else(|| held.first().map(|held| format!("{}: it is held back", held.place)))
    }

    /// The first error in a document.
    fn fault(&self, held: &HeldBack) -> Option<&Finding> {
        let stacks = self.stacks.iter().map(|stack| &stack.place);
        let sources = self.sources.iter().map(|source| &source.place);
        let places = self.held_back.iter().map(|held| &held.place).chain(stacks).chain(sources);
        let next = places.filter(|place| place.file == held.place.file && **place > held.place).min();
        self.of_severity(Severity::Error).find(|finding| {
            finding.place.file == held.place.file
                && finding.place >= held.place
                && next.is_none_or(|next| finding.place < *next)
        })
    }
}

/// What was read so far, before documents are looked at together.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    pub(super) stacks: Vec<(StackDraft, Place)>,
    pub(super) sources: Vec<(SourceDraft, Place)>,
    /// Service accounts and their roles.
    pub(super) accounts: BTreeMap<ObjectName, Option<String>>,
    pub(super) config_maps: Vec<ConfigMapManifest>,
    pub(super) providers: Vec<DeclaredManifest<ProviderSpec>>,
    pub(super) alerts: Vec<DeclaredManifest<AlertSpec>>,
    pub(super) teams: Vec<TeamManifest>,
    pub(super) freezes: Vec<DeclaredManifest<FreezeSpec>>,
    /// The providers that alerts name, and where.
    pub(super) wanted_providers: Vec<(ObjectName, Place)>,
    /// Every document that says who it is, in the order of the files.
    pub(super) identities: Vec<(Identity, Place)>,
    pub(super) held_back: BTreeSet<HeldBack>,
    pub(super) is_held_back: bool,
    pub(super) findings: Vec<Finding>,
}

/// Reads a set of manifest files. Everything that is wrong is in the findings; the rest can be used.
pub fn read_set(files: &[ManifestFile]) -> ManifestSet {
    let (mut drafts, charts) = (Drafts::default(), Charts::of(files));
    for file in files {
        if let Some(message) = charts.claim(file) {
            drafts.ignore(Spot::START.in_file(&file.path), message);
            continue;
        }
        if let Some((spot, message)) = file.fault() {
            let place = spot.in_file(&file.path);
            drafts.hold_back("document", None, &place);
            if let Some(kind) = file.may_restrict() {
                drafts.hold_back_all(kind, &place);
            }
            drafts.findings.push(Finding { severity: Severity::Error, place, message });
            continue;
        }
        let documents =
            if is_json(&file.path) { parse::read_json(&file.text) } else { parse::read(&file.text) };
        for document in documents {
            drafts.read(&file.path, document);
        }
    }
    checks::all(&mut drafts);
    drafts.finish()
}

fn is_json(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("json"))
}

impl Drafts {
    fn read(&mut self, file: &str, document: Document) {
        let mut report = Report::new(file);
        for fault in &document.faults {
            report.say(Severity::Error, fault.spot, fault.message.clone());
        }
        let Some(root) = document.root else {
            let place = document.faults.first().map_or(Spot::START, |fault| fault.spot).in_file(file);
            if helm::is_foreign_template(&document.text) {
                return self.ignore(place, messages::template());
            }
            let identity = Identity::guess(&document.text);
            let restricts = document.text.contains("yuba.dev/") && is_restriction(&identity.kind);
            return self.lay_down(report, identity, &place, restricts);
        };
        self.read_root(root, report);
    }

    fn read_root(&mut self, root: Node, mut report: Report<'_>) {
        let (identity, place) = (Identity::of(&root), document::place(&root, report.file));
        if !matches!(root.tree, Tree::Map(_)) {
            report.say(Severity::Error, root.spot, messages::not_a_mapping(&root));
            return self.lay_down(report, identity, &place, false);
        }
        let class = kinds::classify(&root, &mut report);
        if class == Class::List {
            return self.read_list(root, report);
        }
        let item = document::read(root, class, &mut report);
        if !report.has_errors() {
            self.keep(item, &place);
        }
        if class == Class::Ignored {
            self.findings.append(&mut report.findings);
        } else {
            self.lay_down(
                report,
                identity,
                &place,
                matches!(class, Class::Team | Class::Freeze | Class::Restriction),
            );
        }
    }

    fn read_list(&mut self, root: Node, report: Report<'_>) {
        let file = report.file.to_owned();
        self.findings.extend(report.findings);
        let Tree::Map(entries) = root.tree else { return };
        let Some(items) = entries.into_iter().find(|entry| entry.key == "items") else { return };
        let Tree::List(items) = items.value.tree else { return };
        for item in items {
            self.read_root(item, Report::new(&file));
        }
    }

    /// Notes who a document is, what was found in it, and holds it back if that includes an error.
    fn lay_down(&mut self, report: Report<'_>, identity: Identity, place: &Place, restricts: bool) {
        if report.has_errors() {
            self.hold_back(&identity.kind, identity.full_name(), place);
            if restricts {
                self.hold_back_all(&identity.kind, place);
            }
        }
        self.findings.extend(report.findings);
        self.identities.push((identity, place.clone()));
    }

    fn ignore(&mut self, place: Place, message: String) {
        self.findings.push(Finding { severity: Severity::Notice, place, message });
    }

    /// Without this document something would be allowed that it forbids: nothing of the set is taken over.
    pub(super) fn hold_back_all(&mut self, kind: &str, place: &Place) {
        self.is_held_back = true;
        let message = messages::whole_set(kind);
        self.findings.push(Finding { severity: Severity::Error, place: place.clone(), message });
    }

    pub(super) fn hold_back(&mut self, kind: &str, name: Option<String>, place: &Place) {
        self.held_back.insert(HeldBack { kind: kind.to_owned(), name, place: place.clone() });
    }

    fn keep(&mut self, item: Item, place: &Place) {
        let place = place.clone();
        match item {
            Item::Stack(draft) => self.stacks.push((*draft, place)),
            Item::Source(draft) => self.sources.push((*draft, place)),
            Item::ServiceAccount(name, role) => {
                self.accounts.insert(name, role);
            }
            Item::ConfigMap(name, values) => self.config_maps.push(ConfigMapManifest { name, values, place }),
            Item::Provider(name, spec) => self.providers.push(DeclaredManifest { name, spec, place }),
            Item::Alert(name, spec, named_at) => {
                self.wanted_providers.push((spec.provider.clone(), named_at.in_file(&place.file)));
                self.alerts.push(DeclaredManifest { name, spec, place });
            }
            Item::Team(name, members) => self.teams.push(TeamManifest { name, members, place }),
            Item::Freeze(name, spec) => self.freezes.push(DeclaredManifest { name, spec, place }),
            Item::Nothing => {}
        }
    }

    fn finish(self) -> ManifestSet {
        let gaps = backend_gaps(&self.findings);
        let stack = |(draft, place): (StackDraft, Place)| StackManifest {
            digest: digest(&draft.root),
            backend_gap: backend_gap(&draft, &gaps),
            name: draft.name,
            spec: draft.spec,
            place,
        };
        let source = |(draft, place): (SourceDraft, Place)| SourceManifest {
            name: draft.name,
            spec: draft.spec,
            place,
        };
        let mut set = ManifestSet {
            stacks: self.stacks.into_iter().map(stack).collect(),
            sources: self.sources.into_iter().map(source).collect(),
            config_maps: self.config_maps,
            providers: self.providers,
            alerts: self.alerts,
            teams: self.teams,
            freezes: self.freezes,
            held_back: self.held_back.into_iter().collect(),
            is_held_back: self.is_held_back,
            findings: self.findings,
        };
        set.stacks.sort_by(|one, other| one.name.cmp(&other.name));
        set.sources.sort_by(|one, other| one.name.cmp(&other.name));
        set.config_maps.sort_by(|one, other| one.name.cmp(&other.name));
        set.providers.sort_by(|one, other| one.name.cmp(&other.name));
        set.alerts.sort_by(|one, other| one.name.cmp(&other.name));
        set.teams.sort_by(|one, other| one.name.cmp(&other.name));
        set.freezes.sort_by(|one, other| one.name.cmp(&other.name));
        set.findings.sort_by(|one, other| (&one.place, one.severity).cmp(&(&other.place, other.severity)));
        set
    }
}

pub(super) fn is_restriction(kind: &str) -> bool {
    RESTRICTIONS.contains(&kind)
}

/// Kinds whose documents forbid something: nothing is taken over without one that is there and cannot be read.
const RESTRICTIONS: [&str; 3] = ["Policy", "Team", "Freeze"];

/// Over the document as JSON with sorted keys; what Kubernetes writes into `status` aside.
fn digest(root: &Node) -> DocumentDigest {
    let mut text = String::new();
    write_sorted(root, &mut text);
    DocumentDigest::of(text.as_bytes())
}

fn write_sorted(node: &Node, text: &mut String) {
    match &node.tree {
        Tree::Map(entries) => {
            let sorted: BTreeMap<&str, &Node> =
                entries.iter().map(|entry| (entry.key.as_str(), &entry.value)).collect();
            text.push('{');
            for (key, value) in sorted.into_iter().filter(|(key, _)| *key != "status") {
                text.push_str(&Value::from(key).to_string());
                text.push(':');
                write_sorted(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Tree::List(items) => {
            text.push('[');
            for item in items {
                write_sorted(item, text);
                text.push(',');
            }
            text.push(']');
        }
        _ => text.push_str(&node.to_json().to_string()),
    }
}
