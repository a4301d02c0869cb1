//! The API through its router, over ports in memory.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use axum::body::Body;
use axum::http::{Request, StatusCode};
use secrecy::SecretString;
use tower::ServiceExt;
use ulid::Ulid;
use yuba_api::{Api, router};
use yuba_core::id::{StackId, StackName};
use yuba_core::message::Wake;
use yuba_core::record::{Key, StackAlias};
use yuba_core::stack::Stack;
use yuba_core::time::Timestamp;
use yuba_ports::Store;
use yuba_ports::memory::MemoryWorld;
use yuba_ports::records::put_any;

const STACK: StackId = StackId(Ulid::from_parts(1_796_027_157_000, 1));

/// A world with the stack `infra/network`, that had no run yet.
async fn world() -> MemoryWorld {
    let world = MemoryWorld::new();
    let name = StackName::new("infra", "network");
    let stack = Stack::new(STACK, name.clone(), Timestamp(1_796_027_157_000));
    let alias = StackAlias { name, stack: STACK };
    world.store.commit(vec![put_any(&stack).unwrap(), put_any(&alias).unwrap()]).await.unwrap();
    world
}

async fn call(world: &MemoryWorld, method: &str, path: &str, token: Option<&str>) -> (StatusCode, String) {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let api = Api::new(world.ports(), SecretString::from("secret"));
    let response = router(api).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn only_the_holder_of_the_token_is_answered() {
    let world = world().await;
    for path in ["/api/v1/stacks", "/metrics", "/", "/api/v1/secrets"] {
        assert_eq!(call(&world, "GET", path, None).await.0, StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(call(&world, "GET", path, Some("wrong")).await.0, StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(call(&world, "GET", path, Some("secret")).await.0, StatusCode::OK, "{path}");
    }
    assert_eq!(call(&world, "GET", "/healthz", None).await.0, StatusCode::OK);
    assert_eq!(call(&world, "GET", "/?token=secret", None).await.0, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn stacks_are_listed_and_described() {
    let world = world().await;
    let (_, list) = call(&world, "GET", "/api/v1/stacks?name=network", Some("secret")).await;
    assert!(list.contains(r#""namespace":"infra","name":"network","ready":"Unknown""#), "{list}");
    let (status, _) = call(&world, "GET", "/api/v1/stacks/infra/network", Some("secret")).await;
    assert_eq!(status, StatusCode::OK);
    let (status, problem) = call(&world, "GET", "/api/v1/stacks/infra/other", Some("secret")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(problem.contains("there is no stack infra/other"), "{problem}");
}

#[tokio::test]
async fn a_request_is_stored_and_wakes_its_stack() {
    let world = world().await;
    let (status, asked) = call(&world, "POST", "/api/v1/stacks/infra/network/suspend", Some("secret")).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{asked}");
    assert_eq!(world.queue.pending().first().map(|message| message.wake.clone()), Some(Wake::Stack(STACK)));
    let asked: yuba_api::wire::Asked = serde_json::from_str(&asked).unwrap();
    let key = Key::request(asked.request.parse().unwrap());
    assert!(world.store.get(&key).await.unwrap().is_some());
    let (_, state) = call(&world, "GET", &asked.location, Some("secret")).await;
    assert!(state.contains(r#""outcome":"pending""#), "{state}");
}

#[tokio::test]
async fn what_the_records_refuse_is_refused_at_once() {
    let world = world().await;
    let (status, problem) =
        call(&world, "POST", "/api/v1/stacks/infra/network/approve", Some("secret")).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(problem.contains("nothing waits for approval"), "{problem}");
    assert!(world.queue.pending().is_empty());
    let (status, _) = call(&world, "POST", "/api/v1/stacks/infra/network/explode", Some("secret")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}
