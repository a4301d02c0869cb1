//! `generic`: JSON in the form that Flux sends, to any address. The headers say of the same event what CloudEvents 1.0 says
//! in its binary mode. <https://fluxcd.io/flux/components/notification/providers/#generic-webhook>,
//! <https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md>

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde_json::{Value, json};
use yuba_core::event::Event;
use yuba_core::notify::Undelivered;
use yuba_ports::{HttpAnswer, HttpRequest};

use super::{Heard, Outlet, Service, trouble};
use crate::notice::{Notice, Told};

/// Delivers to any address.
pub(super) struct Generic {
    outlet: Outlet,
}

impl Generic {
    pub(super) fn of(outlet: Outlet) -> Self {
        Self { outlet }
    }
}

impl Service for Generic {
    fn request(&self, notice: &Notice) -> Option<HttpRequest> {
        let (body, headers) = match notice {
            Notice::Event(told) => (of_event(&told.event, &told.metadata), attributes(told)),
            Notice::Test { id, by } => (
                json!({
                    "involvedObject": { "kind": "Provider" },
                    "severity": "info",
                    "reason": "Test",
                    "message": format!("{} tries this provider; nothing happened.", by.who),
                    "metadata": { "test": id },
                    "reportingController": "yuba",
                    "timestamp": by.at.to_string(),
                }),
                vec![("gotk-component", "yuba".to_owned())],
            ),
            Notice::Run(_) => return None,
        };
        let mut request = self.outlet.post(body.to_string().into_bytes());
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), SecretString::from(value)));
        request.headers = headers.chain(request.headers).collect();
        Some(request)
    }

    fn heard(&self, answer: &HttpAnswer) -> Result<Heard, Undelivered> {
        trouble::success(answer).map(|()| Heard::Taken)
    }
}

/// An event as Flux' notification controller forwards it.
fn of_event(event: &Event, alerts: &BTreeMap<String, String>) -> Value {
    let run = event.run.map(|run| ("run", run.to_string()));
    let revision = event.revision.as_ref().map(|revision| ("revision", revision.to_string()));
    let number = [("number", event.number.to_string())];
    let own = number.into_iter().chain(run).chain(revision).map(|(name, value)| (name.to_owned(), value));
    let said = alerts.iter().map(|(name, value)| (name.clone(), value.clone()));
    // What an alert says does not hide what is.
    let metadata: BTreeMap<String, String> = said.chain(own).collect();
    json!({
        "involvedObject": {
            "apiVersion": "infra.contrib.fluxcd.io/v1alpha2",
            "kind": "Terraform",
            "namespace": event.name.namespace,
            "name": event.name.name,
            "uid": event.stack,
        },
        "severity": event.kind.severity(),
        "reason": reason(event),
        "message": event.message,
        "metadata": metadata,
        "reportingController": "yuba",
        "timestamp": event.at.to_string(),
    })
}

/// The kind of an event in one word, as Kubernetes writes reasons: `ApprovalRequested`.
fn reason(event: &Event) -> String {
    format!("{:?}", event.kind)
}

fn attributes(Told { event, installation, .. }: &Told) -> Vec<(&'static str, String)> {
    vec![
        ("ce-specversion", "1.0".to_owned()),
        ("ce-id", event.id()),
        ("ce-source", format!("/yuba/{installation}")),
        ("ce-type", event.kind.as_type().to_owned()),
        // Names of Kubernetes' form: nothing in them must be encoded.
        ("ce-subject", event.name.to_string()),
        ("ce-time", event.at.to_string()),
        ("ce-sequence", format!("{:012}", event.number)),
        ("gotk-component", "yuba".to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tests_kit::{event, shown, spec, test, values};
    use super::*;
    use crate::service;

    fn service() -> Box<dyn Service> {
        let values = values(&[
            ("address", "https://h/secret"),
            ("headers", "Authorization: Bearer x\nX-Team: \"a\"\n"),
        ]);
        service::of(&service::tests_kit::settings(), &spec("generic"), &values).unwrap()
    }

    #[test]
    fn an_event_is_sent_as_flux_does_with_the_attributes_of_a_cloud_event() {
        insta::assert_snapshot!(shown(&service().request(&event()).unwrap()), @r#"
        POST https://h/secret
        ce-specversion: 1.0
        ce-id: 00000000000000000000000001-7
        ce-source: /yuba/prod
        ce-type: dev.yuba.drift.detected
        ce-subject: infra/network-prod
        ce-time: 2026-11-30T08:25:57Z
        ce-sequence: 000000000007
        gotk-component: yuba
        Authorization: Bearer x
        X-Team: a
          involvedObject: {"apiVersion": "infra.contrib.fluxcd.io/v1alpha2", "kind": "Terraform", "name": "network-prod", "namespace": "infra", "uid": "00000000000000000000000001"}
          message: "Drift detected: 3 resources"
          metadata: {"env": "prod", "number": "7", "revision": "main@sha1:08747a14332ac9f2d1e5cfb4ec1a1a2f51e9f0c1", "run": "00000000000000000000000002"}
          reason: "DriftDetected"
          reportingController: "yuba"
          severity: "error"
          timestamp: "2026-11-30T08:25:57Z"
        "#);
    }

    #[test]
    fn a_test_says_who_tries() {
        let body: Value = serde_json::from_slice(&service().request(&test()).unwrap().body).unwrap();
        assert_eq!(body["message"], "ada tries this provider; nothing happened.");
    }

    #[test]
    fn without_an_address_it_says_what_is_missing() {
        let Err(why) = service::of(&service::tests_kit::settings(), &spec("generic"), &values(&[])) else {
            panic!("there is no address")
        };
        assert_eq!(
            why.why,
            "secret infra/s has no `address`, the address that messages are sent to: `yuba secret set infra/s address=-` \
             takes it from standard input"
        );
    }
}
