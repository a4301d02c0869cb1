//! Drift of plain directories, without a server.

use std::process::Command;

use yuba_end_to_end::World;

use crate::network;

/// Runs a program in the repository's working copy, with the toy cloud.
fn run(world: &World, program: &str, arguments: &[&str]) -> yuba_end_to_end::Ran {
    let config = yuba_toy_cloud::shared_mirror().unwrap();
    let mut command = Command::new(program);
    command.args(arguments).current_dir(world.repository.work());
    command.env("TF_CLI_CONFIG_FILE", config).env("TOY_CLOUD_DIR", world.cloud.dir());
    yuba_end_to_end::run(&mut command)
}

fn check(world: &World) -> yuba_end_to_end::Ran {
    let yuba = yuba_end_to_end::yuba().display().to_string();
    run(world, &yuba, &["drift", "check", "--local", "stacks/prod"])
}

#[test]
fn a_change_by_hand_is_named_by_resource_and_attribute() {
    let world = World::new();
    world.stack("prod", &network("prod", "one"), "");
    for arguments in [&["init"][..], &["apply", "-auto-approve"]] {
        run(&world, "terraform", &[&["-chdir=stacks/prod"], arguments].concat()).ok();
    }
    assert!(check(&world).ok().contains("No drift"));
    let edit =
        |body: &mut yuba_toy_cloud::Body| drop(body.insert("description".to_owned(), "by hand".into()));
    world.cloud.edit("toy_network", "net-prod", edit).unwrap();
    let ran = check(&world);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    for part in ["1 resource", "toy_network.this was changed outside", "description: \"one\" → \"by hand\""]
    {
        assert!(ran.out.contains(part), "{part} is missing:\n{}", ran.out);
    }
    assert!(ran.out.contains("An apply would put it right"), "{}", ran.out);
}
