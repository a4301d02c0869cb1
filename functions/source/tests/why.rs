//! Why a stack was planned, or why not.

mod kit;

use kit::{World, stack, stack_name};
use yuba_source::why;

const FILES: [(&str, &str); 2] = [("dev/main.tf", "locals {}\n"), ("README.md", "read me\n")];

async fn asked(world: &World, revision: Option<&str>) -> String {
    match why(&world.ports(), &world.settings, &stack_name("dev"), revision).await {
        Ok(why) => why.to_string(),
        Err(error) => format!("error: {error}"),
    }
}

#[tokio::test]
async fn a_revision_is_explained_by_what_it_changed_of_the_closure() {
    let world = World::settled(&FILES, &stack("dev", "dev", &[])).await;
    let readme = world.commit(&[("README.md", "read me again\n")]);
    let both = world.commit(&[("dev/main.tf", "locals {\n}\n"), ("README.md", "read me twice\n")]);
    world.look().await;
    let [readme, both] = [asked(&world, Some(&readme[..10])).await, asked(&world, Some(&both)).await];
    let text =
        (readme + &both).lines().filter(|line| !line.starts_with("commit ")).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(text, @r"
    changed nothing that the stack depends on
    1 path does not belong to the stack: README.md
    no run planned it
    changed what the stack depends on:
      dev/main.tf changed (stack directory)
    1 path does not belong to the stack: README.md
    no run planned it
    ");
}

#[tokio::test]
async fn the_branch_that_the_source_follows_is_its_newest_commit() {
    let world = World::settled(&FILES, &stack("dev", "dev", &[])).await;
    let commit = world.git(&["rev-parse", "HEAD"]);
    assert_eq!(asked(&world, Some("main")).await, asked(&world, Some(commit.trim())).await);
    assert!(asked(&world, Some("other")).await.contains("revision `other` is not known"));
}

#[tokio::test]
async fn without_a_run_it_says_what_is_missing() {
    let world = World::settled(&FILES, &stack("dev", "dev", &[])).await;
    assert!(asked(&world, None).await.contains("and no run was made of it yet"));
    let unknown = asked(&world, Some("0123456789")).await;
    assert!(
        unknown.starts_with("error: revision `0123456789` is not known: source default/live"),
        "{unknown}"
    );
}

#[tokio::test]
async fn a_lost_cache_is_fetched_again_to_answer() {
    let world = World::settled(&FILES, &stack("dev", "dev", &[])).await;
    let commit = world.git(&["rev-parse", "HEAD"]);
    world.lose_cache();
    assert!(asked(&world, Some(commit.trim())).await.contains("planned for the first time"));
}
