//! Who is woken when a value is set.

use axum::http::{Method, StatusCode};
use yuba_core::id::{ManifestSetName, SecretName, SourceName};
use yuba_core::message::Wake;
use yuba_core::source::Source;
use yuba_core::spec::{GitReference, SourceSpec};
use yuba_core::time::Span;

use crate::kit::World;

fn source(name: &str, secret: Option<&str>) -> Source {
    Source {
        name: SourceName::new("infra", name),
        spec: SourceSpec {
            url: "https://git.example/live".to_owned(),
            reference: GitReference::Branch("main".to_owned()),
            interval: Span::seconds(60),
            secret: secret.map(|secret| SecretName::new("infra", secret)),
            suspend: false,
        },
        set: ManifestSetName("manifests".to_owned()),
        observation: 0,
        seen: None,
        definitions: 0,
        definitions_seen: 0,
        failure: None,
        due: None,
        vanished: None,
    }
}

#[tokio::test]
async fn a_source_that_shows_a_secret_to_its_host_is_looked_at_when_that_is_set() {
    let world = World::new().await;
    for source in [source("live", Some("git")), source("other", Some("another")), source("public", None)] {
        world.put(&source).await;
    }
    let body = r#"{"values": {"bearerToken": "t0ken"}}"#;
    let (status, answer) = world.send(Method::PUT, "/api/v1/secrets/infra/git", body).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let woken: Vec<Wake> = world.memory.queue.pending().into_iter().map(|message| message.wake).collect();
    assert_eq!(woken, [Wake::Source(SourceName::new("infra", "live"))]);
}
