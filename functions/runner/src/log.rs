//! The attempt's log: masked line by line, stored in pieces while it runs and whole when it has ended.

use std::collections::BTreeSet;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use yuba_core::job::object;
use yuba_core::plan::OpenKey;
use yuba_core::plan::mask::Masker;

use crate::ended::{Ended, Step};
use crate::objects::Objects;

/// How often a piece is stored.
const EVERY: Duration = Duration::from_millis(500);

/// The most bytes that the whole log keeps; what comes after is named, not kept.
const WHOLE_LIMIT: usize = 64 * 1024 * 1024;

/// The log. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Log(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    objects: Objects,
    prefix: String,
    text: Mutex<Text>,
}

#[derive(Debug)]
struct Text {
    secrets: BTreeSet<String>,
    /// What the stack's `redact` says.
    patterns: Vec<String>,
    masker: Masker,
    /// A private key that the last line did not end.
    key: OpenKey,
    whole: String,
    stored: usize,
    pieces: u32,
    is_full: bool,
}

impl Log {
    /// An empty log of the attempt whose objects lie under `prefix`.
    pub(crate) fn new(
        objects: Objects,
        prefix: String,
        secrets: BTreeSet<String>,
        patterns: Vec<String>,
    ) -> Step<Self> {
        let masker = masker(&secrets, &patterns)?;
        let (key, whole) = (OpenKey::default(), String::new());
        let text = Text { secrets, patterns, masker, key, whole, stored: 0, pieces: 0, is_full: false };
        Ok(Self(Arc::new(Shared { objects, prefix, text: Mutex::new(text) })))
    }

    /// Masks these texts too from now on.
    pub(crate) fn learn(&self, secrets: BTreeSet<String>) -> Step<()> {
        let mut log = self.text();
        log.secrets.extend(secrets);
        log.masker = masker(&log.secrets, &log.patterns)?;
        Ok(())
    }

    /// What masks.
    pub(crate) fn masker(&self) -> Masker {
        self.text().masker.clone()
    }

    /// Adds lines.
    pub(crate) fn line(&self, text: &str) {
        let mut log = self.text();
        if log.is_full {
            return;
        }
        let Text { masker, key, .. } = &mut *log;
        let masked = masker.mask_next(text.trim_end(), key);
        if log.whole.len() + masked.len() > WHOLE_LIMIT {
            log.is_full = true;
            log.whole.push_str("… the log is longer than is kept\n");
            return;
        }
        log.whole.push_str(&masked);
        log.whole.push('\n');
    }

    /// The text without secrets.
    pub(crate) fn mask(&self, text: &str) -> String {
        self.text().masker.mask(text)
    }

    /// Stores pieces until it is dropped.
    pub(crate) async fn store_pieces(self) {
        loop {
            tokio::time::sleep(EVERY).await;
            let log = self.clone();
            let stored = tokio::task::spawn_blocking(move || log.store_piece()).await;
            if let Ok(Err(error)) = stored {
                tracing::warn!(?error, "a piece of the log could not be stored");
            }
        }
    }

    /// Stores what is not stored yet as the next piece.
    fn store_piece(&self) -> Step<()> {
        let (piece, number) = {
            let mut log = self.text();
            let piece = log.whole.get(log.stored..).unwrap_or_default().to_owned();
            if piece.is_empty() {
                return Ok(());
            }
            log.stored = log.whole.len();
            log.pieces += 1;
            (piece, log.pieces)
        };
        let key = format!("{}{}{number:06}", self.0.prefix, object::LOG_PIECES);
        self.0.objects.put(&key, piece.as_bytes())
    }

    /// Stores the last piece and the whole log.
    pub(crate) fn close(&self) -> Step<()> {
        self.store_piece()?;
        let whole = mem::take(&mut self.text().whole);
        self.0.objects.put(&format!("{}{}", self.0.prefix, object::LOG), whole.as_bytes())
    }

    fn text(&self) -> MutexGuard<'_, Text> {
        // A line is added in one call; a panic elsewhere leaves the text as it was.
        self.0.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn masker(secrets: &BTreeSet<String>, patterns: &[String]) -> Step<Masker> {
    let masker =
        Masker::new(secrets).map_err(|_| Ended::configuration("the secrets are too large to mask"))?;
    Ok(masker.with_patterns(patterns))
}
