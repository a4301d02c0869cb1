//! Taking manifests over: what is written, who is woken, what stays.
#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

mod kit;

use kit::{STATE, World, live, stack, stack_name};
use yuba_core::id::{DeliveryId, ManifestSetName, SecretName};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::{Edge, Key};
use yuba_core::source::Delivery;
use yuba_core::spec::ApprovePlan;
use yuba_ports::records::put_any;
use yuba_ports::{Queue, Store};

const FILES: [(&str, &str); 2] = [("dev/main.tf", "locals {}\n"), ("prod/main.tf", "locals {}\n")];

#[tokio::test]
async fn documents_that_did_not_change_are_not_taken_over_again() {
    let world = World::settled(&FILES, &stack("dev", "dev", &[])).await;
    assert_eq!(world.take_over().await, ["nothing changed since snapshot 1"]);
    assert_eq!(world.woken().await, [""; 0]);
}

#[tokio::test]
async fn a_changed_approval_wakes_its_stack_and_no_source() {
    let world = World::settled(&FILES, &(stack("dev", "dev", &[]) + &stack("prod", "prod", &[]))).await;
    world.manifests(&(stack("dev", "dev", &["approvePlan: auto"]) + &stack("prod", "prod", &[])));
    assert_eq!(world.take_over().await.len(), 1);
    assert_eq!(world.woken().await, ["dev: snapshot 2"]);
    assert_eq!(world.definition("dev").await.spec.approve_plan, ApprovePlan::Auto);
    assert_eq!(world.definition("prod").await.snapshot, 2, "its line in the file moved");
}

#[tokio::test]
async fn a_changed_path_lets_the_source_look_again() {
    let world = World::settled(&FILES, &stack("dev", "dev", &[])).await;
    world.manifests(&stack("dev", "prod", &[]));
    world.take_over().await;
    assert_eq!(world.woken().await, ["dev: observation 2", "dev: snapshot 2"]);
}

#[tokio::test]
async fn a_new_name_for_the_same_state_keeps_the_stack() {
    let world = World::settled(&FILES, &stack("dev", "dev", &STATE)).await;
    let id = world.id("dev").await;
    world.manifests(&stack("renamed", "dev", &STATE));
    world.take_over().await;
    assert_eq!((world.id("renamed").await, world.id("dev").await), (id, None));
    let definition = world.definition("renamed").await;
    assert_eq!((definition.name, definition.vanished), (stack_name("renamed"), None));
    assert!(world.woken().await.contains(&"renamed: snapshot 2".to_owned()));
}

#[tokio::test]
async fn a_new_name_without_a_known_state_is_a_new_stack() {
    let world = World::settled(&FILES, &stack("dev", "dev", &[])).await;
    let id = world.id("dev").await;
    world.manifests(&stack("renamed", "dev", &[]));
    world.take_over().await;
    assert_ne!(world.id("renamed").await, id);
    assert!(world.definition("dev").await.vanished.is_some());
}

#[tokio::test]
async fn a_stack_that_vanishes_is_kept_and_may_return() {
    let world = World::settled(&FILES, &stack("dev", "dev", &[])).await;
    let id = world.id("dev").await;
    world.manifests("");
    world.take_over().await;
    assert!(world.definition("dev").await.vanished.is_some());
    assert_eq!(world.woken().await, ["dev: snapshot 2"]);
    world.commit(&[("dev/main.tf", "locals {\n}\n")]);
    world.look().await;
    assert_eq!(world.woken().await, [""; 0]);
    world.manifests(&stack("dev", "dev", &[]));
    world.take_over().await;
    assert_eq!((world.id("dev").await, world.definition("dev").await.vanished), (id, None));
    assert_eq!(world.woken().await, ["dev: observation 4", "dev: snapshot 3"]);
}

#[tokio::test]
async fn a_faulty_document_is_held_back_and_the_rest_goes_on() {
    let world = World::settled(&FILES, &(stack("dev", "dev", &[]) + &stack("prod", "prod", &[]))).await;
    world.manifests(
        &(stack("dev", "prod", &["approvePlan: [1]"]) + &stack("prod", "prod", &["suspend: true"])),
    );
    world.take_over().await;
    assert_eq!(world.woken().await, ["dev: snapshot 2", "prod: snapshot 2"]);
    let dev = world.definition("dev").await;
    assert_eq!((dev.spec.path.as_str(), dev.vanished), ("dev", None));
    let record = world.record().await;
    assert!(record.findings[0].starts_with("all.yaml:") && record.findings[0].contains("approvePlan"));
    assert_eq!((record.found.errors, dev.held_back.as_ref()), (1, record.findings.first()));
    world.manifests(&(stack("dev", "dev", &[]) + &stack("prod", "prod", &[])));
    world.take_over().await;
    assert_eq!(world.woken().await, ["dev: snapshot 3", "prod: snapshot 3"]);
    assert_eq!((world.definition("dev").await.held_back, world.record().await.found.errors), (None, 0));
}

#[tokio::test]
async fn edges_follow_the_settings() {
    let base = stack("prod", "prod", &[]);
    let waits = ["dependsOn:", "  - name: prod", "varsFrom:", "  - kind: ConfigMap", "    name: values"];
    let world = World::settled(&FILES, &(stack("dev", "dev", &waits) + &base)).await;
    let id = world.id("dev").await.unwrap();
    let edges = [
        Key::dependant(&stack_name("prod"), id),
        Key::reader(&SecretName::new("default", "values"), id),
        Key::source_stack(&live(), id),
    ];
    assert_eq!(there(&world, &edges).await, [true, true, true]);
    world.manifests(&(stack("dev", "dev", &[]) + &base));
    world.take_over().await;
    assert_eq!(there(&world, &edges).await, [false, false, true]);
}

async fn there(world: &World, keys: &[Key]) -> Vec<bool> {
    let mut found = Vec::new();
    for key in keys {
        found.push(world.load::<Edge>(key).await.is_some());
    }
    found
}

#[tokio::test]
async fn a_config_map_is_written_and_a_changed_one_wakes_its_readers() {
    let map = |value: &str| {
        format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: values\ndata:\n  a: {value}\n")
    };
    let reads = stack("dev", "dev", &["varsFrom:", "  - kind: ConfigMap", "    name: values"]);
    let world = World::settled(&FILES, &(reads.clone() + &map("one"))).await;
    world.manifests(&(reads + &map("two")));
    world.take_over().await;
    assert_eq!(world.woken().await, ["dev: ConfigMap default/values"]);
}

#[tokio::test]
async fn a_stack_of_another_set_is_not_taken_from_it() {
    let mut world = World::settled(&FILES, &stack("dev", "dev", &[])).await;
    let second = tempfile::TempDir::new().unwrap();
    std::fs::write(second.path().join("a.yaml"), world.source_manifest() + &stack("dev", "prod", &[]))
        .unwrap();
    let name = ManifestSetName(second.path().display().to_string());
    let first = std::mem::replace(&mut world.settings.manifests, vec![name]);
    world.start().await;
    assert_eq!(world.definition("dev").await.set, first[0]);
    let findings = world.record().await.findings.join("\n");
    assert!(findings.contains("stack default/dev is defined in"), "{findings}");
    assert!(findings.contains("source default/live is defined in"), "{findings}");
}

#[tokio::test]
async fn manifests_in_git_are_read_below_their_directory_and_name_their_author() {
    let mut world = World::empty();
    let manifests = world.source_manifest() + &stack("dev", "dev", &["approvePlan: plan-main-0123456789"]);
    world.commit(&[FILES[0], ("flux/all.yaml", &manifests), ("other/x.yaml", "kind: [")]);
    let url = format!("file://{}@main//flux", world.repository().display());
    world.settings.manifests = vec![ManifestSetName(url)];
    world.start().await;
    let definition = world.definition("dev").await;
    assert_eq!(definition.author.as_deref(), Some("Ada Lovelace <ada@example.org>"));
    assert_eq!(definition.author_known_by.as_deref(), Some("commit author, not verified"));
    assert_eq!(definition.place, "flux/all.yaml:11");
    assert_eq!(world.record().await.failure, None);
}

#[tokio::test]
async fn a_place_that_is_not_there_is_reported_and_tried_again() {
    let mut world = World::empty();
    world.settings.manifests = vec![ManifestSetName("/nowhere/flux".to_owned())];
    let reports = world.start().await;
    assert!(reports[0].starts_with("manifests at /nowhere/flux cannot be read"), "{reports:?}");
    assert!(world.record().await.due.is_some());
}

/// Approves a plan in a manifest; deliveries of pushers come together, each of that commit or of another. Who approved,
/// and how that is known.
async fn approved_by(deliveries: &[(&str, Option<&str>)]) -> (String, String) {
    let mut world = World::empty();
    let manifests = |plan: &str| stack("dev", "dev", &[&format!("approvePlan: {plan}")]);
    world.commit(&[FILES[0], ("flux/all.yaml", &(world.source_manifest() + &manifests("manual")))]);
    world.settings.manifests =
        vec![ManifestSetName(format!("file://{}@main//flux", world.repository().display()))];
    world.start().await;
    let commit =
        world.commit(&[("flux/all.yaml", &(world.source_manifest() + &manifests("plan-main-0123456789")))]);
    for (number, (pusher, other)) in deliveries.iter().enumerate() {
        let golden = include_str!("../../../shared/core/tests/golden/delivery.v1.json");
        let delivery = Delivery {
            id: DeliveryId(format!("d-{number}")),
            pusher: Some((*pusher).to_owned()),
            commit: other.unwrap_or(&commit).parse().ok(),
            host: "github".to_owned(),
            ..serde_json::from_str(golden).unwrap()
        };
        world.memory.store.commit(vec![put_any(&delivery).unwrap()]).await.unwrap();
        let message = Message::new(Wake::Manifests(world.set()), Cause::Delivery(delivery.id));
        world.memory.queue.send(vec![message]).await.unwrap();
    }
    assert_eq!(world.work().await.len(), 1, "they were taken over together");
    let definition = world.definition("dev").await;
    (definition.author.unwrap(), definition.author_known_by.unwrap())
}

#[tokio::test]
async fn an_approval_counts_for_the_pusher_whom_the_host_verified() {
    let other = Some("0123456789abcdef0123456789abcdef01234567");
    let octocat = ("octocat", None);
    let verified = ("octocat".to_owned(), "pusher, verified by github".to_owned());
    assert_eq!(approved_by(&[octocat]).await, verified);
    assert_eq!(approved_by(&[octocat, octocat]).await, verified, "it was delivered again");
    assert_eq!(approved_by(&[("mallory", other), octocat]).await, verified);
    assert_eq!(approved_by(&[octocat, ("mallory", other)]).await, verified);
}

#[tokio::test]
async fn an_approval_counts_for_nobody_who_may_have_pushed_something_else() {
    let other = Some("0123456789abcdef0123456789abcdef01234567");
    let author = ("Ada Lovelace <ada@example.org>".to_owned(), "commit author, not verified".to_owned());
    assert_eq!(approved_by(&[("octocat", other)]).await, author);
    assert_eq!(approved_by(&[("octocat", None), ("mallory", None)]).await, author);
}

#[tokio::test]
async fn manifests_in_json_are_read_and_hidden_files_are_not() {
    const STACK: &str = r#"{"apiVersion": "infra.contrib.fluxcd.io/v1alpha2", "kind": "Terraform",
        "metadata": {"name": "dev"},
        "spec": {"path": "dev", "interval": "1h", "sourceRef": {"kind": "GitRepository", "name": "live"}}}"#;
    for (from_git, place) in [(true, "flux/dev.json:1"), (false, "dev.json:1")] {
        let mut world = World::empty();
        let (source, hidden) = (world.source_manifest(), ("flux/.hidden/x.yaml", "kind: ["));
        world.commit(&[FILES[0], ("flux/dev.json", STACK), ("flux/source.yaml", &source), hidden]);
        let directory = world.repository().join("flux").display().to_string();
        let git = format!("file://{}@main//flux", world.repository().display());
        world.settings.manifests = vec![ManifestSetName(if from_git { git } else { directory })];
        world.start().await;
        assert_eq!(world.definition("dev").await.place, place);
        let findings = world.record().await.findings;
        assert!(!findings.iter().any(|finding| finding.contains("error")), "{findings:?}");
    }
}

fn team(members: &str) -> String {
    format!(
        "---\napiVersion: yuba.dev/v1\nkind: Team\nmetadata: {{name: platform}}\nspec: {{members: {members}}}\n"
    )
}

#[tokio::test]
async fn teams_are_taken_over_changed_and_deleted_and_each_change_is_counted() {
    let world = World::settled(&FILES, &(team("[{slack: U1}]") + &stack("dev", "dev", &[]))).await;
    assert_eq!(world.teams().await, (1, vec!["default/platform: U1 of Slack".to_owned()]));
    world.manifests(&(team("[{slack: U1}]") + &stack("dev", "dev", &["suspend: true"])));
    world.take_over().await;
    assert_eq!(world.teams().await.0, 1, "no team changed");
    world.manifests(&(team("[{slack: U2}]") + &stack("dev", "dev", &[])));
    world.take_over().await;
    assert_eq!(world.teams().await, (2, vec!["default/platform: U2 of Slack".to_owned()]));
    world.manifests(&(team("{}") + &stack("dev", "dev", &[])));
    world.take_over().await;
    assert_eq!(world.teams().await.0, 2, "a faulty team holds everything back");
    world.manifests(&stack("dev", "dev", &[]));
    world.take_over().await;
    assert_eq!(world.teams().await, (3, Vec::new()));
}

fn freeze(spec: &str) -> String {
    format!("---\napiVersion: yuba.dev/v1\nkind: Freeze\nmetadata: {{name: xmas}}\nspec: {spec}\n")
}

#[tokio::test]
async fn freezes_are_taken_over_changed_and_taken_back_and_each_change_is_counted() {
    let world = World::settled(&FILES, &(freeze("{reason: one}") + &stack("dev", "dev", &[]))).await;
    assert_eq!(world.freezes().await, (1, vec!["default/xmas: one".to_owned()]));
    world.manifests(&(freeze("{reason: one}") + &stack("dev", "dev", &["suspend: true"])));
    world.take_over().await;
    assert_eq!(world.freezes().await.0, 1, "no freeze changed");
    world.manifests(&(freeze("{until: soon}") + &stack("dev", "dev", &[])));
    world.take_over().await;
    assert_eq!(world.freezes().await.0, 1, "a faulty freeze holds everything back");
    world.manifests(&stack("dev", "dev", &[]));
    world.take_over().await;
    assert_eq!(world.freezes().await, (2, Vec::new()));
}
