//! Reads `backend` and `cloud` blocks: of `backendConfig.customConfiguration`, and for whoever reads code.

use hcl_edit::expr::{Expression, Object, ObjectKey};
use hcl_edit::structure::{Block, BlockLabel, Body, Structure};

use crate::state_address::BackendBlock;

/// How deep brackets may lie in each other: the parser's stack grows with them.
const MAX_DEPTH: usize = 32;

/// Reads the backend that a configuration names, if it names one; the error says why it is not HCL, with the line within
/// it.
pub fn read_backend(configuration: &str) -> Result<Option<BackendBlock>, String> {
    if depth(configuration) > MAX_DEPTH {
        return Err(format!("brackets lie more than {MAX_DEPTH} deep"));
    }
    let body: Body = configuration.parse().map_err(|error: hcl_edit::parser::Error| {
        let at = error.location();
        format!("line {}, column {}: {}", at.line(), at.column(), error.message())
    })?;
    Ok(body.blocks().find_map(backend_block))
}

/// What a block of a `terraform` block says of the state's place; `None` where it is neither `backend` nor `cloud`.
pub(super) fn backend_block(block: &Block) -> Option<BackendBlock> {
    let kind = match block.ident.as_str() {
        "backend" => block.labels.first().map(BlockLabel::as_str).unwrap_or_default(),
        "cloud" => "cloud",
        _ => return None,
    };
    let mut settings = Vec::new();
    for structure in &block.body {
        match structure {
            Structure::Attribute(attribute) => add(attribute.key.as_str(), &attribute.value, &mut settings),
            Structure::Block(inner) => inner.body.attributes().for_each(|attribute| {
                let name = format!("{}.{}", inner.ident.as_str(), attribute.key.as_str());
                add(&name, &attribute.value, &mut settings);
            }),
        }
    }
    Some(BackendBlock::new(kind, settings))
}

fn add(name: &str, value: &Expression, settings: &mut Vec<(String, Option<String>)>) {
    match value {
        Expression::Object(object) => add_object(name, object, settings),
        value => settings.push((name.to_owned(), value.as_str().map(str::to_owned))),
    }
}

fn add_object(name: &str, object: &Object, settings: &mut Vec<(String, Option<String>)>) {
    for (key, value) in object {
        let key = match key {
            ObjectKey::Ident(ident) => Some(ident.as_str()),
            ObjectKey::Expression(expression) => expression.as_str(),
        };
        let text = value.expr().as_str().map(str::to_owned);
        settings.extend(key.map(|key| (format!("{name}.{key}"), text)));
    }
}

/// The most brackets that are open at once; those inside texts are counted too, which does no harm.
fn depth(text: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for letter in text.chars() {
        match letter {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> String {
        let block = read_backend(text).unwrap().unwrap();
        format!("{} {:?}", block.kind, block.settings)
    }

    #[test]
    fn what_makes_the_place_is_read_and_nothing_else() {
        insta::assert_snapshot!(
            block("backend \"s3\" {\n key = \"a${1}\" # of b\n bucket=\"c\"\n secret_key = \"x\"\n endpoints = { s3 = \"https://e\" }\n}"),
            @r#"s3 {"bucket": Some("c"), "endpoints.s3": Some("https://e"), "key": None}"#
        );
        insta::assert_snapshot!(
            block("cloud {\n organization = \"o\"\n token = \"x\"\n workspaces {\n  name = \"n\"\n }\n}"),
            @r#"cloud {"organization": Some("o"), "workspaces.name": Some("n")}"#
        );
        assert_eq!(read_backend("required_version = \"> 1\""), Ok(None));
    }

    #[test]
    fn what_is_not_hcl_is_refused() {
        assert!(read_backend("backend s3 {").is_err());
        assert!(read_backend(&"[".repeat(100_000)).is_err());
    }
}
