//! Packing trees made by the real git, and unpacking what no artifact should hold.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's helper fails the test")]

mod kit;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use kit::Origin;
use tempfile::TempDir;
use yuba_core::artifact::ArtifactReport;
use yuba_core::id::TreeId;
use yuba_git::Repository;
use yuba_git::artifact::{Limits, UnpackError, pack, unpack};

fn packed(origin: &Origin) -> Vec<u8> {
    packed_with_report(origin).0
}

fn packed_with_report(origin: &Origin) -> (Vec<u8>, ArtifactReport) {
    let repository = Repository::discover(&origin.path()).unwrap();
    let tree: TreeId = origin.git(&["rev-parse", "HEAD^{tree}"]).trim().parse().unwrap();
    pack(&repository, &tree, Vec::new()).unwrap()
}

/// An archive made by hand: entries as (kind, path, content or link target).
fn crafted(entries: &[(tar::EntryType, &str, &str)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(zstd::Encoder::new(Vec::new(), 1).unwrap());
    for (kind, path, text) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        // Written past the checks of the tar crate, as an attacker would.
        header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
        let is_file = *kind == tar::EntryType::Regular;
        header.set_size(if is_file { text.len() as u64 } else { 0 });
        if !is_file {
            header.as_mut_bytes()[157..157 + text.len()].copy_from_slice(text.as_bytes());
        }
        header.set_cksum();
        tar.append(&header, if is_file { text.as_bytes() } else { b"" }).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

fn refusal(entries: &[(tar::EntryType, &str, &str)]) -> String {
    let directory = TempDir::new().unwrap();
    let inside = directory.path().join("inside");
    let error = unpack(crafted(entries).as_slice(), &inside, Limits::default()).unwrap_err();
    let around: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(around.len(), 1, "nothing was written beside the directory");
    error.to_string().replace(&inside.display().to_string(), "DIR")
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
    unpack(bytes.as_slice(), directory.path(), Limits::default()).unwrap();
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
    unpack(bytes.as_slice(), directory.path(), Limits::default()).unwrap();
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
    unpack(packed(&origin).as_slice(), directory.path(), Limits::default()).unwrap();
    assert!(directory.path().join("vendor").is_dir());
}

#[test]
fn what_could_write_elsewhere_is_refused() {
    use tar::EntryType::{Link, Regular, Symlink};
    let cases = [
        refusal(&[(Regular, "../x", "1")]),
        refusal(&[(Regular, "/tmp/yuba-x", "1")]),
        refusal(&[(Regular, "a/../../x", "1")]),
        refusal(&[(Symlink, "l", "/etc")]),
        refusal(&[(Symlink, "a/l", "../../x")]),
        refusal(&[(Symlink, "l", "d/../.."), (Regular, "x", "1")]),
        refusal(&[(Link, "l", "x")]),
        refusal(&[(Regular, "x", "1"), (Regular, "x", "2")]),
        refusal(&[(Symlink, "l", "d"), (Regular, "l/x", "1")]),
    ];
    insta::assert_snapshot!(cases.join("\n"), @r"
    the artifact's entry `../x` is refused: its path leaves the directory
    the artifact's entry `/tmp/yuba-x` is refused: its path leaves the directory
    the artifact's entry `a/../../x` is refused: its path leaves the directory
    the artifact's entry `l` is refused: it is a link that leaves the directory
    the artifact's entry `a/l` is refused: it is a link that leaves the directory
    the artifact's entry `l` is refused: it is a link that leaves the directory
    the artifact's entry `l` is refused: it is neither file, directory nor symbolic link
    the artifact could not be unpacked into DIR
    the artifact could not be unpacked into DIR
    ");
}

#[test]
fn a_bomb_ends_at_its_limits() {
    use tar::EntryType::Regular;
    let zeros = "0".repeat(1 << 20);
    let bytes = crafted(&[(Regular, "a", &zeros), (Regular, "b", &zeros)]);
    let directory = TempDir::new().unwrap();
    let unpacked = |name: &str, limits| unpack(bytes.as_slice(), &directory.path().join(name), limits);
    let small = Limits { bytes: 1 << 20, entries: 10 };
    assert!(matches!(unpacked("a", small), Err(UnpackError::TooLarge { .. })));
    assert!(matches!(
        unpacked("b", Limits { bytes: 1 << 30, entries: 1 }),
        Err(UnpackError::TooLarge { .. })
    ));
    unpacked("c", Limits { bytes: 2 << 20, entries: 2 }).unwrap();
}

#[test]
fn a_damaged_artifact_is_an_error_that_names_the_directory() {
    let origin = Origin::with(&[("a", "text")]);
    let bytes = packed(&origin);
    let directory = TempDir::new().unwrap();
    for damaged in [&bytes[..bytes.len() / 2], b"no archive"] {
        let place: &Path = &directory.path().join(format!("{}", damaged.len()));
        let error = unpack(damaged, place, Limits::default()).unwrap_err();
        assert!(error.to_string().ends_with(&place.display().to_string()), "{error}");
    }
}
