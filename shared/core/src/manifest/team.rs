//! From a `Team` document that has the right form to the people it names.

use std::collections::BTreeSet;

use super::fields;
use super::finding::Severity;
use super::messages;
use super::report::Report;
use super::stack::DEFAULT_NAMESPACE;
use super::wire::team::{TeamDocument, TeamMember};
use super::yaml::Node;
use crate::id::ObjectName;
use crate::people::{Identity, Member};

/// The team that a document names, and its members.
pub(super) fn read(
    root: &Node,
    document: TeamDocument,
    report: &mut Report<'_>,
) -> (ObjectName, Vec<Member>) {
    let TeamDocument { metadata, spec, .. } = document;
    let namespace = metadata.namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
    for (path, field) in fields::unapplied(fields::TEAM, root) {
        report.say(Severity::Notice, root.spot_of(&path), messages::not_applied(&path, field.why, false));
    }
    for (index, member) in spec.members.iter().enumerate() {
        if identities(member).is_empty() && member.oidc_group.is_none() {
            let path = format!("spec.members[{index}]");
            report.say(Severity::Error, root.spot_of(&path), messages::nobody(&path));
        }
    }
    let members = spec.members.into_iter().filter_map(|wire| {
        let identities = identities(&wire);
        (!identities.is_empty()).then_some(Member { name: wire.name, identities })
    });
    (ObjectName::new(namespace, metadata.name), members.collect())
}

fn identities(wire: &TeamMember) -> BTreeSet<Identity> {
    let logins = wire.logins.iter().flatten().map(|(host, login)| Identity::login(host, login));
    let email = wire.email.as_deref().map(Identity::email);
    let slack = wire.slack.as_deref().map(Identity::slack);
    let arn = wire.iam_arn.clone().map(Identity::IamArn);
    logins.chain(email).chain(slack).chain(arn).collect()
}
