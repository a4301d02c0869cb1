//! `slack` through an incoming webhook: each message a new one, without buttons.
//! <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks>

use serde_json::{Value, json};
use yuba_core::notify::{Mend, ProviderSpec, Undelivered};
use yuba_ports::{HttpAnswer, HttpRequest};

use super::slack_card::{Drawing, body, with_metadata};
use super::{Heard, Outlet, Service, Values, outlet, trouble};
use crate::notice::Notice;
use crate::settings::NotifierSettings;

/// Delivers through an incoming webhook.
pub(super) struct SlackWebhook {
    outlet: Outlet,
    channel: Option<String>,
    username: Option<String>,
    drawing: Drawing,
}

impl SlackWebhook {
    pub(super) fn of(
        settings: &NotifierSettings,
        spec: &ProviderSpec,
        values: &Values,
    ) -> Result<Self, Undelivered> {
        Ok(Self {
            outlet: outlet(spec, values)?,
            channel: spec.channel.clone(),
            username: spec.username.clone(),
            drawing: Drawing::plain(settings),
        })
    }
}

impl Service for SlackWebhook {
    fn request(&self, notice: &Notice) -> Option<HttpRequest> {
        // What was sent cannot be edited.
        if matches!(notice, Notice::Run(_)) {
            return None;
        }
        let card = with_metadata(self.drawing.card(notice), notice);
        let named = [("channel", &self.channel), ("username", &self.username)];
        let more: Vec<(&str, Value)> =
            named.into_iter().filter_map(|(name, value)| Some((name, json!(value.as_ref()?)))).collect();
        Some(self.outlet.post(body(&card, &more)))
    }

    fn heard(&self, answer: &HttpAnswer) -> Result<Heard, Undelivered> {
        let said = String::from_utf8_lossy(&answer.body);
        // Slack asks for another try by this one word alone.
        if answer.status < 500 && said.trim() == "rollup_error" {
            return Err(Undelivered::new(Mend::Time, "Slack says `rollup_error`"));
        }
        trouble::success(answer).map(|()| Heard::Taken)
    }

    fn shows_runs(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests_kit::{answer, event, run, settings, shown, spec, values};
    use super::*;
    use crate::service;

    fn webhook() -> Box<dyn Service> {
        let values = values(&[("address", "https://hooks.slack.com/services/T/B/x")]);
        service::of(&settings(), &spec("slack"), &values).unwrap()
    }

    #[test]
    fn each_event_is_a_new_message_with_what_the_alert_says() {
        insta::assert_snapshot!(shown(&webhook().request(&event()).unwrap()), @r##"
        POST https://hooks.slack.com/services/T/B/x
          blocks: {"text": {"emoji": false, "text": "infra/network-prod: drift detected", "type": "plain_text"}, "type": "header"}
          blocks: {"text": {"text": "Drift detected: 3 resources", "type": "mrkdwn", "verbatim": true}, "type": "section"}
          blocks: {"elements": [{"text": "2026-11-30T08:25:57Z", "type": "mrkdwn", "verbatim": true}, {"text": "<https://yuba.example/runs/00000000000000000000000002|the run>", "type": "mrkdwn", "verbatim": true}], "type": "context"}
          blocks: {"elements": [{"text": "env: prod", "type": "mrkdwn", "verbatim": true}], "type": "context"}
          channel: "#infra"
          text: "infra/network-prod: drift detected"
          unfurl_links: false
          unfurl_media: false
        "##);
        assert!(webhook().request(&run()).is_none(), "what was sent cannot be edited");
    }

    #[test]
    fn each_answer_says_what_may_mend_it() {
        assert_eq!(webhook().heard(&answer(200, "ok")), Ok(Heard::Taken));
        for (status, body, mend) in [
            (400, "invalid_payload", Mend::Nothing),
            (403, "action_prohibited", Mend::Settings),
            (404, "no_service", Mend::Settings),
            (410, "channel_is_archived", Mend::Settings),
            (500, "rollup_error", Mend::Time),
            (400, "rollup_error", Mend::Time),
        ] {
            assert_eq!(webhook().heard(&answer(status, body)).unwrap_err().mend, mend, "{status} {body}");
        }
    }
}
