//! Repository addresses in one form, so that what a host calls a repository fits the URL that a source names.

use std::fmt;

/// `host/path` in lower case: without scheme, user, default port, `.git`, or slashes at the end. Files are `/path`.
///
/// It only wakes sources, so it is generous: two repositories whose paths differ in case alone wake each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryAddress(String);

impl RepositoryAddress {
    /// The address of a URL in any of the forms that Git and its hosts write: `https://`, `ssh://`, `git://`,
    /// `user@host:path`, `file://`, a plain path. `None` where it names nothing.
    pub fn of(url: &str) -> Option<Self> {
        let url = url.trim().split(['?', '#']).next().unwrap_or_default();
        let (host, path) = match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => {
                ("", rest.strip_prefix("localhost").unwrap_or(rest))
            }
            Some((_, rest)) => rest.split_once('/')?,
            None if url.starts_with('/') => ("", url),
            None => url.split_once(':')?,
        };
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/').replace("%20", " ");
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let host =
            [":443", ":22", ":80", ":9418"].iter().find_map(|port| host.strip_suffix(port)).unwrap_or(host);
        (!path.is_empty()).then(|| Self(format!("{host}/{path}").to_lowercase()))
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepositoryAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_one_repository_has_one_address() {
        for url in [
            "https://github.com/Codertocat/Hello-World",
            "https://github.com/Codertocat/Hello-World.git",
            "https://x-token:abc@github.com/Codertocat/Hello-World.git/",
            "git@github.com:Codertocat/Hello-World.git",
            "ssh://git@github.com:22/codertocat/hello-world",
            "git://github.com/Codertocat/Hello-World.git",
        ] {
            assert_eq!(
                RepositoryAddress::of(url).unwrap().as_str(),
                "github.com/codertocat/hello-world",
                "{url}"
            );
        }
    }

    #[test]
    fn files_and_other_ports_keep_what_tells_them_apart() {
        assert_eq!(RepositoryAddress::of("file:///srv/Git/a b.git").unwrap().as_str(), "/srv/git/a b");
        assert_eq!(RepositoryAddress::of("/srv/git/a b.git/").unwrap().as_str(), "/srv/git/a b");
        assert_eq!(RepositoryAddress::of("ssh://git@h:2222/x.git").unwrap().as_str(), "h:2222/x");
        for nothing in ["", "https://", "https://host", "https://host/", "word"] {
            assert_eq!(RepositoryAddress::of(nothing), None, "{nothing}");
        }
    }
}
