//! `Blobs`: objects by key, written whole.

use std::path::Path;

use async_trait::async_trait;

use crate::error::PortError;

/// Objects by key (`/`-separated, no `..`). On AWS S3, on one machine files.
///
/// A reader sees an object whole or not at all.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Writes an object from memory.
    async fn put(&self, key: &str, bytes: &[u8], mode: PutMode) -> Result<PutOutcome, PortError>;

    /// Writes an object from a file, in bounded memory.
    async fn put_file(&self, key: &str, file: &Path, mode: PutMode) -> Result<PutOutcome, PortError>;

    /// Reads an object into memory; `None` where there is none.
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, PortError>;

    /// Reads an object into a file, in bounded memory; `false` where there is none.
    async fn get_file(&self, key: &str, file: &Path) -> Result<bool, PortError>;

    /// Whether there is an object.
    async fn exists(&self, key: &str) -> Result<bool, PortError>;

    /// The keys that start with a prefix, sorted, after a key, at most `limit`.
    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError>;

    /// Deletes an object; nothing happens where there is none.
    async fn delete(&self, key: &str) -> Result<(), PortError>;
}

/// What to do about an object that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutMode {
    /// Replace it.
    Replace,
    /// Leave it.
    CreateOnly,
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    /// It was written.
    Written,
    /// There was one already, and it was left.
    Exists,
}

/// For implementations: refuses, permanently, a key that is no plain relative path: `/`-separated names, each without
/// control characters, none of them empty, `.` or `..`, and none that begins with `.tmp` (unfinished objects).
pub fn check_key(key: &str) -> Result<(), PortError> {
    let plain = |name: &str| {
        !name.is_empty()
            && !matches!(name, "." | "..")
            && !name.starts_with(".tmp")
            && name.len() <= 255
            && !name.contains(|letter: char| letter.is_control() || letter == '\\')
    };
    if key.len() <= 1024 && key.split('/').all(plain) {
        return Ok(());
    }
    Err(PortError::permanent(format!("`{}` is not a key that an object may have", key.escape_debug())))
}
