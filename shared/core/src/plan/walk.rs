//! Walking a JSON text that is too large to hold: objects and arrays stream, one member at a time is in memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Takes the members of an object one after another.
pub(crate) trait Members {
    /// Takes the value of `key` out of `map`, by one of [`MapAccess`]'s `next_value` functions. Exactly once.
    fn member<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;

    /// Hears that an object (`{`) or an array of objects (`[`) begins.
    fn open(&mut self, _bracket: char) {}

    /// Hears that it ends.
    fn close(&mut self, _bracket: char) {}
}

/// Streams an object into a [`Members`]; `null` is an empty object.
pub(crate) struct Object<'a, M>(pub &'a mut M);

impl<'de, M: Members> DeserializeSeed<'de> for Object<'_, M> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, M: Members> Visitor<'de> for Object<'_, M> {
    type Value = ();
    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.open('{');
        self.0.close('}');
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.open('{');
        while let Some(key) = map.next_key::<String>()? {
            self.0.member(&key, &mut map)?;
        }
        self.0.close('}');
        Ok(())
    }
}

/// Streams an array, the text of one element at a time; `null` is an empty array.
pub(crate) struct Elements<F>(pub F);

impl<'de, F: FnMut(&str) -> Result<(), serde_json::Error>> DeserializeSeed<'de> for Elements<F> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(&str) -> Result<(), serde_json::Error>> Visitor<'de> for Elements<F> {
    type Value = ();
    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array")
    }
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(raw) = items.next_element::<Box<RawValue>>()? {
            self.0(raw.get()).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// Streams an object of unknown keys, the text of one member at a time; `null` is an empty object.
pub(crate) struct Entries<F>(pub F);

impl<F: FnMut(&str, &str) -> Result<(), serde_json::Error>> Members for Entries<F> {
    fn member<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let raw = map.next_value::<Box<RawValue>>()?;
        self.0(key, raw.get()).map_err(A::Error::custom)
    }
}

/// Streams an array of objects, each into the same [`Members`]; `null` is an empty array.
pub(crate) struct Each<'a, M>(pub &'a mut M);

impl<'de, M: Members> DeserializeSeed<'de> for Each<'_, M> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, M: Members> Visitor<'de> for Each<'_, M> {
    type Value = ();
    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of objects")
    }
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.open('[');
        self.0.close(']');
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.open('[');
        while items.next_element_seed(Object(&mut *self.0))?.is_some() {}
        self.0.close(']');
        Ok(())
    }
}

/// Skips a member's value without holding it.
pub(crate) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}
