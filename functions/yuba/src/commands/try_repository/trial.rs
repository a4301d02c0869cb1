//! Everything that `yuba try` finds out, as one value.

use yuba_core::id::{CommitId, SourceName, StackName};
use yuba_core::manifest::{Finding, Severity};
use yuba_core::spec::{EngineTool, StackSpec};
use yuba_git::Repository;
use yuba_git::closure::{Closure, ClosureProblem};
use yuba_git::root_module::RootModule;
use yuba_runner::EngineOnPath;

use super::commits::{CommitSeen, Historian, Standing};
use super::discover::root_modules;
use super::engine;
use super::layout::{Origin, shown};
use super::survey::{Survey, Surveyor};

/// What somebody wants to know.
#[derive(Debug)]
pub(super) struct Asked {
    /// The path as it was given.
    pub(super) shown: String,
    /// Only what lies below this directory of the repository; empty for all.
    pub(super) scope: String,
    /// How many commits.
    pub(super) commits: usize,
    /// The engines on the PATH.
    pub(super) engines: Vec<EngineOnPath>,
}

/// What was found out.
#[derive(Debug)]
pub(crate) struct Trial {
    /// The path as it was given.
    pub(crate) path: String,
    /// The directory of the repository that was asked about; empty for all.
    pub(crate) scope: String,
    /// The commit that was looked at.
    pub(crate) head: CommitId,
    /// Who says what the stacks are.
    pub(crate) origin: Origin,
    /// The engines on the PATH.
    pub(crate) engines: Vec<String>,
    /// The stacks, by name.
    pub(crate) stacks: Vec<StackSeen>,
    /// Stacks in manifests whose code is not here.
    pub(crate) elsewhere: Vec<Elsewhere>,
    /// Root modules that no manifest names.
    pub(crate) unnamed: Vec<String>,
    /// Files of other tools that say what the stacks are, and that Yuba does not read yet.
    pub(crate) not_read_yet: Vec<String>,
    /// Errors and warnings in manifests.
    pub(crate) findings: Vec<Finding>,
    /// The last commits, newest first.
    pub(crate) commits: Vec<CommitSeen>,
}

/// A stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StackSeen {
    /// Its name; its directory where no manifest names it.
    pub(crate) name: String,
    /// Its root module.
    pub(crate) path: String,
    /// The engine it would get.
    pub(crate) engine: Option<String>,
    /// What it wants, each with who says so.
    pub(crate) engine_wanted: Vec<String>,
    /// Its backend.
    pub(crate) backend: BackendNamed,
    /// Whether its manifest says that its state is new.
    pub(crate) state_is_new: bool,
    /// Fields of its manifest that do not work yet.
    pub(crate) not_applied: Vec<String>,
    /// Why none of its plans would be applied.
    pub(crate) planned_only: Option<String>,
    /// What is wrong with it.
    pub(crate) problems: Vec<String>,
}

/// Who names the backend, and its type where that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BackendNamed {
    /// The manifest.
    ByManifest,
    /// The code.
    ByCode(String),
    /// Nobody.
    Nowhere,
    /// The code may: some of it does not parse.
    Unknown,
}

/// A stack whose code lies in another repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    /// Its name.
    pub(crate) name: String,
    /// Its source, with the URL where that is known.
    pub(crate) source: String,
}

/// Looks at a repository.
pub(super) fn look(repository: &Repository, head: &CommitId, asked: Asked) -> anyhow::Result<Trial> {
    let commit = repository.commit(head)?;
    let mut surveyor = Surveyor::new(repository);
    let survey = surveyor.survey(&commit.tree)?;
    let mut historian = Historian::new(repository, surveyor, Origin::of(&survey));
    let standing = historian.standing(&commit.tree)?;
    let in_scope = |path: &str| is_below(path, &asked.scope);
    let names = standing.layout.paths.iter().filter(|(_, paths)| in_scope(&paths.path));
    let stacks = names.map(|(name, _)| stack(&asked.engines, &survey, &standing, name)).collect();
    let commits = historian.commits(head, asked.commits, in_scope)?;
    Ok(Trial {
        head: head.clone(),
        engines: asked.engines.iter().map(ToString::to_string).collect(),
        stacks,
        elsewhere: elsewhere(&survey, &standing),
        unnamed: unnamed(&survey, &standing).into_iter().filter(|path| in_scope(path)).collect(),
        not_read_yet: survey
            .not_read_yet
            .iter()
            .filter(|path| in_scope(path) || is_at_root(path))
            .cloned()
            .collect(),
        findings: findings(&survey),
        commits,
        origin: historian.origin,
        path: asked.shown,
        scope: asked.scope,
    })
}

/// Whether a file stands for the whole repository.
fn is_at_root(path: &str) -> bool {
    !path.contains('/')
}

fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty()
        || path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn stack(engines: &[EngineOnPath], survey: &Survey, standing: &Standing, name: &StackName) -> StackSeen {
    let manifest = standing.layout.manifests.get(name);
    let path = standing.layout.paths.get(name).map(|paths| paths.path.clone()).unwrap_or_default();
    let module = survey.modules.get(&path).map(AsRef::as_ref);
    let preference = manifest.map(|manifest| manifest.spec.engine.clone());
    let preference = preference.unwrap_or_default();
    let engine = engine::look(engines, &preference, module);
    let spec = manifest.map(|manifest| &manifest.spec);
    let problems = problems(standing.closures.by_stack.get(name), module);
    StackSeen {
        name: shown(name),
        engine: engine.found,
        engine_wanted: engine.wanted,
        backend: backend(spec, module, engine.tool.or(preference.tool)),
        state_is_new: spec.is_some_and(|spec| spec.state_is_new),
        not_applied: spec
            .into_iter()
            .flat_map(|spec| spec.not_applied.iter().map(|field| field.field.clone()))
            .collect(),
        planned_only: spec.and_then(StackSpec::planned_only_because),
        problems: problems.into_iter().chain(engine.problems).collect(),
        path,
    }
}

fn backend(spec: Option<&StackSpec>, module: Option<&RootModule>, tool: Option<EngineTool>) -> BackendNamed {
    let workspace = spec.map_or("default", |spec| &spec.workspace);
    let block = module.and_then(|module| module.backend(tool.unwrap_or(EngineTool::Tofu)));
    match block.filter(|block| !block.lies_beside_the_code(workspace)).map(|block| block.kind.clone()) {
        _ if spec.is_some_and(|spec| spec.backend.is_some()) => BackendNamed::ByManifest,
        Some(kind) => BackendNamed::ByCode(kind),
        None if module.is_some_and(|module| !module.broken.is_empty()) => BackendNamed::Unknown,
        None => BackendNamed::Nowhere,
    }
}

fn problems(closure: Option<&Closure>, module: Option<&RootModule>) -> Vec<String> {
    let mut problems: Vec<String> =
        closure.into_iter().flat_map(|closure| closure.problems.iter().map(ToString::to_string)).collect();
    let missing = closure.is_some_and(|closure| closure.problems.iter().any(ClosureProblem::is_fatal));
    if module.is_none() && !missing {
        problems.push("its directory holds no configuration".to_owned());
    }
    problems
}

fn elsewhere(survey: &Survey, standing: &Standing) -> Vec<Elsewhere> {
    let manifests = &survey.manifests;
    let away = manifests.stacks.iter().filter(|stack| !standing.layout.paths.contains_key(&stack.name));
    let source = |name: &SourceName| {
        let known = manifests.sources.iter().find(|source| source.name == *name);
        known.map_or_else(|| name.to_string(), |source| format!("{name}, {}", source.spec.url))
    };
    away.map(|stack| Elsewhere { name: stack.name.to_string(), source: source(&stack.spec.source) }).collect()
}

/// Root modules that no manifest names, where there are manifests.
fn unnamed(survey: &Survey, standing: &Standing) -> Vec<String> {
    let mut roots = root_modules(&survey.modules);
    for paths in standing.layout.paths.values() {
        roots.remove(&paths.path);
    }
    roots.into_iter().map(|path| if path.is_empty() { ".".to_owned() } else { path }).collect()
}

fn findings(survey: &Survey) -> Vec<Finding> {
    let findings = survey.manifests.findings.iter();
    findings.filter(|finding| finding.severity != Severity::Notice).cloned().collect()
}
