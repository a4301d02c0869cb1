//! Looks at a source: real Git, a world in memory.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod kit;

use kit::faults::Cut;
use kit::{World, git, live, stack};
use yuba_core::id::DeliveryId;
use yuba_core::job::{artifact_object, artifact_report_object};
use yuba_core::message::{AttemptNews, Cause, Message, Wake};
use yuba_core::people::Identity;
use yuba_core::record::Key;
use yuba_core::request::Request;
use yuba_core::source::{Delivery, Reason};
use yuba_core::time::Span;
use yuba_ports::records::put_any;
use yuba_ports::{Blobs, Clock, Queue, Store};

const FILES: [(&str, &str); 4] = [
    ("modules/net/main.tf", "variable \"a\" {}\n"),
    ("environments/dev/main.tf", "module \"net\" {\n  source = \"../../modules/net\"\n}\n"),
    ("environments/prod/main.tf", "locals {}\n"),
    ("README.md", "read me\n"),
];

fn two() -> String {
    stack("dev", "./environments/dev", &[]) + &stack("prod", "environments/prod", &[])
}

#[tokio::test]
async fn a_first_look_observes_every_stack_and_stores_the_tree() {
    let world = World::empty();
    let commit = world.commit(&FILES);
    world.manifests(&two());
    world.start().await;
    let woken = world.woken().await.join(", ");
    assert_eq!(woken, "dev: observation 1, dev: snapshot 1, prod: observation 1, prod: snapshot 1");
    let seen = world.observation("dev").await;
    assert_eq!(seen.revision.to_string(), format!("main@sha1:{commit}"));
    assert_eq!((seen.changed, seen.problems.len()), (vec![Reason::First], 0));
    assert_eq!(seen.commit.author, "Ada Lovelace <ada@example.org>");
    assert!(world.memory.blobs.exists(&artifact_object(&seen.tree)).await.unwrap());
}

#[tokio::test]
async fn a_push_wakes_the_stacks_whose_closure_changed_and_says_why() {
    let world = World::settled(&FILES, &two()).await;
    world.commit(&[("modules/net/main.tf", "variable \"b\" {}\n")]);
    assert_eq!(world.look().await, ["observation 2: woke 1 of 2 stacks"]);
    assert_eq!(world.woken().await, ["dev: observation 2"]);
    let reasons = world.observation("dev").await.changed;
    insta::assert_debug_snapshot!(reasons, @r#"
    [
        Path {
            path: "modules/net/main.tf",
            change: "changed",
            because: "module ../../modules/net, called from environments/dev/main.tf",
        },
    ]
    "#);
}

#[tokio::test]
async fn what_no_stack_depends_on_wakes_none_and_the_delivery_says_so() {
    let world = World::settled(&FILES, &two()).await;
    world.commit(&[("README.md", "read me again\n")]);
    let delivery = delivery(&world, "d-1").await;
    let cause = Cause::Delivery(delivery);
    world.memory.queue.send(vec![Message::new(Wake::Source(live()), cause)]).await.unwrap();
    world.work().await;
    assert_eq!(world.woken().await, [""; 0]);
    let outcome = world.load::<Delivery>(&Key::delivery("d-1")).await.unwrap().outcome.unwrap();
    let expected = "default/live: observation 2: woke 0 of 2 stacks; nothing that they depend on changed";
    assert_eq!(outcome, expected);
    let reports = world.look().await;
    assert!(reports[0].starts_with("nothing changed since observation 2"), "{reports:?}");
}

async fn delivery(world: &World, id: &str) -> DeliveryId {
    let delivery = Delivery {
        id: DeliveryId(id.to_owned()),
        host: "github".to_owned(),
        event: "push".to_owned(),
        repository: "h/live".to_owned(),
        reference: None,
        at: world.memory.clock.now(),
        pusher: None,
        commit: None,
        outcome: None,
    };
    world.memory.store.commit(vec![put_any(&delivery).unwrap()]).await.unwrap();
    delivery.id
}

#[tokio::test]
async fn a_force_push_back_and_forth_is_newer_each_time() {
    let world = World::settled(&FILES, &stack("dev", "environments/dev", &[])).await;
    let first = world.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let second = world.commit(&[("environments/dev/main.tf", "locals {}\n")]);
    for (commit, number) in [(&second, 2), (&first, 3), (&second, 4)] {
        world.git(&["reset", "--quiet", "--hard", commit]);
        world.look().await;
        assert_eq!(world.woken().await, [format!("dev: observation {number}")]);
        assert_eq!(world.observation("dev").await.revision.commit.as_str(), *commit);
    }
}

#[tokio::test]
async fn a_deleted_branch_is_reported_and_looked_for_at_the_interval() {
    let world = World::settled(&FILES, &two()).await;
    world.git(&["checkout", "--quiet", "-b", "other"]);
    world.git(&["branch", "--quiet", "-D", "main"]);
    let reports = world.look().await;
    assert!(reports[0].contains("has no branch `main`"), "{reports:?}");
    let source = world.source().await;
    assert_eq!(source.due, Some(world.memory.clock.now() + Span::minutes(1)));
    assert_eq!(source.failure.unwrap().count, 1);
    world.git(&["branch", "main"]);
    world.look().await;
    assert_eq!((world.source().await.failure, world.woken().await.len()), (None, 0));
}

#[tokio::test]
async fn an_empty_repository_says_so_until_its_first_commit() {
    let world = World::empty();
    world.manifests(&two());
    let reports = world.start().await.join("\n");
    assert!(reports.contains("is empty: it has no branches yet"), "{reports}");
    world.commit(&FILES);
    world.look().await;
    assert!(world.woken().await.contains(&"dev: observation 1".to_owned()));
}

#[tokio::test]
async fn a_stack_without_its_directory_is_observed_with_the_problem_until_it_is_mended() {
    let world = World::settled(&FILES, &stack("dev", "environments/gone", &[])).await;
    let problems = world.observation("dev").await.problems.join("\n");
    assert!(problems.contains("environments/gone: the stack's directory does not exist"), "{problems}");
    world.commit(&[("environments/gone/main.tf", "locals {}\n")]);
    world.look().await;
    assert_eq!(world.woken().await, ["dev: observation 2"]);
    assert_eq!(world.observation("dev").await.problems, [""; 0]);
}

#[tokio::test]
async fn losing_the_cache_and_the_index_costs_a_fetch_and_nothing_else() {
    let world = World::settled(&FILES, &two()).await;
    world.lose_cache();
    world.memory.blobs.delete("sources/default/live/index").await.unwrap();
    world.commit(&[("environments/prod/main.tf", "locals {\n}\n")]);
    world.look().await;
    assert_eq!(world.woken().await, ["prod: observation 2"]);
}

#[tokio::test]
async fn a_secret_that_is_missing_is_named_with_the_command_that_sets_it() {
    let world = World::empty();
    world.commit(&FILES);
    let manifest = world.source_manifest().replace("  interval", "  secretRef:\n    name: token\n  interval");
    std::fs::write(format!("{}/all.yaml", world.set()), manifest).unwrap();
    let reports = world.start().await.join("\n");
    assert!(reports.contains("there is no secret default/token; set it with"), "{reports}");
}

#[tokio::test]
async fn a_link_that_leaves_the_repository_holds_back_the_stacks_that_it_belongs_to_alone() {
    let world = World::empty();
    world.commit(&FILES);
    std::os::unix::fs::symlink("/etc/passwd", world.repository().join("modules/net/secrets")).unwrap();
    world.commit(&[]);
    world.manifests(&two());
    world.start().await;
    let (dev, prod) = (world.observation("dev").await, world.observation("prod").await);
    insta::assert_snapshot!(dev.problems.join("\n"), @"modules/net/secrets: the link leaves the repository (to `/etc/passwd`), so it is not packed; remove it, or link to a path that exists inside");
    assert_eq!(prod.problems, [""; 0]);
    assert!(world.memory.blobs.exists(&artifact_object(&prod.tree)).await.unwrap());
    let report = world.memory.blobs.get(&artifact_report_object(&prod.tree)).await.unwrap().unwrap();
    insta::assert_snapshot!(String::from_utf8(report).unwrap(), @r#"{"schema":1,"left_out":[{"path":"modules/net/secrets","target":"/etc/passwd","fault":"outside"}]}"#);
    world.woken().await;
    world.git(&["rm", "--quiet", "modules/net/secrets"]);
    world.commit(&[]);
    world.look().await;
    assert_eq!(world.woken().await, ["dev: observation 2"]);
    assert_eq!(world.observation("dev").await.problems, [""; 0]);
}

#[tokio::test]
async fn what_is_odd_and_stands_against_no_plan_is_kept() {
    let files = [("dev/main.tf", "locals {\n  a = file(\"missing.txt\")\n}\n")];
    let world = World::settled(&files, &stack("dev", "dev", &[])).await;
    let seen = world.observation("dev").await;
    assert_eq!(seen.problems, [""; 0]);
    assert!(seen.notices[0].contains("dev/missing.txt: no such file"), "{:?}", seen.notices);
}

#[tokio::test]
async fn a_request_is_passed_on_to_its_stack_after_the_look_that_it_asked_for() {
    let world = World::settled(&FILES, &two()).await;
    let stack = world.id("dev").await.unwrap();
    let golden = include_str!("../../../shared/core/tests/golden/request.v1.json");
    let request = Request { stack, ..serde_json::from_str(golden).unwrap() };
    world.memory.store.commit(vec![put_any(&request).unwrap()]).await.unwrap();
    world.commit(&[("environments/dev/main.tf", "locals {}\n")]);
    let message = Message::new(Wake::Source(live()), Cause::Request(request.id));
    world.memory.queue.send(vec![message]).await.unwrap();
    world.work().await;
    let woken: Vec<Cause> = world.memory.queue.pending().into_iter().map(|message| message.cause).collect();
    let observed = Cause::Observation { source: live(), number: 2 };
    assert_eq!(woken, [observed, Cause::Request(request.id)]);
}

/// Sends the source a request to pass on, a slot that a look has taken, an attempt's and two deliveries' messages.
async fn five_causes(world: &World) -> [Cause; 5] {
    let golden = include_str!("../../../shared/core/tests/golden/request.v1.json");
    let request = Request { stack: world.id("dev").await.unwrap(), ..serde_json::from_str(golden).unwrap() };
    world.memory.store.commit(vec![put_any(&request).unwrap()]).await.unwrap();
    let attempt = "01ARZ3NDEKTSV4RRFFQ69G5FAV-plan-1".parse().unwrap();
    let causes = [
        Cause::Delivery(delivery(world, "d-1").await),
        Cause::Due { slot: world.memory.clock.now() },
        Cause::Attempt { attempt, what: AttemptNews::WithoutCode },
        Cause::Request(request.id),
        Cause::Delivery(delivery(world, "d-2").await),
    ];
    let message = |cause: &Cause| Message::new(Wake::Source(live()), cause.clone());
    world.memory.queue.send(causes.iter().map(message).collect()).await.unwrap();
    causes
}

#[tokio::test]
async fn one_look_serves_all_that_were_received_together() {
    let world = World::settled(&FILES, &two()).await;
    world.commit(&[("environments/dev/main.tf", "locals {}\n")]);
    let [.., request, _] = five_causes(&world).await;
    let reports = world.work().await;
    let looked = "observation 2: woke 1 of 2 stacks";
    let attempt = "attempt 01ARZ3NDEKTSV4RRFFQ69G5FAV-plan-1 does not lack its code";
    assert_eq!(reports, [attempt, looked]);
    for id in ["d-1", "d-2"] {
        let outcome = world.load::<Delivery>(&Key::delivery(id)).await.unwrap().outcome;
        assert_eq!(outcome, Some(format!("default/live: {looked}")));
    }
    let woken: Vec<Cause> = world.memory.queue.pending().into_iter().map(|message| message.cause).collect();
    assert_eq!(woken, [Cause::Observation { source: live(), number: 2 }, request]);
}

#[tokio::test]
async fn where_a_look_fails_all_that_it_should_serve_come_again() {
    let mut call = 1;
    loop {
        let world = World::settled(&FILES, &two()).await;
        world.commit(&[("environments/dev/main.tf", "locals {}\n")]);
        let [.., request, _] = five_causes(&world).await;
        world.faults.plan(call, Cut::Before);
        let reports = world.work().await;
        if !world.faults.happened() {
            break;
        }
        assert!(reports[0].starts_with("again: "), "call {call}: {reports:?}");
        for id in ["d-1", "d-2"] {
            let outcome = world.load::<Delivery>(&Key::delivery(id)).await.unwrap().outcome;
            assert!(outcome.is_some_and(|outcome| outcome.starts_with("default/live: ")), "call {call}");
        }
        let woken = world.memory.queue.pending();
        assert!(woken.iter().any(|message| message.cause == request), "call {call}");
        call += 1;
    }
    assert!(call > 10, "only {} calls", call - 1);
}

#[tokio::test]
async fn a_slot_that_a_look_has_taken_is_not_looked_at_again() {
    let world = World::settled(&FILES, &two()).await;
    let slot = world.memory.clock.now();
    let [first, second] = [0, 1].map(|later| Cause::Due { slot: slot + Span(later) });
    let message = |cause| Message::new(Wake::Source(live()), cause);
    world.memory.queue.send(vec![message(first), message(second)]).await.unwrap();
    assert_eq!(world.work().await, ["it was looked at already"]);
}

#[tokio::test]
async fn messages_of_two_groups_are_no_batch() {
    let world = World::settled(&FILES, &two()).await;
    let cause = Cause::Due { slot: world.memory.clock.now() };
    let messages =
        [Wake::Source(live()), Wake::Manifests(world.set())].map(|wake| Message::new(wake, cause.clone()));
    let error = yuba_source::handle(&world.ports(), &world.settings, &messages).await.unwrap_err();
    assert_eq!(error.remedy, yuba_ports::Remedy::Permanent);
}

#[tokio::test]
async fn a_stack_that_is_defined_after_the_first_look_is_observed_at_once() {
    let world = World::settled(&FILES, &stack("dev", "environments/dev", &[])).await;
    world.manifests(&two());
    world.take_over().await;
    let woken = world.woken().await;
    assert!(woken.iter().any(|woken| woken.starts_with("prod: observation")), "{woken:?}");
    assert_eq!(world.source().await.definitions, world.source().await.definitions_seen);
}

#[tokio::test]
async fn who_brought_what_is_kept_with_each_observation() {
    let world = World::settled(&FILES, &two()).await;
    let (ada, grace) = (Identity::email("ada@example.org"), Identity::email("grace@example.org"));
    world.commit(&[("README.md", "read on\n")]);
    git(&world.repository(), &["commit", "--allow-empty", "--author=Bob <bob@example.org>", "-m", "x"]);
    world.commit(&[("modules/net/main.tf", "variable \"b\" {}\n")]);
    world.look().await;
    let seen = world.observation("dev").await;
    let bob = Identity::email("bob@example.org");
    assert_eq!(seen.authors_since(1), [ada.clone(), bob, grace.clone()].into());
    assert_eq!(seen.authors_since(2), [].into());
    assert_eq!(
        world.observation("prod").await.authors_since(0),
        [ada, grace].into(),
        "nothing of it changed"
    );
}
