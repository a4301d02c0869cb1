//! Where the server is found, and what a person should know who starts it.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use secrecy::ExposeSecret;
use yuba_local::LocalHandles;

use super::{Settings, engine};

/// Writes the server's URL where tasks find it, and the token where the same user's command line finds it.
pub(crate) fn write_addresses(
    handles: &LocalHandles,
    address: SocketAddr,
    environment: &BTreeMap<String, String>,
) -> anyhow::Result<()> {
    if let Some(file) = client_file(environment, address) {
        write_private(&file, handles.api_token.expose_secret())
            .with_context(|| format!("the token cannot be written to {}", file.display()))?;
    }
    let url = &handles.paths.server_url;
    write_private(url, &url_of(address)).with_context(|| format!("{} cannot be written", url.display()))
}

/// Says where it serves, and what it found.
pub(crate) fn greet(settings: &Settings, handles: &LocalHandles, address: SocketAddr) {
    let (url, data) = (url_of(address), handles.paths.root.display());
    tracing::info!(%url, %data, tasks = settings.tasks, manifests = settings.manifests.len(), "yuba serves");
    say_engine(settings);
    say_what_is_missing(settings);
}

/// Says what code from Git can reach.
pub(crate) fn say_isolation(is_isolated: bool) {
    if is_isolated {
        tracing::info!(
            "code from Git runs as a user of its own for each attempt, with this server's environment"
        );
    } else {
        tracing::warn!("nothing is isolated: code from Git runs as this user, with this user's credentials");
    }
}

fn say_engine(settings: &Settings) {
    if let Some(engine) = engine::on_path(&settings.environment) {
        tracing::info!(engine = %engine.display(), "engine found");
    } else {
        tracing::warn!(
            "neither tofu nor terraform is on the PATH: stacks must name an engine that can be installed"
        );
    }
}

fn say_what_is_missing(settings: &Settings) {
    if settings.manifests.is_empty() {
        tracing::warn!("no --manifests were given: there is nothing to look at beyond what is known already");
    }
    if settings.webhook_secrets.is_empty() {
        tracing::info!("no --webhook-secret-file was given: webhooks are refused, sources are polled");
    }
}

fn url_of(address: SocketAddr) -> String {
    format!("http://{address}")
}

/// `$XDG_STATE_HOME/yuba/<host>_<port>`; `None` where there is no home either.
fn client_file(environment: &BTreeMap<String, String>, address: SocketAddr) -> Option<PathBuf> {
    let set = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
    Some(state.join("yuba").join(format!("{}_{}", address.ip(), address.port())))
}

/// Writes a file of mode 0600 whole: a reader sees the old one or the new one.
fn write_private(path: &Path, content: &str) -> io::Result<()> {
    let directory = path.parent().unwrap_or(path);
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    let mut file =
        OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    file.write_all(content.as_bytes())?;
    file.sync_all()?;
    fs::rename(unfinished, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_lies_where_the_command_line_looks() {
        let file = |entries: &[(&str, &str)]| {
            let entries = entries.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            client_file(&entries.collect(), "127.0.0.1:8420".parse().unwrap())
        };
        assert_eq!(file(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]), Some("/s/yuba/127.0.0.1_8420".into()));
        assert_eq!(
            file(&[("XDG_STATE_HOME", ""), ("HOME", "/h")]),
            Some("/h/.local/state/yuba/127.0.0.1_8420".into())
        );
        assert_eq!(file(&[]), None);
    }
}
