//! Packing trees made by the real git.
#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

mod kit;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use kit::Origin;
use tempfile::TempDir;
use yuba_core::artifact::ArtifactReport;
use yuba_core::id::TreeId;
use yuba_git::Repository;
use yuba_git::artifact::pack;

fn packed(origin: &Origin) -> Vec<u8> {
    packed_with_report(origin).0
}

fn packed_with_report(origin: &Origin) -> (Vec<u8>, ArtifactReport) {
    let repository = Repository::discover(&origin.path()).unwrap();
    let tree: TreeId = origin.git(&["rev-parse", "HEAD^{tree}"]).trim().parse().unwrap();
    pack(&repository, &tree, Vec::new()).unwrap()
}

fn unpack(bytes: &[u8], directory: &Path) {
    tar::Archive::new(zstd::Decoder::new(bytes).unwrap()).unpack(directory).unwrap();
}

#[test]
fn a_tree_comes_back_as_it_was_and_always_in_the_same_bytes() {
    let long = format!("deep/{}/x.tf", "d".repeat(120));
    let origin = Origin::with(&[("a b/ü.tf", "text"), ("run.sh", "#!/bin/sh"), (&long, "long"), ("m/x", "")]);
    origin.link("link", "a b/ü.tf");
    origin.link("dir", "m");
    fs::set_permissions(origin.path().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    origin.commit("links", &[]);
    let (bytes, report) = packed_with_report(&origin);
    assert_eq!((&bytes, report.left_out), (&packed(&origin), vec![]));
    let directory = TempDir::new().unwrap();
    unpack(&bytes, directory.path());
    kit::git(directory.path(), &["init", "--quiet"]);
    kit::git(directory.path(), &["add", "--all"]);
    let tree = kit::git(directory.path(), &["write-tree"]);
    assert_eq!(tree, origin.git(&["rev-parse", "HEAD^{tree}"]));
}

#[test]
fn links_that_lead_to_nothing_inside_are_left_out_by_name() {
    let origin = Origin::with(&[("a/b/c", "")]);
    // Behind this link `..` is another directory than the one written before it.
    origin.link("a/b/s", "../../");
    let faulty = [
        ("s/out", "../../etc"),
        ("abs", "/etc/passwd"),
        ("a/b/l", "s/../../x"),
        ("by-way", "abs"),
        ("dangling", "not/there"),
        ("one", "other"),
        ("other", "one"),
    ];
    for (link, target) in faulty {
        origin.link(link, target);
    }
    origin.commit("links", &[]);
    let (bytes, report) = packed_with_report(&origin);
    let left_out: Vec<String> = report.left_out.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(left_out.join("\n"), @r"
    a/b/l: the link leaves the repository (to `s/../../x`)
    abs: the link leaves the repository (to `/etc/passwd`)
    by-way: the link leaves the repository (to `abs`)
    dangling: the link leads to nothing (to `not/there`)
    one: the link leads in a circle (to `other`)
    other: the link leads in a circle (to `one`)
    s/out: the link leaves the repository (to `../../etc`)
    ");
    let directory = TempDir::new().unwrap();
    unpack(&bytes, directory.path());
    assert!(directory.path().join("a/b/s/a/b/c").exists());
    for (link, _) in faulty {
        assert!(directory.path().join(link).symlink_metadata().is_err(), "{link}");
    }
}

#[test]
fn a_submodule_is_an_empty_directory() {
    let origin = Origin::with(&[("a", "")]);
    let head = origin.head();
    origin.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},vendor")]);
    origin.git(&["commit", "--quiet", "-m", "submodule"]);
    let directory = TempDir::new().unwrap();
    unpack(&packed(&origin), directory.path());
    assert!(directory.path().join("vendor").is_dir());
}
