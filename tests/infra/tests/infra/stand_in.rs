//! A plan in which all is known: what tests deploy from.

use serde_json::Value;
use yuba_infra::{Copy, FUNCTIONS, minimal_input};

#[test]
fn what_is_made_is_known_where_it_is_asked_for() {
    let plan = Copy::of("minimal", &minimal_input()).made().plan();
    let changes = plan["resource_changes"].as_array().expect("changes");
    let environment = |function: &str| -> Value {
        let address = format!("module.yuba.module.{function}.aws_lambda_function.this");
        let change = changes.iter().find(|change| change["address"] == address);
        change.expect("a function")["change"]["after"]["environment"][0]["variables"].clone()
    };
    let orchestrator = environment("orchestrator");
    for (name, expected) in [
        (
            "YUBA_STACKS_QUEUE_URL",
            "https://sqs.eu-central-1.amazonaws.com/111122223333/yuba-demo-stacks.fifo",
        ),
        ("YUBA_TASKS_URL", "https://yuba-demo-tasks.lambda-url.eu-central-1.on.aws"),
        ("YUBA_TASK_SUBNETS", "subnet-eu-central-1a,subnet-eu-central-1b"),
    ] {
        assert_eq!(orchestrator[name], expected);
    }
    let mut functions = changes.iter().filter(|change| change["type"] == "aws_lambda_function");
    assert_eq!(functions.clone().count(), FUNCTIONS.len());
    let unknown =
        functions.find(|it| it["change"]["after_unknown"]["environment"].to_string().contains("true"));
    assert_eq!(unknown, None);
}
