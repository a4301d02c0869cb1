//! Places of manifests.

use yuba_core::source::ManifestSetRecord;

use super::without_credentials;
use crate::wire::ManifestSetItem;

/// A place of manifests.
pub(crate) fn manifest_set(set: &ManifestSetRecord) -> ManifestSetItem {
    let (ready, status) = ready_and_status(set);
    ManifestSetItem {
        name: without_credentials(&set.name.0),
        ready: ready.to_owned(),
        status,
        errors: set.found.errors,
        warnings: set.found.warnings,
        notices: set.found.notices,
        snapshot: set.taken,
        findings: set.findings.clone(),
        due: set.due.map(|due| due.to_string()),
    }
}

/// READY and STATUS of a place of manifests.
pub(crate) fn ready_and_status(set: &ManifestSetRecord) -> (&'static str, String) {
    match (&set.failure, set.findings.first(), set.found.errors) {
        _ if set.due.is_none() => {
            ("Unknown", "Not configured any more; its stacks stay as they are".to_owned())
        }
        (Some(failure), ..) => ("False", failure.message.clone()),
        (None, Some(first), 1) => ("False", first.clone()),
        (None, Some(first), 2) => ("False", format!("{first} (and 1 more error)")),
        (None, Some(first), 3..) => ("False", format!("{first} (and {} more errors)", set.found.errors - 1)),
        _ if set.taken == 0 => ("Unknown", "Not read yet".to_owned()),
        _ => ("True", format!("Took over snapshot {}", set.taken)),
    }
}
