//! What data sources answer.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::StandInError;
use crate::plugin::value::{Object, Value};

/// `answers.json`: by type, attributes and their values.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Answers(BTreeMap<String, serde_json::Value>);

impl Answers {
    /// The attributes that a data source of the type has.
    pub(super) fn to(&self, type_name: &str) -> Result<Object, StandInError> {
        let answer = self.0.get(type_name).cloned().map(Value::from).and_then(Value::into_object);
        answer.ok_or_else(|| StandInError::UnknownType(format!("answer for data source {type_name}")))
    }
}
