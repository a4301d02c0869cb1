//! The runner with the real engine, against the real `tasks` router.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test's helper fails the test")]

mod world;

use std::fs;

use serde_json::{Value, json};
use yuba_core::attempt::AttemptReport;
use yuba_core::id::{AttemptId, Phase, SecretName};
use yuba_core::run::{FailureClass, RunKind};
use yuba_core::spec::ValuesKind;
use yuba_core::time::Span;
use yuba_git_host::GitServer;
use yuba_ports::Clock as _;

use world::{World, files};

const ONE: &str = "resource \"terraform_data\" \"a\" {\n  input = \"one\"\n}\noutput \"a\" {\n  value = \
                   terraform_data.a.output\n}\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_stored_and_applied_and_then_nothing_is_left_to_do() {
    let mut world = World::new(ONE).await;
    let (plan, report) = world.planned().await;
    assert_eq!((report.counts.create, report.has_changes, report.state_was_empty), (1, true, true));
    assert!(!report.backend_named, "{report:#?}");
    assert!(world.object(plan, "plan.txt").contains("terraform_data.a"));
    assert!(world.object(plan, "log.txt").contains("Plan: 1 to add"));
    let applied = world.apply(plan, &report).await;
    let AttemptReport::Applied { outputs, resources, notices } = applied else { panic!("{applied:#?}") };
    assert_eq!((outputs, resources, notices), (vec!["a".to_owned()], 1, vec![]));
    let apply = world.apply_job(plan, &report).attempt;
    let outputs: Value = serde_json::from_str(&world.object(apply, "outputs.json")).unwrap();
    assert_eq!(outputs["a"]["value"], json!("one"));
    assert!(world.object(apply, "inventory.json").contains("\"address\":\"terraform_data.a\""));
    let (_, again) = world.planned().await;
    assert_eq!((again.has_changes, again.state_was_empty), (false, false));
    assert_eq!(files(&world.path("work")).len(), 0, "work directories are removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_plans_of_the_same_content_have_one_digest() {
    let mut world = World::new(ONE).await;
    let (_, one) = world.planned().await;
    let (_, two) = world.planned().await;
    assert_eq!(one.content, two.content);
    world.spec["vars"] = json!([{"name": "b", "value": {"x": 1}}]);
    let (_, three) = world.planned().await;
    assert_ne!(one.content, three.content);
}

#[tokio::test(flavor = "multi_thread")]
async fn code_that_does_not_parse_fails_with_its_place() {
    let failure =
        World::new("resource \"terraform_data\" \"a\" {\n  blok = 1\n}\n").await.fails_to_plan().await;
    assert_eq!(failure.class, FailureClass::Configuration);
    assert_eq!(
        failure.message,
        "main.tf:2: Unsupported argument: An argument named \"blok\" is not expected here."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_path_is_named_with_what_is_there() {
    let mut world = World::new(ONE).await;
    world.spec["path"] = json!("stack/live/dev");
    let failure = world.fails_to_plan().await;
    assert_eq!(
        (failure.class, failure.message.as_str()),
        (
            FailureClass::Configuration,
            "path `stack/live/dev` is not a folder of the repository; `stack` exists and holds no folders"
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_module_is_a_matter_of_configuration() {
    let failure = World::new("module \"m\" {\n  source = \"../none\"\n}\n").await.fails_to_plan().await;
    assert_eq!(failure.class, FailureClass::Configuration, "{failure:#?}");
    let start =
        "Unreadable module directory: Unable to evaluate directory symlink: lstat ../none: no such file";
    assert!(failure.message.starts_with(start), "{}", failure.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demanded_engine_that_is_not_there_is_refused() {
    let mut world = World::new(ONE).await;
    world.spec["engine"] = json!({"tool": "terraform", "version": "~> 0.12.0", "strength": "demand"});
    let failure = world.fails_to_plan().await;
    assert_eq!(failure.class, FailureClass::Configuration);
    assert!(
        failure.message.contains("terraform ~> 0.12.0 is asked for, the PATH holds"),
        "{}",
        failure.message
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_nowhere_stored_but_in_plan_file_and_work_directory() {
    let code = "variable \"password\" {}\nresource \"terraform_data\" \"a\" {\n  input = var.password\n}\n";
    let mut world = World::new(code).await;
    let name = SecretName::new("default", "db");
    world.ports.secrets.set(ValuesKind::Secret, &name, &[("pw", "hunter\"22x")]);
    world.spec["vars_from"] = json!([{"kind": "Secret", "name": "default/db",
        "keys": [{"key": "pw", "name": "password"}], "optional": false}]);
    let apply = world.applied().await;
    assert!(world.object(apply, "log.txt").contains("Apply complete"));
    for (path, bytes) in files(&world.path("objects")) {
        let text = String::from_utf8_lossy(&bytes);
        let may = path.ends_with("outputs.json") || path.ends_with("plan.tfplan");
        assert!(may || !text.contains("hunter"), "{}: {text}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_secret_fails_the_attempt_and_names_secret_and_key() {
    let mut world = World::new(ONE).await;
    world.ports.secrets.set(ValuesKind::Secret, &SecretName::new("default", "db"), &[("user", "x")]);
    world.spec["vars_from"] = json!([{"kind": "Secret", "name": "default/db",
        "keys": [{"key": "pw", "name": "password"}], "optional": false}]);
    let failure = world.fails_to_plan().await;
    assert_eq!(
        failure.message,
        "secret default/db, named by varsFrom of default/stack, has no key `pw` (keys: user)"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_file_that_was_tampered_with_is_not_applied() {
    let mut world = World::new(ONE).await;
    let (plan, report) = world.planned().await;
    let file = world.object_path(plan, "plan.tfplan");
    let mut bytes = fs::read(&file).unwrap();
    bytes.push(0);
    fs::write(&file, bytes).unwrap();
    let AttemptReport::Failed(failure) = world.apply(plan, &report).await else { panic!("applied") };
    assert_eq!(failure.class, FailureClass::StalePlan);
    assert!(failure.message.contains("not the one that was approved"), "{}", failure.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_no_longer_fits_the_state_is_stale() {
    let mut world = World::new(ONE).await;
    let (old, report) = world.planned().await;
    world.applied().await;
    let AttemptReport::Failed(failure) = world.apply(old, &report).await else { panic!("applied") };
    assert_eq!(failure.class, FailureClass::StalePlan, "{failure:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_that_fails_half_way_keeps_what_it_did() {
    let code = "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n  input = \
                terraform_data.a.id\n  provisioner \"local-exec\" {\n    command = \"exit 3\"\n  }\n}\n";
    let mut world = World::new(code).await;
    let (plan, report) = world.planned().await;
    let AttemptReport::Failed(failure) = world.apply(plan, &report).await else { panic!("applied") };
    assert!(failure.message.contains("local-exec provisioner error"), "{}", failure.message);
    let state = fs::read_to_string(&files(&world.path("states"))[0].0).unwrap();
    assert!(state.contains("\"name\": \"a\""), "{state}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_reported_with_its_holder_and_a_drift_check_does_without() {
    let mut world = World::new(ONE).await;
    world.applied().await;
    let state = files(&world.path("states"))[0].0.clone();
    let lock = state.with_file_name(format!(".{}.lock.info", state.file_name().unwrap().to_string_lossy()));
    let info = json!({"ID": "77-1", "Operation": "OperationTypeApply", "Who": "ann@laptop", "Version": "1.11.4",
        "Created": "2026-11-30T08:00:00Z", "Info": "", "Path": state});
    fs::write(&lock, info.to_string()).unwrap();
    let held = fs::File::options().read(true).write(true).open(&state).unwrap();
    rustix::fs::fcntl_lock(&held, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let failure = world.fails_to_plan().await;
    assert_eq!(failure.class, FailureClass::Locked, "{failure:#?}");
    assert_eq!(failure.lock.unwrap().who, "ann@laptop");
    let (_, drift) = world.plan(RunKind::Drift).await;
    assert!(matches!(drift, AttemptReport::Planned(_)), "{drift:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destroy_plan_destroys() {
    let mut world = World::new(ONE).await;
    world.applied().await;
    let (plan, report) = world.plan(RunKind::Destroy).await;
    let AttemptReport::Planned(report) = report else { panic!("{report:#?}") };
    assert_eq!(report.counts.delete, 1);
    let AttemptReport::Applied { resources, .. } = world.apply(plan, &report).await else { panic!("failed") };
    assert_eq!(resources, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_that_is_told_to_stop_saves_its_state_and_says_so() {
    let mut world = World::new(SLOW).await;
    let (plan, report) = world.planned().await;
    let job = world.apply_job(plan, &report);
    world.issue(&job).await;
    let stopper = world.stop_once_it_has_begun(job.attempt, "ann cancelled it");
    tokio::join!(world.run(job.attempt), stopper);
    let report = world.stored(job.attempt).await.report.unwrap();
    let AttemptReport::Stopped { message, acted: true, .. } = report else { panic!("{report:#?}") };
    assert!(message.starts_with("ann cancelled it"), "{message}");
    assert!(fs::read_to_string(&files(&world.path("states"))[0].0).unwrap().contains("\"name\": \"a\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_that_takes_too_long_is_interrupted() {
    let mut world = World::new(SLOW).await;
    let (plan, report) = world.planned().await;
    world.timeout = Span::seconds(2);
    let AttemptReport::Failed(failure) = world.apply(plan, &report).await else { panic!("applied") };
    assert_eq!(failure.class, FailureClass::TimedOut, "{failure:#?}");
}

/// A repository of modules, `network`, with one commit.
fn modules() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let repository = directory.path().join("network");
    fs::create_dir(&repository).unwrap();
    fs::write(repository.join("main.tf"), "output \"cidr\" {\n  value = \"10.0.0.0/16\"\n}\n").unwrap();
    for arguments in ["init -q", "add .", "-c user.name=Ada -c user.email=ada@example.com commit -q -m Begin"]
    {
        let mut git = std::process::Command::new("git");
        git.current_dir(&repository).args(arguments.split(' ')).env("GIT_CONFIG_GLOBAL", "/dev/null");
        #[expect(clippy::disallowed_methods, reason = "real git, in a test")]
        let status = git.status().unwrap();
        assert!(status.success(), "git {arguments}");
    }
    directory
}

#[tokio::test(flavor = "multi_thread")]
async fn a_module_of_a_private_host_is_fetched_with_the_secret_of_its_host() {
    let modules = modules();
    let (server, certificate) = GitServer::start_tls(modules.path(), "Basic YWRhOnMzY3JldA==");
    let address = server.url("").trim_start_matches("https://").trim_end_matches('/').to_owned();
    let module = |name: &str, from: &str| {
        format!("module \"{name}\" {{\n  source = \"git::{from}{address}/network/.git\"\n}}\n")
    };
    let code = format!("{}{}", module("web", "https://"), module("key", "ssh://git@"));
    let mut world = World::new(&format!("{code}output \"a\" {{\n  value = module.key.cidr\n}}\n")).await;
    let name = SecretName::new("default", "git");
    let values = [("username", "ada"), ("password", "s3cret"), ("ca.crt", certificate.as_str())];
    world.ports.secrets.set(ValuesKind::Secret, &name, &values);
    world.spec["hosts"] = json!([{"host": address, "secret": "default/git"}]);
    let apply = world.applied().await;
    assert!(world.object(apply, "outputs.json").contains("10.0.0.0/16"));
    world.ports.secrets.set(ValuesKind::Secret, &name, &[("password", "wr0ng"), values[2]]);
    let failure = world.fails_to_plan().await;
    assert!(failure.message.contains("Failed to download module"), "{failure:#?}");
    assert!(!format!("{failure:?}").contains("wr0ng"));
    world.spec["hosts"] = json!([{"host": address, "secret": "default/none"}]);
    let failure = world.fails_to_plan().await;
    let expected =
        format!("secret default/none, named by hosts of default/stack for {address}, does not exist");
    assert_eq!((failure.class, failure.message), (FailureClass::Configuration, expected));
}

/// Asks for the role until it is told the second one, as clients of AWS do when the first one ends; prints what it was told.
const ASKS: &str = r#"resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = <<-EOT
      [ -z "$AWS_SESSION_TOKEN$YUBA_TASK_TOKEN" ] || exit 8
      ask() { curl -sf -H "Authorization: $1" "$AWS_CONTAINER_CREDENTIALS_FULL_URI"; }
      ask "a guess" && exit 9
      while :; do
        told=$(ask "$AWS_CONTAINER_AUTHORIZATION_TOKEN") || exit 7
        echo "told $told by $AWS_CONTAINER_AUTHORIZATION_TOKEN"
        case $told in *'"Token":"the second'*) exit 0;; esac
        sleep 0.1
      done
    EOT
  }
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_that_outlives_its_first_credentials_goes_on() {
    let mut world = World::new(ASKS).await;
    let credentials = world.ports.credentials.clone();
    for (name, value) in [("ACCESS_KEY_ID", "ASIA1"), ("SECRET_ACCESS_KEY", "the first secret")] {
        credentials.set(&format!("AWS_{name}"), value);
    }
    credentials.set("AWS_SESSION_TOKEN", "the first token");
    credentials.expire(world.ports.clock.now() + Span::seconds(2));
    let (plan, report) = world.planned().await;
    let before = credentials.sessions().len();
    let renewed = async {
        while credentials.sessions().len() < before + 2 {
            tokio::task::yield_now().await;
        }
        credentials.set("AWS_SESSION_TOKEN", "the second token");
    };
    let (applied, ()) = tokio::join!(world.apply(plan, &report), renewed);
    assert!(matches!(applied, AttemptReport::Applied { .. }), "{applied:#?}");
    let log = world.object(AttemptId { phase: Phase::Apply, ..plan }, "log.txt");
    assert!(log.contains(r#"told {"AccessKeyId":"(sensitive value)""#), "{log}");
    assert!(!log.contains("first token") && !log.contains("second token"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_stack_says_is_masked_in_what_is_stored() {
    let code = "resource \"terraform_data\" \"a\" {\n  input = [{ name = \"SOME_API_KEY\", value = \
                \"cleartext-42\" }]\n  provisioner \"local-exec\" {\n    command = \"echo told cleartext-43\"\n  }\n}\n";
    let mut world = World::new(code).await;
    world.spec["redact"] = json!(["cleartext-[0-9]+"]);
    let (plan, report) = world.planned().await;
    for name in ["plan.json", "plan.txt", "summary.json"] {
        let text = world.object(plan, name);
        assert!(text.contains("SOME_API_KEY") && text.contains("(sensitive value)"), "{name}: {text}");
        assert!(!text.contains("cleartext-"), "{name}: {text}");
    }
    assert!(matches!(world.apply(plan, &report).await, AttemptReport::Applied { .. }));
    let log = world.object(AttemptId { phase: Phase::Apply, ..plan }, "log.txt");
    assert!(log.contains("told (sensitive value)") && !log.contains("cleartext-"), "{log}");
}

/// `a` is made at once, `b` takes as long as a test lets it.
const SLOW: &str = "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n  input = \
                    terraform_data.a.id\n  provisioner \"local-exec\" {\n    command = \"exec sleep 300\"\n  }\n}\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_is_made_and_variables_reach_the_plan() {
    let code = "variable \"a\" {}\nvariable \"b\" {}\nvariable \"c\" {}\nvariable \"gone\" {\n  ephemeral = \
                true\n}\noutput \"o\" {\n  value = \"${terraform.workspace} ${var.a} ${var.b} ${var.c}\"\n}\n";
    let mut world = World::new(code).await;
    fs::write(world.path("code/common.tfvars"), "b = \"file\"\nc = 1\ngone = \"at apply too\"\n").unwrap();
    fs::write(world.path("code/a.json"), "{\"c\": \"last\"}").unwrap();
    world.spec["workspace"] = json!("blue");
    world.spec["vars"] =
        json!([{"name": "a", "value": 1}, {"name": "b", "value": "given"}, {"name": "d", "value": 3}]);
    world.spec["tf_vars_files"] = json!(["common.tfvars", "a.json"]);
    let apply = world.applied().await;
    let outputs: Value = serde_json::from_str(&world.object(apply, "outputs.json")).unwrap();
    assert_eq!(outputs["o"]["value"], json!("blue 1 file last"));
}
