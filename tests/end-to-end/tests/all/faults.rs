//! What people get wrong, and what breaks.

use yuba_end_to_end::World;
use yuba_toy_cloud::Control;

use crate::network;

#[test]
fn code_that_does_not_parse_fails_with_its_place_and_waits_for_new_input() {
    let mut world = World::new();
    world.stack("dev", "resource \"toy_network\" {\n", "approvePlan: auto");
    world.begin();
    world.wait("dev", "failed");
    let status = world.get("dev")["status"].to_string();
    assert!(status.contains("main.tf"), "{status}");
    world.repository.write(
        "stacks/dev/main.tf",
        &format!(
            "terraform {{\n  required_providers {{\n    toy = {{ source = \"yuba/toy\" }}\n  }}\n}}\n{}",
            network("dev", "one")
        ),
    );
    world.repository.push("Mend");
    world.wait("dev", "applied");
}

#[test]
fn a_missing_path_and_a_module_outside_the_repository_are_named() {
    let mut world = World::new();
    world.stack("outside", "module \"x\" {\n  source = \"../../../elsewhere\"\n}\n", "approvePlan: auto");
    world.stack("gone", &network("gone", "one"), "approvePlan: auto");
    std::fs::remove_dir_all(world.repository.work().join("stacks/gone")).unwrap();
    world.begin();
    world.wait("outside", "failed");
    world.wait("gone", "failed");
    let (outside, gone) =
        (world.get("outside")["status"].to_string(), world.get("gone")["status"].to_string());
    assert!(outside.contains("elsewhere"), "{outside}");
    assert!(gone.contains("stacks/gone"), "{gone}");
}

#[test]
fn a_link_that_leaves_the_repository_fails_the_stack_it_belongs_to_and_no_other() {
    let mut world = World::new();
    world.stack("with", &network("with", "one"), "approvePlan: auto");
    world.stack("without", &network("without", "one"), "approvePlan: auto");
    let link = world.repository.work().join("stacks/with/secrets");
    std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
    world.begin();
    world.wait("without", "applied");
    world.wait("with", "failed");
    let named = "stacks/with/secrets: the link leaves the repository (to `/etc/passwd`)";
    let status = world.get("with")["status"].to_string();
    assert!(status.contains(named), "{status}");
    let (log, run) = (world.yuba(&["logs", "without"]).ok(), world.yuba(&["show", "run", "without"]).ok());
    let left_out = format!("a link of the repository was left out: {named}");
    assert!(log.contains(&left_out), "{log}");
    assert!(run.contains(&left_out), "{run}");
    std::fs::remove_file(&link).unwrap();
    world.repository.push("Mend");
    world.wait("with", "applied");
}

#[test]
fn an_apply_that_fails_half_way_keeps_its_state_and_the_next_run_recovers() {
    let mut world = World::new();
    let code = format!(
        "{}\nresource \"toy_bucket\" \"second\" {{\n  name       = \"second\"\n  depends_on = [toy_network.this]\n}}\n",
        network("dev", "one")
    );
    world.stack("dev", &code, "approvePlan: auto");
    let control = r#"{"fail": {"create": {"toy_bucket.second": "no room"}}}"#;
    world.cloud.set_control(&serde_json::from_str::<Control>(control).unwrap()).unwrap();
    world.begin();
    world.wait("dev", "failed");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-dev"], "the first half was made");
    let shown = world.yuba(&["show", "run", "dev"]).ok();
    assert!(shown.contains("no room"), "{shown}");
    world.cloud.set_control(&Control::default()).unwrap();
    world.wait("dev", "applied");
    let repeats = yuba_toy_cloud::repeats(&world.cloud.journal().unwrap());
    assert!(repeats.is_empty(), "nothing was made twice: {repeats:?}");
}

#[test]
fn a_secret_is_masked_wherever_people_look() {
    let mut world = World::new();
    let code = "variable \"password\" {\n  type = string\n}\n\nresource \"toy_network\" \"this\" {\n  name        = \"dev\"\n  cidr        = \"10.0.0.0/16\"\n  description = var.password\n}\n";
    world.stack("dev", code, "varsFrom: [{kind: Secret, name: db}]");
    world.begin();
    world.wait("dev", "failed");
    world.yuba(&["secret", "set", "infra/db", "password=correct horse battery"]).ok();
    world.wait("dev", "awaiting-approval");
    for command in [&["show", "plan", "dev"][..], &["logs", "dev"], &["describe", "dev"]] {
        let shown = world.yuba(command).ok();
        assert!(!shown.contains("correct horse"), "{command:?} shows the secret:\n{shown}");
    }
}

#[test]
fn what_has_the_shape_of_a_secret_is_masked_though_nobody_named_it() {
    let mut world = World::new();
    let token = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");
    let key = ["-----BEGIN RSA PRIVATE", "KEY-----"].join(" ");
    let printed = format!("{key}\\nMIIEowIBAAKCAQEA1\\n-----END RSA PRIVATE KEY-----\\n");
    let code = format!(
        "{}\nresource \"terraform_data\" \"a\" {{\n  input = {{ token = \"{token}\" }}\n  provisioner \"local-exec\" {{\n    \
         command = \"printf -- '{printed}'; echo {token}\"\n  }}\n}}\n",
        network("dev", "postgres://app:hunter2@db/x")
    );
    world.stack("dev", &code, "approvePlan: auto");
    world.begin();
    world.wait("dev", "applied");
    let run = world.run_ids("dev").remove(0);
    let plan = world.yuba(&["show", "plan", &run]).ok();
    assert!(plan.contains("postgres://app:(sensitive value)@db/x"), "{plan}");
    let log = world.yuba(&["logs", "dev"]).ok();
    assert!(log.contains("BEGIN RSA PRIVATE"), "{log}");
    let secrets = ["16C7e42F", "hunter2", "MIIEowIBAAK"];
    let mut looked_at = 0;
    for (path, text) in stored(&world.dir().join("data/objects/runs")) {
        let is_shown =
            ["log", "plan.json", "plan.txt", "summary.json"].iter().any(|name| path.contains(name));
        looked_at += usize::from(is_shown);
        let leaked = secrets.iter().find(|secret| is_shown && text.contains(*secret));
        assert_eq!(leaked, None, "{path}: {text}");
    }
    assert!(looked_at >= 6, "{looked_at}");
}

#[test]
fn bytes_that_are_no_text_spoil_neither_log_nor_plan() {
    let mut world = World::new();
    world.around_engine(
        "case \"$1\" in init|plan|apply) printf 'caf\\351 \\377\\376\\n'; printf 'err\\200\\n' >&2;; esac",
    );
    let code = "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"printf 'x\\\\377y\\\\000z\\\\033[31m\\\\n'\"\n  }\n}\n";
    world.stack("dev", code, "approvePlan: auto");
    world.begin();
    world.wait("dev", "applied");
    let log = world.yuba(&["logs", "dev"]).ok();
    for part in ["caf\u{fffd} \u{fffd}\u{fffd}\n", "err\u{fffd}\n", "x\u{fffd}y"] {
        assert!(log.contains(part), "{part:?}: {log:?}");
    }
    assert!(world.yuba(&["show", "plan", "dev"]).ok().contains("terraform_data.a"));
    for what in ["stacks", "runs", "events"] {
        let listed = world.yuba(&["get", what, "-o", "json"]).ok();
        serde_json::from_str::<serde_json::Value>(&listed).unwrap();
    }
}

/// All files below a directory, as text.
fn stored(directory: &std::path::Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(stored(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            found.push((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    found
}
