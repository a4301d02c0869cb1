//! YAML as a tree in which everything knows its place.
//!
//! What reads it is in `parse`.

use serde_json::Number;

use super::finding::Spot;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) spot: Spot,
    pub(super) tree: Tree,
}

/// The values of YAML that JSON knows too.
#[derive(Debug, Clone)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key of a mapping and its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_spot: Spot,
    pub(super) value: Node,
}

/// What is wrong at a spot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) spot: Spot,
    pub(super) message: String,
}

/// One document of a file; without a root if it is not YAML at all.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) root: Option<Node>,
    pub(super) faults: Vec<Fault>,
    /// The part of the file that it was cut from, where it has no root.
    pub(super) text: String,
}

impl Tree {
    /// The same value without its places.
    pub(super) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(value) => (*value).into(),
            Self::Number(value) => serde_json::Value::Number(value.clone()),
            Self::Text(value) => value.as_str().into(),
            Self::List(items) => items.iter().map(Node::to_json).collect(),
            Self::Map(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect()
            }
        }
    }
}

impl Node {
    /// The same value without its places.
    pub(super) fn to_json(&self) -> serde_json::Value {
        self.tree.to_json()
    }

    /// The entry under a key, if this is a mapping that has it.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.tree {
            Tree::Map(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// The value under a key, unless it is null.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value).filter(|node| !matches!(node.tree, Tree::Null))
    }

    /// The text under a key.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.tree {
            Tree::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Where the field of a path such as `spec.dependsOn[1].name` stands, or else what is nearest above it.
    pub(super) fn spot_of(&self, path: &str) -> Spot {
        let mut node = self;
        for part in path.split(['.', '[']) {
            let next = match (&node.tree, part.strip_suffix(']')) {
                (Tree::List(items), Some(index)) => {
                    index.parse().ok().and_then(|index: usize| items.get(index))
                }
                _ => node.entry(part).map(|entry| &entry.value),
            };
            let Some(next) = next else { break };
            node = next;
        }
        node.spot
    }

    /// How much this is with all that lies in it.
    pub(super) fn extent(&self) -> Extent {
        match &self.tree {
            Tree::Text(text) => Extent { bytes: text.len(), ..Extent::SCALAR },
            Tree::List(items) => Extent::around(items.iter().map(Self::extent)),
            Tree::Map(entries) => Extent::around(entries.iter().map(|entry| {
                let value = entry.value.extent();
                Extent { bytes: value.bytes + entry.key.len(), ..value }
            })),
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => Extent::SCALAR,
        }
    }
}

/// How much a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// How many values.
    pub(super) values: usize,
    /// How many bytes of text.
    pub(super) bytes: usize,
    /// How deep lists and mappings lie in each other.
    pub(super) depth: usize,
}

impl Extent {
    const SCALAR: Self = Self { values: 1, bytes: 0, depth: 0 };

    fn around(inner: impl Iterator<Item = Self>) -> Self {
        inner.fold(Self { depth: 1, ..Self::SCALAR }, |all, one| Self {
            values: all.values + one.values,
            bytes: all.bytes + one.bytes,
            depth: all.depth.max(one.depth + 1),
        })
    }
}
