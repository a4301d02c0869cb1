//! Small things that every text needs.

/// `no stacks`, `1 stack`, `5 stacks`.
pub(crate) fn count(number: usize, word: &str) -> String {
    match number {
        0 => format!("no {word}s"),
        1 => format!("1 {word}"),
        more => format!("{more} {word}s"),
    }
}
