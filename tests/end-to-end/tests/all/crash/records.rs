//! The records of a data directory as they lie in its database, whether a server runs on it or not.

use std::collections::BTreeMap;
use std::path::Path;

use tokio::runtime::Runtime;
use yuba_core::attempt::Attempt;
use yuba_core::event::Event;
use yuba_core::id::{AttemptId, RunId, StackId};
use yuba_core::record::{Index, Key, Record};
use yuba_core::run::Run;
use yuba_core::source::Delivery;
use yuba_core::stack::Stack;
use yuba_local::{Database, LocalStore};
use yuba_ports::records::{Versioned, load, page};
use yuba_ports::{Order, Query};

/// All that the oracles look at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Records {
    pub(crate) stacks: BTreeMap<StackId, Stack>,
    pub(crate) runs: BTreeMap<RunId, Run>,
    pub(crate) attempts: BTreeMap<AttemptId, Attempt>,
    pub(crate) events: BTreeMap<(StackId, u64), Event>,
    pub(crate) deliveries: BTreeMap<String, Delivery>,
}

impl Records {
    /// Reads them, with those deliveries.
    pub(crate) fn read(data: &Path, deliveries: &[String]) -> Self {
        let store = LocalStore::new(Database::open(&data.join("yuba.db")).unwrap());
        let runtime = Runtime::new().unwrap();
        runtime.block_on(Self::of(&store, deliveries))
    }

    async fn of(store: &LocalStore, deliveries: &[String]) -> Self {
        let mut records = Self::default();
        // Stacks last: what they count has been written before them.
        for run in listed::<Run>(store, Index::Runs).await {
            for note in &run.attempts {
                let attempt = one::<Attempt>(store, &Key::attempt(note.id)).await;
                records.attempts.extend(attempt.map(|attempt| (note.id, attempt)));
            }
            records.runs.insert(run.id, run);
        }
        for event in listed::<Event>(store, Index::Events).await {
            records.events.insert((event.stack, event.number), event);
        }
        for id in deliveries {
            let delivery = one::<Delivery>(store, &Key::delivery(id)).await;
            records.deliveries.extend(delivery.map(|delivery| (id.clone(), delivery)));
        }
        let stacks = listed::<Stack>(store, Index::Stacks).await;
        records.stacks = stacks.into_iter().map(|stack| (stack.id, stack)).collect();
        records
    }
}

async fn one<T: Record>(store: &LocalStore, key: &Key) -> Option<T> {
    load::<T>(store, key).await.unwrap().map(Versioned::into_value)
}

async fn listed<T: Record>(store: &LocalStore, index: Index) -> Vec<T> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let (prefix, up_to, order, limit) = (String::new(), None, Order::Ascending, 500);
        let query = Query::Index { index, prefix, up_to, order, after, limit };
        let (some, next) = page::<T>(store, query).await.unwrap();
        all.extend(some.into_iter().map(Versioned::into_value));
        match next {
            Some(next) => after = Some(next),
            None => return all,
        }
    }
}
