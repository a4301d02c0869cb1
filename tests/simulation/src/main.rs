//! `yuba-simulation`: simulates many worlds, or one again and tells its shortest history in words.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use clap::Parser;
use yuba_simulation::{
    Caught, Keeping, MOST_WORLDS, Mutation, Outcome, catch, chart, shrink, simulate, turns_of,
};

/// How many tries shrinking takes at most.
const MOST_TRIES: usize = 600;

/// Simulates Yuba's functions over a world in memory, with faults.
#[derive(Debug, Parser)]
struct Arguments {
    /// Simulate this seed alone, and tell its history.
    #[arg(long)]
    seed: Option<u64>,
    /// How many steps to take in all.
    #[arg(long, default_value_t = 1_000_000)]
    steps: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// How many turns a world has before it settles.
    #[arg(long, default_value_t = 3_000)]
    turns: usize,
    /// How many worlds are simulated at once; as many as there are processors where nobody says.
    #[arg(long)]
    threads: Option<usize>,
    /// Plant each fault that oracles must catch, and tell how many steps that takes.
    #[arg(long)]
    mutations: bool,
    /// Plant only those whose words hold this; with a seed, plant the one there.
    #[arg(long)]
    planted: Option<String>,
    /// Draw the history of the seed as a sequence chart, into this file.
    #[arg(long, requires = "seed")]
    svg: Option<PathBuf>,
    /// Tell how the runs ended.
    #[arg(long)]
    states: bool,
    /// Tell the whole history instead of the shortest.
    #[arg(long)]
    whole: bool,
}

/// Sums over all worlds.
#[derive(Debug, Default)]
struct Totals {
    worlds: AtomicU64,
    steps: AtomicU64,
    runs: AtomicU64,
    faults: AtomicU64,
    states: Mutex<BTreeMap<String, u64>>,
    /// Something was violated: no further world begins.
    is_broken: AtomicBool,
}

#[expect(clippy::print_stdout, reason = "what simulations come to is for people")]
fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(seed) = arguments.seed {
        return tell(seed, &arguments);
    }
    if arguments.mutations {
        return plant(&arguments);
    }
    let began = Instant::now();
    let totals = Totals::default();
    let next = AtomicU64::new(arguments.from);
    let failed: Vec<(u64, Outcome)> = thread::scope(|scope| {
        let worlds = || simulate_on(&arguments, &totals, &next);
        let processors = || thread::available_parallelism().map_or(1, NonZero::get);
        let threads = arguments.threads.unwrap_or_else(processors);
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(worlds)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok().flatten()).collect()
    });
    let sum = |count: &AtomicU64| count.load(Ordering::Relaxed);
    println!(
        "{} steps, {} runs, {} faults, {} violations ({} worlds, {} steps a second)",
        sum(&totals.steps),
        sum(&totals.runs),
        sum(&totals.faults),
        failed.len(),
        sum(&totals.worlds),
        u128::from(sum(&totals.steps)) * 1000 / began.elapsed().as_millis().max(1)
    );
    if arguments.states
        && let Ok(states) = totals.states.lock()
    {
        for (state, count) in states.iter() {
            println!("{count:>8} {state}");
        }
    }
    for (seed, outcome) in &failed {
        let violation = outcome.violation.as_ref().map(ToString::to_string).unwrap_or_default();
        println!("{violation}; `make simulate SEED={seed}` tells how");
    }
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Simulates one world after the other until there were enough steps; the first that fails ends it.
fn simulate_on(arguments: &Arguments, totals: &Totals, next: &AtomicU64) -> Option<(u64, Outcome)> {
    while totals.steps.load(Ordering::Relaxed) < arguments.steps && !totals.is_broken.load(Ordering::Relaxed)
    {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        let outcome = simulate(seed, None, &turns_of(seed, arguments.turns), Keeping::Nothing);
        totals.worlds.fetch_add(1, Ordering::Relaxed);
        totals.steps.fetch_add(outcome.steps, Ordering::Relaxed);
        totals.runs.fetch_add(outcome.runs, Ordering::Relaxed);
        totals.faults.fetch_add(outcome.faults, Ordering::Relaxed);
        if let Ok(mut states) = totals.states.lock() {
            for (state, count) in &outcome.states {
                *states.entry(state.clone()).or_default() += count;
            }
        }
        if outcome.violation.is_some() {
            totals.is_broken.store(true, Ordering::Relaxed);
            return Some((seed, outcome));
        }
    }
    None
}

/// Plants each fault, and tells after how many steps it is caught.
#[expect(clippy::print_stdout, reason = "the table is for people")]
fn plant(arguments: &Arguments) -> ExitCode {
    let mut left = 0;
    for mutation in planted(arguments) {
        let caught = catch(*mutation, arguments.turns, MOST_WORLDS);
        left += u32::from(caught.is_none());
        let caught = caught.map_or("not caught".to_owned(), |Caught { seed, steps, violation }| {
            format!("{steps} | seed {seed}: {violation}")
        });
        println!("| {} | {caught} |", mutation.words());
    }
    if left == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What stands over a chart.
fn title(seed: u64, mutation: Option<Mutation>, outcome: &Outcome) -> String {
    let planted = mutation.map(|mutation| format!(", planted: {}", mutation.words())).unwrap_or_default();
    let violation = outcome.violation.as_ref().map_or("nothing is violated".to_owned(), ToString::to_string);
    format!("seed {seed}{planted}: {violation}")
}

/// The faults that are to be planted.
fn planted(arguments: &Arguments) -> impl Iterator<Item = &'static Mutation> {
    let words = arguments.planted.as_deref().unwrap_or_default();
    Mutation::ALL.iter().filter(move |mutation| mutation.words().contains(words))
}

/// Tells one seed's history.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the history is for people")]
fn tell(seed: u64, arguments: &Arguments) -> ExitCode {
    let mutation = match arguments.planted.as_ref().map(|_| planted(arguments).next()) {
        None => None,
        Some(Some(mutation)) => Some(*mutation),
        Some(None) => {
            eprintln!("no fault that can be planted says that; `--mutations` lists all of them");
            return ExitCode::FAILURE;
        }
    };
    let turns = turns_of(seed, arguments.turns);
    let mut outcome = simulate(seed, mutation, &turns, Keeping::Everything);
    if outcome.violation.is_some() && !arguments.whole {
        outcome = shrink(seed, mutation, turns, MOST_TRIES).outcome;
    }
    if let Some(file) = &arguments.svg
        && let Err(error) = fs::write(file, chart(&title(seed, mutation, &outcome), &outcome))
    {
        eprintln!("{} cannot be written: {error}", file.display());
        return ExitCode::FAILURE;
    }
    if outcome.violation.is_some() || arguments.whole {
        for entry in &outcome.history {
            println!("{entry}");
        }
    }
    let Outcome { steps, runs, faults, violation, turns, .. } = outcome;
    match violation {
        None => {
            println!("seed {seed}: {steps} steps, {runs} runs, {faults} faults, 0 violations");
            ExitCode::SUCCESS
        }
        Some(violation) => {
            println!("seed {seed}, {turns} turns: {violation}");
            ExitCode::FAILURE
        }
    }
}
