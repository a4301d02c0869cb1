//! Every input that is kept goes through its target.
#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use yuba_fuzz::{TARGETS, Target, check};

/// What the corpora may weigh in all: they are read by people, too.
const MOST_BYTES: u64 = 200_000;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn inputs(target: &str) -> BTreeSet<PathBuf> {
    fs::read_dir(corpus().join(target)).unwrap().map(|input| input.unwrap().path()).collect()
}

#[test]
fn every_input_goes_through_its_target() {
    let mut broken = Vec::new();
    for (name, target) in TARGETS {
        let inputs = inputs(name);
        assert!(!inputs.is_empty(), "{name} has no inputs");
        for input in inputs {
            let data = fs::read(&input).unwrap();
            if catch_unwind(|| check(target, &data)).is_err() {
                broken.push(input);
            }
        }
    }
    assert!(broken.is_empty(), "the panics above are of {broken:#?}");
}

#[test]
fn every_corpus_has_a_target_and_stays_small() {
    let folders: BTreeSet<String> = fs::read_dir(corpus())
        .unwrap()
        .map(|folder| folder.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(folders, TARGETS.map(|(name, _)| name.to_owned()).into());
    let size = |input: PathBuf| fs::metadata(input).unwrap().len();
    let bytes: u64 = folders.iter().flat_map(|folder| inputs(folder)).map(size).sum();
    assert!(bytes <= MOST_BYTES, "{bytes} bytes: cut inputs down to what they are for");
}

#[test]
fn memory_beyond_the_bound_is_a_fault() {
    let greedy: Target = |data| drop(vec![1_u8; data.len() << 20]);
    check(greedy, &[0; 60]);
    assert!(catch_unwind(|| check(greedy, &[0; 70])).is_err());
}
