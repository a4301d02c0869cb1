//! Who must approve: each rule, who is refused and why, and what no sequence of decisions may bring about.

use proptest::prelude::*;

use super::world::World;
use crate::approval::{ApprovalRule, ApprovalRules, StricterRule, TeamCount};
use crate::id::{ManifestSetName, ObjectName};
use crate::people::{Identity, Member, Team};
use crate::plan::summary::PlanCounts;
use crate::request::{Ask, DecisionVerdict, Seen};
use crate::run::RunState;
use crate::source::Brought;
use crate::spec::{ApprovePlan, StackSpec};
use crate::time::Span;
use crate::window::Window;

const APPROVE: Ask = Ask::Approve { plan: None, digest: None };

fn team(name: &str, members: &[&str]) -> Team {
    let member = |name: &&str| Member {
        name: Some((*name).to_owned()),
        identities: [Identity::slack(name), Identity::email(&format!("{name}@example.com"))].into(),
    };
    Team {
        name: ObjectName::new("infra", name),
        set: ManifestSetName("flux".to_owned()),
        snapshot: 1,
        place: "teams.yaml:1".to_owned(),
        members: members.iter().map(member).collect(),
    }
}

fn of(team: &str, count: u32) -> TeamCount {
    TeamCount { team: ObjectName::new("infra", team), count }
}

fn count(count: u32) -> ApprovalRule {
    ApprovalRule { count, ..ApprovalRule::default() }
}

/// A stack with this rule; Ann and Bob are of `platform`, Bob and Cy of `security`.
fn ruled(always: ApprovalRule) -> World {
    with_rules(ApprovalRules { always, when: Vec::new() }, |_| {})
}

fn with_rules(rules: ApprovalRules, change: impl FnOnce(&mut StackSpec)) -> World {
    let mut world = World::new(|spec| {
        spec.approval = Some(rules);
        spec.state_is_new = true;
        change(spec);
    });
    world.teams = vec![team("platform", &["Ann", "Bob"]), team("security", &["Bob", "Cy"])];
    world
}

impl World {
    /// Somebody in Slack asks.
    fn ask_as(&mut self, who: &str, ask: Ask) -> String {
        self.identity = Some(Identity::slack(who));
        let answer = self.ask(ask);
        self.identity = None;
        answer
    }

    fn planned_change(&mut self) {
        self.push("a");
        self.planned("first");
    }
}

#[test]
fn as_many_people_as_the_rule_counts_must_approve() {
    let mut world = ruled(count(2));
    world.planned_change();
    insta::assert_snapshot!(world.shown(), @"Unknown: Plan generated: plan-main-aaaaaaaaaa@a7937b64b8ca; needs 2 more approvals");
    insta::assert_snapshot!(world.ask_as("Ann", APPROVE), @"plan-main-aaaaaaaaaa is approved; still needed: 1 more approval");
    assert_eq!(world.run().state, RunState::AwaitingApproval);
    insta::assert_snapshot!(world.ask_as("Ann", APPROVE), @"refused: you approved plan-main-aaaaaaaaaa at 2026-11-30T00:53:20Z, and nobody counts twice; still needed: 1 more approval");
    insta::assert_snapshot!(world.ask_as("Cy", APPROVE), @"plan-main-aaaaaaaaaa is approved; the apply starts");
    assert_eq!(world.run().state, RunState::Applying);
}

#[test]
fn whoever_holds_the_token_is_one_person_by_whatever_names() {
    let mut world = ruled(count(2));
    world.planned_change();
    world.ask(APPROVE);
    insta::assert_snapshot!(world.ask(APPROVE), @"refused: you approved plan-main-aaaaaaaaaa at 2026-11-30T00:53:20Z, and nobody counts twice; still needed: 1 more approval");
    world.ask_as("Bob", APPROVE);
    assert_eq!(world.run().state, RunState::Applying);
}

#[test]
fn a_stranger_is_refused_with_rules_and_without() {
    let worlds = [|| ruled(count(1)), || World::new(|spec| spec.state_is_new = true)];
    for mut world in worlds.into_iter().map(|world| world()) {
        world.planned_change();
        insta::allow_duplicates! {
            insta::assert_snapshot!(world.ask_as("Eve", APPROVE), @"refused: no Team knows Eve of Slack: ask whoever keeps the manifests for an entry in a Team");
            insta::assert_snapshot!(world.ask_as("Eve", Ask::Reject), @"refused: no Team knows Eve of Slack: ask whoever keeps the manifests for an entry in a Team");
        }
        assert_eq!(world.run().state, RunState::AwaitingApproval);
    }
}

#[test]
fn seats_of_teams_are_filled_by_their_members_and_nobody_sits_on_two() {
    let seats = ApprovalRule { teams: vec![of("platform", 1), of("security", 1)], ..ApprovalRule::default() };
    let mut world = ruled(seats);
    world.teams.push(team("web", &["Dan"]));
    world.planned_change();
    insta::assert_snapshot!(world.ask_as("Dan", APPROVE), @"refused: approval.teams: only members of teams infra/platform, infra/security count here; ask one of them");
    insta::assert_snapshot!(world.ask(APPROVE), @"refused: approval.teams: only members of teams infra/platform, infra/security count here; ask one of them");
    insta::assert_snapshot!(world.ask_as("Bob", APPROVE), @"plan-main-aaaaaaaaaa is approved; still needed: 1 more approval, of teams infra/platform, infra/security (nobody counts for two teams)");
    insta::assert_snapshot!(world.ask_as("Ann", APPROVE), @"plan-main-aaaaaaaaaa is approved; the apply starts");
}

#[test]
fn a_count_above_the_teams_seats_is_open_to_anybody_known() {
    let rule = ApprovalRule { count: 3, teams: vec![of("security", 1)], ..ApprovalRule::default() };
    let mut world = ruled(rule);
    world.planned_change();
    world.ask_as("Ann", APPROVE);
    insta::assert_snapshot!(world.ask_as("Bob", APPROVE), @"plan-main-aaaaaaaaaa is approved; still needed: 1 more approval");
    insta::assert_snapshot!(world.ask(APPROVE), @"plan-main-aaaaaaaaaa is approved; the apply starts");
}

#[test]
fn an_author_does_not_count_under_whichever_name() {
    let mut world = ruled(ApprovalRule { count: 1, not_author: true, ..ApprovalRule::default() });
    let mut pusher = team("web", &[]);
    pusher.members = vec![Member {
        name: Some("Ann".to_owned()),
        identities: [Identity::login("github", "ann"), Identity::slack("Ann")].into(),
    }];
    world.teams.push(pusher);
    world.brought = vec![Brought { observation: 1, by: [Identity::login("github", "ANN")].into() }];
    world.planned_change();
    insta::assert_snapshot!(world.ask_as("Ann", APPROVE), @"refused: approval.notAuthor: you wrote, committed or pushed what would be applied (ann of github); somebody else must approve it");
    insta::assert_snapshot!(world.ask(APPROVE), @"refused: approval.notAuthor: whoever holds the API's token may be the author; approve as a member of a Team");
    insta::assert_snapshot!(world.ask_as("Bob", APPROVE), @"plan-main-aaaaaaaaaa is approved; the apply starts");
}

#[test]
fn somebody_whose_commits_cannot_be_told_does_not_count_where_authors_do_not() {
    let mut world = ruled(ApprovalRule { count: 1, not_author: true, ..ApprovalRule::default() });
    world.teams.iter_mut().flat_map(|team| &mut team.members).for_each(|member| {
        member.identities.retain(|identity| matches!(identity, Identity::Slack(_)));
    });
    world.planned_change();
    insta::assert_snapshot!(world.ask_as("Bob", APPROVE), @"refused: approval.notAuthor: no Team says under which e-mail address or login you commit, so nobody can tell that you are not the author; add them to your entry");
}

#[test]
fn who_brought_what_was_applied_already_is_no_author_any_more() {
    let mut world = ruled(ApprovalRule { count: 1, not_author: true, ..ApprovalRule::default() });
    let by = |name: &str| [Identity::email(&format!("{name}@example.com"))].into();
    world.brought = vec![Brought { observation: 1, by: by("Ann") }];
    world.planned_change();
    world.ask_as("Bob", APPROVE);
    world.reports_applied();
    world.brought.push(Brought { observation: 2, by: by("Bob") });
    world.push("b");
    world.planned("second");
    assert!(world.ask_as("Bob", APPROVE).starts_with("refused: approval.notAuthor"));
    insta::assert_snapshot!(world.ask_as("Ann", APPROVE), @"plan-main-bbbbbbbbbb is approved; the apply starts");
}

#[test]
fn an_approval_lapses_and_can_be_given_anew() {
    let rule = ApprovalRule { count: 2, expires_after: Some(Span::hours(1)), ..ApprovalRule::default() };
    let mut world = ruled(rule);
    world.planned_change();
    world.ask_as("Ann", APPROVE);
    world.passes(Span::hours(2));
    insta::assert_snapshot!(world.ask_as("Cy", APPROVE), @"plan-main-aaaaaaaaaa is approved; still needed: 1 more approval");
    insta::assert_snapshot!(world.ask_as("Ann", APPROVE), @"plan-main-aaaaaaaaaa is approved; the apply starts");
}

#[test]
fn a_stricter_rule_holds_for_the_plans_that_it_names() {
    let rule = StricterRule { condition: "destroys > 0".parse().unwrap(), rule: count(2) };
    let rules = ApprovalRules { always: count(1), when: vec![rule] };
    let mut world = with_rules(rules.clone(), |_| {});
    world.planned_change();
    insta::assert_snapshot!(world.ask_as("Ann", APPROVE), @"plan-main-aaaaaaaaaa is approved; the apply starts");
    let mut world = with_rules(rules, |_| {});
    world.push("a");
    world.planned_as("first", |report| report.counts = PlanCounts { replace: 1, ..PlanCounts::default() });
    insta::assert_snapshot!(world.ask_as("Ann", APPROVE), @"plan-main-aaaaaaaaaa is approved; still needed: 1 more approval by approval.when[0] (destroys > 0)");
}

#[test]
fn an_automatic_stack_waits_only_where_a_rule_asks_for_people() {
    let rule = StricterRule { condition: "destroys > 0".parse().unwrap(), rule: count(1) };
    let rules = ApprovalRules { always: ApprovalRule::default(), when: vec![rule] };
    let mut world = with_rules(rules.clone(), |spec| spec.approve_plan = ApprovePlan::Auto);
    world.planned_change();
    assert_eq!(world.run().state, RunState::Applying);
    let mut world = with_rules(rules, |spec| spec.approve_plan = ApprovePlan::Auto);
    world.push("a");
    world.planned_as("first", |report| report.counts.delete = 1);
    assert_eq!(world.run().state, RunState::AwaitingApproval);
    world.ask_as("Ann", APPROVE);
    assert_eq!(world.run().state, RunState::Applying);
}

#[test]
fn outside_its_windows_a_plan_is_neither_approved_nor_applied() {
    let window = |cron: &str| Window {
        cron: cron.parse().unwrap(),
        duration: Span::hours(1),
        time_zone: "Europe/Berlin".parse().unwrap(),
    };
    // The world begins on a Monday at 01:53 there.
    let rule = ApprovalRule { only_within: vec![window("0 9 * * *"), window("0 12 * * *")], ..count(1) };
    let mut world = ruled(rule.clone());
    world.planned_change();
    insta::assert_snapshot!(world.ask_as("Ann", APPROVE), @"refused: approval.onlyWithin: plans are approved and applied within `0 9 * * *` for 1h0m0s (Europe/Berlin), `0 12 * * *` for 1h0m0s (Europe/Berlin) alone; that opens at 2026-11-30T08:00:00Z");
    world.passes(Span::hours(8));
    world.paused = true;
    world.ask_as("Ann", APPROVE);
    world.passes(Span::hours(1));
    world.paused = false;
    world.stack.outbox.clear();
    world.passes(Span::minutes(1));
    insta::assert_snapshot!(world.shown(), @"Unknown: Plan generated: plan-main-aaaaaaaaaa@a7937b64b8ca; waits until 2026-11-30T11:00:00Z for approval.onlyWithin: `0 9 * * *` for 1h0m0s (Europe/Berlin), `0 12 * * *` for 1h0m0s (Europe/Berlin)");
    assert_eq!(world.stack.due.map(|due| due.to_string()).as_deref(), Some("2026-11-30T11:00:00Z"));
    world.passes(Span::hours(2));
    assert_eq!(world.run().state, RunState::Applying);
    let only_windows = ApprovalRules { always: ApprovalRule { count: 0, ..rule }, when: Vec::new() };
    let mut world = with_rules(only_windows, |spec| spec.approve_plan = ApprovePlan::Auto);
    world.planned_change();
    assert_eq!(world.run().state, RunState::AwaitingApproval, "nobody is asked, and nothing is applied yet");
    world.passes(Span::hours(8));
    assert_eq!(world.run().state, RunState::Applying);
}

#[test]
fn a_rule_and_a_team_bind_at_once() {
    let mut world = ruled(count(1));
    world.planned_change();
    world.paused = true;
    world.ask_as("Cy", APPROVE);
    world.teams.retain(|team| team.name.name != "security");
    world.paused = false;
    world.passes(Span::minutes(1));
    assert_eq!(world.run().state, RunState::AwaitingApproval, "Cy is nobody any more");
    world.edit(|spec| spec.approval = Some(ApprovalRules { always: count(2), when: Vec::new() }));
    insta::assert_snapshot!(world.ask_as("Ann", APPROVE), @"plan-main-aaaaaaaaaa is approved; still needed: 1 more approval");
}

#[test]
fn whoever_left_the_teams_lets_nothing_be_applied_any_more() {
    let mut world = World::new(|spec| spec.state_is_new = true);
    world.teams = vec![team("platform", &["Ann"])];
    world.planned_change();
    world.paused = true;
    world.ask_as("Ann", APPROVE);
    (world.paused, world.teams) = (false, Vec::new());
    world.passes(Span::minutes(1));
    assert_eq!(world.run().state, RunState::AwaitingApproval);
}

#[test]
fn a_plan_named_in_the_manifest_counts_for_the_pusher_alone() {
    let named = |world: &mut World| {
        let plan = world.run().revision.plan_id();
        world.edit(|spec| spec.approve_plan = ApprovePlan::Plan { id: plan, digest: None });
        world.run().state
    };
    let mut world = ruled(count(1));
    world.planned_change();
    assert_eq!(named(&mut world), RunState::AwaitingApproval, "nobody vouches for who wrote it");
    let mut world = ruled(count(1));
    world.planned_change();
    world.definition.author_identity = Some(Identity::email("cy@example.com"));
    assert_eq!(named(&mut world), RunState::Applying);
}

#[test]
fn drift_is_put_right_under_the_same_rules() {
    let mut world = ruled(count(2));
    world.planned_change();
    world.ask_as("Ann", APPROVE);
    world.ask_as("Bob", APPROVE);
    world.reports_applied();
    world.ask(Ask::CheckDrift);
    world.planned("drifted");
    assert_eq!(world.run().state, RunState::Drifted);
    assert!(world.ask_as("Eve", APPROVE).starts_with("refused: no Team knows Eve"));
    world.ask_as("Ann", APPROVE);
    world.planned("drifted");
    insta::assert_snapshot!(world.shown(), @"Unknown: Plan generated: plan-main-aaaaaaaaaa@6d749f6d23f2; needs 1 more approval");
    assert!(world.ask_as("Ann", APPROVE).starts_with("refused: you approved"));
    world.ask_as("Cy", APPROVE);
    assert_eq!(world.run().state, RunState::Applying);
}

#[test]
fn a_press_on_what_is_over_is_told_what_became_of_it() {
    let mut world = ruled(count(1));
    world.planned_change();
    let run = world.run();
    world.seen = Some(Seen { run: run.id, content: Some(run.plan.as_ref().unwrap().report.content) });
    world.ask_as("Ann", APPROVE);
    insta::assert_snapshot!(world.ask_as("Bob", APPROVE), @"refused: run 1 is applying already (Ann approved it)");
    world.reports_applied();
    insta::assert_snapshot!(world.ask_as("Bob", Ask::Reject), @"refused: run 1 is applied (Ann approved it); nothing waits for a decision");
    world.push("b");
    world.planned("second");
    insta::assert_snapshot!(world.ask_as("Bob", APPROVE), @"refused: run 1 is applied (Ann approved it); run 2 waits for approval now: look at its plan");
}

#[test]
fn a_press_on_a_plan_that_was_made_again_is_refused() {
    let mut world = ruled(count(1));
    world.planned_change();
    let run = world.run();
    world.seen = Some(Seen { run: run.id, content: Some(run.plan.as_ref().unwrap().report.content) });
    world.passes(Span::hours(25));
    world.planned("another");
    insta::assert_snapshot!(world.ask_as("Ann", APPROVE), @"refused: the plan of run 1 was made again and differs from the one you saw: look at it as it is now, ae448ac86c4e");
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Approve(usize),
    ApproveByToken,
    Reject(usize),
    Push,
    PlanAgain,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_usize..5).prop_map(Step::Approve),
        2 => Just(Step::ApproveByToken),
        1 => (0_usize..5).prop_map(Step::Reject),
        1 => Just(Step::Push),
        1 => Just(Step::PlanAgain),
    ]
}

proptest! {
    #[test]
    fn nothing_is_applied_that_too_few_people_approved_or_somebody_rejected(
        needed in 1_u32..4,
        steps in proptest::collection::vec(step(), 1..24),
    ) {
        const PEOPLE: [&str; 5] = ["Ann", "Bob", "Cy", "Eve", "bob@example.com"];
        let mut world = ruled(count(needed));
        world.planned_change();
        for (index, step) in steps.into_iter().enumerate() {
            if world.run().state == RunState::Applying { break; }
            match step {
                Step::Approve(4) => {
                    world.identity = Some(Identity::email(PEOPLE[4]));
                    world.ask(APPROVE);
                    world.identity = None;
                }
                Step::Approve(who) => drop(world.ask_as(PEOPLE[who], APPROVE)),
                Step::ApproveByToken => drop(world.ask(APPROVE)),
                Step::Reject(who) => drop(world.ask_as(PEOPLE[who], Ask::Reject)),
                Step::Push => {
                    world.push(&char::from(b'b' + u8::try_from(index % 5).unwrap()).to_string());
                    if world.run().state == RunState::Planning { world.planned(&format!("plan {index}")); }
                }
                Step::PlanAgain => {
                    world.passes(Span::hours(25));
                    if world.run().state == RunState::Planning { world.planned(&format!("plan {}", index % 2)); }
                }
            }
        }
        for run in &world.runs {
            let Some(plan) = &run.plan else { continue };
            let of = |verdict| run.decisions.iter().filter(move |decision| {
                decision.verdict == verdict && decision.content == plan.report.content
            });
            if run.state == RunState::Applying {
                // Bob by another name is Bob; Eve is nobody.
                let mut humans: Vec<&str> = of(DecisionVerdict::Approve).map(|decision| decision.by.who.as_str()).collect();
                humans.sort_unstable();
                humans.dedup();
                prop_assert!(u32::try_from(humans.len()).unwrap() >= needed, "{humans:?}");
                prop_assert!(!humans.contains(&"Eve") && !humans.contains(&"U"), "{humans:?}");
                prop_assert_eq!(of(DecisionVerdict::Reject).count(), 0);
            }
            if of(DecisionVerdict::Reject).count() > 0 {
                prop_assert_eq!(run.state, RunState::Discarded);
            }
        }
    }
}
