//! What takes too long, and tasks that are told to stop: the engine is interrupted once, and saves its state.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use yuba_end_to_end::{StateBackend, World, open_to_all};
use yuba_toy_cloud::{Control, repeats};

use crate::network;
use crate::recovery::{control, two};

#[test]
fn a_plan_that_takes_too_long_is_interrupted_and_says_so() {
    let mut world = World::new();
    world.stack("dev", &network("dev", "one"), "approvePlan: auto\ntimeout: 4s");
    world.cloud.set_control(&control(r#"{"hold": {"plan": ["toy_network.dev"]}}"#)).unwrap();
    world.begin();
    world.wait("dev", "failed");
    let status = world.get("dev")["status"].to_string();
    assert!(status.contains("the plan took longer than 4s and was interrupted"), "{status}");
    world.repository.replace("flux/dev.yaml", "timeout: 4s", "timeout: 1m");
    world.cloud.set_control(&Control::default()).unwrap();
    world.repository.push("Give it time");
    world.wait("dev", "applied");
}

#[test]
fn an_apply_that_takes_too_long_is_interrupted_and_its_state_is_saved() {
    let mut world = World::new();
    world.stack("dev", &two("dev"), "approvePlan: auto\napplyTimeout: 6s");
    let flux = "apiVersion: infra.contrib.fluxcd.io/v1alpha2\nkind: Terraform";
    world.repository.replace("flux/dev.yaml", flux, "apiVersion: yuba.dev/v1\nkind: Stack");
    world.cloud.set_control(&control(r#"{"hold": {"create": ["toy_bucket.second"]}}"#)).unwrap();
    world.begin();
    world.wait("dev", "failed");
    let status = world.get("dev")["status"].to_string();
    assert!(status.contains("the apply took longer than 6s and was interrupted"), "{status}");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-dev"], "the first half was made");
    world.cloud.set_control(&Control::default()).unwrap();
    world.wait("dev", "applied");
    assert!(repeats(&world.cloud.journal().unwrap()).is_empty(), "nothing was made twice");
}

#[test]
fn an_apply_that_does_not_stop_when_it_is_interrupted_is_killed_after_its_time_of_grace() {
    let mut world = World::new();
    world.kill_after("3s");
    let backend = StateBackend::start();
    world.stack("dev", &two("dev"), &format!("approvePlan: auto\napplyTimeout: 6s\n{}", backend.spec()));
    let flux = "apiVersion: infra.contrib.fluxcd.io/v1alpha2\nkind: Terraform";
    world.repository.replace("flux/dev.yaml", flux, "apiVersion: yuba.dev/v1\nkind: Stack");
    let hold = r#"{"hold": {"create": ["toy_bucket.second"]}, "ignore_stop": true}"#;
    world.cloud.set_control(&control(hold)).unwrap();
    world.begin();
    world.until("the run has failed", || world.states("dev").first().is_some_and(|state| state == "failed"));
    world.cloud.set_control(&Control::default()).unwrap();
    let run = world.run_ids("dev").remove(0);
    let shown = world.yuba(&["show", "run", &run]).ok();
    let why = "the apply took longer than 6s and was interrupted; it still ran 3s later and was killed: what it had changed";
    assert!(shown.contains(why), "{shown}");
    // Nobody was left to let go of the lock, nor to save the state.
    world.until("the lock is reported", || {
        world.get("dev")["status"].to_string().contains("Terraform Locked with Lock Identifier: ")
    });
    let status = world.get("dev")["status"].to_string();
    assert!(status.contains("held by "), "{status}");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-dev"]);
}

/// Puts an engine in the real one's place that notes each interruption before it hands it on. The file of its notes.
fn notes_interruptions(world: &World) -> PathBuf {
    let notes = world.dir().join("interruptions");
    fs::write(&notes, "").unwrap();
    open_to_all(&notes, 0o666);
    world.around_engine(&format!(
        "PATH=${{PATH#*:}}; engine=$(command -v \"${{0##*/}}\")
case \"$1\" in plan|apply) ;; *) exec \"$engine\" \"$@\";; esac
trap 'echo interrupted >> {}; kill -INT $child' INT
\"$engine\" \"$@\" & child=$!
while :; do wait $child; code=$?; kill -0 $child 2>/dev/null || exit $code; done",
        notes.display()
    ));
    notes
}

fn noted(notes: &Path) -> usize {
    fs::read_to_string(notes).unwrap().lines().count()
}

fn terminate(task: Pid) {
    kill_process(task, Signal::TERM).unwrap();
}

#[test]
fn a_plan_whose_task_is_told_to_stop_is_interrupted_and_reported() {
    let mut world = World::new();
    let notes = notes_interruptions(&world);
    let body = serde_json::json!({"id": "net-main", "name": "main", "cidr": "10.1.0.0/16"});
    world.cloud.create("toy_network", "net-main", body.as_object().unwrap()).unwrap();
    let data = "data \"toy_network\" \"main\" {\n  name = \"main\"\n}\n";
    world.stack("dev", &format!("{data}\n{}", network("dev", "one")), "");
    world.cloud.set_control(&control(r#"{"hold": {"read": ["data.toy_network.main"]}}"#)).unwrap();
    world.begin();
    // Engines lose an interruption that comes before they plan.
    let reads = "data.toy_network.main: ";
    world.until("the plan has begun", || world.yuba(&["logs", "dev"]).out.contains(reads));
    terminate(world.runner("plan"));
    world.until("the run has failed", || world.states("dev").first().is_some_and(|state| state == "failed"));
    assert_eq!(noted(&notes), 1);
    let shown = world.yuba(&["show", "run", &world.run_ids("dev").remove(0)]).ok();
    assert!(shown.contains("the task was told to stop (SIGTERM)"), "{shown}");
    world.cloud.set_control(&Control::default()).unwrap();
    world.wait("dev", "awaiting-approval");
}

#[test]
fn an_apply_that_is_told_to_stop_before_it_acts_does_not_go_through() {
    let mut world = World::new();
    let begun = world.dir().join("begun");
    // As engines do, it takes no notice of an interruption before it acts.
    world.around_engine(&format!(
        "PATH=${{PATH#*:}}; engine=$(command -v \"${{0##*/}}\")
[ \"$1\" = apply ] || exec \"$engine\" \"$@\"
trap : INT; sleep 3 & echo > {}; while kill -0 $! 2>/dev/null; do wait $!; done
trap 'kill -INT $child' INT; \"$engine\" \"$@\" & child=$!
while :; do wait $child; code=$?; kill -0 $child 2>/dev/null || exit $code; done",
        begun.display()
    ));
    world.stack("dev", &two("dev"), "approvePlan: auto");
    world.cloud.set_control(&control(r#"{"hold": {"create": ["toy_bucket.second"]}}"#)).unwrap();
    world.begin();
    world.until("the apply has begun", || begun.exists());
    terminate(world.runner("apply"));
    world.until("the run has failed", || world.states("dev").first().is_some_and(|state| state == "failed"));
    world.cloud.set_control(&Control::default()).unwrap();
    let run = world.run_ids("dev").remove(0);
    let shown = world.yuba(&["show", "run", &run]).ok();
    assert!(shown.contains("the task was told to stop (SIGTERM)"), "{shown}");
    world.wait("dev", "applied");
    assert!(repeats(&world.cloud.journal().unwrap()).is_empty(), "nothing was made twice");
}

#[test]
fn an_apply_whose_task_is_told_to_stop_twice_is_interrupted_once_and_saves_its_state() {
    let mut world = World::new();
    let notes = notes_interruptions(&world);
    world.stack("dev", &two("dev"), "approvePlan: auto");
    let hold = r#"{"hold": {"create": ["toy_network.dev"]}, "ignore_stop": true}"#;
    world.cloud.set_control(&control(hold)).unwrap();
    world.begin();
    world.until("the first half is being made", || !world.cloud.journal().unwrap().is_empty());
    let task = world.runner("apply");
    terminate(task);
    world.until("it is interrupted", || noted(&notes) > 0);
    terminate(task);
    world.cloud.set_control(&control(r#"{"hold": {"create": ["toy_bucket.second"]}}"#)).unwrap();
    world.until("the run has failed", || world.states("dev").first().is_some_and(|state| state == "failed"));
    assert_eq!(noted(&notes), 1);
    let shown = world.yuba(&["show", "run", &world.run_ids("dev").remove(0)]).ok();
    assert!(
        shown.contains(
            "the task was told to stop (SIGTERM); what had been changed by then stands in the state"
        ),
        "{shown}"
    );
    world.cloud.set_control(&Control::default()).unwrap();
    world.wait("dev", "applied");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-dev"]);
    assert!(repeats(&world.cloud.journal().unwrap()).is_empty(), "nothing was made twice");
}
