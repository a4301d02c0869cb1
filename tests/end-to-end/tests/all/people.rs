//! People decide in Slack: a press is believed by its signature, and counts for whom a team knows.

use std::sync::atomic::{AtomicUsize, Ordering};

use yuba_end_to_end::World;
use yuba_fake_slack::{FakeSlack, Message};

use crate::network;

const ADA: &str = "U0ADA";
const GRACE: &str = "U0GRACE";
const STRANGER: &str = "U0EVE";

/// Numbers presses, so that each is answered under a name of its own.
static PRESSES: AtomicUsize = AtomicUsize::new(0);

/// Slack as a provider that is told all, and a team of two.
fn manifests(chat: &FakeSlack) -> String {
    format!(
        "apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {{name: chat, namespace: infra}}
spec: {{type: slack, channel: '#infra', address: '{}', secretRef: {{name: chat}}}}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {{name: all, namespace: infra}}
spec:
  providerRef: {{name: chat}}
  eventSeverity: warning
  eventSources: [{{kind: Terraform, name: '*'}}, {{kind: Stack, name: '*'}}]
---
apiVersion: yuba.dev/v1
kind: Team
metadata: {{name: platform, namespace: infra}}
spec:
  members:
  - {{name: Ada Lovelace, email: ada@example.com, slack: {ADA}}}
  - {{name: Grace Hopper, email: grace@example.com, slack: {GRACE}}}
",
        chat.api()
    )
}

/// A stack `prod` with more lines of its spec, whose plan waits, and is shown in Slack.
fn asked(chat: &FakeSlack, spec: &str) -> World {
    asked_with(chat, spec, "")
}

/// The same with more manifests.
fn asked_with(chat: &FakeSlack, spec: &str, more: &str) -> World {
    let mut world = World::new();
    world.stack("prod", &network("prod", "one"), spec);
    world.repository.replace("flux/prod.yaml", "infra.contrib.fluxcd.io/v1alpha2", "yuba.dev/v1");
    world.repository.replace("flux/prod.yaml", "kind: Terraform", "kind: Stack");
    world.repository.write("flux/chat.yaml", &(manifests(chat) + more));
    let secret = world.dir().join("slack-signing-secret");
    std::fs::write(&secret, FakeSlack::SIGNING_SECRET).unwrap();
    let secret = secret.display().to_string();
    world.serve_with(&["--allow-private-webhooks", "--slack-signing-secret-file", &secret]);
    world.begin();
    world.yuba(&["secret", "set", "infra/chat", &format!("token={}", FakeSlack::TOKEN)]).ok();
    world.wait("prod", "awaiting-approval");
    world.until("the plan is shown", || chat.messages_with("a plan waits for approval").len() == 1);
    world
}

/// Somebody presses a button of a message; the name under which they are answered.
fn press(world: &World, chat: &FakeSlack, message: &Message, action: &str, user: &str) -> String {
    let name = format!("{user}{}", PRESSES.fetch_add(1, Ordering::Relaxed));
    let payload = chat.press(message, action, user, &name);
    assert_eq!(world.server().from_slack("/slack/interactive", &payload), 200);
    name
}

fn told(world: &World, chat: &FakeSlack, name: &str, what: &str) {
    let path = format!("/response/{name}");
    world.until(&format!("{name} is told: {what}"), || {
        chat.calls(&path).iter().any(|body| body["text"].as_str().unwrap_or_default().contains(what))
    });
}

#[test]
fn a_press_applies_what_the_message_shows_and_the_message_says_who_let_it() {
    let chat = FakeSlack::start(&["infra"]);
    let world = asked(&chat, "");
    let message = chat.messages_with("a plan waits for approval").remove(0);
    let stranger = press(&world, &chat, &message, "yuba.approve", STRANGER);
    told(&world, &chat, &stranger, "No Team knows U0EVE");
    assert_eq!(world.states("prod"), ["awaiting-approval"], "nothing was changed");
    press(&world, &chat, &message, "yuba.approve", ADA);
    world.wait("prod", "applied");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-prod"]);
    world.until("the same message says so", || chat.messages_with("infra/prod: applied").len() == 1);
    let shown = chat.messages().remove(0);
    assert_eq!((chat.messages().len(), &shown.ts), (1, &message.ts));
    assert!(shown.body.to_string().contains("Ada Lovelace"), "{shown:?}");
    let late = press(&world, &chat, &message, "yuba.approve", GRACE);
    told(&world, &chat, &late, "Run 1 is applied (Ada Lovelace approved it)");
    assert_eq!(chat.complaints(), Vec::<String>::new());
}

#[test]
fn drift_is_put_right_by_a_press() {
    let chat = FakeSlack::start(&["infra"]);
    let world = asked(&chat, "");
    let message = chat.messages_with("a plan waits for approval").remove(0);
    press(&world, &chat, &message, "yuba.approve", ADA);
    world.wait("prod", "applied");
    let edit =
        |body: &mut yuba_toy_cloud::Body| drop(body.insert("description".to_owned(), "by hand".into()));
    world.cloud.edit("toy_network", "net-prod", edit).unwrap();
    world.yuba(&["drift", "check", "prod"]).failed_with(2);
    world.until("drift is told", || chat.messages_with("Drift detected").len() == 1);
    let message = chat.messages_with("Drift detected").remove(0);
    let ignored = press(&world, &chat, &message, "yuba.ignore-24h", ADA);
    told(&world, &chat, &ignored, "Nobody is told of this drift until");
    world.until("the message says so", || !chat.messages_with("Ignored until").is_empty());
    assert!(world.get("prod")["status"].to_string().contains("Ada Lovelace ignores it until"));
    let message = chat.messages_with("Drift detected").remove(0);
    press(&world, &chat, &message, "yuba.remediate", GRACE);
    world.wait("prod", "applied");
    assert_eq!(world.cloud.read("toy_network", "net-prod").unwrap().unwrap()["description"], "one");
    assert_eq!(world.states("prod"), ["applied", "drifted", "applied"]);
}

#[test]
fn during_a_freeze_a_press_is_refused_and_once_it_is_taken_back_it_counts() {
    let chat = FakeSlack::start(&["infra"]);
    let freeze = "---
apiVersion: yuba.dev/v1
kind: Freeze
metadata: {name: year-end, namespace: infra}
spec: {reason: inventory}
";
    let world = asked_with(&chat, "", freeze);
    let message = chat.messages_with("a plan waits for approval").remove(0);
    let frozen =
        "Freeze infra/year-end (inventory): nothing is approved or applied while its manifest stands";
    let early = press(&world, &chat, &message, "yuba.approve", ADA);
    told(&world, &chat, &early, frozen);
    assert!(world.get("prod")["status"].to_string().contains(frozen), "{}", world.get("prod"));
    world.repository.replace("flux/chat.yaml", freeze, "");
    world.repository.push("Thaw");
    world.until("the freeze is taken back", || {
        let name = press(&world, &chat, &message, "yuba.approve", ADA);
        let path = format!("/response/{name}");
        world.until("whoever presses is told", || !chat.calls(&path).is_empty());
        !chat.calls(&path)[0].to_string().contains(frozen)
    });
    world.wait("prod", "applied");
}

#[test]
fn two_people_are_needed_where_the_rule_says_so_and_a_rejection_says_why() {
    let chat = FakeSlack::start(&["infra"]);
    let world = asked(&chat, "approval: {count: 2}");
    let message = chat.messages_with("a plan waits for approval").remove(0);
    let first = press(&world, &chat, &message, "yuba.approve", ADA);
    told(&world, &chat, &first, "still needed: 1 more approval");
    let again = press(&world, &chat, &message, "yuba.approve", ADA);
    told(&world, &chat, &again, "nobody counts twice");
    press(&world, &chat, &message, "yuba.reject", GRACE);
    let opened = chat.calls("views.open").remove(0);
    let payload = chat.submit(&opened, GRACE, "not on a Friday");
    assert_eq!(world.server().from_slack("/slack/interactive", &payload), 200);
    world.wait("prod", "discarded");
    let status = world.get("prod")["status"].to_string();
    assert!(status.contains("was rejected by Grace Hopper: not on a Friday"), "{status}");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), Vec::<String>::new());
}
