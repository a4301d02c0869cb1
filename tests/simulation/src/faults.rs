//! What may go wrong, and how often.

use yuba_core::time::Span;

use crate::chance::Chance;
use crate::lane::Lane;
use crate::world::Call;
use crate::world::away::CALLED;

/// What happens to one call of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is refused for now: too many calls.
    Throttled,
    /// It fails before it does anything.
    Failed,
    /// It fails, and trying again would fail too.
    Refused,
    /// It does what it was asked, and the answer is lost.
    AnswerLost,
    /// A commit loses a race that was none.
    Conflict,
}

/// How often things go wrong in one simulation: times of a thousand. Each seed has rates of its own, so that some
/// simulations are calm but for one kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Rates {
    /// A call of a port is throttled.
    pub(crate) throttled: u32,
    /// A call of a port fails.
    pub(crate) failed: u32,
    /// A call of a port is refused for good.
    pub(crate) refused: u32,
    /// The answer of a call is lost.
    pub(crate) answer_lost: u32,
    /// A commit loses a race.
    pub(crate) conflict: u32,
    /// A process crashes where it stands.
    pub(crate) crash: u32,
    /// A process sleeps where it stands, for up to 20 minutes.
    pub(crate) sleep: u32,
    /// A request or an answer between two parts is lost.
    pub(crate) network: u32,
    /// A task is killed.
    pub(crate) kill: u32,
    /// A task never starts, or starts late.
    pub(crate) start: u32,
    /// Something fails in the cloud while a plan is applied.
    pub(crate) cloud: u32,
    /// A stored plan is exchanged for other bytes.
    pub(crate) tamper: u32,
    /// A record is written by a function of another version: with a field that this one does not know, or with the
    /// number of the schema before.
    pub(crate) versions: u32,
    /// A message is sent twice.
    pub(crate) duplicate: u32,
    /// A message comes late, by up to five minutes.
    pub(crate) late: u32,
    /// Whoever handles a message dies of it, each time.
    pub(crate) poison: u32,
    /// Two parts cannot reach each other for up to a quarter of an hour: times of a hundred thousand turns.
    pub(crate) partition: u32,
    /// What all plans need is away for up to six hours: times of a hundred thousand turns.
    pub(crate) outage: u32,
    /// The world has many stacks.
    pub(crate) large: u32,
    /// Entries of an index lag behind their records.
    pub(crate) lag: u32,
    /// Clocks differ by up to so many milliseconds.
    pub(crate) skew: i64,
    /// How often people act.
    pub(crate) people: u32,
    /// How often they push, among what they do.
    pub(crate) push: u32,
    /// How often they force a branch back.
    pub(crate) back: u32,
    /// How often they edit manifests.
    pub(crate) edit: u32,
    /// How many of these edits are about who approves, or suspend: times of a thousand.
    pub(crate) approval: u32,
    /// How often they press buttons.
    pub(crate) press: u32,
    /// Manifests have teams, and say where messages go.
    pub(crate) office: u32,
    /// How often they suspend and resume.
    pub(crate) suspend: u32,
    /// What fares worse than all else when it is called.
    pub(crate) troubled: Option<Lane>,
}

/// How much worse.
const WORSE: u32 = 5;

impl Rates {
    /// The rates of a simulation.
    pub(crate) fn of(chance: &mut Chance) -> Self {
        let rates = Self::with(|most| match chance.below(4) {
            0 => 0,
            1 => chance.between(0, most / 8),
            _ => chance.between(most / 8, most),
        });
        let troubled = CALLED.get(chance.below(4 * CALLED.len())).copied();
        Self { troubled, ..rates }
    }

    /// Some of everything: what is planted in the engine shows where the world is rough.
    pub(crate) fn rough(chance: &mut Chance) -> Self {
        Self::with(|most| chance.between(most / 8, most / 2))
    }

    fn with(mut rate: impl FnMut(i64) -> i64) -> Self {
        let mut rate = |most| u32::try_from(rate(most)).unwrap_or(0);
        Self {
            throttled: rate(40),
            failed: rate(60),
            refused: rate(20),
            answer_lost: rate(60),
            conflict: rate(150),
            crash: rate(60),
            sleep: rate(40),
            network: rate(200),
            kill: rate(100),
            start: rate(300),
            cloud: rate(300),
            tamper: rate(300),
            versions: rate(50),
            duplicate: rate(150),
            late: rate(100),
            poison: rate(10),
            partition: rate(200),
            outage: rate(50),
            large: rate(100),
            lag: rate(500),
            skew: i64::from(rate(60)) * 1000,
            people: rate(60) + 10,
            push: rate(50) + 5,
            back: rate(20),
            edit: rate(40) + 5,
            approval: rate(600),
            press: rate(160),
            office: 400,
            suspend: rate(15),
            troubled: None,
        }
    }

    /// Nothing goes wrong, and nobody acts.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// What happens to a call.
    pub(crate) fn call(&self, chance: &mut Chance, (port, call): (Lane, Call)) -> Option<Fault> {
        let conflict = if call == Call::Commit { self.conflict } else { 0 };
        let worse = if self.troubled == Some(port) { WORSE } else { 1 };
        let faults = [
            (self.throttled * worse, Fault::Throttled),
            (self.failed * worse, Fault::Failed),
            (self.refused * worse, Fault::Refused),
            (self.answer_lost * worse, Fault::AnswerLost),
            (conflict, Fault::Conflict),
        ];
        let total: u32 = faults.iter().map(|(rate, _)| rate).sum();
        if chance.permille(total) { chance.weighted(&faults) } else { None }
    }
}

/// How long a throttled caller is asked to wait.
pub(crate) const THROTTLE: Span = Span::seconds(5);
