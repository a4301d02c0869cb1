//! That a request of Slack came: the same again is refused.

use serde::{Deserialize, Serialize};

use crate::record::{Index, IndexEntry, Key, Record};
use crate::time::{Span, Timestamp};

/// How old a request may be, and how far ahead of this clock.
pub const OLDEST: Span = Span::minutes(5);

/// A request that came, by its signature. It is forgotten when the request is too old to be believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Came {
    /// The signature's 64 hexadecimal digits.
    pub signature: String,
    /// When it came.
    pub at: Timestamp,
}

impl Record for Came {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::new(format!("slack#{}", self.signature), "came")
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        // Signed up to five minutes ahead of this clock, it is believed for ten.
        vec![IndexEntry::at(Index::Expires, self.at + OLDEST + OLDEST + Span::minutes(1))]
    }
}
