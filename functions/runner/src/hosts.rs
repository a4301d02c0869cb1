//! Credentials for the hosts that modules and providers come from: what git, ssh and the engine are told of them, each host for
//! itself. Whatever way a module names a host of Git, the credentials that there are for it are used.
//!
//! The engine's user can read them: it is the one who shows them. No other can.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use yuba_core::task::HostCredentials;

use crate::ended::{Ended, Step};
use crate::objects::{private_file, private_folder};

/// Answers git's question for a user's name or password from the files of the host that it asks for; no other host, and nothing
/// that would go in clear text.
const ASKPASS: &str = r#"#!/bin/sh
url=${1#*\'}; url=${url%%\'*}
case $url in https://*) ;; *) exit 1;; esac
host=${url#https://}; host=${host##*@}; host=${host%%/*}
case $host in ''|*[!A-Za-z0-9.:-]*) exit 1;; esac
case $1 in Username*) exec cat "${0%/*}/$host/username";; Password*) exec cat "${0%/*}/$host/password";; esac
exit 1
"#;

/// What is laid in `folder`, and the environment that points to it; nothing where there are no hosts. `before` is what the
/// environment holds already.
pub(crate) fn lay(
    hosts: &[HostCredentials],
    folder: &Path,
    before: &BTreeMap<String, String>,
) -> Step<BTreeMap<String, String>> {
    if hosts.is_empty() {
        return Ok(BTreeMap::new());
    }
    let failed = |error: io::Error| Ended::io("write credentials to", folder, &error);
    private_folder(folder).map_err(failed)?;
    let mut laid =
        Laid { folder, git: vec![("credential.helper".to_owned(), String::new())], ssh: String::new() };
    let mut environment = BTreeMap::new();
    for host in hosts {
        laid.add(host).map_err(failed)?;
        environment.extend(registry(host)?);
    }
    environment.extend(laid.finish(before).map_err(failed)?);
    Ok(environment)
}

struct Laid<'a> {
    folder: &'a Path,
    /// Git's settings, handed over in the environment.
    git: Vec<(String, String)>,
    /// The configuration of ssh.
    ssh: String,
}

impl Laid<'_> {
    fn add(&mut self, host: &HostCredentials) -> io::Result<()> {
        let (name, values) = (&host.host, &host.values);
        let own = self.folder.join(name);
        private_folder(&own)?;
        let web = format!("https://{name}/");
        if let Some(authority) = values.get("ca.crt").or_else(|| values.get("caFile")) {
            write(&own.join("ca.crt"), authority)?;
            self.git.push((format!("http.{web}.sslCAInfo"), own.join("ca.crt").display().to_string()));
        }
        if let Some(identity) = values.get("identity") {
            self.add_key(name, identity, values.get("known_hosts").map_or("", String::as_str))?;
            self.git.push((format!("url.ssh://git@{name}/.insteadOf"), web));
            return Ok(());
        }
        if let Some(token) = values.get("bearerToken") {
            let header = format!("Authorization: Bearer {}", token.trim());
            self.git.push((format!("http.{web}.extraHeader"), header));
        } else if let Some(password) = values.get("password") {
            write(&own.join("username"), values.get("username").map_or("git", String::as_str))?;
            write(&own.join("password"), password)?;
        } else {
            return Ok(());
        }
        for short in [format!("ssh://git@{name}/"), format!("git@{name}:")] {
            self.git.push((format!("url.{web}.insteadOf"), short));
        }
        Ok(())
    }

    fn add_key(&mut self, name: &str, identity: &str, known_hosts: &str) -> io::Result<()> {
        let own = self.folder.join(name);
        write(&own.join("identity"), &format!("{}\n", identity.trim_end()))?;
        write(&own.join("known_hosts"), &format!("{}\n", known_hosts.trim_end()))?;
        let host = name.split(':').next().unwrap_or(name);
        let own = own.display();
        let entry = format!(
            "Host {host}\n  IdentityFile \"{own}/identity\"\n  IdentitiesOnly yes\n  UserKnownHostsFile \"{own}/known_hosts\"\n  \
             GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n  BatchMode yes\n"
        );
        self.ssh.push_str(&entry);
        Ok(())
    }

    fn finish(mut self, before: &BTreeMap<String, String>) -> io::Result<BTreeMap<String, String>> {
        let mut environment = BTreeMap::new();
        let mut set = |name: &str, value: String| environment.insert(name.to_owned(), value);
        let askpass = self.folder.join("askpass");
        write(&askpass, ASKPASS)?;
        fs::set_permissions(&askpass, Permissions::from_mode(0o700))?;
        set("GIT_ASKPASS", askpass.display().to_string());
        set("GIT_TERMINAL_PROMPT", "0".to_owned());
        if !self.ssh.is_empty() {
            let config = self.folder.join("ssh_config");
            write(&config, &self.ssh)?;
            set("GIT_SSH_COMMAND", format!("ssh -F '{}'", config.display()));
        }
        let known = before.get("GIT_CONFIG_COUNT").and_then(|count| count.parse().ok()).unwrap_or(0_usize);
        set("GIT_CONFIG_COUNT", (known + self.git.len()).to_string());
        for (number, (key, value)) in self.git.drain(..).enumerate() {
            set(&format!("GIT_CONFIG_KEY_{}", known + number), key);
            set(&format!("GIT_CONFIG_VALUE_{}", known + number), value);
        }
        Ok(environment)
    }
}

/// The token for a registry, under the name that engines look for: dots are underscores, hyphens two of them.
/// <https://opentofu.org/docs/cli/config/config-file/#environment-variable-credentials>
fn registry(host: &HostCredentials) -> Step<Option<(String, String)>> {
    let Some(token) = host.values.get("token") else { return Ok(None) };
    if host.host.contains(':') {
        let message =
            format!("hosts: `token` for {}: engines take no token for a registry with a port", host.host);
        return Err(Ended::configuration(message));
    }
    let name = host.host.replace('-', "__").replace('.', "_");
    Ok(Some((format!("TF_TOKEN_{name}"), token.trim().to_owned())))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    private_file(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, values: &[(&str, &str)]) -> HostCredentials {
        let values = values.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        HostCredentials { host: name.to_owned(), values }
    }

    /// The environment that comes of hosts, a variable on each line, with the folder left out.
    fn laid(hosts: &[HostCredentials]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let environment = lay(hosts, folder.path(), &BTreeMap::new()).unwrap();
        let lines: Vec<String> = environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        lines.join("\n").replace(&folder.path().display().to_string(), "F")
    }

    #[test]
    fn nothing_is_said_where_there_are_no_hosts() {
        assert_eq!(laid(&[]), "");
    }

    #[test]
    fn a_password_serves_whatever_way_a_module_names_its_host() {
        insta::assert_snapshot!(laid(&[host("git.example.com", &[("username", "ada"), ("password", "x")])]), @r"
        GIT_ASKPASS=F/askpass
        GIT_CONFIG_COUNT=3
        GIT_CONFIG_KEY_0=credential.helper
        GIT_CONFIG_KEY_1=url.https://git.example.com/.insteadOf
        GIT_CONFIG_KEY_2=url.https://git.example.com/.insteadOf
        GIT_CONFIG_VALUE_0=
        GIT_CONFIG_VALUE_1=ssh://git@git.example.com/
        GIT_CONFIG_VALUE_2=git@git.example.com:
        GIT_TERMINAL_PROMPT=0
        ");
    }

    #[test]
    fn a_key_serves_https_urls_and_knows_its_host() {
        let key =
            host("git.example.com", &[("identity", "KEY"), ("known_hosts", "git.example.com ssh-ed25519 A")]);
        insta::assert_snapshot!(laid(&[key]), @r"
        GIT_ASKPASS=F/askpass
        GIT_CONFIG_COUNT=2
        GIT_CONFIG_KEY_0=credential.helper
        GIT_CONFIG_KEY_1=url.ssh://git@git.example.com/.insteadOf
        GIT_CONFIG_VALUE_0=
        GIT_CONFIG_VALUE_1=https://git.example.com/
        GIT_SSH_COMMAND=ssh -F 'F/ssh_config'
        GIT_TERMINAL_PROMPT=0
        ");
    }

    #[test]
    fn a_registry_is_named_as_engines_look_for_it() {
        let laid = laid(&[host("my-registry.example.com", &[("token", "t0ken\n")])]);
        assert!(
            laid.contains("TF_TOKEN_my__registry_example_com=t0ken\n") || laid.ends_with("=t0ken"),
            "{laid}"
        );
        assert!(registry(&host("a.b:8443", &[("token", "x")])).is_err());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a script is tested as git runs it")]
    fn a_password_is_told_to_its_own_host_over_https_alone() {
        let folder = tempfile::tempdir().unwrap();
        let hosts = [host("git.example.com:8443", &[("password", "s3cret")])];
        lay(&hosts, folder.path(), &BTreeMap::new()).unwrap();
        let asked = |question: &str| {
            let output =
                std::process::Command::new(folder.path().join("askpass")).arg(question).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        assert_eq!(asked("Username for 'https://git.example.com:8443': "), "git");
        assert_eq!(asked("Password for 'https://git@git.example.com:8443': "), "s3cret");
        for other in [
            "Password for 'http://git@git.example.com:8443': ",
            "Password for 'https://git@evil.example': ",
            "Password for 'https://git.example.com:8443@evil.example': ",
            "Password for 'https://..': ",
            "Password for 'https://evil.example/https://git.example.com:8443': ",
        ] {
            assert_eq!(asked(other), "", "{other}");
        }
    }
}
