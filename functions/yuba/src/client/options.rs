//! Which server, with which token, how to print: read once.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use secrecy::SecretString;

use super::http::Client;
use crate::done::Format;

/// What holds for all verbs that ask a server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every verb")]
pub(crate) struct Options {
    /// The server.
    #[arg(
        long,
        global = true,
        env = "YUBA_SERVER",
        default_value = "http://127.0.0.1:8420",
        value_name = "URL",
        value_parser = url
    )]
    server: String,
    /// The token; better given in the environment, where it does not stand in the history of the shell.
    #[arg(long, global = true, env = "YUBA_TOKEN", hide_env_values = true, hide = true)]
    token: Option<SecretString>,
    /// How to print.
    #[arg(short, long, global = true, value_enum, default_value = "table")]
    pub(crate) output: Output,
    /// Only this namespace.
    #[arg(short, long, global = true)]
    pub(crate) namespace: Option<String>,
    #[arg(long, global = true, env = "NO_COLOR", hide = true)]
    no_color: Option<String>,
    #[arg(long, global = true, env = "XDG_STATE_HOME", hide = true)]
    state_home: Option<PathBuf>,
    #[arg(long, global = true, env = "HOME", hide = true)]
    home: Option<PathBuf>,
    /// Who asks, as decisions keep it.
    #[arg(long = "as", global = true, env = "USER", hide_env = true, value_name = "WHO")]
    who: Option<String>,
}

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Table,
    /// For people with wide screens.
    Wide,
    /// For programs.
    Json,
    /// For programs and people.
    Yaml,
}

impl From<Output> for Format {
    /// The forms that verbs without a server know.
    fn from(output: Output) -> Self {
        match output {
            Output::Table | Output::Wide => Self::Table,
            Output::Json => Self::Json,
            Output::Yaml => Self::Yaml,
        }
    }
}

impl Options {
    /// A client of the server that is meant.
    pub(crate) fn client(&self) -> Client {
        Client::new(&self.server, self.token.clone().or_else(|| self.stored_token()))
    }

    /// The URL of the server that is meant.
    pub(crate) fn server(&self) -> &str {
        self.server.trim_end_matches('/')
    }

    /// Who asks.
    pub(crate) fn who(&self) -> Option<String> {
        let named = self.who.clone().filter(|who| !who.trim().is_empty());
        named.or_else(|| self.token.is_none().then(local_user).flatten())
    }

    /// Whether output may have colours, where it goes to a terminal.
    pub(crate) fn colours(&self) -> bool {
        use std::io::IsTerminal;
        self.no_color.as_ref().is_none_or(String::is_empty) && std::io::stdout().is_terminal()
    }

    /// The token that `serve` wrote for the same user.
    fn stored_token(&self) -> Option<SecretString> {
        let given = |path: &Option<PathBuf>| path.clone().filter(|path| !path.as_os_str().is_empty());
        let state = given(&self.state_home).or_else(|| Some(given(&self.home)?.join(".local/state")))?;
        let token = fs::read_to_string(state.join("yuba").join(token_file(&self.server)?)).ok()?;
        Some(SecretString::from(token.trim().to_owned()))
    }
}

/// The name of the user that this process belongs to: it read the token that `serve` wrote for the same user.
fn local_user() -> Option<String> {
    let id = fs::metadata("/proc/self").ok()?.uid();
    name_of(id, &fs::read_to_string("/etc/passwd").ok()?)
}

/// The name of a user id in the lines of `passwd(5)`.
fn name_of(id: u32, passwd: &str) -> Option<String> {
    let users = passwd.lines().filter_map(|line| {
        let mut fields = line.split(':');
        Some((fields.next()?, fields.nth(1)?))
    });
    let id = id.to_string();
    users.filter(|(_, found)| *found == id).map(|(name, _)| name.to_owned()).next()
}

/// A server's URL, as it was given.
fn url(text: &str) -> Result<String, String> {
    match reqwest::Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(text.to_owned()),
        _ => Err(format!("`{text}` is not a URL such as http://host:8420")),
    }
}

/// `<host>_<port>` of a server's URL.
fn token_file(server: &str) -> Option<String> {
    let url = reqwest::Url::parse(server).ok()?;
    Some(format!("{}_{}", url.host_str()?, url.port_or_known_default()?))
}

#[cfg(test)]
mod tests {
    use super::{name_of, token_file, url};

    #[test]
    fn a_user_is_named_by_its_id() {
        let passwd = "root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n";
        assert_eq!(name_of(1000, passwd).as_deref(), Some("ada"));
        assert_eq!(name_of(7, passwd), None);
    }

    #[test]
    fn a_server_is_named_by_an_http_url() {
        assert!(url("http://127.0.0.1:8420/").is_ok());
        assert!(url("nonsense").is_err() && url("host:8420").is_err() && url("file:///x").is_err());
    }

    #[test]
    fn the_token_of_a_server_lies_under_its_host_and_port() {
        assert_eq!(token_file("http://127.0.0.1:8420/").as_deref(), Some("127.0.0.1_8420"));
        assert_eq!(token_file("https://yuba.example.com").as_deref(), Some("yuba.example.com_443"));
    }
}
