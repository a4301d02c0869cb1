//! From where to where a list is read, as texts of a sort key.
//!
//! A list goes on from a place by moving its bounds there, not by DynamoDB's own start key: so a place may lie in any
//! partition of an index, and its record may be gone.

use yuba_ports::Order;

/// Greater than every text that is stored: none holds Unicode's last code point, which is no character.
const END: char = '\u{10ffff}';

/// The texts of a list: from `from` to `to`, both included, without `passed`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The least text; empty where there is no least one.
    pub(super) from: String,
    /// The greatest text.
    pub(super) to: String,
    /// The place that the list goes on after, where it lies within the bounds.
    passed: Option<String>,
}

impl Bounds {
    /// All texts that start so.
    pub(super) fn starting_with(prefix: &str) -> Self {
        Self { from: prefix.to_owned(), to: format!("{prefix}{END}"), passed: None }
    }

    /// Only places in an index whose value is not greater.
    pub(super) fn up_to(mut self, value: &str) -> Self {
        // A place is the value, then `\0` and more: less than the value followed by `\u{1}`.
        self.to = self.to.min(format!("{value}\u{1}"));
        self
    }

    /// Only what comes after a place.
    pub(super) fn after(mut self, place: &str, order: Order) -> Self {
        match order {
            Order::Ascending => self.from = self.from.max(place.to_owned()),
            Order::Descending => self.to = self.to.min(place.to_owned()),
        }
        self.passed = Some(place.to_owned());
        self
    }

    /// Whether there is no text within.
    pub(super) fn is_empty(&self) -> bool {
        self.from > self.to
    }

    /// Whether a text that lies between the bounds belongs to the list.
    pub(super) fn admits(&self, text: &str) -> bool {
        self.passed.as_deref() != Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(bounds: &Bounds, texts: &[&str]) -> Vec<String> {
        let inside =
            |text: &&&str| (bounds.from.as_str()..=bounds.to.as_str()).contains(*text) && bounds.admits(text);
        texts.iter().filter(inside).map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn bounds_hold_what_a_list_asks_for() {
        let places = ["1\0p\0s", "10\0p\0s", "2\0p\0s", "2\0p\0t", "20\0p\0s", "3\0p\0s"];
        let twos = Bounds::starting_with("2");
        assert_eq!(within(&twos, &places), ["2\0p\0s", "2\0p\0t", "20\0p\0s"]);
        assert_eq!(within(&twos.clone().up_to("2"), &places), ["2\0p\0s", "2\0p\0t"]);
        assert_eq!(
            within(&twos.clone().after("2\0p\0s", Order::Ascending), &places),
            ["2\0p\0t", "20\0p\0s"]
        );
        assert_eq!(within(&twos.after("2\0p\0t", Order::Descending), &places), ["2\0p\0s"]);
    }

    #[test]
    fn a_place_outside_leaves_all_or_nothing() {
        let twos = || Bounds::starting_with("2");
        assert!(twos().after("3\0p\0s", Order::Ascending).is_empty());
        assert!(twos().after("1\0p\0s", Order::Descending).is_empty());
        assert!(!twos().after("1\0p\0s", Order::Ascending).is_empty());
        assert_eq!(twos().after("1\0p\0s", Order::Ascending).from, "2");
        assert!(Bounds::starting_with("5").up_to("4").is_empty());
    }
}
