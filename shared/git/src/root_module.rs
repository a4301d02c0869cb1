//! What a root module's files say of itself: backend, engine version, providers. Read without a checkout.

use std::collections::{BTreeMap, BTreeSet};

use gix::objs::tree::EntryKind;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Block, Body, Structure};
use serde_json::Value;
use yuba_core::dialect::{TOOLS, reads};
use yuba_core::id::TreeId;
use yuba_core::manifest::{backend_in_code, each_object};
use yuba_core::spec::EngineTool;
use yuba_core::state_address::{BackendBlock, CodeBackend};

use crate::closure::links::{Place, Resolver};
use crate::repository::{ReadError, Repository, object_id};
use crate::tree::{Trees, blob};

/// What is known of a root module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RootModule {
    /// The backend that the code names to each tool; none where it names none. The tools do not read the same files.
    pub backends: BTreeMap<EngineTool, BackendBlock>,
    /// Every `required_version`, by file.
    pub required_versions: Vec<String>,
    /// The providers it requires, by local name.
    pub required_providers: BTreeMap<String, RequiredProvider>,
    /// The sources of the local modules it calls, as written: `../modules/network`.
    pub local_calls: BTreeSet<String>,
    /// Whether it sets a provider up, as root modules do.
    pub has_provider_block: bool,
    /// Whether there are `.tofu` files, which only OpenTofu reads.
    pub has_tofu_files: bool,
    /// Whether there are files that Terraform reads too.
    pub has_terraform_files: bool,
    /// Whether there is any configuration at all.
    pub has_configuration: bool,
    /// Whether there is a `.terraform.lock.hcl`.
    pub has_lock_file: bool,
    /// The content of `.terraform-version`.
    pub terraform_version: Option<String>,
    /// The content of `.opentofu-version`.
    pub opentofu_version: Option<String>,
    /// Files that do not parse: `name:line: reason`.
    pub broken: Vec<String>,
}

/// An entry of `required_providers`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequiredProvider {
    /// Its source address, where it is given.
    pub source: Option<String>,
    /// Its version constraint, where it is given.
    pub version: Option<String>,
}

impl RootModule {
    /// Reads the root module in a directory of a tree; none where there is no such directory.
    pub fn of(repository: &Repository, tree: &TreeId, directory: &str) -> Result<Option<Self>, ReadError> {
        let trees = Trees::new(repository.reader());
        let resolver = Resolver::new(&trees, object_id(tree.as_str())?);
        let Place::There { path, .. } = resolver.resolve(directory)?.place else { return Ok(None) };
        let Some(listing) = resolver.listing(&path)? else { return Ok(None) };
        let mut files = Vec::new();
        for entry in listing.iter() {
            let name = entry.name.to_string();
            let id = match entry.mode.kind() {
                EntryKind::Blob | EntryKind::BlobExecutable => Some(entry.id),
                EntryKind::Link => match resolver.resolve(&crate::tree::joined(&path, &entry.name))?.place {
                    Place::There { mode, id, .. } if mode.is_blob() => Some(id),
                    _ => None,
                },
                EntryKind::Tree | EntryKind::Commit => None,
            };
            if let Some(id) = id.filter(|_| Self::wants(&name)) {
                files.push((name, String::from_utf8_lossy(&blob(trees.local(), id)?).into_owned()));
            }
        }
        Ok(Some(Self::read(files.iter().map(|(name, text)| (name.as_str(), text.as_str())))))
    }

    /// The backend that the code names to a tool.
    pub fn backend(&self, tool: EngineTool) -> Option<&BackendBlock> {
        self.backends.get(&tool)
    }

    /// What the code says of its backend, whichever tool reads it. A file that does not parse may name one, and what one
    /// tool alone reads is not known before a task has found its engine.
    pub fn code_backend(&self) -> CodeBackend {
        let [tofu, terraform] = TOOLS.map(|tool| self.backend(tool));
        match tofu {
            _ if !self.has_configuration || !self.broken.is_empty() => CodeBackend::Unseen,
            _ if self.has_terraform_files && tofu != terraform => CodeBackend::Unseen,
            Some(block) => CodeBackend::Named(block.clone()),
            None => CodeBackend::NotNamed,
        }
    }

    /// Whether a file of this name says anything of a root module.
    pub fn wants(name: &str) -> bool {
        let others = [".terraform.lock.hcl", ".terraform-version", ".opentofu-version"];
        others.contains(&name) || crate::closure::is_configuration(name)
    }

    /// Reads the files of a root module's directory, given by name and text.
    pub fn read<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let files: Vec<(&str, &str)> = files.into_iter().collect();
        let named = TOOLS.map(|tool| Some((tool, backend_in_code(tool, files.iter().copied())?)));
        let mut module = Self { backends: named.into_iter().flatten().collect(), ..Self::default() };
        for (name, text) in files {
            match name {
                ".terraform.lock.hcl" => module.has_lock_file = true,
                ".terraform-version" => module.terraform_version = Some(text.trim().to_owned()),
                ".opentofu-version" => module.opentofu_version = Some(text.trim().to_owned()),
                name if crate::closure::is_configuration(name) => module.configuration(name, text),
                _ => {}
            }
        }
        module
    }

    fn configuration(&mut self, name: &str, text: &str) {
        let text = text.trim_start_matches('\u{feff}');
        self.has_configuration = true;
        let is_for_both = reads(EngineTool::Terraform, name, |_| false);
        self.has_tofu_files |= !is_for_both;
        self.has_terraform_files |= is_for_both;
        if name.ends_with("json") {
            match serde_json::from_str::<Value>(text) {
                Ok(root) => {
                    each_object(root.get("terraform"), &mut |settings| self.json(settings));
                    self.json_blocks(&root);
                }
                Err(error) => self.broken.push(format!("{name}:{}: {error}", error.line())),
            }
            return;
        }
        match hcl_edit::parser::parse_body(text) {
            Ok(body) => body.blocks().for_each(|block| self.block(block)),
            Err(error) => {
                self.broken.push(format!("{name}:{}: {}", error.location().line(), error.message()));
            }
        }
    }

    fn block(&mut self, block: &Block) {
        match block.ident.as_str() {
            "terraform" => self.settings(&block.body),
            "provider" => self.has_provider_block = true,
            "module" => {
                let source = block.body.get_attribute("source").and_then(|source| source.value.as_str());
                self.call(source);
            }
            _ => {}
        }
    }

    fn json_blocks(&mut self, root: &Value) {
        self.has_provider_block |= root.get("provider").is_some();
        let mut modules = Vec::new();
        each_object(root.get("module"), &mut |named| modules.extend(named.values().cloned()));
        for module in &modules {
            each_object(Some(module), &mut |module| self.call(module.get("source").and_then(Value::as_str)));
        }
    }

    fn call(&mut self, source: Option<&str>) {
        let local = source.filter(|source| source.starts_with("./") || source.starts_with("../"));
        self.local_calls.extend(local.map(str::to_owned));
    }

    fn settings(&mut self, body: &Body) {
        for structure in body {
            match structure {
                Structure::Attribute(attribute) if attribute.key.as_str() == "required_version" => {
                    self.required_versions.extend(attribute.value.as_str().map(str::to_owned));
                }
                Structure::Block(block) if block.ident.as_str() == "required_providers" => {
                    self.providers(&block.body);
                }
                Structure::Attribute(_) | Structure::Block(_) => {}
            }
        }
    }

    fn providers(&mut self, body: &Body) {
        for attribute in body.attributes() {
            let provider = match &attribute.value {
                Expression::Object(object) => {
                    RequiredProvider { source: field(object, "source"), version: field(object, "version") }
                }
                other => RequiredProvider { source: None, version: other.as_str().map(str::to_owned) },
            };
            self.required_providers.insert(attribute.key.to_string(), provider);
        }
    }

    fn json(&mut self, settings: &serde_json::Map<String, Value>) {
        self.required_versions
            .extend(settings.get("required_version").and_then(Value::as_str).map(str::to_owned));
        each_object(settings.get("required_providers"), &mut |providers| {
            for (name, value) in providers {
                let field = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
                let version = value.as_str().map(str::to_owned).or_else(|| field("version"));
                self.required_providers
                    .insert(name.clone(), RequiredProvider { source: field("source"), version });
            }
        });
    }
}

fn field(object: &hcl_edit::expr::Object, name: &str) -> Option<String> {
    let mut fields = object.iter().filter(|(key, _)| key_text(key) == Some(name));
    fields.find_map(|(_, value)| value.expr().as_str()).map(str::to_owned)
}

fn key_text(key: &hcl_edit::expr::ObjectKey) -> Option<&str> {
    key.as_ident().map(hcl_edit::Ident::as_str).or_else(|| key.as_expr().and_then(Expression::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backend_versions_and_providers_are_read_from_both_dialects() {
        let hcl = r#"
            terraform {
              required_version = ">= 1.6"
              backend "s3" { bucket = "x" }
              required_providers {
                aws = { source = "hashicorp/aws", "version" = "~> 5.0" }
                old = "~> 1.0"
              }
            }
        "#;
        let json = r#"{"terraform": [{"required_version": "< 2", "required_providers": {"aws":
            {"source": "hashicorp/aws", "version": "~> 5.0"}, "old": "~> 1.0"}, "backend": {"s3": {"bucket": "x"}}}]}"#;
        let (hcl, json) = (RootModule::read([("a.tf", hcl)]), RootModule::read([("a.tf.json", json)]));
        assert_eq!(
            (
                hcl.backend(EngineTool::Tofu).map(|block| block.kind.as_str()),
                hcl.required_versions.as_slice()
            ),
            (Some("s3"), [">= 1.6".to_owned()].as_slice())
        );
        assert_eq!(hcl.required_providers, json.required_providers);
        assert_eq!(hcl.backends, json.backends);
        assert_eq!(hcl.backends.len(), 2);
        assert_eq!(hcl.required_providers["aws"].version.as_deref(), Some("~> 5.0"));
        assert_eq!(hcl.required_providers["old"].source, None);
    }

    #[test]
    fn what_the_tools_do_not_agree_on_is_not_known_yet() {
        let [s3, gcs] = ["s3", "gcs"].map(|kind| format!("terraform {{\n backend \"{kind}\" {{}}\n}}\n"));
        let hidden = RootModule::read([("main.tf", s3.as_str()), ("main.tofu", "")]);
        assert_eq!(hidden.backend(EngineTool::Tofu), None);
        assert_eq!(hidden.backend(EngineTool::Terraform).unwrap().kind, "s3");
        assert_eq!(hidden.code_backend(), CodeBackend::Unseen);
        let own = RootModule::read([("main.tf", s3.as_str()), ("own.tofu", gcs.as_str())]);
        assert_eq!(own.backend(EngineTool::Tofu).unwrap().kind, "gcs");
        assert_eq!(own.code_backend(), CodeBackend::Unseen);
        let alone = RootModule::read([("main.tofu", gcs.as_str())]);
        assert_eq!(alone.code_backend(), CodeBackend::Named(alone.backends[&EngineTool::Tofu].clone()));
    }

    #[test]
    fn an_override_file_names_the_backend_and_templates_leave_it_open() {
        let code = "terraform {\n backend \"local\" {\n  path = \"/a\"\n }\n}\n";
        let json = r#"{"terraform": {"cloud": {"organization": "o", "workspaces": [{"name": "${x}"}]}}}"#;
        let module = RootModule::read([("a_override.tf.json", json), ("main.tf", code)]);
        let settings = [("organization", Some("o")), ("workspaces.name", None)];
        let settings = settings.map(|(name, text)| (name.to_owned(), text.map(str::to_owned)));
        assert_eq!(module.code_backend(), CodeBackend::Named(BackendBlock::new("cloud", settings)));
        assert_eq!(
            RootModule::read([("a.tf", code), ("b.tf", "x = = 1")]).code_backend(),
            CodeBackend::Unseen
        );
    }

    #[test]
    fn calls_and_providers_are_read_from_both_dialects() {
        let hcl = "module \"a\" {\n source = \"../m\"\n}\nmodule \"b\" {\n source = \"h/b/c\"\n}\nprovider \"p\" {}\n";
        let json =
            r#"{"module": {"a": {"source": "../m"}, "b": [{"source": "h/b/c"}]}, "provider": {"p": {}}}"#;
        for module in [RootModule::read([("a.tf", hcl)]), RootModule::read([("a.tf.json", json)])] {
            assert!(module.has_provider_block);
            assert_eq!(module.local_calls.into_iter().collect::<Vec<_>>(), ["../m"]);
        }
    }

    #[test]
    fn files_beside_the_configuration_count() {
        let files =
            [(".opentofu-version", "1.8.0\n"), ("main.tofu", ""), (".terraform.lock.hcl", ""), ("x.md", "")];
        let module = RootModule::read(files);
        assert_eq!(module.opentofu_version.as_deref(), Some("1.8.0"));
        assert!(module.has_tofu_files && module.has_lock_file && module.has_configuration);
        assert_eq!((module.backends.len(), module.code_backend()), (0, CodeBackend::NotNamed));
        assert_eq!(module.terraform_version, None);
        assert_eq!(RootModule::read([("a.tf", "x = = 1")]).broken.len(), 1);
    }
}
