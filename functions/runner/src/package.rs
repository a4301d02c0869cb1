//! A provider's package as a directory: its checksum, and making it root's.

use std::fmt::Write as _;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use walkdir::{DirEntry, WalkDir};

/// The checksum of a package as lock files write it, `h1:` and base64: of a list of the files' SHA-256 by name, sorted. Links
/// are refused: what they lead to can change.
/// <https://pkg.go.dev/golang.org/x/mod/sumdb/dirhash#Hash1>
pub(crate) fn checksum(package: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for entry in entries(package) {
        let entry = entry?;
        if entry.file_type().is_file() {
            let name = entry.path().strip_prefix(package).map_err(io::Error::other)?;
            let name = name.to_str().ok_or_else(|| io::Error::other("a file's name is no text"))?.to_owned();
            files.push((name, entry.into_path()));
        }
    }
    files.sort();
    let mut list = String::new();
    for (name, path) in files {
        writeln!(list, "{}  {name}", hex::encode(digest(File::open(path)?)?)).map_err(io::Error::other)?;
    }
    Ok(format!("h1:{}", STANDARD.encode(Sha256::digest(list.as_bytes()))))
}

fn digest(mut file: File) -> io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut chunk)?;
        if count == 0 {
            return Ok(hasher.finalize().into());
        }
        hasher.update(chunk.get(..count).unwrap_or_default());
    }
}

/// Makes a package root's: others read and run it.
pub(crate) fn settle(package: &Path) -> io::Result<()> {
    for entry in entries(package) {
        let entry = entry?;
        chown(entry.path(), Some(0), Some(0))?;
        fs::set_permissions(entry.path(), Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// The folders and files of a package; an error for what is neither.
fn entries(package: &Path) -> impl Iterator<Item = io::Result<DirEntry>> {
    WalkDir::new(package).into_iter().map(|entry| {
        let entry = entry?;
        let kind = entry.file_type();
        if kind.is_file() || kind.is_dir() {
            return Ok(entry);
        }
        Err(io::Error::other(format!("{} is neither file nor folder", entry.path().display())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_covers_names_and_contents_and_refuses_links() {
        let package = tempfile::tempdir().unwrap();
        fs::create_dir(package.path().join("docs")).unwrap();
        fs::write(package.path().join("terraform-provider-a"), "one").unwrap();
        fs::write(package.path().join("docs/b.md"), "two").unwrap();
        // By `sha256sum` over the list that `sha256sum docs/b.md terraform-provider-a` writes.
        assert_eq!(checksum(package.path()).unwrap(), "h1:AgZBUEgolf5f4HTdtvNZTikJOdAK04eUQ9nl05v7avI=");
        std::os::unix::fs::symlink("docs", package.path().join("link")).unwrap();
        assert!(
            checksum(package.path()).unwrap_err().to_string().ends_with("link is neither file nor folder")
        );
    }
}
