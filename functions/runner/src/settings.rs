//! The settings of `yuba runner`, read once from the environment; all problems are reported together.

use std::collections::BTreeMap;
use std::path::PathBuf;

use secrecy::SecretString;
use yuba_core::id::AttemptId;
use yuba_core::task::environment as names;

use crate::engine::descendants::Processes;
use crate::objects::OpenBucket;

/// What the launcher handed over.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Where `tasks` is reached.
    pub(crate) address: Address,
    /// The single-use token.
    pub(crate) token: SecretString,
    /// The attempt.
    pub(crate) attempt: AttemptId,
    /// A directory that the task may use.
    pub(crate) work: PathBuf,
    /// What this process runs beside the attempt.
    pub(crate) processes: Processes,
    /// The environment that engines inherit.
    pub(crate) ambient: BTreeMap<String, String>,
    /// How a bucket is opened, where this runner opens one.
    pub(crate) buckets: Option<OpenBucket>,
}

/// Where `tasks` is reached.
#[derive(Debug, Clone)]
pub(crate) enum Address {
    /// At this URL.
    Fixed(String),
    /// At the URL that this file holds when a request is sent.
    File(PathBuf),
}

/// Settings that are missing or wrong.
#[derive(Debug, thiserror::Error)]
#[error("the runner cannot start: {}", .problems.join("; "))]
pub(crate) struct SettingsError {
    problems: Vec<String>,
}

/// Names and beginnings of names that an engine does not inherit: Yuba's own, and what would change a plan without
/// being an input of it.
const NOT_INHERITED: [&str; 8] = [
    "YUBA_",
    "TF_CLI_ARGS",
    "TF_DATA_DIR",
    "TF_INPUT",
    "TF_LOG",
    "TF_PLUGIN_CACHE_DIR",
    "TF_VAR_",
    "TF_WORKSPACE",
];

impl Settings {
    /// Reads the settings.
    pub(crate) fn read(
        environment: &BTreeMap<String, String>,
        processes: Processes,
        buckets: Option<OpenBucket>,
    ) -> Result<Self, SettingsError> {
        let mut problems = Vec::new();
        let mut get = |name: &str| {
            let found = environment.get(name).filter(|value| !value.is_empty()).cloned();
            if found.is_none() {
                problems.push(format!("{name} is not set"));
            }
            found.unwrap_or_default()
        };
        let (token, attempt, work) = (get(names::TOKEN), get(names::ATTEMPT), get(names::WORK));
        let file = environment.get(names::URL_FILE).filter(|path| !path.is_empty());
        let address = match file {
            Some(path) => Address::File(path.into()),
            None => Address::Fixed(get(names::URL)),
        };
        let attempt = attempt.parse::<AttemptId>().map_err(|error| {
            if !attempt.is_empty() {
                problems.push(format!("{}: {error}", names::ATTEMPT));
            }
        });
        match attempt {
            Ok(attempt) if problems.is_empty() => {
                let ambient = inherited(environment);
                Ok(Self {
                    address,
                    token: token.into(),
                    attempt,
                    work: work.into(),
                    processes,
                    ambient,
                    buckets,
                })
            }
            _ => Err(SettingsError { problems }),
        }
    }
}

fn inherited(environment: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let kept = |name: &str| !NOT_INHERITED.iter().any(|refused| name.starts_with(refused));
    environment
        .iter()
        .filter(|(name, _)| kept(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn all_problems_are_reported_together() {
        let error =
            Settings::read(&environment(&[("YUBA_ATTEMPT", "x")]), Processes::Shared, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the runner cannot start: YUBA_TASK_TOKEN is not set; YUBA_WORK is not set; YUBA_TASKS_URL is not set; \
             YUBA_ATTEMPT: `x` is not an attempt id of the form `<run>-plan-1`"
        );
    }

    #[test]
    fn an_engine_inherits_neither_secrets_of_yuba_nor_hidden_inputs() {
        let all = environment(&[
            ("PATH", "/bin"),
            ("YUBA_TASK_TOKEN", "t"),
            ("TF_CLI_ARGS_plan", "-target=x"),
            ("TF_VAR_a", "1"),
            ("TF_CLI_CONFIG_FILE", "/c"),
        ]);
        let kept: Vec<String> = inherited(&all).into_keys().collect();
        assert_eq!(kept, ["PATH", "TF_CLI_CONFIG_FILE"]);
    }
}
