//! One notice of an error that many stacks have, until it is over: no second, none for nothing, and not none at all.

use std::collections::{BTreeMap, BTreeSet};

use yuba_core::event::Event;
use yuba_core::id::StackId;
use yuba_core::record::Key;
use yuba_core::source::Definition;
use yuba_core::stack::{Retry, Stack};
use yuba_core::time::{Span, Timestamp};
use yuba_core::trouble::{MANY, TroubleNotice};

use super::Oracle;
use crate::world::State;

/// So long may many stacks have an error before notice is given: whoever gives it tries at most every hour.
const NOTICE_WITHIN: Span = Span::hours(3);

/// What is known of troubles.
#[derive(Debug, Default)]
pub(super) struct Troubles {
    /// Notices that stand.
    standing: BTreeMap<Key, TroubleNotice>,
    /// How many notices each stack has given.
    given: BTreeMap<StackId, usize>,
    /// How many it has told of.
    told: BTreeMap<StackId, usize>,
    /// The stacks that try again after an error, by what names it.
    having: BTreeMap<String, BTreeSet<StackId>>,
    /// Since when many stacks have an error, without notice.
    since: BTreeMap<String, Timestamp>,
}

impl State {
    /// Notice of a trouble is written down.
    pub(super) fn noticed(&mut self, notice: TroubleNotice) {
        let troubles = &mut self.oracle.troubles;
        troubles.since.remove(&notice.signature);
        *troubles.given.entry(notice.stack).or_default() += 1;
        let key = Key::trouble_notice(&notice.signature);
        if let Some(before) = troubles.standing.insert(key, notice) {
            self.violated(6, format!("notice of the error {} is given twice", before.signature));
        }
    }
}

impl Troubles {
    /// A record is deleted: perhaps a notice, whose trouble is over.
    pub(super) fn deleted(&mut self, key: &Key) {
        self.standing.remove(key);
    }

    /// A stack tells of a notice: one that it gave.
    pub(super) fn told(&mut self, event: &Event) -> Option<String> {
        let told = self.told.entry(event.stack).or_default();
        *told += 1;
        let given = self.given.get(&event.stack).copied().unwrap_or(0);
        (*told > given)
            .then(|| format!("{} tells of an error of many stacks, and no notice says so", event.name))
    }

    /// A stack is written: it may have an error, or be rid of one.
    pub(super) fn wrote(
        &mut self,
        stack: &Stack,
        definitions: &BTreeMap<StackId, Definition>,
        now: Timestamp,
    ) -> Option<String> {
        let tries = |retry: &&Retry| retry.due.is_some() && stack.suspended.is_none();
        let has = stack.retry.as_ref().filter(tries).map(|retry| &retry.signature);
        for (signature, having) in &mut self.having {
            if Some(signature) != has && having.remove(&stack.id) && having.len() < MANY {
                self.since.remove(signature);
            }
        }
        let signature = has?;
        let having = self.having.entry(signature.clone()).or_default();
        having.insert(stack.id);
        let wants = |id: &&StackId| definitions.get(id).is_some_and(wants_runs);
        let many = having.iter().filter(wants).count() >= MANY;
        if !many || self.standing.contains_key(&Key::trouble_notice(signature)) {
            self.since.remove(signature);
            return None;
        }
        let since = *self.since.entry(signature.clone()).or_insert(now);
        (now.since(since) > NOTICE_WITHIN).then(|| {
            format!("{MANY} stacks have had the error {signature} since {since}, and nobody was told")
        })
    }
}

/// A stack that is suspended or has vanished does not try again, whatever error it had.
fn wants_runs(definition: &Definition) -> bool {
    !definition.spec.suspend && definition.vanished.is_none()
}

impl Oracle {
    /// A notice that stands though no stack has its trouble.
    pub(super) fn stale_notice(&self) -> Option<String> {
        let has = |notice: &TroubleNotice| {
            let has =
                |stack: &Stack| stack.retry.as_ref().is_some_and(|retry| retry.signature == notice.signature);
            self.stacks.values().any(has)
        };
        let stale = self.troubles.standing.values().find(|notice| !has(notice))?;
        Some(format!(
            "the notice of {} stands since {}, and no stack has the error",
            stale.signature, stale.at
        ))
    }
}
