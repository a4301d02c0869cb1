//! Typed records over a [`Store`]: reading checks the schema, writing keeps what this version does not know.

use std::ops::{Deref, DerefMut};

use serde_json::{Map, Value};
use yuba_core::record::{Key, Record};

use crate::error::PortError;
use crate::store::{Committed, Cursor, Expected, Item, Query, Store, Write};

/// A record with the version it was read at, and what its body held that this version of Yuba does not know.
#[derive(Debug, Clone, PartialEq)]
pub struct Versioned<T> {
    value: T,
    version: Option<u64>,
    unknown: Map<String, Value>,
}

impl<T> Deref for Versioned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Versioned<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: Record> Versioned<T> {
    /// A record that does not lie in the store yet; writing it demands that it still does not.
    pub fn new(value: T) -> Self {
        Self { value, version: None, unknown: Map::new() }
    }

    /// Reads a stored record. The error names key and schema; it is permanent, since reading again changes nothing.
    pub fn from_item(item: Item) -> Result<Self, PortError> {
        let unreadable =
            |why: String| PortError::permanent(format!("record {} cannot be read: {why}", item.key));
        let schema = item.body.get("schema").and_then(Value::as_u64).unwrap_or(0);
        let current = u64::from(T::SCHEMA);
        if schema != current && schema + 1 != current {
            return Err(unreadable(format!("its schema is {schema}, this version reads up to {current}")));
        }
        let value: T = serde_json::from_value(item.body.clone())
            .map_err(|error| unreadable("its body is not of that schema".to_owned()).because(error))?;
        let known = body_of(&value)?;
        let unknown = match item.body {
            Value::Object(fields) => {
                fields.into_iter().filter(|(name, _)| !known.contains_key(name)).collect()
            }
            _ => Map::new(),
        };
        Ok(Self { value, version: Some(item.version), unknown })
    }

    /// The same record with another value; the store must still hold the version that was read.
    #[must_use]
    pub fn with(self, value: T) -> Self {
        Self { value, ..self }
    }

    /// The value alone.
    pub fn into_value(self) -> T {
        self.value
    }

    /// What the store must hold for a write to succeed.
    pub fn expected(&self) -> Expected {
        self.version.map_or(Expected::Absent, Expected::Version)
    }

    /// A conditional write of the record as it stands.
    pub fn put(&self) -> Result<Write, PortError> {
        put_expecting(&self.value, &self.unknown, self.expected())
    }
}

/// A write of a record, whatever is there before.
pub fn put_any<T: Record>(value: &T) -> Result<Write, PortError> {
    put_expecting(value, &Map::new(), Expected::Any)
}

fn put_expecting<T: Record>(
    value: &T,
    unknown: &Map<String, Value>,
    expected: Expected,
) -> Result<Write, PortError> {
    let mut body = body_of(value)?;
    for (name, field) in unknown {
        body.entry(name.clone()).or_insert_with(|| field.clone());
    }
    Ok(Write::Put { key: value.key(), expected, body: Value::Object(body), indexes: value.indexes() })
}

fn body_of<T: Record>(value: &T) -> Result<Map<String, Value>, PortError> {
    let unwritable = || PortError::permanent(format!("record {} cannot be written as JSON", value.key()));
    match serde_json::to_value(value) {
        Ok(Value::Object(mut body)) => {
            body.insert("schema".to_owned(), T::SCHEMA.into());
            Ok(body)
        }
        Ok(_) => Err(unwritable()),
        Err(error) => Err(unwritable().because(error)),
    }
}

/// Reads one record; `None` where there is none.
pub async fn load<T: Record>(store: &dyn Store, key: &Key) -> Result<Option<Versioned<T>>, PortError> {
    store.get(key).await?.map(Versioned::from_item).transpose()
}

/// Reads one page of records.
pub async fn page<T: Record>(
    store: &dyn Store,
    query: Query,
) -> Result<(Vec<Versioned<T>>, Option<Cursor>), PortError> {
    let page = store.query(query).await?;
    let records = page.items.into_iter().map(Versioned::from_item).collect::<Result<_, _>>()?;
    Ok((records, page.next))
}

/// Changes one record alone, again and again until no other writer gets in between. `change` says whether to write.
pub async fn update<T, F>(store: &dyn Store, key: &Key, mut change: F) -> Result<Option<T>, PortError>
where
    T: Record + Clone,
    F: FnMut(&mut T) -> bool,
{
    loop {
        let Some(mut record) = load::<T>(store, key).await? else { return Ok(None) };
        if !change(&mut record) || store.commit(vec![record.put()?]).await? == Committed::Done {
            return Ok(Some(record.into_value()));
        }
    }
}
