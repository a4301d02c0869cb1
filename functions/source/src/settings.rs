//! What the source function is set up with.

use std::path::PathBuf;
use std::sync::Arc;

use yuba_core::id::{ManifestSetName, SecretName};
use yuba_core::time::Span;
use yuba_git::fetch::Fetcher;

use crate::git::Git;

/// Settings of the source function.
#[derive(Debug, Clone)]
pub struct SourceSettings {
    /// Where Git caches lie. Only a cache: losing it costs one fetch of each source.
    pub cache_dir: PathBuf,
    /// The configured places of manifests.
    pub manifests: Vec<ManifestSetName>,
    /// How often they are looked at.
    pub manifests_interval: Span,
    /// The secret with the credentials for places of manifests in Git, where one is needed.
    pub manifests_secret: Option<SecretName>,
    /// How Git is reached.
    pub git: Arc<dyn Git>,
}

impl SourceSettings {
    /// Settings with caches below a directory, no places of manifests, and what is usual for the rest.
    pub fn new(cache_dir: PathBuf) -> Self {
        Self {
            cache_dir,
            manifests: Vec::new(),
            manifests_interval: Span::minutes(1),
            manifests_secret: None,
            git: Arc::new(Fetcher::default()),
        }
    }
}
