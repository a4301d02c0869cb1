//! The crate edges that ARCHITECTURE.md draws, held over `cargo metadata`.
#![expect(clippy::expect_used, reason = "a test's helper fails the test")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

/// Crates that `shared/core` must never reach: it decides, and does no I/O, has no clock and no randomness.
const NOT_IN_CORE: [&str; 8] =
    ["tokio", "reqwest", "axum", "rusqlite", "gix", "rand", "tracing", "async-trait"];

fn metadata() -> Metadata {
    MetadataCommand::new().exec().expect("cargo metadata runs in the workspace")
}

/// Normal (not dev, not build) dependencies of a package, by name.
fn dependencies(package: &Package) -> BTreeSet<&str> {
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind == DependencyKind::Normal)
        .map(|dependency| dependency.name.as_str())
        .collect()
}

/// The workspace members below one top-level folder.
fn members<'a>(metadata: &'a Metadata, folder: &str) -> Vec<&'a Package> {
    let root = metadata.workspace_root.join(folder);
    metadata
        .workspace_packages()
        .into_iter()
        .filter(|package| package.manifest_path.starts_with(&root))
        .collect()
}

#[test]
fn arrows_point_downwards_only() {
    let metadata = metadata();
    let functions: BTreeSet<String> =
        members(&metadata, "functions").iter().map(|package| package.name.to_string()).collect();
    assert!(functions.contains("yuba"), "the functions folder was found");
    for package in members(&metadata, "shared") {
        for name in dependencies(package) {
            assert!(!functions.contains(name), "shared crate {} reaches up to {name}", package.name);
        }
    }
    for package in
        members(&metadata, "functions").into_iter().filter(|package| package.name.as_str() != "yuba")
    {
        for name in dependencies(package) {
            assert!(!functions.contains(name), "{} reaches sideways to {name}", package.name);
        }
    }
}

#[test]
fn core_decides_and_does_nothing_else() {
    let metadata = metadata();
    let core = members(&metadata, "shared").into_iter().find(|package| package.name.as_str() == "yuba-core");
    for name in dependencies(core.expect("yuba-core is a member")) {
        assert!(!NOT_IN_CORE.contains(&name), "yuba-core depends on {name}");
        assert!(!name.starts_with("yuba-"), "yuba-core depends on {name}");
    }
}

#[test]
fn ports_carry_out_and_know_nothing_else() {
    let metadata = metadata();
    for name in ["yuba-local", "yuba-aws", "yuba-http"] {
        let package = members(&metadata, "shared").into_iter().find(|package| package.name.as_str() == name);
        let own = dependencies(package.expect("the crate is a member"))
            .into_iter()
            .filter(|dependency| dependency.starts_with("yuba-"));
        assert_eq!(own.collect::<Vec<_>>(), ["yuba-core", "yuba-ports"], "{name}");
    }
}

#[test]
fn aws_types_stay_in_their_crate() {
    let metadata = metadata();
    for package in metadata.workspace_packages() {
        // Whoever posts requests also signs them.
        let signs = package.name.as_str() == "yuba-http";
        let may = |name: &str| signs && ["aws-credential-types", "aws-sigv4"].contains(&name);
        let aws = dependencies(package).into_iter().find(|name| name.starts_with("aws-") && !may(name));
        assert!(
            aws.is_none() || package.name.as_str() == "yuba-aws",
            "{} names {}",
            package.name,
            aws.unwrap_or("")
        );
    }
}

#[test]
fn the_command_line_is_built_without_aws() {
    let metadata = metadata();
    for package in members(&metadata, "functions") {
        for dependency in package.dependencies.iter().filter(|it| it.kind == DependencyKind::Normal) {
            let (package, name) = (&package.name, &dependency.name);
            let is_aws = name == "yuba-aws";
            assert!(!is_aws || dependency.optional, "{package} cannot be built without {name}");
            let asks =
                dependency.features.iter().any(|feature| ["aws", "lambda"].contains(&feature.as_str()));
            assert!(is_aws || !asks, "{package} asks for {name} on AWS");
        }
    }
}

#[test]
fn functions_name_aws_in_their_programs_alone() {
    let metadata = metadata();
    for package in members(&metadata, "functions") {
        let folder = package.manifest_path.parent().expect("a manifest lies in a folder").join("src");
        for file in sources(folder.as_std_path()) {
            let text = std::fs::read_to_string(&file).expect("a source can be read");
            let is_program = file == folder.join("main.rs").as_std_path();
            assert!(is_program || !text.contains("yuba_aws"), "{} names AWS", file.display());
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder can be read");
    let paths = entries.map(|entry| entry.expect("an entry can be read").path());
    paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}
