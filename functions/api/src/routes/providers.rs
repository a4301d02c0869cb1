//! Providers of notifications: the list, trying one, sending again what was given up.

use axum::extract::{Path, State};
use axum::response::Response;
use axum::{Extension, Json};
use yuba_core::access::Caller;
use yuba_core::declared::DeclaredSpec;
use yuba_core::id::{ObjectName, RequestId};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::notify::{
    NoticeState, Notification, Occasion, Provider, ProviderHealth, ProviderSpec, pending_partition,
    settled_partition,
};
use yuba_ports::records::{Versioned, page, put_any};
use yuba_ports::{Committed, Order, PortError, Query, Write};

use super::PageParams;
use super::requests::{WaitParams, accepted, by};
use crate::Api;
use crate::extract::{Body, Params};
use crate::lookup;
use crate::problem::Problem;
use crate::view::provider::{Backlog, provider as shown, test as shown_test};
use crate::wire::{AskBody, Asked, List, ProblemBody, ProviderItem, Redelivered, RequestState};

/// How many notifications are counted, and made to wait again at once.
const MOST: usize = 100;

/// Lists providers by name.
#[utoipa::path(get, path = "/api/v1/providers", tag = "notifications", params(PageParams),
    responses((status = 200, body = List<ProviderItem>), (status = 400, body = ProblemBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    Params(params): Params<PageParams>,
) -> Result<Json<List<ProviderItem>>, Problem> {
    let query = Query::Partition {
        partition: ProviderSpec::PARTITION.to_owned(),
        prefix: String::new(),
        order: Order::Ascending,
        after: params.after()?,
        limit: params.limit(),
    };
    let (providers, next) = lookup::values::<Provider>(&*api.ports.store, query).await?;
    let mut items = Vec::new();
    for provider in providers.iter().filter(|provider| provider.vanished.is_none()) {
        let (health, backlog) = (health(&api, &provider.name).await?, backlog(&api, &provider.name).await?);
        items.push(shown(provider, &health, backlog));
    }
    Ok(Json(List { items, next: next.map(|cursor| cursor.0) }))
}

/// Tries a provider: sends it a message that says who tries.
#[utoipa::path(post, path = "/api/v1/providers/{namespace}/{name}/test", tag = "notifications", request_body = AskBody,
    params(("namespace" = String, Path), ("name" = String, Path)),
    responses((status = 202, body = Asked), (status = 404, body = ProblemBody)))]
pub(crate) async fn test(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path((namespace, name)): Path<(String, String)>,
    Body(body): Body<AskBody>,
) -> Result<Response, Problem> {
    let name = standing(&api, ObjectName::new(namespace, name)).await?;
    let (id, by) = (RequestId(api.ports.ids.ulid()), by(&api, &caller, body.who, body.from, body.message));
    let notification = Notification::new(name.clone(), Occasion::Test { id, by }, api.ports.clock.now());
    api.ports.store.commit(vec![Versioned::new(notification).put()?]).await?;
    wake(&api, &name, id).await?;
    Ok(accepted(id, format!("/api/v1/providers/{}/{}/tests/{id}", name.namespace, name.name)))
}

/// Shows what became of the try of a provider; waits while it is pending, if asked to.
#[utoipa::path(get, path = "/api/v1/providers/{namespace}/{name}/tests/{test}", tag = "notifications",
    params(("namespace" = String, Path), ("name" = String, Path), ("test" = String, Path), WaitParams),
    responses((status = 200, body = RequestState), (status = 404, body = ProblemBody)))]
pub(crate) async fn tested(
    State(api): State<Api>,
    Path((namespace, name, test)): Path<(String, String, String)>,
    Params(params): Params<WaitParams>,
) -> Result<Json<RequestState>, Problem> {
    let name = ObjectName::new(namespace, name);
    let read = || async {
        let found = read_test(&api, &name, &test).await?;
        let is_settled = !matches!(found.state, NoticeState::Pending { .. });
        Ok((shown_test(test.clone(), &found), is_settled))
    };
    params.until_settled(read).await.map(Json)
}

async fn read_test(api: &Api, name: &ObjectName, test: &str) -> Result<Notification, Problem> {
    let id = format!("test#{test}");
    for key in [Notification::pending_key(name, &id), Notification::settled_key(name, &id)] {
        if let Some(found) = lookup::read::<Notification>(&*api.ports.store, &key).await? {
            return Ok(found);
        }
    }
    Err(Problem::not_found(format!("there is no try {test} of provider {name}")))
}

/// Sends again what was given up, up to a hundred notifications.
#[utoipa::path(post, path = "/api/v1/providers/{namespace}/{name}/redeliver", tag = "notifications",
    params(("namespace" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = Redelivered), (status = 404, body = ProblemBody)))]
pub(crate) async fn redeliver(
    State(api): State<Api>,
    Path((namespace, name)): Path<(String, String)>,
) -> Result<Json<Redelivered>, Problem> {
    let name = standing(&api, ObjectName::new(namespace, name)).await?;
    let given_up = given_up(&api, &name).await?;
    let mut count = 0;
    for notification in given_up.into_iter().filter(|it| !matches!(it.of, Occasion::Test { .. })) {
        count += usize::from(restore(&api, notification).await?);
    }
    wake(&api, &name, RequestId(api.ports.ids.ulid())).await?;
    Ok(Json(Redelivered { count }))
}

/// Makes a notification wait again; whether it was still given up.
async fn restore(api: &Api, settled: Versioned<Notification>) -> Result<bool, PortError> {
    let Notification { provider, of, .. } = (*settled).clone();
    let key = Notification::settled_key(&provider, &of.id());
    let again = Notification::new(provider, of, api.ports.clock.now());
    let writes = vec![Write::Delete { key, expected: settled.expected() }, put_any(&again)?];
    Ok(api.ports.store.commit(writes).await? == Committed::Done)
}

/// The name of a provider that the manifests hold.
async fn standing(api: &Api, name: ObjectName) -> Result<ObjectName, Problem> {
    let found = lookup::read::<Provider>(&*api.ports.store, &Provider::key_of(&name)).await?;
    if found.is_some_and(|provider| provider.vanished.is_none()) {
        return Ok(name);
    }
    Err(Problem::not_found(format!("there is no provider {name}"))
        .with_help("`yuba get providers` lists all providers"))
}

async fn health(api: &Api, name: &ObjectName) -> Result<ProviderHealth, PortError> {
    let health = lookup::read::<ProviderHealth>(&*api.ports.store, &ProviderHealth::key_of(name)).await?;
    Ok(health.unwrap_or_else(|| ProviderHealth::new(name.clone())))
}

async fn backlog(api: &Api, name: &ObjectName) -> Result<Backlog, PortError> {
    let pending = api.ports.store.query(newest_of(pending_partition(name))).await?.items.len();
    Ok(Backlog { pending, given_up: given_up(api, name).await?.len() })
}

/// The notifications of a provider that were given up, among the last that were settled.
async fn given_up(api: &Api, name: &ObjectName) -> Result<Vec<Versioned<Notification>>, PortError> {
    let (settled, _) = page::<Notification>(&*api.ports.store, newest_of(settled_partition(name))).await?;
    let is_given_up = |it: &Versioned<Notification>| matches!(it.state, NoticeState::GivenUp { .. });
    Ok(settled.into_iter().filter(is_given_up).collect())
}

fn newest_of(partition: String) -> Query {
    let (prefix, order) = (String::new(), Order::Descending);
    Query::Partition { partition, prefix, order, after: None, limit: MOST }
}

async fn wake(api: &Api, name: &ObjectName, request: RequestId) -> Result<(), PortError> {
    let wake = Wake::Provider(name.clone());
    api.ports.queue.send(vec![Message::new(wake, Cause::Request(request))]).await
}
