//! Label selectors as kubectl has them, equality only.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::id::InvalidId;

/// Demands on labels: `key=value`, `key!=value` or `key`, several with commas between. None at all takes everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Selector(Vec<(String, Demand)>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Demand {
    Is(String),
    IsNot(String),
    Exists,
}

impl Selector {
    /// Whether it demands nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether labels meet every demand.
    pub fn takes(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|(key, demand)| match demand {
            Demand::Is(value) => labels.get(key) == Some(value),
            Demand::IsNot(value) => labels.get(key) != Some(value),
            Demand::Exists => labels.contains_key(key),
        })
    }
}

impl FromStr for Selector {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let demands: Vec<(String, Demand)> = parts.map(demand).collect();
        match demands.iter().find(|(key, _)| key.is_empty() || key.contains(['=', '!', ' '])) {
            Some(_) => Err(InvalidId {
                found: text.to_owned(),
                expected: "a label selector: `key=value`, `key!=value` or `key`, several with commas between",
            }),
            None => Ok(Self(demands)),
        }
    }
}

impl TryFrom<String> for Selector {
    type Error = InvalidId;
    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<Selector> for String {
    fn from(selector: Selector) -> Self {
        selector.to_string()
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, demand)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match demand {
                Demand::Is(value) => write!(formatter, "{comma}{key}={value}")?,
                Demand::IsNot(value) => write!(formatter, "{comma}{key}!={value}")?,
                Demand::Exists => write!(formatter, "{comma}{key}")?,
            }
        }
        Ok(())
    }
}

fn demand(part: &str) -> (String, Demand) {
    if let Some((key, value)) = part.split_once("!=") {
        return (key.to_owned(), Demand::IsNot(value.to_owned()));
    }
    match part.split_once('=') {
        Some((key, value)) => (key.to_owned(), Demand::Is(value.trim_start_matches('=').to_owned())),
        None => (part.to_owned(), Demand::Exists),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_meet_all_demands_or_are_not_taken() {
        let labels = BTreeMap::from([("env".to_owned(), "prod".to_owned())]);
        for (text, taken) in [
            ("", true),
            ("env=prod", true),
            ("env==prod", true),
            ("env=test", false),
            ("env!=test", true),
            ("env", true),
            ("team", false),
            ("env=prod, team=net", false),
        ] {
            let selector: Selector = text.parse().unwrap();
            assert_eq!(selector.takes(&labels), taken, "{text}");
            assert_eq!(selector.to_string().parse::<Selector>().unwrap(), selector, "{text}");
        }
        assert!("=x".parse::<Selector>().is_err() && "a b=c".parse::<Selector>().is_err());
    }
}
