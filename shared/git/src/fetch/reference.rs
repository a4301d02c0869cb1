//! Which commit of a source is wanted, and what to say when the source does not have it.

use std::fmt;

use yuba_core::id::CommitId;
use yuba_core::spec::GitReference;

use super::error::FetchError;

/// What is asked of the host.
#[derive(Debug)]
pub(super) enum Wanted {
    Name(FullName),
    Commit(CommitId),
}

/// A full reference name, and how it is called to people.
#[derive(Debug)]
pub(super) struct FullName {
    pub(super) full: String,
    kind: &'static str,
    name: String,
}

impl fmt::Display for FullName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} `{}`", self.kind, self.name)
    }
}

impl Wanted {
    pub(super) fn of(reference: &GitReference, url: &str) -> Result<Self, FetchError> {
        let unusable = |kind: &str, name: &str, reason: String| FetchError::Reference {
            url: url.to_owned(),
            reference: format!("{kind} `{name}`"),
            reason,
        };
        let (kind, prefix, name) = match reference {
            GitReference::Branch(name) => ("branch", "refs/heads/", name),
            GitReference::Tag(name) => ("tag", "refs/tags/", name),
            GitReference::Name(name) => ("reference", "", name),
            GitReference::Commit(id) => {
                return id
                    .parse()
                    .map(Self::Commit)
                    .map_err(|error| unusable("commit", id, error.to_string()));
            }
        };
        let full = format!("{prefix}{name}");
        let well_formed = (full == "HEAD" || full.starts_with("refs/"))
            && gix::validate::reference::name(full.as_str().into()).is_ok();
        if !well_formed {
            return Err(unusable(kind, name, "it is not a name that Git allows".to_owned()));
        }
        Ok(Self::Name(FullName { full, kind, name: name.clone() }))
    }
}

/// Says that a reference is missing, given the output of `ls-remote`: the repository may be empty, or a name alike may
/// have been meant.
pub(super) fn missing(url: &str, full: &str, shown: &str, listing: &str) -> FetchError {
    let names: Vec<&str> =
        listing.lines().filter_map(|line| line.split_once('\t')).map(|(_, name)| name).collect();
    if !names.iter().any(|name| name.starts_with("refs/")) {
        return FetchError::Empty { url: url.to_owned() };
    }
    let prefix =
        ["refs/heads/", "refs/tags/", ""].into_iter().find(|prefix| full.starts_with(prefix)).unwrap_or("");
    let wanted = full.strip_prefix(prefix).unwrap_or(full);
    let nearest = names
        .iter()
        .filter_map(|name| name.strip_prefix(prefix))
        .filter(|name| !name.ends_with("^{}") && *name != "HEAD")
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .filter(|(likeness, _)| *likeness > 0.6)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, name)| name.to_owned());
    FetchError::NoReference { url: url.to_owned(), reference: shown.to_owned(), nearest }
}
