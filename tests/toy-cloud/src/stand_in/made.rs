//! What the cloud would say of what it made, for plans in which everything is to be known.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::plugin::value::{Object, Value};

/// By type, computed attributes as texts in which `{name}` stands for another attribute of the same resource.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Made(BTreeMap<String, BTreeMap<String, String>>);

impl Made {
    /// An attribute of a resource, where it is said, and all that it is made of is known.
    pub(super) fn of(&self, type_name: &str, name: &str, planned: &Object) -> Option<Value> {
        let template = self.0.get(type_name)?.get(name)?;
        let mut parts = template.split('{');
        let mut text = parts.next()?.to_owned();
        for part in parts {
            let (attribute, rest) = part.split_once('}')?;
            let Value::String(value) = planned.get(attribute)? else { return None };
            text.push_str(value);
            text.push_str(rest);
        }
        Some(Value::String(text))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_made_is_named_after_what_is_planned() {
        let made = json!({"cloud_thing": {"arn": "arn:{kind}/{name}!", "id": "one"}});
        let made: Made = serde_json::from_value(made).expect("by type");
        let text = |text: &str| Value::String(text.to_owned());
        let mut planned = Object::from([("name".to_owned(), text("a")), ("kind".to_owned(), Value::Unknown)]);
        assert_eq!(made.of("cloud_thing", "arn", &planned), None, "not all is known");
        planned.insert("kind".to_owned(), text("b"));
        assert_eq!(made.of("cloud_thing", "arn", &planned), Some(text("arn:b/a!")));
        assert_eq!(made.of("cloud_thing", "id", &planned), Some(text("one")));
        assert_eq!(made.of("cloud_thing", "url", &planned), None);
        assert_eq!(made.of("cloud_nothing", "arn", &planned), None);
    }
}
