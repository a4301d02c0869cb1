//! The calls that look, and the calls about the provider itself. Those that change something are in `change`.

use super::body::from_body;
use super::error::{CallError, path};
use super::faults::Call;
use super::plan;
use super::schema::{DATA_KEY, data_attributes};
use super::toy::Toy;
use crate::control::Verb;
use crate::kind::{Kind, kind};
use crate::plugin::value::{Object, Value, get};
use crate::plugin::wire::{
    ConfigureRequest, DiagnosticsResponse, DynamicValue, ImportRequest, ImportResponse, Imported,
    PlanRequest, PlanResponse, ReadRequest, StateResponse, UpgradeRequest, ValidateRequest,
};

pub(crate) fn configure(toy: &Toy, request: &ConfigureRequest) -> DiagnosticsResponse {
    let configured = Value::decode(request.config.as_ref())
        .map_err(CallError::from)
        .and_then(|config| toy.configure(&config.into_object().unwrap_or_default()));
    diagnostics(configured)
}

pub(crate) fn validate(request: &ValidateRequest) -> DiagnosticsResponse {
    let checked =
        Value::decode(request.config.as_ref()).map_err(CallError::from).and_then(|config| match plan::fault(
            &config.into_object().unwrap_or_default(),
        ) {
            Some((attribute, explanation)) => Err(CallError::Invalid { attribute, explanation }),
            None => Ok(()),
        });
    diagnostics(checked)
}

/// There has been one version of each schema, so that a state stays as it is.
pub(crate) fn upgrade(request: UpgradeRequest) -> StateResponse {
    let json = request.raw_state.map(|raw| raw.json).unwrap_or_default();
    let upgraded = Value::decode(Some(&DynamicValue { msgpack: Vec::new(), json })).map_err(CallError::from);
    state_response(upgraded)
}

pub(crate) async fn read(toy: &Toy, request: ReadRequest) -> StateResponse {
    state_response(read_resource(toy, &request).await)
}

async fn read_resource(toy: &Toy, request: &ReadRequest) -> Result<Value, CallError> {
    let kind = known(&request.type_name)?;
    let state = object(request.current.as_ref())?.unwrap_or_default();
    let id = get(&state, "id").as_str().unwrap_or_default().to_owned();
    let found = look(toy, kind, &id, &state).await?;
    Ok(found.map_or(Value::Null, Value::Map))
}

/// Looks at a resource; `None` when it does not stand.
async fn look(toy: &Toy, kind: &Kind, id: &str, state: &Object) -> Result<Option<Object>, CallError> {
    let settings = toy.settings()?;
    toy.pass(&settings, &call(Verb::Read, kind, id, state)).await?;
    let body = settings.cloud.read(kind.type_name, id)?;
    body.map(|body| from_body(kind, id, body, state)).transpose()
}

pub(crate) async fn import(toy: &Toy, request: ImportRequest) -> ImportResponse {
    match import_resource(toy, &request).await {
        Ok(imported) => ImportResponse { imported_resources: vec![imported], diagnostics: Vec::new() },
        Err(error) => ImportResponse { imported_resources: Vec::new(), diagnostics: vec![error.into()] },
    }
}

async fn import_resource(toy: &Toy, request: &ImportRequest) -> Result<Imported, CallError> {
    let kind = known(&request.type_name)?;
    let found = look(toy, kind, &request.id, &Object::new()).await?;
    let state = found.ok_or_else(|| CallError::Gone(format!("{} {}", request.type_name, request.id)))?;
    Ok(Imported { type_name: request.type_name.clone(), state: Some(Value::Map(state).encode()?) })
}

pub(crate) async fn read_data(toy: &Toy, request: ReadRequest) -> StateResponse {
    state_response(read_data_source(toy, &request).await)
}

async fn read_data_source(toy: &Toy, request: &ReadRequest) -> Result<Value, CallError> {
    let kind = known(&request.type_name)?;
    let config = object(request.current.as_ref())?.unwrap_or_default();
    let name = get(&config, DATA_KEY).as_str().unwrap_or_default();
    let id = kind.id(name);
    let type_name = format!("data.{}", kind.type_name);
    let key = format!("{type_name}.{name}");
    let call = Call { verb: Verb::Read, type_name, id: id.clone(), key: key.clone(), own: &Object::new() };
    let settings = toy.settings()?;
    toy.pass(&settings, &call).await?;
    let body = settings.cloud.read(kind.type_name, &id)?.ok_or(CallError::Gone(key))?;
    let mut whole = from_body(kind, &id, body, &Object::new())?;
    let kept = data_attributes(kind).map(|attribute| attribute.name);
    Ok(Value::Map(kept.filter_map(|name| whole.remove_entry(name)).collect()))
}

pub(crate) async fn plan(toy: &Toy, request: PlanRequest) -> PlanResponse {
    plan_change(toy, &request).await.unwrap_or_else(|error| PlanResponse {
        planned_state: request.prior_state,
        requires_replace: Vec::new(),
        diagnostics: vec![error.into()],
    })
}

async fn plan_change(toy: &Toy, request: &PlanRequest) -> Result<PlanResponse, CallError> {
    let kind = known(&request.type_name)?;
    let Some(proposed) = object(request.proposed_new_state.as_ref())? else {
        let planned_state = Some(Value::Null.encode()?);
        return Ok(PlanResponse { planned_state, ..PlanResponse::default() });
    };
    let prior = object(request.prior_state.as_ref())?;
    let config = object(request.config.as_ref())?.unwrap_or_default();
    let id = kind.id(get(&proposed, "name").as_str().unwrap_or("?"));
    toy.pass(&*toy.settings()?, &call(Verb::Plan, kind, &id, &proposed)).await?;
    let planned = plan::plan(kind, prior.as_ref(), proposed, &config);
    Ok(PlanResponse {
        planned_state: Some(Value::Map(planned.state).encode()?),
        requires_replace: planned.replacing.into_iter().map(path).collect(),
        diagnostics: Vec::new(),
    })
}

/// A call on a resource of this id.
pub(crate) fn call<'a>(verb: Verb, kind: &Kind, id: &str, own: &'a Object) -> Call<'a> {
    let key = format!("{}.{}", kind.type_name, kind.name(id));
    Call { verb, type_name: kind.type_name.to_owned(), id: id.to_owned(), key, own }
}

pub(crate) fn known(type_name: &str) -> Result<&'static Kind, CallError> {
    kind(type_name).ok_or_else(|| CallError::UnknownType(type_name.to_owned()))
}

/// The resource that a value is; none when it is null.
pub(crate) fn object(wire: Option<&DynamicValue>) -> Result<Option<Object>, CallError> {
    Ok(Value::decode(wire)?.into_object())
}

fn diagnostics(result: Result<(), CallError>) -> DiagnosticsResponse {
    DiagnosticsResponse { diagnostics: result.err().into_iter().map(Into::into).collect() }
}

fn state_response(result: Result<Value, CallError>) -> StateResponse {
    match result.and_then(|value| Ok(value.encode()?)) {
        Ok(state) => StateResponse { state: Some(state), diagnostics: Vec::new() },
        Err(error) => StateResponse { state: None, diagnostics: vec![error.into()] },
    }
}
