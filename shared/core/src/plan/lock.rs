//! Locks in a backend: what the engine says of one that it could not take.

use crate::run::LockHeld;

/// Reads `Lock Info:` from an error. Both engines write it alike:
///
/// ```text
/// Lock Info:
///   ID:        5f2a…
///   Path:      terraform.tfstate
///   Operation: OperationTypeApply
///   Who:       user@host
///   Version:   1.11.4
///   Created:   2026-11-30 08:25:57.123 +0000 UTC
///   Info:
/// ```
pub fn held(text: &str) -> Option<LockHeld> {
    let (message, info) = text.split_once("Lock Info:")?;
    if let Some((_, id)) = message.rsplit_once("already locked: ID=") {
        return somebodys(id);
    }
    let field = |name: &str| {
        let mut values = info.lines().filter_map(|line| line.trim().strip_prefix(name));
        values.next().map(|value| value.trim().to_owned()).unwrap_or_default()
    };
    let id = field("ID:");
    let held =
        LockHeld { id, who: field("Who:"), operation: field("Operation:"), created: field("Created:") };
    (!held.id.is_empty()).then_some(held)
}

/// A lock of which only the id is known. The `http` backend writes the lock that it asked for as `Lock Info:`, and of the
/// one that stands in its way the id alone: `HTTP remote state already locked: ID=7f-1`.
fn somebodys(message: &str) -> Option<LockHeld> {
    Some(LockHeld {
        id: message.split_whitespace().next()?.to_owned(),
        who: "somebody".to_owned(),
        operation: "an unknown operation".to_owned(),
        created: "an unknown time".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_read_with_its_holder() {
        let text = "state locked\nLock Info:\n  ID:        1-2\n  Path:      s\n  Operation: OperationTypePlan\n  \
                    Who:       a@b\n  Version:   1.11.4\n  Created:   2026-11-30 08:25:57 +0000 UTC\n  Info:      \n";
        let held = held(text).unwrap();
        assert_eq!((held.id.as_str(), held.who.as_str()), ("1-2", "a@b"));
        assert_eq!(held.created, "2026-11-30 08:25:57 +0000 UTC");
        assert_eq!(super::held("no lock"), None);
    }

    #[test]
    fn of_a_lock_in_an_http_backend_the_id_is_read_that_stands_in_the_way() {
        let text = "Error message: HTTP remote state already locked: ID=7f-1\nLock Info:\n  ID:        own\n  Who:       me\n";
        let held = held(text).unwrap();
        assert_eq!((held.id.as_str(), held.who.as_str()), ("7f-1", "somebody"));
    }
}
