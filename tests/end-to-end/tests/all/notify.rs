//! Who is told what happens.

use std::time::Duration;

use yuba_end_to_end::World;
use yuba_fake_slack::{Answer, FakeSlack};

use crate::network;

/// A provider of Slack, and an alert that tells it what is wrong or waits.
fn slack(name: &str, slack: &FakeSlack) -> String {
    format!(
        "apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {{name: {name}, namespace: infra}}
spec: {{type: slack, channel: '#infra', address: '{}', secretRef: {{name: {name}}}}}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {{name: to-{name}, namespace: infra}}
spec:
  providerRef: {{name: {name}}}
  eventSeverity: warning
  eventSources: [{{kind: Terraform, name: '*'}}]
",
        slack.api()
    )
}

/// A stack `prod` whose plan waits, and Slack as its provider `chat`.
fn told(chat: &FakeSlack) -> World {
    let mut world = World::new();
    world.stack("prod", &network("prod", "one"), "");
    world.repository.write("flux/chat.yaml", &slack("chat", chat));
    world.serve_with(&["--allow-private-webhooks", "--web-url", "https://yuba.example"]);
    world.begin();
    world.wait("prod", "awaiting-approval");
    world
}

fn give_token(world: &World, provider: &str) {
    let token = format!("token={}", FakeSlack::TOKEN);
    world.yuba(&["secret", "set", &format!("infra/{provider}"), &token]).ok();
}

#[test]
fn a_push_is_one_message_in_slack_that_goes_on_to_say_applied() {
    let chat = FakeSlack::start(&["infra"]);
    let world = told(&chat);
    world.until("the provider says what it lacks", || {
        world.yuba(&["get", "providers"]).ok().contains("there is no secret infra/chat")
    });
    give_token(&world, "chat");
    world.until("the plan is shown", || {
        chat.messages_with("infra/prod: a plan waits for approval").len() == 1
    });
    let shown = chat.messages()[0].body.to_string();
    for part in ["toy_network.this", "https://yuba.example/runs/", "1 to add"] {
        assert!(shown.contains(part), "{part} is missing: {shown}");
    }
    world.yuba(&["approve", "prod", "--message", "<!channel> go"]).ok();
    world.until("it is shown as applied", || chat.messages_with("infra/prod: applied").len() == 1);
    let message = chat.messages().remove(0);
    assert_eq!(chat.messages().len(), 1, "it is one message: {:?}", chat.messages());
    assert!(message.edits > 0 && message.body.to_string().contains("&lt;!channel&gt; go"), "{message:?}");
    assert_eq!(chat.complaints(), Vec::<String>::new());
}

#[test]
fn drift_is_told_with_what_changed_and_shown_as_gone_when_it_is() {
    let chat = FakeSlack::start(&["infra"]);
    let world = told(&chat);
    give_token(&world, "chat");
    world.yuba(&["approve", "prod"]).ok();
    world.wait("prod", "applied");
    let edit =
        |body: &mut yuba_toy_cloud::Body| drop(body.insert("description".to_owned(), "by hand".into()));
    world.cloud.edit("toy_network", "net-prod", edit).unwrap();
    world.yuba(&["drift", "check", "prod"]).failed_with(2);
    world.until("drift is told", || chat.messages_with("Drift detected: 1 resource").len() == 1);
    let told = chat.messages_with("Drift detected").remove(0);
    assert!(told.body.to_string().contains("`toy_network.this`: description"), "{told:?}");
    let plan = world.get("prod")["plan"].as_str().unwrap().to_owned();
    world.yuba(&["approve", "prod", "--plan", &plan]).ok();
    world.until("the same message says that it is gone", || {
        chat.messages_with("drift that was found is gone").iter().any(|gone| gone.ts == told.ts)
    });
    assert_eq!(chat.complaints(), Vec::<String>::new());
}

#[test]
fn a_provider_that_hangs_keeps_no_other_waiting_and_is_tried_again() {
    let (quick, slow) = (FakeSlack::start(&["infra"]), FakeSlack::start(&["infra"]));
    slow.answer_next(Answer::new(503, "").late(Duration::from_mins(1)));
    let mut world = World::new();
    world.stack("prod", &network("prod", "one"), "");
    let manifest =
        |name: &str, of: &FakeSlack| slack(name, of).replace("type: slack", "type: slack, timeout: 5s");
    world.repository.write("flux/quick.yaml", &manifest("quick", &quick));
    world.repository.write("flux/slow.yaml", &manifest("slow", &slow));
    world.serve_with(&["--allow-private-webhooks"]);
    world.repository.push("Begin");
    world.start();
    give_token(&world, "quick");
    give_token(&world, "slow");
    world.until("the quick one shows the plan", || quick.messages().len() == 1);
    world.until("the slow one is not ready", || {
        world.yuba(&["get", "providers", "slow"]).ok().contains("did not answer in time")
    });
    world.until("it shows the plan in the end", || slow.messages().len() == 1);
    world.until("it is ready", || world.yuba(&["get", "providers", "slow"]).ok().contains("True"));
}

#[test]
fn a_provider_can_be_tried_and_says_what_is_wrong_with_it() {
    let chat = FakeSlack::start(&["elsewhere"]);
    let world = told(&chat);
    give_token(&world, "chat");
    let refused = world.yuba(&["notify", "test", "infra/chat"]).failed_with(3);
    assert!(refused.contains("`channel_not_found`"), "{refused}");
    world.repository.replace("flux/chat.yaml", "#infra", "#elsewhere");
    world.repository.push("Mend");
    world.until("what waited is sent", || chat.messages_with("a plan waits").len() == 1);
    let taken = world.yuba(&["notify", "test", "infra/chat"]).ok();
    assert!(taken.contains("the provider took the message"), "{taken}");
    assert_eq!(world.yuba(&["notify", "test", "infra/nobody"]).code, 1);
    assert_eq!(world.yuba(&["notify", "redeliver", "infra/chat"]).code, 0);
}

#[test]
fn private_addresses_are_not_reached_unless_that_is_allowed() {
    let chat = FakeSlack::start(&["infra"]);
    let mut world = World::new();
    world.stack("prod", &network("prod", "one"), "");
    world.repository.write("flux/chat.yaml", &slack("chat", &chat));
    world.begin();
    give_token(&world, "chat");
    world.until("the provider says so", || {
        world.yuba(&["get", "providers"]).ok().contains("127.0.0.1 lies in a private network")
    });
    assert_eq!(chat.messages(), []);
}
