//! Every recorded plan is summarised right or refused clearly.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use yuba_core::plan::{PlanRead, ReadPlanError, read};

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures").join(folder);
    let entries = fs::read_dir(&root).unwrap_or_else(|error| {
        panic!(
            "the folder shared/fixtures/{folder} must lie beside the repository, at {}: {error}",
            root.display()
        )
    });
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn line(outcome: &Result<PlanRead, ReadPlanError>) -> String {
    let read = match outcome {
        Ok(read) => read,
        Err(error) => {
            let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
            return format!("REFUSED {error}{source}");
        }
    };
    let plan = &read.summary;
    let flags = [
        (!plan.has_changes, "unchanged"),
        (plan.errored, "errored"),
        (read.state_was_empty, "new"),
        (plan.counts.drift > 0, "drifted"),
    ];
    let flags: Vec<&str> = flags.iter().filter(|(set, _)| *set).map(|(_, flag)| *flag).collect();
    format!("{} [{}]", plan.counts.sentence(), flags.join(" "))
}

#[test]
fn every_recorded_plan_is_summarised_right_or_refused_clearly() {
    let mut table = Vec::new();
    for path in fixtures("plans") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with('P') {
            table.push(format!("{} {}", &name[..4], line(&read(fs::File::open(&path).unwrap()))));
        }
    }
    assert_eq!(table.len(), 65);
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn generated_plans_agree_with_what_terraform_said() {
    for case in fixtures("generated-plans").into_iter().filter(|path| path.is_dir()) {
        let plan = read(fs::File::open(case.join("plan.json")).unwrap()).unwrap().summary;
        let code = fs::read_to_string(case.join("detailed-exitcode")).unwrap();
        assert_eq!(plan.has_changes, code.trim() == "2", "{}", case.display());
        let text = fs::read_to_string(case.join("plan.txt")).unwrap();
        let Some(said) = text.lines().find_map(|line| line.strip_prefix("Plan: ")) else { continue };
        let counts = plan.counts;
        let ours = format!(
            "{} to add, {} to change, {} to destroy.",
            counts.added(),
            counts.update,
            counts.destroyed()
        );
        assert!(said.ends_with(&ours), "{}: {said}", case.display());
    }
}
