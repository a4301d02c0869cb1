//! Writes the config maps of a set, and wakes the stacks that read one whose values changed.

use std::collections::BTreeMap;

use secrecy::SecretString;
use yuba_core::decide::values_name;
use yuba_core::id::SecretName;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::{Edge, readers_partition};
use yuba_core::spec::ValuesKind;
use yuba_ports::records::page;
use yuba_ports::{Order, PortError, Query};

use super::Taking;

/// How many readers are woken at once.
const PAGE: usize = 100;

impl Taking<'_> {
    /// Writes them. What comes back is noted in the set's record after the last message: until then readers are woken
    /// again.
    pub(super) async fn take_values(&mut self) -> Result<BTreeMap<String, String>, PortError> {
        let mut versions = BTreeMap::new();
        for map in &self.set.config_maps {
            let values =
                map.values.iter().map(|(key, value)| (key.clone(), SecretString::from(value.clone())));
            self.ports.secrets.put(ValuesKind::ConfigMap, &map.name, values.collect()).await?;
            let version = self.ports.secrets.version(ValuesKind::ConfigMap, &map.name).await?;
            let version = version.unwrap_or_default();
            if self.record.values.get(&map.name.to_string()) != Some(&version) {
                self.wake_readers(&map.name, &version).await?;
            }
            versions.insert(map.name.to_string(), version);
        }
        Ok(versions)
    }

    async fn wake_readers(&self, map: &SecretName, version: &str) -> Result<(), PortError> {
        let cause =
            Cause::Values { name: values_name(ValuesKind::ConfigMap, map), version: version.to_owned() };
        let mut after = None;
        loop {
            let (partition, prefix) = (readers_partition(map), String::new());
            let query = Query::Partition { partition, prefix, order: Order::Ascending, after, limit: PAGE };
            let (edges, next) = page::<Edge>(self.ports.store.as_ref(), query).await?;
            let messages: Vec<Message> =
                edges.iter().map(|edge| Message::new(Wake::Stack(edge.stack), cause.clone())).collect();
            if !messages.is_empty() {
                self.ports.queue.send(messages).await?;
            }
            match next {
                None => return Ok(()),
                next => after = next,
            }
        }
    }
}
