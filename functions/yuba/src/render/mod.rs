//! What people read, made by pure functions: one module per kind of thing that is shown.

pub(crate) mod drift_local;
pub(crate) mod lists;
pub(crate) mod push_hook;
pub(crate) mod recovery;
pub(crate) mod run;
pub(crate) mod stack;
pub(crate) mod try_repository;
pub(crate) mod validate;
pub(crate) mod words;
pub(crate) mod yaml;

use yuba_core::time::{Span, Timestamp};

/// How much a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// What fits most screens.
    Narrow,
    /// All columns.
    Wide,
}

/// When something is printed; ages are counted to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now(pub(crate) Timestamp);

impl Now {
    /// The machine's clock.
    pub(crate) fn read() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "ages are shown to the person at this machine; nothing is decided by them"
        )]
        Self(Timestamp(jiff::Timestamp::now().as_millisecond()))
    }

    /// How old something is that happened at a time in RFC 3339; empty where it is none.
    pub(crate) fn age(self, at: &str) -> String {
        match at.parse::<jiff::Timestamp>() {
            Ok(at) => self.0.since(Timestamp(at.as_millisecond())).to_age(),
            Err(_) => String::new(),
        }
    }
}

/// An elapsed time as people read it.
pub(crate) fn elapsed(elapsed: std::time::Duration) -> String {
    Span(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)).to_age()
}

/// Columns as kubectl writes them: a heading, three spaces between, nothing at the end of lines. Control characters are
/// escaped: a line stays a line, and a terminal obeys nobody's values.
pub(crate) fn columns(heading: &[&str], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = heading.iter().map(|cell| (*cell).to_owned()).collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| words::plain(cell)).collect()).collect();
    let all = || std::iter::once(&heading).chain(&rows);
    let width = |column: usize| {
        all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let mut text = String::new();
    for row in all() {
        let padded: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| padded(cell, *width)).collect();
        text.push_str(padded.join("   ").trim_end());
        text.push('\n');
    }
    text
}

/// Formatting pads to 65,535 characters at most, and outputs are longer.
fn padded(cell: &str, width: usize) -> String {
    let missing = width.saturating_sub(cell.chars().count());
    format!("{cell}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn a_cell_may_hold_anything() {
        let row = |name: &str, value: &str| vec![name.to_owned(), value.to_owned()];
        let rows = [row("pem", "a\nb\u{1b}[31m"), row("größe", "1")];
        insta::assert_snapshot!(columns(&["NAME", "VALUE"], &rows), @r"
        NAME    VALUE
        pem     a\nb\u{1b}[31m
        größe   1
        ");
        let long = columns(&["NAME", "VALUE"], &[row(&"x".repeat(70_000), "y")]);
        assert!(long.ends_with("x   y\n"));
    }
}
