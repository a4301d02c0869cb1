//! From `approval` as it is written to the rules of a stack.

use super::finding::Severity;
use super::messages;
use super::report::Report;
use super::wire::approval::{Approval, ApprovingTeam, OpenWindow, Stricter};
use super::yaml::Node;
use crate::approval::{ApprovalRule, ApprovalRules, StricterRule, TeamCount};
use crate::decide::MOST_TEAMS;
use crate::id::{InvalidId, ObjectName};
use crate::window::{LONGEST, Window, ZoneName};

/// The rules that a manifest states.
pub(super) fn rules(namespace: &str, wire: Approval) -> Result<ApprovalRules, InvalidId> {
    let asks_somebody = wire.not_author == Some(true) || wire.expires_after.is_some();
    let teams = teams(namespace, wire.teams);
    let otherwise = u32::from(asks_somebody && teams.is_empty());
    let always = ApprovalRule {
        count: wire.count.unwrap_or(otherwise),
        teams,
        not_author: wire.not_author.unwrap_or_default(),
        expires_after: wire.expires_after,
        only_within: windows(wire.only_within)?,
    };
    let when = wire.when.unwrap_or_default().into_iter().map(|stricter| stricter_rule(namespace, stricter));
    Ok(ApprovalRules { always, when: when.collect::<Result<_, _>>()? })
}

fn stricter_rule(namespace: &str, wire: Stricter) -> Result<StricterRule, InvalidId> {
    let teams = teams(namespace, wire.teams);
    let rule = ApprovalRule {
        count: wire.count.unwrap_or(u32::from(teams.is_empty())),
        teams,
        not_author: wire.not_author.unwrap_or_default(),
        expires_after: wire.expires_after,
        only_within: windows(wire.only_within)?,
    };
    Ok(StricterRule { condition: wire.condition.parse()?, rule })
}

fn teams(namespace: &str, wires: Option<Vec<ApprovingTeam>>) -> Vec<TeamCount> {
    let one = |wire: ApprovingTeam| TeamCount {
        team: ObjectName::new(wire.namespace.unwrap_or_else(|| namespace.to_owned()), wire.name),
        count: wire.count.unwrap_or(1),
    };
    wires.unwrap_or_default().into_iter().map(one).collect()
}

/// Windows as they are written.
pub(super) fn windows(wires: Option<Vec<OpenWindow>>) -> Result<Vec<Window>, InvalidId> {
    let one = |wire: OpenWindow| {
        let time_zone = wire.time_zone.map_or_else(|| Ok(ZoneName::utc()), |zone| zone.parse())?;
        Ok(Window { cron: wire.cron.parse()?, duration: wire.duration, time_zone })
    };
    wires.unwrap_or_default().into_iter().map(one).collect()
}

/// Reports what the form alone does not show.
pub(super) fn judge(root: &Node, wire: &Approval, report: &mut Report<'_>) {
    judge_rule(root, "spec.approval", (&wire.teams, &wire.only_within), report);
    for (index, stricter) in wire.when.iter().flatten().enumerate() {
        let path = format!("spec.approval.when[{index}]");
        judge_rule(root, &path, (&stricter.teams, &stricter.only_within), report);
    }
}

fn judge_rule(
    root: &Node,
    path: &str,
    (teams, windows): (&Option<Vec<ApprovingTeam>>, &Option<Vec<OpenWindow>>),
    report: &mut Report<'_>,
) {
    let count = teams.iter().flatten().count();
    if count > MOST_TEAMS {
        let path = format!("{path}.teams");
        report.say(Severity::Error, root.spot_of(&path), messages::many_teams(&path, count, MOST_TEAMS));
    }
    judge_windows(root, &format!("{path}.onlyWithin"), windows.as_deref(), report);
}

/// Reports windows that stay open for too long.
pub(super) fn judge_windows(
    root: &Node,
    path: &str,
    windows: Option<&[OpenWindow]>,
    report: &mut Report<'_>,
) {
    let windows = windows.unwrap_or_default().iter().enumerate();
    for (index, window) in windows.filter(|(_, window)| window.duration > LONGEST) {
        let path = format!("{path}[{index}].duration");
        report.say(
            Severity::Error,
            root.spot_of(&path),
            messages::long_window(&path, window.duration, LONGEST),
        );
    }
}
