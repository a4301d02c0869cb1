//! The code itself: its format, its variables, the CloudFormation template beside a module.

use std::collections::BTreeSet;

use yuba_infra::{infra, run};

/// The most variables that the module may have.
const MOST_VARIABLES: usize = 40;

#[test]
fn the_code_is_formatted() {
    let ended = run(&infra(), &["fmt", "-check", "-recursive", "-diff"]);
    assert!(ended.is_good, "run `tofu fmt -recursive infra`: {}", ended.text);
}

#[test]
fn variables_are_few_typed_described_and_validated() {
    let text = std::fs::read_to_string(infra().join("variables.tf")).expect("readable");
    let variables: Vec<&str> = text.split("\nvariable ").collect();
    assert!((10..=MOST_VARIABLES).contains(&variables.len()), "{} variables", variables.len());
    for variable in variables {
        let name = variable.lines().next().unwrap_or_default();
        for needed in ["description", "type "] {
            assert!(variable.contains(&format!("\n  {needed}")), "variable {name} has no {needed}");
        }
        let is_flag = variable.contains("= bool\n");
        assert!(is_flag || variable.contains("\n  validation {"), "variable {name} is not validated");
    }
}

#[test]
fn the_readme_tells_of_every_variable() {
    let read = |name: &str| std::fs::read_to_string(infra().join(name)).expect("readable");
    let (code, readme) = (read("variables.tf"), read("README.md"));
    let names = code.lines().filter_map(|line| line.strip_prefix("variable \"")?.split('"').next());
    let untold: Vec<&str> = names.filter(|name| !readme.contains(&format!("`{name}`"))).collect();
    assert_eq!(untold, Vec::<&str>::new());
}

#[test]
fn the_cloudformation_template_says_what_the_module_says() {
    let read = |name: &str| {
        std::fs::read_to_string(infra().join("modules/stack-roles").join(name)).expect("readable")
    };
    let (module, template) = (read("main.tf"), read("stack-roles.cfn.yaml"));
    let module = rights(&module);
    assert!(module.len() >= 12, "{module:?}");
    assert_eq!(module, rights(&template));
}

/// What stands for an action, a condition's key or a tag in a policy.
fn rights(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| letter.is_whitespace() || "\"'[]{},()".contains(letter));
    let words = words.map(|word| word.trim_end_matches(':'));
    let prefixes = ["aws:", "dynamodb:", "kms:", "s3:", "sts:", "yuba:", "ForAllValues:"];
    words.filter(|word| prefixes.iter().any(|prefix| word.starts_with(prefix))).collect()
}
