//! `opsgenie`: an alert for each cause of each stack, which is closed once the cause is gone.
//! <https://docs.opsgenie.com/docs/alert-api>

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use yuba_core::event::EventSeverity;
use yuba_core::notify::{IncidentCause, ProviderSpec, Undelivered};
use yuba_core::time::Span;
use yuba_ports::{HttpAnswer, HttpRequest};

use super::words::{bounded, headline, link, test};
use super::{Heard, Outlet, Service, Values, timeout, trouble};
use crate::notice::{Notice, Told};
use crate::settings::NotifierSettings;

/// Where alerts go, but for accounts of the EU.
const API: &str = "https://api.opsgenie.com/v2/alerts";
/// The longest texts that are taken, in characters.
const LONGEST_MESSAGE: usize = 130;
const LONGEST_DESCRIPTION: usize = 15_000;

/// Delivers alerts.
pub(super) struct Opsgenie {
    settings: NotifierSettings,
    api: String,
    headers: Vec<(String, SecretString)>,
    timeout: Span,
}

impl Opsgenie {
    pub(super) fn of(
        settings: &NotifierSettings,
        spec: &ProviderSpec,
        values: &Values,
        token: &SecretString,
    ) -> Self {
        let address = values.get("address").map(|address| address.expose_secret().to_owned());
        let address = address.or_else(|| spec.address.clone()).unwrap_or_else(|| API.to_owned());
        let key = SecretString::from(format!("GenieKey {}", token.expose_secret()));
        Self {
            settings: settings.clone(),
            api: address.trim_end_matches('/').to_owned(),
            headers: vec![("authorization".to_owned(), key)],
            timeout: timeout(spec),
        }
    }

    fn post(&self, path: &str, body: &Value) -> HttpRequest {
        let address = SecretString::from(format!("{}{path}", self.api));
        let outlet = Outlet { address, headers: self.headers.clone(), timeout: self.timeout };
        outlet.post(body.to_string().into_bytes())
    }

    fn close(&self, alias: &str, note: &str) -> HttpRequest {
        let body = json!({ "source": "yuba", "note": note });
        self.post(&format!("/{alias}/close?identifierType=alias"), &body)
    }

    fn event(&self, told: &Told) -> Option<HttpRequest> {
        let event = &told.event;
        if let Some(cause) = IncidentCause::closed_by(event.kind) {
            return Some(self.close(&cause.key(event.stack), &event.message));
        }
        let cause = IncidentCause::opened_by(event.kind)?;
        let mut details = told.metadata.clone();
        let own = [
            ("run", event.run.map(|run| run.to_string())),
            ("revision", event.revision.as_ref().map(ToString::to_string)),
            ("link", link(&self.settings, event)),
        ];
        details.extend(own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        let body = json!({
            "message": bounded(&headline(event), LONGEST_MESSAGE),
            "alias": cause.key(event.stack),
            "description": bounded(&event.message, LONGEST_DESCRIPTION),
            "entity": event.name.to_string(),
            "source": "yuba",
            "priority": priority(event.kind.severity()),
            "tags": ["yuba", cause.as_str()],
            "details": details,
        });
        Some(self.post("", &body))
    }
}

impl Service for Opsgenie {
    fn request(&self, notice: &Notice) -> Option<HttpRequest> {
        match notice {
            Notice::Event(told) => self.event(told),
            // Closing what is not open calls nobody, and needs the same key.
            Notice::Test { id, by } => Some(self.close(&format!("yuba-test-{id}"), &test(by))),
            Notice::Run(_) => None,
        }
    }

    fn heard(&self, answer: &HttpAnswer) -> Result<Heard, Undelivered> {
        trouble::success(answer).map(|()| Heard::Taken)
    }
}

fn priority(severity: EventSeverity) -> &'static str {
    match severity {
        EventSeverity::Critical => "P1",
        EventSeverity::Error => "P2",
        EventSeverity::Warning => "P3",
        EventSeverity::Info => "P5",
    }
}

#[cfg(test)]
mod tests {
    use yuba_core::event::EventKind;
    use yuba_core::notify::Mend;

    use super::super::tests_kit::{answer, event, of_kind, run, settings, shown, spec, test, values};
    use super::*;
    use crate::service;

    fn service() -> Box<dyn Service> {
        service::of(&settings(), &spec("opsgenie"), &values(&[("token", "K3Y")])).unwrap()
    }

    #[test]
    fn what_is_wrong_makes_an_alert_of_its_stack_and_cause() {
        insta::assert_snapshot!(shown(&service().request(&event()).unwrap()), @r#"
        POST https://api.opsgenie.com/v2/alerts
        authorization: GenieKey K3Y
          alias: "yuba-00000000000000000000000001-drift"
          description: "Drift detected: 3 resources"
          details: {"env": "prod", "link": "https://yuba.example/runs/00000000000000000000000002", "revision": "main@sha1:08747a14332ac9f2d1e5cfb4ec1a1a2f51e9f0c1", "run": "00000000000000000000000002"}
          entity: "infra/network-prod"
          message: "infra/network-prod: drift detected"
          priority: "P2"
          source: "yuba"
          tags: "yuba"
          tags: "drift"
        "#);
    }

    #[test]
    fn its_end_closes_it_and_what_is_neither_is_not_sent() {
        let request = |kind| service().request(&of_kind(kind));
        insta::assert_snapshot!(shown(&request(EventKind::RunApplied).unwrap()), @r#"
        POST https://api.opsgenie.com/v2/alerts/yuba-00000000000000000000000001-run/close?identifierType=alias
        authorization: GenieKey K3Y
          note: "Drift detected: 3 resources"
          source: "yuba"
        "#);
        assert!(request(EventKind::ApprovalRequested).is_none());
        assert!(service().request(&run()).is_none());
    }

    #[test]
    fn a_test_calls_nobody() {
        insta::assert_snapshot!(shown(&service().request(&test()).unwrap()), @r#"
        POST https://api.opsgenie.com/v2/alerts/yuba-test-00000000000000000000000003/close?identifierType=alias
        authorization: GenieKey K3Y
          note: "ada tries whether messages of Yuba arrive here; nothing happened."
          source: "yuba"
        "#);
    }

    #[test]
    fn each_answer_says_what_may_mend_it() {
        let heard = |status, body: &str| service().heard(&answer(status, body)).map_err(|said| said.mend);
        assert_eq!(heard(202, r#"{"result":"Request will be processed"}"#), Ok(Heard::Taken));
        for (status, body, mend) in [
            (401, r#"{"message":"Could not authenticate"}"#, Mend::Settings),
            (403, r#"{"message":"API key is not allowed"}"#, Mend::Settings),
            (422, r#"{"message":"Request body is not processable"}"#, Mend::Nothing),
            (429, "", Mend::After(Span::minutes(1))),
            (503, "", Mend::Time),
        ] {
            assert_eq!(heard(status, body), Err(mend), "{status} {body}");
        }
        assert!(service::of(&settings(), &spec("opsgenie"), &values(&[])).is_err(), "there is no key");
    }
}
