//! What of a decision the audit trail tells. That every chain is whole, each world checks after every decision.

use super::world::World;
use crate::audit::AuditEntry;
use crate::request::{Ask, Outcome, Request, Signed};
use crate::run::FailureClass;
use crate::spec::ApprovePlan;

const APPROVE: Ask = Ask::Approve { plan: None, digest: None };

impl World {
    /// All entries, a line each.
    fn told(&self) -> String {
        let line = |AuditEntry { number, deed, .. }: &AuditEntry| {
            let plan = deed.plan.as_ref().map(|plan| plan.content.short()).unwrap_or_default();
            let (by, action, about, outcome) = (&deed.by, deed.action, &deed.about, deed.outcome);
            let run = if deed.run.is_some() { "of a run" } else { "of no run" };
            format!(
                "{number} {} ({}): {action} [{about}] {outcome} {run} [{plan}] by [{}]: {}\n",
                by.who, by.from, deed.rule, deed.detail
            )
        };
        self.trail.iter().map(line).collect()
    }
}

fn planned() -> World {
    let mut world = World::new(|spec| spec.state_is_new = true);
    world.push("a");
    world.planned("first");
    world
}

#[test]
fn an_approved_apply_is_told_from_the_refused_approval_to_its_end() {
    let mut world = planned();
    world.ask(Ask::Approve { plan: None, digest: Some("0123456789ab".to_owned()) });
    world.ask(APPROVE);
    world.reports_applied();
    insta::assert_snapshot!(world.told(), @r"
    1 ada (cli): approve [@0123456789ab] refused of a run [a7937b64b8ca] by [approvePlan: manual]: the plan was made again and its content differs from @0123456789ab: it is plan-main-aaaaaaaaaa@a7937b64b8ca now
    2 ada (cli): approve [] done of a run [a7937b64b8ca] by [approvePlan: manual]: plan-main-aaaaaaaaaa is approved; the apply starts
    3 yuba (yuba): apply-started [] done of a run [a7937b64b8ca] by [approvePlan: manual]: attempt 00000000020000000000000001-apply-1: approved by ada (cli)
    4 yuba (yuba): apply-ended [] done of a run [a7937b64b8ca] by [approvePlan: manual]: attempt 00000000020000000000000001-apply-1: applied
    ");
}

#[test]
fn an_apply_that_nobody_approved_names_the_rule_and_one_that_failed_no_text_of_the_engine() {
    let mut world = World::new(|spec| {
        spec.state_is_new = true;
        spec.approve_plan = ApprovePlan::Auto;
    });
    world.push("a");
    world.planned("first");
    world.reports_failed(FailureClass::AccessDenied);
    insta::assert_snapshot!(world.told(), @r"
    1 yuba (yuba): apply-started [] done of a run [a7937b64b8ca] by [approvePlan: auto]: attempt 00000000020000000000000001-apply-1: the manifest approves every plan
    2 yuba (yuba): apply-ended [] failed of a run [a7937b64b8ca] by [approvePlan: auto]: attempt 00000000020000000000000001-apply-1: failed (access-denied)
    ");
}

#[test]
fn an_approval_in_the_manifest_is_told_with_whoever_wrote_it() {
    let mut world = planned();
    let Ask::Approve { plan: Some(id), .. } = world.approval_by_name() else { panic!("a plan waits") };
    world.definition.author = Some("Ann <ann@example.com>".to_owned());
    world.edit(|spec| spec.approve_plan = ApprovePlan::Plan { id, digest: None });
    insta::assert_snapshot!(world.told(), @r"
    1 Ann <ann@example.com> (manifest (nobody is named)): approve [] done of a run [a7937b64b8ca] by [approvePlan: a plan's id]: the manifest names the plan
    2 yuba (yuba): apply-started [] done of a run [a7937b64b8ca] by [approvePlan: a plan's id]: attempt 00000000020000000000000001-apply-1: approved by Ann <ann@example.com> (manifest (nobody is named))
    ");
}

#[test]
fn what_changes_a_stack_is_told_and_what_only_looks_is_not() {
    let mut world = planned();
    for ask in [Ask::Suspend, Ask::Resume, Ask::Reconcile, Ask::CheckDrift, Ask::Destroy, Ask::Reject] {
        world.ask(ask);
    }
    world.ask(Ask::Unlock { lock: "7".to_owned() });
    world.ask(Ask::Cancel { run: None });
    insta::assert_snapshot!(world.told(), @r"
    1 ada (cli): suspend [] done of a run [] by []: suspended: no new run is made; one that is under way goes on
    2 ada (cli): resume [] done of a run [] by []: resumed
    3 ada (cli): destroy [] done of a run [] by []: run 1 is superseded; a new run is made; it plans the destruction, and nothing is destroyed before somebody approves that plan
    4 ada (cli): reject [] refused of a run [] by []: nothing waits for a decision: Terraform Planning: main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    5 ada (cli): unlock [lock 7] refused of a run [] by []: attempt 0000000002000000000000000D-plan-1 is out and may hold the lock; cancel its run or wait for it
    6 ada (cli): cancel [] done of a run [] by []: run 2 is cancelled
    ");
}

#[test]
fn what_nobody_decided_adds_nothing() {
    let mut world = World::new(|spec| spec.state_is_new = true);
    world.push("a");
    world.planned("");
    world.passes(crate::time::Span::hours(1));
    world.planned("drift");
    assert_eq!((world.told(), world.stack.audit), (String::new(), None));
}

#[test]
fn a_decision_that_a_door_refused_is_told_once() {
    let mut world = planned();
    let by = Signed {
        who: "eve".to_owned(),
        at: world.now,
        from: "api".to_owned(),
        message: String::new(),
        identity: None,
    };
    let id = crate::id::RequestId(ulid::Ulid::from_parts(4, 1));
    let outcome = Outcome::Refused { message: "approval.onlyWithin: never".to_owned() };
    let request = Request { outcome, ..Request::new(id, world.stack.id, by, APPROVE) };
    assert!(request.is_refused_unrecorded());
    let request = world.hears(request);
    assert!(!request.is_refused_unrecorded());
    world.hears(request);
    insta::assert_snapshot!(world.told(), @r"
    1 eve (api): approve [] refused of a run [a7937b64b8ca] by [approvePlan: manual]: approval.onlyWithin: never
    ");
}
