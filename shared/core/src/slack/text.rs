//! Text in Slack's `mrkdwn`. What comes from outside goes in escaped: it can be no mention, no link, no `<!channel>`,
//! and cannot end the code it stands in.

use std::fmt;

use serde::{Serialize, Serializer};

/// The greatest length of a text in a section.
pub const LONGEST: usize = 3000;

/// Stands for what did not fit.
const CUT: char = '…';

/// A text in `mrkdwn` of a bounded length. It is added to piece by piece; what no longer fits is cut at a character,
/// with every escape, code and link whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mrkdwn {
    written: String,
    left: usize,
    is_cut: bool,
}

impl Default for Mrkdwn {
    fn default() -> Self {
        Self::up_to(LONGEST)
    }
}

impl Mrkdwn {
    /// An empty text that grows to at most `units` UTF-16 units.
    pub fn up_to(units: usize) -> Self {
        Self { written: String::new(), left: units, is_cut: false }
    }

    /// A text from outside, shown as it is.
    pub fn of(text: &str) -> Self {
        Self::default().plain(text)
    }

    /// Adds a text from outside, shown as it is. Characters that Slack formats by (`*`, `_`, `~`) may still format: they
    /// change how it looks, not what it says.
    #[must_use]
    pub fn plain(self, text: &str) -> Self {
        self.wrapped(("", ""), text)
    }

    /// Adds a text in bold.
    #[must_use]
    pub fn bold(self, text: &str) -> Self {
        self.wrapped(("*", "*"), &one_line(text))
    }

    /// Adds a text in italics.
    #[must_use]
    pub fn italic(self, text: &str) -> Self {
        self.wrapped(("_", "_"), &one_line(text))
    }

    /// Adds a text as code within a line.
    #[must_use]
    pub fn code(self, text: &str) -> Self {
        self.wrapped(("`", "`"), &one_line(text))
    }

    /// Adds lines as a block of code.
    #[must_use]
    pub fn fence(self, text: &str) -> Self {
        self.wrapped(("```\n", "\n```"), text.trim_end())
    }

    /// Adds a link; only its label where the address is no `http(s)` one or the whole does not fit.
    #[must_use]
    pub fn link(self, url: &str, label: &str) -> Self {
        match link(url, label).filter(|link| units(link) <= self.left) {
            Some(link) => self.raw(&link),
            None => self.plain(label),
        }
    }

    /// Adds a mention of a person by Slack's own id; their id as text where it is none.
    #[must_use]
    pub fn mention(self, user: &str) -> Self {
        let is_id =
            !user.is_empty() && user.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let mention = format!("<@{user}>");
        if is_id && units(&mention) <= self.left { self.raw(&mention) } else { self.plain(user) }
    }

    /// Adds lines as long as whole ones fit; then `rest` says how many were left out.
    #[must_use]
    pub fn lines(mut self, lines: &[Mrkdwn], rest: impl Fn(usize) -> String) -> Self {
        // With the break that each begins with.
        let length = |line: &Mrkdwn| units(&line.written) + 1;
        let mut to_come: usize = lines.iter().map(length).sum();
        for (index, line) in lines.iter().enumerate() {
            let after = lines.len() - index - 1;
            to_come -= length(line);
            let reserve = to_come.min(units(&rest(after)) + 1);
            let own = length(line) - usize::from(self.is_empty());
            if own + reserve > self.left {
                return self.next_line().plain(&rest(after + 1));
            }
            self = self.next_line().raw(&line.written);
        }
        self
    }

    /// Adds a text that is whole; nothing where it does not fit.
    #[must_use]
    pub fn and(self, text: &Mrkdwn) -> Self {
        self.raw(&text.written)
    }

    /// Begins a new line, unless nothing was written yet.
    #[must_use]
    pub fn next_line(self) -> Self {
        if self.written.is_empty() { self } else { self.raw("\n") }
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    /// The text as Slack is sent it.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// What is known to be right and whole; nothing where it does not fit.
    fn raw(mut self, text: &str) -> Self {
        let length = units(text);
        if self.is_cut || length > self.left {
            self.is_cut = true;
            return self;
        }
        self.written.push_str(text);
        self.left -= length;
        self
    }

    fn wrapped(mut self, (open, close): (&str, &str), text: &str) -> Self {
        let frame = units(open) + units(close);
        if text.is_empty() || self.is_cut {
            return self;
        }
        let Some(room) = self.left.checked_sub(frame).filter(|room| *room > 0) else {
            self.is_cut = true;
            return self;
        };
        let (inner, is_cut) = fitted(text, room, escaped);
        self.left -= frame + units(&inner);
        self.is_cut = is_cut;
        self.written.extend([open, &inner, close]);
        self
    }
}

impl fmt::Display for Mrkdwn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}

impl Serialize for Mrkdwn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.written)
    }
}

/// A text without any format, of at most so many UTF-16 units: headers, labels of buttons, values.
pub fn plain(text: &str, units: usize) -> String {
    fitted(&one_line(text), units, Escaped::Itself).0
}

/// What stands for a character.
enum Escaped {
    Itself(char),
    Entity(&'static str),
}

fn escaped(character: char) -> Escaped {
    match character {
        '&' => Escaped::Entity("&amp;"),
        '<' => Escaped::Entity("&lt;"),
        '>' => Escaped::Entity("&gt;"),
        // There is no escape for it; a letter that looks the same can begin and end no code.
        '`' => Escaped::Itself('ˋ'),
        other => Escaped::Itself(other),
    }
}

/// As much of a text, escaped, as fits; and whether something was cut.
fn fitted(text: &str, room: usize, escape: fn(char) -> Escaped) -> (String, bool) {
    let mut fitted = String::new();
    let mut used = 0;
    // Where the text could end and leave room for the sign that it was cut.
    let mut end = 0;
    for character in text.chars() {
        let before = fitted.len();
        let length = match escape(character) {
            Escaped::Itself(character) => {
                fitted.push(character);
                character.len_utf16()
            }
            Escaped::Entity(entity) => {
                fitted.push_str(entity);
                entity.len()
            }
        };
        if used + CUT.len_utf16() <= room {
            end = before;
        }
        used += length;
        if used > room {
            fitted.truncate(end);
            fitted.push(CUT);
            return (fitted, true);
        }
    }
    (fitted, false)
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Code and bold cannot reach over a line's end.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn link(url: &str, label: &str) -> Option<String> {
    let is_address = url.starts_with("https://") || url.starts_with("http://");
    let is_plain = url.chars().all(|character| !character.is_whitespace() && !character.is_control());
    let label = one_line(label);
    if !is_address || !is_plain || label.is_empty() {
        return None;
    }
    let whole = |text: &str| fitted(text, LONGEST, escaped).0;
    // A bar would end the address.
    Some(format!("<{}|{}>", whole(&url.replace('|', "%7C")), whole(&label)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_comes_from_outside_is_no_mention_and_no_link() {
        let text = Mrkdwn::of("fix <!channel> & <https://evil|click>");
        assert_eq!(text.as_str(), "fix &lt;!channel&gt; &amp; &lt;https://evil|click&gt;");
        assert_eq!(Mrkdwn::default().mention("U02ABC").as_str(), "<@U02ABC>");
        assert_eq!(Mrkdwn::default().mention("U1>|<!here").as_str(), "U1&gt;|&lt;!here");
    }

    #[test]
    fn code_ends_where_it_was_meant_to() {
        assert_eq!(Mrkdwn::default().code("a`b").as_str(), "`aˋb`");
        assert_eq!(Mrkdwn::default().fence("x\n```\n<!here>").as_str(), "```\nx\nˋˋˋ\n&lt;!here&gt;\n```");
        assert_eq!(Mrkdwn::default().code("two\nlines").as_str(), "`two lines`");
    }

    #[test]
    fn a_cut_keeps_escapes_and_code_whole() {
        assert_eq!(Mrkdwn::up_to(6).plain("ab&cdef").as_str(), "ab…");
        assert_eq!(Mrkdwn::up_to(7).plain("ab&").as_str(), "ab&amp;");
        assert_eq!(Mrkdwn::up_to(6).code("abcdefgh").as_str(), "`abc…`");
        assert_eq!(Mrkdwn::up_to(4).plain("a😀😀").as_str(), "a😀…");
        assert_eq!(Mrkdwn::up_to(2).code("abc").as_str(), "", "no room between the marks");
    }

    #[test]
    fn nothing_follows_a_cut() {
        let text = Mrkdwn::up_to(8).plain("123456789").code("x").next_line().plain("y");
        assert_eq!(text.as_str(), "1234567…");
    }

    #[test]
    fn a_link_needs_an_address_of_the_web() {
        let linked = Mrkdwn::default().link("https://yuba.example/runs/1?a|b", "run <1>");
        assert_eq!(linked.as_str(), "<https://yuba.example/runs/1?a%7Cb|run &lt;1&gt;>");
        assert_eq!(Mrkdwn::default().link("javascript:alert(1)", "run").as_str(), "run");
        assert_eq!(Mrkdwn::up_to(5).link("https://yuba.example", "run").as_str(), "run");
    }

    #[test]
    fn lines_are_whole_and_the_rest_is_counted() {
        let lines: Vec<Mrkdwn> = (1..=9).map(|number| Mrkdwn::of(&format!("line {number}"))).collect();
        let rest = |left: usize| format!("and {left} more");
        assert_eq!(Mrkdwn::up_to(23).lines(&lines, rest).as_str(), "line 1\nand 8 more");
        assert_eq!(Mrkdwn::up_to(62).lines(&lines, rest).as_str().lines().count(), 9);
        let cut = Mrkdwn::up_to(61).lines(&lines, rest);
        assert!(cut.as_str().ends_with("line 7\nand 2 more"), "{cut}");
    }

    #[test]
    fn labels_are_one_line_and_cut() {
        assert_eq!(plain("a\nb", 75), "a b");
        assert_eq!(plain("abcdef", 4), "abc…");
    }

    proptest! {
        #[test]
        fn no_text_is_longer_than_its_bound_or_has_bare_signs(
            pieces in proptest::collection::vec(".{0,40}", 0..6),
            bound in 0_usize..120,
        ) {
            let mut text = Mrkdwn::up_to(bound);
            for (index, piece) in pieces.iter().enumerate() {
                text = match index % 3 {
                    0 => text.plain(piece),
                    1 => text.code(piece),
                    _ => text.fence(piece),
                };
            }
            prop_assert!(units(text.as_str()) <= bound);
            prop_assert!(!text.as_str().contains(['<', '>']));
            prop_assert_eq!(text.as_str().replace("```", "").matches('`').count() % 2, 0);
        }
    }
}
