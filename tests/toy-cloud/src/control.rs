//! `control.json`: how the cloud is to misbehave, edited by tests while tofu runs, read anew by each call.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Makes a resource.
    Create,
    /// Looks at a resource, for refresh, import and data sources.
    Read,
    /// Changes a resource in place.
    Update,
    /// Removes a resource.
    Delete,
    /// Plans a change of a resource.
    Plan,
}

impl Verb {
    /// As written in `control.json` and in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Plan => "plan",
        }
    }

    /// Whether the call changes the cloud, and so stands in the journal.
    pub fn mutates(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Delete)
    }
}

/// What resources a setting is for: `toy_bucket.logs` (type and `name` attribute), `toy_bucket.*` or `*`.
/// A data source is `data.toy_network.main`. The most exact key counts.
type PerResource<T> = BTreeMap<Verb, BTreeMap<String, T>>;

/// The content of `control.json`. Unknown fields are errors, so that a typing mistake does not make a test pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Control {
    /// Milliseconds that every call of a verb takes.
    pub latency_ms: BTreeMap<Verb, u64>,
    /// Milliseconds that calls for some resources take; counts before `latency_ms`.
    pub slow: PerResource<u64>,
    /// Calls that wait until they are no longer named here: what a test needs to act in the middle of an apply.
    pub hold: BTreeMap<Verb, BTreeSet<String>>,
    /// Calls that fail before anything is changed, with the message.
    pub fail: PerResource<String>,
    /// How often a call of `fail` fails before it works again (counted in the journal); always if not given.
    pub fail_times: PerResource<u32>,
    /// Calls that fail after the change was made, with the message: a create leaves a tainted resource.
    pub fail_after: PerResource<String>,
    /// Calls in flight go on when tofu is interrupted, as some real providers do.
    pub ignore_stop: bool,
    /// The token that the provider must be configured with (`token`, or `TOY_CLOUD_TOKEN`); any if not given.
    pub token: Option<String>,
}

impl Control {
    /// Milliseconds that a call takes, if this file says so.
    pub fn latency(&self, verb: Verb, key: &str) -> Option<u64> {
        most_exact(&self.slow, verb, key).or(self.latency_ms.get(&verb)).copied()
    }

    /// Whether a call has to wait.
    pub fn holds(&self, verb: Verb, key: &str) -> bool {
        self.hold.get(&verb).is_some_and(|keys| widenings(key).iter().any(|key| keys.contains(key)))
    }

    /// The message with which a call fails that failed `before` times.
    pub fn failure(&self, verb: Verb, key: &str, before: u32) -> Option<&str> {
        let message = most_exact(&self.fail, verb, key)?;
        let worn_out = most_exact(&self.fail_times, verb, key).is_some_and(|times| before >= *times);
        (!worn_out).then_some(message.as_str())
    }

    /// The message with which a call fails after it made its change.
    pub fn late_failure(&self, verb: Verb, key: &str) -> Option<&str> {
        most_exact(&self.fail_after, verb, key).map(String::as_str)
    }
}

fn most_exact<'a, T>(settings: &'a PerResource<T>, verb: Verb, key: &str) -> Option<&'a T> {
    let keys = settings.get(&verb)?;
    widenings(key).iter().find_map(|key| keys.get(key))
}

/// `a.b` → `a.b`, `a.*`, `*`.
fn widenings(key: &str) -> [String; 3] {
    let kind = key.rsplit_once('.').map_or(key, |(kind, _)| kind);
    [key.to_owned(), format!("{kind}.*"), "*".to_owned()]
}

#[cfg(test)]
mod tests {
    use super::{Control, Verb};

    fn control(json: &str) -> Control {
        serde_json::from_str(json).expect("a control file")
    }

    #[test]
    fn the_most_exact_key_counts() {
        let control = control(
            r#"{"latency_ms": {"create": 1}, "slow": {"create": {"toy_bucket.*": 2, "toy_bucket.a": 3}}}"#,
        );
        assert_eq!(control.latency(Verb::Create, "toy_bucket.a"), Some(3));
        assert_eq!(control.latency(Verb::Create, "toy_bucket.b"), Some(2));
        assert_eq!(control.latency(Verb::Create, "toy_network.a"), Some(1));
        assert_eq!(control.latency(Verb::Delete, "toy_bucket.a"), None);
    }

    #[test]
    fn a_failure_wears_out_after_its_times() {
        let control = control(
            r#"{"fail": {"update": {"toy_bucket.a": "no"}}, "fail_times": {"update": {"toy_bucket.a": 2}}}"#,
        );
        assert_eq!(control.failure(Verb::Update, "toy_bucket.a", 1), Some("no"));
        assert_eq!(control.failure(Verb::Update, "toy_bucket.a", 2), None);
        assert_eq!(control.failure(Verb::Update, "toy_bucket.b", 0), None);
    }

    #[test]
    fn a_hold_may_name_everything() {
        let control = control(r#"{"hold": {"delete": ["*"]}}"#);
        assert!(control.holds(Verb::Delete, "data.toy_network.a"));
        assert!(!control.holds(Verb::Create, "toy_network.a"));
    }

    #[test]
    fn a_typing_mistake_is_an_error() {
        let error = serde_json::from_str::<Control>(r#"{"latency": {}}"#).expect_err("unknown field");
        assert!(error.to_string().starts_with("unknown field `latency`"), "{error}");
    }
}
