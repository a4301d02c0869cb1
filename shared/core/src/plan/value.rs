//! One attribute's difference as text: JSON inside strings by its parts, long texts by their lines.

use std::collections::BTreeMap;

use similar::{ChangeTag, TextDiff};

use super::datum::Datum;
use super::differ::{SENSITIVE, UNKNOWN, differences};
use super::summary::{AttributeChange, Shown};

/// Lines around a changed line that are shown with it.
const CONTEXT: usize = 2;

/// `    path: before → after`, then `note`; more lines where the value has parts or lines.
pub(crate) fn difference(change: &AttributeChange, note: &str) -> String {
    let path = if change.path.is_empty() { "value" } else { change.path.as_str() };
    if let (Shown::Value(Datum::Text(before)), Shown::Value(Datum::Text(after))) =
        (&change.before, &change.after)
    {
        if let Some(parts) = json_parts(before, after) {
            return format!("    {path}: (JSON){note}\n{parts}");
        }
        if before.contains('\n') || after.contains('\n') {
            return format!("    {path}:{note}\n{}", line_parts(before, after));
        }
    }
    let (before, after) = (written(&change.before), written(&change.after));
    match (&change.before, &change.after) {
        (Shown::Absent, _) => format!("    + {path}: {after}{note}\n"),
        (_, Shown::Absent) => format!("    - {path}: {before}{note}\n"),
        _ => format!("    ~ {path}: {before} → {after}{note}\n"),
    }
}

/// A value on one line.
pub(crate) fn written(shown: &Shown) -> String {
    match shown {
        Shown::Absent => "(none)".to_owned(),
        Shown::Value(value) => value.to_string(),
        Shown::Unknown => UNKNOWN.to_owned(),
        Shown::Sensitive => SENSITIVE.to_owned(),
        Shown::Long { prefix, bytes, digest } => {
            let beginning: String = prefix.chars().take(60).collect();
            format!("{} … ({bytes} bytes, {})", Datum::Text(beginning), digest.short())
        }
    }
}

/// The parts in which two strings of JSON differ; none where one of them is no JSON object or array.
fn json_parts(before: &str, after: &str) -> Option<String> {
    let tree = |text: &str| {
        let datum = Datum::parse(text).ok()?;
        matches!(datum, Datum::Map(_) | Datum::List(_)).then_some(datum)
    };
    let sides = [("before", tree(before)?), ("after", tree(after)?)];
    let change = Datum::Map(BTreeMap::from(sides.map(|(side, datum)| (side.to_owned(), datum))));
    let parts: String = differences(&change).iter().map(|part| indented(&difference(part, ""))).collect();
    let masked = before.contains(SENSITIVE) || after.contains(SENSITIVE);
    Some(match (parts.is_empty(), masked) {
        (false, _) => parts,
        (true, true) => "        (what differs is masked)\n".to_owned(),
        (true, false) => "        (only its layout differs)\n".to_owned(),
    })
}

fn line_parts(before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let mut text = String::new();
    for operation in diff.grouped_ops(CONTEXT).iter().flatten() {
        for line in diff.iter_changes(operation) {
            let sign = match line.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            text.push_str("      ");
            text.push(sign);
            text.push(' ');
            text.push_str(&visible(line.value()));
            text.push('\n');
        }
    }
    text
}

/// The text without what would steer a terminal.
pub(crate) fn visible(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() || *letter == '\t').collect()
}

fn indented(text: &str) -> String {
    text.lines().fold(String::new(), |all, line| all + "    " + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str) -> String {
        let shown = |text: &str| Shown::Value(Datum::parse(text).unwrap());
        difference(&AttributeChange { path: "p".to_owned(), before: shown(before), after: shown(after) }, "")
    }

    #[test]
    fn values_that_are_no_text_stand_on_one_line() {
        insta::assert_snapshot!(check("[1.10]", r#"{"a":12345678901234567890123}"#), @r#"    ~ p: [1.10] → {"a":12345678901234567890123}"#);
    }

    #[test]
    fn json_whose_secrets_differ_does_not_pass_for_a_change_of_layout() {
        let policy = format!("{{\"key\":\"{SENSITIVE}\"}}");
        assert_eq!(json_parts(&policy, &policy).as_deref(), Some("        (what differs is masked)\n"));
    }

    #[test]
    fn json_that_differs_in_its_layout_alone_says_so() {
        insta::assert_snapshot!(check(r#""{\"a\": 1}""#, r#""{\"a\":1}""#), @"
        p: (JSON)
            (only its layout differs)
        ");
    }
}
