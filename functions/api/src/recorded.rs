//! Why a stack was planned, from the records alone: for an API that has no repositories.

use async_trait::async_trait;
use yuba_core::id::StackName;
use yuba_core::run::Run;
use yuba_core::why::Why;
use yuba_ports::{Ports, explained};

use crate::explain::{Explain, Unexplained};

/// The fewest letters of a commit that name it.
const SHORTEST: usize = 7;

/// Says what runs were made for; what a revision changed that none was made of, only its repository knows.
pub struct RecordedWhy {
    ports: Ports,
}

impl RecordedWhy {
    /// An answer from the records of these ports.
    pub fn new(ports: Ports) -> Self {
        Self { ports }
    }
}

#[async_trait]
impl Explain for RecordedWhy {
    async fn why(&self, stack: &StackName, revision: Option<&str>) -> Result<Why, Unexplained> {
        let store = &*self.ports.store;
        let Some(definition) = explained::definition(store, stack).await? else {
            return Err(Unexplained::Unknown(format!("there is no stack {stack}")));
        };
        let Some(revision) = revision else { return Ok(explained::newest_run(store, &definition).await?) };
        let run = explained::run_where(store, definition.stack, |run| is_of(run, revision)).await?;
        run.map(|run| explained::made_for(run, Vec::new())).ok_or_else(|| {
            Unexplained::NotHere(format!(
                "no run of {stack} was made of `{revision}`, and what it changed is told by its repository, which this \
                 API has none of: in a clone of it, `yuba try` says what a commit would plan"
            ))
        })
    }
}

/// Whether a run is of a revision: whole, its branch, its commit or the beginning of that.
fn is_of(run: &Run, revision: &str) -> bool {
    let of = &run.revision;
    let is_commit = revision.len() >= SHORTEST && of.commit.as_str().starts_with(revision);
    is_commit || of.reference == revision || of.to_string() == revision
}
