//! The plans of the examples.

use std::sync::OnceLock;

use serde_json::Value;
use yuba_infra::{Copy, existing_vpc_input, minimal_input};

/// A resource as it is planned; `values` lacks what is not known before it is made.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) address: String,
    pub(crate) kind: String,
    pub(crate) values: Value,
    unknown: Value,
}

/// A planned example.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) installation: &'static str,
    pub(crate) resources: Vec<Resource>,
}

pub(crate) fn minimal() -> &'static Plan {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| Plan::of("demo", Copy::of("minimal", &minimal_input())))
}

pub(crate) fn existing_vpc() -> &'static Plan {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| Plan::of("prod", Copy::of("existing-vpc", &existing_vpc_input())))
}

/// Both examples.
pub(crate) fn plans() -> [&'static Plan; 2] {
    [minimal(), existing_vpc()]
}

impl Plan {
    pub(crate) fn of(installation: &'static str, copy: Copy) -> Self {
        let shown = copy.plan();
        let changes = shown["resource_changes"].as_array().expect("changes");
        let planned = changes.iter().filter(|change| change["mode"] == "managed");
        Self { installation, resources: planned.map(Resource::of).collect() }
    }

    /// The resources of a type.
    pub(crate) fn all<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Resource> {
        self.resources.iter().filter(move |resource| resource.kind == kind)
    }

    /// The one resource at an address below the module.
    pub(crate) fn one(&self, address: &str) -> &Resource {
        let address = format!("module.yuba.{address}");
        let found = self.resources.iter().find(|resource| resource.address == address);
        found.unwrap_or_else(|| panic!("there is no {address}"))
    }

    /// The Lambda function.
    pub(crate) fn function(&self, name: &str) -> &Resource {
        self.one(&format!("module.{name}.aws_lambda_function.this"))
    }
}

impl Resource {
    fn of(change: &Value) -> Self {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        Self {
            address: text(&change["address"]),
            kind: text(&change["type"]),
            values: change["change"]["after"].clone(),
            unknown: change["change"]["after_unknown"].clone(),
        }
    }

    /// A text that must be known in the plan.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.values[name].as_str().unwrap_or_else(|| panic!("{}: {name} is not known", self.address))
    }

    /// A text that is a JSON document, and must be known in the plan.
    pub(crate) fn document(&self, name: &str) -> Value {
        let document = serde_json::from_str(self.text(name));
        document.unwrap_or_else(|error| panic!("{}: {name}: {error}", self.address))
    }

    /// The keys of a map below a path, whether or not their values are known.
    pub(crate) fn keys(&self, pointer: &str) -> Vec<String> {
        let of = |value: &Value| -> Vec<String> {
            let object = value.pointer(pointer).and_then(Value::as_object);
            object.map(|object| object.keys().cloned().collect()).unwrap_or_default()
        };
        let mut keys = [of(&self.values), of(&self.unknown)].concat();
        keys.sort();
        keys.dedup();
        keys
    }
}

/// The texts of a value that is a text or a list of them.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    let one = |value: &Value| value.as_str().expect("a text").to_owned();
    value.as_array().map_or_else(|| vec![one(value)], |values| values.iter().map(one).collect())
}

/// The statements of a policy.
pub(crate) fn statements(policy: &Value) -> Vec<Value> {
    policy["Statement"].as_array().expect("statements").clone()
}
