//! Deliveries of Git hosts, rightly signed.

use axum::body::Body;
use http::{HeaderValue, Request, StatusCode};
use secrecy::SecretString;
use yuba_core::id::ManifestSetName;
use yuba_git::webhook::sign;
use yuba_ports::memory::MemoryWorld;
use yuba_webhook::{Webhook, WebhookSettings, router};

use crate::head::headers_and_body;
use crate::serve::ask;

/// Where each host delivers, and the header that it signs in.
const HOSTS: [(&str, &str); 2] =
    [("/webhooks/github", "x-hub-signature-256"), ("/webhooks/generic", "x-yuba-signature")];

/// Delivers headers and a body, signed, as each host.
pub fn target(data: &[u8]) {
    for host in HOSTS {
        deliver(host, data);
    }
}

fn deliver((path, signature): (&str, &'static str), data: &[u8]) {
    let (mut headers, body) = headers_and_body(data);
    let secret = SecretString::from("the secret of a host");
    let signed = sign(body, &secret).and_then(|signed| HeaderValue::from_str(&signed).ok());
    headers.insert(signature, signed.expect("a secret that is not empty signs"));
    let mut request = Request::post(path).body(Body::from(body.to_vec())).expect("the path is one");
    *request.headers_mut() = headers;

    let world = MemoryWorld::new();
    let settings = WebhookSettings {
        github: vec![secret.clone()],
        generic: vec![secret],
        manifests: vec![ManifestSetName("https://git.example/infra@main//flux".to_owned())],
    };
    let (status, answer) = ask(router(Webhook::new(world.ports(), settings)), request);

    assert_ne!(status, StatusCode::UNAUTHORIZED, "it was signed: {answer}");
    assert!(!status.is_server_error(), "{status} {answer}");
    if status == StatusCode::ACCEPTED {
        let is_stored = world.store.items().iter().any(|item| item.key.sort == "delivery");
        assert!(is_stored, "accepted and not stored: {answer}");
    }
}
