//! Which directories are root modules, where no manifest says so.
//!
//! Certain is a directory that names a backend or keeps a provider lock file. Else a directory is one that sets a
//! provider up or that no other calls as a module, unless it lies below a directory called `modules`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use yuba_git::root_module::RootModule;

/// The root modules among all directories with configuration.
pub(super) fn root_modules(modules: &BTreeMap<String, Rc<RootModule>>) -> BTreeSet<String> {
    let called: BTreeSet<String> = modules
        .iter()
        .flat_map(|(directory, module)| {
            module.local_calls.iter().filter_map(|source| join(directory, source))
        })
        .collect();
    let is_root = |directory: &str, module: &RootModule| {
        let certain = !module.backends.is_empty() || module.has_lock_file;
        let likely = module.has_provider_block || !called.contains(directory);
        certain || (likely && !directory.split('/').any(|part| part == "modules"))
    };
    let roots = modules.iter().filter(|(directory, module)| is_root(directory, module));
    roots.map(|(directory, _)| directory.clone()).collect()
}

/// Where a module's source leads; `None` out of the repository.
fn join(directory: &str, source: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in source.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(files: &[(&str, &str)]) -> String {
        let modules = files
            .iter()
            .map(|(directory, text)| {
                ((*directory).to_owned(), Rc::new(RootModule::read([("main.tf", *text)])))
            })
            .collect();
        root_modules(&modules).into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn modules_are_what_others_call_and_what_lies_below_modules() {
        let call = "module \"m\" {\n source = \"../lib//net\"\n}\n";
        assert_eq!(
            roots(&[("dev", call), ("lib/net", ""), ("modules/unused", ""), ("prod", "")]),
            "dev prod"
        );
        let provider = "provider \"p\" {}\n";
        assert_eq!(roots(&[("dev", call), ("lib/net", provider), ("modules/x", provider)]), "dev lib/net");
        let backend = "terraform {\n backend \"s3\" {}\n}\n";
        assert_eq!(
            roots(&[("", "module \"m\" {\n source = \"./a\"\n}\n"), ("a", ""), ("modules/x", backend)]),
            " modules/x"
        );
    }

    #[test]
    fn a_source_may_lead_out() {
        assert_eq!(join("a/b", "../../c"), Some("c".to_owned()));
        assert_eq!(join("a", "../../c"), None);
    }
}
