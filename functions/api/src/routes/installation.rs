//! What holds for the whole installation: paused or not.

use axum::extract::State;
use axum::{Extension, Json};
use yuba_core::access::Caller;
use yuba_core::audit::{AuditAction, AuditEntry, Deed};
use yuba_core::id::{AuditChain, StackId};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::{Index, Installation, Key};
use yuba_core::request::Signed;
use yuba_core::stack::Stack;
use yuba_ports::records::{Versioned, load};
use yuba_ports::{Committed, PortError};

use crate::Api;
use crate::extract::Body;
use crate::lookup;
use crate::problem::Problem;
use crate::routes::requests::by;
use crate::view::signed;
use crate::wire::{InstallationState, PauseBody, ProblemBody};

/// Shows whether new applies are stopped.
#[utoipa::path(get, path = "/api/v1/installation", tag = "installation",
    responses((status = 200, body = InstallationState)))]
pub(crate) async fn show(State(api): State<Api>) -> Result<Json<InstallationState>, Problem> {
    let installation = lookup::read::<Installation>(&*api.ports.store, &Key::installation()).await?;
    Ok(Json(state(&installation.unwrap_or_default())))
}

/// Stops all new applies at once. Those under way go on.
#[utoipa::path(post, path = "/api/v1/installation/pause", tag = "installation", request_body = PauseBody,
    responses((status = 200, body = InstallationState), (status = 422, body = ProblemBody)))]
pub(crate) async fn pause(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Body(body): Body<PauseBody>,
) -> Result<Json<InstallationState>, Problem> {
    let by = by(&api, &caller, body.who, body.from, body.message);
    let installation = change(&api, |installation| {
        let pauses = installation.paused.is_none();
        installation.paused.get_or_insert(by.clone());
        pauses.then(|| deed(AuditAction::Pause, &by))
    });
    Ok(Json(state(&installation.await?)))
}

/// Lets applies start again, and wakes what waited.
#[utoipa::path(post, path = "/api/v1/installation/unpause", tag = "installation", request_body = PauseBody,
    responses((status = 200, body = InstallationState), (status = 422, body = ProblemBody)))]
pub(crate) async fn unpause(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Body(body): Body<PauseBody>,
) -> Result<Json<InstallationState>, Problem> {
    let by = by(&api, &caller, body.who, body.from, body.message);
    let installation =
        change(&api, |installation| installation.paused.take().map(|_| deed(AuditAction::Unpause, &by)));
    let installation = installation.await?;
    wake_waiting(&api).await?;
    Ok(Json(state(&installation)))
}

fn state(installation: &Installation) -> InstallationState {
    InstallationState { paused: installation.paused.as_ref().map(signed) }
}

fn deed(action: AuditAction, by: &Signed) -> Deed {
    Deed::of_installation(by, action, String::new(), "new applies of all stacks".to_owned())
}

/// Changes the installation's record, and writes into its audit trail what was done, in one commit.
async fn change(
    api: &Api,
    change: impl Fn(&mut Installation) -> Option<Deed>,
) -> Result<Installation, PortError> {
    let store = &*api.ports.store;
    loop {
        let known = load::<Installation>(store, &Key::installation()).await?;
        let mut installation = known.unwrap_or_else(|| Versioned::new(Installation::default()));
        let Some(deed) = change(&mut installation) else { return Ok(installation.into_value()) };
        let entry = AuditEntry::append(&mut installation.audit, AuditChain::Installation, deed);
        let writes = vec![installation.put()?, Versioned::new(entry).put()?];
        if store.commit(writes).await? == Committed::Done {
            return Ok(installation.into_value());
        }
    }
}

/// Wakes every stack that has a run under way: those that wait for the pause to end are among them.
async fn wake_waiting(api: &Api) -> Result<(), PortError> {
    let slot = api.ports.clock.now();
    let mut after = None;
    loop {
        let query = lookup::index(Index::Stacks, String::new(), after, 100);
        let (stacks, next) = lookup::values::<Stack>(&*api.ports.store, query).await?;
        let waiting = stacks.iter().filter(|stack| stack.run.is_some()).map(|stack| stack.id);
        let messages: Vec<Message> = waiting.map(|stack| due(stack, slot)).collect();
        if !messages.is_empty() {
            api.ports.queue.send(messages).await?;
        }
        after = next;
        if after.is_none() {
            return Ok(());
        }
    }
}

fn due(stack: StackId, slot: yuba_core::time::Timestamp) -> Message {
    Message::new(Wake::Stack(stack), Cause::Due { slot })
}
