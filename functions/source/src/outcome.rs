//! What became of a webhook delivery, written into its record: every accepted delivery ends in runs or in a recorded
//! reason for none.

use futures_util::future::try_join_all;
use yuba_core::id::DeliveryId;
use yuba_core::message::Cause;
use yuba_core::record::Key;
use yuba_core::source::Delivery;
use yuba_ports::records::update;
use yuba_ports::{PortError, Ports};

/// Notes in each delivery that caused a look what it came to. Several sources may share a delivery: each has a line that
/// begins with its name.
pub(crate) async fn note(ports: &Ports, causes: &[&Cause], whom: &str, what: &str) -> Result<(), PortError> {
    let ids = causes.iter().filter_map(|cause| match cause {
        Cause::Delivery(id) => Some(id),
        _ => None,
    });
    try_join_all(ids.map(|id| note_in(ports, id, whom, what))).await.map(drop)
}

async fn note_in(ports: &Ports, id: &DeliveryId, whom: &str, what: &str) -> Result<(), PortError> {
    let line = format!("{whom}: {what}");
    update::<Delivery, _>(ports.store.as_ref(), &Key::delivery(&id.0), |delivery| {
        let outcome = with_line(delivery.outcome.as_deref(), whom, &line);
        let changed = delivery.outcome.as_ref() != Some(&outcome);
        delivery.outcome = Some(outcome);
        changed
    })
    .await
    .map(drop)
}

fn with_line(outcome: Option<&str>, whom: &str, line: &str) -> String {
    let own = format!("{whom}: ");
    let others = outcome.into_iter().flat_map(str::lines).filter(|other| !other.starts_with(&own));
    let mut lines: Vec<&str> = others.collect();
    lines.push(line);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_source_has_its_line() {
        let first = with_line(None, "default/a", "default/a: nothing changed");
        let both = with_line(Some(&first), "default/b", "default/b: observation 2");
        let again = with_line(Some(&both), "default/a", "default/a: observation 3");
        assert_eq!(again, "default/b: observation 2\ndefault/a: observation 3");
    }
}
