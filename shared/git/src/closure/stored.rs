//! The index as bytes: zstd over JSON with a schema number. Whatever cannot be read is an empty index: it only spares
//! work.

use std::sync::Arc;

use gix::ObjectId;
use serde::{Deserialize, Serialize};

use super::carried::Carried;
use super::facts::FileFacts;
use super::hcl::Dialect;
use super::index::{Index, Memory};
use super::scan::Special;

/// Raised whenever the same blob could yield other facts: also when what is collected changes.
const SCHEMA: u32 = 2;

/// More than this is forgotten when it is stored; working it out again costs seconds.
const MOST_FILES: usize = 2_000_000;

/// A stored index is never larger; a damaged one could claim any size.
const LARGEST: usize = 1 << 30;

const ID: usize = 20;

#[derive(Serialize, Deserialize)]
struct Stored {
    schema: u32,
    /// Files that say nothing: ids in hexadecimal, one after the other, HCL then JSON.
    quiet: [String; 2],
    /// Files that say something.
    files: Vec<(String, bool, FileFacts)>,
    /// Trees below which nothing needs care: ids in hexadecimal, one after the other.
    plain: String,
    /// Trees below which something does.
    trees: Vec<(String, Vec<Special>)>,
    /// The closures of the tree that was looked at last.
    carried: Carried,
}

impl Index {
    /// The index as bytes, to be kept beside the cache; equal for equal content.
    pub fn to_bytes(&self) -> Vec<u8> {
        if self.memory.files.len() > MOST_FILES {
            return Vec::new();
        }
        // Both can only fail for want of memory, which ends the process by itself.
        let json = serde_json::to_vec(&stored(self)).unwrap_or_default();
        zstd::bulk::compress(&json, 1).unwrap_or_default()
    }

    /// The index of such bytes; an empty one where they are damaged or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        restored(bytes).unwrap_or_default()
    }
}

fn stored(Index { memory, carried }: &Index) -> Stored {
    let mut quiet: [Vec<ObjectId>; 2] = [Vec::new(), Vec::new()];
    let mut files = Vec::new();
    for ((id, dialect), facts) in &memory.files {
        let json = *dialect == Dialect::Json;
        if !facts.is_empty() {
            files.push((id.to_string(), json, facts.as_ref().clone()));
        } else if let Some(list) = quiet.get_mut(usize::from(json)) {
            list.push(*id);
        }
    }
    let mut plain = Vec::new();
    let mut trees = Vec::new();
    for (id, specials) in &memory.specials {
        if specials.is_empty() {
            plain.push(*id);
        } else {
            trees.push((id.to_string(), specials.to_vec()));
        }
    }
    files.sort_unstable_by(|left, right| (&left.0, left.1).cmp(&(&right.0, right.1)));
    trees.sort_unstable_by(|left, right| left.0.cmp(&right.0));
    Stored {
        schema: SCHEMA,
        quiet: quiet.map(packed),
        files,
        plain: packed(plain),
        trees,
        carried: carried.clone(),
    }
}

fn restored(bytes: &[u8]) -> Option<Index> {
    let size = usize::try_from(zstd::zstd_safe::get_frame_content_size(bytes).ok()??).ok()?;
    let json = zstd::bulk::decompress(bytes, size.min(LARGEST)).ok()?;
    let stored: Stored = serde_json::from_slice(&json).ok()?;
    if stored.schema != SCHEMA {
        return None;
    }
    let nothing = Arc::new(FileFacts::default());
    let mut memory = Memory::default();
    for (ids, dialect) in stored.quiet.iter().zip([Dialect::Hcl, Dialect::Json]) {
        memory.files.extend(unpacked(ids)?.into_iter().map(|id| ((id, dialect), Arc::clone(&nothing))));
    }
    for (id, json, facts) in stored.files {
        let dialect = if json { Dialect::Json } else { Dialect::Hcl };
        memory.files.insert((ObjectId::from_hex(id.as_bytes()).ok()?, dialect), Arc::new(facts));
    }
    let empty: Arc<[Special]> = Arc::from([]);
    memory.specials.extend(unpacked(&stored.plain)?.into_iter().map(|id| (id, Arc::clone(&empty))));
    for (id, specials) in stored.trees {
        memory.specials.insert(ObjectId::from_hex(id.as_bytes()).ok()?, specials.into());
    }
    Some(Index { memory, carried: stored.carried })
}

fn packed(mut ids: Vec<ObjectId>) -> String {
    ids.sort_unstable();
    let bytes: Vec<u8> = ids.iter().flat_map(|id| id.as_slice().iter().copied()).collect();
    hex::encode(bytes)
}

fn unpacked(text: &str) -> Option<Vec<ObjectId>> {
    let bytes = hex::decode(text).ok()?;
    bytes.chunks(ID).map(|id| ObjectId::try_from(id).ok()).collect()
}
