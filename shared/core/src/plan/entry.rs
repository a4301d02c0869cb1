//! One entry of `resource_changes`, `resource_drift` or `output_changes`, as the engine wrote it.

use super::datum::Datum;
use super::differ::{differences, member_path};
use super::summary::{Action, ResourceChange};

/// An entry, read but for its values.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The full address; made of type and name where the entry has none; empty where it has neither.
    pub(crate) address: String,
    /// The address it had before, where it differs.
    pub(crate) moved_from: Option<String>,
    /// What would be done.
    pub(crate) action: Action,
    /// Whether it is a data source.
    pub(crate) is_data: bool,
    /// The source address of its provider.
    pub(crate) provider: Option<String>,
    whole: Datum,
}

impl Entry {
    /// Reads the text of an entry.
    pub(crate) fn parse(raw: &str) -> Result<Self, serde_json::Error> {
        let whole = Datum::parse(raw)?;
        let text = |key: &str| whole.get(key).text().map(str::to_owned);
        let address = text("address").unwrap_or_else(|| made_address(&whole));
        Ok(Self {
            moved_from: text("previous_address").filter(|previous| *previous != address),
            action: action_of(whole.get("change")),
            is_data: whole.get("mode").text() == Some("data"),
            provider: text("provider_name"),
            address,
            whole,
        })
    }

    /// The `change` object.
    pub(crate) fn change(&self) -> &Datum {
        self.whole.get("change")
    }

    /// The id (or identity, as JSON) that it is imported by.
    pub(crate) fn imported(&self) -> Option<String> {
        let importing = self.change().get("importing");
        let id = importing.get("id").text().map(str::to_owned);
        match importing {
            Datum::Map(_) => id.or_else(|| Some(importing.get("identity").to_string())),
            _ => None,
        }
    }

    /// Whether apply would do anything for it, be it only in the state.
    pub(crate) fn does_something(&self) -> bool {
        self.action != Action::NoOp || self.moved_from.is_some() || self.imported().is_some()
    }

    /// Whether `before` and `after` really differ. Engines list drift whose two sides are equal.
    pub(crate) fn differs(&self) -> bool {
        self.change().get("before") != self.change().get("after")
    }

    /// What people see of it.
    pub(crate) fn summarise(self) -> ResourceChange {
        let text = |key: &str| self.whole.get(key).text().map(str::to_owned);
        ResourceChange {
            kind: text("type").unwrap_or_default(),
            imported: self.imported(),
            reason: text("action_reason"),
            deposed: text("deposed"),
            replace_paths: self.change().get("replace_paths").items().iter().map(replace_path).collect(),
            attributes: differences(self.change()),
            address: self.address,
            action: self.action,
            moved_from: self.moved_from,
        }
    }

    /// The text that goes into digests: what would be done, in canonical JSON. Marks are pruned; why it is done
    /// (`action_reason`, `replace_paths`) and what follows from the address are not part of it.
    pub(crate) fn canonical(&self) -> String {
        let actions = format!("{:?}", self.action);
        let parts = [
            Datum::Text(self.address.clone()),
            self.moved_from.clone().map_or(Datum::Null, Datum::Text),
            self.whole.get("deposed").clone(),
            self.provider.clone().map_or(Datum::Null, Datum::Text),
            Datum::Text(actions),
            self.change().get("importing").clone(),
        ];
        format!("{}{}", Datum::List(parts.to_vec()), canonical_change(self.change()))
    }
}

/// The values of a change and their marks, in canonical JSON.
pub(crate) fn canonical_change(change: &Datum) -> String {
    let marks =
        ["after_unknown", "before_sensitive", "after_sensitive"].map(|key| change.get(key).pruned_marks());
    let [unknown, before_sensitive, after_sensitive] = marks;
    let parts = [change.get("before").clone(), change.get("after").clone()];
    Datum::List(parts.into_iter().chain([unknown, before_sensitive, after_sensitive]).collect()).to_string()
}

/// What the `actions` of a change come to.
pub(crate) fn action_of(change: &Datum) -> Action {
    let actions: Vec<&str> = change.get("actions").items().iter().filter_map(Datum::text).collect();
    match actions.as_slice() {
        [] | ["no-op"] => Action::NoOp,
        ["create"] => Action::Create,
        ["read"] => Action::Read,
        ["update"] => Action::Update,
        ["delete"] => Action::Delete,
        ["forget"] => Action::Forget,
        ["delete", "create"] => Action::DeleteThenCreate,
        ["create", "delete"] => Action::CreateThenDelete,
        ["forget", "create"] | ["create", "forget"] => Action::ForgetThenCreate,
        unknown => Action::Other(unknown.join("/")),
    }
}

fn made_address(entry: &Datum) -> String {
    let parts = ["module_address", "type", "name"].map(|key| entry.get(key).text());
    let address = parts.into_iter().flatten().collect::<Vec<_>>().join(".");
    match entry.get("index") {
        Datum::Null => address,
        index => format!("{address}[{index}]"),
    }
}

fn replace_path(steps: &Datum) -> String {
    steps.items().iter().fold(String::new(), |path, step| match step {
        Datum::Text(key) => member_path(&path, key),
        index => format!("{path}[{index}]"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(change: &str) -> Entry {
        Entry::parse(&format!(r#"{{"address":"a.b","type":"a","change":{change}}}"#)).unwrap()
    }

    #[test]
    fn actions_are_known_in_each_order_and_unknown_ones_pass_through() {
        let action = |actions: &str| entry(&format!(r#"{{"actions":{actions}}}"#)).action;
        assert_eq!(action(r#"["forget","create"]"#), Action::ForgetThenCreate);
        assert_eq!(action(r#"["create","forget"]"#), Action::ForgetThenCreate);
        assert_eq!(action(r#"["delete","create"]"#), Action::DeleteThenCreate);
        assert_eq!(action(r#"["create","delete"]"#), Action::CreateThenDelete);
        assert_eq!(action(r#"["renovate"]"#), Action::Other("renovate".to_owned()));
        assert_eq!(action("null"), Action::NoOp);
    }

    #[test]
    fn an_import_may_name_an_identity_instead_of_an_id() {
        assert_eq!(entry(r#"{"importing":{"id":"i-1"}}"#).imported().unwrap(), "i-1");
        assert_eq!(entry(r#"{"importing":{"identity":{"a":1}}}"#).imported().unwrap(), r#"{"a":1}"#);
        assert_eq!(entry("{}").imported(), None);
    }

    #[test]
    fn replace_paths_are_written_like_attribute_paths() {
        let change = entry(r#"{"replace_paths":[["map","a/b"],["rule",0,"port"]]}"#).summarise();
        assert_eq!(change.replace_paths, [r#"map["a/b"]"#, "rule[0].port"]);
    }
}
