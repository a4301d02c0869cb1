//! The verbs that ask a server, through the real binary, against the API over a world in memory.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs::OpenOptions;
use std::process::{Command, Stdio};
use std::sync::Arc;

use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use yuba_api::{Api, Explain, Unexplained, router};
use yuba_core::id::StackName;
use yuba_core::job::{attempt_prefix, object};
use yuba_core::record::StackAlias;
use yuba_core::run::{Failure, FailureClass, Run, RunState};
use yuba_core::stack::Stack;
use yuba_core::time::Timestamp;
use yuba_core::why::Why;
use yuba_ports::memory::MemoryWorld;
use yuba_ports::records::put_any;
use yuba_ports::{Blobs, PutMode, Store};

const PLAN: &str = r#"{"format_version":"1.2","resource_changes":[
    {"address":"toy.a","type":"toy","change":{"actions":["create"],"before":null,"after":{"x":1}}},
    {"address":"toy.b","type":"toy","change":{"actions":["delete"],"before":{},"after":null}}]}"#;

const LEFT_BEHIND: &str = r#"{"version":4,"serial":3,"lineage":"5f2a","resources":[
    {"mode":"managed","type":"toy","name":"a","instances":[{"attributes":{"x":"s3cr3t"}}]}]}"#;

/// Knows the revision `main` alone.
struct Knows;

#[async_trait::async_trait]
impl Explain for Knows {
    async fn why(&self, _: &StackName, revision: Option<&str>) -> Result<Why, Unexplained> {
        match revision {
            None | Some("main") => Ok(Why::NoRun { reason: "nobody asked".to_owned() }),
            Some(other) => Err(Unexplained::Unknown(format!("revision `{other}` is not known"))),
        }
    }
}

/// A server with one stack whose last run has a plan. It ends with the value.
struct Server {
    _runtime: Runtime,
    url: String,
}

impl Server {
    fn start() -> Self {
        Self::start_with(|_| ())
    }

    /// The same, with another last run.
    fn start_with(change: impl FnOnce(&mut Run)) -> Self {
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let world = MemoryWorld::new();
        runtime.block_on(fill(&world, change));
        let api = Api::new(world.ports(), SecretString::from("secret"), Arc::new(Knows));
        runtime.spawn(async move { axum::serve(listener, router(api)).await });
        Self { _runtime: runtime, url }
    }

    /// What `yuba` prints, and its exit code where that is not 0.
    fn yuba(&self, arguments: &[&str]) -> String {
        self.yuba_to(arguments, Stdio::piped())
    }

    #[expect(clippy::disallowed_methods, reason = "tests run programs as people do")]
    fn yuba_to(&self, arguments: &[&str], stdout: Stdio) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_yuba"));
        command.args(arguments).env("YUBA_SERVER", &self.url).env("YUBA_TOKEN", "secret");
        command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
        let output = command.spawn().and_then(std::process::Child::wait_with_output);
        let output = output.unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => text.into_owned(),
            code => format!("{text}exit code {}\n", code.unwrap_or(-1)),
        }
    }
}

async fn fill(world: &MemoryWorld, change: impl FnOnce(&mut Run)) {
    let golden = include_str!("../../../../shared/core/tests/golden/run.v1.json");
    let mut run: Run = serde_json::from_str(golden).unwrap();
    change(&mut run);
    let mut stack = Stack::new(run.stack, run.name.clone(), Timestamp(1_796_034_987_858));
    stack.latest = Some(run.id);
    let alias = StackAlias { name: run.name.clone(), stack: run.stack };
    let writes = [put_any(&stack), put_any(&alias), put_any(&run)].map(Result::unwrap);
    world.store.commit(writes.to_vec()).await.unwrap();
    let summary = yuba_core::plan::read(PLAN.as_bytes()).unwrap().summary;
    let key = format!("{}{}", attempt_prefix(run.stack, run.attempts.first().unwrap().id), object::SUMMARY);
    world.blobs.put(&key, &serde_json::to_vec(&summary).unwrap(), PutMode::Replace).await.unwrap();
    let left = attempt_prefix(run.stack, run.attempts.last().unwrap().id) + object::ERRORED_STATE;
    world.blobs.put(&left, LEFT_BEHIND.as_bytes(), PutMode::Replace).await.unwrap();
}

/// A run that left a state behind.
fn failed(run: &mut Run) {
    let (class, message) = (FailureClass::Transient, "the backend is away".to_owned());
    run.state = RunState::Failed;
    run.failure = Some(Failure { class, message, detail: String::new(), lock: None, errored_state: true });
}

#[test]
fn a_plan_is_narrowed_with_its_own_counts_and_an_unknown_address_is_an_error() {
    let server = Server::start();
    insta::assert_snapshot!(server.yuba(&["show", "plan", "network-prod", "--address", "toy.a"]), @r#"
    + toy.a will be created
        + x: 1

    Narrowed to toy.a, 1 of 2 changes: 1 to add, 0 to change, 0 to destroy.
    The whole plan: 1 to add, 0 to change, 1 to destroy.
    "#);
    insta::assert_snapshot!(server.yuba(&["show", "plan", "network-prod", "--address", "toy.c"]), @r#"
    error: nothing in the plan is at or under `toy.c`; near are toy.a, toy.b
    exit code 1
    "#);
}

#[test]
fn a_revision_that_is_not_known_is_an_error() {
    let server = Server::start();
    insta::assert_snapshot!(server.yuba(&["why", "network-prod"]), @"there is no run yet: nobody asked");
    insta::assert_snapshot!(server.yuba(&["why", "network-prod", "0123456789"]), @r#"
    error: revision `0123456789` is not known
    exit code 1
    "#);
}

#[test]
fn what_the_server_finds_wrong_with_the_arguments_is_a_usage_error() {
    let server = Server::start();
    let patch = ["patch", "terraform", "network-prod", "--type=merge", "-p", r#"{"spec":{"interval":"1m"}}"#];
    insta::assert_snapshot!(server.yuba(&patch), @r"
    error: `spec.interval` cannot be patched
      only `spec.approvePlan` and `spec.suspend` can; the rest belongs in Git: change the manifest there
    exit code 64
    ");
    insta::assert_snapshot!(server.yuba(&["get", "stacks", "-l", "=prod"]), @r"
    error: labels: `=prod` is not a label selector
      write `key=value`, `key!=value` or `key`, several with commas between
    exit code 64
    ");
    insta::assert_snapshot!(server.yuba(&["describe", "nowhere"]), @r"
    error: there is no stack nowhere; `yuba get stacks` lists all stacks
    exit code 1
    ");
}

#[test]
fn a_full_disk_is_told_and_a_reader_that_went_away_is_not() {
    let server = Server::start();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    insta::assert_snapshot!(server.yuba_to(&["get", "stacks"], full.into()), @r#"
    error: cannot write to standard output: No space left on device (os error 28)
    exit code 1
    "#);
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    insta::assert_snapshot!(server.yuba_to(&["get", "stacks"], closed.into()), @"");
}

#[test]
fn a_server_that_hangs_is_given_up_when_the_wait_is_over() {
    let hangs = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", hangs.local_addr().unwrap());
    let server = Server { _runtime: Runtime::new().unwrap(), url: url.clone() };
    let said = server.yuba(&["wait", "infra/a", "--for", "applied", "--timeout", "1s"]);
    assert_eq!(said, format!("error: {url} accepts connections, but did not answer in time\nexit code 1\n"));
}

#[test]
fn a_stack_that_is_not_there_in_time_is_told_with_how_it_stands() {
    let server = Server::start();
    insta::assert_snapshot!(server.yuba(&["wait", "network-prod", "--for", "applied", "--timeout", "1s"]), @r"
    error: network-prod still had no run after 1s
    exit code 1
    ");
}

#[test]
fn a_state_is_shown_before_it_is_pushed_and_pushed_only_where_somebody_agrees() {
    let server = Server::start_with(failed);
    insta::assert_snapshot!(server.yuba(&["recover", "network-prod"]), @r"
    infra/network-prod: 01M8P0E1TJ47B4EFWP51V6Q0H8-apply-1 left a state behind that is not in its backend.
    Serial 3, lineage 5f2a, 1 resource
        toy.a
    It would be pushed to: the backend that its code or manifest names, whose address is not literal (workspace default)
    The backend refuses it if its own state is newer or of another lineage. Then the stack is planned.
    error: nothing was pushed: there is no terminal to ask at; `--yes` pushes without asking
    exit code 64
    ");
    let nothing = Server::start().yuba(&["recover", "network-prod", "--yes"]);
    assert!(
        nothing.starts_with("refused: network-prod: run 01M8P0E1TJ47B4EFWP51V6Q0H8 left no state behind"),
        "{nothing}"
    );
    assert!(nothing.ends_with("exit code 3\n"), "{nothing}");
}

#[test]
fn programs_are_told_what_became_of_what_they_asked_for() {
    let server = Server::start();
    insta::assert_snapshot!(server.yuba(&["approve", "network-prod", "-o", "json"]), @r#"
    {
      "items": [
        {
          "namespace": "infra",
          "name": "network-prod",
          "outcome": "refused",
          "message": "nothing waits for approval: ",
          "run": null
        }
      ]
    }
    exit code 3
    "#);
    let paused = server.yuba(&["pause", "--all", "--as", "ada", "-o", "yaml"]);
    assert!(paused.starts_with("paused:\n") && paused.contains("who: ada\n"), "{paused}");
}

#[test]
fn the_usage_of_a_verb_repeats_what_was_typed() {
    insta::assert_snapshot!(Server::start().yuba(&["pause"]), @r"
    error: the following required arguments were not provided:
      --all

    Usage: yuba pause --all

    For more information, try '--help'.
    exit code 64
    ");
}

#[test]
fn a_pause_is_told_beside_a_list_and_not_in_it() {
    let server = Server::start();
    server.yuba(&["pause", "--all", "--as", "ada"]);
    let shown = server.yuba(&["get", "stacks", "-l", "no=thing"]);
    assert!(shown.starts_with("No stacks found.\npaused by ada at "), "{shown}");
    insta::assert_snapshot!(server.yuba(&["get", "stacks", "-l", "no=thing", "-o", "json"]), @r#"
    {
      "items": []
    }
    "#);
}

#[test]
fn an_export_of_the_audit_trail_is_verified_without_a_server_and_what_was_changed_in_it_is_named() {
    let server = Server::start();
    server.yuba(&["pause", "--all", "--as", "ada", "-m", "incident"]);
    server.yuba(&["unpause", "--all", "--as", "bob"]);
    insta::assert_snapshot!(server.yuba(&["audit", "list"]), @r"
    AT                     STACK   WHO   FROM   ACTION    OUTCOME   DETAIL
    2026-01-01T00:00:00Z   (all)   bob   cli    unpause   done      new applies of all stacks
    2026-01-01T00:00:00Z   (all)   ada   cli    pause     done      new applies of all stacks
    ");
    insta::assert_snapshot!(server.yuba(&["audit", "list", "network-prod"]), @"No entries found.");
    insta::assert_snapshot!(server.yuba(&["audit", "verify"]), @"Whole. Entries: 2, chains: 1, anchors: 0.");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trail.jsonl");
    let path = file.to_str().unwrap();
    server.yuba(&["audit", "export", path]);
    let nobody = Server { _runtime: Runtime::new().unwrap(), url: "http://127.0.0.1:1".to_owned() };
    insta::assert_snapshot!(nobody.yuba(&["audit", "verify", path]), @"Whole. Entries: 2, chains: 1, anchors: 0.");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("ada", "eve")).unwrap();
    let said = |arguments: &[&str]| nobody.yuba(arguments).replace(path, "FILE");
    insta::assert_snapshot!(said(&["audit", "verify", path]), @r"
    error: FILE:2: entry 1 of chain installation was changed: its content has another hash than it says
    exit code 1
    ");
    std::fs::write(&file, text.lines().take(2).collect::<Vec<_>>().join("\n")).unwrap();
    insta::assert_snapshot!(said(&["audit", "verify", path]), @r"
    error: entry 2 of chain installation is missing: its own record names entry 2
    exit code 1
    ");
    std::fs::write(&file, "{}").unwrap();
    insta::assert_snapshot!(said(&["audit", "verify", path]), @r"
    error: FILE:1 is no line of an export: expected value at line 1 column 2
    exit code 1
    ");
}

#[test]
fn an_anchor_that_was_kept_elsewhere_must_be_in_the_trail() {
    let server = Server::start();
    let hash = format!("sha256:{}", "7".repeat(64));
    insta::assert_snapshot!(server.yuba(&["audit", "verify", "--anchor", &hash]), @r"
    error: no anchor has the hash sha256:7777777777777777777777777777777777777777777777777777777777777777: the trail is not the one that it was taken of, or ends before it
    exit code 1
    ");
    assert!(server.yuba(&["audit", "verify", "--anchor", "7"]).ends_with("exit code 64\n"));
}
