//! Every crate that is built comes under a licence that `deny.toml` allows.
#![expect(clippy::expect_used, reason = "a test's helper fails the test")]

use std::collections::BTreeSet;

use cargo_metadata::{Metadata, MetadataCommand, Package};

fn metadata() -> Metadata {
    MetadataCommand::new().exec().expect("cargo metadata runs in the workspace")
}

/// The licences that `deny.toml` lists, read line by line: each stands quoted on a line of its own.
fn allowed(metadata: &Metadata) -> BTreeSet<String> {
    let text =
        std::fs::read_to_string(metadata.workspace_root.join("deny.toml")).expect("deny.toml is there");
    let list =
        text.split_once("allow = [").and_then(|(_, rest)| rest.split_once(']')).expect("it has a list").0;
    list.lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split_once('"'))
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// Whether one of the alternatives of a licence expression is allowed in all of its parts.
fn fits(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    let every = |alternative: &str| alternative.split(" AND ").all(|part| allowed.contains(part.trim()));
    let any = |part: &str| part.split(" OR ").any(|choice| allowed.contains(choice.trim()));
    plain.split(" OR ").any(every) || plain.split(" AND ").all(any)
}

#[test]
fn every_crate_has_a_licence_that_fits() {
    let metadata = metadata();
    let allowed = allowed(&metadata);
    assert!(allowed.contains("MIT"), "the list was read");
    let misfit =
        |package: &&Package| !package.license.as_deref().is_some_and(|licence| fits(licence, &allowed));
    let misfits: Vec<String> = metadata
        .packages
        .iter()
        .filter(misfit)
        .map(|package| format!("{} {}: {:?}", package.name, package.version, package.license))
        .collect();
    assert_eq!(misfits, Vec::<String>::new());
}

#[test]
fn a_licence_that_is_not_listed_does_not_fit() {
    let allowed = BTreeSet::from(["MIT".to_owned(), "ISC".to_owned()]);
    for (expression, expected) in [
        ("MIT", true),
        ("MIT OR GPL-3.0", true),
        ("MIT/Apache-2.0", true),
        ("ISC AND MIT", true),
        ("ISC AND GPL-3.0", false),
        ("ISC AND (MIT OR GPL-3.0)", true),
        ("GPL-3.0", false),
    ] {
        assert_eq!(fits(expression, &allowed), expected, "{expression}");
    }
}
