//! Records as the API shows them: pure functions from the domain to the wire.

pub(crate) mod manifests;
pub(crate) mod provider;
pub(crate) mod run;
pub(crate) mod stack;
pub(crate) mod words;

use yuba_core::event::Event;
use yuba_core::request::{Outcome, Request, Signed};
use yuba_core::source::{CommitFacts, Source};

use crate::wire::{CommitView, EventItem, RequestState, SignedView, SourceItem};

/// Who did something.
pub(crate) fn signed(signed: &Signed) -> SignedView {
    let Signed { who, at, from, message, identity: _ } = signed.clone();
    SignedView { who, at: at.to_string(), from, message }
}

/// A commit.
pub(crate) fn commit(commit: &CommitFacts) -> CommitView {
    let CommitFacts { id, author, subject } = commit.clone();
    CommitView { id: id.to_string(), author, subject }
}

/// An event.
pub(crate) fn event(event: &Event) -> EventItem {
    EventItem {
        id: event.id(),
        namespace: event.name.namespace.clone(),
        name: event.name.name.clone(),
        number: event.number,
        r#type: event.kind.as_type().to_owned(),
        severity: event.kind.severity().as_str().to_owned(),
        run: event.run.map(|run| run.to_string()),
        revision: event.revision.as_ref().map(ToString::to_string),
        message: event.message.clone(),
        at: event.at.to_string(),
    }
}

/// A request, and what became of it.
pub(crate) fn request(request: &Request) -> RequestState {
    let (outcome, message, run) = match &request.outcome {
        Outcome::Pending => ("pending", "not decided yet".to_owned(), None),
        Outcome::Done { message, run, .. } => ("done", message.clone(), *run),
        Outcome::Refused { message } => ("refused", message.clone(), None),
    };
    let run_to_come = matches!(request.outcome, Outcome::Done { run_to_come: true, .. });
    RequestState {
        id: request.id.to_string(),
        outcome: outcome.to_owned(),
        message,
        run: run.map(|run| run.to_string()),
        run_to_come,
    }
}

/// A source.
pub(crate) fn source(source: &Source) -> SourceItem {
    let (ready, status) = match (&source.failure, &source.seen) {
        _ if source.spec.suspend => ("Unknown", "Suspended by its manifest".to_owned()),
        (Some(failure), _) => ("False", failure.message.clone()),
        (None, Some(seen)) => ("True", format!("Stored artifact for revision '{}'", seen.revision)),
        (None, None) => ("Unknown", "Not looked at yet".to_owned()),
    };
    SourceItem {
        namespace: source.name.namespace.clone(),
        name: source.name.name.clone(),
        ready: ready.to_owned(),
        status,
        url: without_credentials(&source.spec.url),
        reference: source.spec.reference.as_revision_name().to_owned(),
        revision: source.seen.as_ref().map(|seen| seen.revision.to_string()),
        found_at: source.seen.as_ref().map(|seen| seen.at.to_string()),
        due: source.due.map(|due| due.to_string()),
        suspended: source.spec.suspend,
    }
}

/// A URL without what stands before `@` in its authority, but for a user name alone.
pub(crate) fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    match authority.rsplit_once('@') {
        Some((user, host)) if user.contains(':') || scheme.starts_with("http") => {
            format!("{scheme}://{host}{path}")
        }
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

    #[test]
    fn urls_are_shown_without_passwords_and_tokens() {
        for (url, shown) in [
            ("https://user:pass@example.com/a.git", "https://example.com/a.git"),
            ("https://token@example.com/a.git", "https://example.com/a.git"),
            ("ssh://git@example.com/a.git", "ssh://git@example.com/a.git"),
            ("https://example.com/a@b.git", "https://example.com/a@b.git"),
            ("file:///srv/a.git", "file:///srv/a.git"),
        ] {
            assert_eq!(without_credentials(url), shown);
        }
    }
}
