//! Fetching from repositories that the real git made, over files, HTTP, HTTPS and SSH (through the real sshd, or
//! a stand-in for ssh).
#![expect(clippy::unwrap_used, clippy::similar_names, reason = "a test's helper fails the test")]

mod kit;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use kit::{Origin, main, source};
use secrecy::SecretString;
use tempfile::TempDir;
use yuba_core::spec::{GitReference, SourceSpec};
use yuba_git::fetch::{Credentials, FetchError, Fetched, Fetcher, Login};
use yuba_git_host::{GitServer, SshServer};

/// A source's cache, and fetching into it.
struct Cache(TempDir);

impl Cache {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn fetch(&self, source: &SourceSpec) -> Result<Fetched, FetchError> {
        self.fetch_as(source, &Login::Anonymous)
    }

    fn fetch_as(&self, source: &SourceSpec, login: &Login) -> Result<Fetched, FetchError> {
        self.fetch_with(source, &login.clone().into())
    }

    fn fetch_with(&self, source: &SourceSpec, credentials: &Credentials) -> Result<Fetched, FetchError> {
        Fetcher::default().fetch(&self.0.path().join("cache"), source, credentials)
    }
}

fn refusal(result: Result<Fetched, FetchError>, origin: &Origin) -> String {
    let error = result.unwrap_err();
    let kind = if error.is_permanent() { "permanent" } else { "transient" };
    format!("{kind}: {error}").replace(&origin.path().display().to_string(), "/origin")
}

#[test]
fn a_branch_is_fetched_with_what_is_known_of_its_commit() {
    let origin = Origin::with(&[("a/main.tf", ""), ("sp ace/ü.tf", "")]);
    let head = origin.commit("second: ü\n\nbody\n\nCo-authored-by: Bob <bob@example.org>", &[("b", "1")]);
    let fetched = Cache::new().fetch(&origin.source(main())).unwrap();
    assert_eq!(fetched.revision.to_string(), format!("main@sha1:{head}"));
    assert_eq!(fetched.tree.as_str(), origin.git(&["rev-parse", "HEAD^{tree}"]).trim());
    let commit = &fetched.commit;
    assert_eq!((commit.subject.as_str(), commit.parents.len()), ("second: ü", 1));
    let authors: Vec<&str> = commit.authors.iter().map(|person| person.email.as_str()).collect();
    assert_eq!(authors, ["ada@example.org", "bob@example.org"]);
    assert_eq!(commit.committer.name, "Grace Hopper");
    assert_eq!(commit.time_ms, 1_767_323_045_000);
}

#[test]
fn tags_commits_and_full_names_lead_to_their_commit() {
    let origin = Origin::with(&[("a", "1")]);
    let first = origin.head();
    origin.git(&["tag", "light"]);
    origin.git(&["tag", "-a", "-m", "annotated", "v1.0"]);
    origin.git(&["update-ref", "refs/pull/1/head", "HEAD"]);
    let second = origin.commit("second", &[("a", "2")]);
    let cache = Cache::new();
    let commit = |reference| cache.fetch(&origin.source(reference)).unwrap().commit.id.to_string();
    assert_eq!(commit(GitReference::Tag("light".into())), first);
    assert_eq!(commit(GitReference::Tag("v1.0".into())), first);
    assert_eq!(commit(GitReference::Name("refs/pull/1/head".into())), first);
    assert_eq!(commit(GitReference::Commit(second.clone())), second);
    assert_eq!(commit(GitReference::Commit(first.clone())), first, "already in the cache");
    assert_eq!(commit(GitReference::Name("HEAD".into())), second);
}

#[test]
fn a_commit_is_found_where_the_host_gives_only_what_has_a_name() {
    let origin = Origin::with(&[("a", "1")]);
    origin.git(&["config", "uploadpack.allowAnySHA1InWant", "false"]);
    let first = origin.head();
    origin.commit("second", &[("a", "2")]);
    let fetched = Cache::new().fetch(&origin.source(GitReference::Commit(first.clone()))).unwrap();
    assert_eq!(fetched.commit.id.as_str(), first);
    let unknown = GitReference::Commit("0123456789012345678901234567890123456789".into());
    assert!(matches!(Cache::new().fetch(&origin.source(unknown)), Err(FetchError::NoReference { .. })));
}

#[test]
fn a_force_push_back_and_forth_keeps_every_tree_that_was_seen() {
    let origin = Origin::with(&[("a", "1")]);
    let first = origin.commit("left", &[("a", "left")]);
    let cache = Cache::new();
    let left = cache.fetch(&origin.source(main())).unwrap();
    origin.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    origin.commit("right", &[("b", "right")]);
    let right = cache.fetch(&origin.source(main())).unwrap();
    let changed = right.repository.changed_paths(&left.tree, &right.tree).unwrap();
    let shown: Vec<String> = changed.iter().map(|path| format!("{} {}", path.change, path.path)).collect();
    assert_eq!(shown, ["modified a", "added b"]);
    origin.git(&["reset", "--quiet", "--hard", &first]);
    origin.git(&["reflog", "expire", "--expire=now", "--all"]);
    origin.git(&["gc", "--quiet", "--prune=now"]);
    let back = cache.fetch(&origin.source(main())).unwrap();
    assert_eq!(back.commit.id.as_str(), first);
    assert!(
        back.repository.changed_paths(&right.tree, &back.tree).is_ok(),
        "the tree that is gone is still here"
    );
}

#[test]
fn what_is_missing_is_named_with_the_nearest_name() {
    let origin = Origin::with(&[("a", "1")]);
    origin.git(&["tag", "v1.2.0"]);
    let cache = Cache::new();
    let fetch = |reference| refusal(cache.fetch(&origin.source(reference)), &origin);
    let empty = Origin::empty();
    let none = source("file:///nowhere/at/all", main());
    let cases = [
        fetch(GitReference::Branch("mian".into())),
        fetch(GitReference::Tag("v1.2".into())),
        fetch(GitReference::Commit("abc".into())),
        fetch(GitReference::Branch("a..b".into())),
        refusal(cache.fetch(&empty.source(main())), &empty),
        refusal(cache.fetch(&none), &origin),
    ];
    insta::assert_snapshot!(cases.join("\n"), @r"
    permanent: file:///origin has no branch `mian`; the nearest name is `main`
    permanent: file:///origin has no tag `v1.2`; the nearest name is `v1.2.0`
    permanent: cannot use commit `abc` of file:///origin: `abc` is not a commit id of 40 hexadecimal digits
    permanent: cannot use branch `a..b` of file:///origin: it is not a name that Git allows
    permanent: file:///origin is empty: it has no branches yet; push a first commit
    permanent: no repository at file:///nowhere/at/all: '/nowhere/at/all' does not appear to be a git repository; Could not read from remote repository.
    ");
}

#[test]
fn a_deleted_branch_is_missing_and_its_return_is_seen() {
    let origin = Origin::with(&[("a", "1")]);
    origin.git(&["branch", "feature/x"]);
    let cache = Cache::new();
    let source = origin.source(GitReference::Branch("feature/x".into()));
    cache.fetch(&source).unwrap();
    origin.git(&["branch", "-D", "feature/x"]);
    assert!(matches!(cache.fetch(&source), Err(FetchError::NoReference { .. })));
    origin.git(&["branch", "feature"]);
    origin.git(&["branch", "-D", "feature"]);
    origin.commit("later", &[]);
    origin.git(&["branch", "feature/x"]);
    assert_eq!(cache.fetch(&source).unwrap().commit.id.as_str(), origin.head());
}

#[test]
fn a_branch_whose_name_was_a_directory_of_branches_is_fetched() {
    let origin = Origin::with(&[("a", "1")]);
    origin.git(&["branch", "feature/x"]);
    let cache = Cache::new();
    cache.fetch(&origin.source(GitReference::Branch("feature/x".into()))).unwrap();
    origin.git(&["branch", "-D", "feature/x"]);
    origin.git(&["branch", "feature"]);
    let fetched = cache.fetch(&origin.source(GitReference::Branch("feature".into()))).unwrap();
    assert_eq!(fetched.commit.id.as_str(), origin.head());
}

#[test]
fn what_a_killed_fetch_left_behind_does_not_stop_the_next() {
    let origin = Origin::with(&[("a", "1")]);
    let cache = Cache::new();
    cache.fetch(&origin.source(main())).unwrap();
    let directory = cache.0.path().join("cache");
    fs::write(directory.join("packed-refs.lock"), "").unwrap();
    fs::write(directory.join("objects/pack/tmp_pack_x"), "").unwrap();
    let head = origin.commit("second", &[("a", "2")]);
    assert_eq!(cache.fetch(&origin.source(main())).unwrap().commit.id.as_str(), head);
    assert!(!directory.join("objects/pack/tmp_pack_x").exists());
}

#[test]
fn a_cache_that_is_no_directory_is_a_passing_fault_that_names_it() {
    let origin = Origin::with(&[("a", "1")]);
    let cache = Cache::new();
    fs::write(cache.0.path().join("cache"), "").unwrap();
    let error = cache.fetch(&origin.source(main())).unwrap_err();
    assert!(!error.is_permanent());
    assert!(error.to_string().ends_with("cache cannot be used"), "{error}");
}

#[test]
fn over_http_with_a_token_and_not_without() {
    let origin = Origin::with(&[("a", "1")]);
    let server = GitServer::start(origin.parent(), Some("Basic YWRhOnMzY3JldA=="));
    let source = source(&server.url("live%20repository%20%c3%bc/.git"), main());
    let password =
        |text: &str| Login::Password { username: "ada".into(), password: SecretString::from(text) };
    let cache = Cache::new();
    let fetched = cache.fetch_as(&source, &password("s3cret")).unwrap();
    assert_eq!(fetched.commit.id.as_str(), origin.head());
    for credentials in [Login::Anonymous, password("wr0ng")] {
        let error = cache.fetch_as(&source, &credentials).unwrap_err();
        assert!(matches!(error, FetchError::AccessDenied { .. }), "{error:?}");
        assert!(!format!("{error:?}").contains("wr0ng"));
    }
}

#[test]
fn over_http_with_a_bearer_token_and_secrets_in_the_url() {
    let origin = Origin::with(&[("a", "1")]);
    let path = "live%20repository%20%c3%bc/.git";
    let bearer = GitServer::start(origin.parent(), Some("Bearer t0ken"));
    let credentials = Login::Bearer(SecretString::from("t0ken"));
    Cache::new().fetch_as(&source(&bearer.url(path), main()), &credentials).unwrap();
    let basic = GitServer::start(origin.parent(), Some("Basic YWRhOnMzY3JldA=="));
    let url = basic.url(path).replace("http://", "http://ada:s3cret@");
    Cache::new().fetch(&source(&url, main())).unwrap();
}

#[test]
fn over_https_with_a_token_where_the_certificate_is_trusted() {
    let origin = Origin::with(&[("a", "1")]);
    let (server, certificate) = GitServer::start_tls(origin.parent(), "Bearer t0ken");
    let source = source(&server.url("live%20repository%20%c3%bc/.git"), main());
    let token = |authority| Credentials { login: Login::Bearer(SecretString::from("t0ken")), authority };
    let fetched = Cache::new().fetch_with(&source, &token(Some(certificate))).unwrap();
    assert_eq!(fetched.commit.id.as_str(), origin.head());
    let error = Cache::new().fetch_with(&source, &token(None)).unwrap_err();
    assert!(matches!(error, FetchError::Untrusted { .. }), "{error:?}");
}

#[test]
fn a_host_that_does_not_answer_is_a_passing_fault() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = Cache::new().fetch(&source(&format!("http://{unused}/x"), main())).unwrap_err();
    assert!(matches!(error, FetchError::Unreachable { .. }), "{error:?}");
}

/// A program in ssh's place: checks what it is called with, then runs what it is asked to on this machine.
fn ssh_stand_in(directory: &TempDir, body: &str) -> std::path::PathBuf {
    let program = directory.path().join("ssh");
    fs::write(&program, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[test]
fn over_ssh_with_a_key_that_only_this_user_can_read() {
    let origin = Origin::with(&[("a", "1")]);
    let directory = TempDir::new().unwrap();
    let checks = r#"case "$*" in *"-o StrictHostKeyChecking=yes"*) ;; *) exit 9;; esac
key=$4; [ "$(stat -c %a "$key")" = 600 ] && [ "$(cat "$key")" = KEY ] || exit 8
for last; do :; done; exec sh -c "$last""#;
    let fetcher = Fetcher { ssh: ssh_stand_in(&directory, checks), ..Fetcher::default() };
    let key =
        Login::Key { identity: SecretString::from("KEY"), known_hosts: "git.example ssh-ed25519 A".into() };
    let source = source(&format!("ssh://git@git.example{}", origin.path().display()), main());
    let fetched = fetcher.fetch(&directory.path().join("cache"), &source, &key.into()).unwrap();
    assert_eq!(fetched.commit.id.as_str(), origin.head());
}

#[test]
fn over_ssh_with_the_key_that_the_host_lets_in_and_the_one_that_it_shows() {
    let (server, origin) = (SshServer::start(), Origin::with(&[("a", "1")]));
    let source = source(&server.url(&origin.path()), main());
    let fetch = |identity: String, known_hosts: String| {
        Cache::new().fetch_as(&source, &Login::Key { identity: identity.into(), known_hosts })
    };
    let fetched = fetch(server.identity(), server.known_hosts());
    let fetched = fetched.unwrap_or_else(|error| panic!("{error}\n{}", server.log()));
    assert_eq!(fetched.commit.id.as_str(), origin.head());
    let other_host =
        "git.example ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIiPnxvj7bbSpHC6F8dY4RbcBDwNqTQcFZ2aYnpZfQpl";
    let unknown_host = fetch(server.identity(), other_host.to_owned()).unwrap_err();
    assert!(matches!(unknown_host, FetchError::UnknownHost { .. }), "{unknown_host:?}");
    let other_key = fetch(server.identity(), server.wrong_known_hosts()).unwrap_err();
    assert!(matches!(other_key, FetchError::OtherKey { .. }), "{other_key:?}");
    let not_let_in = fetch(server.unknown_identity(), server.known_hosts()).unwrap_err();
    assert!(matches!(not_let_in, FetchError::AccessDenied { .. }), "{not_let_in:?}");
    assert!(not_let_in.to_string().contains("Permission denied (publickey)"), "{not_let_in}");
}

#[test]
fn a_host_whose_key_is_unknown_is_refused_for_good() {
    let directory = TempDir::new().unwrap();
    let refuse = "echo 'Host key verification failed.' >&2; exit 255";
    let fetcher = Fetcher { ssh: ssh_stand_in(&directory, refuse), ..Fetcher::default() };
    let key =
        Login::Key { identity: SecretString::from("KEY"), known_hosts: "other.example ssh-ed25519 A".into() };
    let error = fetcher
        .fetch(&directory.path().join("cache"), &source("git@git.example:live", main()), &key.into())
        .unwrap_err();
    assert!(matches!(error, FetchError::UnknownHost { .. }) && error.is_permanent(), "{error:?}");
}

#[test]
fn many_small_pushes_end_in_few_packs() {
    let origin = Origin::with(&[("a", "1")]);
    let cache = Cache::new();
    for number in 0..45 {
        origin.commit("next", &[("a", &format!("push {number}"))]);
        cache.fetch(&origin.source(main())).unwrap();
    }
    let packs = fs::read_dir(cache.0.path().join("cache/objects/pack")).unwrap().flatten();
    let count = packs.filter(|entry| entry.path().extension().is_some_and(|end| end == "pack")).count();
    assert!(count < 40, "{count} packs");
}
