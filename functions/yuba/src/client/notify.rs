//! Providers of notifications: how they fare, trying one, sending again.

use std::process::ExitCode;

use anyhow::{Result, bail};
use reqwest::Method;
use yuba_api::wire::{AskBody, ProviderItem, Redelivered};
use yuba_core::id::ObjectName;

use super::args::Notify;
use super::ask::Asker;
use super::get::print_list;
use super::http::encode;
use super::outcome::{LookedUp, Outcomes};
use super::print;
use crate::render::{self, Now};

/// Lists providers.
pub(crate) async fn list(asker: &Asker<'_>, typed: Option<&str>) -> Result<ExitCode> {
    let namespace = asker.options.namespace.as_deref();
    let wanted = |item: &ProviderItem| match typed {
        Some(typed) if typed.contains('/') => typed == format!("{}/{}", item.namespace, item.name),
        typed => {
            namespace.is_none_or(|namespace| namespace == item.namespace)
                && typed.is_none_or(|typed| typed == item.name)
        }
    };
    let items = asker.client.list_those("/api/v1/providers", &[], usize::MAX, wanted).await?;
    if let (Some(typed), true) = (typed, items.is_empty()) {
        bail!("there is no provider {typed}; `yuba get providers` lists all providers");
    }
    print_list(asker, &items, |width| render::lists::providers(&items, width, Now::read()))
}

/// Does what a verb about a provider says.
pub(crate) async fn run(asker: &Asker<'_>, what: Notify) -> Result<ExitCode> {
    match what {
        Notify::Test { provider } => {
            let body = asker.signed(AskBody::default(), None);
            let path = format!("{}/test", path_of(&provider));
            let answer = asker.client.ask(Method::POST, &path, &body).await?;
            let mut outcomes = Outcomes::new(asker, LookedUp::Provider);
            let name = provider.to_string();
            outcomes.hear(&name, &name, &answer)?;
            outcomes.finish()
        }
        Notify::Redeliver { provider } => {
            let request = asker.client.request(Method::POST, &format!("{}/redeliver", path_of(&provider)));
            let Redelivered { count } = asker.client.send(request).await?.json().await?;
            print(&format!("{provider}: {count} notifications are sent again\n"))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn path_of(provider: &ObjectName) -> String {
    format!("/api/v1/providers/{}/{}", encode(&provider.namespace), encode(&provider.name))
}
