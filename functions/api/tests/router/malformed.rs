//! Requests that are not of the form that the API describes.

use axum::http::{Method, StatusCode};
use yuba_core::spec::ValuesKind;
use yuba_ports::Secrets;

use crate::kit::World;

#[tokio::test]
async fn a_cursor_that_no_list_gave_out_is_told_apart() {
    let world = World::new().await;
    let foreign = "5b2261225d"; // `["a"]`: readable, and no place in a list
    for list in ["stacks?", "runs?", "runs?stack=infra/network&", "events?", "sources?"] {
        for cursor in ["garbage", foreign] {
            let (status, problem) = world.get(&format!("/api/v1/{list}cursor={cursor}")).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{list}: {problem}");
            assert!(problem.contains("cursor: the cursor is not one that a list gave out"), "{problem}");
        }
    }
}

#[tokio::test]
async fn a_body_that_is_no_json_is_malformed_and_one_of_another_form_unprocessable() {
    let world = World::new().await;
    for (method, path) in [
        (Method::POST, "/api/v1/stacks/infra/network/suspend"),
        (Method::PATCH, "/api/v1/stacks/infra/network"),
        (Method::POST, "/api/v1/installation/pause"),
        (Method::PUT, "/api/v1/secrets/infra/db"),
    ] {
        let (status, problem) = world.send(method.clone(), path, "{").await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{method} {path}: {problem}");
        let (status, problem) = world.send(method.clone(), path, r#"{"nonsense":1}"#).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{method} {path}: {problem}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_too_large() {
    let world = World::new().await;
    let body = vec![b' '; 64 * 1024 * 1024 + 1];
    let (status, problem) = world.send(Method::POST, "/api/v1/stacks/infra/network/adopt", body).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(problem.contains("at most 64 MiB are read"), "{problem}");
}

#[tokio::test]
async fn a_secret_has_a_name_and_keys_that_a_manifest_can_name() {
    let world = World::new().await;
    let body = r#"{"values":{"k":"v"}}"#;
    for path in ["infra/..%2F..%2Fevil", "infra/..", "..%2Finfra/db", "infra/.db", "infra/a%20b"] {
        let (status, problem) = world.send(Method::PUT, &format!("/api/v1/secrets/{path}"), body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path}: {problem}");
        assert!(problem.contains("is not a name"), "{problem}");
    }
    for key in ["", "a b", "a/b"] {
        let body = format!(r#"{{"values":{{"{key}":"v"}}}}"#);
        let (status, problem) = world.send(Method::PUT, "/api/v1/secrets/infra/db", body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{key}: {problem}");
        assert!(problem.contains("is not a key"), "{problem}");
    }
    assert_eq!(world.get("/api/v1/secrets?namespace=..").await.0, StatusCode::BAD_REQUEST);
    let stored = world.memory.secrets.list(ValuesKind::Secret, None).await.unwrap();
    assert_eq!(stored, []);
}
