//! Why a stack was planned, or why not: which path or input caused its newest run, or what a revision changed for it.

use yuba_core::id::{Revision, RunId, StackName};
use yuba_core::record::Key;
use yuba_core::run::Run;
use yuba_core::source::{Definition, Reason, Source};
use yuba_core::why::Why;
use yuba_git::closure::{ChangedPath, Closure, Index, IndexError};
use yuba_git::{ReadError, Repository};
use yuba_ports::records::load;
use yuba_ports::{PortError, Ports, explained};

use crate::blocking::blocking;
use crate::git::fetcher::{self, notices, reason};
use crate::look::{credentials, stacks};
use crate::settings::SourceSettings;

/// How many paths and reasons are named.
const MOST: usize = 20;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum WhyError {
    /// No stack has the name.
    #[error("there is no stack {0}")]
    NoStack(StackName),
    /// The manifests name a source that does not exist.
    #[error("stack {0} has no source that is known")]
    NoSource(StackName),
    /// The revision is not in the source, or the source cannot be read.
    #[error("{0}")]
    NoRevision(String),
    /// A port failed.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// Says why a stack was planned. Without a revision: what caused its newest run. With one (a branch, a commit or its
/// beginning): what that commit changed of the stack's closure, whether or not it was planned.
pub async fn why(
    ports: &Ports,
    settings: &SourceSettings,
    stack: &StackName,
    revision: Option<&str>,
) -> Result<Why, WhyError> {
    let store = ports.store.as_ref();
    let definition = explained::definition(store, stack).await?;
    let definition = definition.ok_or_else(|| WhyError::NoStack(stack.clone()))?;
    match revision {
        None => Ok(explained::newest_run(store, &definition).await?),
        Some(revision) => why_revision(ports, settings, &definition, revision).await,
    }
}

async fn why_revision(
    ports: &Ports,
    settings: &SourceSettings,
    definition: &Definition,
    revision: &str,
) -> Result<Why, WhyError> {
    let repository = repository(ports, settings, definition).await?;
    let there = stacks::of_source(ports, &definition.spec.source).await?;
    let paths = there.iter().map(|(name, stack)| (name.clone(), stack.paths())).collect();
    let revision_meant = meant(ports, definition, revision).await?;
    let question = Question { repository, stack: definition.name.clone(), paths, revision: revision_meant };
    let answer = blocking(move || question.answer()).await?;
    let mut why = answer.map_err(|error| unknown(&error, definition, revision))?;
    if let Why::Revision { commit, run, .. } = &mut why {
        *run = run_of(ports, definition, commit).await?;
    }
    Ok(why)
}

/// The commit of a whole revision (`main@sha1:<40 hex>`), or of the branch or tag that the source follows, as it was seen last;
/// another text as it is.
async fn meant(ports: &Ports, definition: &Definition, revision: &str) -> Result<String, PortError> {
    if let Ok(whole) = revision.parse::<Revision>() {
        return Ok(whole.commit.to_string());
    }
    let source = load::<Source>(ports.store.as_ref(), &Key::source(&definition.spec.source)).await?;
    let seen = source.and_then(|source| source.into_value().seen).map(|seen| seen.revision);
    let followed = seen.filter(|seen| seen.reference == revision);
    Ok(followed.map_or_else(|| revision.to_owned(), |followed| followed.commit.to_string()))
}

fn unknown(error: &Unanswered, definition: &Definition, revision: &str) -> WhyError {
    let source = &definition.spec.source;
    WhyError::NoRevision(match error {
        Unanswered::Read(ReadError::Name { .. }) => format!(
            "revision `{revision}` is not known: source {source} has no such branch or commit, as far as it was fetched"
        ),
        other => format!("revision `{revision}` of source {source} cannot be explained: {other}"),
    })
}

/// The source's cache, fetched first where it was lost.
async fn repository(
    ports: &Ports,
    settings: &SourceSettings,
    definition: &Definition,
) -> Result<Repository, WhyError> {
    let name = &definition.spec.source;
    let cache = fetcher::cache(settings, name);
    if let Ok(repository) = Repository::open(&cache) {
        return Ok(repository);
    }
    let source = load::<Source>(ports.store.as_ref(), &Key::source(name)).await?;
    let source = source.ok_or_else(|| WhyError::NoSource(definition.name.clone()))?.into_value();
    let failed = |trouble: crate::backoff::Trouble| WhyError::NoRevision(trouble.message);
    let credentials = credentials::of(ports, source.spec.secret.as_ref()).await?.map_err(failed)?;
    settings.git.fetch(&cache, source.spec, credentials).await?.map_err(failed)?;
    Repository::open(&cache).map_err(|error| WhyError::NoRevision(error.to_string()))
}

async fn run_of(ports: &Ports, definition: &Definition, commit: &str) -> Result<Option<RunId>, PortError> {
    let is_of = |run: &Run| run.revision.commit.as_str() == commit;
    let run = explained::run_where(&*ports.store, definition.stack, is_of).await?;
    Ok(run.map(|run| run.id))
}

struct Question {
    repository: Repository,
    stack: StackName,
    paths: std::collections::BTreeMap<StackName, yuba_git::closure::StackPaths>,
    revision: String,
}

#[derive(Debug, thiserror::Error)]
enum Unanswered {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error("the stack has vanished from the manifests")]
    Vanished,
}

impl Question {
    fn answer(&self) -> Result<Why, Unanswered> {
        let repository = &self.repository;
        let commit = repository.commit(&repository.resolve(&self.revision)?)?;
        let mut index = Index::new();
        let mut closure = |tree| -> Result<Closure, Unanswered> {
            let mut closures = index.closures(repository, tree, &self.paths)?;
            closures.by_stack.remove(&self.stack).ok_or(Unanswered::Vanished)
        };
        let after = closure(&commit.tree)?;
        let parent = commit.parents.first().map(|parent| repository.commit(parent)).transpose()?;
        let (changed, elsewhere) = match parent {
            None => (vec![Reason::First], Vec::new()),
            Some(parent) => {
                let changed = closure(&parent.tree)?.compare(repository, &after)?;
                let all = repository.changed_paths(&parent.tree, &commit.tree)?;
                let others = all.into_iter().map(|change| change.path);
                let elsewhere = others.filter(|path| !is_among(path, &changed)).collect();
                (changed.iter().map(reason).take(MOST).collect(), elsewhere)
            }
        };
        Ok(Why::Revision {
            commit: commit.id.to_string(),
            subject: commit.subject,
            changed,
            elsewhere_count: elsewhere.len(),
            elsewhere: elsewhere.into_iter().take(MOST).collect(),
            run: None,
            notices: notices(&after),
        })
    }
}

/// Whether a path is one of the changed ones, or lies in a directory that came or went as a whole.
fn is_among(path: &str, changed: &[ChangedPath]) -> bool {
    changed.iter().any(|change| {
        path.strip_prefix(change.path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}
