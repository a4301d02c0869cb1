//! Every recorded plan is summarised right or refused clearly.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

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
    insta::assert_snapshot!(table.join("\n"), @"
    P001 1 to add, 0 to change, 0 to destroy [new]
    P003 0 to add, 1 to change, 0 to destroy []
    P005 3 to add, 0 to change, 0 to destroy; 1 output [new]
    P007 0 to add, 0 to change, 0 to destroy [unchanged]
    P009 2 to add, 0 to change, 0 to destroy; 1 output [new]
    P011 4 to add, 0 to change, 0 to destroy; 1 output [new]
    P013 0 to add, 1 to change, 0 to destroy; 1 to move []
    P015 1 to add, 0 to change, 0 to destroy [new]
    P017 10 to add, 0 to change, 0 to destroy [new]
    P019 1 to add, 0 to change, 0 to destroy; 1 output [new]
    P021 3 to add, 0 to change, 0 to destroy; 1 to read [new]
    P023 0 to add, 2 to change, 0 to destroy [drifted]
    P025 0 to add, 1 to change, 0 to destroy []
    P027 0 to add, 0 to change, 1 to destroy []
    P029 1 to move []
    P031 0 to add, 0 to change, 0 to destroy [unchanged]
    P033 0 to add, 1 to change, 0 to destroy []
    P035 1 to add, 0 to change, 1 to destroy []
    P037 0 to add, 1 to change, 0 to destroy []
    P039 2 to add, 0 to change, 0 to destroy [drifted]
    P041 0 to add, 0 to change, 0 to destroy [unchanged]
    P047 0 to add, 1 to change, 0 to destroy []
    P049 7 to add, 0 to change, 0 to destroy; 8 outputs [new]
    P051 1 to invoke [new]
    P053 7 to add, 0 to change, 0 to destroy; 1 to read, 8 outputs [new]
    P055 8 outputs []
    P057 0 to add, 1 to change, 0 to destroy; 1 to import []
    P059 8 outputs []
    P061 REFUSED the plan JSON is damaged; make it anew with `show -json FILE`: trailing characters at line 676 column 29
    P063 2 to add, 0 to change, 2 to destroy []
    P065 1 to forget []
    P067 1 to add, 0 to change, 0 to destroy; 1 output [new]
    P069 300 to add, 0 to change, 0 to destroy [new]
    P071 REFUSED plan format `test_format_version` is unknown; formats 0.x and 1.x are read: update Yuba, or use an older engine
    P073 0 to add, 0 to change, 1 to destroy []
    P075 1 to add, 0 to change, 1 to destroy []
    P077 0 to add, 2 to change, 0 to destroy []
    P079 0 to add, 0 to change, 5 to destroy []
    P081 2 to add, 1 to change, 1 to destroy []
    P083 2 outputs [new]
    P085 1 to add, 0 to change, 0 to destroy; 2 outputs [new]
    P087 1 to add, 0 to change, 0 to destroy [new]
    P089 REFUSED this is UTF-16, plan JSON is UTF-8: in PowerShell write it with `| Out-File -Encoding utf8`
    P091 0 to add, 0 to change, 0 to destroy [unchanged new]
    P093 1 to add, 0 to change, 0 to destroy; 1 to read [new]
    P095 1 to add, 0 to change, 0 to destroy [new]
    P097 2 to add, 4 to change, 0 to destroy; 1 output []
    P099 1 to add, 0 to change, 0 to destroy; 5 outputs [new]
    P101 23 to add, 0 to change, 0 to destroy [new]
    P103 2 outputs []
    P105 3 to add, 0 to change, 0 to destroy; 1 to read [new]
    P107 3 to add, 0 to change, 0 to destroy [new]
    P109 1 to add, 0 to change, 0 to destroy [drifted]
    P111 0 to add, 0 to change, 0 to destroy [unchanged new]
    P113 1 to add, 1 to change, 0 to destroy []
    P115 0 to add, 0 to change, 0 to destroy [unchanged drifted]
    P117 0 to add, 0 to change, 0 to destroy [unchanged drifted]
    P119 3 to add, 0 to change, 0 to destroy [drifted]
    P121 0 to add, 1 to change, 0 to destroy [drifted]
    P123 REFUSED these are the log lines of a wrapper around terraform (`[command]…`), not plan JSON: set `terraform_wrapper: false`
    P125 0 to add, 0 to change, 1 to destroy []
    P127 0 to add, 2 to change, 0 to destroy []
    P129 2 to add, 0 to change, 0 to destroy []
    P133 1 to add, 0 to change, 0 to destroy [new]
    P135 2 to add, 0 to change, 0 to destroy; 3 outputs [new]
    ");
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
