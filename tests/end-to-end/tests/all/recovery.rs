//! What a person does about a state that could not be saved, a lock nobody lets go of, and a task that is told to stop.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use yuba_end_to_end::{Refuses, StateBackend, World};
use yuba_toy_cloud::{Control, Event};

use crate::network;

/// A network, and a bucket that is made after it.
pub(crate) fn two(name: &str) -> String {
    format!(
        "{}\nresource \"toy_bucket\" \"second\" {{\n  name       = \"second\"\n  depends_on = [toy_network.this]\n}}\n",
        network(name, "one")
    )
}

pub(crate) fn control(json: &str) -> Control {
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_state_that_could_not_be_saved_is_kept_and_pushed_by_recover() {
    let mut world = World::new();
    let backend = StateBackend::start();
    world.stack("dev", &network("dev", "one"), &backend.spec());
    world.begin();
    world.wait("dev", "awaiting-approval");
    backend.refuse_writes(Refuses::Yes);
    world.yuba(&["approve", "dev"]).ok();
    world.wait("dev", "failed");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-dev"], "it was made");
    assert_eq!(backend.state(), "", "and nobody knows");
    let run = world.run_ids("dev").remove(0);
    let says = format!("yuba recover {run}");
    let shown = world.yuba(&["show", "run", "dev"]).ok();
    assert!(shown.contains(&says) && shown.contains("errored.tfstate"), "{shown}");
    assert!(world.get("dev")["status"].to_string().contains(&says), "{}", world.get("dev"));
    world.repository.replace("stacks/dev/main.tf", "\"one\"", "\"two\"");
    world.repository.push("A change that must not be planned without that state");
    world.until("the push was seen", || {
        world.yuba(&["get", "sources", "-o", "json"]).ok().contains(&world.repository.head())
    });
    assert_eq!(world.states("dev"), ["failed"]);
    world.repository.replace("stacks/dev/main.tf", "\"two\"", "\"one\"");
    world.repository.push("Back");
    let replans = world.yuba(&["recover", &run]);
    assert_eq!(replans.code, 64, "nobody can be asked: {}", replans.out);
    assert!(replans.out.contains("1 resource\n    toy_network.this\n"), "{}", replans.out);
    let told = world.yuba(&["recover", &run, "--yes", "-o", "json"]).ok();
    assert!(told.contains("it pushes the state that") && told.contains(r#""outcome": "done""#), "{told}");
    world.until("the push was tried", || world.states("dev").len() > 2);
    backend.refuse_writes(Refuses::No);
    world.wait("dev", "unchanged");
    assert!(backend.state().contains("net-dev"), "{}", backend.state());
    assert!(yuba_toy_cloud::repeats(&world.cloud.journal().unwrap()).is_empty(), "nothing was made twice");
    let outputs = world.yuba(&["outputs", "dev"]).ok();
    assert!(outputs.contains("net-dev"), "what the plan saw is known: {outputs}");
}

#[test]
fn a_lock_that_nobody_lets_go_of_is_named_and_released_by_unlock() {
    let mut world = World::new();
    let backend = StateBackend::start();
    backend.lock(
        r#"{"ID": "7f-1", "Operation": "OperationTypeApply", "Info": "", "Who": "ann@laptop", "Version": "1.11.4",
            "Created": "2026-11-30T08:00:00Z", "Path": ""}"#,
    );
    world.stack("dev", &network("dev", "one"), &format!("approvePlan: auto\n{}", backend.spec()));
    world.begin();
    world.wait("dev", "failed");
    let status = world.get("dev")["status"].to_string();
    assert!(status.contains("Terraform Locked with Lock Identifier: 7f-1"), "{status}");
    // While it is tried again by itself, a try that is out may hold the lock, and unlocking is refused.
    world.until("the lock is released", || world.yuba(&["unlock", "dev", "--lock", "7f-1"]).code == 0);
    world.wait("dev", "applied");
    assert!(backend.state().contains("net-dev"), "{}", backend.state());
}

#[test]
fn a_task_that_is_told_to_stop_saves_its_state_and_reports_when_the_server_is_back() {
    let mut world = World::new();
    world.stack("dev", &two("dev"), "");
    world.cloud.set_control(&control(r#"{"hold": {"create": ["toy_bucket.second"]}}"#)).unwrap();
    world.begin();
    world.wait("dev", "awaiting-approval");
    world.yuba(&["approve", "dev"]).ok();
    // Between the two halves nothing would be held, and the second never begun.
    world.until("the second half is held", || {
        world.cloud.journal().unwrap().iter().any(|entry| entry.type_name == "toy_bucket")
    });
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-dev"], "the first half is made");
    let runner = world.runner("apply");
    world.kill();
    kill_process(runner, Signal::TERM).unwrap();
    world.until("the held call has ended", || {
        world.cloud.journal().unwrap().iter().any(|entry| entry.event == Event::Failed)
    });
    world.cloud.set_control(&Control::default()).unwrap();
    world.start();
    let run = world.run_ids("dev").remove(0);
    world.until("its end is reported", || world.states("dev").first().is_some_and(|state| state == "failed"));
    let shown = world.yuba(&["show", "run", &run]).ok();
    assert!(shown.contains("the task was told to stop (SIGTERM)"), "{shown}");
    world.wait("dev", "awaiting-approval");
    let plan = world.yuba(&["show", "plan", "dev"]).ok();
    assert!(plan.contains("toy_bucket.second") && !plan.contains("toy_network.this"), "{plan}");
    world.yuba(&["approve", "dev"]).ok();
    world.wait("dev", "applied");
    assert!(yuba_toy_cloud::repeats(&world.cloud.journal().unwrap()).is_empty(), "nothing was made twice");
}

#[test]
fn what_an_engine_leaves_behind_ends_with_its_phase() {
    let mut world = World::new();
    let (plan, apply) = (world.dir().join("plan.pid"), world.dir().join("apply.pid"));
    // Plan's daemon would change Yuba's copy of the plan file as soon as there is one.
    let daemon = format!(
        "echo $$ > {}; while :; do test -e ../../../plan.tfplan && echo x >> ../../../plan.tfplan; sleep 0.01; done",
        plan.display()
    );
    // Neither phase ends before its daemon lives.
    let lives = |file: &Path| format!("until test -s {}; do sleep 0.01; done", file.display());
    let begin = format!("(setsid sh -c '{daemon}' &); {}", lives(&plan));
    world.around_engine(&format!("if [ \"$1\" = plan ]; then {begin}; fi"));
    let code = format!(
        "resource \"terraform_data\" \"a\" {{\n  provisioner \"local-exec\" {{\n    command = \"setsid sh -c 'echo $$ > {}; exec \
         sleep 600' </dev/null >/dev/null 2>&1 & {}\"\n  }}\n}}\n",
        apply.display(),
        lives(&apply)
    );
    world.stack("dev", &code, "approvePlan: auto");
    world.begin();
    world.wait("dev", "applied");
    for file in [plan, apply] {
        let left = pid(&file);
        assert!(test_kill_process(left).is_err(), "{} lives on", file.display());
    }
}

#[test]
fn what_plan_takes_away_or_puts_in_its_place_is_so_at_apply() {
    let mut world = World::new();
    world.around_engine(
        "if [ \"$1\" = plan ]; then rm -r doomed doomed.txt; mkdir doomed.txt; echo new > doomed.txt/made; echo file > doomed; fi
if [ \"$1\" = apply ]; then [ -f doomed ] && [ -f doomed.txt/made ] && [ ! -e gone ] && [ -f kept ] || exit 9; fi
if [ \"$1\" = plan ]; then rm gone; fi",
    );
    world.stack("dev", &network("dev", "one"), "approvePlan: auto");
    for file in ["doomed/a/b", "doomed/c", "doomed.txt", "gone", "kept"] {
        world.repository.write(&format!("stacks/dev/{file}"), "x");
    }
    world.begin();
    world.wait("dev", "applied");
}

#[test]
fn an_output_that_does_not_exist_is_shown_where_people_look() {
    let mut world = World::new();
    world.stack(
        "dev",
        &network("dev", "one"),
        "approvePlan: auto\nwriteOutputsToSecret: {name: out, outputs: [network_id, vpc]}",
    );
    world.begin();
    world.wait("dev", "applied");
    let refused = "Outputs were not written to secret infra/out: output not found: vpc";
    world.until("it is shown", || world.get("dev")["status"].to_string().contains(refused));
    assert_eq!(world.get("dev")["ready"], "False", "{}", world.get("dev"));
    world.repository.replace("flux/dev.yaml", ", vpc]", "]");
    world.repository.push("Mend");
    world.until("it is written", || world.yuba(&["secret", "list"]).ok().contains("network_id"));
    world.until("and shown", || !world.get("dev")["status"].to_string().contains("not written"));
}

/// The process that wrote its id into a file.
pub(crate) fn pid(file: &Path) -> Pid {
    let text = fs::read_to_string(file).unwrap();
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}
