//! What the simulation once found, kept.
//!
//! A seed finds its fault again only in the simulation of its day; what was mended has a test of its own where it was.

use yuba_simulation::{Keeping, simulate, turns_of};

/// How many turns each world has.
const TURNS: usize = 3_000;

/// The seeds that found something, and what.
const FOUND: [(u64, &str); 10] = [
    (41, "a stack whose approvePlan changed from disable to auto was never planned to be applied"),
    (225, "a start that was refused after it had been made closed the claim of a task that ran"),
    (19, "a run that was superseded while its stack was suspended was never made again"),
    (2, "an apply was issued although the manifest had come to forbid it"),
    (5, "an apply was issued although the manifest had come to forbid it"),
    (24, "an apply was issued although the manifest had come to forbid it"),
    (191, "a commit that came back after a look that was cut counted as seen"),
    (30, "a look that another overtook wrote an older tree over what that had found unchanged"),
    (27, "a stack that came back after its vanishing was cut was looked for in no source"),
    (1, "the message of a look for drift that found nothing new stayed at its beginning"),
];

#[test]
fn no_seed_finds_again_what_it_found() {
    for (seed, what) in FOUND {
        let violation = simulate(seed, None, &turns_of(seed, TURNS), Keeping::Nothing).violation;
        assert_eq!(violation, None, "seed {seed} once found that {what}");
    }
}
