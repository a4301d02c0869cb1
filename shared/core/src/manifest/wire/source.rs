//! `GitRepository` of `source.toolkit.fluxcd.io`: v1, v1beta1 and v1beta2 in one type.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::kube::{LocalReference, Metadata};
use crate::manifest::format;
use crate::time::Span;

/// A source: a Git repository at a reference.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "GitRepository")]
pub struct GitRepositoryDocument {
    /// `source.toolkit.fluxcd.io/v1`, `…/v1beta2` or `…/v1beta1`.
    pub api_version: String,
    /// `GitRepository`.
    pub kind: String,
    /// Name and namespace.
    pub metadata: Metadata,
    /// What is wanted.
    pub spec: GitRepositorySpec,
    /// Kept by Flux, ignored here.
    pub status: Option<Value>,
}

/// The settings of a source.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GitRepositorySpec {
    /// The repository: `https://`, `ssh://`, `http://` or `file://`.
    #[schemars(with = "format::GitUrl")]
    pub url: String,
    /// How often the repository is polled, webhooks aside.
    #[schemars(with = "format::PositiveDuration")]
    pub interval: Span,
    /// Which commit: `commit`, `name`, `semver`, `tag` or `branch`, the first that is given; `master` if none is.
    #[serde(rename = "ref")]
    pub reference: Option<GitRepositoryRef>,
    /// The secret with the credentials: `username` and `password`, `bearerToken`, or `identity` and `known_hosts`; and
    /// `ca.crt`, the authority of an HTTPS host that this machine does not know.
    pub secret_ref: Option<LocalReference>,
    /// No polls and no new observations while it is true.
    pub suspend: Option<bool>,
    /// Bounds one fetch.
    #[schemars(with = "Option<format::PositiveDuration>")]
    pub timeout: Option<Span>,
    /// Who issues the credentials.
    pub provider: Option<GitProvider>,
    /// The service account whose role reads the repository.
    pub service_account_name: Option<String>,
    /// The secret that names a proxy.
    pub proxy_secret_ref: Option<LocalReference>,
    /// Commits or tags must carry a signature of one of the secret's keys.
    pub verify: Option<GitVerification>,
    /// Paths that Flux leaves out of its artifact. Yuba stores whole trees.
    pub ignore: Option<String>,
    /// Submodules are fetched too.
    pub recurse_submodules: Option<bool>,
    /// Directories that Flux checks out alone. Yuba stores whole trees.
    pub sparse_checkout: Option<Vec<String>>,
    /// Files of other sources that are laid into this one.
    pub include: Option<Vec<GitInclude>>,
    /// v1beta1 and v1beta2 only, without effect in Flux too.
    pub access_from: Option<Value>,
    /// v1beta1 and v1beta2 only: Flux's choice of Git library.
    pub git_implementation: Option<String>,
}

/// Which commit of a repository.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GitRepositoryRef {
    /// The head of this branch.
    pub branch: Option<String>,
    /// This tag.
    pub tag: Option<String>,
    /// The newest tag within a range of versions.
    pub semver: Option<String>,
    /// This reference, by its full name as `refs/heads/main`.
    pub name: Option<String>,
    /// Exactly this commit.
    #[schemars(with = "Option<format::Commit>")]
    pub commit: Option<String>,
}

/// Who issues the credentials of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GitProvider {
    /// The secret holds them.
    Generic,
    /// CodeCommit through IAM.
    Aws,
    /// Azure DevOps.
    Azure,
    /// A GitHub App.
    #[serde(rename = "github")]
    GitHub,
}

/// Whose signatures are demanded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GitVerification {
    /// What must be signed.
    pub mode: Option<VerificationMode>,
    /// The secret with the keys.
    pub secret_ref: LocalReference,
}

/// What must be signed.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub enum VerificationMode {
    /// The commit (the older spelling).
    #[serde(rename = "head")]
    OldHead,
    /// The commit.
    #[serde(rename = "HEAD")]
    Head,
    /// The tag.
    Tag,
    /// Both.
    #[serde(rename = "TagAndHEAD")]
    TagAndHead,
}

/// Files of another source.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GitInclude {
    /// The other `GitRepository`.
    pub repository: LocalReference,
    /// What is taken.
    pub from_path: Option<String>,
    /// Where it is laid.
    pub to_path: Option<String>,
}
