//! Locks in a backend: what the engine says of one that it could not take.

use yuba_core::run::LockHeld;

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
pub(crate) fn held(text: &str) -> Option<LockHeld> {
    let (_, info) = text.split_once("Lock Info:")?;
    let field = |name: &str| {
        let mut values = info.lines().filter_map(|line| line.trim().strip_prefix(name));
        values.next().map(|value| value.trim().to_owned()).unwrap_or_default()
    };
    let id = field("ID:");
    let held =
        LockHeld { id, who: field("Who:"), operation: field("Operation:"), created: field("Created:") };
    (!held.id.is_empty()).then_some(held)
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
}
