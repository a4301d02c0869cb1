//! The provider under the real tofu or terraform.
#![expect(clippy::expect_used, clippy::panic, reason = "a test's helper fails the test")]

mod world;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use world::World;
use yuba_toy_cloud::{Control, Event, Verb, overlaps, repeats};

const EVERYTHING: &str = r#"
resource "toy_network" "main" {
  name = "main"
  cidr = "10.0.0.0/16"
  tags = { team = "a" }
}
resource "toy_bucket" "logs" {
  name   = "logs"
  policy = jsonencode({ allow = ["read"] })
}
resource "toy_database" "db" {
  name       = "db"
  engine     = "postgres"
  network_id = toy_network.main.id
}
resource "toy_security_group" "web" {
  name       = "web"
  network_id = toy_network.main.id
  rule {
    name = "http"
    port = 80
    cidr = "0.0.0.0/0"
  }
}
resource "toy_instance" "vm" {
  count              = 10
  name               = "vm-${count.index}"
  image              = "debian"
  security_group_ids = [toy_security_group.web.id]
}
data "toy_network" "main" {
  name       = "main"
  depends_on = [toy_network.main]
}
output "arn" {
  value = data.toy_network.main.arn
}
"#;

const BUCKET: &str = r#"resource "toy_bucket" "logs" { name = "logs" }"#;

const TWO: &str = r#"
resource "toy_network" "main" {
  name = "main"
  cidr = "10.0.0.0/16"
}
resource "toy_bucket" "logs" {
  name       = "logs"
  depends_on = [toy_network.main]
}
"#;

/// A setting of the control file for one resource.
fn only<T>(verb: Verb, key: &str, value: T) -> BTreeMap<Verb, BTreeMap<String, T>> {
    BTreeMap::from([(verb, BTreeMap::from([(key.to_owned(), value)]))])
}

fn control(world: &World, control: &Control) {
    world.cloud.set_control(control).expect("written");
}

fn hold_creates(world: &World, key: &str) {
    let hold = BTreeMap::from([(Verb::Create, BTreeSet::from([key.to_owned()]))]);
    control(world, &Control { hold, ..Control::default() });
}

/// The plan's change of a resource.
fn change<'a>(plan: &'a Value, address: &str) -> &'a Value {
    let changes = plan["resource_changes"].as_array().expect("changes");
    &changes.iter().find(|change| change["address"] == address).expect("the resource")["change"]
}

#[test]
fn everything_is_made_once_found_unchanged_and_destroyed() {
    let world = World::new(EVERYTHING);
    let said = world.apply();
    assert!(said.contains("Resources: 14 added, 0 changed, 0 destroyed."), "{said}");
    assert!(said.contains(r#"arn = "arn:toy:network:net-main""#), "{said}");
    assert!(!world.plan_finds_changes());
    assert_eq!(world.cloud.ids("toy_instance").expect("listed").len(), 10);
    let said = world.succeeds(&["destroy", "-auto-approve"]);
    assert!(said.contains("14 destroyed"), "{said}");
    assert_eq!(world.cloud.ids("toy_instance").expect("listed").len(), 0);
    let journal = world.cloud.journal().expect("a journal");
    assert_eq!(journal.iter().filter(|entry| entry.event == Event::Done).count(), 28);
    assert_eq!(repeats(&journal), Vec::<String>::new());
    assert_eq!(overlaps(&journal, &[]), Vec::<String>::new());
}

#[test]
fn an_edit_by_hand_is_drift_and_is_put_right() {
    let world = World::new(EVERYTHING);
    world.apply();
    let tags = |tags| move |body: &mut yuba_toy_cloud::Body| drop(body.insert("tags".into(), tags));
    world.cloud.edit("toy_network", "net-main", tags(json!({"team": "b"}))).expect("edited");
    let plan = world.plan_json();
    assert_eq!(plan["resource_drift"][0]["change"]["after"]["tags"], json!({"team": "b"}));
    assert_eq!(change(&plan, "toy_network.main")["actions"], json!(["update"]));
    world.succeeds(&["apply", "p"]);
    let body = world.cloud.read("toy_network", "net-main").expect("read").expect("stands");
    assert_eq!(body["tags"], json!({"team": "a"}));
}

#[test]
fn what_was_deleted_by_hand_is_made_again() {
    let world = World::new(BUCKET);
    world.apply();
    world.cloud.delete("toy_bucket", "bucket-logs").expect("deleted");
    let plan = world.plan_json();
    assert_eq!(plan["resource_drift"][0]["change"]["actions"], json!(["delete"]));
    assert_eq!(change(&plan, "toy_bucket.logs")["actions"], json!(["create"]));
}

#[test]
fn some_changes_replace_and_say_why() {
    let world = World::new(BUCKET);
    world.apply();
    world.write("resource \"toy_bucket\" \"logs\" {\nname = \"logs\"\nregion = \"us-1\"\n}");
    let plan = world.plan_json();
    let change = change(&plan, "toy_bucket.logs");
    assert_eq!(change["actions"], json!(["delete", "create"]));
    assert_eq!(change["replace_paths"], json!([["region"]]));
    world.succeeds(&["apply", "p"]);
    let body = world.cloud.read("toy_bucket", "bucket-logs").expect("read").expect("stands");
    assert_eq!(body["domain"], "logs.us-1.buckets.toy");
}

#[test]
fn a_create_that_fails_half_way_leaves_the_rest_in_the_state() {
    let world = World::new(TWO);
    let fail = only(Verb::Create, "toy_bucket.logs", "no room".to_owned());
    let fail_times = only(Verb::Create, "toy_bucket.logs", 1);
    control(&world, &Control { fail, fail_times, ..Control::default() });
    let said = world.fails(&["apply", "-auto-approve"]);
    assert!(said.contains("cannot create toy_bucket.logs: no room"), "{said}");
    assert_eq!(world.state(), ["toy_network.main"]);
    let said = world.apply();
    assert!(said.contains("Resources: 1 added"), "the failure has worn out: {said}");
    assert_eq!(repeats(&world.cloud.journal().expect("a journal")), Vec::<String>::new());
}

#[test]
fn a_failure_after_the_change_leaves_a_tainted_resource() {
    let world = World::new(BUCKET);
    let fail_after = only(Verb::Create, "toy_bucket.*", "made, but broken".to_owned());
    control(&world, &Control { fail_after, ..Control::default() });
    world.fails(&["apply", "-auto-approve"]);
    let plan = world.plan_json();
    assert_eq!(change(&plan, "toy_bucket.logs")["actions"], json!(["delete", "create"]));
    assert_eq!(plan["resource_changes"][0]["action_reason"], "replace_because_tainted");
}

#[test]
fn an_interrupted_create_ends_at_once_and_the_state_is_saved() {
    let world = World::new(TWO);
    hold_creates(&world, "toy_bucket.logs");
    let running = world.apply_until("toy_bucket.logs: Creating...", 1);
    running.interrupt();
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.text);
    assert!(ended.text.contains("cannot create toy_bucket.logs: interrupted"), "{}", ended.text);
    assert_eq!(world.state(), ["toy_network.main"]);
    control(&world, &Control::default());
    assert!(world.apply().contains("Resources: 1 added"));
}

#[test]
fn latency_and_failures_are_also_set_in_code() {
    let slow = "resource \"toy_bucket\" \"logs\" {\nname = \"logs\"\nlatency_ms = { create = 300 }\n";
    let world = World::new(&format!("{slow}fail = {{ delete = \"kept\" }}\n}}"));
    world.apply();
    let journal = world.cloud.journal().expect("a journal");
    assert!(journal[1].at - journal[0].at >= 300, "{journal:?}");
    assert!(!world.plan_finds_changes(), "how a resource misbehaves is no drift");
    let said = world.fails(&["destroy", "-auto-approve"]);
    assert!(said.contains("cannot delete toy_bucket.logs: kept"), "{said}");
}

#[test]
fn secrets_are_unknown_then_sensitive() {
    let world = World::new(EVERYTHING);
    let plan = world.plan_json();
    let change = change(&plan, "toy_database.db");
    assert_eq!(change["after_unknown"]["password"], true);
    assert_eq!(change["after_sensitive"]["password"], true);
    assert!(change["after"].get("password").is_none());
    world.apply();
    let body = world.cloud.read("toy_database", "db-db").expect("read").expect("stands");
    let password = body["password"].as_str().expect("a password").to_owned();
    let said = world.succeeds(&["show"]);
    assert!(!said.contains(&password) && said.contains("(sensitive value)"), "{said}");
}

#[test]
fn what_stands_is_imported_by_id_and_not_made_twice() {
    let world = World::new(BUCKET);
    world.apply();
    world.succeeds(&["state", "rm", "toy_bucket.logs"]);
    let said = world.fails(&["apply", "-auto-approve"]);
    assert!(said.contains("toy_bucket bucket-logs exists already"), "{said}");
    world.succeeds(&["import", "toy_bucket.logs", "bucket-logs"]);
    assert!(!world.plan_finds_changes());
    let said = world.fails(&["import", "toy_bucket.other", "bucket-other"]);
    assert!(said.contains("toy_bucket.other"), "{said}");
}

#[test]
fn instances_are_made_side_by_side() {
    let world = World::new(EVERYTHING);
    hold_creates(&world, "toy_instance.*");
    let running = world.apply_until(": Creating...", 14);
    assert!(!running.said.contains("[id=i-vm-"), "none is complete: {}", running.said);
    control(&world, &Control::default());
    let ended = running.end();
    assert_eq!(ended.code, Some(0), "{}", ended.text);
    assert_eq!(world.cloud.ids("toy_instance").expect("listed").len(), 10);
    assert_eq!(repeats(&world.cloud.journal().expect("a journal")), Vec::<String>::new());
}

#[test]
fn a_wrong_token_and_a_wrong_name_are_refused() {
    let world = World::new(BUCKET);
    control(&world, &Control { token: Some("right".into()), ..Control::default() });
    assert!(world.fails(&["plan"]).contains("the toy cloud refused the token"));
    world.write(
        "provider \"toy\" {\ntoken = \"right\"\n}\nresource \"toy_bucket\" \"logs\" { name = \"a/b\" }",
    );
    assert!(world.fails(&["plan"]).contains(r#""a/b" is no name"#));
}
