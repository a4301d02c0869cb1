//! State files of stacks for which nobody names a backend: `<stack>/terraform.tfstate`, so that one stack's engine can be
//! let into its folder alone.

use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};

use crate::private;

/// What lies beside a state file, by the end of its name: the state before, and the states of other workspaces.
const ENDS: [&str; 3] = ["", ".backup", ".d"];

/// Moves states from where they lay before, `<stack>.tfstate`, into a folder each.
pub(crate) fn gather(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_none_or(|end| end != "tfstate") || !path.is_file() {
            continue;
        }
        let folder = path.with_extension("");
        private::make_directory(&folder)?;
        // The state itself goes last: until then this is done again.
        for end in ENDS.into_iter().rev() {
            let with_end = |path: &Path| {
                let mut name = OsString::from(path);
                name.push(end);
                name
            };
            match fs::rename(with_end(&path), with_end(&folder.join("terraform.tfstate"))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_move_into_folders_with_what_lies_beside_them() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for file in ["one.tfstate", "one.tfstate.backup", "two.tfstate"] {
            fs::write(at(file), file).unwrap();
        }
        fs::create_dir_all(at("one.tfstate.d/blue")).unwrap();
        for _ in 0..2 {
            gather(directory.path()).unwrap();
        }
        let read = |name: &str| fs::read_to_string(at(name)).unwrap();
        assert_eq!(read("one/terraform.tfstate"), "one.tfstate");
        assert_eq!(read("one/terraform.tfstate.backup"), "one.tfstate.backup");
        assert_eq!(read("two/terraform.tfstate"), "two.tfstate");
        assert!(at("one/terraform.tfstate.d/blue").is_dir());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }
}
