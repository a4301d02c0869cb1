//! Code from Git is another user where the server is root: what a hostile stack tries is refused. That each attempt would
//! succeed otherwise is shown by the same stack on a server that isolates nothing. `docs/security.md` lists the attempts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::{geteuid, test_kill_process};
use yuba_end_to_end::{World, open_to_all};
use yuba_toy_cloud::{Control, Event};

use crate::network;
use crate::recovery::{control, pid};

const ATTACK: &str = include_str!("attack.sh");

/// A world in which another stack applies, and goes on only when it is let.
fn beside_a_victim(mut world: World) -> World {
    assert!(
        geteuid().is_root(),
        "run this test as root: elsewhere nothing is isolated, and `yuba serve` says so"
    );
    fs::write(world.dir().join("notes"), "").unwrap();
    open_to_all(&world.dir().join("notes"), 0o666);
    world.stack("victim", &network("victim", "one"), "approvePlan: auto");
    world.cloud.set_control(&control(r#"{"hold": {"create": ["toy_network.victim"]}}"#)).unwrap();
    world.begin();
    world.yuba(&["secret", "set", "infra/prod", "password=hunter2"]).ok();
    world.until("the victim applies", || {
        world.cloud.journal().unwrap().iter().any(|entry| entry.event == Event::Begin)
    });
    world
}

/// The script, told where everything is.
fn script(world: &World, phase: &str) -> String {
    let victim = world.tasks().into_iter().next().unwrap();
    let described: serde_json::Value =
        serde_json::from_str(&world.yuba(&["describe", "victim", "-o", "json"]).ok()).unwrap();
    let read = |name: &str| fs::read_to_string(world.dir().join(name)).unwrap().trim().to_owned();
    let variables = BTreeMap::from([
        ("phase", phase.to_owned()),
        ("notes", world.dir().join("notes").display().to_string()),
        ("data", world.dir().join("data").display().to_string()),
        ("state_home", world.dir().join("state").display().to_string()),
        ("server", read("data/lock")),
        ("url", read("data/server.url")),
        ("victim", victim.first.unwrap().as_raw_nonzero().to_string()),
        ("victim_run", victim.attempt.run.to_string()),
        ("victim_stack", described.get("id").and_then(serde_json::Value::as_str).unwrap().to_owned()),
        ("victim_attempt", victim.attempt.to_string()),
    ]);
    let lines: Vec<String> = variables.iter().map(|(name, value)| format!("{name}='{value}'")).collect();
    format!("{}\n{ATTACK}", lines.join("\n"))
}

/// A stack whose apply attacks.
fn hostile(world: &World) {
    let code = "resource \"terraform_data\" \"attack\" {\n  provisioner \"local-exec\" {\n    command = \"sh ./attack.sh\"\n  }\n}\n";
    world.repository.write("stacks/hostile/attack.sh", &script(world, "apply"));
    world.stack("hostile", &format!("{}\n{code}", network("hostile", "one")), "approvePlan: auto");
}

/// A provider that attacks before it is what it claims to be, while plans are made and shown; it leaves a process behind
/// that would change Yuba's copy of the plan file. The file with the id of that process.
fn hostile_provider(world: &World) -> std::path::PathBuf {
    let left = world.dir().join("left.pid");
    let (mirror, attack) = (world.dir().join("mirror"), world.dir().join("attack.sh"));
    let configuration = yuba_toy_cloud::mirror(&mirror).unwrap();
    fs::write(&attack, script(world, "plan")).unwrap();
    for provider in programs(&mirror) {
        let real = provider.with_file_name("real");
        let spoils = "while :; do for plan in ../../../*.tfplan; do echo x >> $plan; done; sleep 0.01; done";
        let text = format!(
            "#!/bin/sh\n[ -e {left} ] || setsid sh -c 'echo $$ > {left}; {spoils}' >/dev/null 2>&1 </dev/null &\n\
             sh {} >/dev/null 2>&1 </dev/null\nexec {} \"$@\"\n",
            attack.display(),
            real.display(),
            left = left.display(),
        );
        fs::rename(&provider, &real).unwrap();
        fs::write(&provider, text).unwrap();
        fs::set_permissions(&provider, fs::Permissions::from_mode(0o755)).unwrap();
    }
    world.around_engine(&format!(
        "case $PWD in */stacks/hostile) export TF_CLI_CONFIG_FILE={};; esac",
        configuration.display()
    ));
    left
}

/// The providers of a mirror.
fn programs(directory: &Path) -> Vec<std::path::PathBuf> {
    let below = |entry: fs::DirEntry| {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            programs(&path)
        } else if name.starts_with("terraform-provider") {
            vec![path]
        } else {
            vec![]
        }
    };
    fs::read_dir(directory).unwrap().flatten().flat_map(below).collect()
}

/// What was tried, by how it came out: `done` or `refused`.
fn noted(world: &World) -> BTreeMap<String, BTreeSet<String>> {
    let notes = fs::read_to_string(world.dir().join("notes")).unwrap();
    let mut outcomes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in notes.lines() {
        let (tried, how) = line.rsplit_once(": ").unwrap();
        outcomes.entry(how.to_owned()).or_default().insert(tried.to_owned());
    }
    outcomes
}

fn attempts() -> BTreeSet<&'static str> {
    ATTACK.lines().filter_map(|line| line.trim().strip_prefix("try \"")?.split('"').next()).collect()
}

fn tried_in(phase: &str, tried: &BTreeSet<String>) -> BTreeSet<String> {
    tried.iter().filter_map(|one| one.strip_prefix(&format!("{phase}: "))).map(str::to_owned).collect()
}

#[test]
fn what_a_hostile_stack_tries_is_refused_while_it_is_planned_and_applied() {
    let world = World::new();
    world.around_engine("");
    let world = beside_a_victim(world);
    let left = hostile_provider(&world);
    hostile(&world);
    world.repository.push("Attack");
    world.wait("hostile", "applied");
    let outcomes = noted(&world);
    assert_eq!(outcomes.get("done"), None, "{outcomes:#?}");
    let refused = &outcomes["refused"];
    let of_the_plan = "Yuba's copy of the plan";
    let all: BTreeSet<String> = attempts().into_iter().map(str::to_owned).collect();
    assert_eq!(tried_in("apply", refused), all);
    let planned: BTreeSet<String> = tried_in("plan", refused);
    assert_eq!(all.difference(&planned).filter(|one| !one.ends_with(of_the_plan)).count(), 0, "{planned:?}");
    assert!(test_kill_process(pid(&left)).is_err(), "what the provider left behind lives on");
    world.cloud.set_control(&Control::default()).unwrap();
    world.wait("victim", "applied");
}

#[test]
fn without_isolation_each_attempt_of_the_hostile_stack_succeeds() {
    let mut world = World::new();
    world.isolate_nothing();
    let world = beside_a_victim(world);
    hostile(&world);
    world.repository.push("Attack");
    world.wait("hostile", "applied");
    let outcomes = noted(&world);
    assert_eq!(outcomes.get("refused"), None, "{outcomes:#?}");
    let all: BTreeSet<String> = attempts().into_iter().map(str::to_owned).collect();
    assert_eq!(tried_in("apply", &outcomes["done"]), all);
    assert!(world.server().log().contains("nothing is isolated"));
}

#[test]
fn the_list_of_attempts_is_in_the_documentation() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security.md");
    let document = fs::read_to_string(document).unwrap();
    let missing: Vec<&str> = attempts().into_iter().filter(|attempt| !document.contains(attempt)).collect();
    assert_eq!(missing, Vec::<&str>::new());
    assert!(attempts().len() > 30);
}
