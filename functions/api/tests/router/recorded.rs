//! Why, where there is no repository to ask.

use yuba_api::{Explain, RecordedWhy, Unexplained};
use yuba_core::id::StackName;
use yuba_core::stack::Stack;
use yuba_core::time::Timestamp;

use crate::kit::{STACK, World};

async fn why(world: &World, stack: &str, revision: Option<&str>) -> String {
    let recorded = RecordedWhy::new(world.memory.ports());
    match recorded.why(&StackName::new("infra", stack), revision).await {
        Ok(why) => why.to_string(),
        Err(Unexplained::NotHere(what)) => format!("not here: {what}"),
        Err(other) => format!("error: {other}"),
    }
}

#[tokio::test]
async fn what_runs_were_made_for_is_in_the_records() {
    let world = World::new().await;
    assert_eq!(why(&world, "other", None).await, "error: there is no stack infra/other");
    world.names_one_state(&["network"]).await;
    assert!(
        why(&world, "network", None).await.starts_with("there is no run yet: nothing was found in source")
    );
    let run = world.run(|_| ()).await;
    let mut stack = Stack::new(STACK, StackName::new("infra", "network"), Timestamp(0));
    stack.latest = Some(run.id);
    world.put(&stack).await;
    let newest = why(&world, "network", None).await;
    let line = format!("run {} of {} was made because:\n", run.id, run.revision);
    assert!(newest.starts_with(&line), "{newest}");
    for revision in [run.revision.to_string(), run.revision.commit.as_str()[..7].to_owned()] {
        assert_eq!(why(&world, "network", Some(&revision)).await.lines().next(), newest.lines().next());
    }
    let short = &run.revision.commit.as_str()[..6];
    assert!(
        why(&world, "network", Some(short))
            .await
            .starts_with("not here: no run of infra/network was made of")
    );
}
