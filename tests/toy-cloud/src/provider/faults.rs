//! Latency and failures. The most particular setting counts: the resource's own attribute, then the control file,
//! then the provider's configuration.

use std::time::{Duration, Instant};

use super::error::CallError;
use super::toy::{Settings, Toy};
use crate::control::{Control, Verb};
use crate::journal::{Entry, Event};
use crate::plugin::value::{Object, Value, get};

/// How soon a change of the control file is seen by a call that waits.
const TICK: Duration = Duration::from_millis(20);

/// A call on a resource or data source.
pub(crate) struct Call<'a> {
    pub(crate) verb: Verb,
    /// The type; a data source's starts with `data.`.
    pub(crate) type_name: String,
    pub(crate) id: String,
    /// `<type>.<name>`, as the control file names it.
    pub(crate) key: String,
    /// The resource's attributes, of which some say how it misbehaves.
    pub(crate) own: &'a Object,
}

impl Call<'_> {
    /// The journal's line about this call.
    pub(crate) fn entry(&self, event: Event, message: Option<String>) -> Entry {
        let (type_name, id) = (self.type_name.clone(), self.id.clone());
        Entry { at: now(), event, verb: self.verb, type_name, id, pid: std::process::id(), message }
    }

    fn own(&self, attribute: &str) -> Option<&Value> {
        of_verb(get(self.own, attribute), self.verb)
    }
}

impl Toy {
    /// Waits as long as the call is to take, and fails if it is to.
    pub(crate) async fn pass(&self, settings: &Settings, call: &Call<'_>) -> Result<(), CallError> {
        self.wait(settings, call).await?;
        let Some(message) = failure(settings, call)? else { return Ok(()) };
        settings.cloud.note(&call.entry(Event::Fault, Some(message.clone())))?;
        Err(CallError::Failed { verb: call.verb, key: call.key.clone(), message })
    }

    async fn wait(&self, settings: &Settings, call: &Call<'_>) -> Result<(), CallError> {
        let begun = Instant::now();
        let mut stopped = self.watch();
        loop {
            let control = settings.cloud.control()?;
            let left = latency(settings, &control, call).saturating_sub(begun.elapsed());
            if left.is_zero() && !control.holds(call.verb, &call.key) {
                return Ok(());
            }
            let pause = if left.is_zero() { TICK } else { left.min(TICK) };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = stopped.wait_for(|stopped| *stopped), if !control.ignore_stop => {
                    return Err(CallError::Stopped { verb: call.verb, key: call.key.clone() });
                }
            }
        }
    }
}

fn latency(settings: &Settings, control: &Control, call: &Call<'_>) -> Duration {
    let milliseconds = |value: &Value| match value {
        Value::Number(number) => number.as_u64(),
        _ => None,
    };
    let own = call.own("latency_ms").and_then(milliseconds);
    let general = || of_verb(&settings.latency_ms, call.verb).and_then(milliseconds);
    let found = own.or_else(|| control.latency(call.verb, &call.key)).or_else(general);
    Duration::from_millis(found.unwrap_or_default())
}

fn failure(settings: &Settings, call: &Call<'_>) -> Result<Option<String>, CallError> {
    if let Some(message) = call.own("fail").and_then(Value::as_str) {
        return Ok(Some(message.to_owned()));
    }
    let control = settings.cloud.control()?;
    let before = if control.fail_times.contains_key(&call.verb) { faults(settings, call)? } else { 0 };
    let of_control = control.failure(call.verb, &call.key, before).map(str::to_owned);
    let general = || of_verb(&settings.fail, call.verb).and_then(Value::as_str).map(str::to_owned);
    Ok(of_control.or_else(general))
}

/// How often calls like this one failed before.
fn faults(settings: &Settings, call: &Call<'_>) -> Result<u32, CallError> {
    let entries = settings.cloud.journal()?;
    let alike = entries.iter().filter(|entry| {
        (entry.event, entry.verb) == (Event::Fault, call.verb)
            && entry.type_name == call.type_name
            && entry.id == call.id
    });
    Ok(u32::try_from(alike.count()).unwrap_or(u32::MAX))
}

fn of_verb(settings: &Value, verb: Verb) -> Option<&Value> {
    if let Value::Map(map) = settings { map.get(verb.as_str()) } else { None }
}

#[expect(clippy::disallowed_methods, reason = "a program of its own, outside Yuba's time")]
fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
