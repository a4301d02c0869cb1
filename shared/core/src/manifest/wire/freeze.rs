//! `Freeze` of `yuba.dev/v1`: times in which nothing of some stacks is applied.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::approval::OpenWindow;
use super::kube::Metadata;
use crate::manifest::format;

/// A time in which nothing is applied.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Freeze")]
pub struct FreezeDocument {
    /// `yuba.dev/v1`.
    pub api_version: String,
    /// `Freeze`.
    pub kind: String,
    /// Name and namespace.
    pub metadata: Metadata,
    /// What is frozen, and when; all stacks for as long as the document stands, if it says nothing.
    pub spec: FreezeSpec,
}

/// What is frozen, and when.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FreezeSpec {
    /// Why, for people.
    pub reason: Option<String>,
    /// Since when: `2026-12-20T18:00:00+01:00`; since ever if it says nothing.
    #[schemars(with = "Option<format::PointInTime>")]
    pub from: Option<String>,
    /// Until when; as long as the document stands if it says nothing.
    #[schemars(with = "Option<format::PointInTime>")]
    pub until: Option<String>,
    /// Within that, only while one of these windows is open; all the time if there are none.
    pub windows: Option<Vec<OpenWindow>>,
    /// Which stacks; all of every namespace if there are none.
    pub stacks: Option<Vec<FrozenStacks>>,
}

/// Stacks that are frozen.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FrozenStacks {
    /// A stack's name, or `*`, which it is if it says nothing.
    pub name: Option<String>,
    /// Its namespace, or `*`; the freeze's own if it says nothing.
    pub namespace: Option<String>,
    /// Labels that the stack must have.
    pub match_labels: Option<BTreeMap<String, String>>,
}
