//! `yuba serve`: reads its settings, all problems together, and serves.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum};
use secrecy::SecretString;
use tokio::runtime::Runtime;
use tracing::Level;
use yuba_core::capacity::{Caps, InvalidCaps, Label};
use yuba_core::id::{ManifestSetName, SecretName};
use yuba_core::manifest_root::ManifestRoot;
use yuba_core::task::Isolation;
use yuba_core::time::Span;
use yuba_http::PrivateAddresses;

use crate::done::Done;
use crate::logs::{self, LogFormat};
use crate::serve::{Settings, serve};

/// Exits with 0 when it was asked to stop (SIGTERM, Ctrl-C), with 1 where it could not start.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The directory that holds everything: records, objects, secrets, logs. It is made where it is missing.
    #[arg(long, value_name = "DIR", env = "YUBA_DATA")]
    data: PathBuf,
    /// The address to listen on; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8420")]
    listen: SocketAddr,
    /// Where manifests are read from: a directory, or a Git URL with reference and subdirectory.
    #[arg(long, value_name = "PATH_OR_GIT_URL[@REF][//SUBDIR]")]
    manifests: Vec<String>,
    /// How often they are looked at; a webhook of their repository wakes them at once.
    #[arg(long, value_name = "DURATION", default_value = "1m")]
    manifests_interval: Span,
    /// The secret with the credentials for manifests in Git, as `yuba secret set` wrote it.
    #[arg(long, value_name = "NAMESPACE/NAME")]
    manifests_secret: Option<SecretName>,
    /// How many plans and applies may run at once [default: the number of processor cores, at least 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    tasks: Option<u16>,
    /// How many of stacks that carry a label may run at once; may be given several times.
    #[arg(long, value_name = "KEY=VALUE:N", value_parser = Caps::read_label)]
    tasks_per_label: Vec<(Label, u32)>,
    /// A file with a secret that webhooks are signed with; several while one replaces another.
    #[arg(long, value_name = "FILE")]
    webhook_secret_file: Vec<PathBuf>,
    /// A file with the signing secret of the Slack app whose buttons people press; several while one replaces another.
    #[arg(long, value_name = "FILE", env = "YUBA_SLACK_SIGNING_SECRET_FILE")]
    slack_signing_secret_file: Vec<PathBuf>,
    /// Whether tofu and what it starts run as other users: as root they do, unless this is `never`.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    isolation: IsolationChoice,
    /// Let messages go to private, link-local and loopback addresses too: only where everybody who may write manifests
    /// may reach whatever this server reaches.
    #[arg(long)]
    allow_private_webhooks: bool,
    /// Where people reach this server's pages: messages link there.
    #[arg(long, value_name = "URL", value_parser = web_url)]
    web_url: Option<String>,
    /// How the log, on standard error, is written.
    #[arg(long, value_enum, default_value_t, env = "YUBA_LOG_FORMAT")]
    log_format: LogFormat,
}

/// Whether engines are isolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum IsolationChoice {
    /// Where the server is root.
    #[default]
    AsRoot,
    /// Never.
    Never,
}

/// Serves until it is asked to stop.
pub(crate) fn run(arguments: Serve) -> anyhow::Result<Done> {
    logs::start(arguments.log_format, Level::INFO);
    let settings = arguments.settings()?;
    let runtime = Runtime::new().context("no threads can be started")?;
    let served = runtime.block_on(serve(settings));
    // Work that outlived its patience is not waited for again.
    runtime.shutdown_background();
    served.map(|()| Done::default())
}

impl Serve {
    fn settings(self) -> anyhow::Result<Settings> {
        let mut problems = Vec::new();
        let mut keep = |problem: anyhow::Error| problems.push(format!("{problem:#}"));
        let manifests: Vec<_> =
            self.manifests.iter().filter_map(|text| manifest_set(text).map_err(&mut keep).ok()).collect();
        let webhook_secrets = secrets("--webhook-secret-file", &self.webhook_secret_file, &mut keep);
        let slack_secrets =
            secrets("--slack-signing-secret-file", &self.slack_signing_secret_file, &mut keep);
        let tasks_per_label = per_label(self.tasks_per_label, &mut keep);
        if !problems.is_empty() {
            bail!("{}", problems.join("\n       "));
        }
        let cores = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        Ok(Settings {
            data: self.data,
            listen: self.listen,
            manifests,
            manifests_interval: self.manifests_interval,
            manifests_secret: self.manifests_secret,
            tasks: self.tasks.unwrap_or(u16::try_from(cores).unwrap_or(u16::MAX)),
            tasks_per_label,
            webhook_secrets,
            slack_secrets,
            private: if self.allow_private_webhooks {
                PrivateAddresses::Allowed
            } else {
                PrivateAddresses::Refused
            },
            web: self.web_url,
            program: std::env::current_exe().context("the path of this program cannot be found")?,
            environment: environment(),
            isolation: match self.isolation {
                IsolationChoice::AsRoot => Isolation::WhereRoot,
                IsolationChoice::Never => Isolation::Never,
            },
        })
    }
}

/// Caps by label; one that has two is a problem.
fn per_label(caps: Vec<(Label, u32)>, mut keep: impl FnMut(anyhow::Error)) -> BTreeMap<Label, u32> {
    let mut labels = BTreeMap::new();
    for (label, most) in caps {
        if labels.insert(label.clone(), most).is_some() {
            keep(anyhow!("--tasks-per-label: {}", InvalidCaps::Twice(label)));
        }
    }
    labels
}

/// The name of a place of manifests: a directory's must not depend on where the server was started.
fn manifest_set(text: &str) -> anyhow::Result<ManifestSetName> {
    let name = ManifestSetName(text.to_owned());
    match ManifestRoot::of(&name) {
        ManifestRoot::Git { .. } => Ok(name),
        ManifestRoot::Directory(path) => {
            let path = fs::canonicalize(&path).with_context(|| format!("--manifests {path}"))?;
            let path = path.to_str().with_context(|| format!("--manifests {}: not UTF-8", path.display()))?;
            Ok(ManifestSetName(path.to_owned()))
        }
    }
}

/// An address of the web, without a slash at its end.
fn web_url(text: &str) -> Result<String, String> {
    match reqwest::Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err(format!("`{text}` is not a URL such as https://yuba.example.com")),
    }
}

/// The secrets that files hold; what is wrong with one is kept.
fn secrets(option: &str, files: &[PathBuf], mut keep: impl FnMut(anyhow::Error)) -> Vec<SecretString> {
    files.iter().filter_map(|file| secret(option, file).map_err(&mut keep).ok()).collect()
}

fn secret(option: &str, file: &Path) -> anyhow::Result<SecretString> {
    let option = || format!("{option} {}", file.display());
    let text = fs::read_to_string(file).with_context(option)?;
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() {
        bail!("{}: the file is empty", option());
    }
    Ok(SecretString::from(text))
}

/// What tasks inherit. Variables that are no text cannot be handed on.
pub(super) fn environment() -> BTreeMap<String, String> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}
