//! `Credentials` on STS: a role becomes credentials for an hour.
//!
//! A stack's role is assumed with the function's own rights, or with those of a web identity token or of a role in between
//! where the settings name one. A stack without a role gets no credentials at all.

mod denied;
mod names;

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_sts::Client;
use aws_sdk_sts::config::Credentials as Keys;
use aws_sdk_sts::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sts::types::{Credentials as Session, Tag};
use secrecy::SecretString;
use yuba_core::time::Timestamp;
use yuba_ports::{Assumed, Credentials, PortError, Remedy, RoleSession};

use crate::error::port_error;
use crate::settings::{Variables, plain, policy, role_arn};
use denied::{Denied, principal_of};
use names::{session_name, session_tags};

/// How long credentials hold. A chained role's never hold longer.
const SECONDS: i32 = 3600;

/// How roles are assumed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CredentialsSettings {
    /// The external id that trust policies of stacks' roles ask for.
    pub external_id: Option<String>,
    /// The role that is assumed first, and from which stacks' roles are assumed.
    pub via: Option<String>,
    /// The file that holds an OpenID Connect token: the first role is assumed with it, not with own rights. A role that is
    /// assumed with a token has the tags that the token names.
    pub token_file: Option<PathBuf>,
    /// A policy, as JSON, that bounds what every session may do, whatever its role may.
    pub policy: Option<String>,
}

impl CredentialsSettings {
    /// Reads, each if set, `YUBA_EXTERNAL_ID`, `YUBA_ASSUME_VIA_ROLE`, `YUBA_WEB_IDENTITY_TOKEN_FILE` and
    /// `YUBA_SESSION_POLICY`.
    pub fn read(variables: &mut Variables) -> Self {
        let external_id = "the external id that stacks' roles ask for";
        let via = "the role from which stacks' roles are assumed";
        let token_file = "the file that holds a web identity token";
        let session_policy = "the policy that bounds every session";
        Self {
            external_id: variables.optional("YUBA_EXTERNAL_ID", external_id, plain),
            via: variables.optional("YUBA_ASSUME_VIA_ROLE", via, role_arn),
            token_file: variables
                .optional("YUBA_WEB_IDENTITY_TOKEN_FILE", token_file, plain)
                .map(PathBuf::from),
            policy: variables.optional("YUBA_SESSION_POLICY", session_policy, policy),
        }
    }
}

/// Credentials of STS.
#[derive(Debug, Clone)]
pub struct StsCredentials {
    client: Client,
    settings: CredentialsSettings,
}

/// A role that is to be assumed.
struct Role<'a> {
    arn: &'a str,
    name: String,
    /// Bounds the session; the one in between is not bounded.
    policy: Option<String>,
    session: &'a RoleSession,
}

impl StsCredentials {
    /// Assumes roles as the settings say. Nothing is asked of AWS yet.
    pub fn new(config: &SdkConfig, settings: CredentialsSettings) -> Self {
        Self { client: Client::new(config), settings }
    }

    async fn session(&self, role: &str, session: &RoleSession) -> Result<Session, PortError> {
        let name = session_name(session);
        let bounded = Role { arn: role, name: name.clone(), policy: self.settings.policy.clone(), session };
        let Some(via) = &self.settings.via else { return self.assume_first(&bounded).await };
        let between = self.assume_first(&Role { arn: via, name, policy: None, session }).await?;
        self.assume_with(&self.client_of(&between), &bounded).await
    }

    /// Assumes the first role of a chain.
    async fn assume_first(&self, role: &Role<'_>) -> Result<Session, PortError> {
        let Some(file) = &self.settings.token_file else { return self.assume_with(&self.client, role).await };
        let token = tokio::fs::read_to_string(file).await.map_err(|error| {
            let what = format!("the web identity token {} cannot be read", file.display());
            PortError::permanent(what).because(error)
        })?;
        let request = self
            .client
            .assume_role_with_web_identity()
            .role_arn(role.arn)
            .role_session_name(&role.name)
            .web_identity_token(token.trim())
            .duration_seconds(SECONDS)
            .set_policy(role.policy.clone());
        match request.send().await {
            Ok(answer) => present(answer.credentials, role),
            Err(error) => Err(port_error(format!("assuming role {} with a web identity", role.arn), error)),
        }
    }

    async fn assume_with(&self, client: &Client, role: &Role<'_>) -> Result<Session, PortError> {
        let tags = session_tags(role.session);
        let tag = |(key, value): &(&str, String)| Tag::builder().key(*key).value(value).build();
        let unbuilt = |error| PortError::permanent("a session tag could not be built").because(error);
        let tags = tags.iter().map(tag).collect::<Result<Vec<_>, _>>().map_err(unbuilt)?;
        let request = client
            .assume_role()
            .role_arn(role.arn)
            .role_session_name(&role.name)
            .duration_seconds(SECONDS)
            .set_external_id(self.settings.external_id.clone())
            .set_policy(role.policy.clone())
            .set_tags(Some(tags));
        match request.send().await {
            Ok(answer) => present(answer.credentials, role),
            Err(error) => Err(self.refused(client, role, error).await),
        }
    }

    /// What is wrong where STS refused: for a role that may not be assumed, with what would allow it.
    async fn refused<E>(&self, client: &Client, role: &Role<'_>, error: SdkError<E>) -> PortError
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        let reason = format!("AccessDenied: {}", error.message().unwrap_or("no reason was given"));
        let is_denied = error.code() == Some("AccessDenied");
        let error = port_error(format!("assuming role {} as session {}", role.arn, role.name), error);
        if !is_denied || error.remedy != Remedy::Permanent {
            return error;
        }
        let caller = client.get_caller_identity().send().await.ok().and_then(|caller| caller.arn);
        let principal = caller.as_deref().map(principal_of);
        let denied = Denied {
            role: role.arn,
            session: &role.name,
            principal: principal.as_deref(),
            external_id: self.settings.external_id.as_deref(),
            reason: &reason,
        };
        PortError::permanent(denied.message())
    }

    /// A client with the rights of a session.
    fn client_of(&self, session: &Session) -> Client {
        let keys = Keys::new(
            session.access_key_id(),
            session.secret_access_key(),
            Some(session.session_token().to_owned()),
            None,
            "yuba",
        );
        Client::from_conf(self.client.config().to_builder().credentials_provider(keys).build())
    }
}

#[async_trait]
impl Credentials for StsCredentials {
    async fn assume(&self, session: &RoleSession) -> Result<Assumed, PortError> {
        let Some(role) = &session.role else { return Ok(Assumed::default()) };
        let assumed = self.session(role, session).await?;
        let variable = |name: &str, value: &str| (name.to_owned(), SecretString::from(value));
        let variables = BTreeMap::from([
            variable("AWS_ACCESS_KEY_ID", assumed.access_key_id()),
            variable("AWS_SECRET_ACCESS_KEY", assumed.secret_access_key()),
            variable("AWS_SESSION_TOKEN", assumed.session_token()),
        ]);
        Ok(Assumed { variables, expire: end_of(&assumed) })
    }
}

/// When a session's credentials end.
pub(crate) fn end_of(session: &Session) -> Option<Timestamp> {
    session.expiration().to_millis().ok().map(Timestamp)
}

fn present(credentials: Option<Session>, role: &Role<'_>) -> Result<Session, PortError> {
    credentials
        .ok_or_else(|| PortError::transient(format!("assuming role {}: STS gave no credentials", role.arn)))
}
