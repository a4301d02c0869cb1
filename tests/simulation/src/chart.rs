//! A history as a sequence chart in SVG: a column for each who takes part, a row for each thing that happened, oldest first.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::history::{Arrow, Entry, Mark};
use crate::lane::Lane;
use crate::outcome::Outcome;

/// More rows are not drawn: of a history that ends in a violation the last ones are, of another the first.
const MOST: usize = 300;
/// Letters of a row's words.
const LETTERS: usize = 110;

/// Where the first column stands; before it are the times.
const FIRST: usize = 190;
/// From one column to the next.
const COLUMN: usize = 88;
/// From one row to the next.
const ROW: usize = 20;
/// Where the first row stands.
const TOP: usize = 90;
/// How wide the words of a row may become.
const WORDS: usize = 860;

const STYLE: &str = "text{font:12px sans-serif;fill:#222}.h{font-weight:bold}.t{fill:#777}.l{stroke:#ccc}\
                     .a{stroke:#345;fill:#345}.f{stroke:#b22;fill:#b22}.f text,text.f{stroke:none;fill:#b22}\
                     .v{fill:#fcc}text.v{fill:#a00;font-weight:bold}";

/// Draws the history that was kept.
pub fn chart(title: &str, outcome: &Outcome) -> String {
    let (shown, left_out) = shown(outcome);
    let lanes = Lanes::of(shown);
    let (width, bottom) = (lanes.words() + WORDS, TOP + ROW * shown.len());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{}\">\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        bottom + ROW
    );
    text(&mut svg, (12, 22), "h", title);
    text(&mut svg, (12, 42), "t", &left_out);
    for lane in &lanes.0 {
        let x = lanes.x(*lane);
        let _ = writeln!(svg, "<path class=\"l\" d=\"M{x},{} V{bottom}\"/>", TOP - ROW);
        let _ = writeln!(
            svg,
            "<text class=\"h\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            TOP - ROW - 8,
            lane.words()
        );
    }
    for (number, entry) in shown.iter().enumerate() {
        lanes.row(&mut svg, TOP + ROW * number, entry);
    }
    svg.push_str("</svg>\n");
    svg
}

/// What is drawn, and in words what is not.
fn shown(outcome: &Outcome) -> (&[Entry], String) {
    let all = outcome.history.as_slice();
    let left_out = all.len().saturating_sub(MOST);
    let (shown, which) = match &outcome.violation {
        Some(_) => (all.get(left_out..), "first"),
        None => (all.get(..all.len() - left_out), "last"),
    };
    let words = match left_out {
        0 => format!("all {} events", all.len()),
        _ => format!("{MOST} of {} events: the {which} {left_out} are left out", all.len()),
    };
    (shown.unwrap_or_default(), words)
}

/// The columns of a chart.
struct Lanes(BTreeSet<Lane>);

impl Lanes {
    fn of(entries: &[Entry]) -> Self {
        let others = entries.iter().filter_map(|entry| match entry.sign.arrow? {
            Arrow::To(lane) | Arrow::From(lane) => Some(lane),
        });
        Self(entries.iter().map(|entry| Lane::of(&entry.who)).chain(others).collect())
    }

    fn x(&self, lane: Lane) -> usize {
        FIRST + COLUMN * self.0.range(..lane).count()
    }

    /// Where the words of a row begin.
    fn words(&self) -> usize {
        FIRST + COLUMN * self.0.len() - COLUMN / 3
    }

    fn row(&self, svg: &mut String, y: usize, entry: &Entry) {
        let class = match entry.sign.mark {
            Mark::Plain => "a",
            Mark::Fault => "f",
            Mark::Violation => "v",
        };
        if entry.sign.mark == Mark::Violation {
            let _ = writeln!(
                svg,
                "<rect class=\"v\" x=\"0\" y=\"{}\" width=\"100%\" height=\"{ROW}\"/>",
                y - ROW / 2 - 1
            );
        }
        text(svg, (12, y + 4), "t", &entry.time());
        let here = self.x(Lane::of(&entry.who));
        let (from, to) = match entry.sign.arrow {
            Some(Arrow::To(lane)) => (here, self.x(lane)),
            Some(Arrow::From(lane)) => (self.x(lane), here),
            None => (here, here),
        };
        let _ = writeln!(svg, "<g class=\"{class}\"><circle cx=\"{from}\" cy=\"{y}\" r=\"3\"/>");
        arrow(svg, (from, to), y, entry.sign.mark);
        let whole = format!("{}: {}", entry.who, entry.what);
        let class = if class == "a" { "" } else { class };
        let _ = writeln!(svg, "<title>{}</title></g>", escaped(&whole));
        text(svg, (self.words(), y + 4), class, &brief(&whole));
    }
}

/// An arrow from one column to another; one that went wrong ends in a cross.
fn arrow(svg: &mut String, (from, to): (usize, usize), y: usize, mark: Mark) {
    if from == to {
        return;
    }
    let back = if to > from { "-7" } else { "7" };
    let dashes = if mark == Mark::Fault { " stroke-dasharray=\"5 3\"" } else { "" };
    let _ = write!(svg, "<path d=\"M{from},{y} H{to}\"{dashes}/><path d=\"M{to},{y} l{back},-4 v8 z\"/>");
    if mark == Mark::Fault {
        let middle = usize::midpoint(from, to);
        let _ = write!(svg, "<path stroke-width=\"2\" d=\"M{middle},{y} m-5,-5 l10,10 m0,-10 l-10,10\"/>");
    }
}

fn text(svg: &mut String, (x, y): (usize, usize), class: &str, words: &str) {
    let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(words));
}

/// Words for a row: ids and digests by their ends, the rest cut.
fn brief(words: &str) -> String {
    let pieces = words.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric());
    let brief: String = pieces.map(brief_piece).collect();
    if brief.chars().count() <= LETTERS {
        return brief;
    }
    brief.chars().take(LETTERS - 1).chain(['…']).collect()
}

/// A ulid by its last four letters, a digest by its first eight.
fn brief_piece(piece: &str) -> String {
    let word = piece.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let behind = piece.get(word.len()..).unwrap_or_default();
    match word.len() {
        26 if word.bytes().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit()) => {
            format!("…{}{behind}", word.get(22..).unwrap_or_default())
        }
        40 | 64 => format!("{}…{behind}", word.get(..8).unwrap_or_default()),
        _ => piece.to_owned(),
    }
}

/// Text as XML takes it.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            control if control.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use yuba_core::time::Timestamp;

    use super::*;
    use crate::history::Sign;
    use crate::oracle::Violation;

    fn entry(who: &str, sign: Sign) -> Entry {
        Entry {
            at: Timestamp(1_767_225_600_000),
            who: who.to_owned(),
            what: "says <a> & \u{1}".to_owned(),
            sign,
        }
    }

    fn outcome(count: usize, violation: Option<Violation>) -> Outcome {
        let entries = (0..count).map(|number| entry(&format!("source #{number}"), Sign::to(Lane::Store)));
        Outcome { history: entries.collect(), violation, ..Outcome::default() }
    }

    #[test]
    fn only_those_who_take_part_have_a_column() {
        let svg = chart("a < b", &outcome(1, None));
        assert!(svg.contains(">source</text>") && svg.contains(">store</text>"), "{svg}");
        assert!(!svg.contains(">people</text>"), "{svg}");
    }

    #[test]
    fn text_cannot_become_markup() {
        let svg = chart("a < b", &outcome(1, None));
        assert!(svg.contains("a &lt; b") && svg.contains("says &lt;a&gt; &amp;  "), "{svg}");
        assert!(!svg.contains("<a>") && !svg.contains('\u{1}'), "{svg}");
    }

    #[test]
    fn of_a_violation_the_end_is_shown_and_else_the_beginning() {
        let broken = Some(Violation { invariant: 1, what: "x".to_owned() });
        let (end, beginning) = (chart("", &outcome(400, broken)), chart("", &outcome(400, None)));
        assert!(end.contains("300 of 400 events: the first 100 are left out"));
        assert!(end.contains("source #399:") && !end.contains("source #99:"));
        assert!(beginning.contains("300 of 400 events: the last 100 are left out"));
        assert!(beginning.contains("source #0:") && !beginning.contains("source #300:"));
    }

    #[test]
    fn faults_and_violations_are_marked() {
        let mut history = vec![entry("ann", Sign::to(Lane::Server).marked(Mark::Fault))];
        history.push(entry("ann", Sign::default().marked(Mark::Violation)));
        let svg = chart("", &Outcome { history, ..Outcome::default() });
        assert_eq!((svg.matches("class=\"f\"").count(), svg.matches("<rect class=\"v\"").count()), (2, 1));
    }

    #[test]
    fn ids_and_digests_are_brief() {
        let words = "reads stack#01KDVQ3V3YABCDEFGHJKMNPQ42/run, sha256:";
        assert_eq!(brief(words), "reads stack#…PQ42/run, sha256:");
        assert_eq!(brief(&"a ".repeat(100)).chars().count(), LETTERS);
        assert_eq!(brief(&"ab".repeat(32)), "abababab…");
    }
}
