//! Finds the manifest files that paths on the command line mean.
//!
//! Of directories, `*.yaml`, `*.yml` and `*.json` are read, however deep; what begins with a dot is not. What cannot be
//! read is told.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use walkdir::{DirEntry, WalkDir};
use yuba_core::manifest::{Finding, ManifestFile, Place, Severity, is_manifest_path};

/// The files that were found, and what is to be said of others.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Files to read, as they are called on the command line, and in the order of their names.
    pub(crate) files: Vec<ManifestFile>,
    /// Files that are not read, and why.
    pub(crate) findings: Vec<Finding>,
    seen: HashSet<PathBuf>,
}

/// Finds and reads the files that the paths mean.
pub(crate) fn find(paths: &[PathBuf]) -> anyhow::Result<Found> {
    let mut found = Found::default();
    for path in paths {
        let meta = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        if meta.is_dir() { found.directory(path)? } else { found.file(path) }
    }
    Ok(found)
}

impl Found {
    fn directory(&mut self, path: &Path) -> anyhow::Result<()> {
        let walk = WalkDir::new(path).sort_by_file_name().into_iter();
        for entry in walk.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry)) {
            let entry = entry.context("cannot list a directory")?;
            if entry.file_name().to_str().is_some_and(is_manifest_path) && entry.path().is_file() {
                self.file(entry.path());
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if !self.seen.insert(real) {
            return;
        }
        match fs::read(path) {
            Ok(bytes) => self.files.push(ManifestFile::new(shown(path), bytes)),
            Err(error) => self.fault(path, format!("cannot be read: {error}")),
        }
    }

    fn fault(&mut self, path: &Path, message: String) {
        let place = Place { file: shown(path), line: 1, column: 1 };
        self.findings.push(Finding { severity: Severity::Error, place, message });
    }
}

fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}
