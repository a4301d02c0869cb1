//! Diagnostics become a failure: its class says what may mend it.

use yuba_core::plan::lock;
use yuba_core::plan::stream::Diagnostic;
use yuba_core::run::FailureClass;

use crate::ended::{Ended, Step};
use crate::engine::Exit;

/// Parts of errors that only different rights mend.
const DENIED: [&str; 17] = [
    "accessdenied",
    "access denied",
    "unauthorized",
    "not authorized",
    "forbidden",
    "statuscode: 401",
    "statuscode: 403",
    "status code: 401",
    "status code: 403",
    "invalidclienttokenid",
    "no valid credential sources",
    "could not find default credentials",
    "expiredtoken",
    "authentication failed",
    "authorizationfailed",
    "state endpoint requires auth",
    "state endpoint invalid auth",
];

/// Parts of errors that time mends, whatever else they say.
const TRANSIENT: [(&str, &str); 15] = [
    ("no space left on device", "the disk is full: "),
    ("disk quota exceeded", "the disk is full: "),
    ("connection refused", ""),
    ("connection reset", ""),
    ("no such host", ""),
    ("i/o timeout", ""),
    ("tls handshake timeout", ""),
    ("context deadline exceeded", ""),
    ("client.timeout exceeded", ""),
    ("temporary failure in name resolution", ""),
    ("could not connect to registry", ""),
    ("too many requests", ""),
    ("plugin did not respond", "a provider crashed: "),
    ("text file busy", ""),
    ("service unavailable", ""),
];

/// Parts of errors of `state push` and `force-unlock` that say that the backend holds something else.
const REFUSED: [&str; 3] =
    ["cannot import state with", "cannot overwrite existing state with", "failed to unlock state"];

/// How `init` of both engines begins before it says what is wrong.
const PREAMBLE: &str = "encountered problems during initiali";

/// Summaries that say that the code, a variable or a constraint is wrong.
const CONFIGURATION: [&str; 34] = [
    "unsupported",
    "invalid",
    "argument or block definition required",
    "missing required",
    "missing resource",
    "missing item separator",
    "missing newline",
    "missing key/value",
    "missing name for",
    "unclosed",
    "unterminated",
    "extraneous",
    "duplicate",
    "reference to undeclared",
    "no value for required variable",
    "value for undeclared variable",
    "module not found",
    "module not installed",
    "unreadable module directory",
    "failed to download module",
    "module version requirements",
    "failed to query available provider packages",
    "incompatible provider version",
    "unsuitable",
    "cycle",
    "conflicting",
    "error in function call",
    "incorrect attribute value type",
    "unknown variable",
    "failed to read variables file",
    "given variables file",
    "inconsistent dependency lock file",
    "instance cannot be destroyed",
    "resource precondition failed",
];

/// What went wrong, from what the engine said.
pub(crate) fn failure(diagnostics: &[Diagnostic], exit: &Exit, doing: &str) -> Ended {
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|diagnostic| diagnostic.is_error).collect();
    let telling = errors.iter().find(|error| !error.summary.contains(PREAMBLE));
    let Some(first) = telling.or(errors.first()) else {
        return silent(exit, doing);
    };
    let detail: Vec<String> = errors.iter().map(|diagnostic| diagnostic.text()).collect();
    let detail = detail.join("\n");
    if let Some(held) = lock::held(&detail) {
        let message = format!(
            "the state is locked by {} for {} since {} (lock {})",
            held.who,
            held.operation,
            held.since(),
            held.id
        );
        return Ended::failed(FailureClass::Locked, message).with_detail(&detail).with_lock(Some(held));
    }
    let (class, note) = classify(&first.summary, &detail);
    Ended::failed(class, format!("{note}{}", first.one_line())).with_detail(&detail)
}

/// A success, or the failure that the engine described.
pub(crate) fn check(exit: &Exit, diagnostics: &[Diagnostic], doing: &str) -> Step<()> {
    if exit.code == Some(0) { Ok(()) } else { Err(failure(diagnostics, exit, doing)) }
}

/// What may mend an error, and what is to be said before it.
fn classify(summary: &str, all: &str) -> (FailureClass, &'static str) {
    let all = all.to_lowercase();
    let summary = summary.to_lowercase();
    if summary.contains("saved plan is stale") {
        return (FailureClass::StalePlan, "");
    }
    if let Some((_, note)) = TRANSIENT.iter().find(|(part, _)| all.contains(part)) {
        return (FailureClass::Transient, note);
    }
    if DENIED.iter().any(|part| all.contains(part)) {
        return (FailureClass::AccessDenied, "");
    }
    if REFUSED.iter().any(|part| all.contains(part)) {
        return (FailureClass::Refused, "");
    }
    if CONFIGURATION.iter().any(|start| summary.starts_with(start)) {
        return (FailureClass::Configuration, "");
    }
    (FailureClass::Transient, "")
}

/// The engine failed without a word that could be read.
fn silent(exit: &Exit, doing: &str) -> Ended {
    let how = match exit.code {
        Some(code) => format!("exit code {code}"),
        None => "a signal".to_owned(),
    };
    let (class, note) = classify("", &exit.stderr);
    let said = exit.stderr.lines().map(str::trim).find(|line| !line.is_empty());
    let said = said.map_or_else(String::new, |line| format!(": {line}"));
    Ended::failed(class, format!("{note}`{doing}` ended with {how}{said}")).with_detail(&exit.stderr)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class_of(summary: &str, detail: &str) -> FailureClass {
        let diagnostic = Diagnostic {
            is_error: true,
            summary: summary.to_owned(),
            detail: detail.to_owned(),
            ..Diagnostic::default()
        };
        let exit = Exit { code: Some(1), stderr: String::new() };
        match failure(&[diagnostic], &exit, "plan") {
            Ended::Failed(failure) => failure.class,
            Ended::Interrupted => panic!("a failure is no interruption"),
        }
    }

    #[test]
    fn failures_are_told_apart_by_what_mends_them() {
        use FailureClass::{AccessDenied, Configuration, Locked, StalePlan, Transient};
        for (summary, detail, class) in [
            ("Unsupported argument", "An argument named \"x\" is not expected here.", Configuration),
            (
                "No value for required variable",
                "The root module input variable \"a\" is not set",
                Configuration,
            ),
            ("creating S3 Bucket", "operation error S3: StatusCode: 403, AccessDenied", AccessDenied),
            ("Failed to query available provider packages", "dial tcp: i/o timeout", Transient),
            ("Failed to query available provider packages", "no available releases match 9.9", Configuration),
            ("Saved plan is stale", "The given plan file can no longer be applied", StalePlan),
            ("Error acquiring the state lock", "Lock Info:\n  ID:        1-2\n  Who:       a@b\n", Locked),
            ("Plugin did not respond", "The plugin encountered an error", Transient),
            ("creating toy_bucket", "quota", Transient),
        ] {
            assert_eq!(class_of(summary, detail), class, "{summary}");
        }
    }

    fn said_of(stderr: &str, doing: &str) -> String {
        match failure(&[], &Exit { code: Some(1), stderr: stderr.to_owned() }, doing) {
            Ended::Failed(failure) => format!("{:?} {}", failure.class, failure.message),
            Ended::Interrupted => panic!("it failed"),
        }
    }

    #[test]
    fn an_engine_that_ends_without_an_error_block_is_quoted() {
        assert_eq!(
            said_of("\nFailed to unlock state: lock id does not match\n", "unlock"),
            "Refused `unlock` ended with exit code 1: Failed to unlock state: lock id does not match"
        );
        assert_eq!(
            said_of("Failed to unlock state: dial tcp 10.0.0.1:443: connection refused\n", "unlock"),
            "Transient `unlock` ended with exit code 1: Failed to unlock state: dial tcp 10.0.0.1:443: connection refused"
        );
        assert_eq!(
            said_of(
                "Failed to write state: cannot import state with serial 1 over newer state with serial 3\n",
                "push"
            ),
            "Refused `push` ended with exit code 1: Failed to write state: cannot import state with serial 1 over newer state with serial 3"
        );
        assert_eq!(
            said_of("write /x: no space left on device", "init"),
            "Transient the disk is full: `init` ended with exit code 1: write /x: no space left on device"
        );
    }
}
