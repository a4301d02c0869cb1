//! What a task is to do: everything the runner needs but credentials and secret values, which come with the claim.

use serde::{Deserialize, Serialize};

use crate::id::{AttemptId, ContentDigest, FileDigest, Revision, StackId, StackName, TreeId};
use crate::run::RunKind;
use crate::spec::StackSpec;
use crate::time::Span;

/// The work of one attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Of the wire form; now 1.
    pub schema: u32,
    /// The attempt.
    pub attempt: AttemptId,
    /// The stack.
    pub stack: StackId,
    /// Under which stack's id the installation keeps the state, where nobody names a backend; left out, under its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_kept_as: Option<StackId>,
    /// Its name, for logs and session names.
    pub name: StackName,
    /// The run's kind: drift checks plan with `-lock=false`.
    pub kind: RunKind,
    /// The revision.
    pub revision: Revision,
    /// Names the artifact.
    pub tree: TreeId,
    /// The stack's settings.
    pub spec: StackSpec,
    /// Bounds the phase; past it the engine is interrupted.
    pub timeout: Span,
    /// For an apply: which plan.
    pub plan: Option<PlanToApply>,
    /// What is to be done to the backend before the plan, in this order.
    #[serde(default, rename = "before_plan", with = "stored_before_plan")]
    pub backend_first: Vec<BeforePlan>,
    /// Whether the state of a stack without a named backend has been settled; until then an empty one is reported.
    pub adopted: bool,
}

/// Which plan an apply applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanToApply {
    /// The attempt that made it, and under whose name it lies.
    pub attempt: AttemptId,
    /// What its file must hash to.
    pub file: FileDigest,
    /// What was approved.
    pub content: ContentDigest,
}

/// What somebody asked to be done to the backend before the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BeforePlan {
    /// Release the lock of this id.
    Unlock(String),
    /// Push the `errored.tfstate` that this attempt stored.
    PushState(AttemptId),
    /// Push the state that was uploaded when the stack was adopted.
    ImportState,
}

/// What is done to a backend first, as it is stored: a list, or `null` where it is nothing. Records that were written when
/// there was one thing at most hold that alone.
pub(crate) mod stored_before_plan {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};
    use serde_json::Value;

    use super::BeforePlan;

    pub(crate) fn serialize<S: Serializer>(first: &[BeforePlan], serializer: S) -> Result<S::Ok, S::Error> {
        if first.is_empty() { serializer.serialize_none() } else { first.serialize(serializer) }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<BeforePlan>, D::Error> {
        let stored = match Value::deserialize(deserializer)? {
            Value::Null => Vec::new(),
            Value::Array(many) => many,
            one => vec![one],
        };
        stored.into_iter().map(serde_json::from_value).collect::<Result<_, _>>().map_err(D::Error::custom)
    }
}

impl Job {
    /// Under which stack's id the installation keeps the state, where nobody names a backend.
    pub fn state_id(&self) -> StackId {
        self.state_kept_as.unwrap_or(self.stack)
    }

    /// The prefix under which the attempt's objects lie: `runs/<stack>/<run>/<attempt>/`.
    pub fn prefix(&self) -> String {
        attempt_prefix(self.stack, self.attempt)
    }

    /// What the attempt reads besides its own objects; a name that ends with `/` means all below it.
    pub fn reads(&self) -> Vec<String> {
        let plan = self.plan.iter().map(|plan| attempt_prefix(self.stack, plan.attempt));
        let first = self.backend_first.iter().filter_map(|first| match first {
            BeforePlan::Unlock(_) => None,
            BeforePlan::PushState(attempt) => {
                Some(format!("{}{}", attempt_prefix(self.stack, *attempt), object::ERRORED_STATE))
            }
            BeforePlan::ImportState => Some(state_import_object(self.stack)),
        });
        [artifact_object(&self.tree), artifact_report_object(&self.tree)]
            .into_iter()
            .chain(plan)
            .chain(first)
            .collect()
    }
}

/// The prefix under which an attempt's objects lie: `runs/<stack>/<run>/<attempt>/`.
pub fn attempt_prefix(stack: StackId, attempt: AttemptId) -> String {
    format!("runs/{stack}/{}/{}-{}/", attempt.run, attempt.phase, attempt.number)
}

/// The object that holds the packed tree.
pub fn artifact_object(tree: &TreeId) -> String {
    format!("artifacts/{tree}.tar.zst")
}

/// The object beside a packed tree that says what was left out of it: [`crate::artifact::ArtifactReport`].
pub fn artifact_report_object(tree: &TreeId) -> String {
    format!("artifacts/{tree}.json")
}

/// The object that holds the state file that was uploaded when a stack was adopted.
pub fn state_import_object(stack: StackId) -> String {
    format!("state-imports/{stack}")
}

/// Names of the objects below an attempt's prefix.
pub mod object {
    /// The plan file. Readable by the run's apply attempt alone.
    pub const PLAN: &str = "plan.tfplan";
    /// The working directory after plan, without providers. Readable by the run's apply attempt alone.
    pub const WORKDIR: &str = "workdir.tar.zst";
    /// The redacted JSON plan.
    pub const PLAN_JSON: &str = "plan.json";
    /// The plan as people read it, redacted.
    pub const PLAN_TEXT: &str = "plan.txt";
    /// [`crate::plan::summary::PlanSummary`].
    pub const SUMMARY: &str = "summary.json";
    /// The whole log, masked, once the attempt has ended.
    pub const LOG: &str = "log.txt";
    /// Pieces of the log while it runs: `log/000001`, each once written never changed.
    pub const LOG_PIECES: &str = "log/";
    /// All outputs with their values, sensitive ones too. Not shown; read when outputs are written or asked for.
    pub const OUTPUTS: &str = "outputs.json";
    /// What the state holds, by address, type and id.
    pub const INVENTORY: &str = "inventory.json";
    /// A state that could not be saved in its backend.
    pub const ERRORED_STATE: &str = "errored.tfstate";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Phase;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Stored {
        #[serde(with = "stored_before_plan")]
        first: Vec<BeforePlan>,
    }

    #[test]
    fn an_attempt_reads_its_code_its_plan_and_the_states_it_is_to_push() {
        let stored = include_str!("../tests/golden/attempt.v1.json");
        let mut job = serde_json::from_str::<crate::attempt::Attempt>(stored).unwrap().job;
        let earlier = AttemptId { phase: Phase::Apply, number: 7, ..job.attempt };
        let plan = AttemptId { phase: Phase::Plan, number: 8, ..job.attempt };
        let (stack, run, tree) = (job.stack, job.attempt.run, job.tree.clone());
        let code = [format!("artifacts/{tree}.tar.zst"), format!("artifacts/{tree}.json")];
        (job.plan, job.backend_first) = (None, vec![]);
        assert_eq!(job.reads(), code);
        let (file, content) = (FileDigest::of(b""), ContentDigest::of(b""));
        job.plan = Some(PlanToApply { attempt: plan, file, content });
        let unlock = BeforePlan::Unlock("7".to_owned());
        job.backend_first = vec![unlock, BeforePlan::PushState(earlier), BeforePlan::ImportState];
        let more = [
            format!("runs/{stack}/{run}/plan-8/"),
            format!("runs/{stack}/{run}/apply-7/errored.tfstate"),
            format!("state-imports/{stack}"),
        ];
        assert_eq!(job.reads(), [&code[..], &more].concat());
    }

    #[test]
    fn what_is_done_first_is_read_as_it_was_stored_at_any_time() {
        let unlock = || BeforePlan::Unlock("7".to_owned());
        for (text, first) in [
            (r#"{"first":null}"#, vec![]),
            (r#"{"first":{"unlock":"7"}}"#, vec![unlock()]),
            (r#"{"first":"import-state"}"#, vec![BeforePlan::ImportState]),
            (r#"{"first":[{"unlock":"7"},"import-state"]}"#, vec![unlock(), BeforePlan::ImportState]),
        ] {
            let stored: Stored = serde_json::from_str(text).unwrap();
            assert_eq!(stored, Stored { first });
            let again = serde_json::to_string(&stored).unwrap();
            assert_eq!(serde_json::from_str::<Stored>(&again).unwrap(), stored);
        }
    }
}
