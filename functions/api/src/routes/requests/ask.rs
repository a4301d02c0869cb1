//! From verbs, bodies and patches to what is asked for: pure.

use std::str::FromStr;

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;
use yuba_core::id::PlanId;
use yuba_core::request::{Adoption, Ask};

use crate::extract::run_id;
use crate::problem::Problem;
use crate::wire::AskBody;

/// What can be asked of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verb {
    Approve,
    Reject,
    Reconcile,
    Replan,
    DriftCheck,
    Suspend,
    Resume,
    Destroy,
    Cancel,
    Adopt,
    Unlock,
    Recover,
}

const VERBS: &str = "approve, reject, reconcile, replan, drift-check, suspend, resume, destroy, cancel, adopt, \
    unlock, recover";

impl FromStr for Verb {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        serde_json::from_value(Value::String(text.to_owned())).map_err(|_| {
            Problem::not_found(format!("`{text}` is nothing that can be asked of a stack"))
                .with_help(format!("ask for one of {VERBS}"))
        })
    }
}

impl Verb {
    /// What is asked for, with what the body says.
    pub(crate) fn ask(self, body: &AskBody) -> Result<Ask, Problem> {
        self.refuse_foreign_fields(body)?;
        let run = body.run.as_deref().map(run_id).transpose()?;
        Ok(match self {
            Self::Approve => approve(body.plan.as_deref())?,
            Self::Reject => Ask::Reject,
            Self::Reconcile => Ask::Reconcile,
            Self::Replan => Ask::Replan,
            Self::DriftCheck => Ask::CheckDrift,
            Self::Suspend => Ask::Suspend,
            Self::Resume => Ask::Resume,
            Self::Destroy => Ask::Destroy,
            Self::Cancel => Ask::Cancel { run },
            Self::Adopt => adopt(body.state_file.as_deref())?,
            Self::Unlock => Ask::Unlock { lock: needed(body.lock.as_ref(), "lock")? },
            Self::Recover => Ask::Recover { run: needed(run.as_ref(), "run")? },
        })
    }

    /// A field that says nothing about this verb is a mistake that must not pass in silence.
    fn refuse_foreign_fields(self, body: &AskBody) -> Result<(), Problem> {
        let fields = [
            ("plan", body.plan.is_some(), self == Self::Approve),
            ("lock", body.lock.is_some(), self == Self::Unlock),
            ("run", body.run.is_some(), matches!(self, Self::Cancel | Self::Recover)),
            ("state_file", body.state_file.is_some(), self == Self::Adopt),
            ("from_stack", body.from_stack.is_some(), self == Self::Adopt && body.state_file.is_none()),
        ];
        match fields.iter().find(|(_, given, fits)| *given && !fits) {
            Some((field, ..)) => {
                Err(Problem::unprocessable(format!("body: `{field}` says nothing about this verb")))
            }
            None => Ok(()),
        }
    }
}

fn needed<T: Clone>(value: Option<&T>, field: &str) -> Result<T, Problem> {
    value.cloned().ok_or_else(|| Problem::unprocessable(format!("body: `{field}` is missing")))
}

fn approve(plan: Option<&str>) -> Result<Ask, Problem> {
    let Some(text) = plan else { return Ok(Ask::Approve { plan: None, digest: None }) };
    let (id, digest) = match text.split_once('@') {
        Some((id, digest)) => (id, Some(digest.to_owned())),
        None => (text, None),
    };
    let plan: PlanId = id.parse().map_err(|error| Problem::unprocessable(format!("plan: {error}")))?;
    Ok(Ask::Approve { plan: Some(plan), digest })
}

/// A state file must at least be a state: JSON with a `version` and a `lineage`.
fn adopt(state_file: Option<&str>) -> Result<Ask, Problem> {
    let Some(text) = state_file else { return Ok(Ask::Adopt(Adoption::New)) };
    let state: Value = serde_json::from_str(text)
        .map_err(|error| Problem::unprocessable(format!("state_file: not JSON: {error}")))?;
    if state.get("version").is_none_or(|version| !version.is_u64()) || state.get("lineage").is_none() {
        return Err(Problem::unprocessable(
            "state_file: JSON, but no state: `version` or `lineage` is missing",
        )
        .with_help("`terraform state pull` or `tofu state pull` writes one"));
    }
    Ok(Ask::Adopt(Adoption::Imported))
}

/// What a merge patch asks for. Only approvePlan with a plan id, and suspend: the rest belongs in Git.
pub(crate) fn patched(patch: &Value) -> Result<Ask, Problem> {
    let foreign = |field: &str| {
        Problem::unprocessable(format!("`{field}` cannot be patched"))
            .with_help("only `spec.approvePlan` and `spec.suspend` can; the rest belongs in Git: change the manifest there")
    };
    let only = |value: &Value, allowed: &[&str], prefix: &str| match value.as_object() {
        Some(fields) => match fields.keys().find(|key| !allowed.contains(&key.as_str())) {
            Some(key) => Err(foreign(&format!("{prefix}{key}"))),
            None => Ok(()),
        },
        None => Err(Problem::unprocessable(format!("`{prefix}` must be an object"))),
    };
    only(patch, &["spec"], "")?;
    let spec = patch.get("spec").ok_or_else(|| Problem::unprocessable("the patch has no `spec`"))?;
    only(spec, &["approvePlan", "suspend"], "spec.")?;
    match (spec.get("approvePlan"), spec.get("suspend")) {
        (Some(Value::String(plan)), None) if plan.starts_with("plan-") => approve(Some(plan)),
        (Some(_), None) => Err(Problem::unprocessable("`spec.approvePlan` can be patched to a plan id only")
            .with_help("`auto`, `manual` and `disable` belong in Git: change the manifest there")),
        (None, Some(Value::Bool(true))) => Ok(Ask::Suspend),
        (None, Some(Value::Bool(false) | Value::Null)) => Ok(Ask::Resume),
        (None, Some(_)) => Err(Problem::unprocessable("`spec.suspend` is true or false")),
        (Some(_), Some(_)) => Err(Problem::unprocessable("patch `approvePlan` and `suspend` one at a time")),
        (None, None) => Err(Problem::unprocessable("the patch changes nothing")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn detail(result: Result<Ask, Problem>) -> String {
        match result {
            Err(Problem::Told { detail, help, .. }) => format!("{detail}; {}", help.unwrap_or_default()),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_patch_approves_suspends_or_is_refused() {
        let approved = patched(&json!({"spec": {"approvePlan": "plan-main-0123456789"}})).unwrap();
        let plan = "plan-main-0123456789".parse().ok();
        assert_eq!(approved, Ask::Approve { plan, digest: None });
        assert_eq!(patched(&json!({"spec": {"suspend": true}})).unwrap(), Ask::Suspend);
        assert_eq!(patched(&json!({"spec": {"suspend": false}})).unwrap(), Ask::Resume);
        insta::assert_snapshot!(detail(patched(&json!({"spec": {"interval": "1m"}}))), @"`spec.interval` cannot be patched; only `spec.approvePlan` and `spec.suspend` can; the rest belongs in Git: change the manifest there");
        insta::assert_snapshot!(detail(patched(&json!({"spec": {"approvePlan": "auto"}}))), @"`spec.approvePlan` can be patched to a plan id only; `auto`, `manual` and `disable` belong in Git: change the manifest there");
        insta::assert_snapshot!(detail(patched(&json!({"metadata": {}}))), @"`metadata` cannot be patched; only `spec.approvePlan` and `spec.suspend` can; the rest belongs in Git: change the manifest there");
    }

    #[test]
    fn a_plan_may_carry_a_digest() {
        let body =
            AskBody { plan: Some("plan-main-0123456789@aabbccddeeff".to_owned()), ..AskBody::default() };
        let plan = "plan-main-0123456789".parse().ok();
        assert_eq!(
            Verb::Approve.ask(&body).unwrap(),
            Ask::Approve { plan, digest: Some("aabbccddeeff".to_owned()) }
        );
        insta::assert_snapshot!(detail(Verb::Reject.ask(&body)), @"body: `plan` says nothing about this verb; ");
    }

    #[test]
    fn only_a_state_is_adopted() {
        let adopt = |text: &str| {
            Verb::Adopt.ask(&AskBody { state_file: Some(text.to_owned()), ..AskBody::default() })
        };
        assert_eq!(adopt(r#"{"version":4,"lineage":"x"}"#).unwrap(), Ask::Adopt(Adoption::Imported));
        insta::assert_snapshot!(detail(adopt("{}")), @"state_file: JSON, but no state: `version` or `lineage` is missing; `terraform state pull` or `tofu state pull` writes one");
        assert_eq!(Verb::Adopt.ask(&AskBody::default()).unwrap(), Ask::Adopt(Adoption::New));
    }
}
