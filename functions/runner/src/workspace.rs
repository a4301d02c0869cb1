//! The work directory of a run: at the same absolute path for plan and apply, gone at the end.
//!
//! ```text
//! <work>/<stack>/<run>/
//!   tree/        the repository at the run's revision, and what the engine and Yuba put into it
//!   data/        TF_DATA_DIR: modules, providers, the chosen workspace
//!   providers/   the attempt's own provider cache
//!   hosts/       credentials for hosts that modules and providers come from
//!   plan.tfplan  Yuba's copy of the plan file
//! ```
//!
//! Where the engine is another user, `tree`, `data`, `providers` and `hosts` are its own. The directory itself and what else lies in it
//! are root's: the engine's user passes it, reads the plan file, and changes neither; no other attempt's user passes it.
//!
//! What plan leaves behind is packed as an overlay: the names of the artifact's files that are gone, the files in `tree`
//! that changed since the artifact was unpacked, and `data` without the providers. Apply unpacks the artifact, takes away
//! what was gone, and unpacks the overlay: the tree is then what it was after plan.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, FileType, Metadata};
use std::io::{self, BufReader, Read as _, Seek as _};
use std::iter;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use walkdir::{DirEntry, WalkDir};
use yuba_core::artifact::ArtifactReport;
use yuba_core::job::{Job, artifact_object, artifact_report_object};
use yuba_core::run::FailureClass;

use crate::archive::{UnpackError, damage, first, leaves, pack, unpack};
use crate::attempt::Attempt;
use crate::code::{self, LOCK_FILE, LockedProvider};
use crate::ended::{Ended, Step};
use crate::objects::{Objects, private_file, private_folder};
use crate::user::{self, EngineUser};

/// The overlay's first entry: names of the artifact's entries that plan took away, with zero bytes between them.
const GONE: &str = "gone";

/// The work directory of a run.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    module: PathBuf,
    /// Whose `tree`, `data` and `providers` are.
    user: EngineUser,
    /// Whether they are handed over. Before, no process of this user has run, and what was unpacked holds no link that leads
    /// out.
    given: bool,
    /// This user's home, and directory for temporary files, where it is not the runner's.
    temporary: Option<TempDir>,
    /// The folder of the state that the installation keeps for the stack.
    state: Option<PathBuf>,
    /// What people should know of the artifact.
    notices: Vec<String>,
    /// What the artifact holds, in its order: a folder before what lies in it.
    packed: Vec<(PathBuf, FileType)>,
    /// When the artifact was unpacked, in the file system's own time: seconds and nanoseconds.
    unpacked: (i64, i64),
}

impl Workspace {
    /// Makes the directory anew and unpacks the artifact into it. An attempt is fenced by its claim, so whatever lies
    /// there is left over.
    pub(crate) fn prepare(attempt: &Attempt) -> Step<Self> {
        let Attempt { work, job, objects, user, .. } = attempt;
        let stack = work.join(job.stack.to_string());
        let root = stack.join(job.attempt.run.to_string());
        remove(&root).map_err(|error| Ended::io("clear", &root, &error))?;
        let root = make(&root)?;
        for (path, passed) in
            [(work, user.let_pass(work)), (&stack, user.let_pass(&stack)), (&root, user.lend(&root))]
        {
            passed.map_err(|error| Ended::io("open to the engine's user", path, &error))?;
        }
        let temporary = user::scratch(*user)
            .map_err(|error| Ended::io("make a directory in", Path::new("/tmp"), &error))?;
        let mut workspace = Self {
            module: root.join("tree"),
            root,
            user: *user,
            given: false,
            temporary,
            state: attempt.local_state.as_ref().and_then(|file| Some(Path::new(file).parent()?.to_owned())),
            notices: left_out(job, objects)?,
            packed: Vec::new(),
            unpacked: (0, 0),
        };
        let tree = make(&workspace.tree())?;
        make(&workspace.data())?;
        make(&workspace.providers())?;
        let artifact = artifact(job, objects)?;
        let packed = unpack(&artifact, &tree).map_err(|error| match damage_of(&artifact) {
            Some(damage) => lost(job, &format!("is damaged where it was stored ({damage})")),
            None => not_unpacked(&format!("the code of {}", job.revision), &error),
        })?;
        let kind = |path: PathBuf| Some((fs::symlink_metadata(tree.join(&path)).ok()?.file_type(), path));
        workspace.packed = packed.into_iter().filter_map(kind).map(|(kind, path)| (path, kind)).collect();
        workspace.unpacked = workspace.mark()?;
        Ok(workspace)
    }

    /// Makes the folder of the state that the installation keeps for the stack.
    pub(crate) fn make_state_folder(&self) -> Step<()> {
        let Some(folder) = &self.state else { return Ok(()) };
        let above = folder.parent().unwrap_or(folder);
        let made = private_folder(folder).and_then(|()| self.user.let_pass(above));
        made.map_err(|error| Ended::io("make", folder, &error))
    }

    /// Hands over to the engine's user what it works in. From then on what lies there is read by [`Workspace::open`] alone.
    pub(crate) fn give(&mut self) -> Step<()> {
        self.given = true;
        let state = self.state.iter().filter(|folder| folder.exists()).cloned();
        let hosts = Some(self.hosts()).filter(|folder| folder.exists());
        for folder in [self.tree(), self.data(), self.providers()].into_iter().chain(state).chain(hosts) {
            let given = self.user.give(&folder);
            given.map_err(|error| Ended::io("give to the engine's user", &folder, &error))?;
        }
        Ok(())
    }

    /// Lets the engine read a file of Yuba's.
    pub(crate) fn lend(&self, file: &Path) -> Step<()> {
        self.user.lend(file).map_err(|error| Ended::io("lend to the engine's user", file, &error))
    }

    /// Opens a file that the engine may have written; `None` where there is none.
    pub(crate) fn open(&self, path: &Path) -> Step<Option<File>> {
        let user = if self.given { self.user } else { EngineUser::Ours };
        user.open(&self.root, path).map_err(|error| Ended::io("read", path, &error))
    }

    /// Reads such a file.
    pub(crate) fn read(&self, path: &Path) -> Step<Option<Vec<u8>>> {
        let Some(mut file) = self.open(path)? else { return Ok(None) };
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(|error| Ended::io("read", path, &error))?;
        Ok(Some(content))
    }

    /// The providers that the root module's lock file pins.
    pub(crate) fn locked_providers(&self) -> Step<BTreeMap<String, LockedProvider>> {
        let content = self.read(&self.module.join(LOCK_FILE))?.unwrap_or_default();
        Ok(code::locked_providers(&String::from_utf8_lossy(&content)))
    }

    /// The home of the engine's user, where it is not the runner's.
    pub(crate) fn temporary(&self) -> Option<&Path> {
        self.temporary.as_ref().map(TempDir::path)
    }

    /// What opens the hosts of modules and providers.
    pub(crate) fn hosts(&self) -> PathBuf {
        self.root.join("hosts")
    }

    /// Where the engine writes the plan file.
    pub(crate) fn written_plan(&self) -> PathBuf {
        self.data().join("engine.tfplan")
    }

    /// What people should know of the artifact.
    pub(crate) fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Finds the root module. An error names the nearest folder that exists.
    pub(crate) fn enter(&mut self, path: &str) -> Step<()> {
        let tree = self.tree();
        let module = tree.join(path);
        let real = fs::canonicalize(&module).ok().filter(|real| real.is_dir());
        let Some(real) = real else {
            return Err(Ended::configuration(missing(&tree, path)));
        };
        let top = fs::canonicalize(&tree).map_err(|error| Ended::io("read", &tree, &error))?;
        if !real.starts_with(&top) {
            return Err(Ended::configuration(format!("path `{path}` lies outside the repository")));
        }
        self.module = module;
        Ok(())
    }

    /// The repository.
    pub(crate) fn tree(&self) -> PathBuf {
        self.root.join("tree")
    }

    /// `TF_DATA_DIR`.
    pub(crate) fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    /// The attempt's own provider cache.
    pub(crate) fn providers(&self) -> PathBuf {
        self.root.join("providers")
    }

    /// The root module.
    pub(crate) fn module(&self) -> &Path {
        &self.module
    }

    /// A file beside the tree, for what the engine must not find.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Packs what plan left behind.
    pub(crate) fn pack_overlay(&self) -> Step<PathBuf> {
        let path = self.beside("workdir.tar.zst");
        let gone = self.beside(GONE);
        let names: Vec<&[u8]> = self.gone().iter().map(|path| path.as_os_str().as_bytes()).collect();
        let packed = fs::write(&gone, names.join(&0))
            .and_then(|()| private_file(&path))
            .and_then(|file| pack(&self.root, iter::once(gone).chain(self.overlay()?), &file));
        packed.map_err(|error| Ended::io("pack the work directory into", &path, &error))?;
        Ok(path)
    }

    /// Makes the artifact's tree what plan left behind.
    pub(crate) fn restore_overlay(&self, mut packed: File) -> Step<()> {
        const WHAT: &str = "the plan's work directory";
        let failed = |error: io::Error| Ended::io("unpack", Path::new(WHAT), &error);
        if let Some(names) = first(&packed, GONE).map_err(failed)? {
            let mut names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            names.try_for_each(|name| self.take_away(Path::new(OsStr::from_bytes(name)))).map_err(failed)?;
        }
        packed.rewind().map_err(failed)?;
        unpack(packed, &self.root).map(drop).map_err(|error| not_unpacked(WHAT, &error))
    }

    /// The artifact's entries that are not there any more, or are of another kind; nothing below one of them.
    fn gone(&self) -> Vec<&Path> {
        let tree = self.tree();
        let mut gone: Vec<&Path> = Vec::new();
        for (path, kind) in &self.packed {
            let below = gone.last().is_some_and(|folder| path.starts_with(folder));
            let is_there = |meta: Metadata| meta.file_type() == *kind;
            if !below && !fs::symlink_metadata(tree.join(path)).is_ok_and(is_there) {
                gone.push(path);
            }
        }
        gone
    }

    /// Removes an entry of the tree; nothing is reached through a link.
    fn take_away(&self, name: &Path) -> io::Result<()> {
        let tree = fs::canonicalize(self.tree())?;
        let place = tree.join(name);
        let Ok(meta) = fs::symlink_metadata(&place) else { return Ok(()) };
        let folder = place.parent().map(fs::canonicalize).transpose()?;
        if leaves(name) || folder.is_none_or(|folder| !folder.starts_with(&tree)) {
            return Err(io::Error::other(format!("`{}` is not in the tree", name.display())));
        }
        if meta.is_dir() { fs::remove_dir_all(&place) } else { fs::remove_file(&place) }
    }

    /// Removes the directory, and takes back the state that was given.
    pub(crate) fn remove(self) -> Step<()> {
        if let Err(error) = remove(&self.root) {
            tracing::warn!(path = %self.root.display(), %error, "a work directory could not be removed");
        }
        let Some(state) = self.state.as_ref().filter(|folder| folder.exists()) else { return Ok(()) };
        self.user.take_back(state).map_err(|error| Ended::io("take back", state, &error))
    }

    fn overlay(&self) -> io::Result<Vec<PathBuf>> {
        let providers = self.data().join("providers");
        let data = WalkDir::new(self.data()).into_iter().filter_entry(|entry| entry.path() != providers);
        let data = data.filter_map(|entry| {
            entry.map(|entry| self.is_packed(&entry).then(|| entry.into_path())).transpose()
        });
        let tree = WalkDir::new(self.tree()).min_depth(1).into_iter().filter_map(|entry| {
            entry.map(|entry| self.is_new(&entry).then(|| entry.into_path())).transpose()
        });
        data.chain(tree).collect::<Result<_, _>>().map_err(io::Error::from)
    }

    /// Whether an entry was made or changed after the artifact was unpacked. A file changed in the same tick counts,
    /// so one too many may be packed, never one too few.
    fn is_new(&self, entry: &DirEntry) -> bool {
        self.is_packed(entry) && entry.metadata().is_ok_and(|meta| changed(&meta) >= self.unpacked)
    }

    /// Whether an entry can be packed, and is the engine's: not a name that it gave to another user's file.
    fn is_packed(&self, entry: &DirEntry) -> bool {
        let kind = entry.file_type();
        let is_regular = kind.is_file() || kind.is_symlink() || kind.is_dir();
        is_regular && entry.metadata().is_ok_and(|meta| self.user.owns(&meta))
    }

    fn mark(&self) -> Step<(i64, i64)> {
        let path = self.beside(".unpacked");
        let marked = File::create(&path).and_then(|file| file.metadata());
        marked.map(|meta| changed(&meta)).map_err(|error| Ended::io("write", &path, &error))
    }
}

fn artifact(job: &Job, objects: &Objects) -> Step<File> {
    objects.open(&artifact_object(&job.tree))?.ok_or_else(|| lost(job, "is not where it was stored"))
}

/// What is wrong with an artifact that could not be unpacked.
fn damage_of(mut artifact: &File) -> Option<io::Error> {
    match artifact.rewind() {
        Ok(()) => damage(artifact),
        Err(error) => Some(error),
    }
}

/// The code cannot be had as it was stored. The source is asked to store it again.
fn lost(job: &Job, what: &str) -> Ended {
    let message =
        format!("the code of {} {what}; it is stored again from Git for the next try", job.revision);
    Ended::failed(FailureClass::Artifact, message)
}

/// Which links the artifact lacks.
fn left_out(job: &Job, objects: &Objects) -> Step<Vec<String>> {
    let Some(file) = objects.open(&artifact_report_object(&job.tree))? else { return Ok(Vec::new()) };
    let report: ArtifactReport = serde_json::from_reader(BufReader::new(file))
        .map_err(|error| lost(job, &format!("has a damaged list of links beside it ({error})")))?;
    Ok(report.notice().into_iter().collect())
}

fn changed(meta: &Metadata) -> (i64, i64) {
    (meta.ctime(), meta.ctime_nsec())
}

fn make(path: &Path) -> Step<PathBuf> {
    let made = private_folder(path).and_then(|()| fs::canonicalize(path));
    made.map_err(|error| Ended::io("make", path, &error))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn not_unpacked(what: &str, error: &UnpackError) -> Ended {
    match error {
        UnpackError::Io(error) => Ended::io("unpack", Path::new(what), error),
        refused => Ended::configuration(refused.to_string()),
    }
}

fn missing(tree: &Path, path: &str) -> String {
    let nearest = Path::new(path).ancestors().skip(1).find(|folder| tree.join(folder).is_dir());
    let nearest = nearest.unwrap_or(Path::new(""));
    let mut folders: Vec<String> = fs::read_dir(tree.join(nearest))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_dir() && !entry.file_name().as_encoded_bytes().starts_with(b"."))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    folders.sort();
    let held = if folders.is_empty() { "no folders".to_owned() } else { folders.join(", ") };
    let nearest = nearest.display().to_string();
    let nearest =
        if nearest.is_empty() { "the repository's root".to_owned() } else { format!("`{nearest}`") };
    format!("path `{path}` is not a folder of the repository; {nearest} exists and holds {held}")
}
