//! `eventbridge`: events as CloudEvents onto a bus of one's own. Rules match `source` `dev.yuba` and, in `detail-type`, what happened.
//! <https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html>

use serde::Deserialize;
use serde_json::json;
use yuba_core::notify::{Mend, ProviderSpec, Undelivered};
use yuba_ports::{HttpAnswer, HttpRequest};

use super::aws::{TEST, Target, cloud_event, mend};
use super::{Heard, Service, Values, trouble};
use crate::notice::Notice;
use crate::settings::NotifierSettings;

/// What rules know Yuba's events by.
const SOURCE: &str = "dev.yuba";

/// Delivers onto a bus.
pub(super) struct EventBridge {
    target: Target,
}

impl EventBridge {
    /// The bus' ARN is the address.
    pub(super) fn of(
        settings: &NotifierSettings,
        spec: &ProviderSpec,
        values: &Values,
    ) -> Result<Self, Undelivered> {
        let example = "arn:aws:events:eu-central-1:123456789012:event-bus/alerts";
        Ok(Self { target: Target::of(settings, (spec, values), "events", example)? })
    }
}

impl Service for EventBridge {
    fn request(&self, notice: &Notice) -> Option<HttpRequest> {
        let (kind, at) = match notice {
            Notice::Event(told) => (told.event.kind.as_type(), told.event.at),
            Notice::Test { by, .. } => (TEST, by.at),
            Notice::Run(_) => return None,
        };
        let entry = json!({
            "EventBusName": self.target.arn,
            "Source": SOURCE,
            "DetailType": kind,
            "Detail": cloud_event(notice)?.to_string(),
            // Seconds; the event itself tells the milliseconds too.
            "Time": at.0.div_euclid(1000),
        });
        let headers =
            [("content-type", "application/x-amz-json-1.1"), ("x-amz-target", "AWSEvents.PutEvents")];
        Some(self.target.post(&headers, json!({ "Entries": [entry] }).to_string().into_bytes()))
    }

    fn heard(&self, answer: &HttpAnswer) -> Result<Heard, Undelivered> {
        match serde_json::from_slice::<Answer>(&answer.body).unwrap_or_default() {
            // The request was taken; the event may not have been.
            Answer { entries, .. }
                if answer.status == 200 && entries.iter().any(|entry| entry.code.is_some()) =>
            {
                let entry = entries.into_iter().find(|entry| entry.code.is_some()).unwrap_or_default();
                Err(said(&entry.code.unwrap_or_default(), &entry.message))
            }
            Answer { code: Some(code), message, .. } if (400..500).contains(&answer.status) => {
                // Names of services stand before some: `com.amazon…#AccessDeniedException`.
                let code = code.rsplit('#').next().unwrap_or_default();
                Err(said(code, message.as_deref().unwrap_or_default()))
            }
            _ => trouble::success(answer).map(|()| Heard::Taken),
        }
    }
}

fn said(code: &str, message: &str) -> Undelivered {
    let mend = if code == "LimitExceededException" { Mend::Time } else { mend(code) };
    Undelivered::new(mend, format!("EventBridge says {code}: {message}"))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    #[serde(rename = "Entries")]
    entries: Vec<Entry>,
    #[serde(rename = "__type")]
    code: Option<String>,
    #[serde(alias = "Message")]
    message: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Entry {
    #[serde(rename = "ErrorCode")]
    code: Option<String>,
    #[serde(rename = "ErrorMessage")]
    message: String,
}

#[cfg(test)]
mod tests {
    use super::super::tests_kit::{answer, event, run, settings, shown, spec, test, values};
    use super::*;
    use crate::service;

    fn service() -> Box<dyn Service> {
        let address = Some("arn:aws:events:eu-central-1:123456789012:event-bus/alerts".to_owned());
        service::of(&settings(), &ProviderSpec { address, ..spec("eventbridge") }, &values(&[])).unwrap()
    }

    #[test]
    fn an_event_is_put_onto_the_bus() {
        insta::assert_snapshot!(shown(&service().request(&event()).unwrap()), @r#"
        POST https://events.eu-central-1.amazonaws.com/
        content-type: application/x-amz-json-1.1
        x-amz-target: AWSEvents.PutEvents
        signed for events in eu-central-1 with the process' own keys
          Entries: {"Detail": "{\"specversion\":\"1.0\",\"id\":\"00000000000000000000000001-7\",\"source\":\"/yuba/prod\",\"type\":\"dev.yuba.drift.detected\",\"subject\":\"infra/network-prod\",\"time\":\"2026-11-30T08:25:57Z\",\"sequence\":\"000000000007\",\"datacontenttype\":\"application/json\",\"data\":{\"stack\":\"00000000000000000000000001\",\"name\":\"infra/network-prod\",\"number\":7,\"severity\":\"error\",\"run\":\"00000000000000000000000002\",\"revision\":\"main@sha1:08747a14332ac9f2d1e5cfb4ec1a1a2f51e9f0c1\",\"message\":\"Drift detected: 3 resources\"}}", "DetailType": "dev.yuba.drift.detected", "EventBusName": "arn:aws:events:eu-central-1:123456789012:event-bus/alerts", "Source": "dev.yuba", "Time": 1796027157}
        "#);
        assert!(service().request(&run()).is_none());
    }

    #[test]
    fn a_test_says_that_it_is_one() {
        let request = shown(&service().request(&test()).unwrap());
        assert!(request.contains("dev.yuba.provider.test"), "{request}");
    }

    #[test]
    fn each_answer_says_what_may_mend_it() {
        let heard = |status, body: &str| service().heard(&answer(status, body));
        let of = |code: &str| {
            format!(r#"{{"FailedEntryCount":1,"Entries":[{{"ErrorCode":"{code}","ErrorMessage":"no"}}]}}"#)
        };
        assert_eq!(heard(200, r#"{"FailedEntryCount":0,"Entries":[{"EventId":"1"}]}"#), Ok(Heard::Taken));
        for (status, body, mend) in [
            (200, of("ThrottlingException"), Mend::Time),
            (200, of("InternalFailure"), Mend::Time),
            (200, of("NotAuthorizedForSourceException"), Mend::Settings),
            (200, of("InvalidArgument"), Mend::Nothing),
            (400, r#"{"__type":"AccessDeniedException","Message":"no"}"#.to_owned(), Mend::Settings),
            (
                400,
                r#"{"__type":"com.amazonaws.events#ResourceNotFoundException","message":"no"}"#.to_owned(),
                Mend::Settings,
            ),
            (400, r#"{"__type":"ThrottlingException"}"#.to_owned(), Mend::Time),
            (400, r#"{"__type":"LimitExceededException"}"#.to_owned(), Mend::Time),
            (413, String::new(), Mend::Nothing),
            (503, String::new(), Mend::Time),
        ] {
            assert_eq!(heard(status, &body).map_err(|said| said.mend), Err(mend), "{status} {body}");
        }
        let said = heard(200, &of("NotAuthorizedForSourceException")).unwrap_err().why;
        assert_eq!(said, "EventBridge says NotAuthorizedForSourceException: no");
    }
}
