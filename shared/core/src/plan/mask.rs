//! Keeps secrets out of text: logs, diagnostics, rendered plans. Known values wherever they stand, and what has the shape
//! of a secret (a token, a private key, a password in a URL), whoever named it.
//!
//! Each known value is looked for as it is, JSON-escaped (as Go and as serde write it), URL-encoded and in base64; one of
//! several lines also line by line, since logs put something before each line and shells break JSON into lines. Values shorter than four bytes are
//! not looked for: they would mask half the text and reveal themselves by it.
//!
//! Texts are masked whole: a line of a log, a string of JSON, a message. Of one that was cut before, the end is masked too
//! where the cut may go through a secret.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, BuildError, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use regex_lite::{Regex, RegexBuilder};

use super::differ::SENSITIVE;
use super::shapes::{OpenKey, Shapes};

/// Shorter secrets are not masked.
const SHORTEST: usize = 4;

/// Shorter lines of a secret are not masked on their own.
const SHORTEST_LINE: usize = 8;

/// Finds secrets in text. Cheap to clone.
#[derive(Clone)]
pub struct Masker {
    known: AhoCorasick,
    forms: Arc<[String]>,
    shapes: Shapes,
    patterns: Arc<[Regex]>,
}

impl fmt::Debug for Masker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Masker({} forms)", self.forms.len())
    }
}

impl Masker {
    /// A masker of these secrets and of all shapes; fails only where they are together too large to search for (gigabytes).
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Result<Self, BuildError> {
        let mut forms = BTreeSet::new();
        for secret in secrets {
            add_forms(secret.as_ref(), &mut forms);
        }
        let forms: Vec<String> = forms.into_iter().collect();
        let known = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms)?;
        Ok(Self { known, forms: forms.into(), shapes: Shapes::new()?, patterns: Arc::default() })
    }

    /// Masks also what these patterns find. One that [`secret_pattern`] does not take finds nothing.
    #[must_use]
    pub fn with_patterns<S: AsRef<str>>(self, patterns: impl IntoIterator<Item = S>) -> Self {
        let patterns = patterns.into_iter().filter_map(|text| secret_pattern(text.as_ref())).collect();
        Self { patterns, ..self }
    }

    /// The text without secrets.
    pub fn mask(&self, text: &str) -> String {
        self.mask_next(text, &mut OpenKey::default())
    }

    /// The text without secrets, where it goes on where the one before ended: a private key may have begun there.
    pub fn mask_next(&self, text: &str, key: &mut OpenKey) -> String {
        without(text, self.secrets(text, key))
    }

    /// The beginning of a longer text without secrets, also without the beginning of one that the cut goes through.
    pub fn mask_beginning(&self, text: &str) -> String {
        let mut secrets = self.secrets(text, &mut OpenKey::default());
        let cut = self.cut(text).min(self.shapes.cut(text));
        secrets.extend((cut < text.len()).then_some(cut..text.len()));
        without(text, secrets)
    }

    fn secrets(&self, text: &str, key: &mut OpenKey) -> Vec<Range<usize>> {
        let mut secrets = self.shapes.find(text, key);
        secrets.extend(self.known.find_iter(text).map(|known| known.range()));
        let found = self.patterns.iter().flat_map(|pattern| pattern.find_iter(text));
        secrets.extend(found.map(|found| found.range()).filter(|range| !range.is_empty()));
        secrets
    }

    /// Where the longest end of the text begins that is the beginning of a known value.
    fn cut(&self, text: &str) -> usize {
        let longest = self.forms.iter().map(String::len).max().unwrap_or(0);
        let start = text.len().saturating_sub(longest.saturating_sub(1));
        let begins = |at: &usize| {
            let end = text.get(*at..).filter(|end| !end.is_empty());
            end.is_some_and(|end| self.forms.iter().any(|form| form.starts_with(end)))
        };
        (start..text.len()).find(begins).unwrap_or(text.len())
    }
}

/// Reads a regular expression of what is to be masked; none where it is none, or finds empty texts, as one does that was
/// meant to say something else.
pub fn secret_pattern(text: &str) -> Option<Regex> {
    let pattern = RegexBuilder::new(text).size_limit(1 << 20).build().ok()?;
    (!pattern.is_match("")).then_some(pattern)
}

fn without(text: &str, mut secrets: Vec<Range<usize>>) -> String {
    secrets.sort_by_key(|secret| secret.start);
    let (mut shown, mut hidden) = (String::with_capacity(text.len()), 0);
    for secret in secrets {
        // Of secrets that overlap one mark is left.
        if secret.start >= hidden {
            shown.push_str(text.get(hidden..secret.start).unwrap_or_default());
            shown.push_str(SENSITIVE);
        }
        hidden = hidden.max(secret.end);
    }
    shown.push_str(text.get(hidden..).unwrap_or_default());
    shown
}

fn add_forms(secret: &str, forms: &mut BTreeSet<String>) {
    let secret = secret.trim_matches(['\r', '\n']);
    if secret.len() < SHORTEST {
        return;
    }
    let lines = secret.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE);
    for line in lines {
        forms.insert(line.to_owned());
        // A shell's `echo` breaks JSON at its `\n`, and leaves `\"` in what it breaks.
        forms.extend(escaped(line).into_iter().chain(escaped_quotes(line)));
    }
    forms.extend(escaped_quotes(secret));
    // A file's trailing newline goes into its base64 form.
    for text in [secret.to_owned(), format!("{secret}\n")] {
        let engines = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD];
        forms.extend(engines.map(|engine| engine.encode(&text)));
    }
    // As Go and Rust write JSON, and the same once more inside a JSON string: `jsonencode` in an attribute of a plan.
    for json in escaped(secret) {
        forms.insert(json_escaped(&json));
        forms.insert(json);
    }
    forms.insert(url_encoded(secret));
    forms.insert(secret.to_owned());
}

/// Inside JSON, as Rust writes it and as Go does.
fn escaped(text: &str) -> [String; 2] {
    let json = json_escaped(text);
    [go_escaped(&json), json]
}

/// The same where only quotes are escaped still: `echo` has read the other backslashes.
fn escaped_quotes(text: &str) -> [String; 2] {
    let quoted = text.replace('"', "\\\"");
    [go_escaped(&quoted), quoted]
}

fn go_escaped(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn json_escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text).to_owned()
}

fn url_encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_patterns_find_is_masked_too() {
        let masker =
            Masker::new(["hunter22"]).unwrap().with_patterns(["key-[a-f]+", "(", "x*", "(?i)SESAME"]);
        let shown = masker.mask("hunter22 key-abcdefg and sesame xx key-");
        assert_eq!(shown, "(sensitive value) (sensitive value)g and (sensitive value) xx key-");
    }

    #[test]
    fn a_secret_is_masked_in_each_form() {
        let secret = "p<a>\"ss&w\\ord";
        let masker = Masker::new([secret]).unwrap();
        let go = r#"p\u003ca\u003e\"ss\u0026w\\ord"#;
        let twice = serde_json::to_string(&serde_json::to_string(secret).unwrap()).unwrap();
        for form in [secret, go, &STANDARD.encode(secret), &url_encoded(secret), &twice] {
            let shown = masker.mask(&format!("x {form} y"));
            assert!(shown.contains(SENSITIVE) && !shown.contains("ord"), "{form}: {shown}");
        }
    }

    #[test]
    fn the_longest_secret_counts_and_one_of_lines_is_masked_in_each() {
        let masker = Masker::new(["secret", "secret-longer", "line one of it\nline two of it"]).unwrap();
        let text = "a secret b secret-long c secret-longer d sec | line one of it\n| line two of it\nüsecre";
        insta::assert_snapshot!(masker.mask(text), @"
        a (sensitive value) b (sensitive value)-long c (sensitive value) d sec | (sensitive value)
        | (sensitive value)
        üsecre
        ");
    }

    #[test]
    fn a_secret_of_lines_is_masked_where_a_shell_has_broken_its_json() {
        let secret = "first <\"line\"> of\\it\nsecond \"line\" of it";
        let masker = Masker::new([secret]).unwrap();
        for form in escaped(secret).into_iter().chain(escaped(secret).map(|json| json.replace("\\\\", "\\")))
        {
            let echoed = form.replace("\\n", "\n");
            let shown: Vec<String> = echoed.lines().map(|line| masker.mask(&format!("x {line} y"))).collect();
            assert_eq!(shown, ["x (sensitive value) y", "x (sensitive value) y"], "{echoed}");
        }
    }

    #[test]
    fn a_secret_that_a_cut_goes_through_is_masked_to_the_cut() {
        let token = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");
        let masker = Masker::new(["correct horse", "horses"]).unwrap();
        let text = format!("a correct horse {token} https://u:correct hors");
        for end in 0..=text.len() {
            let shown = masker.mask_beginning(&text[..end]);
            assert!(!shown.contains("corr") && !shown.contains("16C7") && !shown.contains("hor"), "{shown}");
        }
        assert_eq!(masker.mask_beginning("a word"), "a word");
    }

    #[test]
    fn a_known_secret_that_holds_or_lies_in_one_of_a_shape_is_masked_with_it() {
        let token = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");
        let url = format!("https://ann:{token}@host/x");
        for known in [url.as_str(), "16C7e42F292c6912", &token] {
            let shown = Masker::new([known]).unwrap().mask(&format!("{url} {url}"));
            assert!(!shown.contains("C7e42") && !shown.contains("8B4a"), "{known}: {shown}");
            assert_eq!(shown.contains("ann"), known != url, "{known}: {shown}");
        }
    }

    #[test]
    fn short_secrets_are_not_looked_for() {
        assert_eq!(Masker::new(["", "1", "yes"]).unwrap().mask("1 yes"), "1 yes");
    }

    #[test]
    fn a_secret_inside_json_inside_json_is_masked_as_the_engines_write_it() {
        let masker = Masker::new(["ab&cd<efgh"]).unwrap();
        let plan = r#"{"policy":"{\"x\":\"ab\\u0026cd\\u003cefgh\"}"}"#;
        assert!(!masker.mask(plan).contains("efgh"), "{}", masker.mask(plan));
    }
}
