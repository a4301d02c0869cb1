//! Two inits at once, and a provider cache that is empty.

use std::fs;

use yuba_end_to_end::World;

use crate::network;

#[test]
fn two_inits_that_fill_one_cache_at_once_both_go_well() {
    let mut world = World::new();
    let meeting = world.dir().join("meeting");
    fs::create_dir(&meeting).unwrap();
    // Each init waits until the other has begun too; a minute at most.
    world.around_engine(&format!(
        "if [ \"$1\" = init ]; then
  touch {0}/$$; turns=0
  while [ $(ls {0} | wc -l) -lt 2 ] && [ $turns -lt 600 ]; do sleep 0.1; turns=$((turns + 1)); done
fi",
        meeting.display()
    ));
    for name in ["one", "two"] {
        world.stack(name, &network(name, "one"), "approvePlan: auto");
    }
    world.begin();
    for name in ["one", "two"] {
        world.wait(name, "applied");
        assert_eq!(world.states(name), ["applied"], "{}", world.yuba(&["logs", name]).out);
    }
    assert!(fs::read_dir(&meeting).unwrap().count() > 1, "they met");
}
