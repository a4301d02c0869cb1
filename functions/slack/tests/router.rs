//! What Slack sends, over a world in memory: what is stored, who is woken, what is answered.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request as HttpCall, StatusCode};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tower::ServiceExt;
use yuba_core::id::{ContentDigest, ManifestSetName, ObjectName, RequestId, RunId, SecretName, SourceName};
use yuba_core::id::{StackId, StackName};
use yuba_core::message::{Cause, Message};
use yuba_core::notify::{Provider, ProviderSpec, Service};
use yuba_core::people::{Identity, Member, Roster, Team};
use yuba_core::record::{Key, Record, StackAlias};
use yuba_core::request::{Ask, Request, Seen};
use yuba_core::slack::button::ButtonValue;
use yuba_core::source::Definition;
use yuba_core::spec::{StackSpec, ValuesKind};
use yuba_core::stack::Stack;
use yuba_core::time::Span;
use yuba_ports::memory::MemoryWorld;
use yuba_ports::records::{load, put_any};
use yuba_ports::{Clock, Http, HttpAnswer, HttpRequest, NoAnswer, Queue, QueueName, Secrets, Store};
use yuba_slack::{Slack, SlackSettings, router, sign};

const SECRET: &str = "the app's signing secret";

/// Slack's methods: takes what it is sent, and says what it is told to.
#[derive(Default)]
struct Methods {
    called: Mutex<Vec<(String, String, Value)>>,
    refuses: Mutex<Option<&'static str>>,
}

#[async_trait]
impl Http for Methods {
    async fn post(&self, request: &HttpRequest) -> Result<HttpAnswer, NoAnswer> {
        let token =
            request.headers.iter().find(|(name, _)| name == "authorization").unwrap().1.expose_secret();
        let body = serde_json::from_slice(&request.body).unwrap();
        self.called.lock().unwrap().push((request.url.expose_secret().to_owned(), token.to_owned(), body));
        let refuses = *self.refuses.lock().unwrap();
        let said = refuses.map_or(json!({ "ok": true }), |error| json!({ "ok": false, "error": error }));
        let body = said.to_string().into_bytes();
        Ok(HttpAnswer { status: 200, retry_after: None, body })
    }
}

struct World {
    memory: MemoryWorld,
    methods: Arc<Methods>,
    router: Router,
    value: ButtonValue,
}

impl World {
    async fn new() -> Self {
        let memory = MemoryWorld::new();
        let methods = Arc::new(Methods::default());
        let settings = SlackSettings { signing_secrets: vec![SECRET.into()], http: methods.clone() };
        let router = router(Slack::new(memory.ports(), settings));
        let content = Some(ContentDigest([7; 32]));
        let value = ButtonValue::new(StackId(ulid::Ulid(1)), RunId(ulid::Ulid(2)), content);
        let world = Self { memory, methods, router, value };
        world.put(&definition(world.value.stack)).await;
        world.put(&provider()).await;
        let token = [("token".to_owned(), "xoxb-1".into())].into();
        let name = SecretName::new("infra", "slack");
        world.memory.secrets.put(ValuesKind::Secret, &name, token).await.unwrap();
        world
    }

    async fn put<T: Record>(&self, record: &T) {
        self.memory.store.commit(vec![put_any(record).unwrap()]).await.unwrap();
    }

    /// Sends a body as Slack does, signed this many seconds ago.
    async fn send(&self, path: &str, body: String, seconds_ago: i64) -> (StatusCode, String) {
        let stamp = (self.memory.clock.now().0 / 1000 - seconds_ago).to_string();
        let signature = sign(&SECRET.into(), &stamp, body.as_bytes()).unwrap();
        let call = HttpCall::post(path)
            .header("x-slack-request-timestamp", stamp)
            .header("x-slack-signature", signature)
            .body(Body::from(body))
            .unwrap();
        let answer = self.router.clone().oneshot(call).await.unwrap();
        let status = answer.status();
        let body = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    async fn interact(&self, payload: &Value) -> (StatusCode, String) {
        self.send("/slack/interactive", form(payload), 0).await
    }

    async fn press(&self, action: &str) -> (StatusCode, String) {
        self.interact(&self.pressed(action)).await
    }

    fn pressed(&self, action: &str) -> Value {
        json!({
            "type": "block_actions",
            "user": { "id": "U1" },
            "team": { "id": "T1" },
            "channel": { "id": "C1" },
            "trigger_id": "1.2.abc",
            "response_url": "https://hooks.slack.example/1",
            "actions": [{ "type": "button", "action_id": action, "value": self.value.to_string() }],
        })
    }

    /// The modal that was opened, submitted with a text.
    async fn submit(&self, typed: &str) -> (StatusCode, String) {
        let view = self.methods.called.lock().unwrap().last().unwrap().2["view"].clone();
        let values = json!({ "yuba.input": { "yuba.text": { "value": typed } } });
        let view = json!({
            "callback_id": view["callback_id"],
            "private_metadata": view["private_metadata"],
            "state": { "values": values },
        });
        let team = json!({ "id": "T1" });
        self.interact(
            &json!({ "type": "view_submission", "user": { "id": "U1" }, "team": team, "view": view }),
        )
        .await
    }

    /// The requests that stacks were woken for.
    async fn requests(&self) -> Vec<Request> {
        let received = self.memory.queue.receive(QueueName::Stacks, 10, Span::ZERO).await.unwrap();
        let mut requests = Vec::new();
        for received in received {
            let Message { cause: Cause::Request(id), .. } = received.message else {
                continue;
            };
            self.memory.queue.ack(&received).await.unwrap();
            requests.push(self.request(id).await);
        }
        requests
    }

    async fn request(&self, id: RequestId) -> Request {
        load::<Request>(&*self.memory.store, &Key::request(id)).await.unwrap().unwrap().into_value()
    }
}

fn form(payload: &Value) -> String {
    form_urlencoded::Serializer::new(String::new()).append_pair("payload", &payload.to_string()).finish()
}

fn definition(stack: StackId) -> Definition {
    Definition {
        stack,
        name: StackName::new("infra", "prod"),
        set: ManifestSetName("flux".to_owned()),
        snapshot: 1,
        spec: StackSpec::new(SourceName::new("infra", "code"), "prod", Span::minutes(10)),
        place: "flux/prod.yaml:1".to_owned(),
        vanished: None,
        author: None,
        author_known_by: None,
        author_identity: None,
        held_back: None,
        may_be: Vec::new(),
    }
}

fn provider() -> Provider {
    Provider {
        name: ObjectName::new("infra", "slack"),
        spec: ProviderSpec {
            service: Service::Slack,
            address: Some("https://slack.example/api/chat.postMessage".to_owned()),
            channel: Some("C1".to_owned()),
            username: None,
            timeout: None,
            secret: Some(SecretName::new("infra", "slack")),
            suspend: false,
        },
        set: ManifestSetName("flux".to_owned()),
        snapshot: 1,
        place: "flux/slack.yaml:1".to_owned(),
        vanished: None,
    }
}

#[tokio::test]
async fn a_press_becomes_a_request_about_what_was_seen() {
    let world = World::new().await;
    assert_eq!(world.press("yuba.approve").await, (StatusCode::OK, String::new()));
    let request = world.requests().await.remove(0);
    assert_eq!(request.ask, Ask::Approve { plan: None, digest: None });
    assert_eq!(request.seen, Some(Seen { run: world.value.run, content: world.value.content }));
    assert_eq!((request.by.who.as_str(), request.by.from.as_str()), ("slack:T1/U1", "slack"));
    assert_eq!(request.by.identity, Some(Identity::slack("U1")));
    let reply = request.reply.unwrap();
    assert_eq!(reply.response_url.as_deref(), Some("https://hooks.slack.example/1"));
    assert_eq!((reply.user.as_str(), reply.channel.as_deref()), ("U1", Some("C1")));
}

#[tokio::test]
async fn the_same_request_again_an_old_one_and_an_unsigned_one_are_refused() {
    let world = World::new().await;
    let body = form(&world.pressed("yuba.approve"));
    assert_eq!(world.send("/slack/interactive", body.clone(), 0).await.0, StatusCode::OK);
    let (status, why) = world.send("/slack/interactive", body.clone(), 0).await;
    assert_eq!((status, why.as_str()), (StatusCode::UNAUTHORIZED, r#"{"error":"the request came before"}"#));
    assert_eq!(world.send("/slack/interactive", body.clone(), 301).await.0, StatusCode::UNAUTHORIZED);
    let unsigned = HttpCall::post("/slack/interactive").body(Body::from(body)).unwrap();
    let answer = world.router.clone().oneshot(unsigned).await.unwrap();
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(world.requests().await.len(), 1);
}

#[tokio::test]
async fn a_rejection_asks_why_first() {
    let world = World::new().await;
    assert_eq!(world.press("yuba.reject").await.0, StatusCode::OK);
    assert_eq!(world.requests().await, []);
    let (url, token, body) = world.methods.called.lock().unwrap()[0].clone();
    assert_eq!((url.as_str(), token.as_str()), ("https://slack.example/api/views.open", "Bearer xoxb-1"));
    assert_eq!(
        (&body["trigger_id"], &body["view"]["callback_id"]),
        (&json!("1.2.abc"), &json!("yuba.reject"))
    );
    assert_eq!(world.submit("too late in the day").await.0, StatusCode::OK);
    let request = world.requests().await.remove(0);
    assert_eq!((request.ask, request.by.message.as_str()), (Ask::Reject, "too late in the day"));
    assert_eq!(request.reply.unwrap().response_url.as_deref(), Some("https://hooks.slack.example/1"));
}

#[tokio::test]
async fn a_destruction_is_confirmed_by_the_stacks_name_alone() {
    let world = World::new().await;
    world.press("yuba.confirm-destroy").await;
    let (status, body) = world.submit("infra/dev").await;
    let wrong = r#"{"response_action":"errors","errors":{"yuba.input":"That is not the stack's name, which is infra/prod."}}"#;
    assert_eq!(
        (status, serde_json::from_str::<Value>(&body).unwrap()),
        (StatusCode::OK, serde_json::from_str(wrong).unwrap())
    );
    assert_eq!(world.requests().await, []);
    assert_eq!(world.submit(" infra/prod ").await, (StatusCode::OK, String::new()));
    let digest = world.value.content.map(|content| content.short());
    assert_eq!(world.requests().await.remove(0).ask, Ask::Approve { plan: None, digest });
}

#[tokio::test]
async fn a_modal_that_slack_does_not_open_is_no_success() {
    let world = World::new().await;
    *world.methods.refuses.lock().unwrap() = Some("expired_trigger_id");
    assert_eq!(world.press("yuba.reject").await.0, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn drift_is_answered_by_its_buttons() {
    for (action, ask) in [
        ("yuba.ignore-24h", Ask::IgnoreDrift { hours: 24 }),
        ("yuba.ignore-7d", Ask::IgnoreDrift { hours: 168 }),
        ("yuba.acknowledge", Ask::AcknowledgeDrift),
    ] {
        let world = World::new().await;
        assert_eq!(world.press(action).await.0, StatusCode::OK, "{action}");
        let asked: Vec<Ask> = world.requests().await.into_iter().map(|request| request.ask).collect();
        assert_eq!(asked, [ask], "{action}");
    }
}

#[tokio::test]
async fn nothing_follows_from_what_is_not_ours_or_about_nothing_known() {
    let mut world = World::new().await;
    for action in ["vendor.ok", "yuba.view-plan"] {
        assert_eq!(world.press(action).await.0, StatusCode::OK, "{action}");
    }
    let unreadable = world.send("/slack/interactive", "payload=%7B".to_owned(), 0).await;
    assert_eq!(unreadable.0, StatusCode::BAD_REQUEST);
    world.value = ButtonValue::new(StackId(ulid::Ulid(9)), world.value.run, None);
    assert_eq!(world.press("yuba.approve").await.0, StatusCode::OK);
    assert_eq!(world.requests().await, []);
}

#[tokio::test]
async fn a_command_is_answered_to_whom_a_team_knows() {
    let world = World::new().await;
    let ask = |text: &str| format!("team_id=T1&user_id=U1&command=%2Fyuba&text={}", text.replace(' ', "+"));
    let told = |(status, body): (StatusCode, String)| {
        assert_eq!(status, StatusCode::OK);
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["response_type"], "ephemeral");
        body["text"].as_str().unwrap().to_owned()
    };
    let stranger = told(world.send("/slack/commands", ask("status"), 0).await);
    assert_eq!(stranger, "No Team knows you: ask whoever keeps the manifests for an entry in a Team.");
    let now = world.memory.clock.now();
    let member = Member { name: None, identities: [Identity::slack("U1")].into() };
    let team = Team {
        name: ObjectName::new("infra", "platform"),
        set: ManifestSetName("flux".to_owned()),
        snapshot: 1,
        place: "flux/teams.yaml:1".to_owned(),
        members: vec![member],
    };
    world.put(&team).await;
    world.put(&Roster { changes: 1 }).await;
    let name = StackName::new("infra", "prod");
    world.put(&StackAlias { name: name.clone(), stack: world.value.stack }).await;
    let mut stack = Stack::new(world.value.stack, name, now);
    stack.shown.status = "Applied <!here>".to_owned();
    world.put(&stack).await;
    for text in ["status", "status prod", "status infra/prod"] {
        let told = told(world.send("/slack/commands", ask(text), 1).await);
        assert_eq!(told, "*infra/prod* Applied &lt;!here&gt;", "{text}");
    }
    assert_eq!(told(world.send("/slack/commands", ask("plan prod"), 0).await), "It has no run yet.");
    assert_eq!(told(world.send("/slack/commands", ask("runs dev"), 0).await), "There is no stack `dev`.");
    assert!(told(world.send("/slack/commands", ask("hello"), 0).await).starts_with("Ask for one of:"));
}
