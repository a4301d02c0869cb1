//! The stacks that lie in a source: what the manifests say of them, and what was observed last.

use std::collections::BTreeMap;

use yuba_core::id::{SourceName, StackId, StackName};
use yuba_core::record::{Key, source_partition};
use yuba_core::source::{Definition, Observation};
use yuba_git::closure::StackPaths;
use yuba_ports::records::Versioned;
use yuba_ports::{PortError, Ports};

use crate::stored::{load_all, stack_edges};

/// A stack of a source.
pub(crate) struct StackThere {
    pub(crate) id: StackId,
    pub(crate) definition: Definition,
    pub(crate) observation: Option<Versioned<Observation>>,
}

impl StackThere {
    /// What of its settings its closure depends on.
    pub(crate) fn paths(&self) -> StackPaths {
        let spec = &self.definition.spec;
        StackPaths {
            path: spec.path.clone(),
            tf_vars_files: spec.tf_vars_files.clone(),
            triggers: spec.triggers.clone(),
        }
    }
}

/// All stacks of a source that the manifests still name.
pub(crate) async fn of_source(
    ports: &Ports,
    source: &SourceName,
) -> Result<BTreeMap<StackName, StackThere>, PortError> {
    let edges = stack_edges(ports, &source_partition(source)).await?;
    let ids: Vec<StackId> = edges.into_iter().map(|edge| edge.stack).collect();
    let keys = |key: fn(StackId) -> Key| ids.iter().map(|id| key(*id)).collect();
    let definitions = load_all::<Definition>(ports, keys(Key::definition)).await?;
    let observations = load_all::<Observation>(ports, keys(Key::observation)).await?;
    let there = definitions.into_iter().zip(observations).filter_map(|(definition, observation)| {
        let definition = definition?.into_value();
        let lies_here = definition.vanished.is_none() && definition.spec.source == *source;
        let id = definition.stack;
        lies_here.then(|| (definition.name.clone(), StackThere { id, definition, observation }))
    });
    Ok(there.collect())
}
