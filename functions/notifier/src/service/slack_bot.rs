//! `slack` with a bot's token: one message for a run, edited in place; others each a new one.
//! <https://docs.slack.dev/reference/methods/chat.postMessage>, <https://docs.slack.dev/reference/methods/chat.update>

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use yuba_core::notify::{Mend, ProviderSpec, SlackMessage, Undelivered};
use yuba_core::slack::card::Card;
use yuba_ports::{HttpAnswer, HttpRequest};

use super::slack_card::{Drawing, body, digest, with_metadata};
use super::{Heard, Outlet, Service, Values, timeout, trouble};
use crate::notice::Notice;
use crate::settings::NotifierSettings;

/// Where Slack's methods are.
const API: &str = "https://slack.com/api";
/// The method that Flux' manifests name in their address.
const POST: &str = "/chat.postMessage";
const UPDATE: &str = "/chat.update";

/// Delivers as a bot.
pub(super) struct SlackBot {
    outlet: Outlet,
    api: String,
    channel: String,
    username: Option<String>,
    drawing: Drawing,
}

impl SlackBot {
    pub(super) fn of(
        settings: &NotifierSettings,
        spec: &ProviderSpec,
        values: &Values,
        token: &SecretString,
    ) -> Result<Self, Undelivered> {
        let channel = spec.channel.clone().ok_or_else(|| {
            Undelivered::new(Mend::Settings, "spec.channel is missing: a bot must be told where to write")
        })?;
        let address = values.get("address").map(|address| address.expose_secret().to_owned());
        let address = address.or_else(|| spec.address.clone()).unwrap_or_else(|| API.to_owned());
        let address = address.trim_end_matches('/');
        let authorization = format!("Bearer {}", token.expose_secret());
        Ok(Self {
            api: address.strip_suffix(POST).unwrap_or(address).to_owned(),
            outlet: Outlet {
                address: SecretString::default(),
                headers: vec![("authorization".to_owned(), SecretString::from(authorization))],
                timeout: timeout(spec),
            },
            channel,
            username: spec.username.clone(),
            drawing: Drawing::with_buttons(settings),
        })
    }

    /// What alerts say stands beside what no run tells: a run's message is the same for all.
    fn card(&self, notice: &Notice) -> Card {
        let card = self.drawing.card(notice);
        if notice.run().is_some() { card } else { with_metadata(card, notice) }
    }

    fn call(&self, method: &str, body: Vec<u8>) -> HttpRequest {
        HttpRequest { url: SecretString::from(format!("{}{method}", self.api)), ..self.outlet.post(body) }
    }
}

impl Service for SlackBot {
    fn request(&self, notice: &Notice) -> Option<HttpRequest> {
        let card = self.card(notice);
        let thread = notice.run().and_then(|view| view.thread.as_ref());
        if let Some(thread) = thread
            && let Some(SlackMessage { channel, ts }) = &thread.posted
        {
            let is_stale = thread.shown.as_ref() != Some(&digest(&card));
            let update = || self.call(UPDATE, body(&card, &[("channel", json!(channel)), ("ts", json!(ts))]));
            return is_stale.then(update);
        }
        let channel = [("channel", json!(self.channel))];
        let username = self.username.as_ref().map(|username| ("username", json!(username)));
        let more: Vec<(&str, Value)> = channel.into_iter().chain(username).collect();
        Some(self.call(POST, body(&card, &more)))
    }

    fn heard(&self, answer: &HttpAnswer) -> Result<Heard, Undelivered> {
        trouble::success(answer)?;
        let said: Said = serde_json::from_slice(&answer.body).map_err(|_| {
            Undelivered::new(Mend::Settings, "the answer is not one of Slack's API: is the address right?")
        })?;
        match (said.ok, said.channel, said.ts) {
            (true, Some(channel), Some(ts)) => Ok(Heard::Posted(SlackMessage { channel, ts })),
            (true, ..) => Ok(Heard::Taken),
            (false, ..) => of_error(&said.error.unwrap_or_default(), said.needed.as_deref()),
        }
    }

    fn shows_runs(&self) -> bool {
        true
    }

    fn shown(&self, notice: &Notice) -> Option<String> {
        notice.run()?.thread.as_ref().map(|_| digest(&self.card(notice)))
    }
}

/// What Slack's API answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    ok: bool,
    error: Option<String>,
    channel: Option<String>,
    ts: Option<String>,
    needed: Option<String>,
}

/// What an error of Slack's API means.
fn of_error(error: &str, needed: Option<&str>) -> Result<Heard, Undelivered> {
    let settings =
        |advice: &str| Err(Undelivered::new(Mend::Settings, format!("Slack says `{error}`: {advice}")));
    match error {
        "message_not_found" | "cant_update_message" | "edit_window_closed" => Ok(Heard::Gone),
        "invalid_auth" | "not_authed" | "account_inactive" | "token_revoked" | "token_expired" => {
            settings("the secret's `token` is not, or no longer, one of a bot")
        }
        "missing_scope" => settings(&format!("the bot lacks the scope {}", needed.unwrap_or("chat:write"))),
        "channel_not_found" => settings("spec.channel names no channel that the bot can see"),
        "not_in_channel" => settings("the bot must be invited to the channel: `/invite @bot`"),
        "is_archived" => settings("the channel is archived"),
        "restricted_action"
        | "restricted_action_read_only_channel"
        | "ekm_access_denied"
        | "no_permission" => settings("the workspace does not let the bot write there"),
        "ratelimited"
        | "rate_limited"
        | "message_limit_exceeded"
        | "internal_error"
        | "fatal_error"
        | "service_unavailable"
        | "request_timeout"
        | "team_added_to_org" => Err(Undelivered::new(Mend::Time, format!("Slack says `{error}`"))),
        _ => Err(Undelivered::new(Mend::Nothing, format!("Slack does not take the message: `{error}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests_kit::{answer, event, run, settings, shown, spec, test, values};
    use super::*;
    use crate::service;

    fn bot() -> Box<dyn Service> {
        service::of(&settings(), &spec("slack"), &values(&[("token", "xoxb-1")])).unwrap()
    }

    fn posted(notice: &mut Notice) {
        let message = SlackMessage { channel: "C1".to_owned(), ts: "1.2".to_owned() };
        let Notice::Run(view) = notice else { panic!("it shows no run") };
        view.thread.as_mut().unwrap().posted = Some(message);
    }

    #[test]
    fn a_run_is_posted_once_and_then_edited() {
        let mut notice = run();
        insta::assert_snapshot!(shown(&bot().request(&notice).unwrap()), @r##"
        POST https://slack.com/api/chat.postMessage
        authorization: Bearer xoxb-1
          blocks: {"text": {"emoji": false, "text": "infra/network-prod: applied", "type": "plain_text"}, "type": "header"}
          blocks: {"text": {"text": "*2 to add, 0 to change, 0 to destroy; 1 output* · `plan-main-08747a1433@95cc1abab6db`", "type": "mrkdwn", "verbatim": true}, "type": "section"}
          blocks: {"text": {"text": "*Approved* by token holder (cli): Reviewed", "type": "mrkdwn", "verbatim": true}, "type": "section"}
          blocks: {"elements": [{"text": "`08747a1433` Move the logs of prod to eu-2 · Ada &lt;ada@example.com&gt;", "type": "mrkdwn", "verbatim": true}, {"text": "<https://yuba.example/runs/01M8P0E1TJ47B4EFWP51V6Q0H8|run 2 (tracked)>", "type": "mrkdwn", "verbatim": true}], "type": "context"}
          blocks: {"elements": [{"action_id": "yuba.view-plan", "text": {"emoji": false, "text": "View plan", "type": "plain_text"}, "type": "button", "url": "https://yuba.example/runs/01M8P0E1TJ47B4EFWP51V6Q0H8", "value": "{\"v\":1,\"stack\":\"01M8P0DRDSHSXFWFTT8K8H4HW0\",\"run\":\"01M8P0E1TJ47B4EFWP51V6Q0H8\",\"content\":\"sha256:95cc1abab6db1362882ec6290598eebc6722a20f1dce87f8c03b7d0c8628405f\"}"}], "type": "actions"}
          channel: "#infra"
          text: "infra/network-prod: applied"
          unfurl_links: false
          unfurl_media: false
        "##);
        posted(&mut notice);
        insta::assert_snapshot!(shown(&bot().request(&notice).unwrap()), @r##"
        POST https://slack.com/api/chat.update
        authorization: Bearer xoxb-1
          blocks: {"text": {"emoji": false, "text": "infra/network-prod: applied", "type": "plain_text"}, "type": "header"}
          blocks: {"text": {"text": "*2 to add, 0 to change, 0 to destroy; 1 output* · `plan-main-08747a1433@95cc1abab6db`", "type": "mrkdwn", "verbatim": true}, "type": "section"}
          blocks: {"text": {"text": "*Approved* by token holder (cli): Reviewed", "type": "mrkdwn", "verbatim": true}, "type": "section"}
          blocks: {"elements": [{"text": "`08747a1433` Move the logs of prod to eu-2 · Ada &lt;ada@example.com&gt;", "type": "mrkdwn", "verbatim": true}, {"text": "<https://yuba.example/runs/01M8P0E1TJ47B4EFWP51V6Q0H8|run 2 (tracked)>", "type": "mrkdwn", "verbatim": true}], "type": "context"}
          blocks: {"elements": [{"action_id": "yuba.view-plan", "text": {"emoji": false, "text": "View plan", "type": "plain_text"}, "type": "button", "url": "https://yuba.example/runs/01M8P0E1TJ47B4EFWP51V6Q0H8", "value": "{\"v\":1,\"stack\":\"01M8P0DRDSHSXFWFTT8K8H4HW0\",\"run\":\"01M8P0E1TJ47B4EFWP51V6Q0H8\",\"content\":\"sha256:95cc1abab6db1362882ec6290598eebc6722a20f1dce87f8c03b7d0c8628405f\"}"}], "type": "actions"}
          channel: "C1"
          text: "infra/network-prod: applied"
          ts: "1.2"
          unfurl_links: false
          unfurl_media: false
        "##);
    }

    #[test]
    fn what_is_shown_already_is_not_sent_again() {
        let (mut notice, bot) = (run(), bot());
        posted(&mut notice);
        let shown = bot.shown(&notice);
        let Notice::Run(view) = &mut notice else { panic!("it shows no run") };
        view.thread.as_mut().unwrap().shown = shown;
        assert!(bot.request(&notice).is_none());
        let Notice::Run(view) = &mut notice else { panic!("it shows no run") };
        view.run.name.name = "other".to_owned();
        assert!(bot.request(&notice).is_some());
    }

    #[test]
    fn what_no_run_tells_is_a_message_of_its_own() {
        insta::assert_snapshot!(shown(&bot().request(&event()).unwrap()), @r##"
        POST https://slack.com/api/chat.postMessage
        authorization: Bearer xoxb-1
          blocks: {"text": {"emoji": false, "text": "infra/network-prod: drift detected", "type": "plain_text"}, "type": "header"}
          blocks: {"text": {"text": "Drift detected: 3 resources", "type": "mrkdwn", "verbatim": true}, "type": "section"}
          blocks: {"elements": [{"text": "2026-11-30T08:25:57Z", "type": "mrkdwn", "verbatim": true}, {"text": "<https://yuba.example/runs/00000000000000000000000002|the run>", "type": "mrkdwn", "verbatim": true}], "type": "context"}
          blocks: {"elements": [{"text": "env: prod", "type": "mrkdwn", "verbatim": true}], "type": "context"}
          channel: "#infra"
          text: "infra/network-prod: drift detected"
          unfurl_links: false
          unfurl_media: false
        "##);
        assert!(bot().request(&test()).is_some());
    }

    #[test]
    fn each_error_says_what_may_mend_it() {
        let heard = |body: &str| bot().heard(&answer(200, body));
        let message = SlackMessage { channel: "C1".to_owned(), ts: "1.2".to_owned() };
        assert_eq!(heard(r#"{"ok":true,"channel":"C1","ts":"1.2"}"#), Ok(Heard::Posted(message)));
        assert_eq!(heard(r#"{"ok":false,"error":"message_not_found"}"#), Ok(Heard::Gone));
        for (error, mend) in [
            ("invalid_auth", Mend::Settings),
            ("token_revoked", Mend::Settings),
            ("channel_not_found", Mend::Settings),
            ("not_in_channel", Mend::Settings),
            ("ratelimited", Mend::Time),
            ("fatal_error", Mend::Time),
            ("invalid_blocks", Mend::Nothing),
            ("msg_too_long", Mend::Nothing),
        ] {
            let said = heard(&format!(r#"{{"ok":false,"error":"{error}"}}"#)).unwrap_err();
            assert_eq!(said.mend, mend, "{error}");
            assert!(said.why.contains(error), "{}", said.why);
        }
        let scope = heard(r#"{"ok":false,"error":"missing_scope","needed":"chat:write.customize"}"#);
        assert_eq!(
            scope.unwrap_err().why,
            "Slack says `missing_scope`: the bot lacks the scope chat:write.customize"
        );
        assert_eq!(heard("<html>").unwrap_err().mend, Mend::Settings);
        assert_eq!(
            bot().heard(&answer(429, "")).unwrap_err().mend,
            Mend::After(yuba_core::time::Span::minutes(1))
        );
    }

    #[test]
    fn a_bot_without_a_channel_says_so() {
        let spec = ProviderSpec { channel: None, ..spec("slack") };
        let Err(why) = service::of(&settings(), &spec, &values(&[("token", "x")])) else {
            panic!("no channel")
        };
        assert_eq!(why.why, "spec.channel is missing: a bot must be told where to write");
    }
}
