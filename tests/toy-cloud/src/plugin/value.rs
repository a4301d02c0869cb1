//! Values as tofu sends them: JSON, and the unknown. On the wire they are MessagePack, in which an unknown value
//! is an extension.

use std::collections::BTreeMap;

use serde_json::{Number, Value as Json};
use thiserror::Error;

use super::wire::DynamicValue;
use crate::kind::Type;

/// A value of an attribute, or an object of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Unknown,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Value>),
    Map(Object),
}

/// An object: a resource, a block, or a map.
pub(crate) type Object = BTreeMap<String, Value>;

/// Why a value could not be read.
#[derive(Debug, Error)]
pub(crate) enum ValueError {
    #[error("a value is not MessagePack")]
    MessagePack(#[from] rmpv::decode::Error),
    #[error("a value is not JSON")]
    Json(#[from] serde_json::Error),
    #[error("a value holds what no attribute can be: {0}")]
    Foreign(String),
    #[error("a value cannot be written as MessagePack")]
    Encode(#[from] rmpv::encode::Error),
}

impl Value {
    /// From the wire; a missing value is null.
    pub(crate) fn decode(wire: Option<&DynamicValue>) -> Result<Self, ValueError> {
        match wire {
            Some(wire) if !wire.msgpack.is_empty() => {
                from_pack(rmpv::decode::read_value(&mut wire.msgpack.as_slice())?)
            }
            Some(wire) if !wire.json.is_empty() => Ok(serde_json::from_slice::<Json>(&wire.json)?.into()),
            _ => Ok(Self::Null),
        }
    }

    /// For the wire.
    pub(crate) fn encode(self) -> Result<DynamicValue, ValueError> {
        let mut msgpack = Vec::new();
        rmpv::encode::write_value(&mut msgpack, &to_pack(self))?;
        Ok(DynamicValue { msgpack, json: Vec::new() })
    }

    /// The object that this is, unless it is null.
    pub(crate) fn into_object(self) -> Option<Object> {
        if let Self::Map(object) = self { Some(object) } else { None }
    }

    /// The string that this is.
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// As JSON, where unknown values are null.
    pub(crate) fn into_json(self) -> Json {
        match self {
            Self::Null | Self::Unknown => Json::Null,
            Self::Bool(value) => Json::Bool(value),
            Self::Number(number) => Json::Number(number),
            Self::String(text) => Json::String(text),
            Self::List(values) => values.into_iter().map(Self::into_json).collect(),
            Self::Map(object) => {
                Json::Object(object.into_iter().map(|(key, value)| (key, value.into_json())).collect())
            }
        }
    }

    /// Whether an attribute of the type can have this value.
    pub(crate) fn fits(&self, ty: Type) -> bool {
        match (self, ty) {
            (Self::Null | Self::Unknown, _)
            | (Self::String(_), Type::String)
            | (Self::Number(_), Type::Number)
            | (Self::Bool(_), Type::Bool) => true,
            (Self::List(values), Type::Strings) => values.iter().all(|value| value.fits(Type::String)),
            (Self::Map(object), Type::StringMap) => object.values().all(|value| value.fits(Type::String)),
            (Self::Map(object), Type::NumberMap) => object.values().all(|value| value.fits(Type::Number)),
            _ => false,
        }
    }
}

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(value),
            Json::Number(number) => Self::Number(number),
            Json::String(text) => Self::String(text),
            Json::Array(values) => Self::List(values.into_iter().map(Self::from).collect()),
            Json::Object(object) => {
                Self::Map(object.into_iter().map(|(key, value)| (key, value.into())).collect())
            }
        }
    }
}

/// The value of an object's key; null where it has none.
pub(crate) fn get<'a>(object: &'a Object, key: &str) -> &'a Value {
    object.get(key).unwrap_or(&Value::Null)
}

fn from_pack(pack: rmpv::Value) -> Result<Value, ValueError> {
    let foreign = |pack: &rmpv::Value| ValueError::Foreign(pack.to_string());
    Ok(match pack {
        rmpv::Value::Nil => Value::Null,
        rmpv::Value::Ext(..) => Value::Unknown,
        rmpv::Value::Boolean(value) => Value::Bool(value),
        rmpv::Value::F32(_) | rmpv::Value::F64(_) => {
            Value::Number(pack.as_f64().and_then(Number::from_f64).ok_or_else(|| foreign(&pack))?)
        }
        rmpv::Value::Integer(whole) => {
            let signed = whole.as_i64().map(Number::from);
            Value::Number(
                signed
                    .or(whole.as_u64().map(Number::from))
                    .ok_or_else(|| ValueError::Foreign(whole.to_string()))?,
            )
        }
        rmpv::Value::String(_) | rmpv::Value::Binary(_) => {
            Value::String(pack.as_str().ok_or_else(|| foreign(&pack))?.to_owned())
        }
        rmpv::Value::Array(values) => {
            Value::List(values.into_iter().map(from_pack).collect::<Result<_, _>>()?)
        }
        rmpv::Value::Map(entries) => Value::Map(entries.into_iter().map(entry).collect::<Result<_, _>>()?),
    })
}

fn entry((key, value): (rmpv::Value, rmpv::Value)) -> Result<(String, Value), ValueError> {
    let name = key.as_str().ok_or_else(|| ValueError::Foreign(key.to_string()))?;
    Ok((name.to_owned(), from_pack(value)?))
}

fn to_pack(value: Value) -> rmpv::Value {
    match value {
        Value::Null => rmpv::Value::Nil,
        Value::Unknown => rmpv::Value::Ext(0, vec![0]),
        Value::Bool(value) => rmpv::Value::Boolean(value),
        Value::Number(number) => number_to_pack(&number),
        Value::String(text) => rmpv::Value::from(text),
        Value::List(values) => rmpv::Value::Array(values.into_iter().map(to_pack).collect()),
        Value::Map(object) => rmpv::Value::Map(
            object.into_iter().map(|(key, value)| (rmpv::Value::from(key), to_pack(value))).collect(),
        ),
    }
}

fn number_to_pack(number: &Number) -> rmpv::Value {
    let signed = number.as_i64().map(rmpv::Value::from);
    signed
        .or(number.as_u64().map(rmpv::Value::from))
        .or(number.as_f64().map(rmpv::Value::from))
        .unwrap_or(rmpv::Value::Nil)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{DynamicValue, Value};
    use crate::kind::Type;

    #[test]
    fn values_come_back_as_they_went() {
        let mut object =
            Value::from(json!({"a": null, "b": [1, -2, 2.5, u64::MAX], "c": {"d": "e", "f": true}}))
                .into_object()
                .expect("an object");
        object.insert("g".into(), Value::Unknown);
        let value = Value::Map(object);
        let wire = value.clone().encode().expect("written");
        assert_eq!(Value::decode(Some(&wire)).expect("read"), value);
    }

    #[test]
    fn any_extension_is_an_unknown_value() {
        for msgpack in [vec![0xd4, 0, 0], vec![0xc7, 3, 12, 0x81, 1, 0xc2]] {
            let wire = DynamicValue { msgpack, json: Vec::new() };
            assert_eq!(Value::decode(Some(&wire)).expect("read"), Value::Unknown);
        }
        assert_eq!(Value::Unknown.encode().expect("written").msgpack, [0xd4, 0, 0]);
    }

    #[test]
    fn a_value_of_another_type_does_not_fit() {
        assert!(Value::from(json!({"a": "b"})).fits(Type::StringMap));
        assert!(!Value::from(json!({"a": 1})).fits(Type::StringMap));
        assert!(!Value::from(json!("10")).fits(Type::Number));
        assert!(Value::Null.fits(Type::Strings));
    }
}
