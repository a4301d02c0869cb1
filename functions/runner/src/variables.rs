//! Variables: the manifest's `vars`, over them the values of `varsFrom`, later ones winning, in one file that the
//! engine reads by itself; and `-var-file` arguments, which win over both, as with tofu-controller.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use yuba_core::spec::Variable;
use yuba_core::task::ResolvedValue;

use crate::ended::{Ended, Step};
use crate::objects::private_file;

/// Files of this kind are read in the order of their names, the last one wins: over those of the repository.
const FILE: &str = "zzzz-yuba.auto.tfvars.json";

/// Writes the variables into the root module. A variable that the module does not declare is only warned of by the
/// engine.
pub(crate) fn write(module: &Path, vars: &[Variable], values: &[ResolvedValue]) -> Step<()> {
    let all = merged(vars, values);
    if all.is_empty() {
        return Ok(());
    }
    let path = module.join(FILE);
    if path.symlink_metadata().is_ok() {
        return Err(Ended::configuration(format!("the repository holds a file named {FILE}: rename it")));
    }
    let text = Value::Object(all).to_string();
    let written = private_file(&path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| Ended::io("write", &path, &error))
}

/// All variables by name.
pub(crate) fn merged(vars: &[Variable], values: &[ResolvedValue]) -> Map<String, Value> {
    let given = vars.iter().map(|variable| (variable.name.clone(), variable.value.clone()));
    let read = values.iter().map(|value| (value.name.clone(), Value::String(value.value.clone())));
    given.chain(read).collect()
}

/// The files named by `tfVarsFiles`, which must lie in the repository.
pub(crate) fn files(tree: &Path, names: &[String]) -> Step<Vec<PathBuf>> {
    let top = fs::canonicalize(tree).map_err(|error| Ended::io("read", tree, &error))?;
    let find = |name: &String| {
        let path = tree.join(name.trim_start_matches('/'));
        let real = fs::canonicalize(&path).ok().filter(|real| real.is_file());
        match real {
            Some(real) if real.starts_with(&top) => Ok(path),
            Some(_) => {
                Err(Ended::configuration(format!("tfVarsFiles: `{name}` lies outside the repository")))
            }
            None => Err(Ended::configuration(format!(
                "tfVarsFiles: `{name}` is not a file of the repository (names are relative to its root)"
            ))),
        }
    };
    names.iter().map(find).collect()
}

/// The arguments that name the files.
pub(crate) fn arguments(files: &[PathBuf]) -> Vec<OsString> {
    files
        .iter()
        .map(|file| {
            let mut argument = OsString::from("-var-file=");
            argument.push(file);
            argument
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_win_over_values_given_and_later_ones_over_earlier_ones() {
        let vars = [
            Variable { name: "a".to_owned(), value: serde_json::json!({"x": [1, null]}) },
            Variable { name: "b".to_owned(), value: Value::from(1) },
        ];
        let read =
            |value: &str| ResolvedValue { name: "b".to_owned(), value: value.to_owned(), secret: true };
        let all = merged(&vars, &[read("2"), read("3")]);
        assert_eq!(Value::Object(all).to_string(), r#"{"a":{"x":[1,null]},"b":"3"}"#);
    }

    #[test]
    fn a_variables_file_must_lie_in_the_repository() {
        let tree = tempfile::tempdir().unwrap();
        fs::write(tree.path().join("a.tfvars"), "").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", tree.path().join("out.tfvars")).unwrap();
        assert_eq!(files(tree.path(), &["a.tfvars".to_owned()]).unwrap().len(), 1);
        for name in ["b.tfvars", "../x", "out.tfvars", ""] {
            assert!(files(tree.path(), &[name.to_owned()]).is_err(), "{name}");
        }
    }
}
