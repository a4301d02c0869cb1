//! The audit trail.

use axum::http::{Method, StatusCode};
use serde_json::Value;
use yuba_api::wire::List;
use yuba_core::audit::{AuditAction, AuditEntry, AuditLine, AuditOutcome, Deed, Verifier};
use yuba_core::id::{AuditChain, StackName};
use yuba_core::request::Signed;
use yuba_core::stack::Stack;
use yuba_core::time::Timestamp;

use crate::kit::{STACK, World};

const AT: Timestamp = Timestamp(1_796_027_157_000);

fn deed(who: &str) -> Deed {
    let (from, message) = ("cli".to_owned(), String::new());
    Deed {
        at: AT,
        stack: Some(StackName::new("infra", "network")),
        by: Signed { who: who.to_owned(), at: AT, from, message, identity: None },
        action: AuditAction::Suspend,
        about: String::new(),
        outcome: AuditOutcome::Done,
        detail: String::new(),
        rule: String::new(),
        run: None,
        plan: None,
    }
}

/// A world whose stack's chain has an entry of each of these people.
async fn world(people: &[&str]) -> World {
    let world = World::new().await;
    let mut stack = Stack::new(STACK, StackName::new("infra", "network"), AT);
    for who in people {
        let entry = AuditEntry::append(&mut stack.audit, AuditChain::Stack(STACK), deed(who));
        world.put(&entry).await;
    }
    world.put(&stack).await;
    world
}

async fn items(world: &World, path: &str) -> Vec<Value> {
    let (status, answer) = world.get(path).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let list: List<Value> = serde_json::from_str(&answer).unwrap();
    list.items
}

async fn verify(world: &World) -> String {
    let mut trail = Verifier::default();
    for head in items(world, "/api/v1/audit/heads").await {
        trail.take(AuditLine::Head(serde_json::from_value(head).unwrap())).unwrap();
    }
    for entry in items(world, "/api/v1/audit/entries").await {
        if let Err(broken) = trail.take(AuditLine::Entry(entry)) {
            return broken.to_string();
        }
    }
    match trail.finish() {
        Ok(whole) => format!("{} entries in {} chains", whole.entries, whole.chains),
        Err(broken) => broken.to_string(),
    }
}

#[tokio::test]
async fn entries_come_with_their_hashes_and_what_somebody_changed_in_the_store_is_found() {
    let world = world(&["ann", "bob"]).await;
    assert_eq!(verify(&world).await, "2 entries in 1 chains");
    let mut head = None;
    let entry = AuditEntry::append(&mut head, AuditChain::Stack(STACK), deed("eve"));
    world.put(&AuditEntry { deed: deed("ann"), ..entry }).await;
    let said = verify(&world).await;
    assert!(said.starts_with("entry 1 of chain ") && said.contains("was changed"), "{said}");
}

#[tokio::test]
async fn entries_of_one_stack_come_newest_first_if_asked() {
    let world = world(&["ann", "bob"]).await;
    let newest = items(&world, "/api/v1/audit/entries?stack=infra/network&newest=true&limit=1").await;
    assert_eq!(newest[0]["deed"]["by"]["who"], "bob");
    assert_eq!(newest[0].get("schema"), None, "it was not hashed");
    let (status, _) = world.get("/api/v1/audit/entries?stack=infra/dns").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, _) = world.get("/api/v1/audit/entries?cursor=x").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn stopping_all_applies_is_told_once_and_letting_them_start_again_too() {
    let world = World::new().await;
    let body = r#"{"who":"ann","message":"incident"}"#;
    for verb in ["unpause", "pause", "pause", "unpause"] {
        let path = format!("/api/v1/installation/{verb}");
        assert_eq!(world.send(Method::POST, &path, body).await.0, StatusCode::OK);
    }
    let actions: Vec<Value> = items(&world, "/api/v1/audit/entries")
        .await
        .iter()
        .map(|entry| entry["deed"]["action"].clone())
        .collect();
    assert_eq!(actions, ["pause", "unpause"]);
    assert_eq!(verify(&world).await, "2 entries in 1 chains");
}

#[tokio::test]
async fn making_and_revoking_a_token_is_told_and_neither_says_its_secret() {
    let world = World::new().await;
    let body = r#"{"name":"ci","scope":"approve","labels":"env=dev","for":"ann@example.com","who":"bob"}"#;
    let (status, made) = world.send(Method::POST, "/api/v1/tokens", body).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!(world.send(Method::POST, "/api/v1/tokens", body).await.0, StatusCode::CONFLICT);
    assert_eq!(world.send(Method::DELETE, "/api/v1/tokens/ci?who=eve", "").await.0, StatusCode::OK);
    let told = |entry: &Value| {
        let said = ["/by/who", "/action", "/about", "/detail"];
        said.map(|at| entry.pointer(&format!("/deed{at}")).and_then(Value::as_str).unwrap().to_owned())
            .join(" | ")
    };
    let entries = items(&world, "/api/v1/audit/entries").await;
    let told: Vec<String> = entries.iter().map(told).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    bob | create-token | token ci | scope approve, for stacks with env=dev, speaks for ann@example.com, until 2026-04-01T00:00:00Z
    eve | revoke-token | token ci | it gives nothing any more
    ");
    assert_eq!(verify(&world).await, "2 entries in 1 chains");
}
