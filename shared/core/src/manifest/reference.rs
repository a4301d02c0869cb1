//! `docs/manifests.md`: each field of each kind, and whether it works, from the schemas and the one table of fields.

use serde_json::Value;

use super::fields::{self, Field, Lot, Since};
use super::schema::{KindSchema, schemas};

/// The reference of all fields as Markdown.
pub fn reference() -> String {
    let mut text = INTRODUCTION.to_owned();
    text.extend(schemas().iter().map(|schema| {
        let (file, kind, versions) = (schema.file, schema.kind, schema.api_versions.join(", "));
        format!("| {kind} | {versions} | [{file}](schema/{file}) |\n")
    }));
    let of = |file: &str| schemas().iter().find(|schema| schema.file == file);
    for (heading, file, rows) in [
        ("Terraform and Stack", "stack-v1.json", fields::STACK),
        ("GitRepository", "gitrepository.json", fields::SOURCE),
        ("Provider", "provider.json", fields::PROVIDER),
        ("Alert", "alert.json", fields::ALERT),
        ("Team", "team-v1.json", fields::TEAM),
        ("Freeze", "freeze-v1.json", fields::FREEZE),
    ] {
        let Some(kind) = of(file) else { continue };
        text.extend(["\n## ", heading, "\n\n", &table(kind, rows)]);
    }
    text
}

const INTRODUCTION: &str = "\
# Manifests

Made from the code by `make schema`; a test fails where it differs.

Manifests are YAML documents in the shape of Kubernetes resources. Flux's kinds are read unchanged. `Stack` of
`yuba.dev/v1` has all fields of `Terraform` and some more. `yuba validate PATH…` checks them without a server and writes
what it finds as `file:line:column: error|warning|notice: …`.

- A field that does not exist is an error, as it is to Flux. A field that does not work yet is a notice; where it changes
  what, where or whether to apply, its stack is planned only.
- A faulty document is held back with whatever refers to it; the rest is used.
- Unquoted `yes`, `no`, `on` and `off` are booleans and `0755` is octal, as they are to kubectl.
- A `ServiceAccount` is read for its annotation `eks.amazonaws.com/role-arn`, a `ConfigMap` for `varsFrom`. A `Secret` is
  not used: its values are stored with `yuba secret set`. What is unusual in a `Provider` or an `Alert`
  is a warning, and the rest is used; [events.md](events.md) says what is delivered.
- A `Team` of `yuba.dev/v1` names people who may decide, and the names under which Slack and Git hosts know them. Two entries
  with one name in common are one human, who counts once. Teams bind at once, also for plans that wait already; a faulty one
  holds the whole set back.
- A `Freeze` of `yuba.dev/v1` names times in which nothing of the stacks that it covers is approved or applied. Freezes bind at
  once, for stacks of all sets; an apply that has begun goes on. A faulty one holds the whole set back.
- `Context` and `Policy` of `yuba.dev/v1` are read, not applied yet: each is a notice, and a faulty `Policy` holds the whole set
  back. Only their name and that they have a `spec` is checked; they have no schema yet.
- The annotation `yuba.dev/state: new` says that a stack for which nobody names a backend starts with an empty state; without
  it the first plan waits for `yuba adopt`. It waits too where the stack may be one that vanished, under a new name: see
  [`yuba adopt`](cli.md#yuba-adopt-stack).
- Kinds of Flux's own installation and kinds of other software are ignored with a notice.

| kind | apiVersion | JSON Schema |
| --- | --- | --- |
";

fn table(kind: &KindSchema, rows: &[Field]) -> String {
    let mut text = "| field | in | state | meaning |\n| --- | --- | --- | --- |\n".to_owned();
    let spec = kind.schema.pointer("/properties/spec").unwrap_or(&Value::Null);
    let mut walk = Walk { root: &kind.schema, rows, text: &mut text };
    walk.properties(spec, "spec");
    text
}

struct Walk<'schema> {
    root: &'schema Value,
    rows: &'schema [Field],
    text: &'schema mut String,
}

impl<'schema> Walk<'schema> {
    fn properties(&mut self, schema: &'schema Value, path: &str) {
        let Some(properties) = self.behind(schema).get("properties").and_then(Value::as_object) else {
            return;
        };
        for (name, schema) in properties {
            let path = format!("{path}.{name}");
            self.row(&path, schema);
            match self.behind(schema).get("items") {
                Some(items) => self.properties(items, &format!("{path}[]")),
                None => self.properties(schema, &path),
            }
        }
    }

    /// The schema behind a reference or an `Option`.
    fn behind(&self, schema: &'schema Value) -> &'schema Value {
        let schema = schema.get("anyOf").and_then(|either| either.get(0)).unwrap_or(schema);
        let target = schema.get("$ref").and_then(Value::as_str);
        target.and_then(|target| self.root.pointer(target.trim_start_matches('#'))).unwrap_or(schema)
    }

    fn row(&mut self, path: &str, schema: &Value) {
        let Some(row) = fields::deciding(self.rows, path) else { return };
        let state = match row.lot {
            Lot::Works => "works".to_owned(),
            Lot::Later => format!("not applied yet: {}", row.why),
            Lot::Matters => format!("not applied yet, planned only: {}", row.why),
        };
        let kinds = match row.since {
            Since::V1Alpha1 => "all",
            Since::V1Alpha2 => "v1alpha2, Stack",
            Since::Stack => "Stack",
        };
        let meaning =
            schema.get("description").and_then(Value::as_str).unwrap_or_default().replace('\n', " ");
        self.text.extend([format!("| `{path}` | {kinds} | {state} | {meaning} |\n")]);
    }
}
