//! From the `change` object of a plan entry to the attributes that differ, with nothing sensitive in them.

use std::collections::BTreeSet;

use super::datum::Datum;
use super::summary::{AttributeChange, Shown};
use crate::id::ValueDigest;

/// Values whose text is longer are kept as their beginning.
const LONGEST: usize = 8 * 1024;

/// How much of a long value is kept.
const PREFIX: usize = 2 * 1024;

/// What stands for a sensitive value, also inside larger values and in redacted JSON.
pub const SENSITIVE: &str = "(sensitive value)";

/// What stands for an unknown value inside larger values.
pub const UNKNOWN: &str = "(known after apply)";

/// The attributes in which `before` and `after` of a change differ, by path.
pub(crate) fn differences(change: &Datum) -> Vec<AttributeChange> {
    let before = Side {
        value: change.get("before"),
        sensitive: change.get("before_sensitive"),
        unknown: &Datum::Null,
    };
    let after = Side {
        value: change.get("after"),
        sensitive: change.get("after_sensitive"),
        unknown: change.get("after_unknown"),
    };
    let mut found = Vec::new();
    compare("", before, after, &mut found);
    found
}

/// A value with its trees of marks.
#[derive(Clone, Copy)]
struct Side<'a> {
    value: &'a Datum,
    sensitive: &'a Datum,
    unknown: &'a Datum,
}

const NOTHING: Side<'static> = Side { value: &Datum::Null, sensitive: &Datum::Null, unknown: &Datum::Null };

impl<'a> Side<'a> {
    fn get(self, key: &str) -> Self {
        Self {
            value: self.value.get(key),
            sensitive: self.sensitive.get(key),
            unknown: self.unknown.get(key),
        }
    }

    fn at(self, index: usize) -> Self {
        Self {
            value: self.value.at(index),
            sensitive: self.sensitive.at(index),
            unknown: self.unknown.at(index),
        }
    }

    fn keys(self) -> impl Iterator<Item = &'a String> {
        let members = [self.value, self.unknown].into_iter().filter_map(|tree| match tree {
            Datum::Map(members) => Some(members.keys()),
            _ => None,
        });
        members.flatten()
    }

    /// The elements of a list, also of those that are known only by their marks.
    fn len(self) -> usize {
        self.value.items().len().max(self.unknown.items().len())
    }

    fn is_map(self) -> bool {
        matches!((self.value, self.unknown), (Datum::Map(_), _) | (Datum::Null, Datum::Map(_)))
    }

    fn is_list(self) -> bool {
        matches!(self.value, Datum::List(_))
    }

    fn is_absent(self) -> bool {
        self.value.is_null() && !self.unknown.marks_any()
    }
}

fn same(before: Side<'_>, after: Side<'_>) -> bool {
    before.value == after.value
        && !after.unknown.marks_any()
        && before.sensitive.pruned_marks() == after.sensitive.pruned_marks()
}

fn compare(path: &str, before: Side<'_>, after: Side<'_>, found: &mut Vec<AttributeChange>) {
    if same(before, after) || (before.is_absent() && after.is_absent()) {
        return;
    }
    let hidden = before.sensitive.marks_all() || after.sensitive.marks_all();
    let whole = path.is_empty() && (before.is_map() || after.is_map());
    match hidden || after.unknown.marks_all() {
        false if whole || (before.is_map() && after.is_map()) => compare_maps(path, before, after, found),
        false if before.is_list() && after.is_list() => compare_lists(path, before, after, found),
        _ => found.push(AttributeChange {
            path: path.to_owned(),
            before: shown(before, after.sensitive),
            after: shown(after, before.sensitive),
        }),
    }
}

fn compare_maps(path: &str, before: Side<'_>, after: Side<'_>, found: &mut Vec<AttributeChange>) {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for key in keys {
        compare(&member_path(path, key), before.get(key), after.get(key), found);
    }
}

/// Compares what is left of two lists without their common beginning and end, element by element: an element that
/// was put in or taken out is then one difference, not one for each that follows it.
fn compare_lists(path: &str, before: Side<'_>, after: Side<'_>, found: &mut Vec<AttributeChange>) {
    let (old, new) = (before.len(), after.len());
    let shorter = old.min(new);
    let start = (0..shorter).take_while(|index| same(before.at(*index), after.at(*index))).count();
    let end = (0..shorter - start)
        .take_while(|index| same(before.at(old - 1 - index), after.at(new - 1 - index)))
        .count();
    for index in start..old.max(new) - end {
        let left = if index < old - end { before.at(index) } else { NOTHING };
        let right = if index < new - end { after.at(index) } else { NOTHING };
        compare(&format!("{path}[{index}]"), left, right, found);
    }
}

/// The path of an object's member: `a.b`, or `a["b/c"]` where the key is no identifier.
pub(crate) fn member_path(path: &str, key: &str) -> String {
    let plain = key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter));
    match (plain, path) {
        (true, "") => key.to_owned(),
        (true, _) => format!("{path}.{key}"),
        (false, _) => format!("{path}[{}]", Datum::Text(key.to_owned())),
    }
}

/// What people may see of a side; it is hidden where either side is marked sensitive.
fn shown(side: Side<'_>, others_marks: &Datum) -> Shown {
    if side.unknown.marks_all() {
        return Shown::Unknown;
    }
    if side.is_absent() {
        return Shown::Absent;
    }
    if side.sensitive.marks_all() || others_marks.marks_all() {
        return Shown::Sensitive;
    }
    let value = hide(&hide(side.value, side.sensitive), others_marks);
    kept(fill_unknown(&value, side.unknown))
}

/// The value with a text in place of each part that is marked sensitive. Where value and marks differ in shape all
/// of it is hidden; `null` hides nothing.
pub(crate) fn hide(value: &Datum, marks: &Datum) -> Datum {
    match (value, marks) {
        (Datum::Null, _) => Datum::Null,
        (Datum::Map(members), Datum::Map(_)) => {
            let parts = members.iter().map(|(key, part)| (key.clone(), hide(part, marks.get(key))));
            Datum::Map(parts.collect())
        }
        (Datum::List(items), Datum::List(_)) => {
            let parts = items.iter().enumerate().map(|(index, item)| hide(item, marks.at(index)));
            Datum::List(parts.collect())
        }
        _ if marks.marks_any() => Datum::Text(SENSITIVE.to_owned()),
        _ => value.clone(),
    }
}

/// The value with a text in place of each part that is not known yet; the engines leave these parts out.
fn fill_unknown(value: &Datum, marks: &Datum) -> Datum {
    match (value, marks) {
        (_, Datum::Bool(true)) => Datum::Text(UNKNOWN.to_owned()),
        _ if !marks.marks_any() => value.clone(),
        (Datum::Map(_) | Datum::Null, Datum::Map(marked)) => {
            let unknown = marked.iter().filter(|(_, marks)| marks.marks_any()).map(|(key, _)| key);
            let known = if let Datum::Map(members) = value { Some(members.keys()) } else { None };
            let keys: BTreeSet<&String> = known.into_iter().flatten().chain(unknown).collect();
            let parts =
                keys.into_iter().map(|key| (key.clone(), fill_unknown(value.get(key), marks.get(key))));
            Datum::Map(parts.collect())
        }
        (Datum::List(_) | Datum::Null, Datum::List(marked)) => {
            let length = value.items().len().max(marked.len());
            let parts = (0..length).map(|index| fill_unknown(value.at(index), marks.at(index)));
            Datum::List(parts.collect())
        }
        _ => value.clone(),
    }
}

/// The value, or its beginning where it is long.
fn kept(value: Datum) -> Shown {
    let long = |text: &str| Shown::Long {
        prefix: beginning(text).to_owned(),
        bytes: text.len() as u64,
        digest: ValueDigest::of(text.as_bytes()),
    };
    match &value {
        Datum::Text(text) if text.len() <= LONGEST => Shown::Value(value),
        Datum::Text(text) => long(text),
        Datum::Map(_) | Datum::List(_) => {
            let text = value.to_string();
            if text.len() > LONGEST { long(&text) } else { Shown::Value(value) }
        }
        _ => Shown::Value(value),
    }
}

fn beginning(text: &str) -> &str {
    let end = (0..=PREFIX).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: &str) -> String {
        let found = differences(&Datum::parse(change).unwrap());
        let lines = found.iter().map(|one| format!("{}: {:?} -> {:?}", one.path, one.before, one.after));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_update_names_the_leaves_that_differ() {
        let change = r#"{"before":{"tags":{"a/b":"1","t":"x"},"n":1.0,"same":[1]},
            "after":{"tags":{"t":"y"},"n":1.00,"same":[1]},"after_unknown":{"id":true}}"#;
        insta::assert_snapshot!(check(change), @r#"
        id: Absent -> Unknown
        n: Value(Number("1.0")) -> Value(Number("1.00"))
        tags["a/b"]: Value(Text("1")) -> Absent
        tags.t: Value(Text("x")) -> Value(Text("y"))
        "#);
    }

    #[test]
    fn an_element_taken_out_of_a_list_is_one_difference() {
        let change = r#"{"before":{"l":["a","b","c"]},"after":{"l":["b","c"]}}"#;
        insta::assert_snapshot!(check(change), @r#"l[0]: Value(Text("a")) -> Absent"#);
    }

    #[test]
    fn sensitive_parts_are_hidden_on_both_sides() {
        let change = r#"{"before":{"p":"old","m":{"k":"s1","v":1}},"after":{"p":"new","m":{"k":"s2","v":2},"l":[{"s":"s3","u":1}]},
            "before_sensitive":{"p":true},"after_sensitive":{"m":{"k":true},"l":[{"s":true}]}}"#;
        let shown = check(change);
        insta::assert_snapshot!(shown, @r#"
        l: Absent -> Value(List([Map({"s": Text("(sensitive value)"), "u": Number("1")})]))
        m.k: Sensitive -> Sensitive
        m.v: Value(Number("1")) -> Value(Number("2"))
        p: Sensitive -> Sensitive
        "#);
    }

    #[test]
    fn a_long_string_is_kept_as_beginning_length_and_digest() {
        let change = format!(r#"{{"before":null,"after":{{"s":"{}"}}}}"#, "ü".repeat(5000));
        let found = differences(&Datum::parse(&change).unwrap());
        let Shown::Long { prefix, bytes, .. } = &found[0].after else { panic!("{found:?}") };
        assert_eq!((prefix.len(), *bytes), (2048, 10_000));
    }
}
