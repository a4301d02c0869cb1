//! Packed trees, as an attacker would write them: past every check of the library that packs.
//!
//! A line is an entry: its kind as tar writes it (`0` a file, `2` a link, `5` a folder, `L` a long name, `x` further
//! fields), how many bytes it says it has, its name, and perhaps a payload: a link's target, or what its content begins
//! with. `100/7` says 100 bytes and has 7. An input that begins with `raw` is an archive by itself.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use tar::{EntryType, Header};
use yuba_runner::archive::{Bounds, unpack_within};

use crate::head::cut;

/// Small ones, so that few bytes reach them.
const BOUNDS: Bounds = Bounds { entries: 32, names: 2 << 10, bytes: 1 << 20 };
/// No entry has more content than this.
const LARGEST: u64 = 128 << 20;
/// No input makes more entries than this.
const MOST: usize = 64;

/// Unpacks it into a folder.
pub fn target(data: &[u8]) {
    let packed = data.strip_prefix(b"raw\n").map_or_else(|| packed(data), <[u8]>::to_vec);
    let around = tempfile::tempdir().expect("a folder for temporary files");
    let inside = around.path().join("inside");
    fs::create_dir(&inside).expect("a new folder");
    let outcome = unpack_within(BOUNDS, packed.as_slice(), &inside);
    let beside = fs::read_dir(around.path()).expect("the folder is there").count();
    assert_eq!(beside, 1, "something was written outside");
    if let Ok(unpacked) = outcome {
        assert!(unpacked.len() <= 32, "{} entries were unpacked", unpacked.len());
        let root = fs::canonicalize(&inside).expect("the folder is there");
        let bytes: u64 = unpacked.iter().map(|path| size_within(&root, path)).sum();
        assert!(bytes <= BOUNDS.bytes, "{bytes} bytes were unpacked");
    }
}

/// How many bytes a file has; panics where a path leads outside.
fn size_within(root: &Path, path: &Path) -> u64 {
    let Ok(real) = fs::canonicalize(root.join(path)) else { return 0 };
    assert!(real.starts_with(root), "`{}` leads outside", path.display());
    fs::symlink_metadata(root.join(path)).map_or(0, |meta| if meta.is_file() { meta.len() } else { 0 })
}

fn packed(lines: &[u8]) -> Vec<u8> {
    let mut builder = tar::Builder::new(zstd::Encoder::new(Vec::new(), 1).expect("level 1 exists"));
    for line in lines.split(|byte| *byte == b'\n').take(MOST) {
        append(&mut builder, line).expect("memory can be written to");
    }
    builder.into_inner().and_then(zstd::Encoder::finish).expect("memory can be written to")
}

fn append<Into: io::Write>(builder: &mut tar::Builder<Into>, line: &[u8]) -> io::Result<()> {
    let (kind, rest) = cut(line, b' ');
    let (sizes, rest) = cut(rest, b' ');
    let (name, payload) = cut(rest, b' ');
    let (said, held) = cut(sizes, b'/');
    let said = number(said).unwrap_or(payload.len() as u64);
    let held = number(held).unwrap_or(said).min(LARGEST);

    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::new(kind.first().copied().unwrap_or(b'0')));
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_size(said);
    let gnu = header.as_gnu_mut().expect("it is one");
    gnu.name.iter_mut().zip(name).for_each(|(place, byte)| *place = *byte);
    gnu.linkname.iter_mut().zip(payload).for_each(|(place, byte)| *place = *byte);
    header.set_cksum();
    builder.append(&header, payload.chain(io::repeat(b'a')).take(held))
}

fn number(digits: &[u8]) -> Option<u64> {
    str::from_utf8(digits).ok()?.parse().ok()
}
