//! Whatever is done to a trail is found, and the first entry that it was done to is named.

use proptest::prelude::*;
use serde_json::{Value, json};
use ulid::Ulid;

use super::canonical::body_of;
use super::{AuditAction, AuditAnchor, AuditEntry, AuditHead, AuditLine, AuditOutcome, Deed};
use super::{Broken, Verified, Verifier, anchors};
use crate::id::{AuditChain, AuditHash, StackId};
use crate::request::Signed;
use crate::time::{Span, Timestamp};

const BEGIN: Timestamp = Timestamp(1_796_000_000_000);

fn chain(number: u8) -> AuditChain {
    match number {
        0 => AuditChain::Installation,
        number => AuditChain::Stack(StackId(Ulid::from_parts(1, number.into()))),
    }
}

fn deed(who: &str, at: Timestamp) -> Deed {
    let (from, message) = ("cli".to_owned(), "looks \"good\"".to_owned());
    Deed {
        at,
        stack: None,
        by: Signed { who: who.to_owned(), at, from, message, identity: None },
        action: AuditAction::Approve,
        about: String::new(),
        outcome: AuditOutcome::Done,
        detail: "done".to_owned(),
        rule: "approvePlan: manual".to_owned(),
        run: None,
        plan: None,
    }
}

/// A trail: an hour passes between two entries, and an anchor is made whenever one is due.
#[derive(Debug, Clone, Default)]
struct Trail {
    anchors: Vec<AuditAnchor>,
    heads: Vec<AuditHead>,
    entries: Vec<AuditEntry>,
}

impl Trail {
    fn of(chains: &[u8]) -> Self {
        let (mut trail, mut now) = (Self::default(), BEGIN);
        for number in chains {
            now = now + Span::hours(1);
            let place = trail.heads.iter().position(|head| head.chain == chain(*number));
            let mut head = place.map(|place| trail.heads.remove(place));
            trail.entries.push(AuditEntry::append(&mut head, chain(*number), deed("ann", now)));
            trail.heads.extend(head);
            trail.anchor(now);
        }
        trail.anchor(now + Span::hours(24));
        trail.entries.sort_by_key(|entry| (entry.chain, entry.number));
        trail
    }

    fn anchor(&mut self, now: Timestamp) {
        self.anchors.extend(anchors(self.anchors.last(), &self.heads, now));
    }

    fn lines(&self) -> Vec<AuditLine> {
        let anchors = self.anchors.iter().map(|anchor| AuditLine::Anchor(body_of(anchor)));
        let heads = self.heads.iter().map(|head| AuditLine::Head(*head));
        let entries = self.entries.iter().map(|entry| AuditLine::Entry(body_of(entry)));
        anchors.chain(heads).chain(entries).collect()
    }

    fn verify(&self) -> Result<Verified, Broken> {
        verify(self.lines())
    }
}

fn verify(lines: Vec<AuditLine>) -> Result<Verified, Broken> {
    let mut verifier = Verifier::default();
    lines.into_iter().try_for_each(|line| verifier.take(line))?;
    verifier.finish()
}

/// The entry that is named as the first that is wrong.
fn named(broken: &Broken) -> Option<(AuditChain, u64)> {
    match broken {
        Broken::OutOfPlace { chain, number, .. }
        | Broken::Changed { chain, number }
        | Broken::DoesNotFollow { chain, number }
        | Broken::Missing { chain, number, .. }
        | Broken::Replaced { chain, number, .. } => Some((*chain, *number)),
        Broken::NoEntry { .. } | Broken::Anchor { .. } => None,
    }
}

fn first_wrong(trail: &Trail) -> Option<(AuditChain, u64)> {
    trail.verify().err().as_ref().and_then(named)
}

fn is_missing(trail: &Trail) -> bool {
    matches!(trail.verify(), Err(Broken::Missing { .. }))
}

fn is_anchor(trail: &Trail) -> bool {
    matches!(trail.verify(), Err(Broken::Anchor { .. }))
}

/// Every place of a JSON value that holds something, as JSON pointers.
fn places(value: &Value, at: &str) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| places(value, &format!("{at}/{name}"))).collect()
        }
        _ => vec![at.to_owned()],
    }
}

fn changed(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_i64().unwrap_or_default() + 1),
        Value::String(text) if text.starts_with("sha256:") => json!(AuditHash::of(b"else").to_string()),
        Value::String(text) if text.parse::<AuditChain>().is_ok() => json!(chain(9).to_string()),
        Value::String(text) => json!(format!("{text}x")),
        _ => json!("something"),
    }
}

proptest! {
    #[test]
    fn what_nobody_touched_is_right(chains in prop::collection::vec(0_u8..4, 0..60)) {
        let trail = Trail::of(&chains);
        let verified = trail.verify().unwrap();
        prop_assert_eq!(verified.entries, chains.len());
        prop_assert_eq!(verified.anchors.len(), trail.anchors.len());
        let anchored: usize = trail.anchors.iter().map(|anchor| anchor.heads.len()).sum();
        prop_assert!(anchored >= trail.heads.len(), "every chain is anchored");
    }

    #[test]
    fn a_change_of_anything_in_an_entry_is_found_there(
        chains in prop::collection::vec(0_u8..4, 1..40), which in any::<prop::sample::Index>(), field in any::<prop::sample::Index>(),
    ) {
        let trail = Trail::of(&chains);
        let place = which.index(trail.entries.len());
        let touched = &trail.entries[place];
        let mut lines = trail.lines();
        let line = lines.len() - trail.entries.len() + place;
        let AuditLine::Entry(body) = &mut lines[line] else { panic!("an entry") };
        let fields = places(body, "");
        let pointer = &fields[field.index(fields.len())];
        let value = body.pointer_mut(pointer).unwrap();
        *value = changed(value);
        let broken = verify(lines).unwrap_err();
        // One that says it is of another chain is found as that chain's.
        if pointer != "/chain" {
            prop_assert_eq!(named(&broken), Some((touched.chain, touched.number)), "{}: {}", pointer, broken);
        }
    }

    #[test]
    fn one_that_was_made_anew_is_found(
        chains in prop::collection::vec(0_u8..3, 1..40), which in any::<prop::sample::Index>(), all in any::<bool>(),
    ) {
        let mut trail = Trail::of(&chains);
        let from = which.index(trail.entries.len());
        let (of, number) = (trail.entries[from].chain, trail.entries[from].number);
        let before = from.checked_sub(1).map(|before| &trail.entries[before]).filter(|before| before.chain == of);
        let mut head = before.map(|entry| AuditHead { chain: of, number: entry.number, hash: entry.hash, at: BEGIN });
        let mut rest = trail.entries.iter_mut().skip(from).filter(|entry| entry.chain == of);
        // Whoever makes all that follow anew too is found by heads and anchors.
        let first = rest.next().unwrap();
        *first = AuditEntry::append(&mut head, of, deed("eve", first.deed.at));
        if all {
            rest.for_each(|entry| *entry = AuditEntry::append(&mut head, of, entry.deed.clone()));
        }
        let (found, at) = first_wrong(&trail).unwrap();
        prop_assert_eq!(found, of);
        let near = at == number || at == number + 1;
        prop_assert!(near || all && at >= number);
    }

    #[test]
    fn one_that_was_removed_or_doubled_is_found_there(
        chains in prop::collection::vec(0_u8..4, 1..40), which in any::<prop::sample::Index>(),
    ) {
        let whole = Trail::of(&chains);
        let place = which.index(whole.entries.len());
        let touched = whole.entries[place].clone();
        let mut trail = whole.clone();
        trail.entries.remove(place);
        prop_assert_eq!(first_wrong(&trail), Some((touched.chain, touched.number)));
        let mut trail = whole;
        trail.entries.insert(place, touched.clone());
        prop_assert_eq!(first_wrong(&trail), Some((touched.chain, touched.number + 1)));
    }

    #[test]
    fn two_that_changed_places_are_found_at_the_first(
        chains in prop::collection::vec(0_u8..2, 2..40), one in any::<prop::sample::Index>(), other in any::<prop::sample::Index>(),
    ) {
        let mut trail = Trail::of(&chains);
        let (one, other) = (one.index(chains.len()), other.index(chains.len()));
        let (first, second) = (one.min(other), one.max(other));
        let touched = trail.entries[first].clone();
        prop_assume!(first != second && touched.chain == trail.entries[second].chain);
        trail.entries.swap(first, second);
        prop_assert_eq!(first_wrong(&trail), Some((touched.chain, touched.number)));
    }

    #[test]
    fn an_end_that_was_cut_off_is_found_by_heads_and_without_them_by_anchors(
        chains in prop::collection::vec(0_u8..4, 1..40), kept in any::<prop::sample::Index>(),
    ) {
        let mut trail = Trail::of(&chains);
        let kept = kept.index(trail.entries.len());
        trail.entries.truncate(kept);
        prop_assert!(is_missing(&trail));
        let without_anchors = Trail { anchors: Vec::new(), ..trail.clone() };
        prop_assert!(is_missing(&without_anchors));
        trail.heads.clear();
        prop_assert!(is_missing(&trail));
    }

    #[test]
    fn anchors_that_were_changed_or_removed_are_found(
        chains in prop::collection::vec(0_u8..4, 30..80), which in any::<prop::sample::Index>(),
    ) {
        let whole = Trail::of(&chains);
        let place = which.index(whole.anchors.len() - 1);
        let mut trail = whole.clone();
        trail.anchors.remove(place);
        prop_assert!(is_anchor(&trail), "a gap");
        let mut trail = whole.clone();
        trail.anchors[place].at = BEGIN;
        prop_assert!(is_anchor(&trail), "a change");
        let mut trail = whole.clone();
        trail.anchors.swap(place, place + 1);
        prop_assert!(is_anchor(&trail), "another order");
        let mut trail = whole.clone();
        let before = place.checked_sub(1).map(|before| trail.anchors[before].clone());
        trail.anchors[place] = anchors(before.as_ref(), &[], trail.anchors[place].at).remove(0);
        prop_assert!(is_anchor(&trail), "one made anew");
    }
}

#[test]
fn an_anchor_is_made_once_a_day_of_what_grew() {
    let trail = Trail::of(&[1, 2, 2]);
    let newest = trail.anchors.last().unwrap();
    assert_eq!(anchors(Some(newest), &trail.heads, newest.at + Span::minutes(1)), []);
    let next = anchors(Some(newest), &trail.heads, newest.at + Span::hours(24));
    assert_eq!(next.len(), 1);
    assert_eq!(next[0].heads, [], "nothing grew");
    assert_eq!((next[0].number, next[0].previous), (newest.number + 1, newest.hash));
}

#[test]
fn more_chains_than_fit_into_one_anchor_make_several() {
    let head = |number: u32| {
        let chain = AuditChain::Stack(StackId(Ulid::from_parts(1, number.into())));
        AuditHead { chain, number: 1, hash: AuditHash::NONE, at: BEGIN }
    };
    let heads: Vec<AuditHead> = (0..2_001).map(head).collect();
    let made = anchors(None, &heads, BEGIN);
    let sizes: Vec<usize> = made.iter().map(|anchor| anchor.heads.len()).collect();
    assert_eq!(sizes, [1_000, 1_000, 1]);
    assert_eq!(made[1].previous, made[0].hash);
}

#[test]
fn a_hash_is_of_the_canonical_text() {
    let mut head = None;
    let entry = AuditEntry::append(&mut head, AuditChain::Installation, deed("ann", BEGIN));
    let text = "yuba audit entry 1\n{\"chain\":\"installation\",\"deed\":{\"about\":\"\",\"action\":\"approve\",\
                \"at\":1796000000000,\"by\":{\"at\":1796000000000,\"from\":\"cli\",\"message\":\"looks \\\"good\\\"\",\
                \"who\":\"ann\"},\"detail\":\"done\",\"outcome\":\"done\",\"plan\":null,\"rule\":\"approvePlan: manual\",\
                \"run\":null,\"stack\":null},\"number\":1,\"previous\":\
                \"sha256:0000000000000000000000000000000000000000000000000000000000000000\"}";
    assert_eq!(entry.hash, AuditHash::of(text.as_bytes()));
    assert_eq!(head.map(|head| (head.number, head.hash)), Some((1, entry.hash)));
}
