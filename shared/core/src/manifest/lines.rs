//! Where the lines of a text begin: from how far a parser got to the spot that people are told, always one of the text.
//!
//! Parsers count lines in ways of their own (YAML ends one at a lone carriage return too, and its parser begins another
//! at the end of the text). Editors, `grep` and compilers end a line at a line feed alone.

use super::finding::Spot;

/// The lines of one text.
#[derive(Debug)]
pub(super) struct Lines {
    /// How many characters stand before each line; the first begins at none.
    begins: Vec<usize>,
    /// How many characters there are.
    length: usize,
}

impl Lines {
    /// The lines of a text.
    pub(super) fn of(text: &str) -> Self {
        let mut lines = Self { begins: vec![0], length: 0 };
        for letter in text.chars() {
            lines.length += 1;
            if letter == '\n' {
                lines.begins.push(lines.length);
            }
        }
        lines
    }

    /// The spot behind so many characters; the end of the text where it has fewer.
    pub(super) fn spot(&self, characters: usize) -> Spot {
        let characters = characters.min(self.length);
        let line = self.begins.partition_point(|begin| *begin <= characters);
        let begin = line.checked_sub(1).and_then(|last| self.begins.get(last)).copied().unwrap_or(0);
        Spot { line: number(line), column: number(characters - begin).saturating_add(1) }
    }
}

/// The spot of a byte: `line` counts from 1, `column` counts bytes from 1, both may lie beyond the text.
pub(super) fn spot_of_byte(text: &str, line: usize, column: usize) -> Spot {
    let lines = Lines::of(text);
    let Some(begin) = line.checked_sub(1).and_then(|before| lines.begins.get(before)) else {
        return lines.spot(lines.length);
    };
    let within = text.split('\n').nth(line - 1).unwrap_or_default();
    let before = within.char_indices().take_while(|(at, _)| at + 1 < column).count();
    lines.spot(begin + before)
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> Spot {
        Spot { line, column }
    }

    #[test]
    fn lines_end_at_line_feeds_alone() {
        let lines = Lines::of("ä\rb\r\nc\n");
        let spots = [0, 2, 4, 5, 7].map(|characters| lines.spot(characters));
        assert_eq!(spots, [at(1, 1), at(1, 3), at(1, 5), at(2, 1), at(3, 1)]);
    }

    #[test]
    fn no_spot_lies_beyond_the_text() {
        assert_eq!(Lines::of("ab\nc").spot(99), at(2, 2));
        assert_eq!(Lines::of("").spot(1), at(1, 1));
        assert_eq!(spot_of_byte("ab\nc", 9, 1), at(2, 2));
        assert_eq!(spot_of_byte("ab\nc", 1, 99), at(1, 3));
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(spot_of_byte("{\n\"ä\": x}", 2, 7), at(2, 6));
        assert_eq!(spot_of_byte("{", 1, 0), at(1, 1));
    }
}
