//! The calls that change the cloud. Each stands in the journal with its begin and its end.

use super::body::{complete, into_body};
use super::calls::{call, known, object};
use super::error::CallError;
use super::faults::Call;
use super::toy::{Settings, Toy};
use crate::cloud::{Cloud, Creation};
use crate::control::Verb;
use crate::journal::Event;
use crate::kind::Kind;
use crate::plugin::value::{Object, Value, get};
use crate::plugin::wire::{ApplyRequest, ApplyResponse, Diagnostic};

pub(crate) async fn apply(toy: &Toy, request: ApplyRequest) -> ApplyResponse {
    match apply_change(toy, &request).await {
        Ok((state, late)) => match state.encode() {
            Ok(state) => response(Some(state), late),
            Err(error) => response(request.prior_state, Some(CallError::from(error))),
        },
        Err(error) => response(request.prior_state, Some(error)),
    }
}

fn response(new_state: Option<crate::plugin::wire::DynamicValue>, error: Option<CallError>) -> ApplyResponse {
    ApplyResponse { new_state, diagnostics: error.into_iter().map(Diagnostic::from).collect() }
}

/// The new state, and the error of a change that was made all the same.
async fn apply_change(toy: &Toy, request: &ApplyRequest) -> Result<(Value, Option<CallError>), CallError> {
    let kind = known(&request.type_name)?;
    let prior = object(request.prior_state.as_ref())?;
    let planned = object(request.planned_state.as_ref())?;
    let settings = toy.settings()?;
    let change = Change { toy, settings: &settings, kind };
    match (prior, planned) {
        (None, Some(planned)) => change.create(planned).await,
        (Some(_), Some(planned)) => change.update(planned).await,
        (Some(prior), None) => change.delete(&prior).await,
        (None, None) => Ok((Value::Null, None)),
    }
}

struct Change<'a> {
    toy: &'a Toy,
    settings: &'a Settings,
    kind: &'a Kind,
}

impl Change<'_> {
    async fn create(&self, mut state: Object) -> Result<(Value, Option<CallError>), CallError> {
        complete(self.kind, &mut state);
        let call = self.call(Verb::Create, &state);
        let body = into_body(self.kind, &state);
        let make = |cloud: &Cloud| match cloud.create(self.kind.type_name, &call.id, &body)? {
            Creation::Made => Ok(()),
            Creation::Exists => Err(CallError::Exists(format!("{} {}", call.type_name, call.id))),
        };
        self.journalled(&call, make).await?;
        let late = self.late(&call)?;
        Ok((Value::Map(state), late))
    }

    async fn update(&self, state: Object) -> Result<(Value, Option<CallError>), CallError> {
        let call = self.call(Verb::Update, &state);
        let body = into_body(self.kind, &state);
        let write = |cloud: &Cloud| {
            let gone = || CallError::Gone(format!("{} {}", call.type_name, call.id));
            cloud.read(self.kind.type_name, &call.id)?.ok_or_else(gone)?;
            Ok(cloud.write(self.kind.type_name, &call.id, &body)?)
        };
        self.journalled(&call, write).await?;
        let late = self.late(&call)?;
        Ok((Value::Map(state), late))
    }

    async fn delete(&self, prior: &Object) -> Result<(Value, Option<CallError>), CallError> {
        let call = self.call(Verb::Delete, prior);
        let remove = |cloud: &Cloud| Ok(cloud.delete(self.kind.type_name, &call.id)?);
        self.journalled(&call, remove).await?;
        Ok((Value::Null, self.late(&call)?))
    }

    fn call<'a>(&self, verb: Verb, state: &'a Object) -> Call<'a> {
        call(verb, self.kind, get(state, "id").as_str().unwrap_or_default(), state)
    }

    /// Waits or fails as the call is to, makes the change, and notes both ends of it.
    async fn journalled(
        &self,
        call: &Call<'_>,
        act: impl FnOnce(&Cloud) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        let cloud = &self.settings.cloud;
        cloud.note(&call.entry(Event::Begin, None))?;
        let outcome = match self.toy.pass(self.settings, call).await {
            Ok(()) => act(cloud),
            Err(error) => Err(error),
        };
        let (event, message) = match &outcome {
            Ok(()) => (Event::Done, None),
            Err(error) => (Event::Failed, Some(error.to_string())),
        };
        cloud.note(&call.entry(event, message))?;
        outcome
    }

    fn late(&self, call: &Call<'_>) -> Result<Option<CallError>, CallError> {
        let control = self.settings.cloud.control()?;
        let message = control.late_failure(call.verb, &call.key).map(str::to_owned);
        Ok(message.map(|message| CallError::Failed { verb: call.verb, key: call.key.clone(), message }))
    }
}
