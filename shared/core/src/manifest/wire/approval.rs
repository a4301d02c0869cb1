//! `approval` of a `Stack`: who must approve a plan, beyond what `approvePlan` says.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::manifest::format;
use crate::time::Span;

/// Who must approve.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Approval {
    /// How many people must approve; 1 if it names neither that nor `teams`, but `notAuthor` or `expiresAfter`.
    #[schemars(range(min = 1))]
    pub count: Option<u32>,
    /// How many people of which teams must approve, at most 8 teams. Nobody counts for two teams.
    pub teams: Option<Vec<ApprovingTeam>>,
    /// The approval of an author, committer or pusher of what came since the last apply does not count.
    pub not_author: Option<bool>,
    /// How long an approval counts.
    #[schemars(with = "Option<format::PositiveDuration>")]
    pub expires_after: Option<Span>,
    /// When plans may be approved and applied: while one of these windows is open.
    pub only_within: Option<Vec<OpenWindow>>,
    /// Stricter rules for some plans, which hold beside the rest.
    pub when: Option<Vec<Stricter>>,
}

/// How many people of a team must approve.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovingTeam {
    /// The team's name.
    #[schemars(with = "format::ObjectName")]
    pub name: String,
    /// The team's namespace; the stack's own if it names none.
    #[schemars(with = "Option<format::Namespace>")]
    pub namespace: Option<String>,
    /// How many; 1 if it names none.
    #[schemars(range(min = 1))]
    pub count: Option<u32>,
}

/// A stricter rule for some plans.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stricter {
    /// For which: `destroys > 0`, `changes >= 20`; counted are `creates`, `updates`, `replaces`, `destroys` (with those that
    /// are replaced), `forgets` and `changes` (all of them).
    #[serde(rename = "if")]
    #[schemars(with = "format::ConditionOnPlan")]
    pub condition: String,
    /// How many people must approve; 1 if it names neither that nor `teams`.
    #[schemars(range(min = 1))]
    pub count: Option<u32>,
    /// How many people of which teams must approve, at most 8 teams. Nobody counts for two teams.
    pub teams: Option<Vec<ApprovingTeam>>,
    /// The approval of an author, committer or pusher of what came since the last apply does not count.
    pub not_author: Option<bool>,
    /// How long an approval counts.
    #[schemars(with = "Option<format::PositiveDuration>")]
    pub expires_after: Option<Span>,
    /// When such plans may be approved and applied: while one of these windows is open.
    pub only_within: Option<Vec<OpenWindow>>,
}

/// A window of time that opens again and again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenWindow {
    /// When it opens: minute, hour, day of the month, month and day of the week, as `0 9 * * mon-fri`.
    #[schemars(with = "format::CronExpression")]
    pub cron: String,
    /// How long it stays open, at most seven days.
    #[schemars(with = "format::PositiveDuration")]
    pub duration: Span,
    /// By whose clocks, as `Europe/Berlin`; `UTC` if it names none.
    #[schemars(with = "Option<format::TimeZoneName>")]
    pub time_zone: Option<String>,
}
