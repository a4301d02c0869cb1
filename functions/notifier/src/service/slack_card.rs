//! What Slack shows of a notice.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use yuba_core::event::Event;
use yuba_core::slack::blocks::Blocks;
use yuba_core::slack::card::{Card, RunCard};
use yuba_core::slack::text::Mrkdwn;

use crate::notice::{Notice, RunView};
use crate::settings::{Buttons, NotifierSettings};

/// How notices are drawn.
#[derive(Debug, Clone)]
pub(super) struct Drawing {
    web: Option<String>,
    buttons: Buttons,
}

impl Drawing {
    /// With buttons, where presses of them come back.
    pub(super) fn with_buttons(settings: &NotifierSettings) -> Self {
        Self { web: settings.web.clone(), buttons: settings.buttons }
    }

    /// Without buttons.
    pub(super) fn plain(settings: &NotifierSettings) -> Self {
        Self { web: settings.web.clone(), buttons: Buttons::Hidden }
    }

    /// Draws a notice.
    pub(super) fn card(&self, notice: &Notice) -> Card {
        match notice {
            Notice::Run(view) => self.run(view),
            Notice::Event(told) => {
                told.run.as_ref().map_or_else(|| self.event(&told.event), |view| self.run(view))
            }
            Notice::Test { by, .. } => test(&by.who),
        }
    }

    fn run(&self, view: &RunView) -> Card {
        let url = self.web.as_ref().map(|web| format!("{web}/runs/{}", view.run.id));
        let card = RunCard {
            run: &view.run,
            summary: view.summary.as_ref(),
            url: url.as_deref(),
            has_buttons: self.buttons == Buttons::Shown,
            drift_stands: view.drift_stands,
            drift_answer: view.drift_answer.as_ref(),
        };
        card.draw()
    }

    /// What no run's record tells.
    fn event(&self, event: &Event) -> Card {
        let headline = format!("{}: {}", event.name, event.kind.words());
        let time = Mrkdwn::of(&event.at.to_string());
        let run = event.run.zip(self.web.as_ref());
        let run = run.map(|(run, web)| Mrkdwn::default().link(&format!("{web}/runs/{run}"), "the run"));
        let beside: Vec<Mrkdwn> = [time].into_iter().chain(run).collect();
        let blocks =
            Blocks::default().header(&headline).section(&Mrkdwn::of(&event.message)).context(&beside);
        Card { text: Mrkdwn::of(&headline), blocks }
    }
}

fn test(who: &str) -> Card {
    let text = Mrkdwn::default().plain(who).plain(" tries whether messages of Yuba arrive here. They do.");
    Card { blocks: Blocks::default().section(&text), text }
}

/// A card as the body of a request.
pub(super) fn body(card: &Card, more: &[(&str, Value)]) -> Vec<u8> {
    let own = [
        ("text", json!(card.text)),
        ("blocks", json!(card.blocks)),
        ("unfurl_links", json!(false)),
        ("unfurl_media", json!(false)),
    ];
    let fields = own.iter().chain(more).map(|(name, value)| ((*name).to_owned(), value.clone()));
    Value::Object(fields.collect::<Map<_, _>>()).to_string().into_bytes()
}

/// Digest of what a card shows.
pub(super) fn digest(card: &Card) -> String {
    hex::encode(Sha256::digest(body(card, &[])))
}

/// What an alert says with every message is shown below all else.
pub(super) fn with_metadata(card: Card, notice: &Notice) -> Card {
    let Notice::Event(told) = notice else { return card };
    let said =
        told.metadata.iter().map(|(name, value)| Mrkdwn::default().plain(name).plain(": ").plain(value));
    let said: Vec<Mrkdwn> = said.collect();
    Card { blocks: card.blocks.context(&said), ..card }
}
