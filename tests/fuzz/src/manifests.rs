//! Files of manifests, each after a line `=== path`.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use yuba_core::manifest::{Finding, ManifestFile, Place, read_set, render};

use crate::sections::sections;

/// Reads the files as one set.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let file = |(path, text): (&str, &str)| ManifestFile { path: path.to_owned(), text: text.to_owned() };
    let files: Vec<ManifestFile> = sections(&text).map(file).collect();
    let set = read_set(&files);
    assert_eq!(set, read_set(&files), "read twice it says something else");
    set.findings.iter().for_each(|finding| stands_in(&files, finding));
    render(&set.findings);
    set.stacks.iter().for_each(|stack| survives(&stack.spec));
    set.sources.iter().for_each(|source| survives(&source.spec));
}

/// A finding's place is one of its file.
fn stands_in(files: &[ManifestFile], finding: &Finding) {
    let Place { file, line, column } = &finding.place;
    let file = files.iter().find(|known| known.path == *file).expect("a finding names a file of the set");
    let before = usize::try_from(*line).ok().and_then(|line| line.checked_sub(1));
    let line = before.and_then(|before| file.text.split('\n').nth(before));
    assert!(line.is_some(), "{finding} stands beyond the last line");
    let last = line.map_or(0, |line| line.chars().count()) + 1;
    let column = usize::try_from(*column).unwrap_or(usize::MAX);
    assert!((1..=last).contains(&column), "{finding} stands beyond its line's {last} columns");
}

/// Settings come back from a record as they went in.
fn survives<Spec: Serialize + DeserializeOwned + PartialEq + Debug>(spec: &Spec) {
    let stored = serde_json::to_value(spec).expect("settings can be stored");
    let read: Spec = serde_json::from_value(stored).expect("stored settings can be read");
    assert_eq!(&read, spec, "settings change as they are stored");
}
