//! `pagerduty`: an incident for each cause of each stack, which resolves once the cause is gone.
//! <https://developer.pagerduty.com/docs/events-api-v2-overview>

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};
use yuba_core::event::Event;
use yuba_core::notify::{IncidentCause, Mend, ProviderSpec, Undelivered};
use yuba_core::time::Span;
use yuba_ports::{HttpAnswer, HttpRequest};

use super::words::{bounded, headline, link, test};
use super::{Heard, Outlet, Service, Values, lacks, timeout, trouble};
use crate::notice::{Notice, Told};
use crate::settings::NotifierSettings;

/// Where events go, but for accounts of the EU.
const HOST: &str = "https://events.pagerduty.com";
/// The longest summary that is taken, in characters.
const LONGEST_SUMMARY: usize = 1024;
/// How long is waited where PagerDuty asks to wait and says no time.
const WAIT: Span = Span::minutes(1);

/// Delivers through Events API v2.
pub(super) struct PagerDuty {
    settings: NotifierSettings,
    host: String,
    /// Of the service's integration: a secret.
    routing_key: SecretString,
    timeout: Span,
}

impl PagerDuty {
    /// The integration's key stands in the secret, or as Flux has it in `spec.channel`.
    pub(super) fn of(
        settings: &NotifierSettings,
        spec: &ProviderSpec,
        values: &Values,
        token: Option<&SecretString>,
    ) -> Result<Self, Undelivered> {
        let of_channel = || spec.channel.clone().map(SecretString::from);
        let routing_key = token.cloned().or_else(of_channel);
        let address = values.get("address").map(|address| address.expose_secret().to_owned());
        let address = address.or_else(|| spec.address.clone()).unwrap_or_else(|| HOST.to_owned());
        let host = address.trim_end_matches('/').trim_end_matches("/v2/enqueue").to_owned();
        Ok(Self {
            settings: settings.clone(),
            host,
            routing_key: routing_key
                .ok_or_else(|| lacks(spec, "token", "the integration key of Events API v2"))?,
            timeout: timeout(spec),
        })
    }

    fn post(&self, path: &str, mut body: Map<String, Value>) -> HttpRequest {
        body.insert("routing_key".to_owned(), json!(self.routing_key.expose_secret()));
        let address = SecretString::from(format!("{}{path}", self.host));
        let outlet = Outlet { address, headers: Vec::new(), timeout: self.timeout };
        outlet.post(Value::Object(body).to_string().into_bytes())
    }

    fn event(&self, told: &Told) -> Option<HttpRequest> {
        let event = &told.event;
        if let Some(cause) = IncidentCause::closed_by(event.kind) {
            let key = json!(cause.key(event.stack));
            let body = [("event_action", json!("resolve")), ("dedup_key", key)];
            return Some(self.post("/v2/enqueue", fields(body)));
        }
        let cause = IncidentCause::opened_by(event.kind)?;
        let link = link(&self.settings, event).map(|href| json!({ "href": href, "text": "The run" }));
        let body = [
            ("event_action", json!("trigger")),
            ("dedup_key", json!(cause.key(event.stack))),
            ("payload", payload(told, cause)),
            ("links", json!(link.into_iter().collect::<Vec<_>>())),
            ("client", json!("Yuba")),
        ];
        Some(self.post("/v2/enqueue", fields(body)))
    }
}

impl Service for PagerDuty {
    fn request(&self, notice: &Notice) -> Option<HttpRequest> {
        match notice {
            Notice::Event(told) => self.event(told),
            // A change calls nobody, and needs the same key.
            Notice::Test { by, .. } => {
                let payload =
                    json!({ "summary": test(by), "source": "yuba", "timestamp": by.at.to_string() });
                Some(self.post("/v2/change/enqueue", fields([("payload", payload)])))
            }
            Notice::Run(_) => None,
        }
    }

    fn heard(&self, answer: &HttpAnswer) -> Result<Heard, Undelivered> {
        let said = String::from_utf8_lossy(&answer.body);
        match answer.status {
            400 if said.contains("routing key") || said.contains("routing_key") => Err(Undelivered::new(
                Mend::Settings,
                "PagerDuty does not know the integration key, which is the secret's `token` or spec.channel",
            )),
            // Events come faster than the integration takes them.
            429 => Err(Undelivered::new(
                Mend::After(answer.retry_after.unwrap_or(WAIT)),
                "PagerDuty takes no more events of this integration for a while",
            )),
            _ => trouble::success(answer).map(|()| Heard::Taken),
        }
    }
}

fn payload(told: &Told, cause: IncidentCause) -> Value {
    let Event { name, kind, message, at, revision, number, run, .. } = &told.event;
    json!({
        "summary": bounded(&format!("{}: {message}", headline(&told.event)), LONGEST_SUMMARY),
        "source": name.to_string(),
        "severity": kind.severity().as_str(),
        "timestamp": at.to_string(),
        "component": name.name,
        "group": name.namespace,
        "class": cause.as_str(),
        "custom_details": {
            "message": message,
            "event": number,
            "run": run,
            "revision": revision.as_ref().map(ToString::to_string),
            "metadata": told.metadata,
        },
    })
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use yuba_core::event::EventKind;

    use super::super::tests_kit::{answer, event, of_kind, run, settings, shown, spec, test, values};
    use super::*;
    use crate::service;

    fn service() -> Box<dyn Service> {
        service::of(&settings(), &spec("pagerduty"), &values(&[("token", "R0UT1NG")])).unwrap()
    }

    #[test]
    fn what_is_wrong_triggers_an_incident_of_its_stack_and_cause() {
        insta::assert_snapshot!(shown(&service().request(&event()).unwrap()), @r#"
        POST https://events.pagerduty.com/v2/enqueue
          client: "Yuba"
          dedup_key: "yuba-00000000000000000000000001-drift"
          event_action: "trigger"
          links: {"href": "https://yuba.example/runs/00000000000000000000000002", "text": "The run"}
          payload: {"class": "drift", "component": "network-prod", "custom_details": {"event": 7, "message": "Drift detected: 3 resources", "metadata": {"env": "prod"}, "revision": "main@sha1:08747a14332ac9f2d1e5cfb4ec1a1a2f51e9f0c1", "run": "00000000000000000000000002"}, "group": "infra", "severity": "error", "source": "infra/network-prod", "summary": "infra/network-prod: drift detected: Drift detected: 3 resources", "timestamp": "2026-11-30T08:25:57Z"}
          routing_key: "R0UT1NG"
        "#);
    }

    #[test]
    fn its_end_resolves_it_and_what_is_neither_is_not_sent() {
        let request = |kind| service().request(&of_kind(kind));
        insta::assert_snapshot!(shown(&request(EventKind::DriftResolved).unwrap()), @r#"
        POST https://events.pagerduty.com/v2/enqueue
          dedup_key: "yuba-00000000000000000000000001-drift"
          event_action: "resolve"
          routing_key: "R0UT1NG"
        "#);
        assert!(request(EventKind::ApprovalRequested).is_none() && request(EventKind::RunQueued).is_none());
        assert!(service().request(&run()).is_none());
    }

    #[test]
    fn a_test_calls_nobody() {
        insta::assert_snapshot!(shown(&service().request(&test()).unwrap()), @r#"
        POST https://events.pagerduty.com/v2/change/enqueue
          payload: {"source": "yuba", "summary": "ada tries whether messages of Yuba arrive here; nothing happened.", "timestamp": "2026-11-30T08:25:57Z"}
          routing_key: "R0UT1NG"
        "#);
    }

    #[test]
    fn the_key_may_stand_in_the_channel_and_the_address_is_of_a_region() {
        let address = Some("https://events.eu.pagerduty.com/".to_owned());
        let spec = ProviderSpec { channel: Some("KEY".to_owned()), address, ..spec("pagerduty") };
        let service = service::of(&settings(), &spec, &values(&[])).unwrap();
        let request = shown(&service.request(&of_kind(EventKind::StateFreed)).unwrap());
        assert!(request.starts_with("POST https://events.eu.pagerduty.com/v2/enqueue\n"), "{request}");
        assert!(request.contains("routing_key: \"KEY\""), "{request}");
        let spec = ProviderSpec { channel: None, ..spec };
        let Err(why) = service::of(&settings(), &spec, &values(&[])) else { panic!("there is no key") };
        assert!(why.why.contains("has no `token`, the integration key of Events API v2"), "{}", why.why);
    }

    #[test]
    fn each_answer_says_what_may_mend_it() {
        let heard = |status, body: &str| service().heard(&answer(status, body)).map_err(|said| said.mend);
        assert_eq!(heard(202, r#"{"status":"success","message":"Event processed"}"#), Ok(Heard::Taken));
        for (status, body, mend) in [
            (400, r#"{"status":"invalid event","errors":["Invalid routing key"]}"#, Mend::Settings),
            (400, r#"{"status":"invalid event","errors":["'severity' is invalid"]}"#, Mend::Nothing),
            (403, "", Mend::Settings),
            (429, "", Mend::After(Span::minutes(1))),
            (500, "", Mend::Time),
        ] {
            assert_eq!(heard(status, body), Err(mend), "{status} {body}");
        }
    }
}
