//! What a hash is made of: JSON without spaces, the keys of each object in the order of their bytes.

use serde::Serialize;
use serde_json::Value;

use crate::id::AuditHash;

/// Of what kind something is that is hashed; nothing of one kind can stand in another's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Entry,
    Anchor,
}

/// The hash of an entry or anchor over all it holds but the hash itself, and but the number of its form in a store.
pub(super) fn hash_of(kind: Kind, body: &Value) -> AuditHash {
    let mut text = match kind {
        Kind::Entry => "yuba audit entry 1\n".to_owned(),
        Kind::Anchor => "yuba audit anchor 1\n".to_owned(),
    };
    match body {
        Value::Object(fields) => {
            let hashed = fields.iter().filter(|(name, _)| !matches!(name.as_str(), "hash" | "schema"));
            write_object(hashed, &mut text);
        }
        other => write(other, &mut text),
    }
    AuditHash::of(text.as_bytes())
}

/// The JSON of a value. Entries and anchors hold nothing that JSON cannot say.
pub(super) fn body_of(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => write_object(fields.iter(), text),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

fn write_object<'a>(fields: impl Iterator<Item = (&'a String, &'a Value)>, text: &mut String) {
    let mut fields: Vec<_> = fields.collect();
    fields.sort_by_key(|(name, _)| *name);
    text.push('{');
    for (index, (name, value)) in fields.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push(':');
        write(value, text);
    }
    text.push('}');
}
