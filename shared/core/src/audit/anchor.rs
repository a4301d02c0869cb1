//! Anchors: once a day, the last entries of all chains that grew, chained to the anchor of before. So the newest
//! anchor's hash stands for all that ever was anchored.

use serde::{Deserialize, Serialize};

use super::canonical::{Kind, body_of, hash_of};
use super::entry::AuditHead;
use crate::id::AuditHash;
use crate::record::{Key, Record};
use crate::time::{Span, Timestamp};

/// The last entries of some chains at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditAnchor {
    /// Counts from 1.
    pub number: u64,
    /// When it was made.
    pub at: Timestamp,
    /// The chains that grew since the anchor before, in the order of their ids; those that did shortly before that one
    /// may be here again.
    pub heads: Vec<AuditHead>,
    /// The hash of the anchor before; [`AuditHash::NONE`] in the first.
    pub previous: AuditHash,
    /// SHA-256 over all of the above.
    pub hash: AuditHash,
}

/// How many heads an anchor holds: it must fit into a record.
const MOST_HEADS: usize = 1_000;

/// How long before an anchor a chain may have grown and not be in it: a decision is committed some time after it was made.
const OVERLAP: Span = Span::hours(1);

const DAY: i64 = Span::hours(24).0;

impl AuditAnchor {
    /// Whether a day (in UTC) has begun since the newest anchor.
    pub fn is_due(newest: Option<&Self>, now: Timestamp) -> bool {
        newest.is_none_or(|newest| newest.at.0.div_euclid(DAY) < now.0.div_euclid(DAY))
    }
}

/// The anchors that are due now, of all chains' heads: one, or as many as it takes; none while one of today is there.
pub fn anchors(newest: Option<&AuditAnchor>, heads: &[AuditHead], now: Timestamp) -> Vec<AuditAnchor> {
    if !AuditAnchor::is_due(newest, now) {
        return Vec::new();
    }
    let grew = |head: &&AuditHead| newest.is_none_or(|newest| head.at >= newest.at - OVERLAP);
    let mut heads: Vec<AuditHead> = heads.iter().filter(grew).copied().collect();
    heads.sort_by_key(|head| head.chain);
    let mut parts: Vec<&[AuditHead]> = heads.chunks(MOST_HEADS).collect();
    if parts.is_empty() {
        parts.push(&[]);
    }
    let mut last = newest.map_or((0, AuditHash::NONE), |newest| (newest.number, newest.hash));
    let mut made = Vec::new();
    for part in parts {
        let (number, previous) = (last.0 + 1, last.1);
        let mut anchor =
            AuditAnchor { number, at: now, heads: part.to_vec(), previous, hash: AuditHash::NONE };
        anchor.hash = hash_of(Kind::Anchor, &body_of(&anchor));
        last = (number, anchor.hash);
        made.push(anchor);
    }
    made
}

impl Record for AuditAnchor {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::audit_anchor(self.number)
    }
}
