//! Variables: the manifest's `vars`, over them the values of `varsFrom`, later ones winning, and over both the files of
//! `tfVarsFiles`, as with tofu-controller. All lie in files that the engine reads by itself, whatever it is told to do:
//! `init` of OpenTofu 1.8 needs them for backends and module sources, and an apply for ephemeral variables. Not each of
//! these takes `-var-file` in each version.

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

/// What copies of `tfVarsFiles` begin with: read after [`FILE`].
const COPY: &str = "zzzz-yuba1";

/// Writes the variables into the root module. A variable that the module does not declare is only warned of by the
/// engine.
pub(crate) fn write(module: &Path, vars: &[Variable], values: &[ResolvedValue]) -> Step<()> {
    let all = merged(vars, values);
    if all.is_empty() {
        return Ok(());
    }
    write_file(module, FILE, Value::Object(all).to_string().as_bytes())
}

fn write_file(module: &Path, name: &str, content: &[u8]) -> Step<()> {
    let path = module.join(name);
    if path.symlink_metadata().is_ok() {
        return Err(Ended::configuration(format!("the repository holds a file named {name}: rename it")));
    }
    let written = private_file(&path).and_then(|mut file| file.write_all(content));
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

/// Copies the files of `tfVarsFiles` to where the engine reads them by itself, so that later ones win. Their names stay
/// in the copies' names, because the engine's errors name those.
pub(crate) fn copy(module: &Path, files: &[PathBuf]) -> Step<()> {
    for (number, file) in files.iter().enumerate() {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let format = if name.ends_with(".json") { ".auto.tfvars.json" } else { ".auto.tfvars" };
        let content = fs::read(file).map_err(|error| Ended::io("read", file, &error))?;
        write_file(module, &format!("{COPY}-{number:03}-{name}{format}"), &content)?;
    }
    Ok(())
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
