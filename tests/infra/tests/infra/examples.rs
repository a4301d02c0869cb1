//! The examples as a whole, and what wrong input gets.

use serde_json::json;
use yuba_infra::{Copy, FUNCTIONS, infra, minimal_input};

use crate::kit::{Plan, plans};

#[test]
fn each_example_plans_all_functions() {
    for plan in plans() {
        for name in FUNCTIONS {
            let function = plan.function(name);
            assert_eq!(function.text("function_name"), format!("yuba-{}-{name}", plan.installation));
            if name == "source" {
                continue;
            }
            assert_eq!((function.text("package_type"), function.text("runtime")), ("Zip", "provided.al2023"));
            let zip = format!("{name}.zip");
            let from = ["filename", "s3_key"].map(|key| function.values[key].as_str().unwrap_or_default());
            assert!(from.concat().ends_with(&zip) && function.values["image_uri"].is_null(), "{from:?}");
        }
    }
}

#[test]
fn the_source_function_is_an_image_and_nothing_of_a_zip() {
    for plan in plans() {
        let source = plan.function("source");
        assert_eq!(source.text("package_type"), "Image");
        let image = source.text("image_uri");
        assert!(
            image.starts_with("444455556666.dkr.ecr.eu-central-1.") && image.contains("@sha256:"),
            "{image}"
        );
        for of_a_zip in ["runtime", "handler", "filename", "source_code_hash", "s3_bucket", "s3_key"] {
            assert!(source.values[of_a_zip].is_null(), "{of_a_zip}");
        }
    }
}

/// It is not built here: what its Dockerfile tells.
#[test]
fn the_source_functions_image_has_what_git_needs_and_a_program_that_fits() {
    let path = infra().join("../functions/source/Dockerfile");
    let text = std::fs::read_to_string(path).expect("readable");
    let stages: Vec<&str> = text.split("\nFROM ").skip(1).collect();
    let [_, built, image] = stages[..] else { panic!("three stages: {text}") };
    let system = |stage: &str| stage.split_whitespace().next().map(str::to_owned);
    assert_eq!(system(built), system(image), "built on the system that it runs on");
    assert!(built.contains("--features yuba-source/lambda"));
    for part in ["git-core", "openssh-clients", "ENTRYPOINT [\"/usr/local/bin/yuba-source\"]"] {
        assert!(image.contains(part), "{part}");
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
        ("source_image", json!("yuba/source:latest"), "Lambda takes images of ECR, pinned by digest"),
    ] {
        let mut input = minimal_input();
        input[name] = value;
        copy.write("terraform.tfvars.json", &input.to_string());
        let ended = copy.run(&["plan", "-lock=false"]);
        assert!(!ended.is_good && ended.text.contains(expected), "{name}: {}", ended.text);
    }
}
