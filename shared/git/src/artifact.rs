//! Artifacts: the whole tree of a revision, packed once.
//!
//! A `tar.zst` whose bytes depend on the tree alone: entries in order of their names, no owners, no times. Executable bits
//! and links are kept; a link that leads to nothing in the repository is left out, and the report names it. Submodules are empty directories and LFS
//! pointers stay pointers, as after a plain clone.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;
use tar::{Builder, EntryType, Header};
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

/// Packs the tree of a revision into `writer`, and says what was left out. One file at a time is in memory.
pub fn pack<W: Write>(
    repository: &Repository,
    tree: &TreeId,
    writer: W,
) -> Result<(W, ArtifactReport), PackError> {
    let root = object_id(tree.as_str())?;
    let mut zstd = zstd::Encoder::new(writer, LEVEL)?;
    // What is damaged where it is stored must not be run.
    zstd.include_checksum(true)?;
    let trees = Trees::new(repository.reader());
    let mut packer = Packer {
        trees: &trees,
        resolver: Resolver::new(&trees, root),
        tar: Builder::new(zstd),
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
