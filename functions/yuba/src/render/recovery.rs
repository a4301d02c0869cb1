//! What `yuba recover` would do.

use std::fmt::Write;

use yuba_api::wire::{RecoveryView, StateView};

use super::words::count;

/// The state that was left behind, and where it would go.
pub(crate) fn text(recovery: &RecoveryView) -> String {
    let RecoveryView { namespace, name, attempt, target, state } = recovery;
    let mut text = format!("{namespace}/{name}: {attempt} left a state behind that is not in its backend.\n");
    match state {
        Some(state) => text.push_str(&described(state)),
        None => text.push_str("What is stored of it cannot be read as a state; the engine will say why.\n"),
    }
    let _ = writeln!(text, "It would be pushed to: {target}");
    text.push_str(
        "The backend refuses it if its own state is newer or of another lineage. Then the stack is planned.\n",
    );
    text
}

fn described(state: &StateView) -> String {
    let mut text = format!("Serial {}, lineage {}", state.serial, state.lineage);
    let Some(resources) = &state.resources else {
        return text + "; it is encrypted, so what it manages cannot be shown.\n";
    };
    let _ = writeln!(text, ", {}", count(resources.len(), "resource"));
    for address in resources {
        let _ = writeln!(text, "    {address}");
    }
    text
}
