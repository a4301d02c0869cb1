//! `jira`: an issue for each cause of each stack, commented on while it lasts and closed once it is gone.
//! <https://developer.atlassian.com/cloud/jira/platform/rest/v2/>, <https://docs.atlassian.com/software/jira/docs/api/REST/>
//!
//! The open issue is looked for by its label before anything is written: so nothing needs to be remembered, and an issue
//! whose answer was lost is found again. What comes from Git or plans stands where Jira reads no markup.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use yuba_core::event::Event;
use yuba_core::notify::{IncidentCause, Mend, ProviderSpec, Undelivered};
use yuba_ports::{HttpAnswer, HttpRequest};

use super::words::{bounded, headline, link};
use super::{Heard, Outlet, Service, Step, trouble};
use crate::notice::{Notice, Told};
use crate::settings::NotifierSettings;

/// The type of an issue where the channel names none.
const ISSUE_TYPE: &str = "Task";
/// The longest texts that are taken, in characters.
const LONGEST_SUMMARY: usize = 255;
const LONGEST_TEXT: usize = 30_000;

/// Delivers issues.
pub(super) struct Jira {
    settings: NotifierSettings,
    outlet: Outlet,
    site: String,
    edition: Edition,
    project: String,
    issue_type: String,
}

/// Whose Jira it is: the two differ in how issues are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edition {
    /// Atlassian's: a user's address and an API token.
    Cloud,
    /// A server of one's own: a personal access token.
    DataCenter,
}

impl Jira {
    pub(super) fn of(
        settings: &NotifierSettings,
        spec: &ProviderSpec,
        mut outlet: Outlet,
        token: &SecretString,
    ) -> Result<Self, Undelivered> {
        let channel = spec.channel.as_deref().unwrap_or_default();
        let (project, issue_type) = channel.split_once('/').unwrap_or((channel, ISSUE_TYPE));
        let is_key = |character: char| character.is_ascii_alphanumeric() || character == '_';
        if project.is_empty() || !project.chars().all(is_key) {
            let why = "spec.channel is to be the key of a project, and the type of its issues where that is not `Task`: \
                       `OPS` or `OPS/Bug`";
            return Err(Undelivered::new(Mend::Settings, why));
        }
        let token = token.expose_secret();
        let (edition, authorization) = match &spec.username {
            Some(user) => (Edition::Cloud, format!("Basic {}", STANDARD.encode(format!("{user}:{token}")))),
            None => (Edition::DataCenter, format!("Bearer {token}")),
        };
        outlet.headers.push(("authorization".to_owned(), SecretString::from(authorization)));
        Ok(Self {
            settings: settings.clone(),
            site: outlet.address.expose_secret().trim_end_matches('/').to_owned(),
            outlet,
            edition,
            project: project.to_owned(),
            issue_type: issue_type.to_owned(),
        })
    }

    fn post(&self, path: &str, body: &Value) -> HttpRequest {
        let url = SecretString::from(format!("{}/rest/api/2/{path}", self.site));
        HttpRequest { url, ..self.outlet.post(body.to_string().into_bytes()) }
    }

    /// Looks for open issues of a label, or for any where none is given; newest first.
    fn search(&self, label: Option<&str>) -> HttpRequest {
        let of_label = label.map_or_else(String::new, |label| {
            format!(" AND labels = \"{label}\" AND statusCategory != Done")
        });
        let jql = format!("project = \"{}\"{of_label} ORDER BY created DESC", self.project);
        let (path, expand) = match self.edition {
            Edition::Cloud => ("search/jql", json!("transitions")),
            Edition::DataCenter => ("search", json!(["transitions"])),
        };
        self.post(path, &json!({ "jql": jql, "maxResults": 1, "fields": ["status"], "expand": expand }))
    }

    /// What follows from what was found.
    fn found(&self, told: &Told, answer: &HttpAnswer) -> Result<Step, Undelivered> {
        let found: Found = serde_json::from_slice(&answer.body).map_err(|_| {
            Undelivered::new(Mend::Settings, "the answer is not one of Jira's API: is the address right?")
        })?;
        let issue = found.issues.into_iter().next();
        let is_over = IncidentCause::closed_by(told.event.kind).is_some();
        let request = match issue {
            None if is_over => return Ok(Step::Over(Heard::Taken)),
            None => self.create(told),
            Some(issue) if is_over => self.close(&issue, told)?,
            Some(issue) => {
                let body = json!({ "body": self.text(told) });
                self.post(&format!("issue/{}/comment", issue.key), &body)
            }
        };
        Ok(Step::Then(Box::new(request)))
    }

    fn create(&self, told: &Told) -> HttpRequest {
        let fields = json!({
            "project": { "key": self.project },
            "issuetype": { "name": self.issue_type },
            "summary": bounded(&headline(&told.event), LONGEST_SUMMARY),
            "description": self.text(told),
            "labels": ["yuba", label(&told.event)],
        });
        self.post("issue", &json!({ "fields": fields }))
    }

    /// Moves an issue to the first status that its workflow counts as done.
    fn close(&self, issue: &Issue, told: &Told) -> Result<HttpRequest, Undelivered> {
        let done = issue.transitions.iter().find(|way| way.to.category.key == "done").ok_or_else(|| {
            let why = "cannot be closed: its workflow has no way from where it is to a status that is done";
            Undelivered::new(Mend::Nothing, format!("{} {why}", issue.key))
        })?;
        let comment = json!([{ "add": { "body": self.text(told) } }]);
        let body = json!({ "transition": { "id": done.id }, "update": { "comment": comment } });
        Ok(self.post(&format!("issue/{}/transitions", issue.key), &body))
    }

    fn text(&self, told: &Told) -> String {
        let event = &told.event;
        let said = told.metadata.iter().map(|(name, value)| format!("{name}: {value}"));
        let revision = event.revision.as_ref().map(|revision| format!("revision: {revision}"));
        let lines: Vec<String> = [event.message.clone(), format!("time: {}", event.at)]
            .into_iter()
            .chain(revision)
            .chain(said)
            .collect();
        let text = bounded(&lines.join("\n"), LONGEST_TEXT).replace("{noformat", "{ noformat");
        let link = link(&self.settings, event).map_or_else(String::new, |url| format!("\n[The run|{url}]"));
        format!("{{noformat}}\n{text}\n{{noformat}}{link}")
    }
}

impl Service for Jira {
    fn request(&self, notice: &Notice) -> Option<HttpRequest> {
        match notice {
            Notice::Event(told) => {
                let kind = told.event.kind;
                let cause = IncidentCause::opened_by(kind).or(IncidentCause::closed_by(kind))?;
                Some(self.search(Some(&cause.key(told.event.stack))))
            }
            // The project is looked into, and nothing is written.
            Notice::Test { .. } => Some(self.search(None)),
            Notice::Run(_) => None,
        }
    }

    fn heard(&self, answer: &HttpAnswer) -> Result<Heard, Undelivered> {
        let said = String::from_utf8_lossy(&answer.body);
        if answer.status == 400 && said.contains("'project'") {
            let why = format!(
                "Jira knows no project `{}` that the token may see: it is spec.channel",
                self.project
            );
            return Err(Undelivered::new(Mend::Settings, why));
        }
        if answer.status == 400 && (said.contains("issuetype") || said.contains("issue type")) {
            let why = format!(
                "the project has no issues of type `{}`: it is named in spec.channel",
                self.issue_type
            );
            return Err(Undelivered::new(Mend::Settings, why));
        }
        trouble::success(answer).map(|()| Heard::Taken)
    }

    fn follow(&self, notice: &Notice, request: usize, answer: &HttpAnswer) -> Result<Step, Undelivered> {
        let heard = self.heard(answer)?;
        match notice {
            Notice::Event(told) if request == 0 => self.found(told, answer),
            _ => Ok(Step::Over(heard)),
        }
    }
}

/// Names the cause that an event speaks of.
fn label(event: &Event) -> String {
    let cause = IncidentCause::opened_by(event.kind).or(IncidentCause::closed_by(event.kind));
    cause.map_or_else(String::new, |cause| cause.key(event.stack))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Found {
    issues: Vec<Issue>,
}

#[derive(Debug, Deserialize)]
struct Issue {
    key: String,
    #[serde(default)]
    transitions: Vec<Transition>,
}

#[derive(Debug, Deserialize)]
struct Transition {
    id: String,
    to: Status,
}

#[derive(Debug, Deserialize)]
struct Status {
    #[serde(rename = "statusCategory")]
    category: Category,
}

#[derive(Debug, Deserialize)]
struct Category {
    key: String,
}

#[cfg(test)]
mod tests {
    use yuba_core::event::EventKind;
    use yuba_core::time::Span;

    use super::super::tests_kit::{answer, event, of_kind, run, settings, shown, spec, test, values};
    use super::*;
    use crate::service;

    const OPEN: &str = r#"{"issues":[{"key":"OPS-7","transitions":[
        {"id":"11","to":{"statusCategory":{"key":"indeterminate"}}},
        {"id":"31","to":{"statusCategory":{"key":"done"}}}]}]}"#;

    fn service(change: impl FnOnce(&mut ProviderSpec)) -> Box<dyn Service> {
        let (address, channel) = ("https://acme.atlassian.net/".to_owned(), "OPS/Bug".to_owned());
        let mut spec = ProviderSpec { address: Some(address), channel: Some(channel), ..spec("jira") };
        spec.username = Some("bot@acme.example".to_owned());
        change(&mut spec);
        service::of(&settings(), &spec, &values(&[("token", "t")])).unwrap()
    }

    /// The request that follows the search.
    fn then(notice: &Notice, found: &str) -> String {
        match service(|_| ()).follow(notice, 0, &answer(200, found)) {
            Ok(Step::Then(request)) => shown(&request),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn the_open_issue_of_the_cause_is_looked_for() {
        insta::assert_snapshot!(shown(&service(|_| ()).request(&event()).unwrap()), @r#"
        POST https://acme.atlassian.net/rest/api/2/search/jql
        authorization: Basic Ym90QGFjbWUuZXhhbXBsZTp0
          expand: "transitions"
          fields: "status"
          jql: "project = \"OPS\" AND labels = \"yuba-00000000000000000000000001-drift\" AND statusCategory != Done ORDER BY created DESC"
          maxResults: 1
        "#);
        let of_ones_own = service(|spec| spec.username = None);
        insta::assert_snapshot!(shown(&of_ones_own.request(&event()).unwrap()), @r#"
        POST https://acme.atlassian.net/rest/api/2/search
        authorization: Bearer t
          expand: "transitions"
          fields: "status"
          jql: "project = \"OPS\" AND labels = \"yuba-00000000000000000000000001-drift\" AND statusCategory != Done ORDER BY created DESC"
          maxResults: 1
        "#);
        assert!(service(|_| ()).request(&of_kind(EventKind::RunQueued)).is_none());
        assert!(service(|_| ()).request(&run()).is_none());
    }

    #[test]
    fn where_there_is_none_one_is_made() {
        insta::assert_snapshot!(then(&event(), r#"{"issues":[]}"#), @r#"
        POST https://acme.atlassian.net/rest/api/2/issue
        authorization: Basic Ym90QGFjbWUuZXhhbXBsZTp0
          fields: {"description": "{noformat}\nDrift detected: 3 resources\ntime: 2026-11-30T08:25:57Z\nrevision: main@sha1:08747a14332ac9f2d1e5cfb4ec1a1a2f51e9f0c1\nenv: prod\n{noformat}\n[The run|https://yuba.example/runs/00000000000000000000000002]", "issuetype": {"name": "Bug"}, "labels": ["yuba", "yuba-00000000000000000000000001-drift"], "project": {"key": "OPS"}, "summary": "infra/network-prod: drift detected"}
        "#);
    }

    #[test]
    fn where_there_is_one_it_is_commented_on_and_closed_in_the_end() {
        insta::assert_snapshot!(then(&event(), OPEN), @r#"
        POST https://acme.atlassian.net/rest/api/2/issue/OPS-7/comment
        authorization: Basic Ym90QGFjbWUuZXhhbXBsZTp0
          body: "{noformat}\nDrift detected: 3 resources\ntime: 2026-11-30T08:25:57Z\nrevision: main@sha1:08747a14332ac9f2d1e5cfb4ec1a1a2f51e9f0c1\nenv: prod\n{noformat}\n[The run|https://yuba.example/runs/00000000000000000000000002]"
        "#);
        insta::assert_snapshot!(then(&of_kind(EventKind::DriftResolved), OPEN), @r#"
        POST https://acme.atlassian.net/rest/api/2/issue/OPS-7/transitions
        authorization: Basic Ym90QGFjbWUuZXhhbXBsZTp0
          transition: {"id": "31"}
          update: {"comment": [{"add": {"body": "{noformat}\nDrift detected: 3 resources\ntime: 2026-11-30T08:25:57Z\nrevision: main@sha1:08747a14332ac9f2d1e5cfb4ec1a1a2f51e9f0c1\nenv: prod\n{noformat}\n[The run|https://yuba.example/runs/00000000000000000000000002]"}}]}
        "#);
        assert_eq!(then(&of_kind(EventKind::DriftResolved), "{}"), "Ok(Over(Taken))");
        let stuck = then(&of_kind(EventKind::DriftResolved), r#"{"issues":[{"key":"OPS-7"}]}"#);
        assert!(stuck.contains("OPS-7 cannot be closed"), "{stuck}");
    }

    #[test]
    fn what_comes_from_outside_is_no_markup() {
        let Notice::Event(mut told) = event() else { panic!("no event") };
        told.event.message = "a {noformat} [~admin] b".to_owned();
        let text = then(&Notice::Event(told), OPEN);
        assert!(text.contains("a { noformat} [~admin] b"), "{text}");
    }

    #[test]
    fn each_answer_says_what_may_mend_it() {
        let service = service(|_| ());
        let heard = |status, body: &str| service.heard(&answer(status, body)).map_err(|said| said.mend);
        assert_eq!((heard(201, "{}"), heard(204, "")), (Ok(Heard::Taken), Ok(Heard::Taken)));
        for (status, body, mend) in [
            (400, "The value 'OPS' does not exist for the field 'project'.", Mend::Settings),
            (400, r#"{"errors":{"issuetype":"Specify a valid issue type"}}"#, Mend::Settings),
            (400, r#"{"errors":{"summary":"too long"}}"#, Mend::Nothing),
            (401, "", Mend::Settings),
            (403, "", Mend::Settings),
            (429, "", Mend::After(Span::minutes(1))),
            (503, "", Mend::Time),
        ] {
            assert_eq!(heard(status, body), Err(mend), "{status} {body}");
        }
        let no_jira = service.follow(&event(), 0, &answer(200, "<html>")).map_err(|said| said.mend);
        assert_eq!(no_jira.unwrap_err(), Mend::Settings);
        assert!(matches!(service.follow(&test(), 0, &answer(200, "{}")), Ok(Step::Over(Heard::Taken))));
    }

    #[test]
    fn without_a_project_it_says_what_is_missing() {
        let spec = ProviderSpec { address: Some("https://h".to_owned()), ..spec("jira") };
        let Err(why) = service::of(&settings(), &spec, &values(&[("token", "t")])) else {
            panic!("`#infra` is no project")
        };
        assert!(why.why.contains("the key of a project"), "{}", why.why);
    }
}
