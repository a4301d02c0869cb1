//! Locks in a backend: what the engine says of one that it could not take.

use crate::run::LockHeld;
use crate::time::Timestamp;

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

/// A time as engines and backends write it: RFC 3339, or as Go prints it, `2026-11-30 21:57:17.709156091 +0000 UTC`.
pub fn written_time(text: &str) -> Option<Timestamp> {
    let parts: Vec<&str> = text.split_whitespace().collect();
    let rfc_3339 = match parts.as_slice() {
        [date, time, offset, ..] => {
            let (hours, minutes) = offset.split_at_checked(3)?;
            format!("{date}T{time}{hours}:{minutes}")
        }
        _ => text.to_owned(),
    };
    let at: jiff::Timestamp = rfc_3339.parse().ok()?;
    Some(Timestamp(at.as_millisecond()))
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

    #[test]
    fn the_age_of_a_lock_is_told_where_its_time_can_be_read() {
        let lock = |created: &str| LockHeld {
            id: "1-2".to_owned(),
            who: "a@b".to_owned(),
            operation: "OperationTypePlan".to_owned(),
            created: created.to_owned(),
        };
        let now = Timestamp(1_796_027_157_000);
        for created in [
            "2026-11-30 07:25:45.709156091 +0000 UTC",
            "2026-11-30 08:25:45 +0100 CET m=+0.1",
            "2026-11-30T07:25:45Z",
        ] {
            let says = "held by a@b for OperationTypePlan since 2026-11-30T07:25:45Z, 1h ago";
            assert_eq!(lock(created).words(now), says, "{created}");
        }
        let unknown = lock("an unknown time");
        assert_eq!(unknown.words(now), "held by a@b for OperationTypePlan since an unknown time");
    }
}
