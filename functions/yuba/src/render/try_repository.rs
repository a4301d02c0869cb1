//! What `yuba try` says.

use std::fmt::Write as _;

use serde_json::{Value, json};
use yuba_core::manifest::Severity;
use yuba_git::history::PathChange;

use super::columns;
use super::words::{count, few, plain};
use crate::commands::try_repository::{BackendNamed, CommitSeen, Effect, Origin, StackSeen, Touched, Trial};

/// How many stacks of one commit, and reasons of one stack, are listed for people. Programs get all.
const MOST_LISTED: usize = 8;

/// The stacks, the commits, the problems.
pub(crate) fn text(trial: &Trial) -> String {
    let mut text = heading(trial);
    text.push_str(&stacks(trial));
    text.push_str(&elsewhere(trial));
    text.push_str(&not_read_yet(trial));
    text.push_str(&commits(trial));
    text.push_str(&problems(trial));
    text.push_str("\nOnly commits were read: nothing was changed, locked or run, and uncommitted files were not looked at.\n");
    text
}

fn heading(trial: &Trial) -> String {
    let origin = match trial.origin {
        Origin::Manifests(_) => "from its manifests",
        Origin::RootModules if trial.elsewhere.is_empty() => {
            "no manifests; each root module that was found is taken as one"
        }
        Origin::RootModules => {
            "no manifest names a directory here; each root module that was found is taken as one"
        }
    };
    let engines = if trial.engines.is_empty() {
        "neither tofu nor terraform".to_owned()
    } else {
        trial.engines.join(", ")
    };
    format!(
        "{} at {}: {} ({origin})\nOn the PATH: {engines}\n",
        trial.path,
        short(trial.head.as_str()),
        count(trial.stacks.len(), "stack"),
    )
}

fn short(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

fn stacks(trial: &Trial) -> String {
    if trial.stacks.is_empty() {
        return "\nNo stack: no manifest names a directory of this repository, and no root module was found.\n".to_owned();
    }
    let mut head = vec!["STACK", "PATH", "ENGINE", "WANTED", "BACKEND"];
    let mut rows: Vec<Vec<String>> = trial.stacks.iter().map(|stack| row(stack).to_vec()).collect();
    if trial.origin == Origin::RootModules {
        // There the name is the path.
        head.remove(1);
        for row in &mut rows {
            row.remove(1);
        }
    }
    let mut text = format!("\n{}", columns(&head, &rows));
    text.push_str(&not_applied(trial));
    text
}

fn row(stack: &StackSeen) -> [String; 5] {
    [
        stack.name.clone(),
        if stack.path.is_empty() { ".".to_owned() } else { stack.path.clone() },
        stack.engine.clone().unwrap_or_else(|| "none fits".to_owned()),
        if stack.engine_wanted.is_empty() { "any".to_owned() } else { stack.engine_wanted.join(", ") },
        backend(&stack.backend),
    ]
}

fn backend(backend: &BackendNamed) -> String {
    match backend {
        BackendNamed::ByManifest => "from the manifest".to_owned(),
        BackendNamed::ByCode(kind) => format!("{kind} (code)"),
        BackendNamed::Nowhere => "none".to_owned(),
        BackendNamed::Unknown => "unknown".to_owned(),
    }
}

fn not_applied(trial: &Trial) -> String {
    let mut text = String::new();
    for stack in trial.stacks.iter().filter(|stack| !stack.not_applied.is_empty()) {
        let _ = writeln!(text, "    {}: {}", stack.name, stack.not_applied.join(", "));
    }
    for stack in &trial.stacks {
        if let Some(why) = &stack.planned_only {
            let _ = writeln!(text, "    {} would be planned only: {why}", stack.name);
        }
    }
    let without: Vec<&str> = trial
        .stacks
        .iter()
        .filter(|stack| stack.backend == BackendNamed::Nowhere && !stack.state_is_new)
        .map(|stack| if stack.name == "." { "./" } else { &stack.name })
        .collect();
    if !text.is_empty() {
        text.insert_str(0, "\nNot applied yet:\n");
    }
    if !without.is_empty() {
        let _ = writeln!(
            text,
            "\nWithout a backend: {}. The state would be kept in Yuba's data directory, and without the annotation \
             `yuba.dev/state: new` the first plan would wait for `yuba adopt`, since the real state may lie elsewhere.",
            few(&without, MOST_LISTED)
        );
    }
    text
}

fn elsewhere(trial: &Trial) -> String {
    let mut text = String::new();
    if !trial.elsewhere.is_empty() {
        text.push_str("\nCode in another repository (try it there):\n");
    }
    for stack in &trial.elsewhere {
        let _ = writeln!(text, "    {} ({})", stack.name, stack.source);
    }
    if !trial.unnamed.is_empty() {
        let paths: Vec<&str> = trial.unnamed.iter().map(String::as_str).collect();
        let _ = writeln!(text, "\nRoot modules that no manifest names: {}", few(&paths, MOST_LISTED));
    }
    text
}

fn not_read_yet(trial: &Trial) -> String {
    let paths: Vec<&str> = trial.not_read_yet.iter().map(String::as_str).collect();
    match paths.as_slice() {
        [] => String::new(),
        paths => format!("\nSeen, and not read yet: {}\n", few(paths, 3)),
    }
}

fn commits(trial: &Trial) -> String {
    let mut text = format!("\nWhat the last {} would have planned:\n", count(trial.commits.len(), "commit"));
    for commit in &trial.commits {
        let _ = writeln!(text, "{} {}", short(commit.id.as_str()), plain(&commit.subject));
        text.push_str(&effect(trial, commit));
    }
    text
}

fn effect(trial: &Trial, commit: &CommitSeen) -> String {
    let mut text = String::new();
    match &commit.effect {
        Effect::Unknown => {
            text.push_str(
                "    cannot be told: its parent is not in this clone (fetch more of the history)\n",
            );
        }
        Effect::NothingFirst => {
            let _ = writeln!(text, "    nothing: {NOTHING_FIRST}");
        }
        Effect::Nothing(changed) => {
            let _ = writeln!(text, "    nothing: {}", why_nothing(changed));
        }
        Effect::Others(others) => {
            let _ = writeln!(text, "    {}", touches_others(trial, *others));
        }
        Effect::Touched(stacks) => {
            for stack in stacks.iter().take(MOST_LISTED) {
                text.push_str(&touched(stack));
            }
            text.push_str(&more(stacks.len(), "stack"));
        }
    }
    text
}

fn touched(stack: &Touched) -> String {
    let mut text = format!("    {}\n", stack.stack);
    for reason in stack.reasons.iter().take(MOST_LISTED) {
        let _ = writeln!(text, "        {reason}");
    }
    if stack.reasons.len() > MOST_LISTED {
        let _ = writeln!(text, "        and {} more", stack.reasons.len() - MOST_LISTED);
    }
    text
}

fn more(all: usize, word: &str) -> String {
    match all.saturating_sub(MOST_LISTED) {
        0 => String::new(),
        rest => format!("    and {} more (all: -o json)\n", count(rest, word)),
    }
}

/// Why the first commit of all would have planned nothing.
const NOTHING_FIRST: &str = "no plan depends on what it added";

fn why_nothing(changed: &[PathChange]) -> String {
    let paths: Vec<&str> = changed.iter().map(|change| change.path.as_str()).collect();
    if paths.is_empty() {
        return "no file differs from its first parent".to_owned();
    }
    format!("no plan depends on what changed in {}", few(&paths, 3))
}

fn touches_others(trial: &Trial, others: usize) -> String {
    format!("no stack below {}; {} elsewhere", trial.scope, count(others, "stack"))
}

fn problems(trial: &Trial) -> String {
    let of_stacks = trial
        .stacks
        .iter()
        .flat_map(|stack| stack.problems.iter().map(move |problem| of_stack(&stack.name, problem)));
    let errors = trial.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let all: Vec<String> = of_stacks.chain(errors.map(ToString::to_string)).collect();
    let warnings = trial.findings.iter().filter(|finding| finding.severity == Severity::Warning).count();
    let mut text = String::new();
    if all.is_empty() {
        text.push_str("\nNo problems.\n");
    } else {
        let _ = writeln!(text, "\nProblems:");
    }
    for problem in all.iter().take(5 * MOST_LISTED) {
        let _ = writeln!(text, "    {problem}");
    }
    if all.len() > 5 * MOST_LISTED {
        let _ = writeln!(text, "    and {} more (all: -o json)", all.len() - 5 * MOST_LISTED);
    }
    if warnings > 0 {
        let _ = writeln!(text, "Manifests: {}; `yuba validate` shows them.", count(warnings, "warning"));
    }
    text
}

/// A problem with its stack's name before it, once: the problem may begin with the stack's directory.
fn of_stack(name: &str, problem: &str) -> String {
    let begins = problem.strip_prefix(name).is_some_and(|rest| rest.starts_with(": "));
    if begins { problem.to_owned() } else { format!("{name}: {problem}") }
}

/// The same for programs, and in full.
pub(crate) fn json(trial: &Trial) -> Value {
    json!({
        "path": trial.path,
        "head": trial.head,
        "from": match trial.origin {
            Origin::Manifests(_) => "manifests",
            Origin::RootModules => "root-modules",
        },
        "engines": trial.engines,
        "items": trial.stacks.iter().map(stack_json).collect::<Vec<_>>(),
        "elsewhere": trial.elsewhere.iter().map(|stack| json!({"name": stack.name, "source": stack.source})).collect::<Vec<_>>(),
        "unnamed": trial.unnamed,
        "notReadYet": trial.not_read_yet,
        "commits": trial.commits.iter().map(|commit| commit_json(trial, commit)).collect::<Vec<_>>(),
        "findings": trial.findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn stack_json(stack: &StackSeen) -> Value {
    json!({
        "name": stack.name,
        "path": stack.path,
        "engine": stack.engine,
        "engineWanted": stack.engine_wanted,
        "backend": match &stack.backend {
            BackendNamed::ByManifest => json!({"from": "manifest"}),
            BackendNamed::ByCode(kind) => json!({"from": "code", "type": kind}),
            BackendNamed::Nowhere => Value::Null,
            BackendNamed::Unknown => json!({"from": "unknown"}),
        },
        "notAppliedYet": stack.not_applied,
        "plannedOnly": stack.planned_only,
        "problems": stack.problems,
    })
}

fn commit_json(trial: &Trial, commit: &CommitSeen) -> Value {
    let (stacks, nothing) = match &commit.effect {
        Effect::Touched(stacks) => (stacks.as_slice(), None),
        Effect::Nothing(changed) => (&[][..], Some(why_nothing(changed))),
        Effect::Others(others) => (&[][..], Some(touches_others(trial, *others))),
        Effect::NothingFirst => (&[][..], Some(NOTHING_FIRST.to_owned())),
        Effect::Unknown => (&[][..], Some("its parent is not in this clone".to_owned())),
    };
    let stacks: Vec<Value> =
        stacks.iter().map(|stack| json!({"name": stack.stack, "reasons": stack.reasons})).collect();
    json!({"id": commit.id, "subject": commit.subject, "stacks": stacks, "nothing": nothing})
}
