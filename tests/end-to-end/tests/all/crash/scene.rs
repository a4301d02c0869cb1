//! Two stacks that apply by themselves, one with a lock and one that nothing but Yuba keeps from being applied twice at
//! once, and the person who releases a lock that was left.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use yuba_core::id::{AttemptId, Phase};
use yuba_end_to_end::{StateBackend, Task, World};
use yuba_toy_cloud::{Entry, Event, overlaps, repeats};

use super::oracle;
use super::records::Records;
use super::storm::{Cycle, End, Fault};
use crate::network;
use crate::recovery::control;

/// The fault that leaves an engine without its runner.
const ORPHANS: Fault = Fault::KillRunner(Phase::Apply);

const STACKS: [&str; 2] = ["free", "locked"];

/// How long it takes to look again.
const TURN: Duration = Duration::from_millis(100);
/// How often is looked for a task of the phase that is struck, and whether everything has settled.
const TASK_WITHIN: usize = 40;
const CALM_WITHIN: usize = 900;

/// Calls that change something take a while, so that an apply has a midst.
const SLOW: &str = r#"{"latency_ms": {"create": 300, "update": 300, "delete": 100}}"#;
/// They take until the end of the next cycle: an engine whose runner was killed acts on while Yuba has cause to try again.
const HELD: &str = r#"{"hold": {"create": ["*"], "update": ["*"]}}"#;

/// The scene.
pub(crate) struct Scene {
    world: World,
    free: StateBackend,
    locked: StateBackend,
    accepted: Vec<String>,
    seen: Records,
    wrong: BTreeSet<String>,
    struck: usize,
}

impl Scene {
    /// The two stacks, applied once.
    pub(crate) fn new() -> Self {
        let (free, locked) = (StateBackend::start(), StateBackend::start());
        let (accepted, seen, wrong) = (Vec::new(), Records::default(), BTreeSet::new());
        let mut scene = Self { world: World::new(), free, locked, accepted, seen, wrong, struck: 0 };
        scene.set_cloud(SLOW);
        scene.write(0);
        scene.world.begin();
        for stack in STACKS {
            scene.world.wait(stack, "applied");
        }
        scene
    }

    /// Code that changes what is there, and takes a bucket that is there for one that is not.
    fn write(&self, number: u64) {
        let specs = [self.free.spec_without_lock(), self.locked.spec()];
        for (stack, backend) in STACKS.into_iter().zip(specs) {
            let bucket = format!(
                "resource \"toy_bucket\" \"this\" {{\n  name       = \"{stack}-{number}\"\n  depends_on = [toy_network.this]\n}}\n"
            );
            let code = format!("{}{bucket}", network(stack, &number.to_string()));
            self.world.stack(stack, &code, &format!("approvePlan: auto\n{backend}"));
        }
    }

    fn set_cloud(&self, text: &str) {
        self.world.cloud.set_control(&control(text)).unwrap();
    }

    fn push(&mut self, number: u64) {
        self.write(number);
        self.world.repository.push("Change");
        self.accepted.extend(self.world.server().tell_of_push(&self.world.repository.url()));
    }

    /// A push, and what strikes after it.
    pub(crate) fn pass(&mut self, cycle: Cycle) {
        self.release_locks();
        self.push(cycle.number);
        let task = cycle.fault.phase().and_then(|phase| self.task_of(phase));
        if cycle.fault == ORPHANS {
            self.set_cloud(HELD);
        }
        sleep(cycle.after);
        self.strike(cycle.fault, task);
        sleep(cycle.lasts);
        self.look_at_tasks();
        if cycle.end == End::Killed {
            self.world.kill();
            self.look();
            self.world.start();
        }
        self.lift(cycle, task);
    }

    fn task_of(&self, phase: Phase) -> Option<Task> {
        let lives = |first: Pid| test_kill_process(first).is_ok();
        let of_phase = |task: &Task| task.attempt.phase == phase && task.first.is_some_and(lives);
        (0..TASK_WITHIN).find_map(|_| {
            sleep(TURN);
            self.world.tasks().into_iter().find(of_phase)
        })
    }

    fn strike(&mut self, fault: Fault, task: Option<Task>) {
        let server = self.world.server();
        // A task that has ended meanwhile is past being struck.
        let task = task.filter(|task| self.world.tasks().contains(task));
        self.struck += usize::from(fault.phase().is_none() || task.is_some());
        match (fault, task) {
            (Fault::FreezeServer, _) => server.freeze(),
            (Fault::FullDisk, _) => server.fill_disk(),
            (Fault::NoFiles, _) => server.deny_files(),
            (Fault::FreezeRunner(_), Some(task)) => signal(task, Signal::STOP),
            (Fault::KillRunner(_), Some(task)) => signal(task, Signal::KILL),
            (Fault::KillTask(_), Some(task)) => self.world.kill_task(task),
            _ => {}
        }
    }

    fn lift(&self, cycle: Cycle, task: Option<Task>) {
        let server = self.world.server();
        match (cycle.fault, cycle.end) {
            (Fault::FreezeServer, End::Lifted) => server.thaw(),
            (Fault::FullDisk, End::Lifted) => server.free_disk(),
            (Fault::NoFiles, End::Lifted) => server.allow_files(),
            (Fault::FreezeRunner(_), _) => task.into_iter().for_each(|task| signal(task, Signal::CONT)),
            _ => {}
        }
        if cycle.fault != ORPHANS {
            self.set_cloud(SLOW);
        }
    }

    /// What a person does who reads that a lock stands in the way whose holder is gone.
    fn release_locks(&self) {
        if self.reported_lock().is_some() {
            // While another try is under way it is refused, and asked for again later.
            let _ = self.world.yuba(&["unlock", "locked"]);
        }
    }

    /// The id of the lock that stands, where the stack's status names it.
    fn reported_lock(&self) -> Option<String> {
        let lock: serde_json::Value = serde_json::from_str(&self.locked.lock_held()?).ok()?;
        let id = lock.get("ID")?.as_str()?.to_owned();
        self.world.get("locked").get("status")?.as_str()?.contains(&id).then_some(id)
    }

    /// A last push, and time for everything to settle.
    pub(crate) fn calm(&mut self, number: u64) {
        self.set_cloud(SLOW);
        self.push(number);
        let head = self.world.repository.head();
        self.world.until("both stacks are applied", || {
            self.release_locks();
            STACKS.iter().all(|stack| {
                let wait = ["wait", stack, "--for", "applied", "--revision", &head, "--timeout", "2s"];
                self.world.yuba(&wait).code == 0
            })
        });
        for _ in (0..CALM_WITHIN).take_while(|_| !self.unsettled().is_empty()) {
            sleep(TURN);
        }
        self.wrong.extend(self.unsettled());
        self.world.kill();
        self.look();
        self.look_at_the_cloud(number);
    }

    fn unsettled(&self) -> Vec<String> {
        let mut left = oracle::when_calm(&self.read(), &self.accepted);
        left.extend(self.world.tasks().iter().map(|task| format!("5: {} lives on", task.attempt)));
        left.extend(self.locked.lock_held().map(|lock| format!("7: a lock is left: {lock}")));
        left
    }

    /// Looks at the tasks; whether a server runs does not matter, as what was closed stays closed.
    fn look_at_tasks(&mut self) {
        let now = self.read();
        let living: Vec<AttemptId> = self.world.tasks().iter().map(|task| task.attempt).collect();
        self.wrong.extend(oracle::of_tasks(&now, &living));
    }

    /// Looks at the records while no server changes them.
    fn look(&mut self) {
        self.look_at_tasks();
        let now = self.read();
        self.wrong.extend(oracle::at_any_moment(&self.seen, &now));
        self.wrong.extend(oracle::unknown_locks(&now, &self.locked.locks_taken()));
        self.seen = now;
    }

    fn look_at_the_cloud(&mut self, number: u64) {
        let journal = self.world.cloud.journal().unwrap();
        self.wrong.extend(repeats(&journal));
        for stack in STACKS {
            let of_stack = |entry: &&Entry| entry.id.contains(&format!("-{stack}"));
            let entries: Vec<Entry> = journal.iter().filter(of_stack).cloned().collect();
            self.wrong.extend(overlaps(&entries, &cut_off(&entries)));
            let network = self.world.cloud.read("toy_network", &format!("net-{stack}")).unwrap().unwrap();
            assert_eq!(network.get("description").unwrap(), &number.to_string());
            self.world.cloud.read("toy_bucket", &format!("bucket-{stack}-{number}")).unwrap().unwrap();
        }
    }

    fn read(&self) -> Records {
        Records::read(&self.world.dir().join("data"), &self.accepted)
    }

    /// What was found wrong so far.
    pub(crate) fn wrong(&self) -> Vec<&str> {
        self.wrong.iter().map(String::as_str).collect()
    }

    /// The records that were looked at last, and the deliveries that were accepted.
    pub(crate) fn records(&self) -> (Records, Vec<String>) {
        (self.seen.clone(), self.accepted.clone())
    }
}

impl Drop for Scene {
    /// A runner that is frozen, or an engine that the cloud holds, would not end by itself.
    fn drop(&mut self) {
        self.world.tasks().into_iter().for_each(|task| self.world.kill_task(task));
    }
}

fn signal(task: Task, signal: Signal) {
    // It may end at any moment.
    let _ = task.first.map(|first| kill_process(first, signal));
}

/// Providers that were killed in the midst of a call: it stays in flight for good.
fn cut_off(entries: &[Entry]) -> Vec<u32> {
    let mut calls: BTreeMap<u32, i64> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.verb.mutates()) {
        *calls.entry(entry.pid).or_default() += match entry.event {
            Event::Begin => 1,
            Event::Done | Event::Failed => -1,
            Event::Fault => 0,
        };
    }
    calls.into_iter().filter(|(_, left)| *left > 0).map(|(pid, _)| pid).collect()
}

/// How much there was.
impl fmt::Display for Scene {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: BTreeMap<String, usize> = BTreeMap::new();
        for run in self.seen.runs.values() {
            let why = run.failure.as_ref().map(|failure| format!(" {:?}", failure.class));
            *runs.entry(format!("{}{}", run.state, why.unwrap_or_default())).or_default() += 1;
        }
        let (struck, attempts, events) = (self.struck, self.seen.attempts.len(), self.seen.events.len());
        let (deliveries, locks) = (self.accepted.len(), self.locked.locks_taken().len());
        write!(
            formatter,
            "{struck} struck; runs {runs:?}; {attempts} attempts, {events} events, {deliveries} deliveries, {locks} locks"
        )
    }
}
