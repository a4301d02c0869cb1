//! Finds the backend that a root module's files name, in HCL and in JSON, as engines merge them.

use serde_json::{Map, Value};

use super::backend::backend_block;
use crate::dialect::reads;
use crate::spec::EngineTool;
use crate::state_address::BackendBlock;

/// The backend that the files of a root module name to a tool, given by name and text; none where they name none. What an
/// override file names replaces what others do. A file that the tool does not read, or that does not parse, names none.
pub fn backend_in_code<'a>(
    tool: EngineTool,
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Option<BackendBlock> {
    let all: Vec<(&str, &str)> = files.into_iter().collect();
    let is_beside = |name: &str| all.iter().any(|(other, _)| *other == name);
    let mut files: Vec<_> = all.iter().copied().filter(|(name, _)| reads(tool, name, is_beside)).collect();
    files.sort_by_key(|(name, _)| (is_override(name), *name));
    files.into_iter().filter_map(|(name, text)| in_file(name, text)).next_back()
}

/// Whether engines merge a file over the others.
fn is_override(name: &str) -> bool {
    let stem = name.trim_end_matches(".json").rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem == "override" || stem.ends_with("_override")
}

fn in_file(name: &str, text: &str) -> Option<BackendBlock> {
    if !text.contains("backend") && !text.contains("cloud") {
        return None;
    }
    let text = text.trim_start_matches('\u{feff}');
    if name.strip_suffix(".json").is_some() {
        return in_json(&serde_json::from_str(text).ok()?);
    }
    let body = hcl_edit::parser::parse_body(text).ok()?;
    body.get_blocks("terraform").flat_map(|settings| settings.body.blocks()).filter_map(backend_block).last()
}

fn in_json(root: &Value) -> Option<BackendBlock> {
    let mut found = None;
    each_object(root.get("terraform"), &mut |settings| {
        each_object(settings.get("backend"), &mut |backend| {
            found = backend.iter().next().map(|(kind, body)| json_block(kind, body));
        });
        if let Some(cloud) = settings.get("cloud") {
            found = Some(json_block("cloud", cloud));
        }
    });
    found
}

fn json_block(kind: &str, body: &Value) -> BackendBlock {
    let mut settings = Vec::new();
    each_object(Some(body), &mut |body| {
        for (name, value) in body {
            match value {
                Value::Object(_) | Value::Array(_) => each_object(Some(value), &mut |inner| {
                    let inner =
                        inner.iter().map(|(key, value)| (format!("{name}.{key}"), json_literal(value)));
                    settings.extend(inner);
                }),
                value => settings.push((name.clone(), json_literal(value))),
            }
        }
    });
    BackendBlock::new(kind, settings)
}

/// A text without templates.
fn json_literal(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.contains("${") && !text.contains("%{")).map(str::to_owned)
}

/// Where HCL has a block, JSON may have an object or a list of objects.
pub fn each_object(value: Option<&Value>, visit: &mut dyn FnMut(&Map<String, Value>)) {
    match value {
        Some(Value::Object(object)) => visit(object),
        Some(Value::Array(values)) => values.iter().for_each(|value| each_object(Some(value), visit)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(files: &[(&str, &str)]) -> String {
        backend_in_code(EngineTool::Tofu, files.iter().copied())
            .map_or_else(|| "none".to_owned(), |block| block.kind)
    }

    #[test]
    fn a_backend_is_found_where_the_engine_finds_one() {
        let s3 = "terraform {\n  backend \"s3\" {}\n}\n";
        assert_eq!(kind(&[("a.tf", s3)]), "s3");
        assert_eq!(kind(&[("a.tf", "terraform {\n  cloud {\n  }\n}\n")]), "cloud");
        assert_eq!(kind(&[("a.tf.json", r#"{"terraform":[{"backend":{"gcs":{}}}]}"#)]), "gcs");
        assert_eq!(kind(&[("a.tf", "# backend \"s3\" {}\nlocals { cloud = \"x\" }\n")]), "none");
        assert_eq!(kind(&[("a.tf", "terraform { backend")]), "none");
        let over = "terraform {\n  backend \"http\" {}\n}\n";
        assert_eq!(kind(&[("b_override.tf", over), ("z.tf", s3)]), "http");
    }
}
