//! Objects in a map.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::Mutex;

use async_trait::async_trait;

use super::lock;
use crate::blobs::check_key;
use crate::{Blobs, PortError, PutMode, PutOutcome};

/// Objects in memory.
#[derive(Debug, Default)]
pub struct MemoryBlobs(Mutex<BTreeMap<String, Vec<u8>>>);

#[async_trait]
impl Blobs for MemoryBlobs {
    async fn put(&self, key: &str, bytes: &[u8], mode: PutMode) -> Result<PutOutcome, PortError> {
        check_key(key)?;
        let mut objects = lock(&self.0);
        if mode == PutMode::CreateOnly && objects.contains_key(key) {
            return Ok(PutOutcome::Exists);
        }
        objects.insert(key.to_owned(), bytes.to_vec());
        Ok(PutOutcome::Written)
    }

    async fn put_file(&self, key: &str, file: &Path, mode: PutMode) -> Result<PutOutcome, PortError> {
        let bytes = tokio::fs::read(file).await.map_err(|error| {
            PortError::permanent(format!("{} cannot be read", file.display())).because(error)
        })?;
        self.put(key, &bytes, mode).await
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, PortError> {
        check_key(key)?;
        Ok(lock(&self.0).get(key).cloned())
    }

    async fn get_file(&self, key: &str, file: &Path) -> Result<bool, PortError> {
        let Some(bytes) = self.get(key).await? else { return Ok(false) };
        tokio::fs::write(file, bytes).await.map_err(|error| {
            PortError::permanent(format!("{} cannot be written", file.display())).because(error)
        })?;
        Ok(true)
    }

    async fn exists(&self, key: &str) -> Result<bool, PortError> {
        check_key(key)?;
        Ok(lock(&self.0).contains_key(key))
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        let objects = lock(&self.0);
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let keys = objects.range::<str, _>((start, Bound::Unbounded)).map(|(key, _)| key);
        Ok(keys.filter(|key| key.starts_with(prefix)).take(limit).cloned().collect())
    }

    async fn delete(&self, key: &str) -> Result<(), PortError> {
        check_key(key)?;
        lock(&self.0).remove(key);
        Ok(())
    }
}
