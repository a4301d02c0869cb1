//! How a run stands, as Git hosts show it beside the run's commit. It is drawn from the run's record: each later event
//! of the stack draws it again, and what has not changed is not sent.

use sha2::{Digest, Sha256};
use yuba_core::notify::{Mend, Undelivered};
use yuba_core::run::{Run, RunKind, RunState};

use super::words::bounded;
use crate::notice::{Notice, RunView};
use crate::settings::NotifierSettings;

/// The longest description that hosts take, in characters: GitHub takes the fewest.
const LONGEST: usize = 140;
/// The commit that no repository has: a try of a provider writes no status.
pub(super) const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// How the work on a commit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommitState {
    /// It has not begun, or waits for somebody.
    Pending,
    /// It is under way.
    Running,
    /// It ended well.
    Success,
    /// It did not.
    Failure,
    /// It was ended before.
    Cancelled,
}

/// A status of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommitStatus {
    /// The commit's id.
    pub(super) commit: String,
    /// Names the status among those of the commit: `yuba/infra/network-prod`.
    pub(super) context: String,
    /// How it stands.
    pub(super) state: CommitState,
    /// The sentence beside it.
    pub(super) description: String,
    /// The page of the run.
    pub(super) url: Option<String>,
}

impl CommitStatus {
    /// The status that a notice asks for; `None` where it tells of no run, or that status is shown already.
    pub(super) fn of(settings: &NotifierSettings, notice: &Notice) -> Option<Self> {
        if matches!(notice, Notice::Test { .. }) {
            return Some(Self::tried());
        }
        let view = notice.run()?;
        let status = Self::of_run(settings, view);
        let shown = view.thread.as_ref().and_then(|thread| thread.shown.as_ref());
        (shown != Some(&status.digest())).then_some(status)
    }

    /// Digest of the status of the notice's run.
    pub(super) fn shown(settings: &NotifierSettings, notice: &Notice) -> Option<String> {
        let view = notice.run()?;
        view.thread.as_ref().map(|_| Self::of_run(settings, view).digest())
    }

    fn of_run(settings: &NotifierSettings, view: &RunView) -> Self {
        let run = &view.run;
        let (state, words) = standing(view);
        Self {
            commit: run.revision.commit.as_str().to_owned(),
            context: context(run),
            state,
            description: bounded(&words, LONGEST),
            url: settings.web.as_ref().map(|web| format!("{web}/runs/{}", run.id)),
        }
    }

    fn tried() -> Self {
        Self {
            commit: NO_COMMIT.to_owned(),
            context: "yuba/test".to_owned(),
            state: CommitState::Success,
            description: String::new(),
            url: None,
        }
    }

    fn digest(&self) -> String {
        hex::encode(Sha256::digest(format!("{self:?}")))
    }
}

/// A check for drift does not hide what became of the commit itself, nor does a destruction.
fn context(run: &Run) -> String {
    match run.kind {
        RunKind::Tracked | RunKind::Preview => format!("yuba/{}", run.name),
        RunKind::Drift | RunKind::Destroy => format!("yuba/{}/{}", run.name, run.kind),
    }
}

fn standing(view: &RunView) -> (CommitState, String) {
    let run = &view.run;
    let counts = run.plan.as_ref().map(|plan| plan.report.counts);
    let planned = counts.map_or_else(String::new, |counts| format!(": {}", counts.sentence()));
    let failure = run.failure.as_ref().map_or_else(String::new, |failure| format!(": {}", failure.message));
    match run.state {
        RunState::Queued => (CommitState::Pending, "queued".to_owned()),
        RunState::Planning => (CommitState::Running, "planning".to_owned()),
        RunState::AwaitingApproval | RunState::AwaitingAdoption => {
            (CommitState::Pending, format!("waits for {}{planned}", run.waits_for.words()))
        }
        RunState::Applying => (CommitState::Running, format!("applying{planned}")),
        RunState::Planned => (CommitState::Success, format!("planned{planned}")),
        RunState::Unchanged => (CommitState::Success, "nothing to change".to_owned()),
        RunState::Applied => (CommitState::Success, format!("applied{planned}")),
        RunState::Drifted if view.drift_stands => (CommitState::Failure, format!("drift detected{planned}")),
        RunState::Drifted => (CommitState::Success, "drift that was found is gone".to_owned()),
        RunState::Failed => (CommitState::Failure, format!("failed{failure}")),
        RunState::Denied => (CommitState::Failure, "denied".to_owned()),
        RunState::Discarded => (CommitState::Failure, "rejected".to_owned()),
        RunState::Cancelled | RunState::Superseded => (CommitState::Cancelled, run.state.to_string()),
    }
}

/// A repository, by the address that people know it under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    /// The host: `github.com`.
    pub(super) host: String,
    /// Owner and name, or groups and project: `acme/infra`.
    pub(super) path: String,
}

impl Repository {
    /// Reads an address: `https://github.com/acme/infra`, with or without `.git`.
    pub(super) fn of(address: &str) -> Result<Self, Undelivered> {
        let (_, rest) = address.trim().split_once("://").unwrap_or_default();
        let (host, path) = rest.split_once('/').unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        let path = path.trim_end_matches('/').trim_end_matches(".git");
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
        if host.is_empty() || !path.contains('/') || !path.chars().all(is_plain) {
            let why = "the address is no repository such as https://github.com/acme/infra";
            return Err(Undelivered::new(Mend::Settings, why));
        }
        Ok(Self { host: host.to_owned(), path: path.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use yuba_core::run::Waiting;

    use super::super::tests_kit::{run, settings};
    use super::*;

    fn view(change: impl FnOnce(&mut RunView)) -> RunView {
        let Notice::Run(mut view) = run() else { panic!("it shows no run") };
        change(&mut view);
        *view
    }

    #[test]
    fn each_state_of_a_run_is_one_of_its_commit() {
        let mut lines = Vec::new();
        for state in RunState::ALL {
            let status = CommitStatus::of_run(
                &settings(),
                &view(|view| {
                    view.run.state = state;
                    view.run.waits_for = Waiting::Approval;
                }),
            );
            lines.push(format!("{state}: {:?}, {}", status.state, status.description));
        }
        insta::assert_snapshot!(lines.join("\n"), @r"
        queued: Pending, queued
        planning: Running, planning
        awaiting-approval: Pending, waits for approval: 2 to add, 0 to change, 0 to destroy; 1 output
        awaiting-adoption: Pending, waits for approval: 2 to add, 0 to change, 0 to destroy; 1 output
        applying: Running, applying: 2 to add, 0 to change, 0 to destroy; 1 output
        planned: Success, planned: 2 to add, 0 to change, 0 to destroy; 1 output
        unchanged: Success, nothing to change
        applied: Success, applied: 2 to add, 0 to change, 0 to destroy; 1 output
        drifted: Success, drift that was found is gone
        failed: Failure, failed
        denied: Failure, denied
        discarded: Failure, rejected
        cancelled: Cancelled, cancelled
        superseded: Cancelled, superseded
        ");
    }

    #[test]
    fn drift_and_destruction_have_a_status_of_their_own() {
        let context = |kind| CommitStatus::of_run(&settings(), &view(|view| view.run.kind = kind)).context;
        assert_eq!(context(RunKind::Tracked), "yuba/infra/network-prod");
        assert_eq!(context(RunKind::Drift), "yuba/infra/network-prod/drift");
        assert_eq!(context(RunKind::Destroy), "yuba/infra/network-prod/destroy");
    }

    #[test]
    fn what_is_shown_already_is_not_sent_again() {
        let shown = CommitStatus::shown(&settings(), &run());
        assert!(shown.is_some());
        let again = view(|view| view.thread.as_mut().unwrap().shown = shown.clone());
        assert_eq!(CommitStatus::of(&settings(), &Notice::Run(Box::new(again))), None);
        let changed = view(|view| {
            view.thread.as_mut().unwrap().shown = shown;
            view.run.state = RunState::Failed;
        });
        assert!(CommitStatus::of(&settings(), &Notice::Run(Box::new(changed))).is_some());
    }

    #[test]
    fn a_repository_is_read_from_the_address_that_people_know() {
        let of =
            |address: &str| Repository::of(address).map(|found| format!("{} {}", found.host, found.path));
        assert_eq!(of("https://github.com/acme/infra").unwrap(), "github.com acme/infra");
        assert_eq!(of("ssh://git@git.acme.example/a/b/c.git").unwrap(), "git.acme.example a/b/c");
        for address in ["", "github.com/acme/infra", "https://github.com/acme", "https://h/a/b?c=d"] {
            assert_eq!(of(address).unwrap_err().mend, Mend::Settings, "{address}");
        }
    }
}
