//! Tokens for the API: made, listed, revoked. Only the digest of a token's secret is stored.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use yuba_core::access::{ApiToken, Caller, Lifetime, SECRET_BYTES, TOKENS, TokenName, token_text};
use yuba_core::audit::{AuditAction, AuditEntry, Deed};
use yuba_core::id::{ApiTokenId, AuditChain, InvalidId};
use yuba_core::people::Identity;
use yuba_core::record::{Installation, Key};
use yuba_core::request::Signed;
use yuba_core::selector::Selector;
use yuba_core::time::Timestamp;
use yuba_ports::records::{Versioned, load, page};
use yuba_ports::{Committed, Order, PortError, Query};

use super::PageParams;
use super::requests::{ByParams, by};
use crate::extract::{Body, Params};
use crate::problem::Problem;
use crate::view::signed;
use crate::wire::{List, ProblemBody, TokenBody, TokenItem, TokenMade};
use crate::{Api, lookup};

/// Lists tokens, also those that expired within the last 30 days, the oldest first.
#[utoipa::path(get, path = "/api/v1/tokens", tag = "tokens", params(PageParams),
    responses((status = 200, body = List<TokenItem>), (status = 400, body = ProblemBody), (status = 403, body = ProblemBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    Params(params): Params<PageParams>,
) -> Result<Json<List<TokenItem>>, Problem> {
    let query = all(params.after()?, params.limit());
    let (tokens, next) = lookup::values::<ApiToken>(&*api.ports.store, query).await?;
    let now = api.ports.clock.now();
    let items = tokens.iter().map(|token| item(token, now)).collect();
    Ok(Json(List { items, next: next.map(|cursor| cursor.0) }))
}

/// Makes a token. Its text is in the answer, and nowhere else.
#[utoipa::path(post, path = "/api/v1/tokens", tag = "tokens", request_body = TokenBody,
    responses((status = 201, body = TokenMade), (status = 403, body = ProblemBody), (status = 409, body = ProblemBody),
        (status = 422, body = ProblemBody)))]
pub(crate) async fn create(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Body(body): Body<TokenBody>,
) -> Result<(StatusCode, Json<TokenMade>), Problem> {
    let secret = hex::encode(rand::random::<[u8; SECRET_BYTES]>());
    let by = by(&api, &caller, body.who.clone(), body.from.clone(), None);
    let id = ApiTokenId(api.ports.ids.ulid());
    let token = told(&body, id, &secret, by)?;
    change(&api, &token.name, |holding| match holding {
        Some(_) => Err(taken(&token.name)),
        None => Ok((Versioned::new(token.clone()), made(&token))),
    })
    .await?;
    tracing::info!(token = %token.name, scope = %token.scope, by = token.by.who, "a token was made");
    let answer = TokenMade { text: token_text(id, &secret), token: item(&token, api.ports.clock.now()) };
    Ok((StatusCode::CREATED, Json(answer)))
}

/// Revokes a token: from now on it gives nothing.
#[utoipa::path(delete, path = "/api/v1/tokens/{name}", tag = "tokens", params(("name" = String, Path), ByParams),
    responses((status = 200, body = TokenItem), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(crate) async fn revoke(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    Params(params): Params<ByParams>,
) -> Result<Json<TokenItem>, Problem> {
    let name: TokenName = read("name", &name)?;
    let by = by(&api, &caller, params.who, params.from, None);
    let token = change(&api, &name, |holding| {
        let mut token = holding.ok_or_else(|| {
            Problem::not_found(format!("there is no token {name} that holds"))
                .with_help("`yuba token list` lists all tokens")
        })?;
        token.revoked = Some(by.clone());
        let about = format!("token {name}");
        let deed = Deed::of_installation(
            &by,
            AuditAction::RevokeToken,
            about,
            "it gives nothing any more".to_owned(),
        );
        Ok((token, deed))
    })
    .await?;
    tracing::info!(token = %token.name, by = by.who, "a token was revoked");
    Ok(Json(item(&token, api.ports.clock.now())))
}

fn made(token: &ApiToken) -> Deed {
    let ApiToken { name, scope, labels, identity, expires, by, .. } = token;
    let labels = labels.as_ref().map(|labels| format!(", for stacks with {labels}")).unwrap_or_default();
    let human = identity.as_ref().map(|human| format!(", speaks for {human}")).unwrap_or_default();
    let detail = format!("scope {scope}{labels}{human}, until {expires}");
    Deed::of_installation(by, AuditAction::CreateToken, format!("token {name}"), detail)
}

fn taken(name: &TokenName) -> Problem {
    Problem::refused(format!("there is a token {name} already"))
        .with_help(format!("choose another name, or revoke that one first: `yuba token revoke {name}`"))
}

/// The token that a body describes.
fn told(body: &TokenBody, id: ApiTokenId, secret: &str, by: Signed) -> Result<ApiToken, Problem> {
    let lifetime: Lifetime =
        body.expires.as_deref().map(|text| read("expires", text)).transpose()?.unwrap_or_default();
    let labels: Option<Selector> = body.labels.as_deref().map(|text| read("labels", text)).transpose()?;
    if labels.as_ref().is_some_and(Selector::is_empty) {
        return Err(Problem::unprocessable("labels: an empty selector limits nothing; leave it out"));
    }
    let identity = body.r#for.as_deref().map(Identity::email);
    if let Some(Identity::Email(address)) = &identity
        && !address.contains('@')
    {
        return Err(Problem::unprocessable(format!("for: found `{address}`, allowed is an e-mail address")));
    }
    Ok(ApiToken {
        id,
        name: read("name", &body.name)?,
        digest: ApiToken::digest_of(secret),
        scope: read("scope", &body.scope)?,
        labels,
        identity,
        expires: by.at + lifetime.0,
        by,
        revoked: None,
    })
}

fn read<T: std::str::FromStr<Err = InvalidId>>(field: &str, text: &str) -> Result<T, Problem> {
    text.parse().map_err(|error| Problem::unprocessable(format!("{field}: {error}")))
}

fn all(after: Option<yuba_ports::Cursor>, limit: usize) -> Query {
    Query::Partition {
        partition: TOKENS.to_owned(),
        prefix: "token#".to_owned(),
        order: Order::Ascending,
        after,
        limit,
    }
}

/// The token of a name that holds now.
async fn holding(api: &Api, name: &TokenName) -> Result<Option<Versioned<ApiToken>>, PortError> {
    let (mut after, now) = (None, api.ports.clock.now());
    loop {
        let (tokens, next) = page::<ApiToken>(&*api.ports.store, all(after, 100)).await?;
        let found = tokens.into_iter().find(|token| token.name == *name && token.holds(now));
        after = next;
        if found.is_some() || after.is_none() {
            return Ok(found);
        }
    }
}

/// Changes the token of a name, given the one that holds now. It is written together with the installation's audit trail,
/// so two changes at one moment come one after the other.
async fn change(
    api: &Api,
    name: &TokenName,
    changed: impl Fn(Option<Versioned<ApiToken>>) -> Result<(Versioned<ApiToken>, Deed), Problem>,
) -> Result<ApiToken, Problem> {
    let store = &*api.ports.store;
    loop {
        let known = load::<Installation>(store, &Key::installation()).await?;
        let mut installation = known.unwrap_or_else(|| Versioned::new(Installation::default()));
        let (token, deed) = changed(holding(api, name).await?)?;
        let entry = AuditEntry::append(&mut installation.audit, AuditChain::Installation, deed);
        let writes = vec![installation.put()?, token.put()?, Versioned::new(entry).put()?];
        if store.commit(writes).await? == Committed::Done {
            return Ok(token.into_value());
        }
    }
}

fn item(token: &ApiToken, now: Timestamp) -> TokenItem {
    let state = match &token.revoked {
        Some(_) => "revoked",
        None if token.holds(now) => "valid",
        None => "expired",
    };
    TokenItem {
        id: token.id.to_string(),
        name: token.name.to_string(),
        scope: token.scope.to_string(),
        labels: token.labels.as_ref().map(ToString::to_string),
        r#for: token.identity.as_ref().map(ToString::to_string),
        by: signed(&token.by),
        expires_at: token.expires.to_string(),
        state: state.to_owned(),
        revoked: token.revoked.as_ref().map(signed),
    }
}
