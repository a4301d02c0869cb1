//! Secrets and config maps: names and keys; values go in and never come out.

use axum::Json;
use axum::extract::{Path, State};
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use yuba_core::decide::values_name;
use yuba_core::declared::DeclaredSpec;
use yuba_core::id::SecretName;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::notify::{Provider, ProviderSpec};
use yuba_core::record::{Edge, Index, Record, readers_partition};
use yuba_core::secret;
use yuba_core::source::Source;
use yuba_core::spec::ValuesKind;
use yuba_ports::{Cursor, Order, PortError, Query};

use crate::Api;
use crate::extract::{Body, Params};
use crate::lookup;
use crate::problem::Problem;
use crate::wire::{List, ProblemBody, SecretBody, SecretItem};

/// Which of the two.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
pub(crate) enum Kind {
    #[default]
    Secret,
    ConfigMap,
}

impl From<Kind> for ValuesKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Secret => Self::Secret,
            Kind::ConfigMap => Self::ConfigMap,
        }
    }
}

/// Which secrets or config maps.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct SecretParams {
    /// `Secret` or `ConfigMap`.
    #[param(inline)]
    kind: Kind,
    /// Only those of this namespace.
    namespace: Option<String>,
}

/// Lists secrets or config maps with their keys, without values.
#[utoipa::path(get, path = "/api/v1/secrets", tag = "secrets", params(SecretParams),
    responses((status = 200, body = List<SecretItem>), (status = 400, body = ProblemBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    Params(params): Params<SecretParams>,
) -> Result<Json<List<SecretItem>>, Problem> {
    let kind = params.kind.into();
    if let Some(namespace) = &params.namespace {
        named(SecretName::new(namespace, "any"))?;
    }
    let mut items = Vec::new();
    for name in api.ports.secrets.list(kind, params.namespace.as_deref()).await? {
        items.extend(item(&api, kind, &name).await?);
    }
    Ok(Json(List { items, next: None }))
}

/// Of which kind.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct KindParams {
    /// `Secret` or `ConfigMap`.
    #[param(inline)]
    kind: Kind,
}

/// Writes values; keys that are not named keep theirs. The stacks, sources and providers that read them are woken.
#[utoipa::path(put, path = "/api/v1/secrets/{namespace}/{name}", tag = "secrets", request_body = SecretBody,
    params(("namespace" = String, Path), ("name" = String, Path), KindParams),
    responses((status = 200, body = SecretItem), (status = 400, body = ProblemBody), (status = 422, body = ProblemBody)))]
pub(crate) async fn set(
    State(api): State<Api>,
    Path((namespace, name)): Path<(String, String)>,
    Params(params): Params<KindParams>,
    Body(body): Body<SecretBody>,
) -> Result<Json<SecretItem>, Problem> {
    let (kind, name) = (ValuesKind::from(params.kind), named(SecretName::new(namespace, name))?);
    for key in body.values.keys() {
        secret::check_key(key).map_err(|error| Problem::malformed(format!("values: {error}")))?;
    }
    let secrets = &*api.ports.secrets;
    let mut values = secrets.get(kind, &name).await?.map(|known| known.values).unwrap_or_default();
    values.extend(body.values.into_iter().map(|(key, value)| (key, SecretString::from(value))));
    secrets.put(kind, &name, values).await?;
    wake_readers(&api, kind, &name).await?;
    let item = item(&api, kind, &name).await?;
    item.map(Json).ok_or_else(|| Problem::not_found(format!("{name} was deleted while it was written")))
}

/// A name that a secret can have.
fn named(name: SecretName) -> Result<SecretName, Problem> {
    secret::check_name(&name).map_err(|error| Problem::malformed(error.to_string()))?;
    Ok(name)
}

async fn item(api: &Api, kind: ValuesKind, name: &SecretName) -> Result<Option<SecretItem>, PortError> {
    let found = api.ports.secrets.get(kind, name).await?;
    Ok(found.map(|found| SecretItem {
        kind: match kind {
            ValuesKind::Secret => "Secret".to_owned(),
            ValuesKind::ConfigMap => "ConfigMap".to_owned(),
        },
        namespace: name.namespace.clone(),
        name: name.name.clone(),
        keys: found.values.into_keys().collect(),
    }))
}

/// Wakes the stacks that read values, the sources that show them to their host, the providers that send with them.
async fn wake_readers(api: &Api, kind: ValuesKind, name: &SecretName) -> Result<(), PortError> {
    let version = api.ports.secrets.version(kind, name).await?.unwrap_or_default();
    let cause = Cause::Values { name: values_name(kind, name), version };
    let readers = |after| Query::Partition {
        partition: readers_partition(name),
        prefix: String::new(),
        order: Order::Ascending,
        after,
        limit: 100,
    };
    wake(api, &cause, readers, |edge: Edge| Some(Wake::Stack(edge.stack))).await?;
    if kind == ValuesKind::Secret {
        let sources = |after| lookup::index(Index::Sources, String::new(), after, 100);
        let woken =
            |source: Source| (source.spec.secret.as_ref() == Some(name)).then_some(Wake::Source(source.name));
        wake(api, &cause, sources, woken).await?;
        let providers = |after| Query::Partition {
            partition: ProviderSpec::PARTITION.to_owned(),
            prefix: String::new(),
            order: Order::Ascending,
            after,
            limit: 100,
        };
        let woken = |provider: Provider| {
            (provider.spec.secret.as_ref() == Some(name)).then_some(Wake::Provider(provider.name))
        };
        wake(api, &cause, providers, woken).await?;
    }
    Ok(())
}

/// Wakes whatever some records stand for, page by page.
async fn wake<Value: Record>(
    api: &Api,
    cause: &Cause,
    page: impl Fn(Option<Cursor>) -> Query,
    woken: impl Fn(Value) -> Option<Wake>,
) -> Result<(), PortError> {
    let mut after = None;
    loop {
        let (values, next) = lookup::values::<Value>(&*api.ports.store, page(after)).await?;
        let wakes = values.into_iter().filter_map(&woken);
        let messages: Vec<Message> = wakes.map(|wake| Message::new(wake, cause.clone())).collect();
        if !messages.is_empty() {
            api.ports.queue.send(messages).await?;
        }
        after = next;
        if after.is_none() {
            return Ok(());
        }
    }
}
