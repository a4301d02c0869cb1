//! Reads configuration files: `.tf` and `.tofu` in HCL, `.tf.json` and `.tofu.json` in JSON.
//!
//! A file that does not parse still yields the paths that can be seen in its text, so that mending it wakes the stack.

use hcl_edit::expr::{Expression, FuncCall};
use hcl_edit::structure::{Attribute, Body, Structure};
use hcl_edit::template::Template;
use hcl_edit::visit::{self, Visit};
use serde_json::Value;

use super::facts::{FileFacts, PathText, mentioned, path_of, path_of_template, read_by};

/// Larger files than this are not read: no person writes them, and parsing takes many times their size.
const LARGEST: usize = 8 * 1024 * 1024;

/// How a configuration file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Dialect {
    Hcl,
    Json,
}

impl Dialect {
    /// The dialect of a file's name; none where tofu does not read it as configuration.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        let ends = |end: &str| name.len() > end.len() && name.ends_with(end.as_bytes());
        if name.starts_with(b".") || name.starts_with(b"#") || name.ends_with(b"~") {
            None
        } else if ends(".tf") || ends(".tofu") {
            Some(Self::Hcl)
        } else if ends(".tf.json") || ends(".tofu.json") {
            Some(Self::Json)
        } else {
            None
        }
    }
}

/// What a configuration file says about other paths.
pub(super) fn read(dialect: Dialect, bytes: &[u8]) -> FileFacts {
    if bytes.len() > LARGEST {
        return broken(1, format!("it is larger than {LARGEST} bytes"), "");
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    match dialect {
        Dialect::Hcl => read_hcl(text),
        Dialect::Json => read_json(text),
    }
}

fn read_hcl(text: &str) -> FileFacts {
    let body: Body = match text.parse() {
        Ok(body) => body,
        Err(error) => {
            let error: hcl_edit::parser::Error = error;
            return broken(error.location().line(), error.message().to_owned(), text);
        }
    };
    let mut reader = Reader::default();
    for structure in &body {
        match structure {
            Structure::Block(block) if block.ident.as_str() == "module" => reader.module(&block.body),
            other => reader.visit_structure(other),
        }
    }
    reader.facts
}

/// Collects calls and reads.
#[derive(Default)]
struct Reader {
    facts: FileFacts,
}

impl Reader {
    fn module(&mut self, body: &Body) {
        for structure in body {
            match structure {
                Structure::Attribute(attribute) if attribute.key.as_str() == "source" => {
                    self.source(attribute);
                }
                other => self.visit_structure(other),
            }
        }
    }

    fn source(&mut self, attribute: &Attribute) {
        if let Some(source) = path_of(&attribute.value) {
            self.facts.add_call(&source);
        }
    }

    fn mention(&mut self, path: Option<&PathText>) {
        if let Some(read) = path.and_then(mentioned) {
            self.facts.add_read(read);
        }
    }
}

impl Visit for Reader {
    fn visit_func_call(&mut self, call: &FuncCall) {
        if let Some(read) = read_by(call) {
            self.facts.add_read(read);
        }
        visit::visit_func_call(self, call);
    }

    fn visit_expr(&mut self, expression: &Expression) {
        match expression {
            Expression::String(text) if !text.as_str().starts_with('.') => {}
            Expression::String(_) | Expression::StringTemplate(_) => {
                self.mention(path_of(expression).as_ref());
            }
            _ => {}
        }
        visit::visit_expr(self, expression);
    }
}

fn read_json(text: &str) -> FileFacts {
    let root: Value = match serde_json::from_str(text) {
        Ok(root) => root,
        Err(error) => return broken(error.line(), error.to_string(), text),
    };
    let mut reader = Reader::default();
    let Value::Object(blocks) = &root else { return broken(1, "it is not a JSON object".to_owned(), text) };
    for (kind, value) in blocks {
        if kind == "module" {
            each_object(value, &mut |modules| modules.values().for_each(|module| reader.json_module(module)));
        } else {
            reader.json_strings(value);
        }
    }
    reader.facts
}

/// Where HCL has a block, JSON may have an object or a list of objects.
fn each_object(value: &Value, visit: &mut dyn FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => visit(object),
        Value::Array(values) => values.iter().for_each(|value| each_object(value, visit)),
        _ => {}
    }
}

impl Reader {
    fn json_module(&mut self, module: &Value) {
        each_object(module, &mut |attributes| {
            for (name, value) in attributes {
                match value {
                    Value::String(source) if name == "source" => self.facts.add_call(&json_path(source)),
                    other => self.json_strings(other),
                }
            }
        });
    }

    /// A string in JSON configuration is a template.
    fn json_strings(&mut self, value: &Value) {
        match value {
            Value::String(text) if text.contains("${") => {
                if let Ok(template) = text.parse::<Template>() {
                    self.mention(path_of_template(&template).as_ref());
                    self.visit_template(&template);
                }
            }
            Value::String(text) => self.mention(Some(&json_path(text))),
            Value::Array(values) => values.iter().for_each(|value| self.json_strings(value)),
            Value::Object(object) => object.values().for_each(|value| self.json_strings(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn json_path(text: &str) -> PathText {
    let template = text.parse::<Template>().ok().and_then(|template| path_of_template(&template));
    template.unwrap_or_else(|| PathText { base: None, text: text.to_owned(), literal: true })
}

/// The facts of a file that does not parse: every quoted text that looks like a path is taken for one.
fn broken(line: usize, reason: String, text: &str) -> FileFacts {
    let mut facts = FileFacts { broken: Some((line, reason)), ..FileFacts::default() };
    for line in text.lines() {
        for quoted in line.split('"').skip(1).step_by(2) {
            let path = json_path(quoted);
            if line.trim_start().trim_start_matches('"').starts_with("source") {
                facts.add_call(&path);
            } else if let Some(read) = mentioned(&path) {
                facts.add_read(read);
            }
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(dialect: Dialect, text: &str) -> String {
        let facts = read(dialect, text.as_bytes());
        let calls = facts
            .calls
            .iter()
            .map(|call| format!("call {}{}", call.source, if call.literal { "" } else { "…" }));
        let reads = facts.reads.iter().map(|read| {
            let by = read.function.as_deref().unwrap_or("mention");
            format!("{by} {:?} {}{}", read.base, read.path, if read.literal { "" } else { "…" })
        });
        calls.chain(reads).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn local_modules_are_calls_and_others_are_not() {
        let text = r#"
            module "a" { source = "./modules/a" }
            module "b" {
              source = "../..//modules/b"
              policy = "${path.module}/policy.json"
            }
            module "c" { source = "hashicorp/consul/aws" }
            module "d" { source = "git::https://example.org/x.git//sub?ref=v1" }
            module "e" { source = "./modules/${var.kind}/x" }
        "#;
        insta::assert_snapshot!(shown(Dialect::Hcl, text), @r"
        call ./modules/a
        call ../..//modules/b
        call ./modules/…
        mention Module /policy.json
        ");
    }

    #[test]
    fn paths_are_read_from_functions_and_strings() {
        let text = r#"
            locals {
              a = file("${path.root}/jobs/x.nomad")
              b = templatefile("${path.module}/t.tpl", { x = filemd5("plain.txt") })
              c = [for f in fileset(path.module, "config/**/*.yaml") : yamldecode(file("${path.module}/${f}"))]
              d = file(var.path)
              e = file("${path.module}/policies/${each.key}.json")
              f = { dir = "${path.module}/src", out = "../shared/x.json", no = "a/b" }
              g = filebase64sha256(abspath("${path.module}/../lambda.zip"))
              h = provider::x::file("q")
            }
        "#;
        insta::assert_snapshot!(shown(Dialect::Hcl, text), @r"
        file Root /jobs/x.nomad
        templatefile Module /t.tpl
        filemd5 Root plain.txt
        fileset Module /config
        file Module /…
        file Root …
        file Module /policies/…
        mention Module /src
        mention Root ../shared/x.json
        filebase64sha256 Module /../lambda.zip
        ");
    }

    #[test]
    fn json_is_read_as_hcl_is() {
        let text = r#"{"module": [{"a": {"source": "./m//sub"}}, {"b": [{"source": "x/y/z"}]}],
            "locals": {"x": "${file(\"${path.module}/a.txt\")}", "y": "${path.root}/b"}}"#;
        insta::assert_snapshot!(shown(Dialect::Json, text), @r"
        call ./m//sub
        file Module /a.txt
        mention Root /b
        ");
    }

    #[test]
    fn a_file_that_does_not_parse_says_where_and_what_can_be_seen() {
        let text = "module \"a\" {\n  source = \"./a\"\n  x = \"${path.module}/f\"\n  y = = 1\n}\n";
        let facts = read(Dialect::Hcl, text.as_bytes());
        assert_eq!(facts.broken.as_ref().map(|(line, _)| *line), Some(4), "{facts:?}");
        assert_eq!((facts.calls.len(), facts.reads.len()), (1, 1));
        assert_eq!(read(Dialect::Json, b"{\n]").broken.map(|(line, _)| line), Some(2));
    }

    #[test]
    fn hostile_nesting_is_refused_and_does_not_exhaust_the_stack() {
        let text = format!("a = {}1", "(".repeat(100_000));
        assert!(read(Dialect::Hcl, text.as_bytes()).broken.is_some());
        assert!(read(Dialect::Json, "[".repeat(100_000).as_bytes()).broken.is_some());
    }

    #[test]
    fn what_tofu_reads_is_told_by_the_name() {
        let yes = ["main.tf", "x.tofu", "x.tf.json", "x_override.tofu.json"];
        let no = [".tf", ".hidden.tf", "main.tf~", "#x.tf", "x.tftest.hcl", "x.json", "x.tfvars"];
        assert!(yes.iter().all(|name| Dialect::of(name.as_bytes()).is_some()));
        assert!(no.iter().all(|name| Dialect::of(name.as_bytes()).is_none()));
    }
}
