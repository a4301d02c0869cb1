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
