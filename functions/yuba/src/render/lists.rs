//! Tables, in the columns that people know from kubectl and tfctl.

use std::fmt::Write as _;

use yuba_api::wire::{
    DeadLetterItem, EventItem, InventoryEntry, ManifestSetItem, Output, ProviderItem, RunItem, SecretItem,
    SignedView, SourceItem, StackItem, TokenItem,
};

use yuba_core::audit::{AuditEntry, AuditedPlan, Deed};

use super::words::plain;
use super::{Now, Width, columns};

fn table(mut rows: Vec<Vec<String>>, heading: &[&str], wide: &[&str], width: Width) -> String {
    let shown: Vec<&str> = match width {
        Width::Narrow => heading.to_vec(),
        Width::Wide => heading.iter().chain(wide).copied().collect(),
    };
    for row in &mut rows {
        row.truncate(shown.len());
    }
    columns(&shown, &rows)
}

/// Stacks.
pub(crate) fn stacks(items: &[StackItem], width: Width, now: Now) -> String {
    if items.is_empty() {
        return "No stacks found.\n".to_owned();
    }
    let row = |item: &StackItem| {
        vec![
            item.namespace.clone(),
            item.name.clone(),
            item.ready.clone(),
            item.status.clone(),
            now.age(&item.created_at),
            item.state.clone(),
            item.revision.clone().unwrap_or_default(),
            item.path.clone().unwrap_or_default(),
        ]
    };
    let heading = ["NAMESPACE", "NAME", "READY", "STATUS", "AGE"];
    table(items.iter().map(row).collect(), &heading, &["STATE", "REVISION", "PATH"], width)
}

/// That nothing is applied now, who said so, and how it ends.
pub(crate) fn paused(by: &SignedView) -> String {
    let why = if by.message.is_empty() { String::new() } else { format!(" ({})", plain(&by.message)) };
    format!(
        "paused by {} at {}{why}: no new apply starts; `yuba unpause --all` lets them start again",
        by.who, by.at
    )
}

/// Stacks with drift.
pub(crate) fn drifted(items: &[StackItem], width: Width, now: Now) -> String {
    if items.is_empty() { "No drift.\n".to_owned() } else { stacks(items, width, now) }
}

/// Sources.
pub(crate) fn sources(items: &[SourceItem], width: Width, now: Now) -> String {
    if items.is_empty() {
        return "No sources found.\n".to_owned();
    }
    let row = |item: &SourceItem| {
        vec![
            item.namespace.clone(),
            item.name.clone(),
            item.url.clone(),
            item.ready.clone(),
            item.status.clone(),
            item.found_at.as_deref().map(|at| now.age(at)).unwrap_or_default(),
            item.reference.clone(),
        ]
    };
    table(
        items.iter().map(row).collect(),
        &["NAMESPACE", "NAME", "URL", "READY", "STATUS", "AGE"],
        &["REF"],
        width,
    )
}

/// Places of manifests; wide, with all that was found in them.
pub(crate) fn manifests(items: &[ManifestSetItem], width: Width) -> String {
    if items.is_empty() {
        return "No manifests found.\n".to_owned();
    }
    let row = |item: &ManifestSetItem| {
        vec![
            item.name.clone(),
            item.ready.clone(),
            item.errors.to_string(),
            item.warnings.to_string(),
            item.status.clone(),
            item.notices.to_string(),
            item.snapshot.to_string(),
        ]
    };
    let heading = ["MANIFESTS", "READY", "ERRORS", "WARNINGS", "STATUS"];
    let mut text = table(items.iter().map(row).collect(), &heading, &["NOTICES", "SNAPSHOT"], width);
    if width == Width::Wide {
        for item in items.iter().filter(|item| !item.findings.is_empty()) {
            let _ = writeln!(text, "\n{}:\n  {}", item.name, item.findings.join("\n  "));
        }
    }
    text
}

/// Messages that could not be handled.
pub(crate) fn dead_letters(items: &[DeadLetterItem], width: Width, now: Now) -> String {
    if items.is_empty() {
        return "No dead letters.\n".to_owned();
    }
    let row = |item: &DeadLetterItem| {
        let why = item.why.as_deref().unwrap_or("not known: the function's log says it");
        let texts = [&item.group, why, &item.id, &item.message].map(plain);
        let [group, why, id, message] = texts;
        vec![group, now.age(&item.since), why, id, message]
    };
    table(items.iter().map(row).collect(), &["WAKES", "AGE", "WHY"], &["ID", "MESSAGE"], width)
}

/// Runs.
pub(crate) fn runs(items: &[RunItem], width: Width, now: Now) -> String {
    if items.is_empty() {
        return "No runs found.\n".to_owned();
    }
    let row = |item: &RunItem| {
        vec![
            item.namespace.clone(),
            item.name.clone(),
            item.id.clone(),
            item.kind.clone(),
            item.state.clone(),
            item.changes.clone().unwrap_or_default(),
            now.age(&item.created_at),
            item.revision.clone(),
            item.because.clone(),
        ]
    };
    let heading = ["NAMESPACE", "NAME", "RUN", "KIND", "STATE", "CHANGES", "AGE"];
    table(items.iter().map(row).collect(), &heading, &["REVISION", "BECAUSE"], width)
}

/// Events.
pub(crate) fn events(items: &[EventItem], now: Now) -> String {
    if items.is_empty() {
        return "No events found.\n".to_owned();
    }
    let row = |item: &EventItem| {
        let short = item.r#type.trim_start_matches("dev.yuba.").to_owned();
        vec![
            now.age(&item.at),
            item.severity.clone(),
            short,
            format!("{}/{}", item.namespace, item.name),
            item.message.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    columns(&["AGE", "SEVERITY", "TYPE", "STACK", "MESSAGE"], &rows)
}

/// Entries of the audit trail.
pub(crate) fn audit(items: &[AuditEntry], width: Width) -> String {
    if items.is_empty() {
        return "No entries found.\n".to_owned();
    }
    let row = |AuditEntry { number, deed, hash, .. }: &AuditEntry| {
        let all = || "(all)".to_owned();
        let plan = |plan: &AuditedPlan| format!("{}@{}", plan.id, plan.content.short());
        vec![
            deed.at.to_string(),
            deed.stack.as_ref().map_or_else(all, ToString::to_string),
            deed.by.who.clone(),
            deed.by.from.clone(),
            deed.action.to_string(),
            deed.outcome.to_string(),
            detail(deed),
            number.to_string(),
            deed.run.map(|run| run.to_string()).unwrap_or_default(),
            deed.plan.as_ref().map(plan).unwrap_or_default(),
            deed.rule.clone(),
            deed.by.message.clone(),
            hash.short(),
        ]
    };
    let heading = ["AT", "STACK", "WHO", "FROM", "ACTION", "OUTCOME", "DETAIL"];
    let wide = ["NUMBER", "RUN", "PLAN", "RULES", "MESSAGE", "HASH"];
    table(items.iter().map(row).collect(), &heading, &wide, width)
}

fn detail(deed: &Deed) -> String {
    match deed.about.as_str() {
        "" => deed.detail.clone(),
        about => format!("{about}: {}", deed.detail),
    }
}

/// Providers of notifications.
pub(crate) fn providers(items: &[ProviderItem], width: Width, now: Now) -> String {
    if items.is_empty() {
        return "No providers found.\n".to_owned();
    }
    let age = |at: &Option<String>| at.as_deref().map(|at| now.age(at)).unwrap_or_default();
    let row = |item: &ProviderItem| {
        vec![
            item.namespace.clone(),
            item.name.clone(),
            item.r#type.clone(),
            item.ready.clone(),
            age(&item.last_success),
            item.status.clone(),
            item.pending.to_string(),
            item.given_up.to_string(),
            age(&item.last_error_at),
            item.last_error.clone().unwrap_or_default(),
        ]
    };
    let heading = ["NAMESPACE", "NAME", "TYPE", "READY", "LAST SUCCESS", "STATUS"];
    let wide = ["PENDING", "GIVEN UP", "FAILED", "LAST ERROR"];
    table(items.iter().map(row).collect(), &heading, &wide, width)
}

/// Tokens.
pub(crate) fn tokens(items: &[TokenItem]) -> String {
    if items.is_empty() {
        return "No tokens found.\n".to_owned();
    }
    let row = |item: &TokenItem| {
        vec![
            plain(&item.name),
            item.scope.clone(),
            item.labels.clone().unwrap_or_else(|| "all stacks".to_owned()),
            item.r#for.clone().unwrap_or_default(),
            item.state.clone(),
            item.expires_at.clone(),
            plain(&item.by.who),
        ]
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    columns(&["NAME", "SCOPE", "STACKS", "FOR", "STATE", "EXPIRES", "BY"], &rows)
}

/// Secrets and config maps.
pub(crate) fn secrets(items: &[SecretItem]) -> String {
    if items.is_empty() {
        return "None found; `yuba secret set` writes them.\n".to_owned();
    }
    let row = |item: &SecretItem| vec![item.namespace.clone(), item.name.clone(), item.keys.join(", ")];
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    columns(&["NAMESPACE", "NAME", "KEYS"], &rows)
}

/// Outputs.
pub(crate) fn outputs(items: &[Output]) -> String {
    if items.is_empty() {
        return "No outputs.\n".to_owned();
    }
    let row = |item: &Output| {
        let value = match &item.value {
            Some(serde_json::Value::String(text)) => shortened(text),
            Some(other) => shortened(&other.to_string()),
            None => "(sensitive; --reveal shows it)".to_owned(),
        };
        vec![item.name.clone(), value]
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    columns(&["NAME", "VALUE"], &rows)
}

/// How many characters of a value a table shows.
const MOST_OF_A_VALUE: usize = 200;

fn shortened(value: &str) -> String {
    match value.char_indices().nth(MOST_OF_A_VALUE) {
        Some((end, _)) => {
            let (beginning, count) = (value.get(..end).unwrap_or_default(), value.chars().count());
            format!("{beginning}… ({count} characters; -o json shows all)")
        }
        None => value.to_owned(),
    }
}

/// What a stack manages.
pub(crate) fn inventory(items: &[InventoryEntry]) -> String {
    if items.is_empty() {
        return "It manages nothing.\n".to_owned();
    }
    let row = |item: &InventoryEntry| {
        vec![item.address.clone(), item.r#type.clone(), item.id.clone().unwrap_or_default()]
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    columns(&["ADDRESS", "TYPE", "ID"], &rows)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use yuba_core::time::Timestamp;

    use super::*;

    #[test]
    fn stacks_stand_in_kubectls_columns() {
        let stack = StackItem {
            namespace: "flux-system".to_owned(),
            name: "network".to_owned(),
            ready: "False".to_owned(),
            state: "drifted".to_owned(),
            status: "Drift detected: 3 resources".to_owned(),
            revision: Some("main@sha1:ab".to_owned()),
            plan: None,
            run: None,
            suspended: false,
            drift: 3,
            source: None,
            path: Some("net".to_owned()),
            labels: BTreeMap::new(),
            vanished: false,
            created_at: "2026-11-30T08:25:57Z".to_owned(),
            updated_at: "2026-11-30T08:25:57Z".to_owned(),
        };
        let now = Now(Timestamp(1_796_027_157_000 + 312_000));
        insta::assert_snapshot!(stacks(std::slice::from_ref(&stack), Width::Narrow, now), @r"
        NAMESPACE     NAME      READY   STATUS                        AGE
        flux-system   network   False   Drift detected: 3 resources   5m12s
        ");
        insta::assert_snapshot!(stacks(&[stack], Width::Wide, now), @r"
        NAMESPACE     NAME      READY   STATUS                        AGE     STATE     REVISION       PATH
        flux-system   network   False   Drift detected: 3 resources   5m12s   drifted   main@sha1:ab   net
        ");
        insta::assert_snapshot!(stacks(&[], Width::Wide, now), @"No stacks found.");
    }

    #[test]
    fn manifests_show_the_first_error_and_wide_all_that_was_found() {
        let set = ManifestSetItem {
            name: "flux".to_owned(),
            ready: "False".to_owned(),
            status: "a.yaml:8:3: error: spec.x: no such field".to_owned(),
            errors: 1,
            warnings: 1,
            notices: 0,
            snapshot: 3,
            findings: vec![
                "a.yaml:8:3: error: spec.x: no such field".to_owned(),
                "b.yaml:1:1: warning: w".to_owned(),
            ],
            due: None,
        };
        insta::assert_snapshot!(manifests(std::slice::from_ref(&set), Width::Narrow), @r"
        MANIFESTS   READY   ERRORS   WARNINGS   STATUS
        flux        False   1        1          a.yaml:8:3: error: spec.x: no such field
        ");
        insta::assert_snapshot!(manifests(&[set], Width::Wide), @r"
        MANIFESTS   READY   ERRORS   WARNINGS   STATUS                                     NOTICES   SNAPSHOT
        flux        False   1        1          a.yaml:8:3: error: spec.x: no such field   0         3

        flux:
          a.yaml:8:3: error: spec.x: no such field
          b.yaml:1:1: warning: w
        ");
    }

    #[test]
    fn dead_letters_say_why_and_wide_what_they_are() {
        let letter = |why: Option<&str>| DeadLetterItem {
            id: "7".to_owned(),
            group: "source#infra/live".to_owned(),
            since: "2026-11-30T08:25:57Z".to_owned(),
            why: why.map(str::to_owned),
            message: "{}".to_owned(),
        };
        let now = Now(Timestamp(1_796_027_157_000 + 312_000));
        let letters = [letter(Some("it breaks\noff")), letter(None)];
        insta::assert_snapshot!(dead_letters(&letters, Width::Narrow, now), @r"
        WAKES               AGE     WHY
        source#infra/live   5m12s   it breaks\noff
        source#infra/live   5m12s   not known: the function's log says it
        ");
        insta::assert_snapshot!(dead_letters(&letters[..1], Width::Wide, now), @r"
        WAKES               AGE     WHY              ID   MESSAGE
        source#infra/live   5m12s   it breaks\noff   7    {}
        ");
        insta::assert_snapshot!(dead_letters(&[], Width::Wide, now), @"No dead letters.");
    }

    #[test]
    fn providers_show_why_they_are_not_ready_and_wide_what_waits() {
        let provider = ProviderItem {
            namespace: "infra".to_owned(),
            name: "chat".to_owned(),
            r#type: "slack".to_owned(),
            ready: "False".to_owned(),
            status: "Slack says `invalid_auth`".to_owned(),
            last_success: Some("2026-11-30T08:25:57Z".to_owned()),
            last_error: Some("Slack says `invalid_auth`".to_owned()),
            last_error_at: Some("2026-11-30T08:30:57Z".to_owned()),
            held_until: None,
            pending: 2,
            given_up: 0,
        };
        let now = Now(Timestamp(1_796_027_157_000 + 312_000));
        insta::assert_snapshot!(providers(std::slice::from_ref(&provider), Width::Narrow, now), @r"
        NAMESPACE   NAME   TYPE    READY   LAST SUCCESS   STATUS
        infra       chat   slack   False   5m12s          Slack says `invalid_auth`
        ");
        insta::assert_snapshot!(providers(&[provider], Width::Wide, now), @r"
        NAMESPACE   NAME   TYPE    READY   LAST SUCCESS   STATUS                      PENDING   GIVEN UP   FAILED   LAST ERROR
        infra       chat   slack   False   5m12s          Slack says `invalid_auth`   2         0          12s      Slack says `invalid_auth`
        ");
    }

    #[test]
    fn a_long_output_is_cut_and_says_so() {
        let output = |value: &str| Output {
            name: "ca".to_owned(),
            sensitive: false,
            value: Some(serde_json::Value::String(value.to_owned())),
        };
        let shown = outputs(&[output(&"ü".repeat(70_000))]);
        assert!(shown.ends_with("ü… (70000 characters; -o json shows all)\n"), "{shown}");
        insta::assert_snapshot!(outputs(&[output("short")]), @r"
        NAME   VALUE
        ca     short
        ");
        insta::assert_snapshot!(outputs(&[]), @"No outputs.");
    }

    #[test]
    fn a_pause_says_who_when_why_and_how_it_ends() {
        let by = |message: &str| SignedView {
            who: "ada".to_owned(),
            at: "2026-11-30T08:25:57Z".to_owned(),
            from: "cli".to_owned(),
            message: message.to_owned(),
        };
        insta::assert_snapshot!(paused(&by("Incident 7")), @"paused by ada at 2026-11-30T08:25:57Z (Incident 7): no new apply starts; `yuba unpause --all` lets them start again");
        insta::assert_snapshot!(paused(&by("")), @"paused by ada at 2026-11-30T08:25:57Z: no new apply starts; `yuba unpause --all` lets them start again");
    }
}
