//! Tokens that people make: what they open, and what they do not.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use ulid::Ulid;
use yuba_core::access::is_stated;
use yuba_core::id::{StackId, StackName};
use yuba_core::people::Identity;
use yuba_core::record::Key;
use yuba_core::source::Definition;
use yuba_ports::records::load;

use crate::access::described;
use crate::kit::{Answer, STACK, World};

/// Makes a token; its text.
async fn made(world: &World, body: Value) -> String {
    let (status, text) = world.send(Method::POST, "/api/v1/tokens", body.to_string()).await;
    assert_eq!(status, StatusCode::CREATED, "{text}");
    let made: Value = serde_json::from_str(&text).unwrap();
    made.pointer("/text").and_then(Value::as_str).unwrap().to_owned()
}

async fn with(world: &World, token: &str, method: Method, path: &str, body: &str) -> Answer {
    let request =
        Request::builder().method(method).uri(path).header("authorization", format!("Bearer {token}"));
    world.answer(request.body(Body::from(body.to_owned())).unwrap()).await
}

/// The stack `infra/NAME` with the label `env`.
async fn labelled(world: &World, name: &str, id: StackId, env: &str) {
    let golden = include_str!("../../../../shared/core/tests/golden/definition.v1.json");
    let mut definition: Definition = serde_json::from_str(golden).unwrap();
    (definition.stack, definition.name) = (id, StackName::new("infra", name));
    definition.spec.labels = [("env".to_owned(), env.to_owned())].into();
    world.stack(name, id).await;
    world.put(&definition).await;
}

#[test]
fn every_described_route_is_stated() {
    let forgotten: Vec<_> =
        described().into_iter().filter(|(method, path)| !is_stated(method.as_str(), path)).collect();
    assert!(forgotten.is_empty(), "{forgotten:?}");
}

#[tokio::test]
async fn a_scope_opens_what_it_says_and_nothing_above() {
    let world = World::new().await;
    let read = made(&world, json!({"name": "r", "scope": "read"})).await;
    let approve = made(&world, json!({"name": "a", "scope": "approve"})).await;
    let admin = made(&world, json!({"name": "d", "scope": "admin"})).await;
    let stack = "/api/v1/stacks/infra/network";
    assert_eq!(with(&world, &read, Method::GET, stack, "").await.0, StatusCode::OK);
    for verb in ["approve", "reject", "replan", "reconcile", "drift-check", "cancel"] {
        let path = format!("{stack}/{verb}");
        let (status, text) = with(&world, &read, Method::POST, &path, "").await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{verb}");
        assert!(text.contains("needs the scope `approve`, and token r has `read`"), "{text}");
    }
    for (verb, body) in [
        ("suspend", "{}"),
        ("resume", "{}"),
        ("destroy", "{}"),
        ("unlock", r#"{"lock":"7f-1"}"#),
        ("adopt", "{}"),
    ] {
        let path = format!("{stack}/{verb}");
        let (status, text) = with(&world, &approve, Method::POST, &path, body).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{verb} {text}");
        assert!(text.contains("needs the scope `admin`, and token a has `approve`"), "{text}");
        let (status, text) = with(&world, &admin, Method::POST, &path, body).await;
        assert!(status != StatusCode::FORBIDDEN && status != StatusCode::UNAUTHORIZED, "{verb} {text}");
    }
    let patch = |body: &'static str| with(&world, &approve, Method::PATCH, stack, body);
    assert_eq!(patch(r#"{"spec":{"suspend":true}}"#).await.0, StatusCode::FORBIDDEN);
    assert_ne!(patch(r#"{"spec":{"approvePlan":"plan-main-0123456789"}}"#).await.0, StatusCode::FORBIDDEN);
    let replan = with(&world, &approve, Method::POST, &format!("{stack}/replan"), "").await.0;
    assert_eq!(replan, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn no_route_that_changes_something_answers_a_reader_and_none_of_an_administrator_an_approver() {
    let world = World::new().await;
    for scope in ["read", "approve"] {
        let token = made(&world, json!({"name": scope, "scope": scope})).await;
        for (method, path) in described().into_iter().filter(|(method, _)| method != Method::GET) {
            let decides = path.ends_with("{verb}") || path.ends_with("/cancel") || method == Method::PATCH;
            let (status, text) = with(&world, &token, method.clone(), &path, "{}").await;
            let denied = status == StatusCode::FORBIDDEN;
            assert_eq!(denied, scope == "read" || !decides, "{scope} {method} {path} {text}");
        }
    }
}

#[tokio::test]
async fn a_token_limited_to_labels_sees_and_touches_no_other_stack() {
    let world = World::new().await;
    let other = StackId(Ulid::from_parts(1_796_027_157_000, 2));
    labelled(&world, "network", STACK, "prod").await;
    labelled(&world, "twin", other, "test").await;
    let token = made(&world, json!({"name": "prod", "scope": "admin", "labels": "env=prod"})).await;
    let run = world.run(|run| run.stack = other).await;
    let ask = |method, path: String| {
        let (world, token) = (&world, &token);
        async move { with(world, token, method, &path, "{}").await }
    };
    let (_, list) = ask(Method::GET, "/api/v1/stacks".to_owned()).await;
    assert!(list.contains(r#""name":"network""#) && !list.contains("twin"), "{list}");
    let (_, runs) = ask(Method::GET, "/api/v1/runs".to_owned()).await;
    assert!(!runs.contains(&run.id.to_string()), "{runs}");
    for path in
        ["stacks/infra/twin", "runs?stack=infra/twin", "sources", "secrets", "events/stream", "tokens"]
    {
        let (status, text) = ask(Method::GET, format!("/api/v1/{path}")).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path} {text}");
        assert!(text.contains("limited to stacks with the labels `env=prod`"), "{text}");
    }
    for path in [format!("runs/{}", run.id), format!("runs/{}/log", run.id), format!("runs/{}/plan", run.id)]
    {
        assert_eq!(ask(Method::GET, format!("/api/v1/{path}")).await.0, StatusCode::FORBIDDEN, "{path}");
    }
    for path in ["stacks/infra/twin/suspend", "installation/pause", "tokens"] {
        assert_eq!(ask(Method::POST, format!("/api/v1/{path}")).await.0, StatusCode::FORBIDDEN, "{path}");
    }
    let suspend = ask(Method::POST, "/api/v1/stacks/infra/network/suspend".to_owned()).await;
    assert_eq!(suspend.0, StatusCode::ACCEPTED, "{}", suspend.1);
    let adopt = r#"{"from_stack":"infra/twin"}"#;
    let adopt = with(&world, &token, Method::POST, "/api/v1/stacks/infra/network/adopt", adopt).await;
    assert_eq!(adopt.0, StatusCode::FORBIDDEN, "{}", adopt.1);
}

#[tokio::test]
async fn a_revoked_token_gives_nothing_and_only_its_own_secret_is_told_why() {
    let world = World::new().await;
    let token = made(&world, json!({"name": "ci", "scope": "read"})).await;
    let get = |token: String| {
        let world = &world;
        async move { with(world, &token, Method::GET, "/api/v1/stacks", "").await }
    };
    assert_eq!(get(token.clone()).await.0, StatusCode::OK);
    let again = world.send(Method::POST, "/api/v1/tokens", r#"{"name":"ci","scope":"read"}"#).await;
    assert_eq!(again.0, StatusCode::CONFLICT, "{}", again.1);
    assert_eq!(world.send(Method::DELETE, "/api/v1/tokens/ci", "").await.0, StatusCode::OK);
    assert_eq!(world.send(Method::DELETE, "/api/v1/tokens/ci", "").await.0, StatusCode::NOT_FOUND);
    let (status, text) = get(token.clone()).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert!(text.contains("the token ci was revoked at"), "{text}");
    let (status, text) = get(format!("{token}0")).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert!(text.contains("carries no valid token") && !text.contains("revoked"), "{text}");
    let secret = token.rsplit('_').next().unwrap();
    assert_eq!(secret.len(), 64);
    let (_, list) = world.get("/api/v1/tokens").await;
    assert!(list.contains(r#""state":"revoked""#) && !list.contains(secret), "{list}");
}

#[tokio::test]
async fn whoever_asks_with_a_token_for_somebody_cannot_say_that_they_are_another() {
    let world = World::new().await;
    let token = made(&world, json!({"name": "ada", "scope": "approve", "for": "Ada@example.com"})).await;
    let path = "/api/v1/stacks/infra/network/replan";
    let (_, text) = with(&world, &token, Method::POST, path, r#"{"who":"bob"}"#).await;
    let asked: Value = serde_json::from_str(&text).unwrap();
    let id = asked.pointer("/request").and_then(Value::as_str).unwrap().parse().unwrap();
    let request = load::<yuba_core::request::Request>(&*world.memory.ports().store, &Key::request(id)).await;
    let by = request.unwrap().unwrap().into_value().by;
    assert_eq!((by.who.as_str(), by.identity), ("ada@example.com", Some(Identity::email("ada@example.com"))));
}

#[tokio::test]
async fn pages_take_the_cookie_of_a_scoped_token_too() {
    let world = World::new().await;
    labelled(&world, "twin", StackId(Ulid::from_parts(1_796_027_157_000, 2)), "test").await;
    let token = made(&world, json!({"name": "r", "scope": "read", "labels": "env=test"})).await;
    let request = Request::get("/").header("cookie", format!("yuba_token={token}"));
    let (status, page) = world.answer(request.body(Body::empty()).unwrap()).await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("twin") && !page.contains("network"), "{page}");
}

#[tokio::test]
async fn a_token_that_would_limit_nothing_or_hold_forever_is_not_made() {
    let world = World::new().await;
    for body in [
        json!({"name": "x", "scope": "root"}),
        json!({"name": "X y", "scope": "read"}),
        json!({"name": "x", "scope": "read", "labels": ","}),
        json!({"name": "x", "scope": "read", "expires": "366d"}),
        json!({"name": "x", "scope": "read", "for": "ada"}),
    ] {
        let (status, text) = world.send(Method::POST, "/api/v1/tokens", body.to_string()).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body} {text}");
    }
}
