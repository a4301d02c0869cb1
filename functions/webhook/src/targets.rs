//! Whom a push can wake: the sources and the places of manifests in Git, kept at hand for a moment so that a burst of
//! deliveries reads them once.

use std::sync::Arc;

use tokio::sync::Mutex;
use yuba_core::id::ManifestSetName;
use yuba_core::manifest_root::ManifestRoot;
use yuba_core::message::Wake;
use yuba_core::record::Index;
use yuba_core::source::Source;
use yuba_core::spec::GitReference;
use yuba_core::time::{Span, Timestamp};
use yuba_git::webhook::{Push, Repositories, RepositoryAddress};
use yuba_ports::records::page;
use yuba_ports::{Order, PortError, Ports, Query};

/// How long a list is used. A source that is newer was looked at when it was taken over.
const FRESH: Span = Span::seconds(2);

/// How many sources are read at once.
const PAGE: usize = 100;

/// Somebody whom a push can wake.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) wake: Wake,
    address: Option<RepositoryAddress>,
    reference: GitReference,
}

impl Target {
    fn new(wake: Wake, url: &str, reference: GitReference) -> Self {
        Self { wake, address: RepositoryAddress::of(url), reference }
    }

    /// Whether it lies in one of the repositories.
    pub(crate) fn is_in(&self, repositories: &Repositories) -> bool {
        match repositories {
            Repositories::Any => true,
            Repositories::Named(named) => {
                self.address.as_ref().is_some_and(|address| named.contains(address))
            }
        }
    }

    /// Whether a push may have moved it. Of references that are no branches too little is known to say no.
    pub(crate) fn may_be_moved_by(&self, push: &Push) -> bool {
        let GitReference::Branch(branch) = &self.reference else { return true };
        push.reference
            .as_deref()
            .is_none_or(|moved| moved.strip_prefix("refs/heads/").unwrap_or(moved) == branch)
    }
}

/// The list of targets, read anew when it is older than two seconds.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    read: Mutex<Option<(Timestamp, Arc<[Target]>)>>,
}

impl Targets {
    /// The targets as they were at most two seconds ago.
    pub(crate) async fn list(
        &self,
        ports: &Ports,
        manifests: &[ManifestSetName],
    ) -> Result<Arc<[Target]>, PortError> {
        let now = ports.clock.now();
        let mut read = self.read.lock().await;
        if let Some((at, targets)) = read.as_ref()
            && now.since(*at) < FRESH
        {
            return Ok(Arc::clone(targets));
        }
        let mut all: Vec<Target> = manifests.iter().filter_map(in_git).collect();
        all.extend(sources(ports).await?);
        let targets: Arc<[Target]> = all.into();
        *read = Some((now, Arc::clone(&targets)));
        Ok(targets)
    }
}

fn in_git(set: &ManifestSetName) -> Option<Target> {
    match ManifestRoot::of(set) {
        ManifestRoot::Git { url, reference, .. } => {
            Some(Target::new(Wake::Manifests(set.clone()), &url, reference))
        }
        ManifestRoot::Directory(_) => None,
    }
}

async fn sources(ports: &Ports) -> Result<Vec<Target>, PortError> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let (index, prefix, order) = (Index::Sources, String::new(), Order::Ascending);
        let query = Query::Index { index, prefix, up_to: None, order, after, limit: PAGE };
        let (sources, next) = page::<Source>(ports.store.as_ref(), query).await?;
        all.extend(sources.into_iter().map(|source| {
            let Source { name, spec, .. } = source.into_value();
            Target::new(Wake::Source(name), &spec.url, spec.reference)
        }));
        match next {
            None => return Ok(all),
            next => after = next,
        }
    }
}
