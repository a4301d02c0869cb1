//! Why a call failed, and how people are told.

use std::error::Error;

use thiserror::Error;

use crate::cloud::CloudError;
use crate::control::Verb;
use crate::plugin::value::ValueError;
use crate::plugin::wire::{AttributePath, Diagnostic, Step};

const SEVERITY_ERROR: i32 = 1;

/// Why a call failed.
#[derive(Debug, Error)]
pub(crate) enum CallError {
    #[error("the provider is not configured")]
    NotConfigured,
    #[error("the provider needs `dir`, or TOY_CLOUD_DIR in the environment: the directory that is the cloud")]
    NoDirectory,
    #[error("the toy cloud refused the token")]
    WrongToken,
    #[error("the toy cloud has no {0}")]
    UnknownType(String),
    #[error("{0} exists already")]
    Exists(String),
    #[error("{0} does not exist")]
    Gone(String),
    #[error("cannot {} {key}: {message}", verb.as_str())]
    Failed { verb: Verb, key: String, message: String },
    #[error("cannot {} {key}: interrupted", verb.as_str())]
    Stopped { verb: Verb, key: String },
    #[error("the file of {id} holds what `{attribute}` cannot be")]
    Misshapen { id: String, attribute: &'static str },
    #[error("`{attribute}` is not valid")]
    Invalid { attribute: &'static str, explanation: String },
    #[error("tofu sent what the provider cannot read")]
    Value(#[from] ValueError),
    #[error("the toy cloud does not answer")]
    Cloud(#[from] CloudError),
}

impl From<CallError> for Diagnostic {
    fn from(error: CallError) -> Self {
        let (attribute, detail) = match &error {
            CallError::Invalid { attribute, explanation } => (Some(path(attribute)), explanation.clone()),
            other => (None, causes(other)),
        };
        Self { severity: SEVERITY_ERROR, summary: error.to_string(), detail, attribute }
    }
}

/// The path of an attribute of a resource.
pub(crate) fn path(attribute: &str) -> AttributePath {
    AttributePath { steps: vec![Step { attribute_name: Some(attribute.to_owned()) }] }
}

fn causes(error: &dyn Error) -> String {
    let chain = std::iter::successors(error.source(), |&error| error.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::{CallError, Diagnostic, Verb};

    #[test]
    fn a_person_is_told_what_failed_and_why() {
        let failed =
            CallError::Failed { verb: Verb::Create, key: "toy_bucket.a".into(), message: "no room".into() };
        insta::assert_snapshot!(failed, @"cannot create toy_bucket.a: no room");
        let stopped = CallError::Stopped { verb: Verb::Delete, key: "toy_bucket.a".into() };
        insta::assert_snapshot!(stopped, @"cannot delete toy_bucket.a: interrupted");
    }

    #[test]
    fn an_invalid_attribute_is_pointed_at() {
        let invalid = CallError::Invalid { attribute: "name", explanation: "too long".into() };
        let diagnostic = Diagnostic::from(invalid);
        assert_eq!(diagnostic.detail, "too long");
        let steps = diagnostic.attribute.expect("a path").steps;
        assert_eq!(steps[0].attribute_name.as_deref(), Some("name"));
    }
}
