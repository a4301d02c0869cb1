//! A disk that nothing can be written to.
//!
//! The server is given a file size limit of zero: every write to a file fails, the log's too. That needs no rights, unlike
//! a file system of its own, and is so on every machine. SQLite's own word for a full disk is tested beside the database.

use std::process::Command;

use yuba_end_to_end::{World, run, yuba};
use yuba_toy_cloud::repeats;

use crate::network;

#[test]
fn a_server_that_can_write_nothing_says_so_and_goes_on_when_it_can() {
    let mut world = World::new();
    world.stack("dev", &network("dev", "one"), "approvePlan: auto");
    world.stack("prod", &network("prod", "one"), "");
    world.begin();
    world.wait("dev", "applied");
    world.wait("prod", "awaiting-approval");
    world.server().fill_disk();
    world.repository.replace("stacks/dev/main.tf", "\"one\"", "\"two\"");
    let head = world.repository.push("Nobody can take note of this");
    for _ in 0..3 {
        let refused = world.yuba(&["approve", "prod"]).failed_with(1);
        assert!(refused.contains("could not"), "{refused}");
    }
    assert_eq!(world.states("prod"), ["awaiting-approval"], "it still answers");
    world.until("the source is overdue", || world.server().metric("yuba_oldest_due_seconds") > 3.0);
    world.server().free_disk();
    // What failed for long is tried again after as long, at most a minute; then the run takes its time.
    world.yuba(&["wait", "dev", "--for", "applied", "--revision", &head, "--timeout", "3m"]).ok();
    world.yuba(&["approve", "prod"]).ok();
    world.wait("prod", "applied");
    assert!(repeats(&world.cloud.journal().unwrap()).is_empty(), "nothing was made twice");
}

#[test]
fn a_data_directory_that_cannot_be_made_is_named() {
    let ran =
        run(Command::new(yuba()).args(["serve", "--listen", "127.0.0.1:0", "--data", "/dev/null/yuba"]));
    let said = ran.failed_with(1);
    assert!(said.contains("/dev/null/yuba cannot be used"), "{said}");
}
