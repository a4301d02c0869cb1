//! Who is answered.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};

use crate::kit::World;

async fn with(world: &World, path: &str, header: Option<(&str, &str)>) -> StatusCode {
    let mut request = Request::get(path);
    if let Some((name, value)) = header {
        request = request.header(name, value);
    }
    world.answer(request.body(Body::empty()).unwrap()).await.0
}

/// Every route that is described: its method and its path.
pub(crate) fn described() -> Vec<(Method, String)> {
    let description = serde_json::to_value(yuba_api::description()).unwrap();
    let paths = description.pointer("/paths").unwrap().as_object().unwrap().clone();
    let methods = |operations: &serde_json::Value| -> Vec<Method> {
        let names = operations.as_object().unwrap().keys();
        names.filter_map(|name| name.to_uppercase().parse().ok()).collect()
    };
    let routes = paths.iter().flat_map(|(path, operations)| {
        methods(operations).into_iter().map(|method| (method, path.clone())).collect::<Vec<_>>()
    });
    routes.collect()
}

#[tokio::test]
async fn every_described_route_refuses_whoever_holds_no_token() {
    let world = World::new().await;
    let routes = described();
    assert!(routes.len() > 20, "{} routes are described", routes.len());
    for ((method, path), token) in
        routes.iter().flat_map(|route| ["", "Bearer wrong", "Basic secret"].map(|token| (route, token)))
    {
        let request = Request::builder().method(method).uri(path).header("authorization", token);
        let (status, text) = world.answer(request.body(Body::empty()).unwrap()).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{method} {path} {token}");
        assert!(text.contains("carries no valid token"), "{text}");
    }
}

#[tokio::test]
async fn the_scheme_is_read_in_any_case() {
    let world = World::new().await;
    for header in ["Bearer secret", "bearer secret", "BEARER secret"] {
        assert_eq!(with(&world, "/api/v1/stacks", Some(("authorization", header))).await, StatusCode::OK);
    }
}

#[tokio::test]
async fn pages_take_a_cookie_and_the_api_does_not() {
    let world = World::new().await;
    let cookie = Some(("cookie", "other=1; yuba_token=secret"));
    assert_eq!(with(&world, "/", cookie).await, StatusCode::OK);
    assert_eq!(with(&world, "/api/v1/stacks", cookie).await, StatusCode::UNAUTHORIZED);
    assert_eq!(with(&world, "/", None).await, StatusCode::UNAUTHORIZED);
    assert_eq!(with(&world, "/?token=wrong", None).await, StatusCode::UNAUTHORIZED);
    assert_eq!(with(&world, "/?token=secret", None).await, StatusCode::SEE_OTHER);
    assert_eq!(with(&world, "/healthz", None).await, StatusCode::OK);
}
