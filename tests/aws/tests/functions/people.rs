//! People decide in Slack: from a push to one message, by a press to an apply, and the same for drift.

use serde_json::json;
use yuba_core::id::Phase;
use yuba_fake_slack::{FakeSlack, Message};

use crate::world::{SLACK_SECRET, TOKEN, World};

const ADA: &str = "U0ADA";
const STRANGER: &str = "U0EVE";

/// Slack as a provider that is told what waits or is wrong, and a team of one.
fn manifests(chat: &FakeSlack) -> String {
    format!(
        "---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {{name: chat, namespace: default}}
spec: {{type: slack, channel: '#infra', address: '{}', secretRef: {{name: chat}}}}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {{name: all, namespace: default}}
spec:
  providerRef: {{name: chat}}
  eventSeverity: warning
  eventSources: [{{kind: Terraform, name: '*'}}]
---
apiVersion: yuba.dev/v1
kind: Team
metadata: {{name: platform, namespace: default}}
spec:
  members: [{{name: Ada Lovelace, email: ada@example.com, slack: {ADA}}}]
",
        chat.api()
    )
}

impl World {
    /// The one message that shows a text, once there is one.
    async fn shown(&self, chat: &FakeSlack, text: &str) -> Message {
        self.until(text, async || chat.messages_with(text).pop()).await
    }

    async fn press(&self, chat: &FakeSlack, message: &Message, (user, action): (&str, &str)) {
        let payload = chat.press(message, action, user, user);
        let (status, refused) = self.slack_sends("somebody else's secret, as long as", &payload).await;
        assert_eq!(status, 401, "{refused}");
        let (status, answer) = self.slack_sends(SLACK_SECRET, &payload).await;
        assert_eq!((status, answer.as_str()), (200, ""));
    }

    /// What comes of a press besides a decision: a private answer, and a modal, for which the bot's token is read.
    async fn refuses_strangers_and_opens_modals(&self, chat: &FakeSlack, message: &Message) {
        self.press(chat, message, (STRANGER, "yuba.approve")).await;
        let told = async || chat.calls("/response/U0EVE").pop();
        let told = self.until("the stranger is told", told).await;
        assert!(told["text"].as_str().unwrap().contains("No Team knows U0EVE"), "{told}");
        self.press(chat, message, (ADA, "yuba.reject")).await;
        assert_eq!(chat.calls("views.open").len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_press_in_slack_applies_and_puts_drift_right() {
    let chat = FakeSlack::start(&["infra"]);
    let world = World::deploy("approvePlan: ''", &manifests(&chat)).await;
    let secret = json!({ "values": { "token": FakeSlack::TOKEN } });
    let (status, answer) = world.put("api", "/api/v1/secrets/default/chat", TOKEN, &secret).await;
    assert!((200..300).contains(&status), "{answer}");
    let topic = world.subscribe("dev.yuba.drift.detected").await;

    let (status, answer) = world.push(crate::world::WEBHOOK_SECRET).await;
    assert_eq!(status, 202, "{answer}");
    world.claims(Phase::Plan, None).await.planned('a', false).await;
    let asked = world.shown(&chat, "a plan waits for approval").await;
    assert!(asked.body.to_string().contains("toy_network.this"), "{asked:?}");
    world.refuses_strangers_and_opens_modals(&chat, &asked).await;
    world.press(&chat, &asked, (ADA, "yuba.approve")).await;
    world.claims(Phase::Apply, None).await.applied().await;
    let applied = world.shown(&chat, "default/net: applied").await;
    assert_eq!((chat.messages().len(), &applied.ts), (1, &asked.ts), "the same message");
    assert!(applied.body.to_string().contains("Ada Lovelace"), "{applied:?}");

    let (status, answer) =
        world.post("api", "/api/v1/stacks/default/net/drift-check", TOKEN, &json!({})).await;
    assert_eq!(status, 202, "{answer}");
    let check = world.claims(Phase::Plan, None).await;
    check.planned('d', true).await;
    let drift = world.shown(&chat, "Drift detected").await;
    let event = world.until("the topic tells of it", async || world.event(&topic).await).await;
    assert_eq!(
        (&event["subject"], &event["type"]),
        (&json!("default/net"), &json!("dev.yuba.drift.detected"))
    );
    world.press(&chat, &drift, (ADA, "yuba.remediate")).await;
    world.claims(Phase::Plan, Some(check.attempt())).await.planned('d', true).await;
    world.claims(Phase::Apply, None).await.applied().await;
    let gone = world.shown(&chat, "drift that was found is gone").await;
    assert_eq!((chat.messages().len(), &gone.ts), (2, &drift.ts), "the message of the drift says so");
    let (_, net) = world.get("api", "/api/v1/stacks/default/net", TOKEN).await;
    assert!(net.contains(r#""state":"applied""#), "{net}");
    assert_eq!(chat.complaints(), Vec::<String>::new());
}
