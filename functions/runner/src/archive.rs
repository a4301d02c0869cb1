//! Packed trees: `.tar.zst`, written fast, read with suspicion.
//!
//! What is unpacked must stay within its directory: absolute names, `..`, links that lead out and entries that are
//! neither file, folder nor symbolic link are refused. So is more than a disk should be asked to hold, or than memory
//! can hold of names: a few kilobytes of archive can name terabytes.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use tar::{Archive, Builder, EntryType};

/// Fast; the packed bytes are read once or twice.
const LEVEL: i32 = 1;

/// How much is unpacked at most.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Files, folders and links.
    pub entries: u64,
    /// Bytes of all their names together, which are held in memory.
    pub names: u64,
    /// Bytes of all files together.
    pub bytes: u64,
}

/// Far more than any repository of code holds.
const BOUNDS: Bounds = Bounds { entries: 2_000_000, names: 256 << 20, bytes: 32 << 30 };

/// Bytes that stand between two files at most: what tells of the second, a long name for one, is held in memory.
const BETWEEN: u64 = 1 << 20;

/// Why an archive was not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// It could not be read or written out.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// An entry would lie outside.
    #[error("`{}` leads out of the repository", .0.display())]
    Outside(PathBuf),
    /// A link leads outside.
    #[error("the link `{}` leads out of the repository (to `{}`)", .link.display(), .target.display())]
    LinkOutside {
        /// The link.
        link: PathBuf,
        /// What it names.
        target: PathBuf,
    },
    /// It holds too many entries.
    #[error("it holds more than {0} files and folders: leave out what no plan needs")]
    TooMany(u64),
    /// Its names are too long.
    #[error("the names of its files take more than {} MiB: leave out what no plan needs", .0 >> 20)]
    LongNames(u64),
    /// Its files are too large.
    #[error("its files take more than {} MiB with `{}`: leave out what no plan needs", .bytes >> 20, .path.display())]
    TooLarge {
        /// The file that was one too many.
        path: PathBuf,
        /// How many bytes they may take.
        bytes: u64,
    },
    /// An entry is something else.
    #[error("`{}` is neither file, folder nor symbolic link", .0.display())]
    Kind(PathBuf),
}

/// Unpacks into a directory, over what is there; the paths of what was unpacked, as the archive has them.
pub(crate) fn unpack(from: impl Read, into: &Path) -> Result<Vec<PathBuf>, UnpackError> {
    unpack_within(BOUNDS, from, into)
}

/// The same, within bounds of the caller's.
pub fn unpack_within(bounds: Bounds, from: impl Read, into: &Path) -> Result<Vec<PathBuf>, UnpackError> {
    let mut left = bounds;
    let allowed = Rc::new(Cell::new(BETWEEN));
    let mut archive = Archive::new(Allowed { from: zstd::Decoder::new(from)?, left: Rc::clone(&allowed) });
    archive.set_preserve_permissions(true);
    archive.set_overwrite(true);
    let (mut unpacked, mut links) = (Vec::new(), Vec::new());
    for entry in archive.entries()? {
        let told = |error: io::Error| {
            if allowed.get() == 0 { UnpackError::LongNames(BETWEEN) } else { error.into() }
        };
        let mut entry = entry.map_err(told)?;
        let path = entry.path()?.into_owned();
        if leaves(&path) {
            return Err(UnpackError::Outside(path));
        }
        left.take(bounds, &path, entry.size())?;
        allowed.set(entry.size().saturating_add(BETWEEN));
        match entry.header().entry_type() {
            EntryType::Regular | EntryType::Directory | EntryType::Continuous => {}
            EntryType::XGlobalHeader => continue,
            EntryType::Symlink => {
                let target = entry.link_name()?.unwrap_or_default().into_owned();
                if leaves(&path.parent().unwrap_or(Path::new("")).join(&target)) {
                    return Err(UnpackError::LinkOutside { link: path, target });
                }
                links.push(path.clone());
            }
            _ => return Err(UnpackError::Kind(path)),
        }
        if !entry.unpack_in(into)? {
            return Err(UnpackError::Outside(path));
        }
        unpacked.push(path);
    }
    read_to_end(archive)?;
    check_links(into, links)?;
    Ok(unpacked)
}

/// Reads what follows the last entry: the checksum over all of it.
fn read_to_end(archive: Archive<impl Read>) -> io::Result<()> {
    io::copy(&mut archive.into_inner(), &mut io::sink()).map(drop)
}

/// What is wrong with an archive, whatever it holds; `None` where it can be read to its end, or holds more between two
/// files than is read.
pub(crate) fn damage(from: impl Read) -> Option<io::Error> {
    let left = Rc::new(Cell::new(BETWEEN));
    let read = || {
        let mut archive = Archive::new(Allowed { from: zstd::Decoder::new(from)?, left: Rc::clone(&left) });
        for entry in archive.entries()? {
            left.set(entry?.size().saturating_add(BETWEEN));
        }
        read_to_end(archive)
    };
    read().err().filter(|_| left.get() > 0)
}

impl Bounds {
    /// Takes away what an entry needs.
    fn take(&mut self, all: Self, path: &Path, size: u64) -> Result<(), UnpackError> {
        self.entries = self.entries.checked_sub(1).ok_or(UnpackError::TooMany(all.entries))?;
        let name = path.as_os_str().len() as u64;
        self.names = self.names.checked_sub(name).ok_or(UnpackError::LongNames(all.names))?;
        let too_large = || UnpackError::TooLarge { path: path.to_owned(), bytes: all.bytes };
        self.bytes = self.bytes.checked_sub(size).ok_or_else(too_large)?;
        Ok(())
    }
}

/// Reads no further than is allowed.
struct Allowed<From> {
    from: From,
    left: Rc<Cell<u64>>,
}

impl<From: Read> Read for Allowed<From> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::Error::other("more bytes than may stand here"));
        }
        let count = self.from.by_ref().take(self.left.get()).read(into)?;
        self.left.set(self.left.get() - count as u64);
        Ok(count)
    }
}

/// The content of an archive's first entry, if that has this name.
pub(crate) fn first(from: impl Read, name: &str) -> io::Result<Option<Vec<u8>>> {
    let left = Rc::new(Cell::new(BOUNDS.names));
    let mut archive = Archive::new(Allowed { from: zstd::Decoder::new(from)?, left });
    let Some(entry) = archive.entries()?.next() else { return Ok(None) };
    let mut entry = entry?;
    if entry.path()? != Path::new(name) {
        return Ok(None);
    }
    let mut content = Vec::new();
    entry.read_to_end(&mut content)?;
    Ok(Some(content))
}

/// Refuses links that lead outside by way of other links. One that leads nowhere harms nobody.
fn check_links(root: &Path, links: Vec<PathBuf>) -> Result<(), UnpackError> {
    let root = fs::canonicalize(root)?;
    for link in links {
        if let Ok(target) = fs::canonicalize(root.join(&link))
            && !target.starts_with(&root)
        {
            return Err(UnpackError::LinkOutside { link, target });
        }
    }
    Ok(())
}

/// Whether a path, taken from the top of the tree, leads out of it.
pub(crate) fn leaves(path: &Path) -> bool {
    let mut depth = 0_i64;
    for component in path.components() {
        depth += match component {
            Component::Normal(_) => 1,
            Component::CurDir => 0,
            Component::ParentDir => -1,
            Component::RootDir | Component::Prefix(_) => return true,
        };
        if depth < 0 {
            return true;
        }
    }
    false
}

/// Packs files below `root`, each named relative to it.
pub(crate) fn pack(root: &Path, files: impl Iterator<Item = PathBuf>, into: &File) -> io::Result<()> {
    let mut builder = Builder::new(zstd::Encoder::new(into, LEVEL)?);
    builder.follow_symlinks(false);
    for file in files {
        let name = file.strip_prefix(root).map_err(io::Error::other)?;
        if fs::symlink_metadata(&file)?.is_dir() {
            builder.append_dir(name, &file)?;
        } else {
            builder.append_path_with_name(&file, name)?;
        }
    }
    builder.into_inner()?.finish()?.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(fill: impl FnOnce(&mut Builder<Vec<u8>>)) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        fill(&mut builder);
        zstd::encode_all(builder.into_inner().unwrap().as_slice(), LEVEL).unwrap()
    }

    fn link(builder: &mut Builder<Vec<u8>>, name: &str, target: &str) {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(EntryType::Symlink);
        header.set_size(0);
        builder.append_link(&mut header, name, target).unwrap();
    }

    #[test]
    fn links_may_point_within_but_not_out() {
        let directory = tempfile::tempdir().unwrap();
        let within = archive(|builder| link(builder, "a/b/l", "../../c"));
        unpack(within.as_slice(), directory.path()).unwrap();
        for target in ["../../../c", "/etc/passwd", "x/../../../../c"] {
            let out = archive(|builder| link(builder, "a/b/m", target));
            let error = unpack(out.as_slice(), directory.path()).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("the link `a/b/m` leads out of the repository (to `{target}`)")
            );
        }
    }

    #[test]
    fn what_could_write_elsewhere_is_refused() {
        use EntryType::{Fifo, Link, Regular};
        for (name, kind) in
            [("../x", Regular), ("/tmp/x", Regular), ("a/../../x", Regular), ("l", Link), ("p", Fifo)]
        {
            let around = tempfile::tempdir().unwrap();
            let inside = around.path().join("inside");
            fs::create_dir(&inside).unwrap();
            let packed = archive(|builder| {
                let mut header = tar::Header::new_gnu();
                header.set_entry_type(kind);
                header.set_size(0);
                // Written past the checks of the tar crate, as an attacker would.
                header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
                header.set_cksum();
                builder.append(&header, io::empty()).unwrap();
            });
            assert!(unpack(packed.as_slice(), &inside).is_err(), "{name}");
            assert_eq!(fs::read_dir(around.path()).unwrap().count(), 1, "{name}");
            assert_eq!(fs::read_dir(&inside).unwrap().count(), 0, "{name}");
        }
    }

    #[test]
    fn nothing_is_written_through_a_link_that_leads_out() {
        let around = tempfile::tempdir().unwrap();
        let inside = around.path().join("inside");
        fs::create_dir(&inside).unwrap();
        let packed = archive(|builder| {
            link(builder, "d/e/top", "../..");
            link(builder, "out", "d/e/top/..");
            let mut header = tar::Header::new_gnu();
            header.set_size(1);
            builder.append_data(&mut header, "out/x", b"1".as_slice()).unwrap();
        });
        assert!(unpack(packed.as_slice(), &inside).is_err());
        assert_eq!(fs::read_dir(around.path()).unwrap().count(), 1);
    }

    #[test]
    fn links_may_not_lead_out_by_way_of_links() {
        let directory = tempfile::tempdir().unwrap();
        let packed = archive(|builder| {
            link(builder, "d/e/top", "../..");
            link(builder, "out", "d/e/top/..");
        });
        let error = unpack(packed.as_slice(), directory.path()).unwrap_err();
        assert!(matches!(error, UnpackError::LinkOutside { link, .. } if link == Path::new("out")));
    }

    #[test]
    fn no_more_is_unpacked_than_a_disk_should_hold() {
        let packed = archive(|builder| {
            for name in ["a", "b", "c"] {
                let mut header = tar::Header::new_gnu();
                header.set_size(2 << 20);
                builder.append_data(&mut header, name, io::repeat(0).take(2 << 20)).unwrap();
            }
        });
        assert!(packed.len() < 10_000, "6 MiB of nothing pack well: {}", packed.len());
        let refusal = |bounds| {
            let directory = tempfile::tempdir().unwrap();
            let error = unpack_within(bounds, packed.as_slice(), directory.path()).unwrap_err();
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "it stops there");
            error.to_string()
        };
        assert_eq!(
            refusal(Bounds { entries: 2, ..BOUNDS }),
            "it holds more than 2 files and folders: leave out what no plan needs"
        );
        assert_eq!(
            refusal(Bounds { bytes: (6 << 20) - 1, ..BOUNDS }),
            "its files take more than 5 MiB with `c`: leave out what no plan needs"
        );
        assert_eq!(
            refusal(Bounds { names: 2, ..BOUNDS }),
            "the names of its files take more than 0 MiB: leave out what no plan needs"
        );
    }

    #[test]
    fn a_name_without_end_is_not_read() {
        let packed = archive(|builder| {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(EntryType::GNULongName);
            header.set_size(64 << 20);
            header.set_cksum();
            builder.append(&header, io::repeat(b'a').take(64 << 20)).unwrap();
        });
        let directory = tempfile::tempdir().unwrap();
        let error = unpack(packed.as_slice(), directory.path()).unwrap_err();
        assert!(matches!(error, UnpackError::LongNames(BETWEEN)), "{error}");
    }

    #[test]
    fn what_is_packed_comes_back() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(from.path().join("d")).unwrap();
        fs::write(from.path().join("d/f"), "x").unwrap();
        std::os::unix::fs::symlink("d/f", from.path().join("l")).unwrap();
        let packed = tempfile::tempfile().unwrap();
        let files = ["d", "d/f", "l"].map(|name| from.path().join(name));
        pack(from.path(), files.into_iter(), &packed).unwrap();
        let mut packed = packed;
        io::Seek::rewind(&mut packed).unwrap();
        unpack(packed, to.path()).unwrap();
        assert_eq!(fs::read_to_string(to.path().join("l")).unwrap(), "x");
    }
}
