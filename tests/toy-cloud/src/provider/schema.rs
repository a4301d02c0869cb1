//! The table of kinds as the schema that tofu asks for.

use crate::kind::{Attribute, KINDS, Keeping, Kind, Mode, Type, Visibility};
use crate::plugin::wire::{NestedBlock, Schema, SchemaAttribute, SchemaBlock, SchemaResponse};

/// The one data source.
pub(crate) const DATA_SOURCE: &str = "toy_network";
/// What the data source is asked by.
pub(crate) const DATA_KEY: &str = "name";
const NESTING_LIST: i32 = 2;

/// Everything that the provider manages.
pub(crate) fn all() -> SchemaResponse {
    SchemaResponse {
        provider: Some(schema(provider_attributes(), Vec::new())),
        resource_schemas: KINDS.iter().map(|kind| (kind.type_name.to_owned(), resource(kind))).collect(),
        data_source_schemas: crate::kind::kind(DATA_SOURCE)
            .into_iter()
            .map(|kind| (DATA_SOURCE.to_owned(), data_source(kind)))
            .collect(),
    }
}

fn provider_attributes() -> Vec<SchemaAttribute> {
    let optional = |name: &str, ty| SchemaAttribute { optional: true, ..attribute_of(name, ty) };
    vec![
        optional("dir", Type::String),
        optional("latency_ms", Type::NumberMap),
        optional("fail", Type::StringMap),
        SchemaAttribute { sensitive: true, ..optional("token", Type::String) },
    ]
}

fn resource(kind: &Kind) -> Schema {
    let nested = kind.blocks.iter().map(|block| NestedBlock {
        type_name: block.name.to_owned(),
        block: Some(SchemaBlock {
            attributes: block.attributes.iter().map(attribute).collect(),
            block_types: Vec::new(),
        }),
        nesting: NESTING_LIST,
        ..NestedBlock::default()
    });
    schema(kind.attributes().map(attribute).collect(), nested.collect())
}

/// A data source has the attributes that the cloud keeps, and is asked by name.
fn data_source(kind: &Kind) -> Schema {
    let attributes = data_attributes(kind).map(|attribute| {
        let asked = attribute.name == DATA_KEY;
        SchemaAttribute { required: asked, computed: !asked, ..attribute_of(attribute.name, attribute.ty) }
    });
    schema(attributes.collect(), Vec::new())
}

/// The attributes of the data source: those that the cloud keeps.
pub(crate) fn data_attributes(kind: &Kind) -> impl Iterator<Item = &'static Attribute> {
    kind.attributes().filter(|attribute| attribute.keeping == Keeping::InCloud)
}

fn attribute(attribute: &Attribute) -> SchemaAttribute {
    let (required, optional, computed) = match attribute.mode {
        Mode::Required => (true, false, false),
        Mode::Optional => (false, true, false),
        Mode::Defaulted(_) => (false, true, true),
        Mode::Computed => (false, false, true),
    };
    let sensitive = attribute.visibility == Visibility::Sensitive;
    SchemaAttribute { required, optional, computed, sensitive, ..attribute_of(attribute.name, attribute.ty) }
}

fn attribute_of(name: &str, ty: Type) -> SchemaAttribute {
    let ty = match ty {
        Type::String => r#""string""#,
        Type::Number => r#""number""#,
        Type::Bool => r#""bool""#,
        Type::Strings => r#"["list","string"]"#,
        Type::StringMap => r#"["map","string"]"#,
        Type::NumberMap => r#"["map","number"]"#,
    };
    SchemaAttribute { name: name.to_owned(), ty: ty.as_bytes().to_vec(), ..SchemaAttribute::default() }
}

fn schema(attributes: Vec<SchemaAttribute>, block_types: Vec<NestedBlock>) -> Schema {
    Schema { version: 0, block: Some(SchemaBlock { attributes, block_types }) }
}
