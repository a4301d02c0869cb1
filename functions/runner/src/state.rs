//! After an apply, or a plan with nothing to do: outputs, inventory and counts, from one `show -json` of the state.

use std::fs::File;
use std::io::BufReader;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use yuba_core::attempt::AttemptReport;
use yuba_core::job::object;

use crate::attempt::{Attempt, Engine};
use crate::classify;
use crate::ended::{Ended, Step};
use crate::engine::text;

#[derive(Deserialize, Default)]
struct State {
    values: Option<Values>,
}

#[derive(Deserialize, Default)]
struct Values {
    /// As `output -json` writes them: name → `sensitive`, `type`, `value`.
    #[serde(default)]
    outputs: Map<String, Value>,
    #[serde(default)]
    root_module: Module,
}

#[derive(Deserialize, Default)]
struct Module {
    #[serde(default)]
    resources: Vec<Resource>,
    #[serde(default)]
    child_modules: Vec<Module>,
}

#[derive(Deserialize)]
struct Resource {
    address: String,
    mode: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    values: Identity,
}

#[derive(Deserialize, Default)]
struct Identity {
    #[serde(default)]
    id: Value,
}

/// What the state holds of one resource.
#[derive(Debug, Serialize)]
struct Entry {
    address: String,
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
}

/// Stores outputs and inventory, and says what to report. The apply has succeeded: what cannot be read now is a notice.
pub(crate) async fn store(engine: &Engine<'_>) -> Step<AttemptReport> {
    let attempt = engine.attempt;
    match read(engine).await {
        Ok(state) => {
            let (outputs, resources) = keep(attempt, state.values.unwrap_or_default())?;
            Ok(AttemptReport::Applied { outputs, resources, notices: Vec::new() })
        }
        Err(Ended::Failed(failure)) => {
            let notice = format!("applied, but the state could not be read afterwards: {}", failure.message);
            attempt.log.line(&notice);
            Ok(AttemptReport::Applied { outputs: Vec::new(), resources: 0, notices: vec![notice] })
        }
        Err(Ended::Interrupted) => {
            let notice = "applied; interrupted before outputs were read".to_owned();
            Ok(AttemptReport::Applied { outputs: Vec::new(), resources: 0, notices: vec![notice] })
        }
    }
}

/// Stores outputs and inventory of a state that a plan found as it is wanted. The plan is good without them.
pub(crate) async fn keep_as_it_is(engine: &Engine<'_>) -> Step<()> {
    match read(engine).await {
        Ok(state) => keep(engine.attempt, state.values.unwrap_or_default()).map(|_| ()),
        Err(Ended::Failed(failure)) => {
            let why = &failure.message;
            engine.attempt.log.line(&format!("The state's outputs could not be read: {why}"));
            Ok(())
        }
        Err(interrupted) => Err(interrupted),
    }
}

async fn read(engine: &Engine<'_>) -> Step<State> {
    engine.attempt.progress.step("output");
    let mut running = engine.place.start(&["show", "-json", "-no-color"])?;
    let stdout = running.take_stdout()?;
    let reading = tokio::task::spawn_blocking(move || parse(stdout));
    let exit = running.wait().await?;
    let state = reading.await.map_err(|_| Ended::transient("the state could not be read"))?;
    classify::check(&exit, &text::read_text(&exit.stderr), "show -json")?;
    state.map_err(|error| Ended::transient(format!("the state could not be read: {error}")))
}

fn parse(stdout: File) -> serde_json::Result<State> {
    serde_json::from_reader(BufReader::with_capacity(1 << 16, stdout))
}

/// Stores what a state holds; the names of its outputs, and how many resources it holds.
fn keep(attempt: &Attempt, values: Values) -> Step<(Vec<String>, u32)> {
    let outputs: Vec<String> = values.outputs.keys().cloned().collect();
    let text = Value::Object(values.outputs).to_string();
    attempt.objects.put(&attempt.object(object::OUTPUTS), text.as_bytes())?;
    let mut entries = Vec::new();
    list(values.root_module, &mut entries);
    let resources = u32::try_from(entries.len()).unwrap_or(u32::MAX);
    if attempt.job.spec.enable_inventory {
        let text = serde_json::to_vec(&entries).map_err(|error| Ended::transient(error.to_string()))?;
        attempt.objects.put(&attempt.object(object::INVENTORY), &text)?;
    }
    Ok((outputs, resources))
}

fn list(module: Module, entries: &mut Vec<Entry>) {
    let managed = module.resources.into_iter().filter(|resource| resource.mode == "managed");
    entries.extend(managed.map(|resource| Entry {
        id: resource.values.id.as_str().map(str::to_owned),
        address: resource.address,
        kind: resource.kind,
    }));
    for child in module.child_modules {
        list(child, entries);
    }
}
