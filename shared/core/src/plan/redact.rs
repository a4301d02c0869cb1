//! Plan JSON without sensitive values: what policies, pages and people may read.
//!
//! The shape stays, only values change: each sensitive value becomes the text `(sensitive value)`, `null` stays
//! `null`. Keys come out sorted, numbers as they were written. Hidden are the parts that the engine marks
//! (`before_sensitive`, `after_sensitive`, `sensitive_values`, sensitive outputs); variables that the configuration
//! declares sensitive, their defaults, and what is passed to such variables of modules; and literals of the
//! configuration that equal a value hidden elsewhere. Without a configuration all variables are hidden.
//!
//! The text streams; `variables` and `configuration`, whose size does not depend on the number of resources, are held.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader, Read, Write};

use serde::de::{DeserializeSeed, Error, MapAccess};
use serde_json::value::RawValue;

use super::datum::Datum;
use super::differ::{SENSITIVE, hide};
use super::sniff::{Keys, ReadPlanError, sniff};
use super::walk::{Each, Elements, Entries, Members, Object};
use super::writer::JsonWriter;

/// Bytes of secrets handed back at most; more are hidden too, where the engine marks them.
const MOST_SECRET_BYTES: usize = 4 * 1024 * 1024;

/// Why a plan could not be redacted.
#[derive(Debug, thiserror::Error)]
pub enum RedactError {
    /// It could not be read as a plan.
    #[error(transparent)]
    Read(#[from] ReadPlanError),
    /// The result could not be written.
    #[error("the redacted plan could not be written")]
    Write(#[source] io::Error),
}

/// Copies plan JSON from `plan` to `out` without sensitive values. Gives the texts that were hidden (up to 4 MiB), so that a [`Masker`](super::mask::Masker) can keep them out of logs.
pub fn redact(plan: impl Read, out: impl Write) -> Result<BTreeSet<String>, RedactError> {
    let mut redactor = Redactor {
        out: JsonWriter::new(out),
        keys: Keys::default(),
        format_version: None,
        variables: None,
        configuration: None,
        secrets: BTreeSet::new(),
        secret_bytes: 0,
    };
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, sniff(plan)?));
    let outcome = Object(&mut redactor).deserialize(&mut json).and_then(|()| json.end());
    outcome.map_err(|error| redactor.keys.explain(error))?;
    redactor.keys.judge(redactor.format_version.as_deref())?;
    redactor.out.finish().map_err(RedactError::Write)?;
    Ok(redactor.secrets)
}

struct Redactor<W: Write> {
    out: JsonWriter<W>,
    keys: Keys,
    format_version: Option<String>,
    variables: Option<Datum>,
    configuration: Option<Datum>,
    secrets: BTreeSet<String>,
    secret_bytes: usize,
}

impl<W: Write> Members for Redactor<W> {
    fn open(&mut self, bracket: char) {
        self.out.open(bracket);
    }

    fn close(&mut self, bracket: char) {
        self.held();
        self.out.close(bracket);
    }

    fn member<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        self.keys.note(key);
        match key {
            "variables" => self.variables = Some(datum(map)?),
            "configuration" => self.configuration = Some(datum(map)?),
            "resource_changes" | "resource_drift" | "deferred_changes" => {
                self.each(key, map, Self::entry)?;
            }
            "action_invocations" => self.each(key, map, |this, one| {
                this.hide_member(one, "config_values", &["config_sensitive"]);
            })?,
            "output_changes" => {
                self.out.key(key);
                self.out.open('{');
                let mut outputs = Entries(|name: &str, raw: &str| {
                    let mut change = Datum::parse(raw)?;
                    self.change(&mut change);
                    self.out.key(name);
                    self.out.value(&change.to_string());
                    Ok(())
                });
                map.next_value_seed(Object(&mut outputs))?;
                self.out.close('}');
            }
            "planned_values" | "prior_state" => {
                self.out.key(key);
                map.next_value_seed(Object(&mut Values(self)))?;
            }
            _ => {
                let value = datum(map)?;
                if matches!(key, "format_version" | "plan_format_version") {
                    self.format_version = value.text().map(str::to_owned);
                }
                self.out.key(key);
                self.out.value(&value.to_string());
            }
        }
        Ok(())
    }
}

fn datum<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Datum, A::Error> {
    Datum::parse(map.next_value::<Box<RawValue>>()?.get()).map_err(A::Error::custom)
}

impl<W: Write> Redactor<W> {
    /// Streams an array through `change`.
    fn each<'de, A, F>(&mut self, key: &str, map: &mut A, change: F) -> Result<(), A::Error>
    where
        A: MapAccess<'de>,
        F: Fn(&mut Self, &mut Datum),
    {
        self.out.key(key);
        self.out.open('[');
        map.next_value_seed(Elements(|raw: &str| {
            let mut item = Datum::parse(raw)?;
            change(self, &mut item);
            self.out.value(&item.to_string());
            Ok(())
        }))?;
        self.out.close(']');
        Ok(())
    }

    fn entry(&mut self, entry: &mut Datum) {
        // A deferred change carries the entry one level deeper.
        if let Some(inner) = member(entry, "resource_change") {
            return self.entry(inner);
        }
        if let Some(change) = member(entry, "change") {
            self.change(change);
        }
    }

    /// A resource of the planned or prior state. Engines before 1.0 do not say there what is sensitive: all is hidden.
    fn resource(&mut self, resource: &mut Datum) {
        match resource.get("sensitive_values") {
            Datum::Null => {
                if let Some(values) = member(resource, "values") {
                    *values = hide(values, &Datum::Bool(true));
                }
            }
            _ => self.hide_member(resource, "values", &["sensitive_values"]),
        }
    }

    /// What either side marks is hidden on both, as in the summary.
    fn change(&mut self, change: &mut Datum) {
        for side in ["before", "after"] {
            self.hide_member(change, side, &["before_sensitive", "after_sensitive"]);
        }
    }

    /// Hides in the member `key` what the members `marks` mark.
    fn hide_member(&mut self, object: &mut Datum, key: &str, marks: &[&str]) {
        for mark in marks {
            let marks = object.get(mark).clone();
            if let Some(value) = member(object, key).filter(|_| marks.marks_any()) {
                self.hide(value, &marks);
            }
        }
    }

    fn hide(&mut self, value: &mut Datum, marks: &Datum) {
        let hidden = hide(value, marks);
        self.learn(value, &hidden);
        *value = hidden;
    }

    /// Notes the texts of `value` that are no longer in `hidden`.
    fn learn(&mut self, value: &Datum, hidden: &Datum) {
        match (value, hidden) {
            _ if value == hidden => {}
            (Datum::Map(members), Datum::Map(shown)) => {
                members.values().zip(shown.values()).for_each(|(part, shown)| self.learn(part, shown));
            }
            (Datum::List(items), Datum::List(shown)) => {
                items.iter().zip(shown).for_each(|(part, shown)| self.learn(part, shown));
            }
            _ => self.learn_all(value),
        }
    }

    fn learn_all(&mut self, value: &Datum) {
        match value {
            Datum::Text(text) if self.secret_bytes + text.len() <= MOST_SECRET_BYTES => {
                self.secret_bytes += text.len();
                self.secrets.insert(text.clone());
            }
            Datum::Map(members) => members.values().for_each(|part| self.learn_all(part)),
            Datum::List(items) => items.iter().for_each(|part| self.learn_all(part)),
            _ => {}
        }
    }

    /// Writes what was held until all that is sensitive was known.
    fn held(&mut self) {
        let configuration = self.configuration.take();
        let root = configuration.as_ref().map(|whole| sensitive_variables(whole.get("root_module")));
        if let Some(mut variables) = self.variables.take() {
            let is_hidden = |name: &String| root.as_ref().is_none_or(|sensitive| sensitive.contains(name));
            for (_, variable) in members(&mut variables).filter(|(name, _)| is_hidden(name)) {
                self.hide_all(member(variable, "value"));
            }
            self.scrub(&mut variables);
            self.out.key("variables");
            self.out.value(&variables.to_string());
        }
        if let Some(mut configuration) = configuration {
            if let Some(root) = member(&mut configuration, "root_module") {
                self.module(root);
            }
            self.scrub(&mut configuration);
            self.out.key("configuration");
            self.out.value(&configuration.to_string());
        }
    }

    fn hide_all(&mut self, value: Option<&mut Datum>) {
        if let Some(value) = value {
            self.hide(value, &Datum::Bool(true));
        }
    }

    /// Hides in a module's configuration the defaults of sensitive variables and what is passed to them in calls.
    fn module(&mut self, module: &mut Datum) {
        let sensitive = sensitive_variables(module);
        let variables = member(module, "variables").into_iter().flat_map(members);
        for (_, variable) in variables.filter(|(name, _)| sensitive.contains(*name)) {
            self.hide_all(member(variable, "default"));
        }
        for (_, call) in member(module, "module_calls").into_iter().flat_map(members) {
            let sensitive = sensitive_variables(call.get("module"));
            let passed = member(call, "expressions").into_iter().flat_map(members);
            for (_, expression) in passed.filter(|(name, _)| sensitive.contains(*name)) {
                self.hide_all(member(expression, "constant_value"));
            }
            if let Some(inner) = member(call, "module") {
                self.module(inner);
            }
        }
    }

    /// Hides each text that equals one that was hidden elsewhere. Short ones are too common to tell.
    fn scrub(&self, value: &mut Datum) {
        match value {
            Datum::Text(text) if text.len() >= 4 && self.secrets.contains(text) => SENSITIVE.clone_into(text),
            Datum::Map(members) => members.values_mut().for_each(|part| self.scrub(part)),
            Datum::List(items) => items.iter_mut().for_each(|part| self.scrub(part)),
            _ => {}
        }
    }
}

fn sensitive_variables(module: &Datum) -> BTreeSet<String> {
    let Datum::Map(variables) = module.get("variables") else { return BTreeSet::new() };
    let sensitive = variables.iter().filter(|(_, variable)| variable.get("sensitive").marks_all());
    sensitive.map(|(name, _)| name.clone()).collect()
}

fn member<'a>(object: &'a mut Datum, key: &str) -> Option<&'a mut Datum> {
    members_of(object)?.get_mut(key)
}

fn members(object: &mut Datum) -> impl Iterator<Item = (&String, &mut Datum)> {
    members_of(object).into_iter().flatten()
}

fn members_of(object: &mut Datum) -> Option<&mut BTreeMap<String, Datum>> {
    match object {
        Datum::Map(members) => Some(members),
        _ => None,
    }
}

/// `planned_values` and `prior_state`: modules within modules, whose resources stream.
struct Values<'a, W: Write>(&'a mut Redactor<W>);

impl<W: Write> Members for Values<'_, W> {
    fn open(&mut self, bracket: char) {
        self.0.out.open(bracket);
    }

    fn close(&mut self, bracket: char) {
        self.0.out.close(bracket);
    }

    fn member<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "values" | "root_module" => {
                self.0.out.key(key);
                map.next_value_seed(Object(self))
            }
            "child_modules" => {
                self.0.out.key(key);
                map.next_value_seed(Each(self))
            }
            "resources" => self.0.each(key, map, Redactor::resource),
            "outputs" => {
                let mut outputs = datum(map)?;
                for (_, output) in members(&mut outputs) {
                    self.0.hide_member(output, "value", &["sensitive"]);
                }
                self.0.out.key(key);
                self.0.out.value(&outputs.to_string());
                Ok(())
            }
            _ => {
                let value = datum(map)?;
                self.0.out.key(key);
                self.0.out.value(&value.to_string());
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(plan: &str) -> String {
        let mut out = Vec::new();
        redact(plan.as_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn marked_values_are_hidden_and_the_rest_is_unchanged() {
        let plan = r#"{"format_version":"1.2","n":1.10,"planned_values":{"outputs":{"o":{"sensitive":true,"value":"s1"}},
            "root_module":{"child_modules":[{"resources":[{"values":{"a":"s2","b":1},"sensitive_values":{"a":true}}]}]}},
            "resource_changes":[{"address":"x.y","change":{"before":null,"after":{"l":["s3","v"]},"after_sensitive":{"l":[true]}}}],
            "output_changes":{"o":{"actions":["create"],"before":null,"after":"s1","after_sensitive":true}}}"#;
        insta::assert_snapshot!(check(plan), @r#"{"format_version":"1.2","n":1.10,"planned_values":{"outputs":{"o":{"sensitive":true,"value":"(sensitive value)"}},"root_module":{"child_modules":[{"resources":[{"sensitive_values":{"a":true},"values":{"a":"(sensitive value)","b":1}}]}]}},"resource_changes":[{"address":"x.y","change":{"after":{"l":["(sensitive value)","v"]},"after_sensitive":{"l":[true]},"before":null}}],"output_changes":{"o":{"actions":["create"],"after":"(sensitive value)","after_sensitive":true,"before":null}}}"#);
    }

    #[test]
    fn variables_and_configuration_give_nothing_away() {
        let plan = r#"{"format_version":"1.2","variables":{"v":{"value":"s1"},"w":{"value":"plain"}},
            "resource_changes":[{"change":{"after":{"p":"literal"},"after_sensitive":{"p":true}}}],
            "configuration":{"root_module":{"variables":{"v":{"sensitive":true,"default":"s2"},"w":{}},
              "resources":[{"expressions":{"p":{"constant_value":"literal"}}}],
              "module_calls":{"m":{"expressions":{"q":{"constant_value":"s3"},"r":{"constant_value":"ok"}},
                "module":{"variables":{"q":{"sensitive":true},"r":{}}}}}}}}"#;
        insta::assert_snapshot!(check(plan), @r#"{"format_version":"1.2","resource_changes":[{"change":{"after":{"p":"(sensitive value)"},"after_sensitive":{"p":true}}}],"variables":{"v":{"value":"(sensitive value)"},"w":{"value":"plain"}},"configuration":{"root_module":{"module_calls":{"m":{"expressions":{"q":{"constant_value":"(sensitive value)"},"r":{"constant_value":"ok"}},"module":{"variables":{"q":{"sensitive":true},"r":{}}}}},"resources":[{"expressions":{"p":{"constant_value":"(sensitive value)"}}}],"variables":{"v":{"default":"(sensitive value)","sensitive":true},"w":{}}}}}"#);
    }

    #[test]
    fn without_a_configuration_no_variable_is_shown() {
        insta::assert_snapshot!(check(r#"{"format_version":"1.2","variables":{"v":{"value":{"a":1}}},"resource_changes":null}"#), @r#"{"format_version":"1.2","resource_changes":[],"variables":{"v":{"value":"(sensitive value)"}}}"#);
    }

    #[test]
    fn what_was_hidden_is_handed_back_for_masking() {
        let plan = r#"{"format_version":"1.2","resource_changes":[{"change":{"before":{"a":{"b":["one"]},"c":"two"},
            "before_sensitive":{"a":true},"after":null}}]}"#;
        assert_eq!(redact(plan.as_bytes(), io::sink()).unwrap(), BTreeSet::from(["one".to_owned()]));
    }
}
