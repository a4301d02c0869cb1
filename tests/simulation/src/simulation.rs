//! One simulation: turns, each of which a number determines, and then calm until everything has settled.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use axum::Router;
use yuba_core::record::Index;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::{Order, Ports, Query};
use yuba_source::SourceSettings;

use crate::chance::Chance;
use crate::faults::Rates;
use crate::history::{Keeping, Mark, Sign};
use crate::lane::Lane;
use crate::mutation::Mutation;
use crate::oracle::Violation;
use crate::outcome::{Outcome, Turn};
use crate::people::People;
use crate::process::{Doing, Kind, Process, at_once};
use crate::serving;
use crate::world::{Current, KnownDue, Spawn, Wait, World};

/// How many groups are handled at once.
const WORKERS: usize = 6;
/// How many messages of a group are received together, at most: as SQS hands them to a function.
const MOST_TOGETHER: usize = 10;
/// How long everything may take to settle once faults stop.
pub const SETTLES_WITHIN: Span = Span::hours(4);
/// More turns than settling takes: one that takes more goes round in circles.
const MOST_SETTLING: u64 = 200_000;

/// A simulation under way.
pub(crate) struct Simulation {
    pub(crate) world: World,
    pub(crate) ports: Ports,
    pub(crate) routes: Router,
    pub(crate) sources: Arc<SourceSettings>,
    pub(crate) people: People,
    pub(crate) rates: Rates,
    processes: BTreeMap<u64, Process>,
    next_tick: Timestamp,
    steps: u64,
}

/// What can be done in a turn.
#[derive(Debug, Clone, Copy)]
enum Choice {
    Step,
    Receive,
    Tick,
    People,
    Time,
}

impl Simulation {
    /// A simulation of a seed.
    pub(crate) fn new(seed: u64, mutation: Option<Mutation>, keeping: Keeping) -> Self {
        let mut chance = Chance::of(seed);
        let rates = Rates::of_world(seed, mutation, &mut chance);
        let world = World::new(rates, mutation, keeping);
        let people = People::found(&world, &rates, &mut chance);
        let sources = Arc::new(serving::source_settings(&world, people.manifests()));
        let ports = world.ports();
        let routes = serving::routes(&world, &ports, people.manifests());
        let next_tick = world.state().now;
        let mut simulation = Self {
            world,
            ports,
            routes,
            sources,
            people,
            rates,
            processes: BTreeMap::new(),
            next_tick,
            steps: 0,
        };
        simulation.configure();
        simulation
    }

    /// Takes turns until they are over or something is violated; then lets everything settle.
    pub(crate) fn run(mut self, turns: &[Turn]) -> Outcome {
        for (number, turn) in turns.iter().enumerate() {
            self.turn(*turn);
            if self.violation().is_some() {
                return self.outcome(number + 1);
            }
        }
        self.settle();
        self.outcome(turns.len())
    }

    fn outcome(self, turns: usize) -> Outcome {
        let violation = self.violation();
        let state = self.world.state();
        Outcome {
            steps: self.steps,
            runs: state.oracle.runs(),
            states: state.oracle.states(),
            faults: state.faults,
            violation,
            turns,
            history: state.history.entries().to_vec(),
        }
    }

    fn violation(&self) -> Option<Violation> {
        self.world.state().oracle.violation()
    }

    fn turn(&mut self, turn: Turn) {
        {
            let mut state = self.world.state();
            state.chance = Chance::of(turn.word);
            state.rates = if turn.is_calm { Rates::none() } else { self.rates };
            state.break_off();
        }
        self.prune();
        let ready = self.ready();
        let choices = [
            (if ready.is_empty() { 0 } else { 300 }, Choice::Step),
            (if self.can_receive() { 60 } else { 0 }, Choice::Receive),
            (if self.can_tick() { 30 } else { 0 }, Choice::Tick),
            (if turn.is_calm { 0 } else { self.rates.people / 10 + 1 }, Choice::People),
            (if ready.is_empty() { 300 } else { 6 }, Choice::Time),
        ];
        let choice = self.world.state().chance.weighted(&choices);
        match choice.unwrap_or(Choice::Time) {
            Choice::Step => self.step_one(&ready),
            Choice::Receive => self.receive(),
            Choice::Tick => self.tick(),
            Choice::People => self.act(),
            Choice::Time => self.pass_time(ready.is_empty()),
        }
        self.start_processes();
    }

    fn ready(&self) -> Vec<u64> {
        let state = self.world.state();
        let is_ready =
            |process: &Process| process.is_ready(state.now, |answer| state.answers.contains_key(&answer));
        self.processes.iter().filter(|(_, process)| is_ready(process)).map(|(id, _)| *id).collect()
    }

    fn can_receive(&self) -> bool {
        let workers = self.processes.values().filter(|process| process.kind == Kind::Worker).count();
        let state = self.world.state();
        workers < WORKERS && !state.line.ready(state.now).is_empty()
    }

    fn can_tick(&self) -> bool {
        let now = self.world.state().now;
        now >= self.next_tick
            && self.processes.values().all(|process| process.kind != Kind::Tick)
            && self.first_due().is_some_and(|due| due <= now)
    }

    /// When something is due next, as the index has it. Ticks that would find nothing are left out.
    fn first_due(&self) -> Option<Timestamp> {
        if let KnownDue::Read(known) = self.world.state().known_due() {
            return known;
        }
        let first = self.read_first_due();
        self.world.state().first_due = KnownDue::Read(first);
        first
    }

    fn read_first_due(&self) -> Option<Timestamp> {
        let (prefix, order, up_to) = (String::new(), Order::Ascending, None);
        let query = |index| Query::Index {
            index,
            prefix: prefix.clone(),
            up_to: up_to.clone(),
            order,
            after: None,
            limit: 1,
        };
        let first = |index| {
            let page = at_once(self.world.index(query(index)))?.ok()?;
            let item = page.items.into_iter().next()?;
            let entry = item.indexes.into_iter().find(|entry| entry.index == index)?;
            entry.value.parse().ok().map(Timestamp)
        };
        [first(Index::Due), first(Index::Effects)].into_iter().flatten().min()
    }

    fn step_one(&mut self, ready: &[u64]) {
        let chosen = {
            let mut state = self.world.state();
            let passed = state.chance.between(1, 60);
            state.now = state.now + Span(passed);
            state.chance.one_of(ready).copied()
        };
        if let Some(id) = chosen {
            self.step(id);
        }
    }

    /// Lets a process get past one gate, unless it crashes or falls asleep there.
    fn step(&mut self, id: u64) {
        let Some(mut process) = self.processes.remove(&id) else { return };
        self.steps += 1;
        let context = &mut Context::from_waker(Waker::noop());
        {
            let mut state = self.world.state();
            state.current = Current { name: process.name.clone(), skew: process.skew };
            state.wait = Wait::Turn;
            let (crash, sleep) = (state.rates.crash, state.rates.sleep);
            if process.may_crash() && state.goes_wrong(crash) {
                state.note_as(Sign::fault(), || "crashes".to_owned());
                state.alive.remove(&id);
                return;
            }
            if process.may_crash() && state.goes_wrong(sleep) {
                let until = state.now + Span(state.chance.between(1_000, 1_200_000));
                state.note_as(Sign::fault(), || format!("sleeps until {until}"));
                process.wait = Wait::Until(until);
                drop(state);
                self.processes.insert(id, process);
                return;
            }
        }
        match process.doing.as_mut().poll(context) {
            Poll::Pending => {
                process.wait = self.world.state().wait;
                self.processes.insert(id, process);
            }
            Poll::Ready(()) => self.ended(id, &process),
        }
    }

    fn ended(&self, id: u64, process: &Process) {
        let mut state = self.world.state();
        state.alive.remove(&id);
        if let Kind::Task(attempt) = process.kind {
            state.task_ended(attempt, "exit code 0");
        }
    }

    /// Drops the processes of tasks that were killed.
    fn prune(&mut self) {
        let mut state = self.world.state();
        state.start_late_tasks();
        let rate = state.rates.kill;
        self.processes.retain(|id, _| state.alive.contains(id));
        if state.chance.permille(20) && state.goes_wrong(rate) {
            drop(state);
            self.kill_a_task();
        }
    }

    fn kill_a_task(&self) {
        let mut state = self.world.state();
        let tasks: Vec<_> = self.processes.values().filter_map(|process| process.kind.task()).collect();
        let Some(attempt) = state.chance.one_of(&tasks).copied() else { return };
        "the world".clone_into(&mut state.current.name);
        let sign = Sign::to(Lane::Task).marked(Mark::Fault);
        state.note_as(sign, || format!("kills the task of {attempt}"));
        state.task_ended(attempt, "signal 9");
    }

    /// Receives messages of one group, some or one.
    fn receive(&mut self) {
        let received = {
            let mut state = self.world.state();
            let now = state.now;
            let groups: Vec<String> = state.line.ready(now).into_iter().map(str::to_owned).collect();
            let group = state.chance.one_of(&groups).cloned().unwrap_or_default();
            let most = 1 + state.chance.below(MOST_TOGETHER);
            state.line.take(&group, most, now)
        };
        let ids = received.iter().map(|received| received.message.deduplication_id());
        let messages = ids.collect::<Vec<_>>().join(", ");
        let Some((name, doing)) = serving::worker(&self.world, &self.ports, &self.sources, received) else {
            return;
        };
        let id = self.start(&name, Kind::Worker, |_| doing);
        let mut state = self.world.state();
        state.current.name = format!("{name} #{id}");
        state.note_as(Sign::from(Lane::Queue), || format!("receives {messages}"));
    }

    fn tick(&mut self) {
        let between = self.world.state().chance.between(1_000, 60_000);
        self.next_tick = self.world.state().now + Span(between);
        let ports = self.ports.clone();
        let doing: Doing = Box::pin(async move { drop(yuba_scheduler::tick(&ports).await) });
        self.start("scheduler", Kind::Tick, |_| doing);
    }

    fn act(&mut self) {
        self.steps += 1;
        if let Some((name, doing)) = self.people.act(&self.world) {
            self.start(&name, Kind::Person, |_| doing);
        }
    }

    fn pass_time(&mut self, is_idle: bool) {
        let next = if is_idle { self.next_event() } else { None };
        let mut state = self.world.state();
        let passed = state.chance.between(0, 3_000);
        state.now = next.map_or(state.now + Span(passed), |next| next.max(state.now));
    }

    /// When something happens next while nobody does anything.
    fn next_event(&self) -> Option<Timestamp> {
        let due = self.first_due().map(|due| due.max(self.next_tick));
        let state = self.world.state();
        let wakes = self.processes.values().filter_map(Process::wakes_at);
        let others = [due, state.line.next_visible(state.now), state.next_late_task()];
        wakes.chain(others.into_iter().flatten()).filter(|at| *at > state.now).min()
    }

    fn start_processes(&mut self) {
        loop {
            let Some(spawn) = self.world.state().spawn.pop() else { return };
            self.start_process(spawn);
        }
    }

    fn start_process(&mut self, spawn: Spawn) {
        match spawn {
            Spawn::Request { request, path, asked } => {
                let doing = serving::server(&self.world, &self.routes, *request, asked);
                self.start(&format!("server {path}"), Kind::Server, |_| doing);
            }
            Spawn::Task { start } => {
                let (attempt, world) = (start.attempt, self.world.clone());
                let name = format!("task {}-{}", attempt.phase, attempt.number);
                let doing = |id| -> Doing { Box::pin(crate::runner::run(world, start, id)) };
                let id = self.start(&name, Kind::Task(attempt), doing);
                self.world.state().task_began(attempt, id);
            }
        }
    }

    fn start(&mut self, name: &str, kind: Kind, doing: impl FnOnce(u64) -> Doing) -> u64 {
        let (id, skew) = {
            let mut state = self.world.state();
            let id = state.number();
            state.alive.insert(id);
            let most = state.rates.skew;
            (id, Span(state.chance.between(-most, most)))
        };
        let process =
            Process { name: format!("{name} #{id}"), kind, doing: doing(id), wait: Wait::Turn, skew };
        self.processes.insert(id, process);
        id
    }

    fn configure(&mut self) {
        let (ports, manifests) = (self.ports.clone(), self.people.manifests().to_vec());
        let doing: Doing =
            Box::pin(async move { while yuba_source::configure(&ports, &manifests).await.is_err() {} });
        self.start("server starts", Kind::Person, |_| doing);
    }

    /// Goes on without faults and people until everything has settled, and looks whether it settled well.
    fn settle(&mut self) {
        let deadline = self.world.state().now + SETTLES_WITHIN;
        self.people.calm_down(&self.world);
        let mut chance = Chance::of(1);
        let mut turns = 0;
        while turns < MOST_SETTLING && self.violation().is_none() {
            turns += 1;
            let is_over = self.world.state().now >= deadline;
            if is_over && self.is_still() {
                break;
            }
            self.turn(Turn { word: chance.word(), is_calm: true });
        }
        if turns == MOST_SETTLING {
            self.world.state().violated(5, "it never comes to rest".to_owned());
        }
        crate::oracle::settled::check(&self.world, &self.people);
    }

    fn is_still(&self) -> bool {
        self.processes.is_empty() && self.world.state().line.len() == 0
    }
}

/// The turns that a seed determines.
pub fn turns_of(seed: u64, count: usize) -> Vec<Turn> {
    let mut chance = Chance::of(seed.wrapping_add(0x5EED));
    (0..count).map(|_| Turn { word: chance.word(), is_calm: false }).collect()
}

/// Simulates the world of a planted fault without the fault.
pub(crate) fn simulate_control(seed: u64, mutation: Mutation, turns: &[Turn]) -> Outcome {
    let simulation = Simulation::new(seed, Some(mutation), Keeping::Nothing);
    simulation.world.state().mutation = None;
    simulation.run(turns)
}

/// Simulates one world: these turns, then calm.
pub fn simulate(seed: u64, mutation: Option<Mutation>, turns: &[Turn], keeping: Keeping) -> Outcome {
    Simulation::new(seed, mutation, keeping).run(turns)
}
