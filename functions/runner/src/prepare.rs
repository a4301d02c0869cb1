//! From a work directory to an engine that can run in it: backend, variables, environment, `init`, workspace.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use yuba_core::spec::EngineTool;

use crate::attempt::{Attempt, Engine};
use crate::backend::{self, Backend};
use crate::code;
use crate::ended::{Ended, Step};
use crate::engine::{Found, Place, find};
use crate::hosts;
use crate::objects::private_file;
use crate::providers::ProviderCache;
use crate::variables;
use crate::workspace::Workspace;

/// The file in `data` that tells apply which engine made the plan.
const ENGINE_FILE: &str = "yuba-engine.json";

/// What was settled before planning.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Who names the backend.
    pub(crate) backend: Backend,
    /// The files of `tfVarsFiles`.
    pub(crate) files: Vec<PathBuf>,
    /// What people should know.
    pub(crate) notices: Vec<String>,
}

/// Writes what the engine reads, and finds the engine.
pub(crate) async fn for_plan<'a>(
    attempt: &'a Attempt,
    workspace: &mut Workspace,
) -> Step<(Engine<'a>, Prepared)> {
    let spec = &attempt.job.spec;
    workspace.enter(&spec.path)?;
    let choice = find::find(&attempt.environment, &spec.engine, &attempt.work).await?;
    let tool = choice.engine.tool;
    let in_code = code::backend(workspace.module(), tool);
    let backend = backend::write(workspace.module(), spec, in_code, attempt.local_state.as_deref())?;
    if backend == Backend::Nobody {
        workspace.make_state_folder()?;
    }
    variables::write(workspace.module(), &spec.vars, &attempt.values)?;
    let files = variables::files(&workspace.tree(), &spec.tf_vars_files)?;
    variables::copy(workspace.module(), &files)?;
    let notices: Vec<String> = workspace.notices().iter().cloned().chain(choice.notice).collect();
    for notice in &notices {
        attempt.log.line(&format!("Notice: {notice}"));
    }
    Ok((engine(attempt, workspace, choice.engine)?, Prepared { backend, files, notices }))
}

/// The engine that made the plan, in the restored work directory.
pub(crate) fn for_apply<'a>(attempt: &'a Attempt, workspace: &mut Workspace) -> Step<(Engine<'a>, Planner)> {
    workspace.enter(&attempt.job.spec.path)?;
    let path = workspace.data().join(ENGINE_FILE);
    let text = fs::read(&path).map_err(|error| Ended::io("read", &path, &error))?;
    let planner: Planner = serde_json::from_slice(&text)
        .map_err(|error| Ended::transient(format!("{} cannot be read: {error}", path.display())))?;
    let found =
        Found { tool: planner.tool, path: planner.path.clone(), version: Some(planner.version.clone()) };
    if !found.path.is_file() {
        let message = format!("{}, which made the plan, is gone: a new plan is needed", found.path.display());
        return Err(Ended::failed(yuba_core::run::FailureClass::StalePlan, message));
    }
    Ok((engine(attempt, workspace, found)?, planner))
}

/// Which engine made a plan.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Planner {
    tool: EngineTool,
    path: PathBuf,
    version: String,
}

/// Notes which engine made the plan, for apply.
pub(crate) fn note_engine(engine: &Engine<'_>, workspace: &Workspace, version: &str) -> Step<()> {
    let found = &engine.found;
    let planner = Planner { tool: found.tool, path: found.path.clone(), version: version.to_owned() };
    let path = workspace.data().join(ENGINE_FILE);
    let text = serde_json::to_vec(&planner).map_err(|error| Ended::transient(error.to_string()))?;
    // Where the engine has put something in this place, a link for one, that goes.
    let written = remove_file(&path)
        .and_then(|()| private_file(&path))
        .and_then(|mut file| file.write_all(&text))
        .and_then(|()| engine.attempt.user.give(&path));
    written.map_err(|error| Ended::io("write", &path, &error))
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn engine<'a>(attempt: &'a Attempt, workspace: &Workspace, found: Found) -> Step<Engine<'a>> {
    let mut environment = environment(attempt, workspace);
    environment.extend(hosts::lay(&attempt.hosts, &workspace.hosts(), &environment)?);
    let place = Place {
        program: found.path.clone(),
        directory: workspace.module().to_owned(),
        environment,
        interrupt: attempt.interrupt.clone(),
        processes: attempt.processes,
        user: attempt.user,
        patience: attempt.patience,
    };
    Ok(Engine { found, place, attempt })
}

fn environment(attempt: &Attempt, workspace: &Workspace) -> BTreeMap<String, String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut environment = attempt.environment.clone();
    let mut set = |name: &str, value: String| environment.insert(name.to_owned(), value);
    set("TF_IN_AUTOMATION", "1".to_owned());
    set("TF_INPUT", "0".to_owned());
    set("TF_DATA_DIR", text(&workspace.data()));
    set("CHECKPOINT_DISABLE", "1".to_owned());
    if let Some(temporary) = workspace.temporary() {
        set("TMPDIR", text(temporary));
        set("HOME", text(temporary));
    }
    if attempt.provider_cache.is_some() {
        set("TF_PLUGIN_CACHE_DIR", text(&workspace.providers()));
    }
    environment
}

/// `init` for a plan, and the workspace.
pub(crate) async fn init(engine: &Engine<'_>, workspace: &mut Workspace) -> Step<()> {
    let attempt = engine.attempt;
    let cache = ProviderCache::new(attempt.provider_cache.as_deref(), workspace.providers(), attempt.user);
    cache.lend(&workspace.locked_providers()?);
    workspace.give()?;
    engine.text("init", &["init", "-input=false", "-no-color"]).await?;
    cache.take(&workspace.locked_providers()?);
    let name = attempt.job.spec.workspace.as_str();
    if name == "default" {
        return Ok(());
    }
    engine.text("init", &["workspace", "select", "-no-color", "-or-create", name]).await
}

/// `init` for an apply: the providers that the plan's lock file pins, nothing else.
pub(crate) async fn reinit(engine: &Engine<'_>, workspace: &mut Workspace) -> Step<()> {
    let attempt = engine.attempt;
    let cache = ProviderCache::new(attempt.provider_cache.as_deref(), workspace.providers(), attempt.user);
    cache.lend(&workspace.locked_providers()?);
    workspace.give()?;
    let arguments = ["init", "-input=false", "-no-color", "-get=false", "-lockfile=readonly"];
    engine.text("init", &arguments).await
}
