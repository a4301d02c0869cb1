//! The settings of `yuba runner`, read once from the environment; all problems are reported together.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;
use yuba_core::id::AttemptId;
use yuba_core::task::{Isolation, environment as names};
use yuba_core::time::Span;

use crate::engine::command::PATIENCE;
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
    /// Whether the engine runs as another user.
    pub(crate) isolation: Isolation,
    /// How long an interrupted engine may take to save its state before it is killed.
    pub(crate) patience: Duration,
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

/// Names and beginnings of names that an isolated engine inherits: what says where things are, and no more. All else that it
/// gets comes with the claim.
const INHERITED_APART: [&str; 18] = [
    "PATH",
    "LANG",
    "LC_",
    "TZ",
    "SSL_CERT_",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_CA_BUNDLE",
    "AWS_USE_",
    "TF_CLI_CONFIG_FILE",
    "TF_REGISTRY_",
    "TF_TOKEN_",
];

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
        let isolation = isolation(environment, buckets).map_err(|problem| problems.push(problem));
        let patience = patience(environment).map_err(|problem| problems.push(problem));
        let attempt = attempt.parse::<AttemptId>().map_err(|error| {
            if !attempt.is_empty() {
                problems.push(format!("{}: {error}", names::ATTEMPT));
            }
        });
        match (attempt, isolation, patience) {
            (Ok(attempt), Ok(isolation), Ok(patience)) if problems.is_empty() => {
                let ambient = inherited(environment);
                Ok(Self {
                    address,
                    token: token.into(),
                    attempt,
                    work: work.into(),
                    processes,
                    ambient,
                    buckets,
                    isolation,
                    patience,
                })
            }
            _ => Err(SettingsError { problems }),
        }
    }
}

fn patience(environment: &BTreeMap<String, String>) -> Result<Duration, String> {
    match environment.get(names::KILL_AFTER).filter(|text| !text.is_empty()) {
        None => Ok(PATIENCE),
        Some(text) => {
            let span = text.parse::<Span>().map_err(|error| format!("{}: {error}", names::KILL_AFTER))?;
            Ok(span.to_std())
        }
    }
}

fn inherited(environment: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut kept = environment.clone();
    kept.retain(|name, _| !NOT_INHERITED.iter().any(|refused| name.starts_with(refused)));
    kept
}

/// Leaves of what an engine inherits what an isolated one does.
pub(crate) fn inherited_apart(mut ambient: BTreeMap<String, String>) -> BTreeMap<String, String> {
    ambient.retain(|name, _| INHERITED_APART.iter().any(|kept| name.starts_with(kept)));
    ambient
}

/// Who opens a bucket has credentials of its own to keep, and isolates always.
fn isolation(
    environment: &BTreeMap<String, String>,
    buckets: Option<OpenBucket>,
) -> Result<Isolation, String> {
    match (environment.get(names::ISOLATION).map(String::as_str), buckets) {
        (None | Some(""), None) => Ok(Isolation::WhereRoot),
        (None | Some(""), Some(_)) => Ok(Isolation::Always),
        (Some("never"), None) => Ok(Isolation::Never),
        (Some("never"), Some(_)) => Err(format!("{}: never is for `yuba serve` alone", names::ISOLATION)),
        (Some(other), _) => Err(format!("{}: `{other}` is not `never`", names::ISOLATION)),
    }
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
    fn an_isolated_engine_inherits_nothing_of_the_tasks_own_rights() {
        let all = environment(&[
            ("PATH", "/bin"),
            ("AWS_REGION", "eu-1"),
            ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/x"),
            ("AWS_ACCESS_KEY_ID", "x"),
            ("ECS_CONTAINER_METADATA_URI_V4", "http://169.254.170.2/v4/x"),
            ("HOME", "/root"),
            ("YUBA_TASK_TOKEN", "t"),
        ]);
        let kept: Vec<String> = inherited_apart(inherited(&all)).into_keys().collect();
        assert_eq!(kept, ["AWS_REGION", "PATH"]);
    }

    #[test]
    fn isolation_is_given_up_by_name_alone_and_never_beside_a_bucket() {
        let bucket: OpenBucket = |_| panic!("nothing is opened");
        let said = |value: &str, buckets| isolation(&environment(&[("YUBA_ISOLATION", value)]), buckets);
        assert_eq!(said("", None), Ok(Isolation::WhereRoot));
        assert_eq!(said("never", None), Ok(Isolation::Never));
        assert_eq!(said("", Some(bucket)), Ok(Isolation::Always));
        assert_eq!(
            said("never", Some(bucket)).unwrap_err(),
            "YUBA_ISOLATION: never is for `yuba serve` alone"
        );
        assert_eq!(said("no", None).unwrap_err(), "YUBA_ISOLATION: `no` is not `never`");
    }

    #[test]
    fn an_interrupted_engine_has_15_minutes_unless_something_else_is_said() {
        let said = |text: &str| patience(&environment(&[("YUBA_KILL_AFTER", text)]));
        assert_eq!(patience(&environment(&[])), Ok(Duration::from_mins(15)));
        assert_eq!(said("90s"), Ok(Duration::from_secs(90)));
        assert!(said("soon").unwrap_err().starts_with("YUBA_KILL_AFTER: "));
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
