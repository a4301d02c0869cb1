//! What services say of a notice that show no run's record, in plain text.

use yuba_core::event::Event;
use yuba_core::request::Signed;

use crate::settings::NotifierSettings;

/// What happened to which stack, in one line: `infra/network-prod: drift detected`.
pub(super) fn headline(event: &Event) -> String {
    format!("{}: {}", event.name, event.kind.words())
}

/// The page of the event's run.
pub(super) fn link(settings: &NotifierSettings, event: &Event) -> Option<String> {
    let (web, run) = settings.web.as_ref().zip(event.run)?;
    Some(format!("{web}/runs/{run}"))
}

/// Who tries a provider.
pub(super) fn test(by: &Signed) -> String {
    format!("{} tries whether messages of Yuba arrive here; nothing happened.", by.who)
}

/// A text of at most so many characters; one that was cut ends in an ellipsis.
pub(super) fn bounded(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_cut_says_so_and_keeps_its_characters_whole() {
        assert_eq!(bounded("überall", 7), "überall");
        assert_eq!(bounded("überall", 6), "übera…");
        assert_eq!(bounded("", 0), "");
    }
}
