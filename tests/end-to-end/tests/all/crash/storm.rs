//! What strikes when: a seed determines it all, but for the moment at which real processes are met by it.

use std::fmt;
use std::time::Duration;

use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use yuba_core::id::Phase;

/// How many cycles there are where nobody says.
const CYCLES: u64 = 30;

/// A number of cycles, and the seed that they come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Storm {
    pub(crate) seed: u64,
    pub(crate) cycles: u64,
}

/// One push, and what strikes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cycle {
    /// Counts from 1.
    pub(crate) number: u64,
    pub(crate) fault: Fault,
    /// How long after the push, or after the task that is struck has begun.
    pub(crate) after: Duration,
    /// How long it lasts.
    pub(crate) lasts: Duration,
    pub(crate) end: End,
}

/// What strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `kill -9` of the server.
    KillServer,
    /// SIGSTOP of the server: tasks go on and report to somebody who does not answer.
    FreezeServer,
    /// The server, and what it starts, can write to no file.
    FullDisk,
    /// The server can open, make and start nothing.
    NoFiles,
    /// SIGSTOP of a runner; its engine goes on.
    FreezeRunner(Phase),
    /// `kill -9` of a runner; its engine goes on.
    KillRunner(Phase),
    /// `kill -9` of a runner, its engine and all that this started.
    KillTask(Phase),
}

/// How a fault ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It is lifted.
    Lifted,
    /// The server is killed in the midst of it, and another one started.
    Killed,
}

const FAULTS: [Fault; 12] = [
    Fault::KillServer,
    Fault::KillServer,
    Fault::KillServer,
    Fault::FreezeServer,
    Fault::FullDisk,
    Fault::NoFiles,
    Fault::FreezeRunner(Phase::Plan),
    Fault::FreezeRunner(Phase::Apply),
    Fault::KillRunner(Phase::Plan),
    Fault::KillRunner(Phase::Apply),
    Fault::KillTask(Phase::Plan),
    Fault::KillTask(Phase::Apply),
];

impl Storm {
    /// As the environment says: `YUBA_CRASH_SEED`, any where it is left out, and `YUBA_CRASH_CYCLES`.
    pub(crate) fn from_environment() -> Self {
        let any = || u64::from(rand::random::<u16>());
        Self {
            seed: number("YUBA_CRASH_SEED").unwrap_or_else(any),
            cycles: number("YUBA_CRASH_CYCLES").unwrap_or(CYCLES),
        }
    }

    /// What strikes, in order. The first cycles of two storms of one seed are the same.
    pub(crate) fn cycles(self) -> impl Iterator<Item = Cycle> {
        let mut chance = ChaCha8Rng::seed_from_u64(self.seed);
        (1..=self.cycles).map(move |number| Cycle::any(number, &mut chance))
    }
}

#[expect(clippy::disallowed_methods, reason = "these are the settings of a test")]
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok().filter(|text| !text.is_empty())?;
    let number = text.parse().ok();
    assert!(number.is_some(), "{variable}={text}: a whole number is needed");
    number
}

impl Cycle {
    fn any(number: u64, chance: &mut ChaCha8Rng) -> Self {
        let fault = *FAULTS.choose(chance).unwrap();
        // A task lives for a second or so; a push is planned and applied within three.
        let latest = if fault.phase().is_some() { 900 } else { 1900 };
        let after = Duration::from_millis(chance.random_range(0..latest));
        let lasts = Duration::from_millis(chance.random_range(0..1200));
        let end = if chance.random_range(0..3) == 0 { End::Killed } else { End::Lifted };
        match fault {
            Fault::KillServer => Self { number, fault, after, lasts: Duration::ZERO, end: End::Killed },
            _ => Self { number, fault, after, lasts, end },
        }
    }
}

impl Fault {
    /// The phase whose task is struck.
    pub(crate) fn phase(self) -> Option<Phase> {
        match self {
            Self::FreezeRunner(phase) | Self::KillRunner(phase) | Self::KillTask(phase) => Some(phase),
            _ => None,
        }
    }
}

impl fmt::Display for Storm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, cycles } = self;
        write!(
            formatter,
            "{cycles} cycles of seed {seed}; again: make crash-long SEED={seed} CYCLES={cycles}"
        )
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, fault, after, lasts, end } = self;
        write!(formatter, "cycle {number}: {fault:?} after {after:?}, {end:?} after {lasts:?}")
    }
}
