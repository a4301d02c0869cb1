//! `yuba validate`.

use std::path::Path;

use crate::kit::Folder;

const SOURCE: &str = "apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: code, namespace: infra}
spec: {url: https://git.example.com/infra, interval: 1m, ref: {branch: main}}
";

fn stack(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: infra.contrib.fluxcd.io/v1alpha2
kind: Terraform
metadata: {{name: {name}, namespace: infra}}
spec:
  path: ./stacks/{name}
  interval: 1h
  sourceRef: {{kind: GitRepository, name: code}}
{spec}"
    )
}

#[test]
fn the_seeds_are_right_and_warned_of() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seed-manifests");
    assert!(seeds.is_dir(), "{} is missing", seeds.display());
    let seeds = seeds.canonicalize().unwrap().display().to_string();
    let said = Folder::new().yuba(&["validate", &seeds]).replace(&seeds, "seeds");
    insta::assert_snapshot!(said, @"
    seeds/flux-aws-networking.yaml:3:1: notice: ignored: HelmRepository `tf-controller` belongs to Flux's own installation
    seeds/flux-aws-networking.yaml:12:1: notice: ignored: HelmRelease `tf-controller` belongs to Flux's own installation
    seeds/flux-aws-networking.yaml:67:13: warning: spec.interval: found `10m0s` together with `approvePlan: auto` on production; reality is changed that often without anybody looking, advised is `30m` or more
    seeds/flux-aws-networking.yaml:102:3: warning: spec.backendConfig: names no backend; unless the code does, the state is kept in Yuba's data directory, and without the annotation `yuba.dev/state: new` the first plan waits for `yuba adopt`
    seeds/flux-aws-networking.yaml:102:13: warning: spec.interval: found `5m0s` together with `approvePlan: auto` on production; reality is changed that often without anybody looking, advised is `30m` or more
    seeds/flux-aws-networking.yaml:107:9: warning: spec.path: stack `flux-system/aws-networking` (seeds/flux-aws-networking.yaml:61:1) has the same source, path and workspace, and not both name a backend; they may share one state
    seeds/flux-network-fabric.yaml:19:3: warning: spec.backendConfig: names no backend; unless the code does, the state is kept in Yuba's data directory, and without the annotation `yuba.dev/state: new` the first plan waits for `yuba adopt`
    3 stacks, 3 sources; no errors, 5 warnings, 2 notices
    ");
    assert!(Folder::new().yuba(&["validate", "--strict", &seeds]).ends_with("exit code 1\n"));
}

#[test]
fn faults_have_a_place_and_an_exit_code() {
    let folder = Folder::new();
    folder.write("flux/source.yaml", SOURCE);
    folder.write("flux/a.yaml", &stack("a", "  intervall: 5m\n"));
    folder.write("flux/b.yml", "kind: [\n");
    insta::assert_snapshot!(folder.yuba(&["validate", "flux"]), @"
    flux/a.yaml:8:3: error: spec.intervall: no such field; did you mean `interval`?
    flux/b.yml:2:1: error: not YAML: while parsing a node, did not find expected node content
    no stacks, 1 source; 2 errors, no warnings, no notices
    Would be held back, their last good version staying in force: Terraform infra/a, a document at flux/b.yml:2:1.
    exit code 1
    ");
}

#[test]
fn what_is_not_applied_yet_is_named() {
    let folder = Folder::new();
    folder.write("source.yaml", SOURCE);
    let spec = "  targets: [module.a]
  healthChecks: [{name: a, type: tcp, address: x:80}]
  storeReadablePlan: human
";
    folder.write("a.yaml", &stack("a", spec));
    insta::assert_snapshot!(folder.yuba(&["validate", "."]), @"
    a.yaml:5:3: warning: spec.backendConfig: names no backend; unless the code does, the state is kept in Yuba's data directory, and without the annotation `yuba.dev/state: new` the first plan waits for `yuba adopt`
    a.yaml:8:12: notice: not applied yet: spec.targets (more would be applied than they name; the stack is planned only)
    a.yaml:9:17: notice: not applied yet: spec.healthChecks (what is applied does not depend on them)
    a.yaml:10:22: notice: not applied yet: spec.storeReadablePlan (each plan is stored as JSON and text, and shown by `yuba show plan`)
    1 stack, 1 source; no errors, 1 warning, 3 notices
    ");
}

#[test]
fn hidden_files_and_templates_are_not_read() {
    let folder = Folder::new();
    folder.write("source.json", r#"{"apiVersion": "v1", "kind": "List", "items": []}"#);
    folder.write(".github/workflows/ci.yaml", "on: [push\n");
    folder.write("chart/Chart.yaml", "apiVersion: v2\nname: chart\n");
    folder.write("chart/templates/a.yaml", "kind: Terraform\nmetadata: {{- include \"meta\" . }}\n");
    folder.write("loose.yaml", "{{- if .Values.on }}\nkind: Deployment\n{{- end }}\n");
    folder.write("README.md", "kind: [");
    insta::assert_snapshot!(folder.yuba(&["validate", "."]), @"
    chart/Chart.yaml:1:1: notice: ignored: it describes a chart of Helm
    chart/templates/a.yaml:1:1: notice: ignored: a template that is no manifest before it is filled in; check what `helm template` writes
    loose.yaml:1:3: notice: ignored: a template that is no manifest before it is filled in; check what `helm template` writes
    no stacks, no sources; no errors, no warnings, 3 notices
    ");
}

#[test]
fn the_code_beside_the_manifests_settles_the_backend() {
    let folder = Folder::repository();
    folder.write("flux/all.yaml", &[SOURCE, &stack("a", ""), &stack("b", ""), &stack("c", "")].join("---\n"));
    folder.write("stacks/a/main.tf", "terraform {\n  backend \"s3\" {}\n}\n");
    folder.write("stacks/b/main.tf", "locals {}\n");
    insta::assert_snapshot!(folder.yuba(&["validate", "flux"]), @"
    flux/all.yaml:18:3: warning: spec.backendConfig: names no backend, and the code names none either; the state is kept in Yuba's data directory, and without the annotation `yuba.dev/state: new` the first plan waits for `yuba adopt`
    flux/all.yaml:26:3: warning: spec.backendConfig: names no backend; unless the code does, the state is kept in Yuba's data directory, and without the annotation `yuba.dev/state: new` the first plan waits for `yuba adopt`
    3 stacks, 1 source; no errors, 2 warnings, no notices
    ");
}

#[test]
fn the_code_tells_two_stacks_with_one_state() {
    let folder = Folder::repository();
    folder.write("flux/source.yaml", SOURCE);
    for name in ["a", "b"] {
        folder.write(&format!("flux/{name}.yaml"), &stack(name, ""));
        folder.write(
            &format!("stacks/{name}/main.tf"),
            "terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n    key = \"k\"\n  }\n}\n",
        );
    }
    insta::assert_snapshot!(folder.yuba(&["validate", "flux"]), @"
    flux/a.yaml:5:3: error: spec.path: by what the code names, the state (s3 bucket=b key=k, workspace default) is that of stack `infra/b` too (flux/b.yaml:1:1); each stack needs its own, and neither would be applied
    flux/b.yaml:5:3: error: spec.path: by what the code names, the state (s3 bucket=b key=k, workspace default) is that of stack `infra/a` too (flux/a.yaml:1:1); each stack needs its own, and neither would be applied
    2 stacks, 1 source; 2 errors, no warnings, no notices
    exit code 1
    ");
}

#[test]
fn programs_get_json_or_yaml() {
    let folder = Folder::new();
    folder.write("a.yaml", &[SOURCE, &stack("a", "")].join("---\n"));
    let yaml = folder.yuba(&["validate", "-o", "yaml", "a.yaml"]);
    assert!(yaml.contains("stacks:\n  - infra/a\n"), "{yaml}");
    insta::assert_snapshot!(folder.yuba(&["validate", "-o", "json", "a.yaml"]), @r#"
    {
      "items": [
        {
          "severity": "warning",
          "file": "a.yaml",
          "line": 10,
          "column": 3,
          "message": "spec.backendConfig: names no backend; unless the code does, the state is kept in Yuba's data directory, and without the annotation `yuba.dev/state: new` the first plan waits for `yuba adopt`"
        }
      ],
      "stacks": [
        "infra/a"
      ],
      "sources": [
        "infra/code"
      ],
      "errors": 0,
      "warnings": 1,
      "notices": 0,
      "heldBack": [],
      "isHeldBack": false
    }
    "#);
}

#[test]
fn wrong_arguments_exit_64_and_missing_paths_1() {
    let folder = Folder::new();
    assert!(folder.yuba(&["validate"]).ends_with("exit code 64\n"));
    assert!(folder.yuba(&["validate", "-o", "xml", "a"]).ends_with("exit code 64\n"));
    insta::assert_snapshot!(folder.yuba(&["validate", "nowhere"]), @"
    error: cannot read nowhere: No such file or directory (os error 2)
    exit code 1
    ");
}

#[test]
fn where_there_is_no_manifest_nothing_was_checked() {
    let folder = Folder::new();
    assert_eq!(folder.yuba(&["validate", "."]), "error: no manifests found in .\nexit code 1\n");
}
