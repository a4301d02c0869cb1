//! One look at a source: load, look, compare, write, wake, advance.

mod advance;
mod artifact;
mod brought;
pub(crate) mod credentials;
mod fan_out;
mod observe;
mod pushed;
pub(crate) mod stacks;

use std::sync::Arc;

use yuba_core::id::SourceName;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::Key;
use yuba_core::request::Request;
use yuba_core::source::{Seen, Source};
use yuba_ports::records::{Versioned, load};
use yuba_ports::{PortError, Ports, Remedy};

use crate::backoff::Trouble;
use crate::git::{Checkout, fetcher};
use crate::outcome;
use crate::report::Report;
use crate::settings::SourceSettings;

pub(crate) use pushed::{Pushed, pushed};

/// Looks at a source, once for all that caused it, and wakes each stack whose closure differs from what was observed
/// before.
pub(crate) async fn look(
    ports: &Ports,
    settings: &SourceSettings,
    name: &SourceName,
    causes: &[&Cause],
) -> Result<Vec<Report>, PortError> {
    let looked = look_for(ports, settings, name, causes).await;
    // A request is decided after the look that it asked for, however that went.
    if looked.as_ref().map_or_else(|error| error.remedy == Remedy::Permanent, |_| true) {
        pass_on(ports, causes).await?;
    }
    looked
}

/// Wakes the stacks whose requests asked for the look.
async fn pass_on(ports: &Ports, causes: &[&Cause]) -> Result<(), PortError> {
    let mut messages = Vec::new();
    for cause in causes {
        let Cause::Request(id) = cause else { continue };
        if let Some(request) = load::<Request>(ports.store.as_ref(), &Key::request(*id)).await? {
            messages.push(Message::new(Wake::Stack(request.stack), (*cause).clone()));
        }
    }
    if messages.is_empty() { Ok(()) } else { ports.queue.send(messages).await }
}

/// Serves what lacks its code, each by itself, and everything else with one look.
async fn look_for(
    ports: &Ports,
    settings: &SourceSettings,
    name: &SourceName,
    causes: &[&Cause],
) -> Result<Vec<Report>, PortError> {
    let source = load::<Source>(ports.store.as_ref(), &Key::source(name)).await?.map(Versioned::into_value);
    let mut reports = Vec::new();
    let mut others = Vec::new();
    for cause in causes {
        match (cause, &source) {
            (Cause::Attempt { attempt, .. }, Some(source)) => {
                reports.push(artifact::store_again(ports, settings, source, *attempt).await?);
            }
            _ => others.push(*cause),
        }
    }
    if !others.is_empty() {
        let report = match source {
            None => Report::Nothing("there is no such source".to_owned()),
            Some(source) => match resting(&source, &others) {
                Some(why) => advance::rest(ports, &source, why).await?,
                None => look_at(ports, settings, &source, &others).await?,
            },
        };
        outcome::note(ports, &others, &name.to_string(), &report.to_string()).await?;
        reports.push(report);
    }
    Ok(reports)
}

/// Why a source is not looked at now.
fn resting(source: &Source, causes: &[&Cause]) -> Option<&'static str> {
    if source.vanished.is_some() {
        return Some("the source vanished from the manifests");
    }
    if source.spec.suspend {
        return Some("the source is suspended in its manifest");
    }
    let is_stale =
        |cause: &&Cause| matches!(cause, Cause::Due { slot } if source.due.is_none_or(|due| due > *slot));
    causes.iter().all(is_stale).then_some("it was looked at already")
}

async fn look_at(
    ports: &Ports,
    settings: &SourceSettings,
    source: &Source,
    causes: &[&Cause],
) -> Result<Report, PortError> {
    let fetched = match fetch(ports, settings, source).await? {
        Ok(fetched) => fetched,
        Err(trouble) => return advance::failed(ports, source, &trouble).await,
    };
    if is_as_seen(source, &*fetched) {
        return advance::unchanged(ports, source).await;
    }
    let number = advance::give_number(ports, source).await?;
    let pushers = pushed(ports, causes).await?.iter().map(Pushed::identity).collect();
    let look = fan_out::Look { source, fetched: &*fetched, number, pushers };
    let fanned = fan_out::fan_out(ports, &look).await?;
    match fanned {
        Ok(woken) => advance::looked(ports, source, (&*fetched, number), woken).await,
        Err(trouble) => advance::failed(ports, source, &trouble).await,
    }
}

/// Fetches what a source refers to.
pub(crate) async fn fetch(
    ports: &Ports,
    settings: &SourceSettings,
    source: &Source,
) -> Result<Result<Arc<dyn Checkout>, Trouble>, PortError> {
    let credentials = match credentials::of(ports, source.spec.secret.as_ref()).await? {
        Ok(credentials) => credentials,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let cache = fetcher::cache(settings, &source.name);
    settings.git.fetch(&cache, source.spec.clone(), credentials).await
}

/// Whether commit and definitions are those that the last completed look took into account. A look that began after it
/// and was cut may have written what it found for some stacks: then the same commit, come back, is looked at again.
fn is_as_seen(source: &Source, fetched: &dyn Checkout) -> bool {
    let is_same = |seen: &Seen| {
        seen.observation == source.observation
            && seen.tree == *fetched.tree()
            && seen.revision == *fetched.revision()
    };
    source.definitions == source.definitions_seen && source.seen.as_ref().is_some_and(is_same)
}
