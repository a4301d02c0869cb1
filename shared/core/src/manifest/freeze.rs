//! From a `Freeze` document that has the right form to what it freezes, and when.

use super::approval::{judge_windows, windows};
use super::finding::Severity;
use super::messages;
use super::report::Report;
use super::stack::DEFAULT_NAMESPACE;
use super::wire::freeze::{FreezeDocument, FrozenStacks};
use super::yaml::Node;
use crate::freeze::{Covered, FreezeSpec};
use crate::id::{InvalidId, ObjectName};
use crate::time::Timestamp;

/// The freeze that a document names, and what it says.
pub(super) fn read(
    root: &Node,
    document: FreezeDocument,
    report: &mut Report<'_>,
) -> Result<(ObjectName, FreezeSpec), InvalidId> {
    let FreezeDocument { metadata, spec: wire, .. } = document;
    let namespace = metadata.namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
    judge_windows(root, "spec.windows", wire.windows.as_deref(), report);
    let point = |text: Option<String>| text.map(|text| text.parse::<Timestamp>()).transpose();
    let (from, until) = (point(wire.from)?, point(wire.until)?);
    if from.zip(until).is_some_and(|(from, until)| from >= until) {
        report.say(
            Severity::Error,
            root.spot_of("spec.until"),
            messages::ends_before_it_begins("spec.until"),
        );
    }
    let covered = |wire: FrozenStacks| Covered {
        name: wire.name.unwrap_or_else(|| "*".to_owned()),
        namespace: wire.namespace.unwrap_or_else(|| namespace.clone()),
        labels: wire.match_labels.unwrap_or_default(),
    };
    let spec = FreezeSpec {
        reason: wire.reason.unwrap_or_default(),
        from,
        until,
        windows: windows(wire.windows)?,
        stacks: wire.stacks.unwrap_or_default().into_iter().map(covered).collect(),
    };
    Ok((ObjectName::new(namespace, metadata.name), spec))
}
