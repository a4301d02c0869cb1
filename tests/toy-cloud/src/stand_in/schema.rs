//! The schema that the stand-in has, from its file to the protocol's form.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::StandInError;
use crate::plugin::wire::{NestedBlock, Schema, SchemaAttribute, SchemaBlock, SchemaResponse};

/// `schema.json`: the provider's own schema, and those of its resources and data sources by type.
#[derive(Debug, Deserialize)]
pub(super) struct Schemas {
    provider: Body,
    resources: BTreeMap<String, Body>,
    data: BTreeMap<String, Body>,
}

/// Attributes, each with its type as the protocol writes it, and nested blocks.
#[derive(Debug, Deserialize)]
struct Body {
    attributes: BTreeMap<String, (serde_json::Value, Mode)>,
    blocks: BTreeMap<String, Block>,
}

#[derive(Debug, Deserialize)]
struct Block {
    nesting: Nesting,
    /// How many there must be.
    least: i64,
    /// How many there may be; 0 means any number.
    most: i64,
    body: Body,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Required,
    Optional,
    Computed,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Nesting {
    Single = 1,
    List = 2,
    Set = 3,
}

impl Schemas {
    /// The attributes of a resource that only the cloud can say.
    pub(super) fn computed(&self, type_name: &str) -> Result<impl Iterator<Item = &String>, StandInError> {
        let resource = self.resources.get(type_name);
        let body = resource.ok_or_else(|| StandInError::UnknownType(type_name.to_owned()))?;
        let computed = body.attributes.iter().filter(|(_, (_, mode))| *mode == Mode::Computed);
        Ok(computed.map(|(name, _)| name))
    }

    /// As tofu asks for it.
    pub(super) fn wire(&self) -> SchemaResponse {
        let all = |bodies: &BTreeMap<String, Body>| {
            bodies.iter().map(|(name, body)| (name.clone(), body.schema())).collect()
        };
        SchemaResponse {
            provider: Some(self.provider.schema()),
            resource_schemas: all(&self.resources),
            data_source_schemas: all(&self.data),
        }
    }
}

impl Body {
    fn schema(&self) -> Schema {
        Schema { version: 0, block: Some(self.block()) }
    }

    fn block(&self) -> SchemaBlock {
        let attributes = self.attributes.iter().map(|(name, (ty, mode))| SchemaAttribute {
            name: name.clone(),
            ty: ty.to_string().into_bytes(),
            required: *mode == Mode::Required,
            optional: *mode == Mode::Optional,
            computed: *mode == Mode::Computed,
            sensitive: false,
        });
        let blocks = self.blocks.iter().map(|(name, block)| NestedBlock {
            type_name: name.clone(),
            block: Some(block.body.block()),
            nesting: block.nesting as i32,
            min_items: block.least,
            max_items: block.most,
        });
        SchemaBlock { attributes: attributes.collect(), block_types: blocks.collect() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Schemas;

    #[test]
    fn a_schema_is_what_its_file_says() {
        let schemas: Schemas = serde_json::from_value(json!({
            "provider": {"attributes": {}, "blocks": {}},
            "resources": {"cloud_thing": {
                "attributes": {"name": ["string", "required"], "arn": ["string", "computed"], "tags": [["map", "string"], "optional"]},
                "blocks": {"rule": {"nesting": "set", "least": 1, "most": 0, "body": {"attributes": {"port": ["number", "required"]}, "blocks": {}}}}
            }},
            "data": {}
        }))
        .expect("a schema");
        assert_eq!(schemas.computed("cloud_thing").expect("known").collect::<Vec<_>>(), ["arn"]);
        assert!(schemas.computed("cloud_nothing").is_err());
        let block = schemas.wire().resource_schemas["cloud_thing"].block.clone().expect("a block");
        let types: Vec<String> = block
            .attributes
            .iter()
            .map(|attribute| format!("{}: {}", attribute.name, String::from_utf8_lossy(&attribute.ty)))
            .collect();
        assert_eq!(types, [r#"arn: "string""#, r#"name: "string""#, r#"tags: ["map","string"]"#]);
        let rule = &block.block_types[0];
        assert_eq!((rule.nesting, rule.min_items, rule.max_items), (3, 1, 0));
    }
}
