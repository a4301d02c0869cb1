//! The installation's own secrets: settings name the parameter, and the function reads it once, when it starts.

use aws_config::SdkConfig;
use aws_sdk_ssm::Client;
use aws_sdk_ssm::error::ProvideErrorMetadata;
use secrecy::{ExposeSecret, SecretString};
use yuba_ports::PortError;

use crate::error::port_error;
use crate::settings::{Variables, parameter_name};

/// The fewest characters of a secret: of 32 hexadecimal digits nobody guesses one.
const SHORTEST: usize = 32;

/// Where a secret of the installation is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnSecret {
    variable: &'static str,
    parameter: String,
}

impl OwnSecret {
    /// Reads the name from a variable. `what` says what the secret is for.
    pub fn read(variables: &mut Variables, variable: &'static str, what: &str) -> Option<Self> {
        let parameter = variables.required(variable, what, parameter_name)?;
        Some(Self { variable, parameter })
    }

    /// The secret.
    pub async fn get(&self, config: &SdkConfig) -> Result<SecretString, PortError> {
        let mut lines = self.lines(config).await?.into_iter();
        match (lines.next(), lines.next()) {
            (Some(secret), None) => Ok(secret),
            _ => Err(self.unfit("holds more than one")),
        }
    }

    /// Secrets that hold at the same time, one on each line, while one replaces another.
    pub async fn lines(&self, config: &SdkConfig) -> Result<Vec<SecretString>, PortError> {
        let parameter = &self.parameter;
        let read = Client::new(config).get_parameter().name(parameter).with_decryption(true).send().await;
        let text = match read {
            Ok(answer) => SecretString::from(answer.parameter.and_then(|it| it.value).unwrap_or_default()),
            Err(error) if error.code() == Some("ParameterNotFound") => {
                return Err(self.unfit("does not exist"));
            }
            Err(error) => {
                return Err(port_error(format!("reading {parameter}, which {} names", self.variable), error));
            }
        };
        self.split(&text)
    }

    fn split(&self, text: &SecretString) -> Result<Vec<SecretString>, PortError> {
        let lines: Vec<&str> =
            text.expose_secret().lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if lines.is_empty() {
            return Err(self.unfit("is empty"));
        }
        if lines.iter().any(|line| line.len() < SHORTEST) {
            return Err(self.unfit("is too short"));
        }
        Ok(lines.into_iter().map(SecretString::from).collect())
    }

    fn unfit(&self, why: &str) -> PortError {
        let Self { variable, parameter } = self;
        PortError::permanent(format!(
            "the SSM parameter {parameter}, which {variable} names, {why}: store a secret of at least {SHORTEST} characters \
             there, as a SecureString (`openssl rand -hex 32` makes one)"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Result<Vec<String>, String> {
        let secret =
            OwnSecret { variable: "YUBA_TASK_KEY", parameter: "/yuba/prod/system/task-key".to_owned() };
        let lines = secret.split(&SecretString::from(text)).map_err(|error| error.to_string())?;
        Ok(lines.iter().map(|line| line.expose_secret().to_owned()).collect())
    }

    #[test]
    fn a_secret_stands_on_each_line() {
        let (old, new) = ("o".repeat(32), "n".repeat(40));
        assert_eq!(split(&format!("{old}\n\n {new} \r\n")), Ok(vec![old, new]));
    }

    #[test]
    fn a_secret_that_is_none_is_told_with_what_to_do() {
        assert!(split(" \n").unwrap_err().contains("names, is empty: store a secret of at least 32"));
        assert_eq!(
            split(&format!("{}\nshort", "x".repeat(32))).unwrap_err(),
            "the SSM parameter /yuba/prod/system/task-key, which YUBA_TASK_KEY names, is too short: store a secret of at \
             least 32 characters there, as a SecureString (`openssl rand -hex 32` makes one)"
        );
    }
}
