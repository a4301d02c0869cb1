//! Sources at Git hosts, over SSH and HTTPS: who is not let in is told why and what to do, and goes on once that is done.

use std::fs;

use yuba_end_to_end::World;
use yuba_git_host::{GitServer, SshServer};

use crate::network;

/// Begins with code that comes from this URL, with the secret `infra/git`.
fn begin(world: &mut World, url: &str) {
    world.stack("dev", &network("dev", "one"), "approvePlan: auto");
    let with_secret = format!("{url}\n  secretRef: {{name: git}}");
    world.repository.replace("flux/source.yaml", &world.repository.url(), &with_secret);
    world.begin();
    says(world, "there is no secret infra/git");
}

/// Changes the code, and waits until that is applied too.
fn goes_on(world: &World) {
    world.repository.replace("stacks/dev/main.tf", "\"one\"", "\"two\"");
    let head = world.repository.push("By the same way");
    world.yuba(&["wait", "dev", "--for", "applied", "--revision", &head, "--timeout", "90s"]).ok();
}

/// Writes the secret from these values.
fn set(world: &World, values: &[(&str, String)]) {
    let values: Vec<String> = values
        .iter()
        .map(|(key, value)| {
            let file = world.dir().join(key);
            fs::write(&file, value).unwrap();
            format!("{key}=@{}", file.display())
        })
        .collect();
    let arguments = ["secret", "set", "infra/git"].into_iter().chain(values.iter().map(String::as_str));
    world.yuba(&arguments.collect::<Vec<_>>()).ok();
}

/// Waits until the source's status says so.
fn says(world: &World, what: &str) {
    world.until(what, || world.yuba(&["get", "sources"]).ok().contains(what));
}

#[test]
fn code_comes_over_ssh_from_the_host_that_is_known_with_the_key_that_it_lets_in() {
    let (mut world, server) = (World::new(), SshServer::start());
    let url = server.url(&world.dir().join("infra.git"));
    begin(&mut world, &url);
    let (right, wrong) = (server.identity(), server.unknown_identity());
    set(&world, &[("identity", right.clone()), ("known_hosts", server.wrong_known_hosts())]);
    says(&world, "is not the one in known_hosts: it shows SHA256:");
    set(&world, &[("identity", wrong), ("known_hosts", server.known_hosts())]);
    says(&world, "Permission denied (publickey)");
    says(&world, "check the source's secret");
    assert_eq!(world.states("dev"), [""; 0], "nothing was planned");
    set(&world, &[("identity", right)]);
    world.wait("dev", "applied");
    goes_on(&world);
}

#[test]
fn code_comes_over_https_with_the_token_from_the_host_whose_certificate_is_trusted() {
    let mut world = World::new();
    let (server, certificate) = GitServer::start_tls(world.dir(), "Bearer t0ken-of-ann");
    begin(&mut world, &server.url("infra.git"));
    set(&world, &[("bearerToken", "t0ken-of-ann".to_owned())]);
    says(&world, "is not trusted");
    set(&world, &[("bearerToken", "t0ken-of-bob".to_owned()), ("ca.crt", certificate)]);
    says(&world, "refused access");
    says(&world, "check the source's secret");
    assert_eq!(world.states("dev"), [""; 0], "nothing was planned");
    set(&world, &[("bearerToken", "t0ken-of-ann".to_owned())]);
    world.wait("dev", "applied");
    goes_on(&world);
    let log = world.server().log();
    assert!(!log.contains("t0ken-of"), "{log}");
}
