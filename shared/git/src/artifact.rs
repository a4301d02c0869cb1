//! Artifacts: the whole tree of a revision, packed once.
//!
//! A `tar.zst` whose bytes depend on the tree alone: entries in order of their names, no owners, no times. Executable bits
//! and links are kept; a link that leads to nothing in the repository is left out, and the report names it. Submodules are empty directories and LFS
//! pointers stay pointers, as after a plain clone.
//!
//! Unpacking trusts nothing: no path leaves the directory, nothing is written through a link (links are made last),
//! and size and number of entries are bounded.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;
use tar::{Archive, Builder, EntryType, Header};
use yuba_core::artifact::{ArtifactReport, FaultyLink};
use yuba_core::id::TreeId;

use crate::closure::links::Resolver;
use crate::repository::{ReadError, Repository, object_id};
use crate::tree::{Entry, Trees, blob, joined, refuse_depth};

/// zstd's default: packing is bound by reading objects, not by compressing them.
const LEVEL: i32 = 3;

/// Why a tree could not be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The repository could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The artifact could not be written.
    #[error("the artifact could not be written")]
    Write(#[from] io::Error),
}

/// Why an artifact could not be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// An entry is not what an artifact holds.
    #[error("the artifact's entry `{path}` is refused: {reason}")]
    Refused {
        /// The entry's path, as it is written there.
        path: String,
        /// Why.
        reason: &'static str,
    },
    /// It is larger than allowed.
    #[error("the artifact unpacks to more than {what}")]
    TooLarge {
        /// Which limit, with its unit: "100000 entries".
        what: String,
    },
    /// It is damaged, or the directory cannot be written.
    #[error("the artifact could not be unpacked into {}", directory.display())]
    Io {
        /// The directory.
        directory: PathBuf,
        /// What failed.
        source: io::Error,
    },
}

/// What unpacking may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of all files together.
    pub bytes: u64,
    /// Files, directories and links together.
    pub entries: u64,
}

impl Default for Limits {
    /// 10 GiB in two million entries: beyond any repository that a plan is made of.
    fn default() -> Self {
        Self { bytes: 10 << 30, entries: 2_000_000 }
    }
}

/// Packs the tree of a revision into `writer`, and says what was left out. One file at a time is in memory.
pub fn pack<W: Write>(
    repository: &Repository,
    tree: &TreeId,
    writer: W,
) -> Result<(W, ArtifactReport), PackError> {
    let root = object_id(tree.as_str())?;
    let trees = Trees::new(repository.reader());
    let mut packer = Packer {
        trees: &trees,
        resolver: Resolver::new(&trees, root),
        tar: Builder::new(zstd::Encoder::new(writer, LEVEL)?),
        left_out: Vec::new(),
    };
    packer.tree(root, &mut Vec::new(), 0)?;
    let report = ArtifactReport { schema: 1, left_out: packer.left_out };
    Ok((packer.tar.into_inner()?.finish()?, report))
}

struct Packer<'a, W: Write> {
    trees: &'a Trees,
    resolver: Resolver<'a>,
    tar: Builder<zstd::Encoder<'static, W>>,
    left_out: Vec<FaultyLink>,
}

impl<W: Write> Packer<'_, W> {
    fn tree(&mut self, id: gix::ObjectId, path: &mut Vec<u8>, depth: usize) -> Result<(), PackError> {
        refuse_depth(id, depth)?;
        for entry in self.trees.listing(id)?.iter() {
            let length = path.len();
            if length > 0 {
                path.push(b'/');
            }
            path.extend_from_slice(&entry.name);
            self.entry(entry, path, depth)?;
            path.truncate(length);
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry, path: &mut Vec<u8>, depth: usize) -> Result<(), PackError> {
        match entry.mode.kind() {
            EntryKind::Tree => {
                self.directory(path)?;
                self.tree(entry.id, path, depth + 1)
            }
            EntryKind::Commit => self.directory(path),
            EntryKind::Link => self.link(entry, path),
            EntryKind::Blob => self.file(entry, path, 0o644),
            EntryKind::BlobExecutable => self.file(entry, path, 0o755),
        }
    }

    fn directory(&mut self, path: &[u8]) -> Result<(), PackError> {
        let mut header = header(EntryType::Directory, 0o755, 0);
        Ok(self.tar.append_data(&mut header, OsStr::from_bytes(path), io::empty())?)
    }

    fn file(&mut self, entry: &Entry, path: &[u8], mode: u32) -> Result<(), PackError> {
        let bytes = blob(self.trees.local(), entry.id)?;
        let mut header = header(EntryType::Regular, mode, bytes.len() as u64);
        Ok(self.tar.append_data(&mut header, OsStr::from_bytes(path), bytes.as_slice())?)
    }

    fn link(&mut self, entry: &Entry, path: &[u8]) -> Result<(), PackError> {
        let target = blob(self.trees.local(), entry.id)?;
        let shown = joined("", path);
        if let Some(fault) = self.resolver.fault(&shown)? {
            let target = target.to_str_lossy().into_owned();
            self.left_out.push(FaultyLink { path: shown, target, fault });
            return Ok(());
        }
        let mut header = header(EntryType::Symlink, 0o777, 0);
        Ok(self.tar.append_link(&mut header, OsStr::from_bytes(path), OsStr::from_bytes(&target))?)
    }
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Unpacks an artifact into `directory`, which must be empty or not exist, and belong to this process alone.
pub fn unpack(reader: impl Read, directory: &Path, limits: Limits) -> Result<(), UnpackError> {
    let failed = |source| UnpackError::Io { directory: directory.to_owned(), source };
    fs::create_dir_all(directory).map_err(failed)?;
    let mut archive = Archive::new(zstd::Decoder::new(reader).map_err(failed)?);
    let mut unpacker = Unpacker { directory, limits, bytes: 0, entries: 0, links: Vec::new() };
    for entry in archive.entries().map_err(failed)? {
        unpacker.entry(entry.map_err(failed)?)?;
    }
    unpacker.make_links()
}

struct Unpacker<'a> {
    directory: &'a Path,
    limits: Limits,
    bytes: u64,
    entries: u64,
    /// Made last, so that no file is ever written through one.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Unpacker<'_> {
    fn entry<R: Read>(&mut self, mut entry: tar::Entry<'_, R>) -> Result<(), UnpackError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(UnpackError::TooLarge { what: format!("{} entries", self.limits.entries) });
        }
        let path = entry.path().map_err(self.failed())?.into_owned();
        let place = self.place(&path)?;
        match entry.header().entry_type() {
            EntryType::Directory => fs::create_dir_all(&place).map_err(self.failed()),
            EntryType::Regular => {
                let executable = entry.header().mode().map_err(self.failed())? & 0o100 != 0;
                self.file(&mut entry, &place, if executable { 0o755 } else { 0o644 })
            }
            EntryType::Symlink => {
                let target = entry.link_name().map_err(self.failed())?;
                let target = target.ok_or_else(|| refused(&path, "a link without a target"))?.into_owned();
                self.links.push((path, target));
                Ok(())
            }
            _ => Err(refused(&path, "it is neither file, directory nor symbolic link")),
        }
    }

    /// Where an entry goes; its parents exist and are directories.
    fn place(&self, path: &Path) -> Result<PathBuf, UnpackError> {
        let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || path.as_os_str().is_empty() {
            return Err(refused(path, "its path leaves the directory"));
        }
        let place = self.directory.join(path);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).map_err(self.failed())?;
        }
        Ok(place)
    }

    fn file(&mut self, content: &mut impl Read, place: &Path, mode: u32) -> Result<(), UnpackError> {
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(mode).open(place).map_err(self.failed())?;
        let left = self.limits.bytes.saturating_sub(self.bytes);
        let written =
            io::copy(&mut content.take(left.saturating_add(1)), &mut file).map_err(self.failed())?;
        self.bytes += written;
        if written > left {
            return Err(UnpackError::TooLarge { what: format!("{} bytes", self.limits.bytes) });
        }
        Ok(())
    }

    fn make_links(&mut self) -> Result<(), UnpackError> {
        let root = self.directory.canonicalize().map_err(self.failed())?;
        let links = std::mem::take(&mut self.links);
        for (path, target) in &links {
            if !stays_inside(path, target) {
                return Err(refused(path, "it is a link that leaves the directory"));
            }
            symlink(target, self.directory.join(path)).map_err(self.failed())?;
        }
        for (path, _) in &links {
            let place = self.directory.join(path);
            // A link through another link can leave where its text does not; one that leads nowhere leads to nothing.
            if place.canonicalize().is_ok_and(|real| !real.starts_with(&root)) {
                fs::remove_file(&place).map_err(self.failed())?;
                return Err(refused(path, "it is a link that leaves the directory"));
            }
        }
        Ok(())
    }

    fn failed(&self) -> impl Fn(io::Error) -> UnpackError {
        let directory = self.directory.to_owned();
        move |source| UnpackError::Io { directory: directory.clone(), source }
    }
}

/// Whether a link's text stays below the directory that it is unpacked into.
fn stays_inside(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

fn refused(path: &Path, reason: &'static str) -> UnpackError {
    UnpackError::Refused { path: path.display().to_string(), reason }
}
