//! A JSON value that keeps every number as it was written.
//!
//! `serde_json::Value` holds numbers as 64-bit integers or floats; providers have ids of 30 digits and decimals
//! that must not change between what is planned, what is shown and what is digested. The tree is read from text
//! that `serde_json` has already checked.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

/// Deeper than any configuration nests; a text that goes further is refused before it exhausts the stack.
const DEEPEST: usize = 128;

static NULL: Datum = Datum::Null;

/// A JSON value with exact numbers and sorted keys. `Display` writes the canonical form: compact, keys in byte
/// order, numbers as they were written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Datum {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, by its text.
    Number(String),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Datum>),
    /// An object.
    Map(BTreeMap<String, Datum>),
}

impl Datum {
    /// Reads a JSON text; the error says where it is not JSON, or that it nests deeper than 128 levels.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        Self::parse_at(text, 0)
    }

    fn parse_at(text: &str, depth: usize) -> Result<Self, serde_json::Error> {
        if depth > DEEPEST {
            return Err(serde::de::Error::custom("values nest deeper than 128 levels"));
        }
        let text = text.trim();
        match text.bytes().next() {
            Some(b'{') => {
                let members: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
                let parsed =
                    members.into_iter().map(|(key, raw)| Ok((key, Self::parse_at(raw.get(), depth + 1)?)));
                parsed.collect::<Result<_, _>>().map(Self::Map)
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(text)?;
                let parsed = items.into_iter().map(|raw| Self::parse_at(raw.get(), depth + 1));
                parsed.collect::<Result<_, _>>().map(Self::List)
            }
            Some(b'"') => serde_json::from_str(text).map(Self::Text),
            Some(b'-' | b'0'..=b'9') => {
                serde_json::from_str::<&RawValue>(text).map(|raw| Self::Number(raw.get().to_owned()))
            }
            Some(b'n') => serde_json::from_str::<()>(text).map(|()| Self::Null),
            _ => serde_json::from_str(text).map(Self::Bool),
        }
    }

    /// The member of an object; `Null` where there is none.
    pub fn get(&self, key: &str) -> &Self {
        match self {
            Self::Map(members) => members.get(key).unwrap_or(&NULL),
            _ => &NULL,
        }
    }

    /// The element of an array; `Null` where there is none.
    pub fn at(&self, index: usize) -> &Self {
        match self {
            Self::List(items) => items.get(index).unwrap_or(&NULL),
            _ => &NULL,
        }
    }

    /// The text of a string.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of an array; none where it is something else.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Of a tree of marks (`after_sensitive`, `after_unknown`): whether all of the value is marked.
    pub fn marks_all(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    /// Of a tree of marks: whether any part of the value is marked.
    pub fn marks_any(&self) -> bool {
        match self {
            Self::Bool(marked) => *marked,
            Self::List(items) => items.iter().any(Self::marks_any),
            Self::Map(members) => members.values().any(Self::marks_any),
            _ => false,
        }
    }

    /// Of a tree of marks: only what is marked. Engines write `false`, `{}` or nothing for the same.
    pub(crate) fn pruned_marks(&self) -> Self {
        match self {
            _ if !self.marks_any() => Self::Null,
            Self::List(items) => Self::List(items.iter().map(Self::pruned_marks).collect()),
            Self::Map(members) => {
                let kept = members.iter().filter(|(_, marks)| marks.marks_any());
                Self::Map(kept.map(|(key, marks)| (key.clone(), marks.pruned_marks())).collect())
            }
            other => other.clone(),
        }
    }
}

impl fmt::Display for Datum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Bool(value) => write!(formatter, "{value}"),
            Self::Number(text) => formatter.write_str(text),
            Self::Text(text) => write_string(formatter, text),
            Self::List(items) => write_list(formatter, items),
            Self::Map(members) => write_map(formatter, members),
        }
    }
}

/// As plain JSON with exact numbers, where the format is `serde_json`'s text.
impl Serialize for Datum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.to_string()).map_err(ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Datum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(de::Error::custom)
    }
}

fn write_string(formatter: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    formatter.write_str(&serde_json::to_string(text).map_err(|_| fmt::Error)?)
}

fn write_list(formatter: &mut fmt::Formatter<'_>, items: &[Datum]) -> fmt::Result {
    formatter.write_str("[")?;
    for (index, item) in items.iter().enumerate() {
        formatter.write_str(if index == 0 { "" } else { "," })?;
        write!(formatter, "{item}")?;
    }
    formatter.write_str("]")
}

fn write_map(formatter: &mut fmt::Formatter<'_>, members: &BTreeMap<String, Datum>) -> fmt::Result {
    formatter.write_str("{")?;
    for (index, (key, value)) in members.iter().enumerate() {
        formatter.write_str(if index == 0 { "" } else { "," })?;
        write_string(formatter, key)?;
        formatter.write_str(":")?;
        write!(formatter, "{value}")?;
    }
    formatter.write_str("}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_as_they_were_written_and_keys_are_sorted() {
        let text = r#" {"z": 123456789012345678901234567890, "a": [1.10, -0, 1e400, "\u00e9\n"]} "#;
        let datum = Datum::parse(text).unwrap();
        insta::assert_snapshot!(datum, @r#"{"a":[1.10,-0,1e400,"é\n"],"z":123456789012345678901234567890}"#);
        assert_eq!(Datum::parse(&datum.to_string()).unwrap(), datum);
    }

    #[test]
    fn what_is_not_json_is_an_error_and_so_is_a_bottomless_nest() {
        for text in ["", "{", "[1,]", "01", "nul", "\"a", "truee", &"[".repeat(5000)] {
            assert!(Datum::parse(text).is_err(), "{text:.20}");
        }
        let nest = format!("{}{}", "[".repeat(300), "]".repeat(300));
        assert!(Datum::parse(&nest).unwrap_err().to_string().contains("128 levels"));
    }

    #[test]
    fn marks_that_say_nothing_are_pruned() {
        let marks = Datum::parse(r#"{"a":false,"b":{},"c":[false,true],"d":{"e":true,"f":[]}}"#).unwrap();
        insta::assert_snapshot!(marks.pruned_marks(), @r#"{"c":[null,true],"d":{"e":true}}"#);
    }
}
