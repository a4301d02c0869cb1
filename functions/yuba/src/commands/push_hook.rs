//! `yuba hook post-receive`: called by a Git server after a push; tells Yuba's generic webhook of each reference.
//!
//! A push is never lost by a server that is away: the source is polled. So the pusher waits a few seconds at most.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use reqwest::StatusCode;
use secrecy::SecretString;
use serde_json::{Value, json};
use yuba_git::webhook::sign;

use crate::done::{Done, code};
use crate::render;

/// How long each answer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The pauses between attempts.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(250), Duration::from_millis(500), Duration::from_secs(1)];

/// The hooks that there are.
#[derive(Debug, Subcommand)]
pub(crate) enum Hook {
    /// Git's post-receive: reads `old new ref` lines from standard input
    PostReceive(PostReceive),
}

/// Arguments of `yuba hook post-receive`; the server is named by `--server`.
#[derive(Debug, Args)]
pub(crate) struct PostReceive {
    /// The file with the secret that pushes are signed with
    #[arg(long, value_name = "FILE")]
    secret_file: PathBuf,
    /// The repository's URL, as sources name it
    #[arg(long, value_name = "URL")]
    repository: String,
}

/// A reference that was pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pushed {
    before: String,
    after: String,
    /// `refs/heads/main`.
    pub(crate) reference: String,
}

/// What became of telling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    /// Accepted; what was answered.
    Accepted(Value),
    /// Refused; with which status and why.
    Refused(StatusCode, String),
    /// Nobody answered, for this reason.
    Away(String),
}

/// Tells the server; exit code 1 where it refused or was away.
pub(crate) fn run(hook: &Hook, server: &str) -> anyhow::Result<Done> {
    let Hook::PostReceive(args) = hook;
    let secret = secret(&args.secret_file)?;
    let pushed = read(&io::read_to_string(io::stdin()).context("cannot read standard input")?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut done = Done::default();
    for push in pushed {
        let told = runtime.block_on(tell(server, &body(&push, &args.repository), &secret))?;
        let text = render::push_hook::told(&push, server, &told);
        if matches!(told, Told::Accepted(_)) {
            done.out.push_str(&text);
        } else {
            done.err.push_str(&text);
            done.code = code::FAILED;
        }
    }
    Ok(done)
}

fn secret(file: &Path) -> anyhow::Result<SecretString> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let secret = text.trim();
    anyhow::ensure!(!secret.is_empty(), "{} is empty: it must hold the secret", file.display());
    Ok(SecretString::from(secret.to_owned()))
}

/// Reads what Git writes to the hook. <https://git-scm.com/docs/githooks#post-receive>
fn read(lines: &str) -> anyhow::Result<Vec<Pushed>> {
    let line = |line: &str| {
        let mut words = line.splitn(3, ' ').map(str::to_owned);
        match (words.next(), words.next(), words.next()) {
            (Some(before), Some(after), Some(reference)) if !reference.is_empty() => {
                Ok(Pushed { before, after, reference })
            }
            _ => anyhow::bail!(
                "`{line}` is not a line of the form `old new ref`, as Git gives post-receive hooks"
            ),
        }
    };
    lines.lines().filter(|text| !text.trim().is_empty()).map(line).collect()
}

fn body(push: &Pushed, repository: &str) -> Vec<u8> {
    let body = json!({"url": repository, "ref": push.reference, "before": push.before, "after": push.after});
    body.to_string().into_bytes()
}

async fn tell(server: &str, body: &[u8], secret: &SecretString) -> anyhow::Result<Told> {
    let signature = sign(body, secret).context("an empty secret signs nothing")?;
    let client = reqwest::Client::builder().timeout(PATIENCE).build()?;
    let mut pauses = PAUSES.iter();
    loop {
        let request = client
            .post(format!("{server}/webhooks/generic"))
            .header("content-type", "application/json")
            .header("x-yuba-signature", &signature)
            .body(body.to_vec());
        let told = answer(request.send().await).await;
        match (told, pauses.next()) {
            (Told::Away(_), Some(pause)) => tokio::time::sleep(*pause).await,
            (told, _) => return Ok(told),
        }
    }
}

/// Reads an answer. A server that could not store a delivery is as good as away.
async fn answer(answered: reqwest::Result<reqwest::Response>) -> Told {
    let response = match answered {
        Ok(response) => response,
        Err(error) => return Told::Away(innermost(&error)),
    };
    let status = response.status();
    let body: Value = response.json().await.unwrap_or_default();
    let error = || body.get("error").and_then(Value::as_str).unwrap_or("no reason was given").to_owned();
    if status.is_success() {
        Told::Accepted(body)
    } else if status.is_server_error() {
        Told::Away(format!("{status}: {}", error()))
    } else {
        Told::Refused(status, error())
    }
}

/// The cause of causes: what a person understands of a failed connection.
fn innermost(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_what_git_writes() {
        let read_lines = read("0000 1234 refs/heads/with space\n\nabcd 0000 refs/tags/v1\n").unwrap();
        assert_eq!(read_lines[0].reference, "refs/heads/with space");
        assert_eq!((read_lines.len(), read_lines[1].after.as_str()), (2, "0000"));
        assert!(read("refs/heads/main").is_err());
    }
}
