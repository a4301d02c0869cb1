//! The emulator with the functions deployed on it, and a repository.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::{Credentials, Region};
use aws_sdk_sqs::types::QueueAttributeName;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use yuba_aws::{
    BlobsSettings, DynamoStore, EcsLauncher, LauncherSettings, S3Blobs, StoreSettings, Variables,
};
use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::id::AttemptId;
use yuba_core::message::Message;
use yuba_core::record::{Index, Key, Record};
use yuba_core::run::Run;
use yuba_git::webhook::sign;
use yuba_ports::memory::MemoryClock;
use yuba_ports::records::{Versioned, load, page};
use yuba_ports::{Launcher, Order, Query, TaskStatus};
use yuba_toy_cloud::Cloud;

use crate::repository::{ONE, Repository, TERRAFORM, manifest};
use crate::runner::TASKS;

/// As `deploy.py` stores them.
pub(crate) const KEY: &str = "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk";
pub(crate) const TOKEN: &str = "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt";
pub(crate) const WEBHOOK_SECRET: &str = "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww";
pub(crate) const SLACK_SECRET: &str = "ssssssssssssssssssssssssssssssss";
/// What is no message; `deploy.py` sends it.
pub(crate) const POISON: &str = "what is no message";

/// How long anything may take, on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(4);

/// What `deploy.py` made.
#[derive(Deserialize)]
struct Deployed {
    urls: BTreeMap<String, String>,
    settings: BTreeMap<String, String>,
    /// The bucket for states.
    states: String,
}

pub(crate) struct World {
    endpoint: String,
    deployed: Deployed,
    pub(crate) repository: Repository,
    pub(crate) cloud: Cloud,
    config: aws_config::SdkConfig,
    http: reqwest::Client,
    directory: TempDir,
    /// Its standard input stays open as long as this process lives; the emulator ends with it.
    _emulator: Child,
}

impl World {
    /// Deploys the functions for a stack with a line of its spec and other manifests. Its tasks wait, and are never begun.
    pub(crate) async fn deploy(stack: &str, others: &str) -> Self {
        let world = Self::bare().await;
        world.control(&json!({ "hold": true }));
        let spec = format!("interval: 1h\n  {stack}");
        world
            .repository
            .commit(&[("flux/all.yaml", &manifest(TERRAFORM, &spec, others)), ("net/main.tf", ONE)]);
        world
    }

    /// Deploys the functions for a repository that is empty. Its tasks run.
    pub(crate) async fn bare() -> Self {
        let directory = tempfile::tempdir().unwrap();
        open_to_all(directory.path());
        let repository = Repository::begin(directory.path());
        let cloud = Cloud::at(directory.path().join("cloud"));
        cloud.open().unwrap();
        let (emulator, endpoint) = emulator(directory.path());
        let plan = directory.path().join("plan.json");
        fs::write(&plan, planned(&format!("{}@main//flux", repository.url())).to_string()).unwrap();
        let script = root().join("tests/aws/deploy.py");
        let printed = run(python().arg(script).arg(&endpoint).arg(programs()).arg(plan));
        let config = yuba_aws::loader()
            .endpoint_url(&endpoint)
            .region(Region::new("eu-central-1"))
            .credentials_provider(Credentials::new("111122223333", "test", None, None, "tests"))
            .load()
            .await;
        Self {
            deployed: serde_json::from_str(&printed).unwrap(),
            endpoint,
            repository,
            cloud,
            config,
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            directory,
            _emulator: emulator,
        }
    }

    /// Tells of a push, signed with this secret.
    pub(crate) async fn push(&self, secret: &str) -> (u16, String) {
        let body = json!({ "url": self.repository.url(), "ref": "refs/heads/main" }).to_string();
        let signature = sign(body.as_bytes(), &SecretString::from(secret)).unwrap();
        let request = self.request("webhook", "/webhooks/generic", reqwest::Method::POST);
        answer(request.header("x-yuba-signature", signature).body(body)).await
    }

    /// Tells of a push as GitHub does: a delivery, and the commits from and to which the branch moved.
    pub(crate) async fn github(&self, (delivery, before, after): (&str, &str, &str)) -> (u16, String) {
        let repository = json!({ "clone_url": self.repository.url(), "full_name": "a/infra" });
        let body = json!({ "ref": "refs/heads/main", "before": before, "after": after, "created": false, "deleted": false,
            "forced": false, "repository": repository, "pusher": { "name": "ada" }, "commits": [] });
        let body = body.to_string();
        let signature = sign(body.as_bytes(), &SecretString::from(WEBHOOK_SECRET)).unwrap();
        let request = self.request("webhook", "/webhooks/github", reqwest::Method::POST);
        let request = request.header("x-hub-signature-256", signature).header("x-github-event", "push");
        answer(request.header("x-github-delivery", delivery).body(body)).await
    }

    /// Has a function called with a message, as if its queue had delivered it.
    pub(crate) async fn invoke(&self, function: &str, number: usize, message: &Message) -> (u16, String) {
        let record = json!({ "messageId": format!("m-{number}"), "receiptHandle": format!("r-{number}"),
            "body": serde_json::to_string(message).unwrap(), "messageAttributes": {},
            "attributes": { "SentTimestamp": "1", "MessageGroupId": message.group(), "ApproximateReceiveCount": "1" } });
        let function = format!("yuba-demo-{function}");
        let url = format!("{}/2015-03-31/functions/{function}/invocations", self.endpoint);
        let who = "AWS4-HMAC-SHA256 Credential=111122223333/20260101/eu-central-1/lambda/aws4_request, \
            SignedHeaders=host, Signature=none";
        answer(self.http.post(url).header("authorization", who).json(&json!({ "Records": [record] }))).await
    }

    pub(crate) async fn post(&self, function: &str, path: &str, token: &str, body: &Value) -> (u16, String) {
        answer(self.request(function, path, reqwest::Method::POST).bearer_auth(token).json(body)).await
    }

    pub(crate) async fn get(&self, function: &str, path: &str, token: &str) -> (u16, String) {
        answer(self.request(function, path, reqwest::Method::GET).bearer_auth(token)).await
    }

    /// A request to a function's URL.
    fn request(&self, function: &str, path: &str, method: reqwest::Method) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.deployed.urls[function].trim_end_matches('/')))
    }

    pub(crate) async fn put(&self, function: &str, path: &str, token: &str, body: &Value) -> (u16, String) {
        answer(self.request(function, path, reqwest::Method::PUT).bearer_auth(token).json(body)).await
    }

    /// Posts a payload as Slack does, signed with this secret.
    #[expect(clippy::disallowed_methods, reason = "Slack signs by the clock")]
    pub(crate) async fn slack_sends(&self, secret: &str, payload: &Value) -> (u16, String) {
        let mut body = form_urlencoded::Serializer::new(String::new());
        let body = body.append_pair("payload", &payload.to_string()).finish();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().to_string();
        let signature = yuba_slack::sign(&secret.into(), &now, body.as_bytes()).unwrap();
        let request = self.request("slack", "/slack/interactive", reqwest::Method::POST);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let request = request.header("x-slack-request-timestamp", now).header("x-slack-signature", signature);
        answer(request.body(body)).await
    }

    /// A queue that is told of events of a type by the topic.
    pub(crate) async fn subscribe(&self, kind: &str) -> String {
        let (sns, sqs) = (aws_sdk_sns::Client::new(&self.config), Client::new(&self.config));
        let url = sqs.create_queue().queue_name("subscriber").send().await.unwrap().queue_url.unwrap();
        let arn = sqs.get_queue_attributes().queue_url(&url).attribute_names(QueueAttributeName::QueueArn);
        let arn = arn.send().await.unwrap().attributes.unwrap()[&QueueAttributeName::QueueArn].clone();
        let request = sns.subscribe().topic_arn(&self.deployed.settings["YUBA_TOPIC_ARN"]);
        let request = request.protocol("sqs").endpoint(arn).attributes("RawMessageDelivery", "true");
        let filter = json!({ "type": [kind] }).to_string();
        request.attributes("FilterPolicy", filter).send().await.unwrap();
        url
    }

    /// The next event of a queue that the topic tells.
    pub(crate) async fn event(&self, url: &str) -> Option<Value> {
        let received = Client::new(&self.config).receive_message().queue_url(url).send().await.unwrap();
        let message = received.messages.unwrap_or_default().pop()?;
        serde_json::from_str(&message.body.unwrap()).ok()
    }

    /// Where a function is reached.
    pub(crate) fn url(&self, function: &str) -> &str {
        &self.deployed.urls[function]
    }

    /// The bucket for states, and where it is reached.
    pub(crate) fn states(&self) -> (&str, &str) {
        (&self.deployed.states, &self.endpoint)
    }

    /// A file of tasks.
    pub(crate) fn tasks(&self, file: &str) -> PathBuf {
        self.directory.path().join(TASKS).join(file)
    }

    /// Where the functions keep objects.
    pub(crate) fn blobs(&self) -> S3Blobs {
        let mut variables = Variables::new(self.deployed.settings.clone());
        let settings = BlobsSettings::read(&mut variables).zip(StoreSettings::read(&mut variables));
        let (settings, store) = variables.finish(settings).unwrap();
        S3Blobs::new(&self.config, settings, &store.installation)
    }

    /// Whether a task has claimed an attempt.
    pub(crate) async fn is_claimed(&self, attempt: AttemptId) -> bool {
        let record = load::<Attempt>(&self.store(), &Key::attempt(attempt)).await.unwrap();
        record.is_some_and(|record| record.state == AttemptState::Claimed)
    }

    /// The attempts of the newest run, oldest first.
    pub(crate) async fn attempts(&self) -> Vec<AttemptId> {
        let run = self.newest().await;
        run.map(|run| run.attempts.iter().map(|note| note.id).collect()).unwrap_or_default()
    }

    /// The attempt whose task the orchestrator had run, once it has.
    pub(crate) async fn task(&self) -> Option<AttemptId> {
        let attempt = self.newest().await?.attempt_out()?;
        let status = self.launcher().describe(attempt).await.unwrap();
        (status == TaskStatus::Running).then_some(attempt)
    }

    async fn newest(&self) -> Option<Run> {
        self.runs().await.into_iter().next()
    }

    /// All runs, the newest first.
    pub(crate) async fn runs(&self) -> Vec<Run> {
        self.list(Index::Runs).await
    }

    /// The last records of an index, the last first.
    pub(crate) async fn list<T: Record>(&self, index: Index) -> Vec<T> {
        let query = Query::Index {
            index,
            prefix: String::new(),
            up_to: None,
            order: Order::Descending,
            after: None,
            limit: 10,
        };
        let (runs, _) = page::<T>(&self.store(), query).await.unwrap();
        runs.into_iter().map(Versioned::into_value).collect()
    }

    pub(crate) fn store(&self) -> DynamoStore {
        let mut variables = Variables::new(self.deployed.settings.clone());
        let settings = StoreSettings::read(&mut variables);
        DynamoStore::new(&self.config, &variables.finish(settings).unwrap())
    }

    /// The launcher with which the orchestrator had it run.
    pub(crate) fn launcher(&self) -> EcsLauncher {
        let mut variables = Variables::new(self.deployed.settings.clone());
        let settings = LauncherSettings::read(&mut variables).zip(StoreSettings::read(&mut variables));
        let (settings, store) = variables.finish(settings).unwrap();
        let (records, clock) = (Arc::new(self.store()), Arc::new(MemoryClock::default()));
        EcsLauncher::new(&self.config, settings, &store.installation, (records, clock))
    }

    /// Waits until no message is on its way any more.
    pub(crate) async fn settled(&self) {
        for name in ["YUBA_SOURCES_QUEUE_URL", "YUBA_STACKS_QUEUE_URL"] {
            let is_empty = async || self.is_empty(&self.deployed.settings[name]).await.then_some(());
            self.until("a queue is empty", is_empty).await;
        }
    }

    /// Takes all messages for stacks out of their queue.
    pub(crate) async fn drain_stacks(&self) -> Vec<Message> {
        let (sqs, url) = (Client::new(&self.config), &self.deployed.settings["YUBA_STACKS_QUEUE_URL"]);
        let mut messages = Vec::new();
        while !self.is_empty(url).await {
            let received =
                sqs.receive_message().queue_url(url).max_number_of_messages(10).wait_time_seconds(0);
            for message in received.send().await.unwrap().messages.unwrap_or_default() {
                sqs.delete_message()
                    .queue_url(url)
                    .receipt_handle(message.receipt_handle.unwrap())
                    .send()
                    .await
                    .unwrap();
                messages.extend(serde_json::from_str::<Message>(&message.body.unwrap()));
            }
        }
        messages
    }

    async fn is_empty(&self, url: &str) -> bool {
        let sqs = Client::new(&self.config);
        let asked = sqs.get_queue_attributes().queue_url(url).attribute_names(QueueAttributeName::All);
        let told = asked.send().await.unwrap().attributes.unwrap();
        let hidden = QueueAttributeName::ApproximateNumberOfMessagesNotVisible;
        told[&QueueAttributeName::ApproximateNumberOfMessages] == "0" && told[&hidden] == "0"
    }

    /// The dead letters for stacks, as the API lists them: what each is, and why it is one.
    pub(crate) async fn dead_letters(&self) -> Vec<(String, String)> {
        let (status, listed) = self.get("api", "/api/v1/queues/stacks/dead-letters", TOKEN).await;
        assert_eq!(status, 200, "{listed}");
        let listed: Value = serde_json::from_str(&listed).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let items = listed["items"].as_array().unwrap().iter();
        items.map(|item| (text(&item["message"]), text(&item["why"]))).collect()
    }

    /// Looks again and again until there is something.
    pub(crate) async fn until<T>(&self, what: &str, look: impl AsyncFn() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look().await {
                return found;
            }
            assert!(begun.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

async fn answer(request: reqwest::RequestBuilder) -> (u16, String) {
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

/// The emulator, with real time for its queues, and where it listens.
#[expect(clippy::disallowed_methods, reason = "tests run programs as people do")]
fn emulator(directory: &Path) -> (Child, String) {
    let tasks = directory.join(TASKS);
    fs::create_dir(&tasks).unwrap();
    open_to_all(&tasks);
    let mut emulator = python()
        .arg(root().join("tests/aws/emulator.py"))
        .env("TMPDIR", directory)
        .env("YUBA_EMULATOR_TASKS", tasks)
        .env("YUBA_EMULATOR_RUNNER", programs().join("yuba-runner"))
        .env("TF_CLI_CONFIG_FILE", yuba_toy_cloud::shared_mirror().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut endpoint = String::new();
    BufReader::new(emulator.stdout.take().unwrap()).read_line(&mut endpoint).unwrap();
    (emulator, endpoint.trim().to_owned())
}

/// What comes of `infra/` with these manifests.
fn planned(manifests: &str) -> Value {
    let mut input = yuba_infra::minimal_input();
    input["manifests"] = manifests.into();
    yuba_infra::Copy::of("minimal", &input).made().plan()
}

/// Lets every user pass and use a directory: each engine is another one.
fn open_to_all(directory: &Path) {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o1777)).unwrap();
}

/// What a function says that is started with these settings, and cannot run.
#[expect(clippy::disallowed_methods, reason = "tests run programs as people do")]
pub(crate) fn start(function: &str, settings: &[(&str, &str)]) -> String {
    let program = programs().join(format!("yuba-{function}"));
    let output = Command::new(program)
        .env_clear()
        .env("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:9")
        .envs(settings.iter().copied())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "tests run programs as people do")]
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn python() -> Command {
    let python = root().join(".yuba/aws-emulator/bin/python");
    assert!(python.exists(), "the AWS emulator is not installed; run: tests/aws/setup.sh");
    Command::new(python)
}

/// Where the built programs lie: in `target/<profile>/` above this test.
pub(crate) fn programs() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let place = here.ancestors().nth(2).unwrap().to_owned();
    assert!(
        place.join("yuba-webhook").exists(),
        "the functions are not built; run: cargo build --workspace --bins"
    );
    place
}
