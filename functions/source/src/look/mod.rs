//! One look at a source: load, look, compare, write, wake, advance.

mod advance;
mod artifact;
pub(crate) mod credentials;
mod fan_out;
mod observe;
pub(crate) mod stacks;

use std::sync::Arc;

use yuba_core::id::SourceName;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::Key;
use yuba_core::request::Request;
use yuba_core::source::{Seen, Source};
use yuba_ports::records::load;
use yuba_ports::{PortError, Ports, Remedy};

use crate::backoff::Trouble;
use crate::git::{Checkout, fetcher};
use crate::outcome;
use crate::report::Report;
use crate::settings::SourceSettings;

/// Looks at a source and wakes each stack whose closure differs from what was observed before.
pub(crate) async fn look(
    ports: &Ports,
    settings: &SourceSettings,
    name: &SourceName,
    cause: &Cause,
) -> Result<Report, PortError> {
    let looked = look_for(ports, settings, name, cause).await;
    // A request is decided after the look that it asked for, however that went.
    if looked.as_ref().map_or_else(|error| error.remedy == Remedy::Permanent, |_| true) {
        pass_on(ports, cause).await?;
    }
    looked
}

/// Wakes the stack whose request asked for the look.
async fn pass_on(ports: &Ports, cause: &Cause) -> Result<(), PortError> {
    let Cause::Request(id) = cause else { return Ok(()) };
    let Some(request) = load::<Request>(ports.store.as_ref(), &Key::request(*id)).await? else {
        return Ok(());
    };
    ports.queue.send(vec![Message::new(Wake::Stack(request.stack), cause.clone())]).await
}

async fn look_for(
    ports: &Ports,
    settings: &SourceSettings,
    name: &SourceName,
    cause: &Cause,
) -> Result<Report, PortError> {
    let source = load::<Source>(ports.store.as_ref(), &Key::source(name)).await?;
    let report = match source {
        None => Report::Nothing("there is no such source".to_owned()),
        Some(source) => {
            let source = source.into_value();
            match (cause, resting(&source, cause)) {
                (Cause::Attempt { attempt, .. }, _) => {
                    artifact::store_again(ports, settings, &source, *attempt).await?
                }
                (_, Some(why)) => advance::rest(ports, &source, why).await?,
                (_, None) => look_at(ports, settings, &source).await?,
            }
        }
    };
    outcome::note(ports, cause, &name.to_string(), &report.to_string()).await?;
    Ok(report)
}

/// Why a source is not looked at now.
fn resting(source: &Source, cause: &Cause) -> Option<&'static str> {
    if source.vanished.is_some() {
        return Some("the source vanished from the manifests");
    }
    if source.spec.suspend {
        return Some("the source is suspended in its manifest");
    }
    match cause {
        Cause::Due { slot } if source.due.is_none_or(|due| due > *slot) => Some("it was looked at already"),
        _ => None,
    }
}

async fn look_at(ports: &Ports, settings: &SourceSettings, source: &Source) -> Result<Report, PortError> {
    let fetched = match fetch(ports, settings, source).await? {
        Ok(fetched) => fetched,
        Err(trouble) => return advance::failed(ports, source, &trouble).await,
    };
    if is_as_seen(source, &*fetched) {
        return advance::unchanged(ports, source).await;
    }
    let number = advance::give_number(ports, source).await?;
    let fanned = fan_out::fan_out(ports, &fan_out::Look { source, fetched: &*fetched, number }).await?;
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
