//! Reading a person's own repository.

#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

mod kit;

use std::fs;

use kit::Origin;
use yuba_git::Repository;

#[test]
fn the_last_commits_follow_first_parents() {
    let origin = Origin::with(&[("a", "1")]);
    origin.git(&["checkout", "--quiet", "-b", "side"]);
    origin.commit("on the side", &[("b", "1")]);
    origin.git(&["checkout", "--quiet", "main"]);
    origin.commit("on main", &[("c", "1")]);
    origin.git(&["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
    let repository = Repository::discover(&origin.path()).unwrap();
    let head = repository.resolve("HEAD").unwrap();
    let commits = repository.last_commits(&head, 10).unwrap();
    let subjects: Vec<&str> = commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!(subjects, ["merge", "on main", "first"]);
    assert_eq!(repository.last_commits(&head, 2).unwrap().len(), 2);
    let people = repository.people_between(&commits[2].id, &head).unwrap();
    assert_eq!(people.len(), 2, "{people:?}");
}

#[test]
fn a_shallow_clone_ends_where_it_was_cut() {
    let origin = Origin::with(&[("a", "1")]);
    origin.commit("second", &[("a", "2")]);
    let url = format!("file://{}", origin.path().display());
    kit::git(origin.parent(), &["clone", "--quiet", "--depth=1", &url, "shallow"]);
    let repository = Repository::discover(&origin.parent().join("shallow")).unwrap();
    let head = repository.resolve("HEAD").unwrap();
    assert_eq!(repository.last_commits(&head, 10).unwrap().len(), 1);
}

#[test]
fn files_are_found_and_read_without_a_checkout() {
    let origin = Origin::with(&[("flux/a.yaml", "a: ü"), ("b.YML", ""), ("c.tf", ""), ("d/e f.yaml", "")]);
    let below = Repository::discover(&origin.path().join("flux")).unwrap();
    let head = below.commit(&below.resolve("main").unwrap()).unwrap();
    let files = below.files(&head.tree, |path| path.to_lowercase().contains(".y")).unwrap();
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["b.YML", "d/e f.yaml", "flux/a.yaml"]);
    assert_eq!(below.text(files[2].id).unwrap(), "a: ü");
}

#[test]
fn reading_writes_nothing_and_heeds_no_lock() {
    let origin = Origin::with(&[("a", "1")]);
    let git = origin.path().join(".git");
    fs::write(git.join("index.lock"), "").unwrap();
    fs::write(git.join("HEAD.lock"), "").unwrap();
    let listing = || {
        let mut names: Vec<_> = walk(&git);
        names.sort();
        names
    };
    let before = listing();
    let repository = Repository::discover(&origin.path()).unwrap();
    repository.last_commits(&repository.resolve("HEAD").unwrap(), 10).unwrap();
    assert_eq!(listing(), before);
}

fn walk(directory: &std::path::Path) -> Vec<(std::path::PathBuf, std::time::SystemTime)> {
    let entries = fs::read_dir(directory).unwrap().flatten();
    let below = entries.flat_map(|entry| {
        let modified = entry.metadata().unwrap().modified().unwrap();
        let mut all = vec![(entry.path(), modified)];
        if entry.path().is_dir() {
            all.extend(walk(&entry.path()));
        }
        all
    });
    below.collect()
}

#[test]
fn what_is_no_repository_is_said_with_its_path() {
    let directory = tempfile::TempDir::new().unwrap();
    let error = Repository::discover(directory.path()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("no Git repository at {}", directory.path().display())), "{error}");
    let origin = Origin::with(&[("a", "1")]);
    let repository = Repository::discover(&origin.path()).unwrap();
    assert!(repository.resolve("nothing").unwrap_err().to_string().starts_with("`nothing` names no commit"));
}
