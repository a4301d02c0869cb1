//! Who asks, and whether they may: whoever holds the installation's token or one that was made with it, as far as its
//! scope and labels reach. Pages also take a token from a cookie, which only pages read, so that no other site can make
//! a browser change anything.

use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use yuba_core::access::{ApiToken, Caller, Denied, Presented, Reach, TokenRefused, need};
use yuba_core::id::{RequestId, StackId, StackName};
use yuba_core::record::Key;
use yuba_core::token;

use crate::problem::Problem;
use crate::{Api, lookup};

const COOKIE: &str = "yuba_token";

/// Lets requests with a token in `Authorization: Bearer` pass that may ask for this; handlers find the [`Caller`].
pub(crate) async fn require_token(
    State(api): State<Api>,
    params: RawPathParams,
    request: Request,
    next: Next,
) -> Response {
    let given = bearer(request.headers()).map(ToOwned::to_owned);
    match authenticated(&api, given.as_deref()).await {
        Ok(caller) => permitted(&api, caller, &params, request, next).await,
        Err(problem) => problem.into_response(),
    }
}

/// Lets requests for pages pass: with the header, the cookie, or once with `?token=`, which sets the cookie.
pub(crate) async fn require_page_token(
    State(api): State<Api>,
    params: RawPathParams,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let given = bearer(headers).or_else(|| cookie(headers)).map(ToOwned::to_owned);
    match authenticated(&api, given.as_deref()).await {
        Ok(caller) => return permitted(&api, caller, &params, request, next).await,
        Err(problem @ Problem::Unexpected(_)) => return problem.into_response(),
        Err(Problem::Told { .. }) => {}
    }
    let given = query_token(request.uri().query().unwrap_or_default());
    match (authenticated(&api, given).await, given) {
        (Ok(_), Some(token)) => remember(request.uri().path(), token),
        (Err(problem @ Problem::Unexpected(_)), _) => problem.into_response(),
        _ => (StatusCode::UNAUTHORIZED, crate::page::sign_in()).into_response(),
    }
}

/// Who presents a token. Whether it is unknown, revoked or expired, the same is done until its secret is compared.
async fn authenticated(api: &Api, given: Option<&str>) -> Result<Caller, Problem> {
    let given = given.ok_or_else(Problem::unauthorized)?;
    if is_token(&api.token, given) {
        return Ok(Caller::installation());
    }
    let presented = Presented::read(given).ok_or_else(Problem::unauthorized)?;
    let stored = lookup::read::<ApiToken>(&*api.ports.store, &Key::api_token(presented.id)).await?;
    presented.caller(stored.as_ref(), api.ports.clock.now()).map_err(|refused| match refused {
        TokenRefused::Unknown => Problem::unauthorized(),
        TokenRefused::Revoked(..) | TokenRefused::Expired(..) => {
            Problem::told(StatusCode::UNAUTHORIZED, refused.to_string())
                .with_help("ask an administrator for another one: `yuba token create`")
        }
    })
}

/// Goes on to the handler where the route's scope and the caller's labels allow it.
async fn permitted(
    api: &Api,
    caller: Caller,
    params: &RawPathParams,
    mut request: Request,
    next: Next,
) -> Response {
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let need = need(request.method().as_str(), path);
    let allowed = match caller.may(need.scope) {
        Ok(()) => within_labels(api, &caller, need.reach, params).await,
        Err(denied) => Err(denied.into()),
    };
    match allowed {
        Ok(()) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

async fn within_labels(
    api: &Api,
    caller: &Caller,
    reach: Reach,
    params: &RawPathParams,
) -> Result<(), Problem> {
    if caller.labels.is_none() {
        return Ok(());
    }
    let store = &*api.ports.store;
    let param = |wanted: &str| params.iter().find(|(name, _)| *name == wanted).map_or("", |(_, value)| value);
    let stack = match reach {
        Reach::Filtered => return Ok(()),
        Reach::Installation => return Ok(caller.reaches_all()?),
        Reach::Stack => lookup::stack(store, &StackName::new(param("namespace"), param("name"))).await?.id,
        Reach::Run => lookup::run(store, crate::extract::run_id(param("run"))?).await?.stack,
        Reach::Request => {
            let id: RequestId =
                param("request").parse().map_err(|error| Problem::malformed(format!("request: {error}")))?;
            crate::routes::requests::read(api, id).await?.stack
        }
    };
    Ok(reaches(api, caller, stack).await??)
}

/// Whether a caller may look at, or do something with, a stack.
pub(crate) async fn reaches(
    api: &Api,
    caller: &Caller,
    stack: StackId,
) -> Result<Result<(), Denied>, Problem> {
    if caller.labels.is_none() {
        return Ok(Ok(()));
    }
    let definition = lookup::definition(&*api.ports.store, stack).await?;
    Ok(caller.reaches(&definition.map(|definition| definition.spec.labels).unwrap_or_default()))
}

/// Those items whose stacks a caller may look at.
pub(crate) async fn visible<Item>(
    api: &Api,
    caller: &Caller,
    items: Vec<Item>,
    stack: impl Fn(&Item) -> StackId,
) -> Result<Vec<Item>, Problem> {
    if caller.labels.is_none() {
        return Ok(items);
    }
    let (mut known, mut seen) = (std::collections::BTreeMap::new(), Vec::new());
    for item in items {
        let id = stack(&item);
        if let std::collections::btree_map::Entry::Vacant(unknown) = known.entry(id) {
            unknown.insert(reaches(api, caller, id).await?.is_ok());
        }
        seen.extend(known.get(&id).copied().unwrap_or(false).then_some(item));
    }
    Ok(seen)
}

/// Goes to the same page without the token in its address, where history and logs would keep it.
fn remember(path: &str, token: &str) -> Response {
    let cookie = format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict");
    let headers = [(header::LOCATION, path.to_owned()), (header::SET_COOKIE, cookie)];
    (StatusCode::SEE_OTHER, headers).into_response()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    token::bearer(headers.get(header::AUTHORIZATION)?.to_str().ok()?)
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let pairs = headers.get(header::COOKIE)?.to_str().ok()?.split(';');
    pairs
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE)
        .map(|(_, value)| value)
}

fn query_token(query: &str) -> Option<&str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(name, _)| *name == "token")
        .map(|(_, value)| value)
}

/// Compares digests and looks at every byte: the time taken says nothing of the token.
fn is_token(token: &SecretString, given: &str) -> bool {
    let (expected, given) = (Sha256::digest(token.expose_secret()), Sha256::digest(given));
    expected.iter().zip(given.iter()).fold(0, |differing, (left, right)| differing | (left ^ right)) == 0
}
