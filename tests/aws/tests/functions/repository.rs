//! A repository with manifests and code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::{WEBHOOK_SECRET, World, run};

/// Code that needs no cloud.
pub(crate) const ONE: &str = "output \"one\" { value = 1 }\n";

/// What stands in files for where the repository is cloned from.
const URL: &str = "THE-REPOSITORY";

/// A repository on this machine.
pub(crate) struct Repository(PathBuf);

impl Repository {
    /// An empty one in a directory.
    pub(crate) fn begin(directory: &Path) -> Self {
        let repository = Self(directory.join("infra"));
        fs::create_dir(&repository.0).unwrap();
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    /// Where it is cloned from.
    pub(crate) fn url(&self) -> String {
        format!("file://{}", self.0.display())
    }

    /// Writes files, each a path and a text, and commits them; the commit.
    pub(crate) fn commit(&self, files: &[(&str, &str)]) -> String {
        for (path, text) in files {
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.replace(URL, &self.url())).unwrap();
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message=Change"]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    fn git(&self, arguments: &[&str]) -> String {
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
        run(Command::new("git").current_dir(&self.0).args(who).args(arguments))
    }
}

impl World {
    /// Commits a stack `net` of one network, with lines of its spec, and tells of it; the commit.
    pub(crate) async fn network(&self, spec: &str) -> String {
        let spec = format!("{}\n{spec}", self.backend("net")).replace('\n', "\n  ");
        let commit = self.repository.commit(&[
            ("flux/all.yaml", &manifest(STACK, &spec, "")),
            ("net/main.tf", &network(self.cloud.dir(), "begin")),
        ]);
        let (status, answer) = self.push(WEBHOOK_SECRET).await;
        assert_eq!(status, 202, "{answer}");
        commit
    }

    /// Commits another description of the network.
    pub(crate) fn describe_network(&self, description: &str) -> String {
        self.repository.commit(&[("net/main.tf", &network(self.cloud.dir(), description))])
    }

    /// The field of a spec that keeps a state in the installation's bucket.
    fn backend(&self, key: &str) -> String {
        let (bucket, endpoint) = self.states();
        format!(
            "backendConfig:
  customConfiguration: |
    backend \"s3\" {{
      bucket                      = \"{bucket}\"
      key                         = \"{key}\"
      region                      = \"eu-central-1\"
      use_lockfile                = true
      use_path_style              = true
      skip_credentials_validation = true
      skip_requesting_account_id  = true
      skip_metadata_api_check     = true
      endpoints                   = {{ s3 = \"{endpoint}\" }}
    }}
roles: {{plan: arn:aws:iam::111122223333:role/yuba/demo/plan, apply: arn:aws:iam::111122223333:role/yuba/demo/apply}}"
        )
    }
}

/// A network in the toy cloud, of which an output tells.
fn network(cloud: &Path, description: &str) -> String {
    format!(
        r#"terraform {{
  required_providers {{
    toy = {{ source = "yuba/toy" }}
  }}
}}

provider "toy" {{
  dir = "{}"
}}

resource "toy_network" "this" {{
  name        = "net"
  cidr        = "10.0.0.0/16"
  description = "{description}"
}}

output "network" {{
  value = toy_network.this.id
}}
"#,
        cloud.display()
    )
}

/// What Flux calls a stack.
pub(crate) const TERRAFORM: &str = "apiVersion: infra.contrib.fluxcd.io/v1alpha2\nkind: Terraform";
/// The same with more fields.
const STACK: &str = "apiVersion: yuba.dev/v1\nkind: Stack";

/// A source and a stack `net` with lines of its spec, and other manifests.
pub(crate) fn manifest(kind: &str, stack: &str, others: &str) -> String {
    format!(
        "apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: infra, namespace: default}}
spec: {{interval: 1m, url: '{URL}', ref: {{branch: main}}}}
---
{kind}
metadata: {{name: net, namespace: default}}
spec:
  path: ./net
  {stack}
  sourceRef: {{kind: GitRepository, name: infra}}
{others}"
    )
}
