//! Where a source lies: what of its URL is used, what is never shown.

use secrecy::SecretString;

use super::error::FetchError;

/// How a source is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    File,
    Http,
    Https,
    Ssh,
}

/// A source's URL without the secrets that may have stood in it.
#[derive(Debug, Clone)]
pub(super) struct Location {
    pub(super) scheme: Scheme,
    /// What `git` is given, and what people are shown.
    pub(super) url: String,
    /// `user:password` that stood in an HTTP URL.
    pub(super) embedded: Option<(String, SecretString)>,
    /// `host` or `host:port`; empty for files.
    pub(super) host: String,
}

impl Location {
    /// Reads `file://…`, `https://…`, `http://…`, `ssh://…`, or `user@host:path`.
    pub(super) fn parse(text: &str) -> Result<Self, FetchError> {
        let unusable = |reason: &str| FetchError::Url { url: redacted(text), reason: reason.to_owned() };
        if text.contains(|letter: char| letter.is_control()) {
            return Err(unusable("it contains control characters"));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return Self::scp_like(text).ok_or_else(|| {
                unusable("it is none of `https://…`, `ssh://…`, `file://…`, `git@host:path`")
            });
        };
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "file" => Scheme::File,
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            "ssh" => Scheme::Ssh,
            other => return Err(unusable(&format!("`{other}://` is not supported; use https, ssh or file"))),
        };
        let location = match scheme {
            Scheme::File => Self { scheme, url: text.to_owned(), embedded: None, host: String::new() },
            _ => Self::on_a_host(scheme, rest),
        };
        if location.scheme != Scheme::File && (location.host.is_empty() || location.host.starts_with('-')) {
            return Err(unusable("it names no host"));
        }
        Ok(location)
    }

    fn on_a_host(scheme: Scheme, rest: &str) -> Self {
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let name = match scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
            _ => "ssh",
        };
        if scheme == Scheme::Ssh {
            let user = user.map(|user| user.split(':').next().unwrap_or(user));
            let at = user.map(|user| format!("{user}@")).unwrap_or_default();
            return Self {
                scheme,
                url: format!("ssh://{at}{host}/{path}"),
                embedded: None,
                host: host.to_owned(),
            };
        }
        let embedded = user.map(|user| {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            (percent_decoded(name), SecretString::from(percent_decoded(password)))
        });
        Self { scheme, url: format!("{name}://{host}/{path}"), embedded, host: host.to_owned() }
    }

    fn scp_like(text: &str) -> Option<Self> {
        let (authority, path) = text.split_once(':')?;
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let plain = !authority.contains('/') && !authority.starts_with('-') && !host.is_empty();
        (plain && !host.starts_with('-') && !path.is_empty() && !path.starts_with(':')).then(|| Self {
            scheme: Scheme::Ssh,
            url: text.to_owned(),
            embedded: None,
            host: host.to_owned(),
        })
    }

    /// Whether what is sent to it could be read by others on the way.
    pub(super) fn in_clear_text(&self) -> bool {
        let name = self.host.rsplit_once(':').map_or(self.host.as_str(), |(name, _)| name);
        self.scheme == Scheme::Http && !matches!(name, "localhost" | "127.0.0.1" | "[::1]")
    }
}

/// A URL without user and password, as it may be shown and logged.
pub fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped =
            (first == b'%').then(|| tail.get(..2)).flatten().and_then(|pair| hex::decode(pair).ok());
        if let Some(decoded) = escaped {
            bytes.extend(decoded);
            rest = tail.get(2..).unwrap_or_default();
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn secrets_in_a_url_are_taken_out_of_it() {
        let location = Location::parse("https://ada:s%40fe@git.example/team/live.git").unwrap();
        assert_eq!(location.url, "https://git.example/team/live.git");
        let (user, password) = location.embedded.unwrap();
        assert_eq!((user.as_str(), password.expose_secret()), ("ada", "s@fe"));
        assert_eq!(redacted("https://ada:safe@git.example/x"), "https://git.example/x");
    }

    #[test]
    fn each_form_of_ssh_is_understood() {
        for (text, url) in [
            ("git@git.example:team/live.git", "git@git.example:team/live.git"),
            ("ssh://git@git.example:2222/team/live", "ssh://git@git.example:2222/team/live"),
            ("ssh://git:secret@git.example/live", "ssh://git@git.example/live"),
        ] {
            let location = Location::parse(text).unwrap();
            assert_eq!((location.scheme, location.url.as_str()), (Scheme::Ssh, url));
        }
    }

    #[test]
    fn what_could_be_an_option_or_another_helper_is_refused() {
        for text in
            ["", "-oProxyCommand=x:y", "ssh://-oProxyCommand=x/y", "ext::sh -c x", "https:///x", "a\nb:c"]
        {
            assert!(Location::parse(text).is_err(), "{text}");
        }
    }
}
