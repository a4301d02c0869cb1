//! The JSON Schema of each kind, made from the wire types: what `docs/schema/` holds and what the reader checks by.

use std::sync::LazyLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::fields::{self, Since};
use super::wire::freeze::FreezeDocument;
use super::wire::kube::{ConfigMapDocument, ServiceAccountDocument};
use super::wire::notification::{AlertDocument, ProviderDocument};
use super::wire::source::GitRepositoryDocument;
use super::wire::stack::StackDocument;
use super::wire::team::TeamDocument;

/// The schema of one kind.
#[derive(Debug)]
pub struct KindSchema {
    /// The file that it is published as, under `docs/schema/`.
    pub file: &'static str,
    /// The values of `apiVersion` that it covers.
    pub api_versions: &'static [&'static str],
    /// The value of `kind`.
    pub kind: &'static str,
    /// The schema itself (JSON Schema, draft 2020-12).
    pub schema: Value,
}

impl KindSchema {
    /// The text of the published file.
    pub fn to_text(&self) -> String {
        format!("{:#}\n", self.schema)
    }
}

/// The schemas of all kinds that Yuba reads.
pub fn schemas() -> &'static [KindSchema] {
    &SCHEMAS
}

static SCHEMAS: LazyLock<Vec<KindSchema>> = LazyLock::new(|| {
    let git = &[
        "source.toolkit.fluxcd.io/v1",
        "source.toolkit.fluxcd.io/v1beta2",
        "source.toolkit.fluxcd.io/v1beta1",
    ];
    let notification = &[
        "notification.toolkit.fluxcd.io/v1",
        "notification.toolkit.fluxcd.io/v1beta3",
        "notification.toolkit.fluxcd.io/v1beta2",
        "notification.toolkit.fluxcd.io/v1beta1",
    ];
    vec![
        stack("stack-v1.json", &["yuba.dev/v1"], "Stack", Since::Stack),
        stack("terraform-v1alpha2.json", &["infra.contrib.fluxcd.io/v1alpha2"], "Terraform", Since::V1Alpha2),
        stack("terraform-v1alpha1.json", &["infra.contrib.fluxcd.io/v1alpha1"], "Terraform", Since::V1Alpha1),
        kind::<GitRepositoryDocument>("gitrepository.json", git, "GitRepository"),
        kind::<ServiceAccountDocument>("serviceaccount.json", &["v1"], "ServiceAccount"),
        kind::<ConfigMapDocument>("configmap.json", &["v1"], "ConfigMap"),
        kind::<ProviderDocument>("provider.json", notification, "Provider"),
        kind::<AlertDocument>("alert.json", notification, "Alert"),
        kind::<TeamDocument>("team-v1.json", &["yuba.dev/v1"], "Team"),
        kind::<FreezeDocument>("freeze-v1.json", &["yuba.dev/v1"], "Freeze"),
    ]
});

fn kind<T: JsonSchema>(
    file: &'static str,
    api_versions: &'static [&'static str],
    kind: &'static str,
) -> KindSchema {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    if let Some(version) = schema.pointer_mut("/properties/apiVersion") {
        *version = serde_json::json!({ "type": "string", "enum": api_versions });
    }
    if let Some(name) = schema.pointer_mut("/properties/kind") {
        *name = serde_json::json!({ "type": "string", "const": kind });
    }
    KindSchema { file, api_versions, kind, schema }
}

/// `Stack` and `Terraform` are one type; a version has the fields that the table gives it.
fn stack(
    file: &'static str,
    api_versions: &'static [&'static str],
    name: &'static str,
    version: Since,
) -> KindSchema {
    let mut made = kind::<StackDocument>(file, api_versions, name);
    if let Some(Value::Object(properties)) = made.schema.pointer_mut("/$defs/StackSpec/properties") {
        properties.retain(|field, _| {
            fields::deciding(fields::STACK, &format!("spec.{field}")).is_none_or(|row| row.since <= version)
        });
    }
    if let Some(title) = made.schema.pointer_mut("/title") {
        *title = name.into();
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn properties(file: &str) -> BTreeSet<String> {
        let schema = &schemas().iter().find(|schema| schema.file == file).unwrap().schema;
        let spec = ["StackSpec", "GitRepositorySpec", "TeamSpec", "ProviderSpec", "AlertSpec", "FreezeSpec"]
            .iter()
            .find_map(|name| schema["$defs"].get(name))
            .unwrap();
        spec["properties"].as_object().unwrap().keys().map(|field| format!("spec.{field}")).collect()
    }

    fn rows(table: &[fields::Field], newest: Since) -> BTreeSet<String> {
        let top = |row: &&fields::Field| row.path.matches('.').count() == 1 && row.since <= newest;
        table
            .iter()
            .filter(top)
            .filter(|row| !row.path.contains('['))
            .map(|row| row.path.to_owned())
            .collect()
    }

    #[test]
    fn every_field_has_a_row_and_every_row_a_field() {
        assert_eq!(properties("stack-v1.json"), rows(fields::STACK, Since::Stack));
        assert_eq!(properties("gitrepository.json"), rows(fields::SOURCE, Since::Stack));
        assert_eq!(properties("team-v1.json"), rows(fields::TEAM, Since::Stack));
        assert_eq!(properties("freeze-v1.json"), rows(fields::FREEZE, Since::Stack));
        assert_eq!(properties("provider.json"), rows(fields::PROVIDER, Since::Stack));
        assert_eq!(properties("alert.json"), rows(fields::ALERT, Since::Stack));
    }

    #[test]
    fn terraform_has_the_fields_of_its_version() {
        // 44 fields stand in tofu-controller's v1alpha2, 8 of them not in v1alpha1; both accept `timeout` here.
        assert_eq!(properties("terraform-v1alpha2.json").len(), 44 + 1);
        assert_eq!(properties("terraform-v1alpha1.json").len(), 44 - 8 + 1);
    }
}
