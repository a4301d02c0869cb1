//! What a file that should be plan JSON really is, told by its first bytes or its top-level keys.

use std::io::{self, Read};

/// Why a text could not be read as a plan. Each message says what it is instead and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ReadPlanError {
    /// Nothing was there.
    #[error("the plan JSON is empty: did `show -json` fail? Its error stands in its stderr")]
    Empty,
    /// PowerShell's `>` writes UTF-16.
    #[error("this is UTF-16, plan JSON is UTF-8: in PowerShell write it with `| Out-File -Encoding utf8`")]
    Utf16,
    /// The binary plan.
    #[error("this is a plan file, not its JSON: run `show -json` on it")]
    PlanFile,
    /// What hashicorp/setup-terraform puts around the output.
    #[error(
        "these are the log lines of a wrapper around terraform (`[command]…`), not plan JSON: set `terraform_wrapper: false`"
    )]
    Wrapper,
    /// Output of `plan -json`.
    #[error("this is the event stream of `plan -json`: plan with `-out=FILE`, then run `show -json FILE`")]
    EventStream,
    /// `terraform.tfstate`.
    #[error("this is a state file, not plan JSON: plan with `-out=FILE`, then run `show -json FILE`")]
    StateFile,
    /// `show -json` without a plan file.
    #[error("this is `show -json` of a state, not of a plan: name the plan file, `show -json FILE`")]
    StateJson,
    /// JSON of something else.
    #[error(
        "this is JSON, but not of a plan: it has neither `format_version` nor `resource_changes`; run `show -json FILE` on a plan file"
    )]
    OtherJson,
    /// Prose.
    #[error("this is not JSON, it begins with `{0}`: run `show -json FILE` on a plan file")]
    NotJson(String),
    /// A format that is newer, or made up.
    #[error(
        "plan format `{0}` is unknown; formats 0.x and 1.x are read: update Yuba, or use an older engine"
    )]
    UnknownFormat(String),
    /// Broken JSON; the source says where.
    #[error("the plan JSON is damaged; make it anew with `show -json FILE`")]
    Damaged(#[source] serde_json::Error),
    /// The text could not be read.
    #[error("the plan JSON could not be read")]
    Io(#[source] io::Error),
}

/// As many bytes as it takes to know what a file is.
const HEAD: usize = 64;

/// Looks at the first bytes and hands back the whole stream, without a byte order mark.
pub(crate) fn sniff<R: Read>(mut plan: R) -> Result<impl Read, ReadPlanError> {
    let mut head = Vec::with_capacity(HEAD);
    plan.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(ReadPlanError::Io)?;
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    check(text)?;
    let text = text.to_vec();
    Ok(io::Cursor::new(text).chain(plan))
}

fn check(head: &[u8]) -> Result<(), ReadPlanError> {
    let visible = head.trim_ascii_start();
    match visible {
        [] => Err(ReadPlanError::Empty),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{', 0, ..] | [0, b'{', ..] => Err(ReadPlanError::Utf16),
        [b'P', b'K', 3, 4, ..] => Err(ReadPlanError::PlanFile),
        [b'{', ..] => Ok(()),
        _ if visible.starts_with(b"[command]") => Err(ReadPlanError::Wrapper),
        _ => Err(ReadPlanError::NotJson(beginning(visible))),
    }
}

fn beginning(bytes: &[u8]) -> String {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    String::from_utf8_lossy(line).chars().take(20).filter(|letter| !letter.is_control()).collect()
}

/// Which of the telling top-level keys were seen.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    plan: bool,
    state: bool,
    state_file: bool,
    events: bool,
}

impl Keys {
    /// Notes a top-level key.
    pub(crate) fn note(&mut self, key: &str) {
        match key {
            "resource_changes" | "planned_values" | "output_changes" | "configuration" | "resource_drift" => {
                self.plan = true;
            }
            "values" => self.state = true,
            "lineage" => self.state_file = true,
            "@level" | "@message" => self.events = true,
            _ => {}
        }
    }

    /// Whether a text with these keys and this `format_version` is a plan that can be read.
    pub(crate) fn judge(&self, format_version: Option<&str>) -> Result<(), ReadPlanError> {
        match format_version {
            _ if self.events => Err(ReadPlanError::EventStream),
            _ if self.state_file => Err(ReadPlanError::StateFile),
            Some(_) if self.state && !self.plan => Err(ReadPlanError::StateJson),
            Some(version) if !version.starts_with("0.") && !version.starts_with("1.") => {
                Err(ReadPlanError::UnknownFormat(version.to_owned()))
            }
            Some(_) if self.plan => Ok(()),
            _ => Err(ReadPlanError::OtherJson),
        }
    }

    /// Explains a JSON error: an event stream is an object followed by more.
    pub(crate) fn explain(&self, error: serde_json::Error) -> ReadPlanError {
        match error.io_error_kind() {
            Some(_) => ReadPlanError::Io(error.into()),
            None if self.events => ReadPlanError::EventStream,
            None => ReadPlanError::Damaged(error),
        }
    }
}
