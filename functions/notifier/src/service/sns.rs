//! `sns`: events as CloudEvents into a topic of one's own, with attributes for filter policies.
//! <https://docs.aws.amazon.com/sns/latest/api/API_Publish.html>

use serde_json::Value;
use yuba_core::cloud_event::CloudEvent;
use yuba_core::notify::{Mend, ProviderSpec, Undelivered};
use yuba_ports::{HttpAnswer, HttpRequest};

use super::aws::{TEST, Target, cloud_event, mend};
use super::{Heard, Service, Values, trouble};
use crate::notice::{Notice, Told};
use crate::settings::NotifierSettings;

/// Delivers into a topic.
pub(super) struct Sns {
    target: Target,
}

impl Sns {
    /// The topic's ARN is the address.
    pub(super) fn of(
        settings: &NotifierSettings,
        spec: &ProviderSpec,
        values: &Values,
    ) -> Result<Self, Undelivered> {
        let example = "arn:aws:sns:eu-central-1:123456789012:alerts";
        Ok(Self { target: Target::of(settings, (spec, values), "sns", example)? })
    }

    /// A FIFO topic keeps the order of a stack's events, and takes each once.
    fn order(&self, notice: &Notice) -> Vec<(String, String)> {
        if self.target.arn.split(':').next_back().is_none_or(|name| !is_fifo(name)) {
            return Vec::new();
        }
        let (group, once) = match notice {
            Notice::Event(told) => (told.event.stack.to_string(), told.event.id()),
            Notice::Test { id, .. } => ("test".to_owned(), id.to_string()),
            Notice::Run(_) => return Vec::new(),
        };
        vec![("MessageGroupId".to_owned(), group), ("MessageDeduplicationId".to_owned(), once)]
    }
}

impl Service for Sns {
    fn request(&self, notice: &Notice) -> Option<HttpRequest> {
        let message = cloud_event(notice)?.to_string();
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("Action", "Publish").append_pair("Version", "2010-03-31");
        form.append_pair("TopicArn", &self.target.arn).append_pair("Message", &message);
        for (number, (name, value)) in (1..).zip(attributes(notice)) {
            let of = |field: &str| format!("MessageAttributes.entry.{number}.{field}");
            form.append_pair(&of("Name"), name).append_pair(&of("Value.DataType"), "String");
            form.append_pair(&of("Value.StringValue"), &value);
        }
        form.extend_pairs(self.order(notice));
        let headers = [("content-type", "application/x-www-form-urlencoded"), ("accept", "application/json")];
        Some(self.target.post(&headers, form.finish().into_bytes()))
    }

    fn heard(&self, answer: &HttpAnswer) -> Result<Heard, Undelivered> {
        if (400..500).contains(&answer.status)
            && let Some((code, said)) = error(&answer.body)
        {
            let why = format!("SNS says {code}: {said}");
            return Err(Undelivered::new(if answer.status == 429 { Mend::Time } else { mend(&code) }, why));
        }
        trouble::success(answer).map(|()| Heard::Taken)
    }
}

fn is_fifo(topic: &str) -> bool {
    topic.rsplit_once('.').is_some_and(|(_, end)| end == "fifo")
}

fn attributes(notice: &Notice) -> Vec<(&'static str, String)> {
    match notice {
        Notice::Event(told) => {
            let Told { event, installation, .. } = &**told;
            CloudEvent::attributes(installation, event).into()
        }
        _ => vec![("type", TEST.to_owned())],
    }
}

/// Code and text of an error, in JSON or, where that was not understood, XML.
fn error(body: &[u8]) -> Option<(String, String)> {
    if let Ok(body) = serde_json::from_slice::<Value>(body) {
        let error = body.get("Error")?;
        let text = |name| error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        return Some((text("Code"), text("Message")));
    }
    let body = String::from_utf8_lossy(body);
    let text = |name: &str| {
        let (_, after) = body.split_once(&format!("<{name}>"))?;
        after.split_once(&format!("</{name}>")).map(|(text, _)| text.to_owned())
    };
    Some((text("Code")?, text("Message").unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::super::tests_kit::{answer, event, run, settings, shown, spec, test, values};
    use super::*;
    use crate::service;

    const TOPIC: &str = "arn:aws:sns:eu-central-1:123456789012:alerts";

    fn service(topic: &str, pairs: &[(&str, &str)]) -> Result<Box<dyn Service>, Undelivered> {
        let spec = ProviderSpec { address: Some(topic.to_owned()), ..spec("sns") };
        service::of(&settings(), &spec, &values(pairs))
    }

    #[test]
    fn an_event_is_published_with_attributes_for_filters() {
        let service = service(TOPIC, &[]).unwrap();
        insta::assert_snapshot!(shown(&service.request(&event()).unwrap()), @r#"
        POST https://sns.eu-central-1.amazonaws.com/
        content-type: application/x-www-form-urlencoded
        accept: application/json
        signed for sns in eu-central-1 with the process' own keys
          Action: Publish
          Version: 2010-03-31
          TopicArn: arn:aws:sns:eu-central-1:123456789012:alerts
          Message: {"specversion":"1.0","id":"00000000000000000000000001-7","source":"/yuba/prod","type":"dev.yuba.drift.detected","subject":"infra/network-prod","time":"2026-11-30T08:25:57Z","sequence":"000000000007","datacontenttype":"application/json","data":{"stack":"00000000000000000000000001","name":"infra/network-prod","number":7,"severity":"error","run":"00000000000000000000000002","revision":"main@sha1:08747a14332ac9f2d1e5cfb4ec1a1a2f51e9f0c1","message":"Drift detected: 3 resources"}}
          MessageAttributes.entry.1.Name: installation
          MessageAttributes.entry.1.Value.DataType: String
          MessageAttributes.entry.1.Value.StringValue: prod
          MessageAttributes.entry.2.Name: type
          MessageAttributes.entry.2.Value.DataType: String
          MessageAttributes.entry.2.Value.StringValue: dev.yuba.drift.detected
          MessageAttributes.entry.3.Name: severity
          MessageAttributes.entry.3.Value.DataType: String
          MessageAttributes.entry.3.Value.StringValue: error
          MessageAttributes.entry.4.Name: namespace
          MessageAttributes.entry.4.Value.DataType: String
          MessageAttributes.entry.4.Value.StringValue: infra
          MessageAttributes.entry.5.Name: stack
          MessageAttributes.entry.5.Value.DataType: String
          MessageAttributes.entry.5.Value.StringValue: infra/network-prod
        "#);
        assert!(service.request(&run()).is_none());
    }

    #[test]
    fn a_fifo_topic_gets_group_and_id_and_a_test_says_that_it_is_one() {
        let keys = [("accessKeyId", "AKIDEXAMPLE"), ("secretAccessKey", "x")];
        let service = service(&format!("{TOPIC}.fifo"), &keys).unwrap();
        let request = shown(&service.request(&event()).unwrap());
        assert!(request.contains("MessageGroupId: 00000000000000000000000001\n"), "{request}");
        assert!(request.contains("MessageDeduplicationId: 00000000000000000000000001-7\n"), "{request}");
        insta::assert_snapshot!(shown(&service.request(&test()).unwrap()), @r#"
        POST https://sns.eu-central-1.amazonaws.com/
        content-type: application/x-www-form-urlencoded
        accept: application/json
        signed for sns in eu-central-1 with AKIDEXAMPLE
          Action: Publish
          Version: 2010-03-31
          TopicArn: arn:aws:sns:eu-central-1:123456789012:alerts.fifo
          Message: {"specversion":"1.0","id":"00000000000000000000000003","source":"/yuba","type":"dev.yuba.provider.test","time":"2026-11-30T08:25:57Z","datacontenttype":"application/json","data":{"message":"ada tries whether messages of Yuba arrive here; nothing happened."}}
          MessageAttributes.entry.1.Name: type
          MessageAttributes.entry.1.Value.DataType: String
          MessageAttributes.entry.1.Value.StringValue: dev.yuba.provider.test
          MessageGroupId: test
          MessageDeduplicationId: 00000000000000000000000003
        "#);
    }

    #[test]
    fn what_is_no_topic_and_half_a_key_are_refused() {
        let why = |topic, pairs: &[(&str, &str)]| service(topic, pairs).err().unwrap().why;
        insta::assert_snapshot!(why("https://sns.eu-central-1.amazonaws.com", &[]), @"the address `https://sns.eu-central-1.amazonaws.com` is no ARN such as arn:aws:sns:eu-central-1:123456789012:alerts");
        insta::assert_snapshot!(why(TOPIC, &[("accessKeyId", "AKIDEXAMPLE")]), @"secret infra/s has no `secretAccessKey`, the key that `accessKeyId` names: `yuba secret set infra/s secretAccessKey=-` takes it from standard input");
    }

    #[test]
    fn each_answer_says_what_may_mend_it() {
        let heard = |status, body: &str| service(TOPIC, &[]).unwrap().heard(&answer(status, body));
        let json = |code: &str| {
            format!(r#"{{"Error":{{"Code":"{code}","Message":"no","Type":"Sender"}},"RequestId":"1"}}"#)
        };
        assert_eq!(heard(200, "<PublishResponse/>"), Ok(Heard::Taken));
        for (status, body, mend) in [
            (400, json("InvalidParameter"), Mend::Nothing),
            (400, json("Throttling"), Mend::Time),
            (403, json("AuthorizationError"), Mend::Settings),
            (403, json("InvalidClientTokenId"), Mend::Settings),
            (403, json("SignatureDoesNotMatch"), Mend::Settings),
            (404, "<ErrorResponse><Error><Code>NotFound</Code><Message>Topic does not exist</Message></Error></ErrorResponse>".to_owned(), Mend::Settings),
            (400, json("KMSDisabled"), Mend::Settings),
            (400, json("KMSThrottling"), Mend::Time),
            (429, json("TooMany"), Mend::Time),
            (500, String::new(), Mend::Time),
        ] {
            assert_eq!(heard(status, &body).map_err(|said| said.mend), Err(mend), "{status} {body}");
        }
        let said = heard(403, &json("AuthorizationError")).unwrap_err().why;
        assert_eq!(said, "SNS says AuthorizationError: no");
    }
}
