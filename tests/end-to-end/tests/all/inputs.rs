//! Where variables come from, and which of them count.

use yuba_end_to_end::World;

const SPEC: &str = r#"approvePlan: auto
vars: [{name: a, value: vars}, {name: b, value: vars}, {name: c, value: vars}, {name: d, value: vars}]
varsFrom:
- {kind: ConfigMap, name: common}
- {kind: Secret, name: absent, optional: true}
- {kind: Secret, name: db, varsKeys: [c, "password:d", "password:e"]}
tfVarsFiles: [./shared/one.tfvars, shared/two.tfvars]"#;

/// A network whose description shows the variables.
fn code() -> String {
    let names = ["a", "b", "c", "d", "e"];
    let variables: String =
        names.map(|name| format!("variable \"{name}\" {{\n  type = string\n}}\n")).concat();
    let all = names.map(|name| format!("${{var.{name}}}")).join(" ");
    format!(
        "{variables}\nresource \"toy_network\" \"this\" {{\n  name        = \"dev\"\n  cidr        = \"10.0.0.0/16\"\n  description = \"{all}\"\n}}\n"
    )
}

#[test]
fn what_is_read_counts_over_what_is_given_and_files_count_over_both() {
    let mut world = World::new();
    world.stack("dev", &code(), SPEC);
    world.repository.write("shared/one.tfvars", "d = \"one\"\ne = \"one\"\n");
    world.repository.write("shared/two.tfvars", "e = \"two\"\n");
    world.begin();
    world.wait("dev", "failed");
    let fails_with = |why: &str| world.until(why, || world.get("dev")["status"].to_string().contains(why));
    fails_with("config map infra/common, named by varsFrom of infra/dev, does not exist");
    world.yuba(&["secret", "set", "--config-map", "infra/common", "b=map", "c=map"]).ok();
    fails_with("secret infra/db, named by varsFrom of infra/dev, does not exist");
    world.yuba(&["secret", "set", "infra/db", "c=secret"]).ok();
    fails_with("secret infra/db, named by varsFrom of infra/dev, has no key `password` (keys: c)");
    world.yuba(&["secret", "set", "infra/db", "password=hidden"]).ok();
    world.wait("dev", "applied");
    let body = world.cloud.read("toy_network", "net-dev").unwrap().unwrap();
    assert_eq!(body["description"], "vars map secret one two");
}
