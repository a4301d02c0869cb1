//! Secrets that nobody named, known by their shape: tokens of clouds and Git hosts, signed web tokens, private keys,
//! passwords in URLs. Only shapes that hardly anything else has; what looks like a secret and is none is masked too.

use std::ops::Range;

use aho_corasick::{AhoCorasick, BuildError};

/// How many lines a private key may take: one of 16,384 bits takes 200.
const KEY_LINES: u32 = 250;

/// The longest token of which a beginning is looked for where a text was cut.
const LONGEST_TOKEN: usize = 2048;

/// What a private key ends with.
const KEY_END: &str = "-----END ";

/// What a secret begins with, and how it goes on.
const SHAPES: [(&str, Shape); 39] = [
    ("AKIA", Shape::Token(is_aws_id, 16)),
    ("ASIA", Shape::Token(is_aws_id, 16)),
    ("secret_access_key", Shape::AwsSecret),
    ("SECRET_ACCESS_KEY", Shape::AwsSecret),
    ("secretAccessKey", Shape::AwsSecret),
    ("SecretAccessKey", Shape::AwsSecret),
    ("ghp_", Shape::Token(is_word, 30)),
    ("gho_", Shape::Token(is_word, 30)),
    ("ghu_", Shape::Token(is_word, 30)),
    ("ghs_", Shape::Token(is_word, 30)),
    ("ghr_", Shape::Token(is_word, 30)),
    ("github_pat_", Shape::Token(is_word, 22)),
    ("glpat-", Shape::Token(is_dotted, 20)),
    ("gldt-", Shape::Token(is_dotted, 20)),
    ("glrt-", Shape::Token(is_dotted, 20)),
    ("glrtr-", Shape::Token(is_dotted, 20)),
    ("glcbt-", Shape::Token(is_dotted, 20)),
    ("glptt-", Shape::Token(is_dotted, 20)),
    ("glft-", Shape::Token(is_dotted, 20)),
    ("glimt-", Shape::Token(is_dotted, 20)),
    ("glagent-", Shape::Token(is_dotted, 20)),
    ("glsoat-", Shape::Token(is_dotted, 20)),
    ("gloas-", Shape::Token(is_dotted, 20)),
    ("glffct-", Shape::Token(is_dotted, 20)),
    ("xoxa-", Shape::Token(is_dashed, 10)),
    ("xoxb-", Shape::Token(is_dashed, 10)),
    ("xoxc-", Shape::Token(is_dashed, 10)),
    ("xoxd-", Shape::Token(is_dashed, 10)),
    ("xoxe-", Shape::Token(is_dashed, 10)),
    ("xoxe.xox", Shape::Token(is_dashed, 10)),
    ("xoxo-", Shape::Token(is_dashed, 10)),
    ("xoxp-", Shape::Token(is_dashed, 10)),
    ("xoxr-", Shape::Token(is_dashed, 10)),
    ("xoxs-", Shape::Token(is_dashed, 10)),
    ("xapp-", Shape::Token(is_dashed, 10)),
    ("hooks.slack.com/", Shape::Token(is_path, 20)),
    ("eyJ", Shape::WebToken),
    ("-----BEGIN ", Shape::PrivateKey),
    ("://", Shape::Login),
];

/// How a secret goes on behind what it begins with.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// With at least so many of these bytes; the beginning is part of it.
    Token(fn(u8) -> bool, usize),
    /// With a sign or two and 40 letters: AWS' secret keys have no beginning of their own.
    AwsSecret,
    /// With three parts in base64, of which two are JSON (RFC 7519).
    WebToken,
    /// With a kind of key, and lines of base64 (RFC 7468).
    PrivateKey,
    /// With `user:password@` (RFC 3986, 3.2.1).
    Login,
}

/// A private key whose end is not reached yet: how many lines of it may still come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenKey(u32);

/// Finds secrets by their shape.
#[derive(Debug, Clone)]
pub(super) struct Shapes(AhoCorasick);

impl Shapes {
    /// A finder of all shapes.
    pub(super) fn new() -> Result<Self, BuildError> {
        AhoCorasick::new(SHAPES.map(|(begins, _)| begins)).map(Self)
    }

    /// Where secrets stand in a text that goes on where the one before ended.
    pub(super) fn find(&self, text: &str, key: &mut OpenKey) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut keys = Vec::new();
        for begins in self.0.find_iter(text) {
            let Some((_, shape)) = SHAPES.get(begins.pattern().as_usize()) else { continue };
            match shape {
                Shape::PrivateKey => keys.push(begins.end()),
                other => found.extend(other.span(text.as_bytes(), begins.range())),
            }
        }
        if *key != OpenKey::default() || !keys.is_empty() {
            find_keys(text, &keys, key, &mut found);
        }
        found
    }

    /// Where a secret may begin that a cut at the end of the text goes through.
    pub(super) fn cut(&self, text: &str) -> usize {
        let near = text.len().saturating_sub(LONGEST_TOKEN);
        let is_open = |start: &usize| {
            let ends = |byte: u8| byte.is_ascii_whitespace() || byte == b'"';
            *start >= near && text.get(*start..).is_some_and(|token| !token.bytes().any(ends))
        };
        self.0.find_iter(text).map(|begins| begins.start()).find(is_open).unwrap_or(text.len())
    }
}

impl Shape {
    fn span(self, text: &[u8], begins: Range<usize>) -> Option<Range<usize>> {
        match self {
            Self::Token(is_part, least) => {
                let length = run(text, begins.end, is_part);
                (length >= least).then_some(begins.start..begins.end + length)
            }
            Self::AwsSecret => {
                let start = begins.end + run(text, begins.end, is_sign).min(8);
                (run(text, start, is_base64) == 40).then_some(start..start + 40)
            }
            Self::WebToken => web_token(text, begins.start).map(|end| begins.start..end),
            Self::Login => password(text, begins.end),
            Self::PrivateKey => None,
        }
    }
}

/// The end of a web token that begins here.
fn web_token(text: &[u8], start: usize) -> Option<usize> {
    let head = start + run(text, start, is_base64url);
    let claims = head + 1;
    let is_token = text.get(head) == Some(&b'.') && text.get(claims..)?.starts_with(b"eyJ");
    let dot = claims + run(text, claims, is_base64url);
    (is_token && text.get(dot) == Some(&b'.')).then(|| dot + 1 + run(text, dot + 1, is_base64url))
}

/// The password in what follows `://`.
fn password(text: &[u8], start: usize) -> Option<Range<usize>> {
    let authority = text.get(start..start + run(text, start, is_authority))?;
    let login = authority.get(..authority.iter().rposition(|byte| *byte == b'@')?)?;
    let colon = login.iter().position(|byte| *byte == b':')?;
    (colon + 1 < login.len()).then_some(start + colon + 1..start + login.len())
}

/// Finds the lines of private keys: those behind the beginnings (each at its kind), and those of a key that is open.
/// Logs put something before each line, so only the last word of a line counts. JSON has all in one line.
fn find_keys(text: &str, begins: &[usize], key: &mut OpenKey, found: &mut Vec<Range<usize>>) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.trim_end().len();
        let begun = begins.iter().filter(|begin| (at..end).contains(*begin));
        let begun = begun.filter_map(|begin| Some(begin + key_label(text.get(*begin..end)?)?));
        let begun: Vec<usize> = begun.collect();
        for start in &begun {
            let rest = text.get(*start..end).unwrap_or_default();
            let closed = rest.find(KEY_END);
            *key = OpenKey(if closed.is_some() { 0 } else { KEY_LINES });
            let length = closed.unwrap_or(rest.len());
            found.extend((length > 0).then_some(*start..start + length));
        }
        if begun.is_empty() && key.0 > 0 {
            let line = line.trim_end();
            *key = OpenKey(if line.contains(KEY_END) { 0 } else { key.0 - 1 });
            let word = line.rsplit([' ', '\t']).next().unwrap_or_default();
            let is_key = !word.is_empty() && word.bytes().all(is_base64_padded);
            found.extend(is_key.then_some(end - word.len()..end));
        }
        at += line.len();
    }
}

/// How long the label of a private key is, with its dashes: `RSA PRIVATE KEY-----`.
fn key_label(text: &str) -> Option<usize> {
    let (label, _) = text.split_once("-----")?;
    let is_key = label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK");
    (is_key && label.len() < 64).then_some(label.len() + 5)
}

/// How many bytes from here on are of a kind.
fn run(text: &[u8], start: usize, is_part: fn(u8) -> bool) -> usize {
    text.get(start..).unwrap_or_default().iter().take_while(|byte| is_part(**byte)).count()
}

fn is_aws_id(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_dashed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn is_dotted(byte: u8) -> bool {
    is_base64url(byte) || byte == b'.'
}

fn is_path(byte: u8) -> bool {
    is_word(byte) || byte == b'/'
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

fn is_base64_padded(byte: u8) -> bool {
    is_base64(byte) || byte == b'='
}

fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// What may stand between the name of a value and the value.
fn is_sign(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'=' | b':' | b'"' | b'\'' | b'\\' | b'>')
}

fn is_authority(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'`')
}

#[cfg(test)]
mod tests {
    use super::super::mask::Masker;
    use super::*;

    /// A text without what was found in it. The tokens are made up, and written so that no scanner takes them for real.
    fn shown(text: &str) -> String {
        Masker::new([""; 0]).unwrap().mask(&text.replace('~', ""))
    }

    #[test]
    fn tokens_are_masked_whatever_stands_around_them() {
        for token in [
            "AK~IAIOSFODNN7EXAMPLE",
            "AS~IAIOSFODNN7EXAMPLE",
            "gh~p_16C7e42F292c6912E7710c838347Ae178B4a",
            "gh~s_16C7e42F292c6912E7710c838347Ae178B4a",
            "github_p~at_11ABCDEFG0abcdefghijkl_0123456789",
            "gl~pat-abcdefghij0123456789",
            "gl~dt-abcdefghij-_23456789",
            "xo~xb-1234567890-abcdefghij",
            "xo~xe.xo~xp-1-abcdefghijkl",
            "hooks.slack.~com/services/T00000000/B00000000/abcdefghijklmnop",
            "ey~JhbGciOiJIUzI1NiJ9.ey~JzdWIiOiIxIn0.c2lnbmF0dXJl_-",
        ] {
            for (before, after) in
                [("", ""), ("token=", "\n"), ("\\n", "\\\""), ("(", ")"), ("https://x.y/?t=", "&u=1")]
            {
                let masked = shown(&format!("{before}{token}{after}"));
                assert_eq!(masked, format!("{before}(sensitive value){after}"), "{token}");
            }
        }
    }

    #[test]
    fn what_only_begins_like_a_token_is_shown() {
        for text in [
            "AKIA",
            "AKIAX",
            "ghp_short",
            "glpat-",
            "xoxb-",
            "eyJ",
            "eyJhbGci.example.com",
            "the xapp-name",
            "https://host:8080/path@v1",
            "https://user@host",
            "ssh://git@host:22/a",
            "a://b",
            "://",
            "----- BEGIN",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "secret_access_key = var.key",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn of_a_url_only_the_password_is_masked() {
        for (text, expected) in [
            ("postgres://app:p%40ss@db:5432/x?y=1", "postgres://app:(sensitive value)@db:5432/x?y=1"),
            ("https://:tok@host and b", "https://:(sensitive value)@host and b"),
            ("amqp://a:p@ss:w@host/", "amqp://a:(sensitive value)@host/"),
            ("a=\"redis://x:y\\u0026z@h\"", "a=\"redis://x:(sensitive value)@h\""),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn the_secret_key_of_aws_is_known_by_the_name_before_it() {
        let key = "wJalrXUtnFEMI/K7MDENG/bPx~RfiCYEXAMPLEKEY";
        for before in [
            "aws_secret_access_key = ",
            "AWS_SECRET_ACCESS_KEY=",
            "\"secretAccessKey\": \"",
            "SecretAccessKey\\\":\\\"",
        ] {
            assert_eq!(shown(&format!("{before}{key}\"")), format!("{before}(sensitive value)\""));
        }
        assert_eq!(shown(key), key.replace('~', ""), "alone it looks like any other text");
    }

    #[test]
    fn a_private_key_is_masked_line_by_line_or_as_json_has_it() {
        insta::assert_snapshot!(shown("a\n+ -----BEGIN RSA PRIV~ATE KEY-----\n+ MIIEowIBAAKCAQEA\n+ abc=\n+ -----END RSA PRIV~ATE KEY-----\nb c"), @r"
        a
        + -----BEGIN RSA PRIVATE KEY-----
        + (sensitive value)
        + (sensitive value)
        + -----END RSA PRIVATE KEY-----
        b c
        ");
        let one_line = r"x -----BEGIN PRIV~ATE KEY-----\nMII\n-----END PRIV~ATE KEY-----\n-----BEGIN PGP PRIV~ATE KEY BLOCK-----\nlQ";
        insta::assert_snapshot!(shown(one_line), @r"x -----BEGIN PRIVATE KEY-----(sensitive value)-----END PRIVATE KEY-----\n-----BEGIN PGP PRIVATE KEY BLOCK-----(sensitive value)");
    }

    #[test]
    fn a_private_key_that_comes_line_by_line_is_masked_to_its_end() {
        let (masker, mut key) = (Masker::new([""; 0]).unwrap(), OpenKey::default());
        let lines = [
            "x: -----BEGIN OPENSSH PRIV~ATE KEY-----",
            "x: b3BlbnNzaA",
            "y: Still creating... [10s elapsed]",
            "x: Zg==",
            "x: -----END OPENSSH PRIV~ATE KEY-----",
            "x: done",
        ];
        let shown = lines.map(|line| masker.mask_next(&line.replace('~', ""), &mut key));
        insta::assert_snapshot!(shown.join("\n"), @r"
        x: -----BEGIN OPENSSH PRIVATE KEY-----
        x: (sensitive value)
        y: Still creating... [10s elapsed]
        x: (sensitive value)
        x: -----END OPENSSH PRIVATE KEY-----
        x: done
        ");
    }

    #[test]
    fn a_key_without_an_end_hides_no_more_than_a_key_may_be_long() {
        let (masker, mut key) = (Masker::new([""; 0]).unwrap(), OpenKey::default());
        masker.mask_next(&"-----BEGIN PRIV~ATE KEY-----".replace('~', ""), &mut key);
        let lines = (0..300).map(|_| masker.mask_next("a word", &mut key));
        assert_eq!(lines.filter(|line| line == "a word").count(), 50);
    }
}
