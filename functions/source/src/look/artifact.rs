//! The artifact of a revision: its whole tree, packed once, stored under its tree id before any stack is woken for it.
//! One that an attempt found missing or damaged is stored again.

use yuba_core::attempt::{Attempt, AttemptReport};
use yuba_core::id::AttemptId;
use yuba_core::job::artifact_object;
use yuba_core::record::Key;
use yuba_core::run::FailureClass;
use yuba_core::source::Source;
use yuba_ports::records::load;
use yuba_ports::{PortError, Ports, PutMode};

use crate::git::Checkout;
use crate::report::Report;
use crate::settings::SourceSettings;

/// Makes sure that the tree's artifact lies there.
pub(super) async fn store(ports: &Ports, fetched: &dyn Checkout) -> Result<(), PortError> {
    let tree = fetched.tree();
    if ports.blobs.exists(&artifact_object(tree)).await? {
        return Ok(());
    }
    fetched.store(tree, ports.blobs.as_ref(), PutMode::CreateOnly).await
}

/// Stores the artifact again that an attempt reports as missing or damaged. Where that cannot be done now, the run is
/// tried again all the same, and asks again.
pub(super) async fn store_again(
    ports: &Ports,
    settings: &SourceSettings,
    source: &Source,
    id: AttemptId,
) -> Result<Report, PortError> {
    let attempt = load::<Attempt>(ports.store.as_ref(), &Key::attempt(id)).await?;
    let lacks = |attempt: &Attempt| matches!(&attempt.report, Some(AttemptReport::Failed(failure)) if failure.class == FailureClass::Artifact);
    let Some(attempt) = attempt.filter(|attempt| lacks(attempt)) else {
        return Ok(Report::Nothing(format!("attempt {id} does not lack its code")));
    };
    let (tree, revision) = (&attempt.job.tree, &attempt.job.revision);
    let fetched = match super::fetch(ports, settings, source).await? {
        Ok(fetched) => fetched,
        Err(trouble) => return Ok(not_again(&revision.to_string(), &trouble.message)),
    };
    Ok(match fetched.store(tree, ports.blobs.as_ref(), PutMode::Replace).await {
        Ok(()) => Report::StoredAgain(revision.clone()),
        Err(error) => not_again(&revision.to_string(), &error.what),
    })
}

fn not_again(revision: &str, why: &str) -> Report {
    tracing::warn!(revision, why, "code that is missing or damaged could not be stored again");
    Report::Nothing(format!("the code of {revision} could not be stored again: {why}"))
}
