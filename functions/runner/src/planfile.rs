//! The plan file: Yuba's own copy of it, its digest, the state's lineage inside.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use yuba_core::id::FileDigest;

use crate::ended::{Ended, Step};
use crate::objects::private_file;

/// The entry of the plan file that holds the state before the plan.
const STATE: &str = "tfstate";

/// Copies a plan file and hashes what it copies.
pub(crate) fn copy(mut from: impl Read, into: &Path) -> Step<FileDigest> {
    let copied = private_file(into).and_then(|file| {
        let mut hashing = Hashing { file, hasher: Sha256::new() };
        io::copy(&mut from, &mut hashing)?;
        hashing.file.sync_data()?;
        Ok(FileDigest(hashing.hasher.finalize().into()))
    });
    copied.map_err(|error| Ended::io("copy the plan file to", into, &error))
}

struct Hashing {
    file: File,
    hasher: Sha256,
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hasher.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[derive(Deserialize)]
struct State {
    #[serde(default)]
    lineage: String,
}

/// The lineage of the state that the plan was made from; empty for a new state. `None` where the plan file is not of
/// the known form: OpenTofu can encrypt it.
pub(crate) fn lineage(plan: &Path) -> Option<String> {
    let mut archive = zip::ZipArchive::new(File::open(plan).ok()?).ok()?;
    let state = archive.by_name(STATE).ok()?;
    let state: State = serde_json::from_reader(io::BufReader::with_capacity(1 << 16, state)).ok()?;
    Some(state.lineage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_file_names_the_lineage_of_its_state() {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/generated-plans");
        assert!(cases.is_dir(), "the fixtures are missing: {}", cases.display());
        assert_eq!(lineage(&cases.join("import_noop_and_update/tfplan")).as_deref(), Some(""));
        let known = lineage(&cases.join("no_changes/tfplan")).unwrap();
        assert_eq!(known.len(), 36, "{known}");
        assert_eq!(lineage(&cases.join("no_changes/main.tf")), None);
    }

    #[test]
    fn a_copy_is_hashed_as_it_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let digest = copy(b"plan".as_slice(), &directory.path().join("copy")).unwrap();
        assert_eq!(digest, FileDigest::of(b"plan"));
    }
}
