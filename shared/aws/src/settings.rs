//! Settings from environment variables: all that is missing or malformed is told in one message.

use std::collections::BTreeMap;
use std::fmt;

use yuba_core::id::InstallationId;

/// Environment variables that settings are read from, and what was wrong with those that were.
#[derive(Debug, Default)]
pub struct Variables {
    values: BTreeMap<String, String>,
    problems: Vec<String>,
}

/// What is wrong with the settings: all of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SettingsError {
    /// One sentence for each variable.
    pub problems: Vec<String>,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("settings are missing or malformed:")?;
        self.problems.iter().try_for_each(|problem| write!(formatter, "\n  {problem}"))
    }
}

impl Variables {
    /// Settings from these variables. An empty one counts as not set.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let values = variables.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        Self { values, problems: Vec::new() }
    }

    /// The variables of this process. One that is no text counts as not set.
    #[cfg(feature = "lambda")]
    pub fn of_environment() -> Self {
        Self::new(crate::lambda::environment())
    }

    /// A variable that must be set. `what` says what it holds; `read` says what is wrong with a value.
    pub fn required<T, E: fmt::Display>(
        &mut self,
        name: &str,
        what: &str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        if !self.values.contains_key(name) {
            self.note(format!("{name} is not set: {what}"));
        }
        self.optional(name, what, read)
    }

    /// A variable that may be set.
    pub fn optional<T, E: fmt::Display>(
        &mut self,
        name: &str,
        what: &str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        match read(self.values.get(name)?) {
            Ok(value) => Some(value),
            Err(error) => {
                self.note(format!("{name} is malformed: {error}; {what}"));
                None
            }
        }
    }

    /// Several ports read some of the variables; what is wrong with one is told once.
    fn note(&mut self, problem: String) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// The settings that were made of it, if nothing was wrong.
    pub fn finish<T>(self, settings: Option<T>) -> Result<T, SettingsError> {
        match settings {
            Some(settings) if self.problems.is_empty() => Ok(settings),
            _ => Err(SettingsError { problems: self.problems }),
        }
    }
}

/// An installation's id: part of every key, prefix and name, so of the letters that all of them may have.
pub(crate) fn installation(text: &str) -> Result<InstallationId, String> {
    let plain = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-';
    let fits = text.len() <= 32
        && text.bytes().all(plain)
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && !text.ends_with('-');
    if fits {
        Ok(InstallationId(text.to_owned()))
    } else {
        Err(format!(
            "`{text}` is not an installation's id: at most 32 of a-z, 0-9 and `-`, the first a letter, the last no `-`"
        ))
    }
}

/// A DynamoDB table's name.
pub(crate) fn table(text: &str) -> Result<String, String> {
    let plain = |letter: u8| letter.is_ascii_alphanumeric() || b"_.-".contains(&letter);
    matching(
        text,
        (3..=255).contains(&text.len()) && text.bytes().all(plain),
        "a table's name: 3 to 255 of a-z, A-Z, 0-9, `_`, `.` and `-`",
    )
}

/// An S3 bucket's name.
pub(crate) fn bucket(text: &str) -> Result<String, String> {
    let plain =
        |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || b".-".contains(&letter);
    matching(
        text,
        (3..=63).contains(&text.len()) && text.bytes().all(plain),
        "a bucket's name: 3 to 63 of a-z, 0-9, `.` and `-`",
    )
}

/// A KMS key: id, ARN or alias.
pub(crate) fn key_id(text: &str) -> Result<String, String> {
    let plain = |letter: u8| letter.is_ascii_alphanumeric() || b":/_-".contains(&letter);
    matching(text, text.bytes().all(plain), "a KMS key: an id, an ARN or `alias/<name>`")
}

/// Whether a queue or topic of this name keeps an order: the end of the name says so.
pub(crate) fn is_fifo(name: &str) -> bool {
    name.rsplit('.').next() == Some("fifo")
}

/// The URL of an SQS FIFO queue.
pub(crate) fn fifo_queue_url(text: &str) -> Result<String, String> {
    let is_url = text.starts_with("https://") || text.starts_with("http://");
    matching(text, is_url && is_fifo(text), "the URL of a FIFO queue: https://…/<name>.fifo")
}

/// The ARN of an SNS topic.
pub(crate) fn topic_arn(text: &str) -> Result<String, String> {
    let is_topic = text.starts_with("arn:") && text.contains(":sns:");
    matching(text, is_topic, "a topic's ARN: arn:aws:sns:<region>:<account>:<name>")
}

/// The ARN of an IAM role.
pub(crate) fn role_arn(text: &str) -> Result<String, String> {
    let is_role = text.starts_with("arn:") && text.contains(":iam::") && text.contains(":role/");
    matching(text, is_role, "a role's ARN: arn:aws:iam::<account>:role/<name>")
}

/// What names of parameters and secrets begin with.
pub(crate) fn name_prefix(text: &str) -> Result<String, String> {
    let plain = |letter: u8| letter.is_ascii_alphanumeric() || b"/_.-".contains(&letter);
    let is_own = text.starts_with('/') && !text.ends_with('/') && !text.contains("//");
    let is_reserved = ["/aws", "/ssm"].iter().any(|reserved| text.to_ascii_lowercase().starts_with(reserved));
    let fits = is_own && !is_reserved && text.bytes().all(plain);
    matching(
        text,
        fits,
        "a prefix of names: /yuba/<installation>/…, without `/` at the end, not below /aws or /ssm",
    )
}

/// The name of an SSM parameter; `/aws/reference/secretsmanager/<name>` is a secret of Secrets Manager.
#[cfg(any(test, feature = "lambda"))]
pub(crate) fn parameter_name(text: &str) -> Result<String, String> {
    let plain = |letter: u8| letter.is_ascii_alphanumeric() || b"/_.-".contains(&letter);
    let fits = text.starts_with('/') && !text.ends_with('/') && text.bytes().all(plain);
    matching(
        text,
        fits,
        "an SSM parameter's name: /yuba/<installation>/system/…; a secret of Secrets Manager is named /aws/reference/secretsmanager/<name>",
    )
}

/// An IAM policy as a session takes it.
pub(crate) fn policy(text: &str) -> Result<String, String> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(_)) if text.len() <= 2048 => Ok(text.to_owned()),
        Ok(serde_json::Value::Object(_)) => Err("the policy is longer than 2048 characters".to_owned()),
        Ok(_) => Err("the policy is not a JSON object".to_owned()),
        Err(error) => Err(format!("the policy is not JSON ({error})")),
    }
}

/// A URL of HTTP.
pub(crate) fn url(text: &str) -> Result<String, String> {
    let is_url = text.starts_with("https://") || text.starts_with("http://");
    matching(text, is_url && text.len() <= 2048, "a URL of at most 2048 characters: https://…")
}

/// Names with commas between them, at least one.
pub(crate) fn list(text: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    if names.iter().all(|name| !name.is_empty()) {
        Ok(names)
    } else {
        Err(format!("`{text}` has an empty name in it"))
    }
}

/// Any text without spaces and control characters.
pub(crate) fn plain(text: &str) -> Result<String, String> {
    matching(text, text.chars().all(|letter| letter.is_ascii_graphic()), "of printable ASCII without spaces")
}

fn matching(text: &str, fits: bool, expected: &str) -> Result<String, String> {
    if fits { Ok(text.to_owned()) } else { Err(format!("`{text}` is not {expected}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        Variables::new(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let mut variables =
            variables(&[("YUBA_TABLE", "t"), ("YUBA_INSTALLATION", "prod"), ("YUBA_BUCKET", "")]);
        let id = variables.required("YUBA_INSTALLATION", "the installation's id", installation);
        let table = variables.required("YUBA_TABLE", "the name of the table that records lie in", table);
        let bucket = variables.required("YUBA_BUCKET", "the name of the bucket that objects lie in", bucket);
        let settings = id.and_then(|_| Some((table?, bucket?)));
        insta::assert_snapshot!(variables.finish(settings).unwrap_err(), @r"
        settings are missing or malformed:
          YUBA_TABLE is malformed: `t` is not a table's name: 3 to 255 of a-z, A-Z, 0-9, `_`, `.` and `-`; the name of the table that records lie in
          YUBA_BUCKET is not set: the name of the bucket that objects lie in
        ");
    }

    #[test]
    fn malformed_values_are_told_from_good_ones() {
        type Reader = fn(&str) -> bool;
        let readers: [(Reader, &[&str], &[&str]); 7] = [
            (|text| installation(text).is_ok(), &["prod", "a-1"], &["", "Prod", "1a", "a-", "a#b"]),
            (|text| bucket(text).is_ok(), &["yuba-prod"], &["ab", "A-b", "a_b"]),
            (|text| fifo_queue_url(text).is_ok(), &["https://h/1/q.fifo"], &["https://h/1/q", "q.fifo"]),
            (
                |text| name_prefix(text).is_ok(),
                &["/yuba/prod"],
                &["yuba", "/yuba/", "/a//b", "/aws/x", "/a b"],
            ),
            (
                |text| parameter_name(text).is_ok(),
                &["/yuba/prod/system/task-key", "/aws/reference/secretsmanager/key"],
                &["key", "/key/", "/a b", "a secret itself"],
            ),
            (|text| policy(text).is_ok(), &["{}"], &["", "[]", "{"]),
            (|text| list(text).is_ok(), &["a", "a, b"], &["", "a,,b"]),
        ];
        for (fits, good, bad) in readers {
            assert!(good.iter().all(|text| fits(text)), "{good:?}");
            assert!(!bad.iter().any(|text| fits(text)), "{bad:?}");
        }
    }
}
