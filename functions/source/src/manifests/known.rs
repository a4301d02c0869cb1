//! The stacks that a set held before, with what was taken over of each.

use std::collections::BTreeMap;

use yuba_core::id::{ManifestSetName, StackId, StackName};
use yuba_core::record::{Key, manifests_partition};
use yuba_core::source::Definition;
use yuba_ports::records::Versioned;
use yuba_ports::{PortError, Ports};

use crate::stored::{load_all, stack_edges};

/// The stacks that a set holds or held, by name.
pub(super) struct Known {
    /// Their definitions, of other sets too where a stack has moved there.
    pub(super) definitions: BTreeMap<StackName, Versioned<Definition>>,
}

impl Known {
    /// Reads them.
    pub(super) async fn load(ports: &Ports, set: &ManifestSetName) -> Result<Self, PortError> {
        let edges = stack_edges(ports, &manifests_partition(set)).await?;
        let ids: Vec<StackId> = edges.into_iter().map(|edge| edge.stack).collect();
        let keys = ids.into_iter().map(Key::definition).collect();
        let definitions = load_all::<Definition>(ports, keys).await?;
        let by_name = definitions.into_iter().flatten().map(|known| (known.name.clone(), known));
        Ok(Self { definitions: by_name.collect() })
    }
}
