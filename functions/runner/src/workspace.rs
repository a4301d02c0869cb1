//! The work directory of a run: at the same absolute path for plan and apply, gone at the end.
//!
//! ```text
//! <work>/<stack>/<run>/
//!   tree/        the repository at the run's revision, and what the engine and Yuba put into it
//!   data/        TF_DATA_DIR: modules, providers, the chosen workspace
//!   providers/   the attempt's own provider cache
//!   plan.tfplan  Yuba's copy of the plan file
//! ```
//!
//! What plan leaves behind is packed as an overlay: the names of the artifact's files that are gone, the files in `tree`
//! that changed since the artifact was unpacked, and `data` without the providers. Apply unpacks the artifact, takes away
//! what was gone, and unpacks the overlay: the tree is then what it was after plan.

use std::ffi::OsStr;
use std::fs::{self, File, FileType, Metadata};
use std::io::{self, BufReader, Seek as _};
use std::iter;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};
use yuba_core::artifact::ArtifactReport;
use yuba_core::job::{Job, artifact_object, artifact_report_object};
use yuba_core::run::FailureClass;

use crate::archive::{UnpackError, damage, first, leaves, pack, unpack};
use crate::ended::{Ended, Step};
use crate::objects::{Objects, private_file};

/// The overlay's first entry: names of the artifact's entries that plan took away, with zero bytes between them.
const GONE: &str = "gone";

/// The work directory of a run.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    module: PathBuf,
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
    pub(crate) fn prepare(work: &Path, job: &Job, objects: &Objects) -> Step<Self> {
        let root = work.join(job.stack.to_string()).join(job.attempt.run.to_string());
        remove(&root).map_err(|error| Ended::io("clear", &root, &error))?;
        let root = make(&root)?;
        let mut workspace = Self {
            module: root.join("tree"),
            root,
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

    /// Removes the directory.
    pub(crate) fn remove(self) {
        if let Err(error) = remove(&self.root) {
            tracing::warn!(path = %self.root.display(), %error, "a work directory could not be removed");
        }
    }

    fn overlay(&self) -> io::Result<Vec<PathBuf>> {
        let providers = self.data().join("providers");
        let data = WalkDir::new(self.data()).into_iter().filter_entry(|entry| entry.path() != providers);
        let data = data.map(|entry| entry.map(DirEntry::into_path));
        let tree = WalkDir::new(self.tree()).min_depth(1).into_iter().filter_map(|entry| {
            entry.map(|entry| self.is_new(&entry).then(|| entry.into_path())).transpose()
        });
        data.chain(tree).collect::<Result<_, _>>().map_err(io::Error::from)
    }

    /// Whether an entry was made or changed after the artifact was unpacked. A file changed in the same tick counts,
    /// so one too many may be packed, never one too few.
    fn is_new(&self, entry: &DirEntry) -> bool {
        let is_regular =
            entry.file_type().is_file() || entry.file_type().is_symlink() || entry.file_type().is_dir();
        is_regular && entry.metadata().is_ok_and(|meta| changed(&meta) >= self.unpacked)
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
    let made =
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).and_then(|()| fs::canonicalize(path));
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
