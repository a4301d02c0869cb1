//! A world of one stack, and a small language over it: what Git, people and tasks do, and what is decided.

use std::collections::BTreeMap;

use ulid::Ulid;

use crate::attempt::{Attempt, AttemptReport, AttemptState};
use crate::audit::{AuditEntry, AuditLine, Verifier};
use crate::decide::{Decision, Dependency, Former, Holder, Moment, Records, TaskSeen, decide};
use crate::effect::Effect;
use crate::freeze::Freeze;
use crate::id::{
    ClosureDigest, ContentDigest, FileDigest, Phase, RequestId, RunId, SourceName, StackId, StackName,
};

use crate::message::{AttemptNews, Cause, Message, Wake};
use crate::people::{Identity, Team};
use crate::plan::summary::{PlanCounts, PlanReport};
use crate::request::{Ask, Outcome, Request, Seen, Signed};
use crate::run::{Failure, FailureClass, Run, RunState};
use crate::source::{Brought, CommitFacts, Definition, Observation, Reason};
use crate::spec::{EngineTool, StackSpec};
use crate::stack::Stack;
use crate::state_address::{CodeBackend, SameState};
use crate::time::{Span, Timestamp};
use crate::trouble::Trouble;

/// One stack, everything that is known of it, and the hands that change it.
pub(super) struct World {
    pub(super) now: Timestamp,
    pub(super) stack: Stack,
    pub(super) definition: Definition,
    pub(super) observation: Option<Observation>,
    pub(super) runs: Vec<Run>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) values: Vec<(&'static str, &'static str)>,
    pub(super) hosts: Vec<(&'static str, &'static str)>,
    pub(super) blocked_by: Option<&'static str>,
    pub(super) same_state: Option<SameState>,
    pub(super) holder: Option<Holder>,
    pub(super) former: Option<Former>,
    pub(super) paused: bool,
    pub(super) trouble: Option<Trouble>,
    /// What the launcher says when it is asked of a task that is out.
    pub(super) task: TaskSeen,
    /// What people write beside what they ask for.
    pub(super) says: String,
    /// Whether the last that was asked for and done makes a run later.
    pub(super) run_to_come: bool,
    /// The name that a service vouches for, of those who ask.
    pub(super) identity: Option<Identity>,
    /// What they had before their eyes.
    pub(super) seen: Option<Seen>,
    pub(super) teams: Vec<Team>,
    pub(super) freezes: Vec<Freeze>,
    /// Who brought what is pushed, beside the author of its head.
    pub(super) brought: Vec<Brought>,
    /// The stack's audit trail.
    pub(super) trail: Vec<AuditEntry>,
    ids: u64,
}

impl World {
    /// A stack whose manifest was just read, with its settings changed.
    pub(super) fn new(change: impl FnOnce(&mut StackSpec)) -> Self {
        let id = StackId(Ulid::from_parts(1, 1));
        let name = StackName::new("infra", "network");
        let now = Timestamp(1_796_000_000_000);
        let mut settings = StackSpec::new(SourceName::new("infra", "code"), "network", Span::minutes(10));
        change(&mut settings);
        let definition = Definition {
            stack: id,
            name: name.clone(),
            set: crate::id::ManifestSetName("flux".to_owned()),
            snapshot: 1,
            spec: settings,
            place: "flux/network.yaml:1".to_owned(),
            vanished: None,
            author: None,
            author_known_by: None,
            author_identity: None,
            held_back: None,
            may_be: Vec::new(),
        };
        Self {
            now,
            stack: Stack::new(id, name, now),
            definition,
            observation: None,
            runs: Vec::new(),
            attempts: Vec::new(),
            values: Vec::new(),
            hosts: Vec::new(),
            blocked_by: None,
            same_state: None,
            holder: None,
            former: None,
            paused: false,
            trouble: None,
            task: TaskSeen::Running,
            says: String::new(),
            run_to_come: false,
            identity: None,
            seen: None,
            teams: Vec::new(),
            freezes: Vec::new(),
            brought: Vec::new(),
            trail: Vec::new(),
            ids: 0,
        }
    }

    /// A stack that a first run has applied.
    pub(super) fn applied(change: impl FnOnce(&mut StackSpec)) -> Self {
        let mut world = Self::new(change);
        world.push("a");
        world.planned("first");
        if world.run().state == RunState::AwaitingApproval {
            world.ask(Ask::Approve { plan: None, digest: None });
        }
        world.reports_applied();
        world
    }

    /// A commit that changes the stack's closure.
    pub(super) fn push(&mut self, letter: &str) {
        let commit = letter.repeat(40);
        let number = self.observation.as_ref().map_or(0, |seen| seen.number) + 1;
        self.observation = Some(Observation {
            stack: self.stack.id,
            source: self.definition.spec.source.clone(),
            number,
            revision: format!("main@sha1:{commit}").parse().unwrap(),
            tree: commit.parse().unwrap(),
            closure: ClosureDigest::of(letter.as_bytes()),
            path: None,
            backend: CodeBackend::Unseen,
            changed: vec![Reason::Path {
                path: format!("network/{letter}.tf"),
                change: "changed".to_owned(),
                because: "stack directory".to_owned(),
            }],
            changed_count: 1,
            problems: Vec::new(),
            notices: Vec::new(),
            commit: CommitFacts {
                id: commit.parse().unwrap(),
                author: "ada".to_owned(),
                subject: "Change".to_owned(),
            },
            brought: self.brought.clone(),
            at: self.now,
        });
        self.wake(Cause::Observation { source: self.definition.spec.source.clone(), number });
    }

    /// A commit that changes the manifest alone.
    pub(super) fn edit(&mut self, change: impl FnOnce(&mut StackSpec)) {
        change(&mut self.definition.spec);
        self.definition.snapshot += 1;
        let (set, snapshot) = (self.definition.set.clone(), self.definition.snapshot);
        self.wake(Cause::Definition { set, snapshot });
    }

    /// The manifest is taken away.
    pub(super) fn vanishes(&mut self) {
        self.definition.vanished = Some(self.now);
        self.edit(|_| {});
    }

    /// Time passes, and the scheduler wakes what is due.
    pub(super) fn passes(&mut self, span: Span) {
        self.now = self.now + span;
        if let Some(slot) = self.stack.due.filter(|due| *due <= self.now) {
            self.wake(Cause::Due { slot });
        }
    }

    /// Somebody asks; what they are told.
    pub(super) fn ask(&mut self, ask: Ask) -> String {
        self.ask_for_run(ask).0
    }

    /// What approves exactly the plan that waits.
    pub(super) fn approval_by_name(&self) -> Ask {
        let report = self.run().plan.as_ref().unwrap().report.clone();
        Ask::Approve { plan: Some(report.plan_id), digest: Some(report.content.short()) }
    }

    /// The same as [`World::ask`], and the run that is named.
    pub(super) fn ask_for_run(&mut self, ask: Ask) -> (String, Option<RunId>) {
        self.ids += 1;
        let id = RequestId(Ulid::from_parts(3, u128::from(self.ids)));
        let message = self.says.clone();
        let identity = self.identity.clone();
        let by = Signed { who: "ada".to_owned(), at: self.now, from: "cli".to_owned(), message, identity };
        let request = Request { seen: self.seen, ..Request::new(id, self.stack.id, by, ask) };
        let decision = self.decide(Cause::Request(id), Some(request), None);
        match decision.request.unwrap().outcome {
            Outcome::Pending => ("pending".to_owned(), None),
            Outcome::Done { message, run, run_to_come } => {
                assert!(run.is_none() || !run_to_come, "{message}");
                self.run_to_come = run_to_come;
                (message, run)
            }
            Outcome::Refused { message } => (format!("refused: {message}"), None),
        }
    }

    /// A message names a request; what it is afterwards.
    pub(super) fn hears(&mut self, request: Request) -> Request {
        self.decide(Cause::Request(request.id), Some(request), None).request.unwrap()
    }

    /// The attempt that is out claims, and reports a plan of this content (empty: nothing to change).
    pub(super) fn planned(&mut self, content: &str) {
        self.planned_as(content, |_| {});
    }

    /// The same, with the report changed.
    pub(super) fn planned_as(&mut self, content: &str, change: impl FnOnce(&mut PlanReport)) {
        let run = self.run();
        let mut report = PlanReport {
            plan_id: run.revision.plan_id(),
            content: ContentDigest::of(content.as_bytes()),
            file: FileDigest::of(content.as_bytes()),
            counts: PlanCounts { update: 3, ..PlanCounts::default() },
            has_changes: !content.is_empty(),
            applyable: true,
            state_was_empty: false,
            backend_named: true,
            engine: EngineTool::Tofu,
            engine_version: "1.9.0".to_owned(),
            notices: Vec::new(),
            drifted: false,
            remediation_refused: None,
        };
        change(&mut report);
        self.reports(AttemptReport::Planned(report));
    }

    /// The apply that is out claims and reports that all went well.
    pub(super) fn reports_applied(&mut self) {
        self.reports(AttemptReport::Applied { outputs: Vec::new(), resources: 3, notices: Vec::new() });
    }

    /// The attempt that is out claims and reports a failure.
    pub(super) fn reports_failed(&mut self, class: FailureClass) {
        let message = "it broke".to_owned();
        let failure = Failure { class, message, detail: String::new(), lock: None, errored_state: false };
        self.reports(AttemptReport::Failed(failure));
    }

    /// The attempt that is out claims and reports.
    pub(super) fn reports(&mut self, report: AttemptReport) {
        self.claims();
        let attempt = self.out();
        attempt.state = AttemptState::Reported;
        attempt.report = Some(report);
        let id = attempt.id;
        self.wake(Cause::Attempt { attempt: id, what: AttemptNews::Reported });
    }

    /// The attempt that is out claims.
    pub(super) fn claims(&mut self) {
        let now = self.now;
        let attempt = self.out();
        assert_ne!(attempt.state, AttemptState::Closed, "a closed attempt cannot be claimed");
        attempt.state = AttemptState::Claimed;
        attempt.claimed_at = Some(now);
        let id = attempt.id;
        self.started(id.phase);
        self.wake(Cause::Attempt { attempt: id, what: AttemptNews::Claimed });
    }

    /// The launcher says that the task of the attempt that is out has stopped.
    pub(super) fn task_stops(&mut self) {
        let id = self.out().id;
        self.started(id.phase);
        let stopped = Some(TaskSeen::Stopped("signal 9".to_owned()));
        self.decide(Cause::Attempt { attempt: id, what: AttemptNews::Stopped }, None, stopped);
    }

    fn started(&mut self, phase: Phase) {
        let start =
            |effect: &Effect| matches!(effect, Effect::StartTask { attempt } if attempt.phase == phase);
        self.stack.outbox.retain(|pending| !start(&pending.effect));
    }

    /// Wakes the stack.
    pub(super) fn wake(&mut self, cause: Cause) -> Decision {
        let task = matches!(cause, Cause::Due { .. }).then(|| self.task.clone());
        self.decide(cause, None, task)
    }

    fn decide(&mut self, cause: Cause, request: Option<Request>, task: Option<TaskSeen>) -> Decision {
        self.ids += 1;
        let moment = Moment { now: self.now, run: RunId(Ulid::from_parts(2, u128::from(self.ids))) };
        let run = self.stack.run.and_then(|id| self.runs.iter().find(|run| run.id == id).cloned());
        let out = run.as_ref().and_then(Run::attempt_out);
        let records = Records {
            stack: self.stack.clone(),
            definition: Some(self.definition.clone()),
            observation: self.observation.clone(),
            drifted: self
                .stack
                .drift
                .as_ref()
                .and_then(|drift| self.runs.iter().find(|run| run.id == drift.run).cloned()),
            named: self.named(request.as_ref()),
            attempt: self.attempts.iter().find(|attempt| Some(attempt.id) == out).cloned(),
            run,
            task,
            request,
            values: versions(&self.values),
            hosts: versions(&self.hosts),
            dependencies: self.dependencies(),
            same_state: self.same_state.clone(),
            holder: self.holder.clone(),
            formers: self.former.iter().cloned().collect(),
            trouble: self.trouble,
            paused: self.paused.then(|| Signed {
                who: "eve".to_owned(),
                at: self.now,
                from: "cli".to_owned(),
                message: String::new(),
                identity: None,
            }),
            teams: self.teams.clone(),
            freezes: self.freezes.clone(),
        };
        let decision = decide(records, &Message::new(Wake::Stack(self.stack.id), cause), moment);
        self.commit(&decision);
        decision
    }

    fn named(&self, request: Option<&Request>) -> Option<Run> {
        if let Some(seen) = request?.seen {
            return self.runs.iter().find(|known| known.id == seen.run).cloned();
        }
        match request?.ask {
            Ask::Recover { run } => self.runs.iter().find(|known| known.id == run).cloned(),
            Ask::Adopt(_) | Ask::Unlock { .. } => self.runs.last().cloned(),
            _ => None,
        }
    }

    fn dependencies(&self) -> Vec<Dependency> {
        let blocked_by = self.blocked_by.map(str::to_owned);
        let name = StackName::new("infra", "dns");
        self.definition
            .spec
            .depends_on
            .iter()
            .map(|_| Dependency { name: name.clone(), blocked_by: blocked_by.clone() })
            .collect()
    }

    fn commit(&mut self, decision: &Decision) {
        self.stack = decision.stack.clone();
        self.trail.extend(decision.audit.iter().cloned());
        for run in &decision.runs {
            self.runs.retain(|known| known.id != run.id);
            self.runs.push(run.clone());
        }
        for attempt in &decision.attempts {
            self.attempts.retain(|known| known.id != attempt.id);
            self.attempts.push(attempt.clone());
        }
        self.runs.sort_by_key(|run| run.number);
        if let (Some(former), Some(stack)) = (&mut self.former, &decision.former) {
            former.stack = stack.clone();
        }
        if let Some(trouble) = self.trouble.as_mut().filter(|_| decision.notice.is_some()) {
            trouble.noticed = true;
        }
        self.check();
    }

    /// What must hold after every decision.
    fn check(&self) {
        self.check_trail();
        let out: Vec<_> = self.runs.iter().filter_map(Run::attempt_out).collect();
        assert!(out.len() <= 1, "at most one attempt is out: {out:?}");
        let open = self
            .attempts
            .iter()
            .filter(|attempt| matches!(attempt.state, AttemptState::Issued | AttemptState::Claimed));
        assert!(open.count() <= 1, "at most one claim is open");
        let going = self.runs.iter().filter(|run| !run.state.is_terminal()).count();
        assert_eq!(
            going,
            usize::from(self.stack.run.is_some()),
            "the stack is held by a run that has not ended, or by none"
        );
    }

    fn check_trail(&self) {
        let mut verifier = Verifier::default();
        let entries = self.trail.iter().map(|entry| AuditLine::Entry(serde_json::to_value(entry).unwrap()));
        for line in self.stack.audit.into_iter().map(AuditLine::Head).chain(entries) {
            verifier.take(line).expect("every entry follows the one before");
        }
        verifier.finish().expect("the stack names its last entry");
        let known = self.stack.audit.map_or(0, |head| head.number);
        assert_eq!(known, u64::try_from(self.trail.len()).unwrap(), "each entry is written once");
    }

    /// The newest run.
    pub(super) fn run(&self) -> &Run {
        self.runs.last().expect("a run was made")
    }

    /// The states of all runs, oldest first.
    pub(super) fn states(&self) -> String {
        self.runs.iter().map(|run| run.state.to_string()).collect::<Vec<_>>().join(" ")
    }

    /// READY and STATUS as lists show them.
    pub(super) fn shown(&self) -> String {
        format!("{:?}: {}", self.stack.shown.ready, self.stack.shown.status)
    }

    /// The attempt that is out.
    pub(super) fn out(&mut self) -> &mut Attempt {
        let out = self.run().attempt_out().expect("an attempt is out");
        self.attempts.iter_mut().find(|attempt| attempt.id == out).expect("it has a record")
    }
}

fn versions(named: &[(&str, &str)]) -> BTreeMap<String, String> {
    named.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect()
}
