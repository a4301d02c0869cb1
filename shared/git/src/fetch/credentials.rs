//! What a host is shown: tokens in a header, keys in files that only this process' user can read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret, SecretString};
use tempfile::TempDir;

use super::error::FetchError;
use super::process::Setting;
use super::url::{Location, Scheme};

/// What the secret of a source holds, under the keys that Flux names.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    /// Who asks.
    pub login: Login,
    /// `ca.crt`: the certificates in PEM that an HTTPS host's must descend from, in place of those of this machine.
    pub authority: Option<String>,
}

impl From<Login> for Credentials {
    fn from(login: Login) -> Self {
        Self { login, authority: None }
    }
}

/// How a host knows who asks.
#[derive(Debug, Clone, Default)]
pub enum Login {
    /// None: a public repository, or one on this machine.
    #[default]
    Anonymous,
    /// `username` and `password` (or a token in the password's place), for HTTPS.
    Password {
        /// The user's name.
        username: String,
        /// The password or token.
        password: SecretString,
    },
    /// `bearerToken`, for HTTPS.
    Bearer(SecretString),
    /// `identity` and `known_hosts`, for SSH.
    Key {
        /// The private key, in the form that OpenSSH reads, without a passphrase.
        identity: SecretString,
        /// Lines as in `~/.ssh/known_hosts`. Hosts that it does not name are refused.
        known_hosts: String,
    },
}

/// Credentials in the form that `git` takes them, for one fetch; the files vanish with it.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) settings: Vec<Setting>,
    pub(super) ssh_command: Option<String>,
    /// Certificates to trust in place of this machine's.
    pub(super) authority: Option<PathBuf>,
    pub(super) directory: TempDir,
}

/// Writes what `git` and `ssh` read from files, into a directory of mode 0700 that is removed afterwards.
pub(super) fn prepare(
    location: &Location,
    credentials: &Credentials,
    ssh: &Path,
) -> Result<Prepared, FetchError> {
    let directory =
        tempfile::Builder::new().prefix("yuba-git-").tempdir().map_err(cache_error(&std::env::temp_dir()))?;
    write_private(&directory.path().join("config"), &global_config(location))
        .map_err(cache_error(directory.path()))?;
    let mut prepared = Prepared { settings: Vec::new(), ssh_command: None, authority: None, directory };
    match location.scheme {
        Scheme::File => {}
        Scheme::Http | Scheme::Https => {
            prepared.settings.extend(header(location, &credentials.login)?);
            if let Some(authority) = &credentials.authority {
                prepared.authority = Some(trust(location, authority, prepared.directory.path())?);
            }
        }
        Scheme::Ssh => {
            let login = &credentials.login;
            prepared.ssh_command = Some(ssh_command(location, login, ssh, prepared.directory.path())?);
        }
    }
    Ok(prepared)
}

/// A repository on this machine was named by whoever wrote the source; that it belongs to another user is no reason
/// to refuse it, since `upload-pack` runs nothing that the repository names.
fn global_config(location: &Location) -> String {
    if location.scheme != Scheme::File {
        return String::new();
    }
    "[safe]\n\tdirectory = *\n".to_owned()
}

/// The file of certificates to trust.
fn trust(location: &Location, authority: &str, directory: &Path) -> Result<PathBuf, FetchError> {
    if !authority.contains("-----BEGIN CERTIFICATE-----") {
        return Err(refused(
            location,
            "`ca.crt` holds no certificate in PEM; it begins with `-----BEGIN CERTIFICATE-----`",
        ));
    }
    let file = directory.join("ca.crt");
    write_private(&file, authority).map_err(cache_error(&file))?;
    Ok(file)
}

fn header(location: &Location, login: &Login) -> Result<Option<Setting>, FetchError> {
    let refuse = |reason: &str| refused(location, reason);
    let value = match login {
        Login::Anonymous => match &location.embedded {
            Some((username, password)) => basic(username, password),
            None => return Ok(None),
        },
        Login::Password { username, password } => basic(username, password),
        Login::Bearer(token) => format!("Bearer {}", token.expose_secret().trim()),
        Login::Key { .. } => {
            return Err(refuse(
                "`identity` is for ssh URLs; give `username` and `password`, or `bearerToken`",
            ));
        }
    };
    if value.contains(|letter: char| letter.is_control()) {
        return Err(refuse("the token contains control characters; store it without line breaks"));
    }
    if location.in_clear_text() {
        return Err(refuse("they would be sent in clear text over http; use https"));
    }
    Ok(Some((format!("http.{}.extraHeader", location.url), format!("Authorization: {value}"))))
}

fn basic(username: &str, password: &SecretString) -> String {
    let pair = format!("{username}:{}", password.expose_secret().trim_end_matches(['\r', '\n']));
    format!("Basic {}", STANDARD.encode(pair))
}

fn ssh_command(
    location: &Location,
    login: &Login,
    ssh: &Path,
    directory: &Path,
) -> Result<String, FetchError> {
    let refuse = |reason: &str| refused(location, reason);
    let Login::Key { identity, known_hosts } = login else {
        return Err(refuse("ssh needs `identity` (a private key) and `known_hosts` in the source's secret"));
    };
    if known_hosts.trim().is_empty() {
        let host = location.host.as_str();
        return Err(refuse(&format!(
            "`known_hosts` is missing, and unknown hosts are never trusted; put the output of `ssh-keyscan {host}` \
             there after comparing it with the keys that the host publishes"
        )));
    }
    // OpenSSH refuses a key that does not end in a line break.
    let identity = format!("{}\n", identity.expose_secret().trim_end());
    let (key, hosts) = (directory.join("identity"), directory.join("known_hosts"));
    write_private(&key, &identity).map_err(cache_error(&key))?;
    write_private(&hosts, &format!("{}\n", known_hosts.trim_end())).map_err(cache_error(&hosts))?;
    let options = [
        format!("UserKnownHostsFile={}", hosts.display()),
        "GlobalKnownHostsFile=/dev/null".to_owned(),
        "StrictHostKeyChecking=yes".to_owned(),
        "IdentitiesOnly=yes".to_owned(),
        "BatchMode=yes".to_owned(),
        "ConnectTimeout=20".to_owned(),
        "ServerAliveInterval=15".to_owned(),
    ];
    let options: Vec<String> = options.iter().map(|option| format!("-o {}", quoted(option))).collect();
    let (ssh, key) = (ssh.display().to_string(), key.display().to_string());
    Ok(format!("{} -F /dev/null -i {} {}", quoted(&ssh), quoted(&key), options.join(" ")))
}

/// For the shell that `git` gives the ssh command to.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn refused(location: &Location, reason: &str) -> FetchError {
    FetchError::Credentials { url: location.url.clone(), reason: reason.to_owned() }
}

fn cache_error(path: &Path) -> impl Fn(io::Error) -> FetchError {
    let path = path.to_owned();
    move |source| FetchError::Cache { path: path.clone(), source }
}

/// Mode 0600, the same that [`super::Repository`]'s callers expect of secrets on disk.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let _ = fs::remove_file(path);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn secret(text: &str) -> SecretString {
        SecretString::from(text.to_owned())
    }

    fn key(known_hosts: &str) -> Login {
        Login::Key { identity: secret("KEY"), known_hosts: known_hosts.to_owned() }
    }

    fn prepared(url: &str, login: &Login) -> Result<Prepared, FetchError> {
        prepare(&Location::parse(url).unwrap(), &login.clone().into(), Path::new("ssh"))
    }

    #[test]
    fn a_token_travels_in_a_header_for_its_url_alone() {
        let credentials = Login::Password { username: "ada".into(), password: secret("pass\n") };
        let settings = prepared("https://git.example/live", &credentials).unwrap().settings;
        let expected = ("http.https://git.example/live.extraHeader", "Authorization: Basic YWRhOnBhc3M=");
        assert_eq!(settings, [(expected.0.to_owned(), expected.1.to_owned())]);
    }

    #[test]
    fn a_key_is_written_for_this_user_alone_and_hosts_are_checked() {
        let prepared = prepared("git@git.example:live", &key("git.example ssh-ed25519 AAAA")).unwrap();
        let file = prepared.directory.path().join("identity");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_to_string(&file).unwrap(), "KEY\n");
        let command = prepared.ssh_command.unwrap();
        assert!(command.contains("'StrictHostKeyChecking=yes'"), "{command}");
        assert!(!command.contains("KEY"), "{command}");
    }

    #[test]
    fn what_is_no_certificate_is_said_to_be_none() {
        let credentials = Credentials { login: Login::Anonymous, authority: Some("s3cret".to_owned()) };
        let location = Location::parse("https://git.example/live").unwrap();
        let said = prepare(&location, &credentials, Path::new("ssh")).unwrap_err().to_string();
        insta::assert_snapshot!(said, @"cannot use the credentials for https://git.example/live: `ca.crt` holds no certificate in PEM; it begins with `-----BEGIN CERTIFICATE-----`");
    }

    #[test]
    fn what_is_missing_is_said_before_anything_is_sent() {
        let bearer = Login::Bearer(secret("t0ken"));
        let said = |url: &str, login: &Login| prepared(url, login).unwrap_err().to_string();
        let cases = [
            said("ssh://git@git.example/live", &key(" ")),
            said("ssh://git@git.example/live", &bearer),
            said("https://git.example/live", &key("x")),
            said("http://git.example/live", &bearer),
            said("https://git.example/live", &Login::Bearer(secret("a\nb"))),
        ];
        assert!(!cases.concat().contains("t0ken"));
        insta::assert_snapshot!(cases.join("\n"), @r"
        cannot use the credentials for ssh://git@git.example/live: `known_hosts` is missing, and unknown hosts are never trusted; put the output of `ssh-keyscan git.example` there after comparing it with the keys that the host publishes
        cannot use the credentials for ssh://git@git.example/live: ssh needs `identity` (a private key) and `known_hosts` in the source's secret
        cannot use the credentials for https://git.example/live: `identity` is for ssh URLs; give `username` and `password`, or `bearerToken`
        cannot use the credentials for http://git.example/live: they would be sent in clear text over http; use https
        cannot use the credentials for https://git.example/live: the token contains control characters; store it without line breaks
        ");
    }
}
