//! `token create`, `token list` and `token revoke`.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use reqwest::Method;
use yuba_api::wire::{TokenBody, TokenItem, TokenMade};

use super::ask::Asker;
use super::get::{print_list, print_one};
use super::http::encode;
use super::{print, tell};
use crate::render;

/// What to do with tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Make one, and print it: it is shown this once.
    Create(Create),
    /// List them.
    List,
    /// Revoke one: from then on it gives nothing.
    Revoke {
        /// Its name.
        name: String,
    },
}

/// A token that is to be made.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// What it is called.
    name: String,
    /// What it may be used for: `read`, `approve` (decide, and ask for plans) or `admin`.
    #[arg(long)]
    scope: yuba_core::access::Scope,
    /// Only for stacks with these labels: `key=value,…`.
    #[arg(short = 'l', long = "selector", value_name = "LABELS")]
    labels: Option<String>,
    /// Whom it speaks for: their approvals count as those of the human whom a Team knows by this address.
    #[arg(long = "for", value_name = "EMAIL")]
    speaks_for: Option<String>,
    /// For how long it holds: `12h`, `30d`, a year at most.
    #[arg(long, default_value = "90d")]
    expires: String,
}

/// Does what a verb about tokens says.
pub(crate) async fn run(asker: &Asker<'_>, token: Token) -> Result<ExitCode> {
    match token {
        Token::Create(what) => create(asker, what).await,
        Token::List => {
            let items: Vec<TokenItem> = asker.client.list("/api/v1/tokens", &[], usize::MAX).await?;
            print_list(asker, &items, |_| render::lists::tokens(&items))
        }
        Token::Revoke { name } => revoke(asker, &name).await,
    }
}

async fn create(asker: &Asker<'_>, what: Create) -> Result<ExitCode> {
    let Create { name, scope, labels, speaks_for, expires } = what;
    let body = TokenBody {
        name,
        scope: scope.to_string(),
        labels,
        r#for: speaks_for,
        expires: Some(expires),
        who: asker.options.who(),
        from: Some("cli".to_owned()),
    };
    let request = asker.client.request(Method::POST, "/api/v1/tokens").json(&body);
    let made: TokenMade = asker.client.send(request).await?.json().await?;
    if !asker.is_for_people() {
        return print_one(asker, &made, String::new);
    }
    tell(&format!(
        "token {} ({}) holds until {}; it is shown this once:",
        made.token.name, made.token.scope, made.token.expires_at
    ));
    print(&format!("{}\n", made.text))?;
    Ok(ExitCode::SUCCESS)
}

async fn revoke(asker: &Asker<'_>, name: &str) -> Result<ExitCode> {
    let who = asker.options.who().map(|who| format!("&who={}", encode(&who))).unwrap_or_default();
    let path = format!("/api/v1/tokens/{}?from=cli{who}", encode(name));
    let item: TokenItem =
        asker.client.send(asker.client.request(Method::DELETE, &path)).await?.json().await?;
    print(&format!("token {} is revoked\n", item.name))?;
    Ok(ExitCode::SUCCESS)
}
