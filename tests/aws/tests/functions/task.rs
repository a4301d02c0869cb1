//! What a task would do, said by the test: the tasks of its world are held.

use serde_json::{Value, json};
use yuba_core::id::{AttemptId, Phase};
use yuba_core::job::{attempt_prefix, object};
use yuba_core::plan::summary::PlanSummary;
use yuba_core::token::{TokenUse, task_token};
use yuba_ports::{Blobs, PutMode};

use crate::world::{KEY, World};

/// An attempt that was claimed.
pub(crate) struct Task<'a> {
    world: &'a World,
    attempt: AttemptId,
    job: Value,
}

impl World {
    /// Waits for a task of a phase other than one before, and claims its attempt.
    pub(crate) async fn claims(&self, phase: Phase, before: Option<AttemptId>) -> Task<'_> {
        let is_new = |attempt: &AttemptId| attempt.phase == phase && Some(*attempt) != before;
        let next = async || self.task().await.filter(is_new);
        let attempt = self.until(&format!("a task to {phase:?}"), next).await;
        let token = task_token(KEY.as_bytes(), TokenUse::Claim, attempt);
        let body = json!({ "schema": 1, "attempt": attempt });
        let (status, claim) = self.post("tasks", "/tasks/claim", &token, &body).await;
        assert_eq!(status, 200, "{claim}");
        let claim: Value = serde_json::from_str(&claim).unwrap();
        Task { world: self, attempt, job: claim["job"].clone() }
    }
}

impl Task<'_> {
    pub(crate) fn attempt(&self) -> AttemptId {
        self.attempt
    }

    /// Reports a plan that creates, or where it is one of drift updates, `toy_network.this`.
    pub(crate) async fn planned(&self, content: char, is_drift: bool) {
        let (create, update) = if is_drift { (0, 1) } else { (1, 0) };
        let counts = json!({ "create": create, "update": update, "replace": 0, "delete": 0, "forget": 0, "import": 0,
            "moved": 0, "read": 0, "invoke": 0, "drift": update, "output": 0, "other": 0 });
        self.store_summary(&counts, if is_drift { "update" } else { "create" }).await;
        let commit = self.job["revision"].as_str().unwrap().split_once("sha1:").unwrap().1;
        let digest = |letter: char| format!("sha256:{}", letter.to_string().repeat(64));
        self.report(&json!({ "planned": {
            "plan_id": format!("plan-main-{}", &commit[..10]),
            "content": digest(content),
            "file": digest('f'),
            "counts": counts,
            "has_changes": true,
            "applyable": true,
            "state_was_empty": !is_drift,
            "backend_named": true,
            "engine": "tofu",
            "engine_version": "1.9.0",
            "notices": [],
            "drifted": is_drift,
            "remediation_refused": null,
        }}))
        .await;
    }

    /// Reports that the plan was applied.
    pub(crate) async fn applied(&self) {
        self.report(&json!({ "applied": { "outputs": [], "resources": 1, "notices": [] } })).await;
    }

    async fn store_summary(&self, counts: &Value, action: &str) {
        let change = json!({ "address": "toy_network.this", "kind": "toy_network", "action": action,
            "replace_paths": [], "attributes": [] });
        let summary = json!({ "schema": 1, "format_version": "1.2", "engine_version": "1.9.0", "counts": counts,
            "has_changes": true, "applyable": true, "errored": false, "changes": [change], "outputs": [], "drift": [],
            "failed_checks": [], "providers": {} });
        serde_json::from_value::<PlanSummary>(summary.clone()).unwrap();
        let stack = serde_json::from_value(self.job["stack"].clone()).unwrap();
        let key = format!("{}{}", attempt_prefix(stack, self.attempt), object::SUMMARY);
        self.world.blobs().put(&key, summary.to_string().as_bytes(), PutMode::Replace).await.unwrap();
    }

    async fn report(&self, report: &Value) {
        let token = task_token(KEY.as_bytes(), TokenUse::Report, self.attempt);
        let body = json!({ "schema": 1, "attempt": self.attempt, "report": report });
        let (status, answer) = self.world.post("tasks", "/tasks/report", &token, &body).await;
        assert_eq!(status, 200, "{answer}");
    }
}
