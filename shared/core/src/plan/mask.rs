//! Keeps known secrets out of text: logs, diagnostics, rendered plans.
//!
//! Each secret is looked for as it is, JSON-escaped (as Go and as serde write it), URL-encoded and in base64; a secret
//! of several lines also line by line, since logs put something before each line. Secrets shorter than four bytes are
//! not looked for: they would mask half the text and reveal themselves by it.

use std::collections::BTreeSet;
use std::fmt;

use aho_corasick::{AhoCorasick, BuildError, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::differ::SENSITIVE;

/// Shorter secrets are not masked.
const SHORTEST: usize = 4;

/// Shorter lines of a secret are not masked on their own.
const SHORTEST_LINE: usize = 8;

/// Finds secrets in text. Cheap to clone.
#[derive(Clone)]
pub struct Masker {
    finder: Option<AhoCorasick>,
    forms: std::sync::Arc<[String]>,
}

impl fmt::Debug for Masker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Masker({} forms)", self.forms.len())
    }
}

impl Masker {
    /// A masker of these secrets; fails only where they are together too large to search for (gigabytes).
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Result<Self, BuildError> {
        let mut forms = BTreeSet::new();
        for secret in secrets {
            add_forms(secret.as_ref(), &mut forms);
        }
        let forms: Vec<String> = forms.into_iter().collect();
        if forms.is_empty() {
            return Ok(Self { finder: None, forms: forms.into() });
        }
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms)?;
        Ok(Self { finder: Some(finder), forms: forms.into() })
    }

    /// The text without secrets.
    pub fn mask(&self, text: &str) -> String {
        let mut stream = self.stream();
        let mut bytes = stream.push(text.as_bytes());
        bytes.extend(stream.finish());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// A masker of a text that arrives in chunks, cut anywhere.
    pub fn stream(&self) -> MaskStream {
        MaskStream { masker: self.clone(), held: Vec::new() }
    }

    /// Where the part begins that may yet turn out to be a secret: the longest end of `text` that begins a form.
    fn undecided(&self, text: &[u8]) -> usize {
        let longest = self.forms.iter().map(String::len).max().unwrap_or(0);
        let start = text.len().saturating_sub(longest.saturating_sub(1));
        let begins = |at: &usize| {
            let end = text.get(*at..).unwrap_or_default();
            self.forms.iter().any(|form| form.len() > end.len() && form.as_bytes().starts_with(end))
        };
        (start..text.len()).find(begins).unwrap_or(text.len())
    }
}

/// Masks a stream of bytes. Holds back only what may yet turn out to be the beginning of a secret.
#[derive(Debug)]
pub struct MaskStream {
    masker: Masker,
    held: Vec<u8>,
}

impl MaskStream {
    /// Takes the next chunk and gives what can be shown so far.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(chunk);
        let decided = self.masker.undecided(&self.held);
        self.release(decided)
    }

    /// Gives the rest; no more is to come.
    pub fn finish(&mut self) -> Vec<u8> {
        let all = self.held.len();
        self.release(all)
    }

    /// Masks every secret that begins before `decided`, and keeps what follows.
    fn release(&mut self, decided: usize) -> Vec<u8> {
        let mut shown = Vec::with_capacity(decided);
        let mut done = 0;
        let found = self.masker.finder.as_ref().map(|finder| finder.find_iter(&self.held));
        for secret in found.into_iter().flatten().take_while(|secret| secret.start() < decided) {
            shown.extend_from_slice(self.held.get(done..secret.start()).unwrap_or_default());
            shown.extend_from_slice(SENSITIVE.as_bytes());
            done = secret.end();
        }
        shown.extend_from_slice(self.held.get(done..decided).unwrap_or_default());
        self.held.drain(..done.max(decided));
        shown
    }
}

fn add_forms(secret: &str, forms: &mut BTreeSet<String>) {
    let secret = secret.trim_matches(['\r', '\n']);
    if secret.len() < SHORTEST {
        return;
    }
    let lines = secret.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE);
    forms.extend(lines.map(str::to_owned));
    // A file's trailing newline goes into its base64 form.
    for text in [secret.to_owned(), format!("{secret}\n")] {
        let engines = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD];
        forms.extend(engines.map(|engine| engine.encode(&text)));
    }
    // As Go and Rust write JSON, and the same once more inside a JSON string: `jsonencode` in an attribute of a plan.
    let json = json_escaped(secret);
    let go = json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    forms.extend([json_escaped(&json), json_escaped(&go), json, go]);
    forms.insert(url_encoded(secret));
    forms.insert(secret.to_owned());
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
    fn wherever_the_stream_is_cut_the_result_is_the_same() {
        let masker = Masker::new(["secret", "secret-longer", "line one of it\nline two of it"]).unwrap();
        let text = "a secret b secret-long c secret-longer d sec | line one of it\n| line two of it\nüsecre";
        let whole = masker.mask(text);
        insta::assert_snapshot!(whole, @"
        a (sensitive value) b (sensitive value)-long c (sensitive value) d sec | (sensitive value)
        | (sensitive value)
        üsecre
        ");
        for cut in 0..=text.len() {
            let mut stream = masker.stream();
            let parts =
                [stream.push(&text.as_bytes()[..cut]), stream.push(&text.as_bytes()[cut..]), stream.finish()];
            assert_eq!(String::from_utf8(parts.concat()).unwrap(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn text_that_cannot_become_a_secret_is_not_held_back() {
        let mut stream = Masker::new(["secret"]).unwrap().stream();
        assert_eq!(stream.push(b"progress 1 s"), b"progress 1 ");
        assert_eq!(stream.push(b"o\n"), b"so\n");
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
