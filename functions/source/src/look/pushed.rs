//! Who pushed, as the hosts say whose webhooks were verified.

use yuba_core::id::CommitId;
use yuba_core::message::Cause;
use yuba_core::people::Identity;
use yuba_core::record::Key;
use yuba_core::source::Delivery;
use yuba_ports::records::{Versioned, load};
use yuba_ports::{PortError, Ports};

/// A push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pushed {
    /// The commit that the reference was moved to.
    pub(crate) commit: Option<CommitId>,
    /// Who pushed.
    pub(crate) who: String,
    /// Who says so.
    pub(crate) host: String,
}

impl Pushed {
    /// Who pushed, as rules count.
    pub(crate) fn identity(&self) -> Identity {
        Identity::login(&self.host, &self.who)
    }
}

/// The pushes that are among the causes of a look, where their host says who pushed.
pub(crate) async fn pushed(ports: &Ports, causes: &[&Cause]) -> Result<Vec<Pushed>, PortError> {
    let mut pushed = Vec::new();
    for cause in causes {
        let Cause::Delivery(id) = cause else { continue };
        let delivery = load::<Delivery>(ports.store.as_ref(), &Key::delivery(&id.0)).await?;
        let Some(Delivery { commit, pusher: Some(who), host, .. }) = delivery.map(Versioned::into_value)
        else {
            continue;
        };
        pushed.push(Pushed { commit, who, host });
    }
    Ok(pushed)
}
