//! Files of manifests, each after a line `=== path`.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use yuba_core::manifest::{ManifestFile, read_set, render};

use crate::sections::sections;

/// Reads the files as one set.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let file = |(path, text): (&str, &str)| ManifestFile { path: path.to_owned(), text: text.to_owned() };
    let files: Vec<ManifestFile> = sections(&text).map(file).collect();
    let set = read_set(&files);
    assert_eq!(set, read_set(&files), "read twice it says something else");
    for finding in &set.findings {
        let file = files.iter().find(|file| file.path == finding.place.file);
        let lines = file.expect("a finding names a file of the set").text.lines().count();
        let line = usize::try_from(finding.place.line).unwrap_or(usize::MAX);
        assert!(line > 0 && line <= lines + 1, "{finding} stands beyond the {lines} lines");
    }
    render(&set.findings);
    set.stacks.iter().for_each(|stack| survives(&stack.spec));
    set.sources.iter().for_each(|source| survives(&source.spec));
}

/// Settings come back from a record as they went in.
fn survives<Spec: Serialize + DeserializeOwned + PartialEq + Debug>(spec: &Spec) {
    let stored = serde_json::to_value(spec).expect("settings can be stored");
    let read: Spec = serde_json::from_value(stored).expect("stored settings can be read");
    assert_eq!(&read, spec, "settings change as they are stored");
}
