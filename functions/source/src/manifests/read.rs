//! Reads the documents of a place of manifests: a directory, or a Git repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use yuba_core::id::ManifestSetName;
use yuba_core::manifest::{ManifestFile, is_manifest_path};
use yuba_core::manifest_root::ManifestRoot;
use yuba_core::message::Cause;
use yuba_core::people::Identity;
use yuba_core::spec::{GitReference, SourceSpec};
use yuba_ports::{PortError, Ports};

use crate::backoff::{Mend, Trouble};
use crate::blocking::blocking;
use crate::git::Checkout;
use crate::look::{credentials, pushed};
use crate::settings::SourceSettings;

/// Deeper directories than this are a loop of links.
const DEEPEST: usize = 64;

/// The documents of a place of manifests.
#[derive(Debug)]
pub(super) struct Documents {
    /// The files by path.
    pub(super) files: Vec<ManifestFile>,
    /// Over paths and texts.
    pub(super) digest: String,
    /// Who wrote them as they stand, where they come from Git.
    pub(super) author: Option<Author>,
}

/// Who wrote documents, and how that is known.
#[derive(Debug, Clone)]
pub(super) struct Author {
    /// A login, or `Name <address>`.
    pub(super) who: String,
    /// `pusher, verified by github`, or `commit author, not verified`.
    pub(super) known_by: String,
    /// The name that the host vouches for, where one does.
    pub(super) identity: Option<Identity>,
}

/// Whoever a verified host says has pushed the very commit that was found, where all deliveries of it name the same one;
/// else whom the commit names. A delivery of another commit says nothing of this one.
async fn author(ports: &Ports, causes: &[&Cause], fetched: &dyn Checkout) -> Result<Author, PortError> {
    let mut pushed = pushed(ports, causes).await?;
    pushed.retain(|pushed| pushed.commit.as_ref() == Some(&fetched.revision().commit));
    let is_one = pushed.iter().all(|other| Some(other) == pushed.first());
    Ok(match pushed.pop().filter(|_| is_one) {
        Some(pushed) => Author {
            known_by: format!("pusher, verified by {}", pushed.host),
            identity: Some(pushed.identity()),
            who: pushed.who,
        },
        None => Author {
            who: fetched.commit().author,
            known_by: "commit author, not verified".to_owned(),
            identity: None,
        },
    })
}

/// Reads them.
pub(super) async fn read(
    ports: &Ports,
    settings: &SourceSettings,
    set: &ManifestSetName,
    causes: &[&Cause],
) -> Result<Result<Documents, Trouble>, PortError> {
    match ManifestRoot::of(set) {
        ManifestRoot::Directory(path) => blocking(move || read_directory(Path::new(&path))).await,
        ManifestRoot::Git { url, reference, directory } => {
            let place = GitPlace { url, reference, directory };
            read_git(ports, settings, (set, causes), place).await
        }
    }
}

struct GitPlace {
    url: String,
    reference: GitReference,
    directory: String,
}

async fn read_git(
    ports: &Ports,
    settings: &SourceSettings,
    (set, causes): (&ManifestSetName, &[&Cause]),
    place: GitPlace,
) -> Result<Result<Documents, Trouble>, PortError> {
    let secret = settings.manifests_secret.clone();
    let credentials = match credentials::of(ports, secret.as_ref()).await? {
        Ok(credentials) => credentials,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let interval = settings.manifests_interval;
    let spec = SourceSpec { url: place.url, reference: place.reference, interval, secret, suspend: false };
    let cache = settings.cache_dir.join("manifests").join(hex::encode(Sha256::digest(&set.0)));
    let fetched = match settings.git.fetch(&cache, spec, credentials).await? {
        Ok(fetched) => fetched,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let files = fetched.manifests(&place.directory).await?;
    let author = author(ports, causes, fetched.as_ref()).await?;
    Ok(files.map(|files| documents(files, Some(author))))
}

fn read_directory(root: &Path) -> Result<Documents, Trouble> {
    let mut paths = Vec::new();
    let listed = if root.is_file() {
        paths.push(root.to_owned());
        Ok(())
    } else {
        list(root, 0, &mut paths)
    };
    let trouble = |path: &Path, error: &io::Error| Trouble {
        message: format!("manifests at {} cannot be read: {error}", path.display()),
        mend: Mend::Time,
    };
    listed.map_err(|error| trouble(root, &error))?;
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let bytes = fs::read(&path).map_err(|error| trouble(&path, &error))?;
        files.push(ManifestFile::new(name_below(root, &path), bytes));
    }
    Ok(documents(files, None))
}

/// The files that may hold manifests below a directory; links are followed, what begins with a dot is left out.
fn list(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if depth > DEEPEST {
        return Err(io::Error::other(format!(
            "{} lies too deep: do links form a loop?",
            directory.display()
        )));
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            if !name.as_encoded_bytes().starts_with(b".") {
                list(&path, depth + 1, found)?;
            }
        } else if name.to_str().is_some_and(is_manifest_path) {
            found.push(path);
        }
    }
    Ok(())
}

fn name_below(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).ok().filter(|below| !below.as_os_str().is_empty());
    let shown = below.map(Path::as_os_str).or(path.file_name()).unwrap_or(path.as_os_str());
    shown.to_string_lossy().into_owned()
}

fn documents(files: Vec<ManifestFile>, author: Option<Author>) -> Documents {
    let mut hasher = Sha256::new();
    for file in &files {
        for part in [&file.path, &file.text] {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
    }
    let digest = format!("sha256:{}", hex::encode(hasher.finalize()));
    Documents { files, digest, author }
}
