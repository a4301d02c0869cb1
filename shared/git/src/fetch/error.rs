//! Why a source could not be fetched, in words for people, and whether trying again can help.

use std::path::PathBuf;
use std::time::Duration;

/// Why a source could not be fetched. No variant ever carries a credential.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The URL cannot be used.
    #[error("cannot use the URL `{url}`: {reason}")]
    Url {
        /// The URL, without user and password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The credentials cannot be used as they are.
    #[error("cannot use the credentials for {url}: {reason}")]
    Credentials {
        /// The URL.
        url: String,
        /// What is missing or malformed, and what to do.
        reason: String,
    },
    /// The host refused the credentials, or the repository does not exist for them.
    #[error("{url} refused access: {said}; check the source's secret, and that the repository exists")]
    AccessDenied {
        /// The URL.
        url: String,
        /// What the host said.
        said: String,
    },
    /// The host's key is not among the known ones.
    #[error(
        "the key of {host} is not in known_hosts: {said}; add the host's true key to `known_hosts` in the source's secret"
    )]
    UnknownHost {
        /// The host.
        host: String,
        /// What ssh said.
        said: String,
    },
    /// The host shows another key than the one that is known.
    #[error(
        "the key of {host} is not the one in known_hosts: it shows {shown}; if the host has a new key, compare it with \
         what the host publishes and put it into `known_hosts` in the source's secret; if not, somebody answers in its place"
    )]
    OtherKey {
        /// The host.
        host: String,
        /// The fingerprint of the key that it shows.
        shown: String,
    },
    /// The repository lives on this machine and is not there, or not readable.
    #[error("no repository at {url}: {said}")]
    NoRepository {
        /// The URL.
        url: String,
        /// What git said.
        said: String,
    },
    /// The repository has no commits yet.
    #[error("{url} is empty: it has no branches yet; push a first commit")]
    Empty {
        /// The URL.
        url: String,
    },
    /// The repository's ids are not SHA-1.
    #[error(
        "{url} has SHA-256 object ids (git's object format `sha256`); repositories with SHA-1 ids are read"
    )]
    ObjectFormat {
        /// The URL.
        url: String,
    },
    /// The reference does not exist.
    #[error("{url} has no {reference}{}", nearest.as_ref().map(|name| format!("; the nearest name is `{name}`")).unwrap_or_default())]
    NoReference {
        /// The URL.
        url: String,
        /// What was looked for, with its kind: "branch `main`".
        reference: String,
        /// The most alike name of that kind.
        nearest: Option<String>,
    },
    /// The reference is malformed or names something that is no commit.
    #[error("cannot use {reference} of {url}: {reason}")]
    Reference {
        /// The URL.
        url: String,
        /// What was looked for, with its kind.
        reference: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The host could not be reached, or broke off.
    #[error("{url} could not be reached: {said}")]
    Unreachable {
        /// The URL.
        url: String,
        /// What git said.
        said: String,
    },
    /// The fetch took longer than it may.
    #[error("fetching {url} took longer than {}s and was ended", limit.as_secs())]
    TimedOut {
        /// The URL.
        url: String,
        /// The limit.
        limit: Duration,
    },
    /// Git failed in a way that is not known.
    #[error("git could not fetch {url}: {said}")]
    Git {
        /// The URL.
        url: String,
        /// What git said.
        said: String,
    },
    /// The certificate of a host descends from none that is trusted.
    #[error(
        "the certificate of {host} is not trusted: {said}; put the certificate of the authority that signed it under \
         `ca.crt` in the source's secret"
    )]
    Untrusted {
        /// The host.
        host: String,
        /// What git said.
        said: String,
    },
    /// The `git` program could not be run.
    #[error("cannot run `{}`; install git 2.31 or newer", program.display())]
    NoGit {
        /// The program.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The cache directory failed (full disk, rights).
    #[error("the cache {} cannot be used", path.display())]
    Cache {
        /// The directory or file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What was fetched could not be read.
    #[error(transparent)]
    Read(#[from] crate::repository::ReadError),
}

impl FetchError {
    /// Whether only a person or a push can mend it; everything else is worth trying again.
    pub fn is_permanent(&self) -> bool {
        match self {
            Self::Url { .. }
            | Self::Credentials { .. }
            | Self::AccessDenied { .. }
            | Self::UnknownHost { .. }
            | Self::OtherKey { .. }
            | Self::Untrusted { .. }
            | Self::NoRepository { .. }
            | Self::Empty { .. }
            | Self::ObjectFormat { .. }
            | Self::NoReference { .. }
            | Self::Reference { .. }
            | Self::NoGit { .. } => true,
            Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Git { .. }
            | Self::Cache { .. }
            | Self::Read(_) => false,
        }
    }
}

/// What a failed `git` says on standard error, sorted by what a person has to do about it.
pub(super) fn classify(url: &str, host: &str, stderr: &str) -> FetchError {
    let said = summary(stderr);
    let url = url.to_owned();
    let has = |needles: &[&str]| needles.iter().any(|needle| stderr.contains(needle));
    if has(&["REMOTE HOST IDENTIFICATION HAS CHANGED"]) {
        // What ssh advises names files that were made for this fetch alone.
        let mut words = stderr.split_whitespace().map(|word| word.trim_end_matches('.'));
        let shown = words.find(|word| word.starts_with("SHA256:")).unwrap_or("another key");
        return FetchError::OtherKey { host: host.to_owned(), shown: shown.to_owned() };
    }
    if has(&["Host key verification failed"]) {
        return FetchError::UnknownHost { host: host.to_owned(), said };
    }
    // As OpenSSL, GnuTLS and Secure Transport put it.
    if has(&["SSL certificate problem", "certificate verification failed", "certificate signer not trusted"])
    {
        return FetchError::Untrusted { host: host.to_owned(), said };
    }
    if has(&["mismatched algorithms", "unknown object format 'sha256'"]) {
        return FetchError::ObjectFormat { url };
    }
    if has(&["does not appear to be a git repository", "dubious ownership"]) && host.is_empty() {
        return FetchError::NoRepository { url, said };
    }
    if has(&[
        "could not read Username",
        "could not read Password",
        "Authentication failed",
        "Permission denied",
        "returned error: 401",
        "returned error: 403",
        "returned error: 404",
        "not found",
        "Repository not found",
        "Load key",
        "does not appear to be a git repository",
    ]) {
        return FetchError::AccessDenied { url, said };
    }
    if has(&[
        "Could not resolve host",
        "Failed to connect",
        "Couldn't connect",
        "Connection refused",
        "Connection timed out",
        "Connection reset",
        "Could not connect",
        "Operation timed out",
        "returned error: 5",
        "returned error: 429",
        "early EOF",
        "hung up unexpectedly",
        "SSL",
        "ssh: ",
    ]) {
        return FetchError::Unreachable { url, said };
    }
    FetchError::Git { url, said }
}

/// The lines that say something, joined; advice that every ssh failure carries is left out.
fn summary(stderr: &str) -> String {
    let noise = ["Please make sure you have the correct access rights", "and the repository exists.", "@@@@"];
    let lines: Vec<&str> = stderr
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !noise.iter().any(|noise| line.starts_with(noise)))
        .map(|line| line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")).unwrap_or(line))
        .collect();
    let text = lines.join("; ");
    if text.is_empty() { "it gave no reason".to_owned() } else { text.chars().take(600).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_says_becomes_what_a_person_must_do() {
        let case = |stderr: &str| {
            let error = classify("https://git.example/x", "git.example", stderr);
            format!("{} {error}", if error.is_permanent() { "permanent:" } else { "transient:" })
        };
        let cases = [
            "fatal: could not read Username for 'https://git.example': terminal prompts disabled",
            "Host key verification failed.\r\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.",
            "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\nThe fingerprint for the ED25519 key sent by the remote host is\nSHA256:h27A5QXw9ozSDpfU1y.\nOffending ED25519 key in /tmp/yuba-git-BiXNuw/known_hosts:1\nHost key verification failed.",
            "fatal: unable to access 'https://git.example/x/': Could not resolve host: git.example",
            "fatal: unable to access 'https://git.example/x/': The requested URL returned error: 503",
            "fatal: mismatched algorithms: client sha1; server sha256",
            "fatal: something new",
        ];
        insta::assert_snapshot!(cases.map(case).join("\n"), @r"
        permanent: https://git.example/x refused access: could not read Username for 'https://git.example': terminal prompts disabled; check the source's secret, and that the repository exists
        permanent: the key of git.example is not in known_hosts: Host key verification failed.; Could not read from remote repository.; add the host's true key to `known_hosts` in the source's secret
        permanent: the key of git.example is not the one in known_hosts: it shows SHA256:h27A5QXw9ozSDpfU1y; if the host has a new key, compare it with what the host publishes and put it into `known_hosts` in the source's secret; if not, somebody answers in its place
        transient: https://git.example/x could not be reached: unable to access 'https://git.example/x/': Could not resolve host: git.example
        transient: https://git.example/x could not be reached: unable to access 'https://git.example/x/': The requested URL returned error: 503
        permanent: https://git.example/x has SHA-256 object ids (git's object format `sha256`); repositories with SHA-1 ids are read
        transient: git could not fetch https://git.example/x: something new
        ");
    }
}
