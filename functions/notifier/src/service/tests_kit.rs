//! Notices, and requests as a test shows them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use ulid::Ulid;
use yuba_core::event::{Event, EventKind};
use yuba_core::id::{InstallationId, ObjectName, RequestId, RunId, SecretName, StackId, StackName};
use yuba_core::notify::{ProviderSpec, Service, SlackThread};
use yuba_core::request::Signed;
use yuba_core::run::Run;
use yuba_core::time::Timestamp;
use yuba_ports::records::Versioned;
use yuba_ports::{Http, HttpAnswer, HttpRequest, NoAnswer};

use super::Values;
use crate::notice::{Notice, RunView, Told};
use crate::settings::{Buttons, NotifierSettings};

const AT: Timestamp = Timestamp(1_796_027_157_000);

struct Nobody;

#[async_trait]
impl Http for Nobody {
    async fn post(&self, _: &HttpRequest) -> Result<HttpAnswer, NoAnswer> {
        Err(NoAnswer::Unreachable("nobody is there".to_owned()))
    }
}

pub(crate) fn settings() -> NotifierSettings {
    let web = Some("https://yuba.example".to_owned());
    NotifierSettings { http: Arc::new(Nobody), web, buttons: Buttons::Shown, aws_endpoint: None }
}

pub(crate) fn spec(service: &str) -> ProviderSpec {
    ProviderSpec {
        service: Service::from(service.to_owned()),
        address: None,
        channel: Some("#infra".to_owned()),
        username: None,
        timeout: None,
        secret: Some(SecretName::new("infra", "s")),
        suspend: false,
    }
}

pub(crate) fn values(pairs: &[(&str, &str)]) -> Values {
    Values(pairs.iter().map(|(key, value)| ((*key).to_owned(), SecretString::from(*value))).collect())
}

pub(crate) fn event() -> Notice {
    let event = Event {
        stack: StackId(Ulid(1)),
        name: StackName::new("infra", "network-prod"),
        number: 7,
        kind: EventKind::DriftDetected,
        run: Some(RunId(Ulid(2))),
        revision: "main@sha1:08747a14332ac9f2d1e5cfb4ec1a1a2f51e9f0c1".parse().ok(),
        message: "Drift detected: 3 resources".to_owned(),
        at: AT,
    };
    let metadata = BTreeMap::from([("env".to_owned(), "prod".to_owned())]);
    Notice::Event(Box::new(Told {
        event,
        installation: InstallationId("prod".to_owned()),
        metadata,
        run: None,
    }))
}

/// The same of another kind.
pub(crate) fn of_kind(kind: EventKind) -> Notice {
    let Notice::Event(mut told) = event() else { return event() };
    told.event.kind = kind;
    Notice::Event(told)
}

pub(crate) fn run() -> Notice {
    let run: Run =
        serde_json::from_str(include_str!("../../../../shared/core/tests/golden/run.v1.json")).unwrap();
    let provider = ObjectName::new("infra", "slack");
    let thread = SlackThread::new(provider, run.stack, run.id, AT);
    let thread = Some(Versioned::new(thread));
    Notice::Run(Box::new(RunView { run, summary: None, drift_stands: false, drift_answer: None, thread }))
}

pub(crate) fn test() -> Notice {
    let (who, from) = ("ada".to_owned(), "cli".to_owned());
    Notice::Test {
        id: RequestId(Ulid(3)),
        by: Signed { who, at: AT, from, message: String::new(), identity: None },
    }
}

pub(crate) fn answer(status: u16, body: &str) -> HttpAnswer {
    HttpAnswer { status, retry_after: None, body: body.as_bytes().to_vec() }
}

/// A request as it goes out; each field of its body, and each block, on a line, with sorted keys.
pub(crate) fn shown(request: &HttpRequest) -> String {
    let mut text = format!("POST {}\n", request.url.expose_secret());
    for (name, value) in &request.headers {
        let _ = writeln!(text, "{name}: {}", value.expose_secret());
    }
    if let Some(signing) = &request.signing {
        let with = signing.keys.as_ref().map_or("the process' own keys", |keys| &keys.id);
        let _ = writeln!(text, "signed for {} in {} with {with}", signing.service, signing.region);
    }
    let Ok(body) = serde_json::from_slice::<BTreeMap<String, Value>>(&request.body) else {
        for (name, value) in form_urlencoded::parse(&request.body) {
            let _ = writeln!(text, "  {name}: {value}");
        }
        return text;
    };
    for (name, value) in &body {
        match value {
            Value::Array(items) => items.iter().for_each(|item| {
                let _ = writeln!(text, "  {name}: {}", sorted(item));
            }),
            _ => {
                let _ = writeln!(text, "  {name}: {}", sorted(value));
            }
        }
    }
    text
}

fn sorted(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<&String, &Value> = fields.iter().collect();
            let fields: Vec<String> =
                fields.into_iter().map(|(name, value)| format!("{name:?}: {}", sorted(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(", "))
        }
        _ => value.to_string(),
    }
}
