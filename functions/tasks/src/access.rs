//! What an attempt may reach: its stack's role, its own objects, and for how long.

use std::collections::BTreeMap;

use secrecy::ExposeSecret as _;
use yuba_core::id::Phase;
use yuba_core::job::Job;
use yuba_core::task::{Lease, ObjectAccess};
use yuba_core::time::Timestamp;
use yuba_ports::{PortError, RoleSession};

use crate::state::TasksState;

/// Credentials of an attempt. Never stored.
pub(crate) struct Access {
    pub(crate) credentials: BTreeMap<String, String>,
    pub(crate) objects: ObjectAccess,
    pub(crate) lease: Option<Lease>,
}

/// Takes the role of the attempt's phase, and lets the attempt reach its objects.
pub(crate) async fn grant(state: &TasksState, job: &Job) -> Result<Access, PortError> {
    let assumed = state.ports.credentials.assume(&session(job)).await?;
    let objects = state.settings.objects.grant(job).await?;
    let lease = Lease::until(&[assumed.expire, end_of(&objects)], state.ports.clock.now());
    let exposed = |(name, value): (String, secrecy::SecretString)| (name, value.expose_secret().to_owned());
    Ok(Access { credentials: assumed.variables.into_iter().map(exposed).collect(), objects, lease })
}

fn end_of(objects: &ObjectAccess) -> Option<Timestamp> {
    match objects {
        ObjectAccess::Directory { .. } => None,
        ObjectAccess::Bucket(bucket) => bucket.expire,
    }
}

/// Plan, drift and preview act under the plan role, apply under the apply role.
fn session(job: &Job) -> RoleSession {
    let role = match job.attempt.phase {
        Phase::Plan => job.spec.roles.plan.clone(),
        Phase::Apply => job.spec.roles.apply.clone(),
    };
    RoleSession { role, stack: job.name.clone(), attempt: job.attempt, revision: job.revision.clone() }
}
