//! `gitlab`: a status beside the commit of a run. <https://docs.gitlab.com/api/commits/#set-commit-pipeline-status>

use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use yuba_core::notify::Undelivered;
use yuba_ports::{HttpAnswer, HttpRequest};

use super::commit_status::{CommitState, CommitStatus, Repository};
use super::{Heard, Outlet, Service, Step, trouble};
use crate::notice::Notice;
use crate::settings::NotifierSettings;

/// Delivers commit statuses.
pub(super) struct GitLab {
    settings: NotifierSettings,
    outlet: Outlet,
    /// Where statuses of the project go, but for the commit.
    statuses: String,
}

impl GitLab {
    pub(super) fn of(
        settings: &NotifierSettings,
        outlet: Outlet,
        token: &SecretString,
    ) -> Result<Self, Undelivered> {
        let Repository { host, path } = Repository::of(outlet.address.expose_secret())?;
        let project = path.replace('/', "%2F");
        let mut outlet = outlet;
        outlet.headers.push(("private-token".to_owned(), token.clone()));
        let statuses = format!("https://{host}/api/v4/projects/{project}/statuses");
        Ok(Self { settings: settings.clone(), outlet, statuses })
    }
}

impl Service for GitLab {
    fn request(&self, notice: &Notice) -> Option<HttpRequest> {
        let status = CommitStatus::of(&self.settings, notice)?;
        let body = json!({
            "state": word(status.state),
            "name": status.context,
            "description": status.description,
            "target_url": status.url,
        });
        let url = SecretString::from(format!("{}/{}", self.statuses, status.commit));
        Some(HttpRequest { url, ..self.outlet.post(body.to_string().into_bytes()) })
    }

    fn heard(&self, answer: &HttpAnswer) -> Result<Heard, Undelivered> {
        // It stands so already.
        let said = String::from_utf8_lossy(&answer.body);
        if answer.status == 400 && said.contains("Cannot transition status") {
            return Ok(Heard::Taken);
        }
        trouble::success(answer).map(|()| Heard::Taken)
    }

    fn follow(&self, notice: &Notice, _: usize, answer: &HttpAnswer) -> Result<Step, Undelivered> {
        // The token may write statuses: GitLab looked for the commit that there is not.
        let no_commit = answer.status == 404 && String::from_utf8_lossy(&answer.body).contains("Commit");
        if no_commit && matches!(notice, Notice::Test { .. }) {
            return Ok(Step::Over(Heard::Taken));
        }
        self.heard(answer).map(Step::Over)
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
        CommitState::Pending => "pending",
        CommitState::Running => "running",
        CommitState::Success => "success",
        CommitState::Failure => "failed",
        CommitState::Cancelled => "canceled",
    }
}

#[cfg(test)]
mod tests {
    use yuba_core::notify::{Mend, ProviderSpec};
    use yuba_core::time::Span;

    use super::super::tests_kit::{answer, event, run, settings, shown, spec, test, values};
    use super::*;
    use crate::service;

    fn service() -> Box<dyn Service> {
        let address = Some("https://gitlab.com/acme/platform/infra".to_owned());
        let spec = ProviderSpec { address, ..spec("gitlab") };
        service::of(&settings(), &spec, &values(&[("token", "glpat-1")])).unwrap()
    }

    #[test]
    fn a_run_is_a_status_of_its_commit() {
        insta::assert_snapshot!(shown(&service().request(&run()).unwrap()), @r#"
        POST https://gitlab.com/api/v4/projects/acme%2Fplatform%2Finfra/statuses/08747a14335559925d94b310162e6aac6141c513
        private-token: glpat-1
          description: "applied: 2 to add, 0 to change, 0 to destroy; 1 output"
          name: "yuba/infra/network-prod"
          state: "success"
          target_url: "https://yuba.example/runs/01M8P0E1TJ47B4EFWP51V6Q0H8"
        "#);
        assert!(service().request(&event()).is_none(), "it tells of no run's record");
    }

    #[test]
    fn each_answer_says_what_may_mend_it() {
        let heard = |status, body: &str| service().heard(&answer(status, body)).map_err(|said| said.mend);
        assert_eq!(heard(201, "{}"), Ok(Heard::Taken));
        let stands = r#"{"message":"Cannot transition status via :enqueue from :pending"}"#;
        assert_eq!(heard(400, stands), Ok(Heard::Taken));
        for (status, body, mend) in [
            (400, r#"{"message":"state does not have a valid value"}"#, Mend::Nothing),
            (401, r#"{"message":"401 Unauthorized"}"#, Mend::Settings),
            (403, r#"{"message":"403 Forbidden"}"#, Mend::Settings),
            (404, r#"{"message":"404 Project Not Found"}"#, Mend::Settings),
            (429, "Retry later", Mend::After(Span::minutes(1))),
            (503, "", Mend::Time),
        ] {
            assert_eq!(heard(status, body), Err(mend), "{status} {body}");
        }
        let tried = |body: &str| service().follow(&test(), 0, &answer(404, body));
        assert!(matches!(tried(r#"{"message":"404 Commit Not Found"}"#), Ok(Step::Over(Heard::Taken))));
        assert!(tried(r#"{"message":"404 Project Not Found"}"#).is_err());
    }
}
