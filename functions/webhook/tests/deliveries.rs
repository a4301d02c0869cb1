//! Deliveries through the router, over a world in memory.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helper fails the test")]

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use hmac::{Hmac, KeyInit, Mac};
use secrecy::SecretString;
use sha2::Sha256;
use tower::ServiceExt;
use yuba_core::id::{ManifestSetName, SourceName};
use yuba_core::message::{Cause, Wake};
use yuba_core::record::Key;
use yuba_core::source::{Delivery, Source};
use yuba_core::spec::{GitReference, SourceSpec};
use yuba_core::time::Span;
use yuba_ports::Store;
use yuba_ports::memory::MemoryWorld;
use yuba_ports::records::{load, put_any};
use yuba_webhook::{Webhook, WebhookSettings, router};

const SECRET: &str = "it is a secret";

struct Host {
    world: MemoryWorld,
    router: axum::Router,
}

/// What came back.
#[derive(Debug, PartialEq, Eq)]
struct Answered(StatusCode, String);

impl Host {
    /// A server with a source of this name at each URL and reference.
    async fn with(sources: &[(&str, &str, GitReference)]) -> Self {
        let world = MemoryWorld::new();
        for (name, url, reference) in sources {
            let source = source(name, url, reference.clone());
            world.store.commit(vec![put_any(&source).unwrap()]).await.unwrap();
        }
        let secrets = vec![SecretString::from("the next secret"), SecretString::from(SECRET)];
        let manifests = ["git@github.com:Codertocat/Hello-World.git//flux", "/srv/flux"];
        let settings = WebhookSettings {
            github: secrets.clone(),
            generic: secrets,
            manifests: manifests.map(|name| ManifestSetName(name.to_owned())).to_vec(),
        };
        let router = router(Webhook::new(world.ports(), settings));
        Self { world, router }
    }

    async fn send(&self, request: Request<Body>) -> Answered {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        Answered(status, String::from_utf8(body.to_vec()).unwrap())
    }

    async fn delivery(&self, id: &str) -> Delivery {
        load::<Delivery>(&*self.world.store, &Key::delivery(id)).await.unwrap().unwrap().into_value()
    }

    fn woken(&self) -> Vec<String> {
        let pending = self.world.queue.pending();
        let shown = pending.into_iter().map(|message| match (message.wake, message.cause) {
            (Wake::Source(name), Cause::Delivery(id)) => format!("{name} for {id}"),
            (Wake::Manifests(name), Cause::Delivery(id)) => format!("{name} for {id}"),
            other => format!("{other:?}"),
        });
        shown.collect()
    }
}

fn source(name: &str, url: &str, reference: GitReference) -> Source {
    Source {
        name: SourceName::new("default", name),
        spec: SourceSpec {
            url: url.to_owned(),
            reference,
            interval: Span::minutes(1),
            secret: None,
            suspend: false,
        },
        set: ManifestSetName("flux".to_owned()),
        observation: 0,
        seen: None,
        definitions: 0,
        definitions_seen: 0,
        failure: None,
        due: None,
        vanished: None,
    }
}

fn branch(name: &str) -> GitReference {
    GitReference::Branch(name.to_owned())
}

fn signature(body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

fn github(event: &str, delivery: &str, body: &[u8]) -> Request<Body> {
    Request::post("/webhooks/github")
        .header("x-hub-signature-256", signature(body))
        .header("x-github-event", event)
        .header("x-github-delivery", delivery)
        .body(Body::from(body.to_vec()))
        .unwrap()
}

fn generic(body: &str) -> Request<Body> {
    Request::post("/webhooks/generic")
        .header("x-yuba-signature", signature(body.as_bytes()))
        .body(Body::from(body.to_owned()))
        .unwrap()
}

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/../../../shared/fixtures/webhooks/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path} must lie beside the repository: {error}"))
}

/// A push of `refs/tags/simple-tag` to `Codertocat/Hello-World`.
fn recorded_push() -> Vec<u8> {
    fixture("W001-push.octokit.payload.json")
}

const HELLO: &str = "https://github.com/Codertocat/Hello-World";

#[tokio::test]
async fn a_push_is_stored_and_wakes_the_sources_it_may_have_moved() {
    let tag = GitReference::Tag("simple-tag".to_owned());
    let sources =
        [("tag", HELLO, tag), ("main", HELLO, branch("main")), ("other", "https://h/x", branch("main"))];
    let host = Host::with(&sources).await;
    let Answered(status, body) = host.send(github("push", "d-1", &recorded_push())).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    insta::assert_snapshot!(body, @r#"{"delivery":"d-1","sources":["default/tag"],"manifests":["git@github.com:Codertocat/Hello-World.git//flux"]}"#);
    insta::assert_snapshot!(host.woken().join("\n"), @r"
    git@github.com:Codertocat/Hello-World.git//flux for d-1
    default/tag for d-1
    ");
    let stored = host.delivery("d-1").await;
    assert_eq!((stored.event.as_str(), stored.outcome), ("push", None));
    assert_eq!(stored.reference.as_deref(), Some("refs/tags/simple-tag"));
}

#[tokio::test]
async fn a_push_that_concerns_nobody_is_stored_with_the_reason() {
    let host = Host::with(&[("live", "https://h/live.git", branch("main"))]).await;
    let other = host.send(generic(r#"{"url":"https://h/other","ref":"refs/heads/main"}"#)).await;
    let branch = host.send(generic(r#"{"url":"https://h/live","ref":"refs/heads/feature"}"#)).await;
    assert_eq!((other.0, branch.0), (StatusCode::ACCEPTED, StatusCode::ACCEPTED));
    assert!(other.1.contains("no source has the repository h/other"), "{}", other.1);
    assert!(branch.1.contains("no source of this repository follows refs/heads/feature"), "{}", branch.1);
    assert_eq!(host.woken(), [""; 0]);
    let id = branch.1.split('"').nth(3).unwrap().to_owned();
    assert!(host.delivery(&id).await.outcome.unwrap().contains("follows"));
}

#[tokio::test]
async fn equal_bodies_of_a_hook_that_numbers_nothing_each_wake() {
    let host = Host::with(&[("live", "https://h/live.git", branch("main"))]).await;
    for _ in 0..2 {
        host.send(generic(r#"{"url":"https://h/live"}"#)).await;
    }
    assert_eq!(host.woken().len(), 2);
}

#[tokio::test]
async fn the_same_delivery_again_wakes_again_and_keeps_the_first_outcome() {
    let host = Host::with(&[("tag", HELLO, GitReference::Tag("simple-tag".to_owned()))]).await;
    host.send(github("push", "d-1", &recorded_push())).await;
    let first =
        Delivery { outcome: Some("default/tag: nothing changed".to_owned()), ..host.delivery("d-1").await };
    host.world.store.commit(vec![put_any(&first).unwrap()]).await.unwrap();
    let again = host.send(github("push", "d-1", &recorded_push())).await;
    assert_eq!(again.0, StatusCode::ACCEPTED);
    assert_eq!(host.delivery("d-1").await, first);
    assert_eq!(host.woken().len(), 4);
}

#[tokio::test]
async fn a_ping_is_answered_with_whom_a_push_would_wake() {
    let host = Host::with(&[("live", "https://h/live", branch("main"))]).await;
    let Answered(status, body) =
        host.send(github("ping", "d-2", &fixture("W031-ping.octokit.payload.json"))).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert_eq!(host.woken(), [""; 0]);
}

#[tokio::test]
async fn what_is_not_signed_is_not_read() {
    let host = Host::with(&[]).await;
    let unsigned = Request::post("/webhooks/github").body(Body::from("{ not even JSON")).unwrap();
    let mut wrong = github("push", "d-3", b"{}");
    *wrong.body_mut() = Body::from("{ not even JSON");
    for request in [unsigned, wrong] {
        let Answered(status, body) = host.send(request).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{body}");
    }
    assert!(host.world.store.items().is_empty());
}

#[tokio::test]
async fn a_server_without_a_secret_believes_nobody() {
    let webhook = Webhook::new(MemoryWorld::new().ports(), WebhookSettings::default());
    let response = router(webhook).oneshot(github("push", "d-4", b"{}")).await.unwrap();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_body_that_is_cut_off_is_refused_with_the_place() {
    let host = Host::with(&[]).await;
    let whole = recorded_push();
    let Answered(status, body) = host.send(github("push", "d-5", &whole[..whole.len() / 2])).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(body.contains("cut off"), "{body}");
}

#[tokio::test]
async fn a_body_over_25_mib_is_refused() {
    let host = Host::with(&[]).await;
    let body = vec![b' '; 25 * 1024 * 1024 + 1];
    assert_eq!(host.send(github("push", "d-6", &body)).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    let mut fits = br#"{"zen":"x"}"#.to_vec();
    fits.resize(25 * 1024 * 1024, b' ');
    assert_eq!(host.send(github("ping", "d-7", &fits)).await.0, StatusCode::OK);
}
