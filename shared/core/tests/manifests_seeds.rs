//! The manifests that users of tofu-controller have today load unchanged.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use yuba_core::event::EventSeverity;
use yuba_core::id::SecretName;
use yuba_core::manifest::{ManifestFile, ManifestSet, Severity, read_set, render};
use yuba_core::notify::Service;
use yuba_core::spec::{ApprovePlan, DriftMode, EngineTool, PreferenceStrength};

fn seeds() -> Vec<ManifestFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seed-manifests");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<ManifestFile> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            ManifestFile { path: name, text: std::fs::read_to_string(path).unwrap() }
        })
        .collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(!files.is_empty(), "no seed manifests in {}", folder.display());
    files
}

fn findings(set: &ManifestSet) -> String {
    render(&set.findings)
}

#[test]
fn the_seeds_load_with_notices_and_warnings_alone() {
    let set = read_set(&seeds());
    assert_eq!(set.of_severity(Severity::Error).count(), 0, "{}", findings(&set));
    assert_eq!((set.stacks.len(), set.sources.len(), set.providers.len(), set.alerts.len()), (3, 3, 1, 1));
    assert_eq!(set.held_back, []);
    insta::assert_snapshot!(findings(&set), @r#"
    flux-aws-networking.yaml:3:1: notice: ignored: HelmRepository `tf-controller` belongs to Flux's own installation
    flux-aws-networking.yaml:12:1: notice: ignored: HelmRelease `tf-controller` belongs to Flux's own installation
    flux-aws-networking.yaml:67:13: warning: spec.interval: found `10m0s` together with `approvePlan: auto` on production; reality is changed that often without anybody looking, advised is `30m` or more
    flux-aws-networking.yaml:102:3: warning: spec.backendConfig: names no backend; unless the code does, the state is kept in Yuba's data directory, and without the annotation `yuba.dev/state: new` the first plan waits for `yuba adopt`
    flux-aws-networking.yaml:102:13: warning: spec.interval: found `5m0s` together with `approvePlan: auto` on production; reality is changed that often without anybody looking, advised is `30m` or more
    flux-aws-networking.yaml:107:9: warning: spec.path: stack `flux-system/aws-networking` (flux-aws-networking.yaml:61:1) has the same source, path and workspace, and not both name a backend; they may share one state
    flux-network-fabric.yaml:19:3: warning: spec.backendConfig: names no backend; unless the code does, the state is kept in Yuba's data directory, and without the annotation `yuba.dev/state: new` the first plan waits for `yuba adopt`
    no errors, 5 warnings, 2 notices
    "#);
}

#[test]
fn the_alert_of_the_seeds_lets_slack_know_of_what_is_wrong_or_waits() {
    let set = read_set(&seeds());
    let (provider, alert) = (&set.providers[0], &set.alerts[0].spec);
    assert_eq!((&alert.provider, alert.severity), (&provider.name, EventSeverity::Warning));
    assert_eq!(
        (&provider.spec.service, provider.spec.channel.as_deref()),
        (&Service::Slack, Some("#infra-alerts"))
    );
    assert_eq!(provider.spec.secret, Some(SecretName::new("flux-system", "slack-webhook-url")));
    let source = &alert.sources[0];
    assert_eq!((source.namespace.as_str(), source.name.as_str()), ("flux-system", "*"));
}

#[test]
fn a_stack_says_what_its_manifest_says() {
    let set = read_set(&seeds());
    let fabric = &set.stacks.iter().find(|stack| stack.name.name == "aws-network-fabric").unwrap().spec;
    assert_eq!(
        (fabric.path.as_str(), fabric.approve_plan.clone()),
        ("environments/production/vpc", ApprovePlan::Auto)
    );
    assert_eq!(
        (fabric.engine.tool, fabric.engine.strength),
        (Some(EngineTool::Tofu), PreferenceStrength::Wish)
    );
    assert_eq!(
        (fabric.drift.mode, fabric.retry_interval.to_string()),
        (DriftMode::Remediate, "15s".to_owned())
    );
    let networking = &set.stacks.iter().find(|stack| stack.name.name == "aws-networking").unwrap().spec;
    let role = Some("arn:aws:iam::123456789012:role/TerraformRunnerRole".to_owned());
    assert_eq!((networking.roles.plan.clone(), networking.roles.apply.clone()), (role.clone(), role));
    assert_eq!(networking.vars_from[0].keys.len(), 2);
    assert_eq!(networking.planned_only_because(), None);
}
