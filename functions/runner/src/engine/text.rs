//! What an engine says in text, of commands that have no `-json`.

use yuba_core::plan::stream::Diagnostic;

/// Reads the diagnostics of a command that writes text (`init`, `workspace`, `show`), boxed or not:
/// `Error: summary`, then perhaps `on main.tf line 3, in …:` with the code, then the detail.
pub(crate) fn read_text(text: &str) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for line in text.lines() {
        let line = line.trim_start_matches(['│', '╷', '╵']).strip_prefix(' ').unwrap_or(line);
        let line = line.trim_start_matches(['│', '╷', '╵']);
        let trimmed = line.trim();
        let start = [("Error: ", true), ("Warning: ", false)]
            .into_iter()
            .find_map(|(word, is_error)| Some((trimmed.strip_prefix(word)?, is_error)));
        if let Some((summary, is_error)) = start {
            found.push(Diagnostic { is_error, summary: summary.to_owned(), ..Diagnostic::default() });
        } else if let Some(last) = found.last_mut() {
            add_line(last, line);
        }
    }
    for diagnostic in &mut found {
        diagnostic.detail = diagnostic.detail.trim().to_owned();
    }
    found
}

fn add_line(diagnostic: &mut Diagnostic, line: &str) {
    if let Some((file, number)) = place_in(line).filter(|_| diagnostic.place.is_empty()) {
        diagnostic.place = format!("{file}:{number}");
        return;
    }
    let is_code = line.trim_start().split_once(':').is_some_and(|(number, _)| {
        line.starts_with("  ") && !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit())
    });
    if !is_code {
        diagnostic.detail.push_str(line);
        diagnostic.detail.push('\n');
    }
}

/// `on main.tf line 3, in …` → (`main.tf`, `3`).
fn place_in(line: &str) -> Option<(&str, &str)> {
    let (file, rest) = line.trim_start().strip_prefix("on ")?.split_once(" line ")?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    Some((file, rest.get(..end).filter(|number| !number.is_empty())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOXED: &str = "\
╷
│ Error: Unsupported block type
│ 
│   on main.tf line 3, in resource \"toy_network\" \"a\":
│    3:   blok {
│ 
│ Blocks of type \"blok\" are not expected here.
╵
";

    #[test]
    fn text_diagnostics_are_read_boxed_or_not() {
        for text in [BOXED.to_owned(), BOXED.replace(['╷', '│', '╵'], "").replace("\n ", "\n")] {
            let found = read_text(&text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(
                found[0].one_line(),
                "main.tf:3: Unsupported block type: Blocks of type \"blok\" are not expected here."
            );
        }
    }
}
