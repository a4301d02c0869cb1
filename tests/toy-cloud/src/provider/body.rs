//! Between a resource as its file holds it and as tofu knows it, and what only the cloud can say. Pure, but for the
//! password that is made up.

use rand::distr::{Alphanumeric, SampleString};

use super::error::CallError;
use crate::cloud::Body;
use crate::kind::{Block, Keeping, Kind, Mode};
use crate::plugin::value::{Object, Value, get};

/// A resource as tofu knows it, from its file; `state` has what is not kept there.
pub(crate) fn from_body(kind: &Kind, id: &str, body: Body, state: &Object) -> Result<Object, CallError> {
    let body = Value::from(serde_json::Value::Object(body)).into_object().unwrap_or_default();
    let mut object = Object::new();
    for attribute in kind.attributes() {
        let source = if attribute.keeping == Keeping::InCloud { &body } else { state };
        let value = get(source, attribute.name).clone();
        if !value.fits(attribute.ty) {
            return Err(CallError::Misshapen { id: id.to_owned(), attribute: attribute.name });
        }
        object.insert(attribute.name.to_owned(), value);
    }
    for block in kind.blocks {
        object.insert(block.name.to_owned(), blocks(block, id, get(&body, block.name))?);
    }
    Ok(object)
}

fn blocks(block: &Block, id: &str, value: &Value) -> Result<Value, CallError> {
    let misshapen = |attribute| CallError::Misshapen { id: id.to_owned(), attribute };
    let items = match value {
        Value::Null => return Ok(Value::List(Vec::new())),
        Value::List(items) => items,
        _ => return Err(misshapen(block.name)),
    };
    let read = |item: &Value| {
        let Value::Map(item) = item else { return Err(misshapen(block.name)) };
        let attributes = block.attributes.iter().map(|attribute| {
            let value = get(item, attribute.name).clone();
            let fits = value.fits(attribute.ty);
            if fits { Ok((attribute.name.to_owned(), value)) } else { Err(misshapen(attribute.name)) }
        });
        attributes.collect::<Result<_, _>>().map(Value::Map)
    };
    items.iter().map(read).collect::<Result<_, _>>().map(Value::List)
}

/// A resource's file.
pub(crate) fn into_body(kind: &Kind, state: &Object) -> Body {
    let attributes = kind.attributes().filter(|attribute| attribute.keeping == Keeping::InCloud);
    let names = attributes.map(|attribute| attribute.name).chain(kind.blocks.iter().map(|block| block.name));
    names.map(|name| (name.to_owned(), get(state, name).clone().into_json())).collect()
}

/// Gives every attribute that was unknown until now its value.
pub(crate) fn complete(kind: &Kind, state: &mut Object) {
    let name = get(state, "name").as_str().unwrap_or_default().to_owned();
    let region = get(state, "region").as_str().unwrap_or_default().to_owned();
    for attribute in kind.attributes().filter(|attribute| matches!(attribute.mode, Mode::Computed)) {
        let value = computed(kind, attribute.name, &name, &region);
        state.insert(attribute.name.to_owned(), Value::String(value));
    }
}

fn computed(kind: &Kind, attribute: &str, name: &str, region: &str) -> String {
    match attribute {
        "arn" => format!("arn:toy:{}:{}", kind.type_name.trim_start_matches("toy_"), kind.id(name)),
        "domain" => format!("{name}.{region}.buckets.toy"),
        "endpoint" => format!("{name}.databases.toy:5432"),
        "password" => Alphanumeric.sample_string(&mut rand::rng(), 24),
        "private_ip" => private_ip(name),
        _ => kind.id(name),
    }
}

/// An address that depends on the name alone.
fn private_ip(name: &str) -> String {
    let hash = name.bytes().fold(0_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    let [_, a, b, c] = hash.to_be_bytes();
    format!("10.{a}.{b}.{c}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{complete, from_body, into_body};
    use crate::cloud::Body;
    use crate::kind::kind;
    use crate::plugin::value::{Object, Value};

    fn group(body: &serde_json::Value) -> Result<Object, String> {
        let kind = kind("toy_security_group").expect("a kind");
        let body: Body = body.as_object().expect("an object").clone();
        from_body(kind, "sg-a", body, &Object::new()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_may_leave_out_and_add() {
        let object =
            group(&json!({"name": "a", "rule": [{"name": "ssh", "port": 22}], "colour": 1})).expect("read");
        assert_eq!(object["tags"], Value::Null);
        assert_eq!(object["rule"], json!([{"name": "ssh", "port": 22, "cidr": null}]).into());
        assert!(!object.contains_key("colour"));
    }

    #[test]
    fn a_value_of_another_type_is_named() {
        let error = group(&json!({"name": "a", "rule": [{"port": "22"}]})).expect_err("misshapen");
        insta::assert_snapshot!(error, @"the file of sg-a holds what `port` cannot be");
    }

    #[test]
    fn how_a_resource_misbehaves_is_no_part_of_the_cloud() {
        let kind = kind("toy_network").expect("a kind");
        let state = json!({"name": "a", "cidr": "10.0.0.0/8", "latency_ms": {"create": 1}});
        let mut state = Value::from(state).into_object().expect("an object");
        complete(kind, &mut state);
        let body = serde_json::Value::Object(into_body(kind, &state));
        let expected = json!({
            "name": "a", "id": "net-a", "arn": "arn:toy:network:net-a",
            "cidr": "10.0.0.0/8", "description": null, "tags": null
        });
        assert_eq!(body, expected);
    }
}
