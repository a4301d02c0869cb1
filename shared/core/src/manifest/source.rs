//! From a `GitRepository` document that has the right form to the settings of a source.

use super::fields::{self, Lot};
use super::finding::Severity;
use super::messages;
use super::report::Report;
use super::stack::DEFAULT_NAMESPACE;
use super::wire::source::{GitRepositoryDocument, GitRepositoryRef};
use super::yaml::Node;
use crate::id::{SecretName, SourceName};
use crate::spec::{GitReference, NotApplied, SourceSpec};

/// A source, and what of it does not work yet and concerns its stacks.
#[derive(Debug)]
pub(super) struct SourceDraft {
    pub(super) name: SourceName,
    pub(super) spec: SourceSpec,
    pub(super) not_applied: Vec<NotApplied>,
}

/// Makes the settings of a document, and reports what is wrong with them or worth knowing.
pub(super) fn read(root: &Node, document: GitRepositoryDocument, report: &mut Report<'_>) -> SourceDraft {
    let GitRepositoryDocument { metadata, spec, .. } = document;
    let namespace = metadata.namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
    let name = SourceName::new(namespace, metadata.name);
    if spec.url.split_once("://").and_then(|(_, rest)| rest.split('/').next()).is_some_and(holds_password) {
        report.say(Severity::Warning, root.spot_of("spec.url"), messages::credentials_in_url());
    }
    let not_applied = list_unapplied(root, &name, report);
    let reference = reference(root, spec.reference.unwrap_or_default(), report);
    let secret = spec.secret_ref.map(|secret| SecretName::new(name.namespace.clone(), secret.name));
    let suspend = spec.suspend.unwrap_or_default();
    let spec = SourceSpec { url: spec.url, reference, interval: spec.interval, secret, suspend };
    SourceDraft { name, spec, not_applied }
}

fn holds_password(authority: &str) -> bool {
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

/// Flux's precedence: commit, name, semver, tag, branch; `master` where none is given.
fn reference(root: &Node, wire: GitRepositoryRef, report: &mut Report<'_>) -> GitReference {
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let semver = given(wire.semver);
    if let Some(commit) = given(wire.commit) {
        return GitReference::Commit(commit.to_ascii_lowercase());
    }
    if let Some(name) = given(wire.name) {
        return GitReference::Name(name);
    }
    if semver.is_some() {
        report.say(Severity::Error, root.spot_of("spec.ref.semver"), messages::semver_source());
    }
    match (given(wire.tag), given(wire.branch)) {
        (Some(tag), _) => GitReference::Tag(tag),
        (None, Some(branch)) => GitReference::Branch(branch),
        (None, None) => GitReference::Branch("master".to_owned()),
    }
}

fn list_unapplied(root: &Node, name: &SourceName, report: &mut Report<'_>) -> Vec<NotApplied> {
    let mut unapplied = Vec::new();
    for (path, field) in fields::unapplied(fields::SOURCE, root) {
        let matters = field.lot == Lot::Matters;
        let message = messages::not_applied_of_source(&path, field.why, matters);
        report.say(Severity::Notice, root.spot_of(&path), message);
        if matters {
            unapplied.push(NotApplied { field: format!("{path} of GitRepository {name}"), matters });
        }
    }
    unapplied
}
