//! The stored code of a revision is lost or damaged.

use std::fs;
use std::path::PathBuf;

use yuba_end_to_end::World;

use crate::network;

/// The one artifact that is stored.
fn artifact(world: &World) -> PathBuf {
    let files = fs::read_dir(world.dir().join("data/objects/artifacts")).unwrap();
    files
        .flatten()
        .map(|file| file.path())
        .find(|path| path.extension().is_some_and(|end| end == "zst"))
        .unwrap()
}

#[test]
fn code_that_is_lost_or_damaged_is_named_by_its_revision_and_stored_again() {
    let mut world = World::new();
    world.stack("dev", &network("dev", "one"), "approvePlan: auto");
    world.begin();
    world.wait("dev", "applied");
    let artifact = artifact(&world);
    let whole = fs::read(&artifact).unwrap();
    let middle = whole.len() / 2;
    let flipped = [&whole[..middle], &[!whole[middle]], &whole[middle + 1..]].concat();
    for (damaged, says) in
        [(None, "is not where it was stored"), (Some(&flipped[..]), "is damaged where it was stored")]
    {
        match damaged {
            None => fs::remove_file(&artifact).unwrap(),
            Some(bytes) => fs::write(&artifact, bytes).unwrap(),
        }
        let runs = world.states("dev").len();
        world.yuba(&["replan", "dev"]).ok();
        world.until("it was planned again", || {
            world.states("dev").get(runs + 1).is_some_and(|state| state == "unchanged")
        });
        let failed = world.run_ids("dev").remove(runs);
        let shown = world.yuba(&["show", "run", &failed]).ok();
        let named = format!("the code of main@sha1:{} {says}", world.repository.head());
        assert!(shown.contains(&named) && !shown.contains("artifacts/"), "{shown}");
        assert_eq!(fs::read(&artifact).unwrap(), whole);
    }
}
