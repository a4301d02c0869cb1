//! Keeps secrets out of the stored plan: those of `varsFrom`, and what has the shape of one. The engine marks what the code
//! calls sensitive; a secret that is passed to an ordinary variable, or written into the code, it shows.

use std::io::{self, Write};

use yuba_core::plan::SENSITIVE;
use yuba_core::plan::datum::Datum;
use yuba_core::plan::mask::Masker;
use yuba_core::plan::summary::{AttributeChange, PlanSummary, Shown};

/// Masks the values and messages of a summary; addresses, paths and words of the engine stay.
pub(crate) fn summary(summary: &mut PlanSummary, masker: &Masker) {
    let changes = summary.changes.iter_mut().flat_map(|change| change.attributes.iter_mut());
    let outputs = summary.outputs.iter_mut().flat_map(|output| output.attributes.iter_mut());
    let drift = summary.drift.iter_mut().flat_map(|drift| drift.attributes.iter_mut());
    for AttributeChange { before, after, .. } in changes.chain(outputs).chain(drift) {
        shown(before, masker);
        shown(after, masker);
    }
    for problem in summary.failed_checks.iter_mut().flat_map(|check| check.problems.iter_mut()) {
        *problem = masker.mask(problem);
    }
}

fn shown(one: &mut Shown, masker: &Masker) {
    match one {
        Shown::Value(inner) => value(inner, masker),
        Shown::Long { prefix, .. } => *prefix = masker.mask_beginning(prefix),
        Shown::Absent | Shown::Unknown | Shown::Sensitive => {}
    }
}

fn value(one: &mut Datum, masker: &Masker) {
    match one {
        Datum::Text(text) => *text = masker.mask(text),
        Datum::Number(number) if masker.mask(number) != *number => *one = Datum::Text(SENSITIVE.to_owned()),
        Datum::List(items) => items.iter_mut().for_each(|item| value(item, masker)),
        Datum::Map(members) => members.values_mut().for_each(|member| value(member, masker)),
        Datum::Null | Datum::Bool(_) | Datum::Number(_) => {}
    }
}

/// A writer of JSON that masks strings and numbers, and leaves keys. One string at a time is held.
pub(crate) struct MaskJson<W: Write> {
    out: W,
    masker: Masker,
    held: Vec<u8>,
    at: At,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Between values.
    Structure,
    /// Within a string.
    Text,
    /// Within a string, behind a backslash.
    Escape,
    /// Behind a string: a colon makes it a key.
    AfterText,
    /// Within a number or a word.
    Literal,
}

impl<W: Write> MaskJson<W> {
    /// A writer that passes masked JSON on to `out`.
    pub(crate) fn new(out: W, masker: Masker) -> Self {
        Self { out, masker, held: Vec::new(), at: At::Structure }
    }

    fn byte(&mut self, byte: u8) -> io::Result<()> {
        match (self.at, byte) {
            (At::Text, b'\\') => self.hold(byte, At::Escape),
            (At::Text, b'"') | (At::AfterText, b' ' | b'\n' | b'\r' | b'\t') => {
                self.hold(byte, At::AfterText)
            }
            (At::Text | At::Escape, _) => self.hold(byte, At::Text),
            (At::Literal, b'0'..=b'9' | b'.' | b'+' | b'-' | b'a'..=b'z' | b'E') => {
                self.hold(byte, At::Literal)
            }
            _ => {
                self.settle(byte == b':')?;
                self.begin(byte)
            }
        }
    }

    fn begin(&mut self, byte: u8) -> io::Result<()> {
        match byte {
            b'"' => self.hold(byte, At::Text),
            b'-' | b'0'..=b'9' => self.hold(byte, At::Literal),
            _ => {
                self.at = At::Structure;
                self.out.write_all(&[byte])
            }
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "one shape for all arms of the machine")]
    fn hold(&mut self, byte: u8, at: At) -> io::Result<()> {
        self.held.push(byte);
        self.at = at;
        Ok(())
    }

    /// Writes what is held: a key as it is, a value masked.
    fn settle(&mut self, is_key: bool) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        if is_key || held.is_empty() {
            return self.out.write_all(&held);
        }
        let text = String::from_utf8_lossy(&held);
        // Without its quotes: a private key that has no end is masked to the end of the text.
        let inner = text.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
        let (inner, after) = inner.unwrap_or((&text, ""));
        let masked = self.masker.mask(inner);
        match self.at {
            At::Literal if masked != inner => write!(self.out, "\"{SENSITIVE}\""),
            At::Literal => self.out.write_all(&held),
            _ => write!(self.out, "\"{masked}\"{after}"),
        }
    }
}

impl<W: Write> Write for MaskJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            self.byte(*byte)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.settle(false)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_masked_and_keys_are_not() {
        let secrets = Masker::new(["hunter22", "5432", "a\"quote"]).unwrap();
        let json = r#"{"hunter22" : "x hunter22", "port":5432,"n":[15432,true,"a\"quote"], "z":"hunter22"}"#;
        let mut out = MaskJson::new(Vec::new(), secrets);
        for chunk in json.as_bytes().chunks(3) {
            out.write_all(chunk).unwrap();
        }
        out.flush().unwrap();
        let masked: serde_json::Value = serde_json::from_slice(&out.out).unwrap();
        assert_eq!(
            masked.to_string(),
            r#"{"hunter22":"x (sensitive value)","port":"(sensitive value)","n":["(sensitive value)",true,"(sensitive value)"],"z":"(sensitive value)"}"#
        );
    }

    #[test]
    fn a_secret_in_a_long_value_is_masked_also_where_the_value_was_cut() {
        let text = format!("hunter22 {}hunter22{}", "x".repeat(2035), "y".repeat(9000));
        let plan = serde_json::json!({"format_version": "1.2", "resource_changes": [{"address": "a.b", "type": "a",
            "change": {"actions": ["create"], "before": null, "after": {"v": text}}}]});
        let mut read = yuba_core::plan::read(plan.to_string().as_bytes()).unwrap();
        summary(&mut read.summary, &Masker::new(["hunter22"]).unwrap());
        let shown = serde_json::to_string(&read.summary).unwrap();
        assert!(shown.contains(SENSITIVE) && shown.contains("xxx") && !shown.contains("hunt"), "{shown}");
    }

    #[test]
    fn a_private_key_that_is_cut_leaves_the_json_whole() {
        let mut out = MaskJson::new(Vec::new(), Masker::new([""; 0]).unwrap());
        let kind = ["PRIVATE", "KEY"].join(" ");
        write!(out, r#"{{"a": "-----BEGIN {kind}-----\nMIIE" , "b":[1,"x"]}}"#).unwrap();
        out.flush().unwrap();
        let masked: serde_json::Value = serde_json::from_slice(&out.out).unwrap();
        let hidden = format!("-----BEGIN {kind}-----{SENSITIVE}");
        assert_eq!(masked, serde_json::json!({"a": hidden, "b": [1, "x"]}));
    }
}
