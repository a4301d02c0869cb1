//! The plan file: Yuba's own copy of it, its digest, the state's lineage inside.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use sha2::{Digest as _, Sha256};
use yuba_core::id::FileDigest;

use crate::ended::{Ended, Step};
use crate::objects::private_file;

/// The entry of the plan file that holds the state before the plan.
const STATE: &str = "tfstate";

/// Within so many bytes its lineage stands: the engines write version, serial and lineage before all else.
const HEAD: u64 = 64 * 1024;

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

/// The lineage of the state that the plan was made from; empty for a new state. `None` where the plan file is not of
/// the known form: OpenTofu can encrypt it. Reads the beginning of the state alone, however large that is.
pub(crate) fn lineage(plan: &Path) -> Option<String> {
    let mut archive = zip::ZipArchive::new(File::open(plan).ok()?).ok()?;
    let head = archive.by_name(STATE).ok()?.take(HEAD);
    let mut lineage = Lineage(None);
    // What stands behind the lineage is not read, so this ends in an error where there is one.
    let _ = serde_json::Deserializer::from_reader(BufReader::new(head)).deserialize_map(&mut lineage);
    lineage.0
}

/// What was found of a state's lineage.
struct Lineage(Option<String>);

impl<'de> Visitor<'de> for &mut Lineage {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a state")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut state: A) -> Result<(), A::Error> {
        while let Some(key) = state.next_key::<String>()? {
            if key == "lineage" {
                self.0 = Some(state.next_value()?);
                return Ok(());
            }
            state.next_value::<IgnoredAny>()?;
        }
        self.0 = Some(String::new());
        Ok(())
    }
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
    fn a_lineage_is_looked_for_at_the_beginning_of_the_state_alone() {
        let plan = tempfile::NamedTempFile::new().unwrap();
        let of = |state: &str| {
            let mut archive = zip::ZipWriter::new(File::create(plan.path()).unwrap());
            archive.start_file(STATE, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(state.as_bytes()).unwrap();
            archive.finish().unwrap();
            lineage(plan.path())
        };
        let long = "x".repeat(1 << 20);
        assert_eq!(of(r#"{"version":4,"lineage":"1f","outputs":{}}"#).as_deref(), Some("1f"));
        assert_eq!(of(&format!(r#"{{"lineage":"1f","outputs":"{long}"}}"#)).as_deref(), Some("1f"));
        assert_eq!(of(r#"{"version":4}"#).as_deref(), Some(""));
        assert_eq!(of(&format!(r#"{{"lineage":"{long}"}}"#)), None);
        assert_eq!(of(&format!(r#"{{"outputs":"{long}","lineage":"1f"}}"#)), None);
    }

    #[test]
    fn a_copy_is_hashed_as_it_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let digest = copy(b"plan".as_slice(), &directory.path().join("copy")).unwrap();
        assert_eq!(digest, FileDigest::of(b"plan"));
    }
}
