//! Which engine tasks will find: looked up for the greeting alone; each run settles on its own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use yuba_core::dialect::{TOOLS, binary};

/// The first engine on a `PATH`.
pub(crate) fn on_path(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let path = environment.get("PATH")?;
    TOOLS
        .into_iter()
        .flat_map(|tool| std::env::split_paths(path).map(move |directory| directory.join(binary(tool))))
        .find(|candidate| candidate.is_file())
}
