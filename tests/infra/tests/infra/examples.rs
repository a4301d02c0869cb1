//! The examples as a whole, and what wrong input gets.

use serde_json::json;

use crate::kit::{Copy, FUNCTIONS, Plan, minimal_input, plans};

#[test]
fn each_example_plans_all_functions() {
    for plan in plans() {
        for name in FUNCTIONS {
            let function = plan.function(name);
            assert_eq!(function.text("function_name"), format!("yuba-{}-{name}", plan.installation));
            assert_eq!(function.text("runtime"), "provided.al2023");
        }
    }
}

#[test]
fn everything_is_named_with_the_installation() {
    for plan in plans() {
        let own = plan.resources.iter().filter(|it| it.address.starts_with("module.yuba."));
        let names = own.flat_map(|it| {
            ["name", "bucket", "family", "function_name", "alarm_name"]
                .map(|key| (it, it.values[key].as_str()))
        });
        let mut count = 0;
        for (resource, name) in names.filter_map(|(it, name)| Some((it, name?))) {
            let is_named = name.contains(&format!("yuba-{}", plan.installation))
                || name.starts_with(&format!("/yuba/{}/", plan.installation))
                || resource.kind == "aws_iam_role_policy";
            assert!(is_named, "{} is named {name}", resource.address);
            count += 1;
        }
        assert!(count > 50, "{count} names");
    }
}

#[test]
fn there_is_one_task_definition_for_each_image_and_size() {
    let families = |plan: &Plan| -> Vec<String> {
        let mut all: Vec<String> =
            plan.all("aws_ecs_task_definition").map(|it| it.text("family").to_owned()).collect();
        all.sort();
        all
    };
    let [minimal, existing_vpc] = plans();
    assert_eq!(families(minimal), ["yuba-demo-runner-default-default"]);
    let expected = ["default-default", "default-large", "legacy-default", "legacy-large"];
    assert_eq!(families(existing_vpc), expected.map(|end| format!("yuba-prod-runner-{end}")));
}

#[test]
fn a_task_can_write_only_where_it_works() {
    for definition in plans().into_iter().flat_map(|plan| plan.all("aws_ecs_task_definition")) {
        let container = &definition.document("container_definitions")[0];
        assert_eq!(container["readonlyRootFilesystem"], true, "{}", definition.address);
        assert_eq!(container["environment"], json!([{"name": "YUBA_WORK", "value": "/work"}]));
        assert_eq!(container["mountPoints"][0]["containerPath"], "/work");
        assert!(container["secrets"].is_null(), "{}", definition.address);
    }
}

#[test]
fn an_argument_that_the_provider_does_not_have_is_refused() {
    let copy = Copy::of("minimal", &minimal_input()).init();
    copy.append(
        "topic.tf",
        "\nresource \"aws_sns_topic\" \"more\" {\n  name = \"a\"\n  colour = \"red\"\n}\n",
    );
    let ended = copy.run(&["validate"]);
    assert!(
        !ended.is_good && ended.text.contains("An argument named \"colour\" is not expected here"),
        "{}",
        ended.text
    );
}

#[test]
fn wrong_input_is_named() {
    let copy = Copy::of("minimal", &minimal_input()).init();
    for (name, value, expected) in [
        ("installation", json!("Prod_1"), "An installation's id has at most 32 of a-z, 0-9 and `-`"),
        ("runner_image", json!("yuba/runner:latest"), "An image is pinned by digest"),
    ] {
        let mut input = minimal_input();
        input[name] = value;
        copy.write("terraform.tfvars.json", &input.to_string());
        let ended = copy.run(&["plan", "-lock=false"]);
        assert!(!ended.is_good && ended.text.contains(expected), "{name}: {}", ended.text);
    }
}
