//! A private copy of a root module, and of what it reaches.
//!
//! Inside a Git working copy all of that is copied, since code may read any file of it; else the directory and the local
//! modules it reaches, each at the same place relative to the others. `.git` and what engines put into `.terraform` stay
//! behind, except which backend and workspace were chosen. Local state files are copied with the rest.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;
use walkdir::{DirEntry, WalkDir};

/// What the engine remembers of a former `init` that says where the state lies.
const REMEMBERED: [&str; 2] = ["terraform.tfstate", "environment"];

/// A copy that is gone when it is dropped.
#[derive(Debug)]
pub(super) struct Copy {
    dir: TempDir,
    /// The root module in it.
    pub(super) module: PathBuf,
}

impl Copy {
    /// A directory beside the code.
    pub(super) fn work(&self) -> &Path {
        self.dir.path()
    }
}

/// Copies a directory and what it reaches.
pub(super) fn of(directory: &Path) -> io::Result<Copy> {
    let directory = directory.canonicalize()?;
    let dir = tempfile::Builder::new().prefix("yuba-drift-").tempdir()?;
    let (tree, data) = (dir.path().join("tree"), dir.path().join("data"));
    fs::create_dir_all(&data)?;
    let root = match directory.ancestors().find(|above| above.join(".git").exists()) {
        Some(root) => {
            copy_below(root, &tree)?;
            root.to_owned()
        }
        None => copy_reached(&directory, &tree)?,
    };
    for name in REMEMBERED {
        let from = directory.join(".terraform").join(name);
        if from.is_file() {
            fs::copy(from, data.join(name))?;
        }
    }
    let below = directory.strip_prefix(&root).unwrap_or(Path::new(""));
    Ok(Copy { module: tree.join(below), dir })
}

/// Copies the directory and its local modules; the directory that their paths are relative to.
fn copy_reached(directory: &Path, tree: &Path) -> io::Result<PathBuf> {
    let reached = reach(directory);
    let root = directory.ancestors().find(|above| reached.iter().all(|module| module.starts_with(above)));
    let root = root.unwrap_or(directory);
    for module in &reached {
        copy_below(module, &tree.join(module.strip_prefix(root).unwrap_or(Path::new(""))))?;
    }
    Ok(root.to_owned())
}

/// The directory and all local modules that it reaches.
fn reach(directory: &Path) -> BTreeSet<PathBuf> {
    let (mut reached, mut waiting) = (BTreeSet::new(), vec![directory.to_owned()]);
    while let Some(module) = waiting.pop() {
        if !module.is_dir() || !reached.insert(module.clone()) {
            continue;
        }
        let calls = super::super::validate::read_module(&module).unwrap_or_default().local_calls;
        waiting.extend(calls.iter().map(|source| joined(&module, source)));
    }
    reached
}

/// A path without `.` and `..`, as engines join module sources.
fn joined(module: &Path, source: &str) -> PathBuf {
    let mut path = module.to_owned();
    for part in Path::new(source).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(part) => path.push(part),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    path
}

fn copy_below(from: &Path, to: &Path) -> io::Result<()> {
    let skipped = |entry: &DirEntry| entry.file_name() == ".git" || entry.file_name() == ".terraform";
    for entry in WalkDir::new(from).into_iter().filter_entry(|entry| entry.depth() == 0 || !skipped(entry)) {
        let entry = entry?;
        let target = to.join(entry.path().strip_prefix(from).unwrap_or(Path::new("")));
        copy_one(&entry, &target)?;
    }
    Ok(())
}

/// Sockets and the like are left out. Links that lead out of the copy lead to nothing there, as in a fresh clone.
fn copy_one(entry: &DirEntry, target: &Path) -> io::Result<()> {
    let kind = entry.file_type();
    if kind.is_dir() {
        return fs::create_dir_all(target);
    }
    // Where modules lie inside each other, a file may be there already.
    if fs::symlink_metadata(target).is_ok() {
        return Ok(());
    }
    if kind.is_symlink() {
        symlink(fs::read_link(entry.path())?, target)
    } else if kind.is_file() {
        write_anew(entry.path(), target)
    } else {
        Ok(())
    }
}

/// The content alone: a file that may not be written can still be written in the copy.
fn write_anew(from: &Path, to: &Path) -> io::Result<()> {
    io::copy(&mut fs::File::open(from)?, &mut fs::File::create(to)?).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    fn outside_a_repository_only_what_is_reached_is_copied() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "live/a/main.tf", "module \"m\" {\n  source = \"../../modules/m\"\n}\n");
        write(dir.path(), "live/a/.terraform/environment", "blue");
        write(dir.path(), "modules/m/main.tf", "module \"n\" {\n  source = \"../n//sub\"\n}\n");
        write(dir.path(), "modules/n/sub/main.tf", "");
        write(dir.path(), "modules/other/main.tf", "");
        let copy = of(&dir.path().join("live/a")).unwrap();
        let there = |path: &str| copy.work().join("tree").join(path).exists();
        assert!(there("live/a/main.tf") && there("modules/m/main.tf") && there("modules/n/sub/main.tf"));
        assert!(!there("modules/other") && !there("live/a/.terraform"));
        assert!(copy.module.ends_with("tree/live/a"));
        assert_eq!(fs::read_to_string(copy.work().join("data/environment")).unwrap(), "blue");
    }

    #[test]
    fn of_a_working_copy_everything_is_copied_but_git() {
        let dir = tempfile::tempdir().unwrap();
        for path in [".git/HEAD", "a/main.tf", "a/terraform.tfstate", "policies/p.json"] {
            write(dir.path(), path, "{}");
        }
        let copy = of(&dir.path().join("a")).unwrap();
        let there = |path: &str| copy.work().join("tree").join(path).exists();
        assert!(there("a/terraform.tfstate") && there("policies/p.json") && !there(".git"));
    }
}
