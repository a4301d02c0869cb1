//! Checks a tree against the JSON Schema of its kind, and finds everything that is wrong, each at its place.
//!
//! Knows the part of JSON Schema that the wire types make: types, properties, items, choices, forms, references.

use serde_json::Value;

use super::finding::Spot;
use super::format::{self, Format};
use super::messages;
use super::yaml::{Entry, Fault, Node, Tree};

/// Says why a field is unknown here that is known elsewhere.
pub(super) type Explain<'kind> = &'kind dyn Fn(&str) -> Option<String>;

/// All faults of a document.
pub(super) fn faults(root: &Node, schema: &Value, explain: Explain<'_>) -> Vec<Fault> {
    let mut checker = Checker { root: schema, explain, faults: Vec::new() };
    checker.node(root, schema, "");
    checker.faults
}

struct Checker<'kind> {
    root: &'kind Value,
    explain: Explain<'kind>,
    faults: Vec<Fault>,
}

impl<'kind> Checker<'kind> {
    fn fault(&mut self, spot: Spot, message: String) {
        self.faults.push(Fault { spot, message });
    }

    fn node(&mut self, node: &Node, schema: &'kind Value, path: &str) {
        let (schema, nullable) = self.resolve(schema);
        if nullable && matches!(node.tree, Tree::Null) {
            return;
        }
        match (type_of(schema), &node.tree) {
            (None, _) if choices(schema).is_empty() => {}
            (Some("object"), Tree::Map(entries)) => self.map(node.spot, entries, schema, path),
            (Some("array"), Tree::List(items)) => self.list(items, schema, path),
            (Some("string") | None, Tree::Text(text)) => self.text(node, text, schema, path),
            (Some("boolean"), Tree::Bool(_)) | (Some("number"), Tree::Number(_)) => {}
            (Some("integer"), Tree::Number(number))
                if number.as_i64().is_some_and(|given| fits(given, schema)) => {}
            _ => self.fault(node.spot, messages::wrong(path, node, &allowed(schema))),
        }
    }

    /// The schema behind references and `Option`s, and whether null is allowed.
    fn resolve(&self, schema: &'kind Value) -> (&'kind Value, bool) {
        let (mut schema, mut nullable) = (schema, false);
        // References of wire types are at most a few deep; the bound is against a cycle of references alone.
        for _ in 0..8 {
            if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
                schema = self.root.pointer(target.trim_start_matches('#')).unwrap_or(&Value::Null);
            } else if let Some(Value::Array(either)) = schema.get("anyOf") {
                nullable = true;
                schema = either.first().unwrap_or(&Value::Null);
            } else {
                break;
            }
        }
        let null_type = matches!(schema.get("type"), Some(Value::Array(types)) if types.iter().any(|name| name == "null"));
        (schema, nullable || null_type)
    }

    fn map(&mut self, spot: Spot, entries: &[Entry], schema: &'kind Value, path: &str) {
        let properties = schema.get("properties");
        for entry in entries {
            let path = messages::join(path, &entry.key);
            if let Some(schema) = properties.and_then(|all| all.get(&entry.key)) {
                self.node(&entry.value, schema, &path);
            } else {
                self.additional(entry, schema, &path);
            }
        }
        let required =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for name in required {
            let given =
                entries.iter().any(|entry| entry.key == name && !matches!(entry.value.tree, Tree::Null));
            if !given {
                let allowed =
                    properties.and_then(|all| all.get(name)).map(|schema| allowed(self.resolve(schema).0));
                let at = entries.first().map_or(spot, |entry| entry.key_spot);
                self.fault(at, messages::missing(&messages::join(path, name), &allowed.unwrap_or_default()));
            }
        }
    }

    fn additional(&mut self, entry: &Entry, schema: &'kind Value, path: &str) {
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => {
                let known: Vec<&str> = schema
                    .get("properties")
                    .and_then(Value::as_object)
                    .map(|all| all.keys().map(String::as_str).collect())
                    .unwrap_or_default();
                let message =
                    (self.explain)(path).unwrap_or_else(|| messages::unknown_field(path, &entry.key, &known));
                self.fault(entry.key_spot, message);
            }
            Some(schema) => self.node(&entry.value, schema, path),
            None => {}
        }
    }

    fn list(&mut self, items: &[Node], schema: &'kind Value, path: &str) {
        let Some(schema) = schema.get("items") else { return };
        for (index, item) in items.iter().enumerate() {
            self.node(item, schema, &format!("{path}[{index}]"));
        }
    }

    fn text(&mut self, node: &Node, text: &str, schema: &'kind Value, path: &str) {
        let choices = choices(schema);
        if !choices.is_empty() {
            if !choices.contains(&text) {
                self.fault(node.spot, messages::wrong_choice(path, text, &choices));
            }
            return;
        }
        if form(schema).is_some_and(|form| !(form.check)(text)) {
            self.fault(node.spot, messages::wrong(path, node, &allowed(schema)));
        }
    }
}

/// The type that a schema demands, null aside.
fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    }
}

/// Whether a whole number lies within a schema's bounds; counts have 32 bits.
fn fits(given: i64, schema: &Value) -> bool {
    let least = schema.get("minimum").and_then(Value::as_i64).unwrap_or(i64::MIN);
    let is_count = schema.get("format").is_some_and(|format| format == "uint32");
    given >= least && (!is_count || u32::try_from(given).is_ok())
}

fn form(schema: &Value) -> Option<&'static Format> {
    format::by_name(schema.get("format")?.as_str()?)
}

/// The texts that a schema lets one choose from.
fn choices(schema: &Value) -> Vec<&str> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
    let own = list("enum").chain(schema.get("const")).filter_map(Value::as_str);
    own.chain(list("oneOf").flat_map(|either| choices(either))).collect()
}

/// What a schema allows, for people.
fn allowed(schema: &Value) -> String {
    let choices = choices(schema);
    if !choices.is_empty() {
        return messages::list_of(&choices);
    }
    let kind = match type_of(schema) {
        Some("string") => "a text",
        Some("boolean") => "`true` or `false`",
        Some("integer") => "a whole number",
        Some("number") => "a number",
        Some("array") => "a list",
        Some("object") => "a mapping",
        _ => "any value",
    };
    let least = schema.get("minimum").and_then(Value::as_i64).filter(|least| *least > 0);
    match (form(schema), least) {
        (Some(form), _) => form.allowed.to_owned(),
        (None, Some(least)) => format!("{kind} of at least {least}"),
        (None, None) => kind.to_owned(),
    }
}
