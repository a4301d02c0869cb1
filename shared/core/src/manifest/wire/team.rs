//! `Team` of `yuba.dev/v1`: people who may decide, and the names under which services know them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::kube::Metadata;
use crate::manifest::format;

/// People who may decide.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Team")]
pub struct TeamDocument {
    /// `yuba.dev/v1`.
    pub api_version: String,
    /// `Team`.
    pub kind: String,
    /// Name and namespace.
    pub metadata: Metadata,
    /// Who belongs to it.
    pub spec: TeamSpec,
}

/// Who belongs to a team.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TeamSpec {
    /// The members. Two entries, in whichever teams, that have one name in common are one human, who counts once.
    pub members: Vec<TeamMember>,
}

/// Somebody who belongs to a team; each entry needs at least one of the names that services vouch for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TeamMember {
    /// What people call them.
    pub name: Option<String>,
    /// Their e-mail address, as their commits have it.
    #[schemars(with = "Option<format::EmailAddress>")]
    pub email: Option<String>,
    /// Their logins at Git hosts, by host: `github: ada`.
    pub logins: Option<BTreeMap<String, String>>,
    /// Their user's id in Slack (in Slack: profile, `Copy member ID`).
    #[schemars(with = "Option<format::SlackUser>")]
    pub slack: Option<String>,
    /// The ARN of their IAM user or role.
    #[schemars(with = "Option<format::IamArn>")]
    pub iam_arn: Option<String>,
    /// All members of this group of the identity provider.
    pub oidc_group: Option<String>,
}
