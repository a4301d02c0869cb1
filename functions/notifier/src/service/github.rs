//! `github`: a status beside the commit of a run. <https://docs.github.com/en/rest/commits/statuses>

use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use yuba_core::notify::{Mend, Undelivered};
use yuba_core::time::Span;
use yuba_ports::{HttpAnswer, HttpRequest};

use super::commit_status::{CommitState, CommitStatus, Repository};
use super::{Heard, Outlet, Service, Step, trouble};
use crate::notice::Notice;
use crate::settings::NotifierSettings;

/// How long is waited where GitHub has had enough and says no time.
const WAIT: Span = Span::minutes(1);

/// Delivers commit statuses.
pub(super) struct GitHub {
    settings: NotifierSettings,
    outlet: Outlet,
    /// Where statuses of the repository go, but for the commit.
    statuses: String,
}

impl GitHub {
    pub(super) fn of(
        settings: &NotifierSettings,
        outlet: Outlet,
        token: &SecretString,
    ) -> Result<Self, Undelivered> {
        let Repository { host, path } = Repository::of(outlet.address.expose_secret())?;
        let api = if host == "github.com" { "api.github.com".to_owned() } else { format!("{host}/api/v3") };
        let authorization = SecretString::from(format!("Bearer {}", token.expose_secret()));
        let mut outlet = outlet;
        outlet.headers.push(("authorization".to_owned(), authorization));
        outlet.headers.push(("accept".to_owned(), SecretString::from("application/vnd.github+json")));
        Ok(Self {
            settings: settings.clone(),
            outlet,
            statuses: format!("https://{api}/repos/{path}/statuses"),
        })
    }
}

impl Service for GitHub {
    fn request(&self, notice: &Notice) -> Option<HttpRequest> {
        let status = CommitStatus::of(&self.settings, notice)?;
        let body = json!({
            "state": word(status.state),
            "context": status.context,
            "description": status.description,
            "target_url": status.url,
        });
        let url = SecretString::from(format!("{}/{}", self.statuses, status.commit));
        Some(HttpRequest { url, ..self.outlet.post(body.to_string().into_bytes()) })
    }

    fn heard(&self, answer: &HttpAnswer) -> Result<Heard, Undelivered> {
        let said = String::from_utf8_lossy(&answer.body);
        if answer.status == 403 && (answer.retry_after.is_some() || said.contains("rate limit")) {
            let wait = Mend::After(answer.retry_after.unwrap_or(WAIT));
            return Err(Undelivered::new(wait, "GitHub takes no more requests of this token for a while"));
        }
        trouble::success(answer).map(|()| Heard::Taken)
    }

    fn follow(&self, notice: &Notice, _: usize, answer: &HttpAnswer) -> Result<Step, Undelivered> {
        // The token may write statuses: GitHub looked for the commit that there is not.
        let is_tried = matches!(notice, Notice::Test { .. }) && answer.status == 422;
        if is_tried { Ok(Step::Over(Heard::Taken)) } else { self.heard(answer).map(Step::Over) }
    }

    fn shows_runs(&self) -> bool {
        true
    }

    fn shown(&self, notice: &Notice) -> Option<String> {
        CommitStatus::shown(&self.settings, notice)
    }
}

fn word(state: CommitState) -> &'static str {
    match state {
        CommitState::Pending | CommitState::Running => "pending",
        CommitState::Success => "success",
        CommitState::Failure => "failure",
        CommitState::Cancelled => "error",
    }
}

#[cfg(test)]
mod tests {
    use yuba_core::notify::ProviderSpec;

    use super::super::tests_kit::{answer, event, run, settings, shown, spec, test, values};
    use super::*;
    use crate::service;

    fn service(address: &str) -> Box<dyn Service> {
        let spec = ProviderSpec { address: Some(address.to_owned()), ..spec("github") };
        service::of(&settings(), &spec, &values(&[("token", "ghp_1")])).unwrap()
    }

    #[test]
    fn a_run_is_a_status_of_its_commit() {
        let service = service("https://github.com/acme/infra.git");
        insta::assert_snapshot!(shown(&service.request(&run()).unwrap()), @r#"
        POST https://api.github.com/repos/acme/infra/statuses/08747a14335559925d94b310162e6aac6141c513
        authorization: Bearer ghp_1
        accept: application/vnd.github+json
          context: "yuba/infra/network-prod"
          description: "applied: 2 to add, 0 to change, 0 to destroy; 1 output"
          state: "success"
          target_url: "https://yuba.example/runs/01M8P0E1TJ47B4EFWP51V6Q0H8"
        "#);
        assert!(service.request(&event()).is_none(), "it tells of no run's record");
    }

    #[test]
    fn a_server_of_ones_own_has_its_api_beside_it() {
        let request = service("https://git.acme.example/acme/infra").request(&test()).unwrap();
        let shown = shown(&request);
        let expected = "POST https://git.acme.example/api/v3/repos/acme/infra/statuses/0000000000";
        assert!(shown.starts_with(expected), "{shown}");
    }

    #[test]
    fn each_answer_says_what_may_mend_it() {
        let service = service("https://github.com/acme/infra");
        let heard = |status, body: &str| service.heard(&answer(status, body)).map_err(|said| said.mend);
        assert_eq!(heard(201, "{}"), Ok(Heard::Taken));
        for (status, body, mend) in [
            (401, r#"{"message":"Bad credentials"}"#, Mend::Settings),
            (403, r#"{"message":"Resource not accessible by personal access token"}"#, Mend::Settings),
            (403, r#"{"message":"API rate limit exceeded"}"#, Mend::After(Span::minutes(1))),
            (404, r#"{"message":"Not Found"}"#, Mend::Settings),
            (422, r#"{"message":"No commit found for SHA"}"#, Mend::Nothing),
            (502, "", Mend::Time),
        ] {
            assert_eq!(heard(status, body), Err(mend), "{status} {body}");
        }
        let tried = service.follow(&test(), 0, &answer(422, "No commit found for SHA"));
        assert!(matches!(tried, Ok(Step::Over(Heard::Taken))), "{tried:?}");
        assert!(service.follow(&test(), 0, &answer(404, "")).is_err());
    }

    #[test]
    fn without_a_token_or_a_repository_it_says_so() {
        let why = |address: &str, pairs: &[(&str, &str)]| {
            let spec = ProviderSpec { address: Some(address.to_owned()), ..spec("github") };
            service::of(&settings(), &spec, &values(pairs)).err().map(|why| why.why).unwrap_or_default()
        };
        assert!(
            why("https://github.com/a/b", &[]).contains("an access token that may write commit statuses")
        );
        assert!(why("https://github.com", &[("token", "x")]).contains("is no repository"));
    }
}
