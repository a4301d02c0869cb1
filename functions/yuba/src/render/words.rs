//! Small things that every text needs.

/// `no stacks`, `1 stack`, `5 stacks`.
pub(crate) fn count(number: usize, word: &str) -> String {
    match number {
        0 => format!("no {word}s"),
        1 => format!("1 {word}"),
        more => format!("{more} {word}s"),
    }
}

/// `a, b, c and 4 more`.
pub(crate) fn few(names: &[&str], most: usize) -> String {
    let listed = names.iter().take(most).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => listed,
        rest => format!("{listed} and {rest} more"),
    }
}

/// Text that others wrote, such as the subject of a commit, with control characters escaped: a terminal obeys them.
pub(crate) fn plain(text: &str) -> String {
    let shown =
        |letter: char| if letter.is_control() { letter.escape_default().to_string() } else { letter.into() };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(plain("Grün \u{1b}[31mred\t\u{9b}1m"), "Grün \\u{1b}[31mred\\t\\u{9b}1m");
    }
}
