//! A provider that stands in for another: it has that one's schema, and answers to its data sources, from two files. With it
//! tofu checks and plans code for a cloud without one: a plan has whatever the code says, and all that only the cloud could
//! say is unknown, unless a third file says what the cloud would say. It makes nothing.

mod answers;
mod made;
mod schema;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use thiserror::Error;

use crate::plugin::value::{Object, Value, ValueError};
use crate::plugin::wire::{
    ApplyRequest, ApplyResponse, ConfigureRequest, Diagnostic, DiagnosticsResponse, DynamicValue, Empty,
    ImportRequest, ImportResponse, PlanRequest, PlanResponse, ReadRequest, SchemaResponse, StateResponse,
    UpgradeRequest, ValidateRequest,
};
use crate::plugin::{Plugin, serve as serve_plugin};
use answers::Answers;
use made::Made;
use schema::Schemas;

/// The folder that has `schema.json` and `answers.json`.
const FOLDER: &str = "STAND_IN";
/// Where it is set, a file with what the cloud would say of what it made.
const MADE: &str = "STAND_IN_MADE";
const SEVERITY_ERROR: i32 = 1;

/// Why the stand-in cannot do what it is asked.
#[derive(Debug, Error)]
enum StandInError {
    #[error("name a folder with schema.json and answers.json in {FOLDER}")]
    NoFolder,
    #[error("cannot read {}: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("the schema has no {0}")]
    UnknownType(String),
    #[error("the stand-in plans; it makes nothing")]
    MakesNothing,
    #[error("tofu sent what the provider cannot read: {0}")]
    Value(#[from] ValueError),
}

/// Serves the stand-in until tofu ends it.
pub async fn serve() -> ExitCode {
    match StandIn::read() {
        Ok(stand_in) => serve_plugin(stand_in).await,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

#[derive(Debug)]
struct StandIn {
    schemas: Schemas,
    answers: Answers,
    made: Made,
}

impl StandIn {
    fn read() -> Result<Self, StandInError> {
        #[expect(clippy::disallowed_methods, reason = "the settings, read once")]
        let setting = |name| std::env::var_os(name).map(PathBuf::from);
        let folder = setting(FOLDER).ok_or(StandInError::NoFolder)?;
        let made = setting(MADE).map(|file| json(&file)).transpose()?.unwrap_or_default();
        Ok(Self {
            schemas: json(&folder.join("schema.json"))?,
            answers: json(&folder.join("answers.json"))?,
            made,
        })
    }

    /// What the code says, and what only the cloud could say as it was, as it would be, or unknown.
    fn planned(&self, request: &PlanRequest) -> Result<DynamicValue, StandInError> {
        let Some(mut planned) = object(request.proposed_new_state.as_ref())? else {
            return Ok(Value::Null.encode()?);
        };
        let prior = object(request.prior_state.as_ref())?;
        for name in self.schemas.computed(&request.type_name)? {
            let before = prior.as_ref().and_then(|prior| prior.get(name)).cloned();
            let value = before.or_else(|| self.made.of(&request.type_name, name, &planned));
            planned.insert(name.clone(), value.unwrap_or(Value::Unknown));
        }
        Ok(Value::Map(planned).encode()?)
    }

    /// What the code asks, completed by the answers.
    fn answer(&self, request: &ReadRequest) -> Result<DynamicValue, StandInError> {
        let mut data = object(request.current.as_ref())?.unwrap_or_default();
        data.extend(self.answers.to(&request.type_name)?);
        Ok(Value::Map(data).encode()?)
    }
}

impl Plugin for StandIn {
    async fn schema(self: Arc<Self>, _: Empty) -> SchemaResponse {
        self.schemas.wire()
    }

    async fn configure(self: Arc<Self>, _: ConfigureRequest) -> DiagnosticsResponse {
        DiagnosticsResponse::default()
    }

    async fn validate(self: Arc<Self>, _: ValidateRequest) -> DiagnosticsResponse {
        DiagnosticsResponse::default()
    }

    async fn upgrade(self: Arc<Self>, request: UpgradeRequest) -> StateResponse {
        let json = request.raw_state.map(|raw| raw.json).unwrap_or_default();
        let state = Value::decode(Some(&DynamicValue { msgpack: Vec::new(), json })).and_then(Value::encode);
        state_response(state.map_err(StandInError::from))
    }

    async fn read(self: Arc<Self>, request: ReadRequest) -> StateResponse {
        StateResponse { state: request.current, diagnostics: Vec::new() }
    }

    async fn plan(self: Arc<Self>, request: PlanRequest) -> PlanResponse {
        match self.planned(&request) {
            Ok(planned) => PlanResponse { planned_state: Some(planned), ..PlanResponse::default() },
            Err(error) => PlanResponse { diagnostics: vec![told(&error)], ..PlanResponse::default() },
        }
    }

    async fn apply(self: Arc<Self>, request: ApplyRequest) -> ApplyResponse {
        ApplyResponse { new_state: request.prior_state, diagnostics: vec![told(&StandInError::MakesNothing)] }
    }

    async fn import(self: Arc<Self>, _: ImportRequest) -> ImportResponse {
        let diagnostics = vec![told(&StandInError::MakesNothing)];
        ImportResponse { imported_resources: Vec::new(), diagnostics }
    }

    async fn read_data(self: Arc<Self>, request: ReadRequest) -> StateResponse {
        state_response(self.answer(&request))
    }

    fn interrupt(&self) {}
}

fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, StandInError> {
    let unreadable = |why: String| StandInError::Unreadable { path: path.to_owned(), why };
    let text = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))
}

fn object(wire: Option<&DynamicValue>) -> Result<Option<Object>, StandInError> {
    Ok(Value::decode(wire)?.into_object())
}

fn state_response(state: Result<DynamicValue, StandInError>) -> StateResponse {
    match state {
        Ok(state) => StateResponse { state: Some(state), diagnostics: Vec::new() },
        Err(error) => StateResponse { state: None, diagnostics: vec![told(&error)] },
    }
}

fn told(error: &StandInError) -> Diagnostic {
    Diagnostic { severity: SEVERITY_ERROR, summary: error.to_string(), ..Diagnostic::default() }
}
