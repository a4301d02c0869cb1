//! Tasks on ECS: the contract against the emulator, whose tasks run nothing; everything else against answers of ECS as its
//! documentation shows them.

use std::sync::Arc;

use aws_sdk_ecs::Client;
use secrecy::SecretString;
use yuba_aws::{EcsLauncher, LauncherSettings, Variables};
use yuba_core::id::AttemptId;
use yuba_core::time::Span;
use yuba_ports::contract::{self, AsyncEnd, LauncherFixture, attempt};
use yuba_ports::memory::{MemoryClock, MemoryStore};
use yuba_ports::{LaunchOutcome, Launcher, PortError, Remedy, StartTask, TaskStatus};

use crate::emulator::{emulator, fresh_installation, fresh_name};
use crate::script::Script;

const STARTED: &str =
    r#"{"tasks":[{"taskArn":"arn:aws:ecs:eu-central-1:1:task/c/1","lastStatus":"PROVISIONING"}]}"#;

fn settings(cluster: &str) -> LauncherSettings {
    let pairs = [
        ("YUBA_ECS_CLUSTER", cluster),
        ("YUBA_TASK_DEFINITION", "runner:1"),
        ("YUBA_TASK_SUBNETS", "subnet-1, subnet-2"),
        ("YUBA_TASK_SECURITY_GROUPS", "sg-1"),
        ("YUBA_PLAN_CAPACITY", "spot"),
        ("YUBA_TASKS_URL", "https://tasks.example"),
    ];
    let mut variables =
        Variables::new(pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
    let settings = LauncherSettings::read(&mut variables);
    variables.finish(settings).unwrap()
}

/// A launcher against a script, and its clock.
async fn scripted(answers: &[(u16, &str)]) -> (EcsLauncher, Script, Arc<MemoryClock>) {
    let (script, clock) = (Script::start(answers).await, Arc::new(MemoryClock::default()));
    let ports = (Arc::new(MemoryStore::default()) as Arc<_>, clock.clone() as Arc<_>);
    let launcher = EcsLauncher::new(&script.config().await, settings("c"), &fresh_installation(), ports);
    (launcher, script, clock)
}

async fn start(launcher: &EcsLauncher) -> Result<LaunchOutcome, PortError> {
    launcher.start(StartTask { attempt: attempt(1), token: SecretString::from("t0ken") }).await
}

struct Stopping {
    client: Client,
    cluster: String,
}

#[async_trait::async_trait]
impl AsyncEnd for Stopping {
    async fn end(&self, attempt: AttemptId) {
        let tasks = self.client.list_tasks().cluster(&self.cluster).started_by(attempt.to_string());
        let task = tasks.send().await.unwrap().task_arns()[0].clone();
        self.client.stop_task().cluster(&self.cluster).task(task).send().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_launcher_keeps_its_contract() {
    let (config, cluster) = (emulator().config().await, fresh_name());
    let client = Client::new(&config);
    client.create_cluster().cluster_name(&cluster).send().await.unwrap();
    let runner = aws_sdk_ecs::types::ContainerDefinition::builder().name("runner").image("runner").build();
    let definition = client.register_task_definition().family("runner").container_definitions(runner);
    definition.send().await.unwrap();
    let ports = (Arc::new(MemoryStore::default()) as Arc<_>, Arc::new(MemoryClock::default()) as Arc<_>);
    let launcher = EcsLauncher::new(&config, settings(&cluster), &fresh_installation(), ports);
    contract::launcher(&LauncherFixture { launcher, end: Box::new(Stopping { client, cluster }) }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_asked_for_by_its_attempt() {
    let (launcher, script, _) = scripted(&[(200, STARTED)]).await;
    assert_eq!(start(&launcher).await.unwrap(), LaunchOutcome::Started);
    let asked: serde_json::Value = serde_json::from_str(&script.asked()[0]).unwrap();
    let id = attempt(1).to_string();
    assert_eq!((&asked["clientToken"], &asked["startedBy"]), (&id.clone().into(), &id.clone().into()));
    assert_eq!(asked["capacityProviderStrategy"][0]["capacityProvider"], "FARGATE_SPOT");
    let vpc = serde_json::json!({"subnets": ["subnet-1", "subnet-2"], "securityGroups": ["sg-1"], "assignPublicIp": "DISABLED"});
    assert_eq!(asked["networkConfiguration"]["awsvpcConfiguration"], vpc);
    let environment = serde_json::json!([
        {"name": "YUBA_TASKS_URL", "value": "https://tasks.example"},
        {"name": "YUBA_TASK_TOKEN", "value": "t0ken"},
        {"name": "YUBA_ATTEMPT", "value": id},
    ]);
    assert_eq!(asked["overrides"]["containerOverrides"][0]["environment"], environment);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ecs_refuses_is_told_apart() {
    let failure = |reason: &str| format!(r#"{{"tasks":[],"failures":[{{"reason":"{reason}"}}]}}"#);
    let error = |code: &str, message: &str| format!(r#"{{"__type":"{code}","message":"{message}"}}"#);
    let vcpus = "You've reached the limit on the number of vCPUs you can run concurrently";
    for (answer, expected) in [
        ((200, failure("RESOURCE:MEMORY")), Ok(LaunchOutcome::NoRoom(Span::seconds(30)))),
        (
            (200, failure("Capacity is unavailable at this time.")),
            Ok(LaunchOutcome::NoRoom(Span::seconds(60))),
        ),
        ((400, error("ClientException", vcpus)), Ok(LaunchOutcome::NoRoom(Span::seconds(60)))),
        ((200, failure("AGENT")), Err(Remedy::Transient)),
        ((200, failure("ATTRIBUTE")), Err(Remedy::Permanent)),
        ((200, "{}".to_owned()), Err(Remedy::Transient)),
        ((400, error("ClientException", "TaskDefinition not found.")), Err(Remedy::Permanent)),
        ((400, error("AccessDeniedException", "no")), Err(Remedy::Permanent)),
    ] {
        let (launcher, _script, _) = scripted(&[(answer.0, &answer.1)]).await;
        assert_eq!(start(&launcher).await.map_err(|error| error.remedy), expected, "{answer:?}");
    }
    let throttled = error("ThrottlingException", "Rate exceeded");
    let (launcher, _script, _) = scripted(&[(400, throttled.as_str()); 4]).await;
    assert_eq!(start(&launcher).await.unwrap_err().remedy, Remedy::Transient);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_in_use_names_the_attempts_task() {
    let conflict = r#"{"__type":"ConflictException","message":"in use","resourceIds":["arn:task/1"]}"#;
    let stopped = r#"{"tasks":[{"lastStatus":"STOPPED","containers":[{"exitCode":1}]}]}"#;
    let (launcher, script, _) = scripted(&[(400, conflict), (200, stopped)]).await;
    assert_eq!(start(&launcher).await.unwrap(), LaunchOutcome::Started);
    let how = "exit code 1".to_owned();
    assert_eq!(launcher.describe(attempt(1)).await.unwrap(), TaskStatus::Stopped { how });
    assert!(script.asked()[1].contains("arn:task/1"), "{:?}", script.asked());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_ecs_does_not_know_has_stopped_once_it_can_be_forgotten() {
    let missing = r#"{"tasks":[],"failures":[{"reason":"MISSING"}]}"#;
    let (launcher, _script, clock) = scripted(&[(200, STARTED), (200, missing), (200, missing)]).await;
    start(&launcher).await.unwrap();
    clock.advance(Span::minutes(59));
    assert_eq!(launcher.describe(attempt(1)).await.unwrap(), TaskStatus::Running);
    clock.advance(Span::minutes(1));
    let status = launcher.describe(attempt(1)).await.unwrap();
    assert_eq!(status, TaskStatus::Stopped { how: "not known: ECS has forgotten it".to_owned() });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_nothing_is_remembered_of_is_found_and_killed() {
    let running = r#"{"taskArns":["arn:task/7"]}"#;
    let gone = r#"{"__type":"InvalidParameterException","message":"The referenced task was not found."}"#;
    let (launcher, script, _) = scripted(&[(200, running), (200, running), (400, gone)]).await;
    assert_eq!(launcher.describe(attempt(1)).await.unwrap(), TaskStatus::Running);
    launcher.kill(attempt(1)).await.unwrap();
    assert!(script.asked()[2].contains("arn:task/7"), "{:?}", script.asked());
}
