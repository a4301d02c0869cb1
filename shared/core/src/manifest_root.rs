//! Where a set of manifests is read from: what people give to `--manifests`.

use crate::id::ManifestSetName;
use crate::spec::GitReference;

/// A configured place of manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ManifestRoot {
    /// A directory on this machine.
    Directory(String),
    /// A Git repository.
    Git {
        /// Its URL.
        url: String,
        /// Which commit; the remote's `HEAD` where none is named.
        reference: GitReference,
        /// The directory below which manifests are read; empty for the root.
        directory: String,
    },
}

impl ManifestRoot {
    /// Reads `PATH` or `URL[@REF][//SUBDIR]`.
    ///
    /// A reference is a branch, 40 digits for a commit, or a full name such as `refs/tags/v1`. Whatever is no URL is a
    /// path, so nothing is refused here.
    pub fn of(set: &ManifestSetName) -> Self {
        let text = set.0.as_str();
        let Some(path_start) = path_start(text) else { return Self::Directory(text.to_owned()) };
        let (head, path) = text.split_at(path_start);
        let (path, directory) = path.split_once("//").unwrap_or((path, ""));
        let (path, reference) = match path.rsplit_once('@') {
            Some((path, reference)) if !reference.is_empty() => (path, reference_of(reference)),
            _ => (path, GitReference::Name("HEAD".to_owned())),
        };
        let directory = directory.trim_matches('/').to_owned();
        Self::Git { url: format!("{head}{path}"), reference, directory }
    }
}

/// Where the path of a Git URL begins, after its host; `None` for what is no URL.
fn path_start(text: &str) -> Option<usize> {
    if let Some(scheme) = text.find("://") {
        let host = scheme + "://".len();
        // One more, so that a slash at the path's beginning is never taken for half of `//`.
        return text.get(host..)?.find('/').map(|slash| host + slash + 1);
    }
    let colon = text.find(':')?;
    let user_and_host = text.get(..colon)?;
    (user_and_host.contains('@') && !user_and_host.contains('/')).then_some(colon + 1)
}

fn reference_of(text: &str) -> GitReference {
    if text.len() == 40 && text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        GitReference::Commit(text.to_owned())
    } else if text.starts_with("refs/") || text == "HEAD" {
        GitReference::Name(text.to_owned())
    } else {
        GitReference::Branch(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(text: &str) -> (String, String, String) {
        match ManifestRoot::of(&ManifestSetName(text.to_owned())) {
            ManifestRoot::Git { url, reference, directory } => {
                (url, reference.as_revision_name().to_owned(), directory)
            }
            ManifestRoot::Directory(path) => panic!("{path} is a directory"),
        }
    }

    #[test]
    fn a_url_may_name_reference_and_directory() {
        for (text, url, reference, directory) in [
            ("https://h/a/b.git", "https://h/a/b.git", "HEAD", ""),
            ("https://u@h/a/b.git@main//flux/prod/", "https://u@h/a/b.git", "main", "flux/prod"),
            ("ssh://git@h:22/a@feat/x//flux", "ssh://git@h:22/a", "feat/x", "flux"),
            ("git@h:a/b@refs/tags/v1", "git@h:a/b", "refs/tags/v1", ""),
            ("file:///srv/live//flux", "file:///srv/live", "HEAD", "flux"),
        ] {
            assert_eq!(git(text), (url.to_owned(), reference.to_owned(), directory.to_owned()), "{text}");
        }
    }

    #[test]
    fn everything_else_is_a_directory() {
        for text in ["flux", "./a@b", "/srv/flux", "C:/flux", "a/b@c:d"] {
            let root = ManifestRoot::of(&ManifestSetName(text.to_owned()));
            assert_eq!(root, ManifestRoot::Directory(text.to_owned()));
        }
    }
}
