//! Reading `show -json` of a plan as a stream: one resource change is in memory at a time.
//!
//! Both engines and every format from 0.1 on are read. What the engine listed but would not do (no-ops, drift without
//! a difference) is left out; what it would do but calls by a name that Yuba does not know is passed through.

use std::io::{BufReader, Read};

use serde::de::{DeserializeSeed, Error, MapAccess};

use super::datum::Datum;
use super::differ::differences;
use super::digest::MultisetDigest;
use super::entry::{Entry, action_of, canonical_change};
use super::keep::Keeper;
use super::sniff::{Keys, ReadPlanError, sniff};
use super::summary::{Action, FailedCheck, OutputChange, PlanSummary};
use super::walk::{Each, Elements, Entries, Members, Object, skip};
use crate::id::ChangesDigest;

/// The version of the stored form.
const SCHEMA: u32 = 1;

/// What a plan JSON holds, reduced.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRead {
    /// What people and decisions read.
    pub summary: PlanSummary,
    /// The digest of all changes, sensitive values included.
    pub changes: ChangesDigest,
    /// Whether the state held no managed resource before this plan.
    pub state_was_empty: bool,
}

/// Reads the output of `show -json PLANFILE`. Memory grows with the number of changes (32 bytes each, and what
/// [`PlanSummary`] keeps), never with their size; a single change must fit.
pub fn read(plan: impl Read) -> Result<PlanRead, ReadPlanError> {
    let mut top = Top::default();
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, sniff(plan)?));
    let outcome = Object(&mut top).deserialize(&mut json).and_then(|()| json.end());
    outcome.map_err(|error| top.keys.explain(error))?;
    top.keys.judge(top.format_version.as_deref())?;
    Ok(top.finish())
}

#[derive(Default)]
struct Top {
    keys: Keys,
    format_version: Option<String>,
    engine_version: Option<String>,
    applyable: Option<bool>,
    errored: bool,
    keeper: Keeper,
    digest: MultisetDigest,
    failed_checks: Vec<FailedCheck>,
    invocations: Vec<String>,
    state_holds: Managed,
    does_something: bool,
}

impl Members for Top {
    fn member<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        self.keys.note(key);
        match key {
            "format_version" | "plan_format_version" => self.format_version = map.next_value()?,
            "terraform_version" => self.engine_version = map.next_value()?,
            "applyable" => self.applyable = map.next_value()?,
            "errored" => self.errored = map.next_value::<Option<bool>>()?.unwrap_or_default(),
            "resource_changes" => map.next_value_seed(Elements(|raw: &str| self.change(raw)))?,
            "resource_drift" => map.next_value_seed(Elements(|raw: &str| self.drift(raw)))?,
            "output_changes" => {
                let mut outputs = Entries(|name: &str, raw: &str| self.output(name, raw));
                map.next_value_seed(Object(&mut outputs))?;
            }
            "checks" => map.next_value_seed(Elements(|raw: &str| self.check(raw)))?,
            "action_invocations" => map.next_value_seed(Elements(|raw: &str| self.invocation(raw)))?,
            "prior_state" => map.next_value_seed(Object(&mut self.state_holds))?,
            "configuration" => map.next_value_seed(Object(&mut Configuration(&mut self.keeper)))?,
            "diagnostics" | "error_count" => {
                return Err(A::Error::custom("this is the output of `validate -json`"));
            }
            _ => skip(map)?,
        }
        Ok(())
    }
}

impl Top {
    fn change(&mut self, raw: &str) -> Result<(), serde_json::Error> {
        let entry = Entry::parse(raw)?;
        self.keeper.provider(entry.provider.as_deref());
        let existed = !entry.change().get("before").is_null();
        self.state_holds.found |= existed && !entry.is_data && entry.imported().is_none();
        if entry.does_something() {
            self.does_something = true;
            self.digest.add("resource", &entry.canonical());
            self.keeper.change(entry);
        }
        Ok(())
    }

    fn drift(&mut self, raw: &str) -> Result<(), serde_json::Error> {
        let entry = Entry::parse(raw)?;
        self.state_holds.found |= !entry.is_data;
        if !entry.address.is_empty() && !entry.is_data && entry.differs() {
            self.keeper.drift(entry);
        }
        Ok(())
    }

    fn output(&mut self, name: &str, raw: &str) -> Result<(), serde_json::Error> {
        let change = Datum::parse(raw)?;
        let action = action_of(&change);
        if action == Action::NoOp {
            return Ok(());
        }
        self.does_something = true;
        let line = format!("{name:?} {action:?} {}", canonical_change(&change));
        self.digest.add("output", &line);
        self.keeper.output(OutputChange { name: name.to_owned(), action, attributes: differences(&change) });
        Ok(())
    }

    fn check(&mut self, raw: &str) -> Result<(), serde_json::Error> {
        let check = Datum::parse(raw)?;
        let instances = match check.get("instances").items() {
            [] => std::slice::from_ref(&check),
            instances => instances,
        };
        self.failed_checks.extend(instances.iter().filter_map(|one| failed(one, check.get("address"))));
        Ok(())
    }

    fn invocation(&mut self, raw: &str) -> Result<(), serde_json::Error> {
        let invocation = Datum::parse(raw)?;
        self.does_something = true;
        self.digest.add("invocation", &invocation.to_string());
        self.invocations.push(invocation.get("address").text().unwrap_or_default().to_owned());
        Ok(())
    }

    fn finish(mut self) -> PlanRead {
        let has_changes = self.does_something || self.applyable == Some(true);
        let applyable = self.applyable.unwrap_or(has_changes) && !self.errored;
        self.keeper.counts.invoke = u32::try_from(self.invocations.len()).unwrap_or(u32::MAX);
        let kept = self.keeper.finish();
        let summary = PlanSummary {
            schema: SCHEMA,
            format_version: self.format_version.unwrap_or_default(),
            engine_version: self.engine_version,
            counts: kept.counts,
            has_changes,
            applyable,
            errored: self.errored,
            changes: kept.changes,
            outputs: kept.outputs,
            drift: kept.drift,
            failed_checks: self.failed_checks,
            invocations: self.invocations,
            left_out: kept.left_out,
            providers: kept.providers,
        };
        let changes = ChangesDigest(self.digest.finish());
        PlanRead { summary, changes, state_was_empty: !self.state_holds.found }
    }
}

fn failed(instance: &Datum, object: &Datum) -> Option<FailedCheck> {
    let status = instance.get("status").text().filter(|status| matches!(*status, "fail" | "error"))?;
    let display = |address: &Datum| address.get("to_display").text().map(str::to_owned);
    let messages =
        instance.get("problems").items().iter().filter_map(|problem| problem.get("message").text());
    Some(FailedCheck {
        address: display(instance.get("address")).or_else(|| display(object)).unwrap_or_default(),
        status: status.to_owned(),
        problems: messages.map(str::to_owned).collect(),
    })
}

/// Looks through `prior_state` for a managed resource. Data sources stand there too, read while planning.
#[derive(Default)]
struct Managed {
    found: bool,
}

impl Members for Managed {
    fn member<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "values" | "root_module" if !self.found => map.next_value_seed(Object(self)),
            "child_modules" if !self.found => map.next_value_seed(Each(self)),
            "resources" if !self.found => map.next_value_seed(Each(&mut Resource(self))),
            _ => skip(map),
        }
    }
}

/// A resource of `prior_state`; of its members only the mode is read.
struct Resource<'a>(&'a mut Managed);

impl Members for Resource<'_> {
    fn member<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        if key != "mode" {
            return skip(map);
        }
        self.0.found |= map.next_value::<Option<String>>()?.as_deref() == Some("managed");
        Ok(())
    }
}

/// Notes the providers that `configuration` names.
struct Configuration<'a>(&'a mut Keeper);

impl Members for Configuration<'_> {
    fn member<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        if key != "provider_config" {
            return skip(map);
        }
        let mut providers = Entries(|_: &str, raw: &str| {
            self.0.provider(Datum::parse(raw)?.get("full_name").text());
            Ok(())
        });
        map.next_value_seed(Object(&mut providers))
    }
}
