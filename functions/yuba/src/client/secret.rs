//! `secret set` and `secret list`: values go in and never come out.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use reqwest::Method;
use yuba_api::wire::{SecretBody, SecretItem};
use yuba_core::id::SecretName;

use super::args::Secret;
use super::ask::Asker;
use super::get::print_list;
use super::http::encode;
use super::print;
use crate::render;

/// Does what a verb about secrets says.
pub(crate) async fn run(asker: &Asker<'_>, secret: Secret) -> Result<ExitCode> {
    match secret {
        Secret::Set { name, values, config_map } => set(asker, &name, values, config_map).await,
        Secret::List { name, config_map } => list(asker, name.as_deref(), config_map).await,
    }
}

fn kind(config_map: bool) -> &'static str {
    if config_map { "ConfigMap" } else { "Secret" }
}

async fn set(
    asker: &Asker<'_>,
    name: &SecretName,
    values: Vec<(String, String)>,
    config_map: bool,
) -> Result<ExitCode> {
    let (namespace, short) = (encode(&name.namespace), encode(&name.name));
    let path = format!("/api/v1/secrets/{namespace}/{short}?kind={}", kind(config_map));
    let values = values.into_iter().map(|(key, value)| Ok((key, read(value)?)));
    let values = values.collect::<Result<BTreeMap<_, _>>>()?;
    let request = asker.client.request(Method::PUT, &path).json(&SecretBody { values });
    let item: SecretItem = asker.client.send(request).await?.json().await?;
    print(&format!("{} {name} holds {}\n", item.kind, item.keys.join(", ")))?;
    Ok(ExitCode::SUCCESS)
}

/// What a value means: itself, `@file`, or `-` for standard input.
fn read(value: String) -> Result<String> {
    match (value.as_str(), value.strip_prefix('@')) {
        ("-", _) => std::io::read_to_string(std::io::stdin()).context("standard input cannot be read"),
        (_, Some(file)) => std::fs::read_to_string(file).with_context(|| format!("{file} cannot be read")),
        (_, None) => Ok(value),
    }
}

async fn list(asker: &Asker<'_>, name: Option<&str>, config_map: bool) -> Result<ExitCode> {
    let mut query = vec![("kind", kind(config_map).to_owned())];
    query.extend(asker.options.namespace.clone().map(|namespace| ("namespace", namespace)));
    let mut items: Vec<SecretItem> = asker.client.list("/api/v1/secrets", &query, usize::MAX).await?;
    items.retain(|item| name.is_none_or(|name| name == format!("{}/{}", item.namespace, item.name)));
    if let (Some(name), true) = (name, items.is_empty()) {
        bail!("there is no {} {name}; `yuba secret list` lists those of all namespaces", kind(config_map));
    }
    print_list(asker, &items, |_| render::lists::secrets(&items))
}
