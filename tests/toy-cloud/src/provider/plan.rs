//! What a resource will be, decided from what it is and what the code wants. Pure.

use serde_json::Number;

use crate::kind::{Effect, Kind, Literal, Mode};
use crate::plugin::value::{Object, Value, get};

/// A planned resource.
#[derive(Debug, PartialEq)]
pub(crate) struct Planned {
    /// The resource, in which what only the cloud can say is unknown.
    pub(crate) state: Object,
    /// The attributes because of which it must be made anew.
    pub(crate) replacing: Vec<&'static str>,
}

/// Plans a resource: `prior` is what it is (none before it is made), `proposed` what the code wants where it says
/// something and the prior value elsewhere, `config` what the code says.
pub(crate) fn plan(kind: &Kind, prior: Option<&Object>, mut proposed: Object, config: &Object) -> Planned {
    let mut replacing = Vec::new();
    for attribute in kind.attributes() {
        let said = get(config, attribute.name);
        match attribute.mode {
            Mode::Computed => {
                let value = prior.map_or(Value::Unknown, |prior| get(prior, attribute.name).clone());
                proposed.insert(attribute.name.to_owned(), value);
            }
            Mode::Defaulted(literal) if *said == Value::Null => {
                proposed.insert(attribute.name.to_owned(), default(literal));
            }
            _ => {}
        }
        let changes = prior.is_some_and(|prior| get(prior, attribute.name) != get(&proposed, attribute.name));
        if changes && attribute.effect == Effect::Replaces {
            replacing.push(attribute.name);
        }
    }
    Planned { state: proposed, replacing }
}

/// What is wrong with what the code says: the attribute, and what to do. Unknown values are not looked at yet.
pub(crate) fn fault(config: &Object) -> Option<(&'static str, String)> {
    let name = get(config, "name").as_str()?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let fits = !name.is_empty() && name.len() <= 63 && name.chars().all(allowed) && !name.starts_with('.');
    let explanation =
        format!("{name:?} is no name: 1 to 63 letters, digits, `-`, `_` and `.`, and no `.` in front.");
    (!fits).then_some(("name", explanation))
}

fn default(literal: Literal) -> Value {
    match literal {
        Literal::Text(text) => Value::String(text.to_owned()),
        Literal::Whole(number) => Value::Number(Number::from(number)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::{Planned, fault, plan};
    use crate::kind::kind;
    use crate::plugin::value::{Object, Value};

    fn object(json: Json) -> Object {
        Value::from(json).into_object().expect("an object")
    }

    fn planned(prior: Option<&Json>, config: &Json) -> Planned {
        let kind = kind("toy_bucket").expect("a kind");
        let prior = prior.map(|prior| object(prior.clone()));
        plan(kind, prior.as_ref(), object(config.clone()), &object(config.clone()))
    }

    #[test]
    fn what_the_cloud_gives_is_unknown_until_it_is_made() {
        let planned = planned(None, &json!({"name": "a"}));
        assert_eq!(planned.state["id"], Value::Unknown);
        assert_eq!(planned.state["domain"], Value::Unknown);
        assert_eq!(planned.state["region"], Value::String("eu-1".into()));
        assert!(planned.replacing.is_empty());
    }

    #[test]
    fn a_change_keeps_what_the_cloud_gave() {
        let prior = json!({"name": "a", "id": "bucket-a", "region": "eu-1", "versioning": false});
        let planned = planned(Some(&prior), &json!({"name": "a", "versioning": true}));
        assert_eq!(planned.state["id"], Value::String("bucket-a".into()));
        assert!(planned.replacing.is_empty());
    }

    #[test]
    fn some_changes_replace() {
        let prior = json!({"name": "a", "id": "bucket-a", "region": "eu-1"});
        let planned = planned(Some(&prior), &json!({"name": "b", "region": "us-1"}));
        assert_eq!(planned.replacing, ["name", "region"]);
    }

    #[test]
    fn a_name_must_do_for_a_file() {
        assert_eq!(fault(&object(json!({"name": "main-1.x"}))), None);
        assert_eq!(fault(&Object::from([("name".into(), Value::Unknown)])), None);
        let (attribute, explanation) = fault(&object(json!({"name": "../x"}))).expect("a fault");
        assert_eq!(attribute, "name");
        insta::assert_snapshot!(explanation, @r#""../x" is no name: 1 to 63 letters, digits, `-`, `_` and `.`, and no `.` in front."#);
    }
}
