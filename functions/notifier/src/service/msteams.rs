//! `msteams`: an adaptive card to a workflow's (or an older connector's) webhook.
//! <https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using>
//!
//! What comes from Git, plans or manifests stands in text runs, in which Teams reads no markup: no link, no mention.

use serde_json::{Value, json};
use yuba_core::event::EventSeverity;
use yuba_core::notify::{Mend, Undelivered};
use yuba_core::time::Span;
use yuba_ports::{HttpAnswer, HttpRequest};

use super::words::{bounded, headline, link, test};
use super::{Heard, Outlet, Service, trouble};
use crate::notice::{Notice, Told};
use crate::settings::NotifierSettings;

/// How much of a message is shown, in characters: a webhook takes 28 KB.
const LONGEST_MESSAGE: usize = 4000;
const LONGEST_LINE: usize = 300;
/// How long is waited where a connector is told by Teams to wait.
const WAIT: Span = Span::minutes(1);

/// Delivers cards.
pub(super) struct MsTeams {
    settings: NotifierSettings,
    outlet: Outlet,
}

impl MsTeams {
    pub(super) fn of(settings: &NotifierSettings, outlet: Outlet) -> Self {
        Self { settings: settings.clone(), outlet }
    }

    fn event(&self, told: &Told) -> Value {
        let event = &told.event;
        let revision = event.revision.as_ref().map(ToString::to_string);
        let beside: Vec<String> = [event.at.to_string()].into_iter().chain(revision).collect();
        let said = told.metadata.iter().map(|(name, value)| format!("{name}: {value}"));
        let below = [beside.join(" · ")].into_iter().chain(said);
        let mut body = vec![
            line(&bounded(&headline(event), LONGEST_LINE), &title(event.kind.severity())),
            line(&bounded(&event.message, LONGEST_MESSAGE), &json!({})),
        ];
        body.extend(
            below.map(|text| {
                line(&bounded(&text, LONGEST_LINE), &json!({ "size": "small", "isSubtle": true }))
            }),
        );
        let open = link(&self.settings, event)
            .map(|url| json!({ "type": "Action.OpenUrl", "title": "Open the run", "url": url }));
        card(&body, &open.into_iter().collect::<Vec<_>>())
    }
}

impl Service for MsTeams {
    fn request(&self, notice: &Notice) -> Option<HttpRequest> {
        let card = match notice {
            Notice::Event(told) => self.event(told),
            Notice::Test { by, .. } => card(&[line(&test(by), &json!({}))], &[]),
            Notice::Run(_) => return None,
        };
        Some(self.outlet.post(card.to_string().into_bytes()))
    }

    fn heard(&self, answer: &HttpAnswer) -> Result<Heard, Undelivered> {
        trouble::success(answer)?;
        // Connectors say 200, and in words what Teams said to them.
        let said = String::from_utf8_lossy(&answer.body);
        let Some((_, status)) = said.split_once("Microsoft Teams endpoint returned HTTP error ") else {
            return Ok(Heard::Taken);
        };
        let mend = match status.get(..3) {
            Some("429") => Mend::After(WAIT),
            Some(status) if status.starts_with('5') => Mend::Time,
            _ => Mend::Nothing,
        };
        Err(Undelivered::new(mend, bounded(&format!("Teams says {}", said.trim()), 200)))
    }
}

fn title(severity: EventSeverity) -> Value {
    let color = match severity {
        EventSeverity::Critical | EventSeverity::Error => "attention",
        EventSeverity::Warning => "warning",
        EventSeverity::Info => "default",
    };
    json!({ "size": "large", "weight": "bolder", "color": color })
}

/// A line of text without markup.
fn line(text: &str, style: &Value) -> Value {
    let mut run = json!({ "type": "TextRun", "text": text });
    if let (Value::Object(run), Value::Object(style)) = (&mut run, style) {
        run.extend(style.clone());
    }
    json!({ "type": "RichTextBlock", "inlines": [run] })
}

fn card(body: &[Value], actions: &[Value]) -> Value {
    json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "contentUrl": null,
            "content": {
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "type": "AdaptiveCard",
                "version": "1.4",
                "msteams": { "width": "Full" },
                "body": body,
                "actions": actions,
            },
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests_kit::{answer, event, run, settings, shown, spec, test, values};
    use super::*;
    use crate::service;

    fn service() -> Box<dyn Service> {
        let values = values(&[("address", "https://prod-1.logic.azure.com/x?sig=s")]);
        service::of(&settings(), &spec("msteams"), &values).unwrap()
    }

    #[test]
    fn an_event_is_a_card_with_what_the_alert_says() {
        insta::assert_snapshot!(shown(&service().request(&event()).unwrap()), @r##"
        POST https://prod-1.logic.azure.com/x?sig=s
          attachments: {"content": {"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "actions": [{"title": "Open the run", "type": "Action.OpenUrl", "url": "https://yuba.example/runs/00000000000000000000000002"}], "body": [{"inlines": [{"color": "attention", "size": "large", "text": "infra/network-prod: drift detected", "type": "TextRun", "weight": "bolder"}], "type": "RichTextBlock"}, {"inlines": [{"text": "Drift detected: 3 resources", "type": "TextRun"}], "type": "RichTextBlock"}, {"inlines": [{"isSubtle": true, "size": "small", "text": "2026-11-30T08:25:57Z · main@sha1:08747a14332ac9f2d1e5cfb4ec1a1a2f51e9f0c1", "type": "TextRun"}], "type": "RichTextBlock"}, {"inlines": [{"isSubtle": true, "size": "small", "text": "env: prod", "type": "TextRun"}], "type": "RichTextBlock"}], "msteams": {"width": "Full"}, "type": "AdaptiveCard", "version": "1.4"}, "contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": null}
          type: "message"
        "##);
        assert!(service().request(&run()).is_none(), "what was sent cannot be edited");
        assert!(shown(&service().request(&test()).unwrap()).contains("ada tries whether"));
    }

    #[test]
    fn the_longest_message_is_taken_whole_by_a_webhook() {
        let Notice::Event(mut told) = event() else { panic!("no event") };
        told.event.message = "\u{1f4a5}".repeat(100_000);
        let request = service().request(&Notice::Event(told)).unwrap();
        assert!(request.body.len() < 28_000, "{}", request.body.len());
    }

    #[test]
    fn each_answer_says_what_may_mend_it() {
        let heard = |status, body: &str| service().heard(&answer(status, body)).map_err(|said| said.mend);
        assert_eq!((heard(202, ""), heard(200, "1")), (Ok(Heard::Taken), Ok(Heard::Taken)));
        let connector = |status: u16| {
            heard(
                200,
                &format!(
                    "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error {status} with ContextId x"
                ),
            )
        };
        assert_eq!(connector(429), Err(Mend::After(Span::minutes(1))));
        assert_eq!((connector(502), connector(413)), (Err(Mend::Time), Err(Mend::Nothing)));
        for (status, mend) in [
            (400, Mend::Nothing),
            (401, Mend::Settings),
            (404, Mend::Settings),
            (413, Mend::Nothing),
            (429, Mend::After(Span::minutes(1))),
            (502, Mend::Time),
        ] {
            assert_eq!(heard(status, ""), Err(mend), "{status}");
        }
    }
}
