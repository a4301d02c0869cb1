//! Each function: its settings, its triggers, its alarms.

use std::collections::BTreeSet;

use serde_json::json;
use walkdir::WalkDir;
use yuba_core::task::environment;
use yuba_infra::{FUNCTIONS, infra};

use crate::kit::{existing_vpc, plans};

const STORE: &[&str] = &["YUBA_INSTALLATION", "YUBA_TABLE"];
const QUEUE: &[&str] = &[
    "YUBA_SOURCES_QUEUE_URL",
    "YUBA_STACKS_QUEUE_URL",
    "YUBA_NOTICES_QUEUE_URL",
    "YUBA_SOURCES_DEAD_QUEUE_URL",
    "YUBA_STACKS_DEAD_QUEUE_URL",
    "YUBA_NOTICES_DEAD_QUEUE_URL",
];
const BLOBS: &[&str] = &["YUBA_BUCKET", "YUBA_KMS_KEY"];
const SECRETS: &[&str] = &["YUBA_SECRETS_PREFIX", "YUBA_CONFIG_MAPS_PREFIX", "YUBA_KMS_KEY"];
const PUBLISHER: &[&str] = &["YUBA_TOPIC_ARN"];
const CREDENTIALS: &[&str] = &["YUBA_EXTERNAL_ID"];
const LAUNCHER: &[&str] = &[
    "YUBA_ECS_CLUSTER",
    "YUBA_PLAN_CAPACITY",
    "YUBA_TASK_CONTAINER",
    "YUBA_TASK_DEFINITION",
    "YUBA_TASK_PUBLIC_IP",
    "YUBA_TASK_SECURITY_GROUPS",
    "YUBA_TASK_SUBNETS",
    environment::URL,
];
/// Set in one of the examples.
const CAPS: [&str; 2] = ["YUBA_TASKS_MOST", "YUBA_TASKS_MOST_PER_LABEL"];
const MANIFESTS: &[&str] = &["YUBA_MANIFESTS"];
const KEY: &[&str] = &["YUBA_TASK_KEY"];
const OBJECTS: &[&str] = &["YUBA_OBJECTS_ROLE"];
const WEBHOOKS: &[&str] = &["YUBA_WEBHOOK_SECRETS"];
const SLACK: &[&str] = &["YUBA_SLACK_SIGNING_SECRETS"];
const NOTICES: &[&str] = &["YUBA_WEB_URL", "YUBA_SLACK_BUTTONS"];
const TOKEN: &[&str] = &["YUBA_API_TOKEN"];
/// What may be set, and is not in the examples, or not in Lambda functions at all (the token's file).
const NOT_SET: &[&str] = &[
    "YUBA_ASSUME_VIA_ROLE",
    "YUBA_LOG",
    "YUBA_MANIFESTS_INTERVAL",
    "YUBA_MANIFESTS_SECRET",
    "YUBA_SESSION_POLICY",
    CAPS[0],
    CAPS[1],
    "YUBA_WEB_IDENTITY_TOKEN_FILE",
];

/// The ports that each function uses, as their settings.
const SETTINGS: [(&str, &[&[&str]]); 8] = [
    ("webhook", &[STORE, QUEUE, MANIFESTS, WEBHOOKS]),
    ("scheduler", &[STORE, QUEUE, MANIFESTS]),
    ("source", &[STORE, QUEUE, BLOBS, SECRETS, MANIFESTS]),
    ("orchestrator", &[STORE, QUEUE, BLOBS, SECRETS, PUBLISHER, LAUNCHER, KEY]),
    ("tasks", &[STORE, QUEUE, BLOBS, SECRETS, CREDENTIALS, KEY, OBJECTS]),
    ("api", &[STORE, QUEUE, BLOBS, SECRETS, TOKEN]),
    ("slack", &[STORE, QUEUE, SECRETS, SLACK]),
    ("notifier", &[STORE, QUEUE, BLOBS, SECRETS, NOTICES]),
];

#[test]
fn a_function_has_the_settings_of_its_ports_and_no_others() {
    for plan in plans() {
        for (name, ports) in SETTINGS {
            let mut expected: BTreeSet<&str> = ports.iter().copied().flatten().copied().collect();
            expected
                .extend((plan.installation == "prod" && name == "source").then_some("YUBA_MANIFESTS_SECRET"));
            let is_capped =
                plan.installation == "prod" && ["scheduler", "orchestrator", "tasks"].contains(&name);
            expected.extend(CAPS.iter().filter(|_| is_capped));
            let keys = plan.function(name).keys("/environment/0/variables");
            assert_eq!(keys.iter().map(String::as_str).collect::<BTreeSet<_>>(), expected, "{name}");
        }
    }
}

#[test]
fn what_the_ports_read_is_known_here() {
    let mut read = BTreeSet::from([environment::URL.to_owned()]);
    for entry in WalkDir::new(infra().join("../shared/aws/src")) {
        let entry = entry.expect("the ports' code is there");
        if entry.file_type().is_file() {
            let code = std::fs::read_to_string(entry.path()).expect("readable");
            read.extend(code.split('"').filter(|text| is_variable(text)).map(str::to_owned));
        }
    }
    assert!(read.len() > 20, "{read:?}");
    let set = SETTINGS.iter().flat_map(|(_, groups)| groups.iter().copied()).flatten();
    let known: BTreeSet<&str> = set.chain(NOT_SET).copied().collect();
    let unknown: Vec<String> = read.into_iter().filter(|name| !known.contains(name.as_str())).collect();
    assert_eq!(unknown, Vec::<String>::new());
}

fn is_variable(text: &str) -> bool {
    text.starts_with("YUBA_") && text.bytes().all(|letter| letter == b'_' || letter.is_ascii_uppercase())
}

#[test]
fn places_of_manifests_and_their_secret_are_handed_over() {
    let of = |name| existing_vpc().function(name).values["environment"][0]["variables"].clone();
    let places =
        "https://git.example.com/platform/infra.git@main//stacks,https://git.example.com/apps/infra.git";
    for name in ["webhook", "scheduler", "source"] {
        assert_eq!(of(name)["YUBA_MANIFESTS"], places, "{name}");
    }
    assert_eq!(of("source")["YUBA_MANIFESTS_SECRET"], "platform/git");
}

#[test]
fn caps_are_handed_over_as_they_are_read() {
    for name in ["scheduler", "orchestrator", "tasks"] {
        let variables = &existing_vpc().function(name).values["environment"][0]["variables"];
        assert_eq!(CAPS.map(|cap| &variables[cap]), ["50", "env=prod:5,team=net:2"], "{name}");
    }
}

#[test]
fn plans_run_on_spot_where_it_is_asked_for() {
    let variables = &existing_vpc().function("orchestrator").values["environment"][0]["variables"];
    assert_eq!(variables["YUBA_PLAN_CAPACITY"], "spot");
    assert_eq!(variables["YUBA_TASK_SUBNETS"], "subnet-1,subnet-2");
    assert_eq!(variables["YUBA_TASK_SECURITY_GROUPS"], "sg-1");
    assert_eq!(variables["YUBA_TASK_PUBLIC_IP"], "none");
}

#[test]
fn queues_wake_their_functions_message_by_message() {
    for plan in plans() {
        for name in ["source", "orchestrator", "notifier"] {
            let mapping = &plan.one(&format!("aws_lambda_event_source_mapping.{name}")).values;
            assert_eq!(mapping["function_response_types"], json!(["ReportBatchItemFailures"]), "{name}");
            assert!(mapping["scaling_config"][0]["maximum_concurrency"].as_u64() >= Some(2), "{name}");
            assert_eq!(mapping["function_name"], format!("yuba-{}-{name}", plan.installation));
        }
        assert_eq!(plan.all("aws_lambda_event_source_mapping").count(), 3);
    }
}

#[test]
fn the_scheduler_runs_once_a_minute_and_tasks_hears_of_tasks_that_stop() {
    for plan in plans() {
        assert_eq!(
            plan.one("aws_cloudwatch_event_rule.minute").text("schedule_expression"),
            "rate(1 minute)"
        );
        let pattern = plan.one("aws_cloudwatch_event_rule.stopped").document("event_pattern");
        assert_eq!(pattern["detail-type"], json!(["ECS Task State Change"]));
        let cluster = format!("arn:aws:ecs:eu-central-1:111122223333:cluster/yuba-{}", plan.installation);
        assert_eq!(pattern["detail"], json!({"clusterArn": [cluster], "lastStatus": ["STOPPED"]}));
    }
}

#[test]
fn only_what_the_internet_calls_has_a_url_and_is_called_through_it_alone() {
    for plan in plans() {
        for permission in plan.all("aws_lambda_permission") {
            let values = &permission.values;
            let is_open = values["principal"] == "*";
            let by_url =
                values["function_url_auth_type"] == "NONE" || values["invoked_via_function_url"] == true;
            assert_eq!(is_open, by_url, "{}", permission.address);
            // A rule's ARN is known once it is made; without one any rule of any account could call.
            assert!(is_open || values.get("source_arn").is_none(), "{}", permission.address);
        }
        for name in FUNCTIONS {
            let has_url = plan
                .resources
                .iter()
                .any(|it| it.address == format!("module.yuba.aws_lambda_function_url.{name}"));
            assert_eq!(has_url, ["webhook", "tasks", "api", "slack"].contains(&name), "{name}");
        }
    }
}

#[test]
fn what_waits_fails_or_is_throttled_is_alarming() {
    for plan in plans() {
        let alarms: BTreeSet<&str> =
            plan.all("aws_cloudwatch_metric_alarm").map(|alarm| alarm.text("alarm_name")).collect();
        let of_functions =
            FUNCTIONS.iter().flat_map(|name| [format!("{name}-errors"), format!("{name}-throttles")]);
        let of_queues = ["sources", "stacks", "notices"]
            .iter()
            .flat_map(|queue| [format!("{queue}-dead-letters"), format!("{queue}-oldest-message")]);
        let others =
            ["oldest-pending-effect", "oldest-due-item", "claims-without-report", "scheduler-silent"];
        let expected: BTreeSet<String> = of_functions
            .chain(of_queues)
            .chain(others.map(str::to_owned))
            .map(|end| format!("yuba-{}-{end}", plan.installation))
            .collect();
        assert_eq!(alarms, expected.iter().map(String::as_str).collect());
    }
    of_metrics_that_functions_write();
    let alarms = existing_vpc().all("aws_cloudwatch_metric_alarm");
    let topics = json!(["arn:aws:sns:eu-central-1:111122223333:alarms"]);
    assert!(alarms.into_iter().all(|alarm| alarm.values["alarm_actions"] == topics));
}

/// An alarm on a metric that its function never writes would have no data, and never sound.
fn of_metrics_that_functions_write() {
    for alarm in
        existing_vpc().all("aws_cloudwatch_metric_alarm").filter(|it| it.values["namespace"] == "Yuba")
    {
        let function = alarm.values["dimensions"]["Function"].as_str().expect("a function");
        let program = infra().join(format!("../functions/{function}/src/main.rs"));
        let program = std::fs::read_to_string(program).expect("readable");
        assert!(program.contains(&format!("\"{}\"", alarm.text("metric_name"))), "{}", alarm.address);
    }
}
