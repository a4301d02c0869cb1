//! Wrong manifests, and what their authors read.

use std::fmt::Write;

use proptest::prelude::*;
use yuba_core::manifest::{ManifestFile, read_set};

const SOURCE: &str = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: code}\n\
                      spec: {url: 'https://example.com/code', interval: 1m}\n";

/// A stack whose `spec` has some more lines, after a good source.
fn stack(spec: &str) -> String {
    of_kind("infra.contrib.fluxcd.io/v1alpha2", "Terraform", spec)
}

fn of_kind(version: &str, kind: &str, spec: &str) -> String {
    let fields = [("interval", "1h"), ("sourceRef", "{kind: GitRepository, name: code}")]
        .into_iter()
        .filter(|(name, _)| !spec.contains(&format!("{name}:")))
        .fold(String::new(), |text, (name, value)| text + "  " + name + ": " + value + "\n");
    let lines: String = spec.lines().fold(String::new(), |text, line| text + "  " + line + "\n");
    format!(
        "{SOURCE}---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: web}}\nspec:\n{fields}{lines}"
    )
}

/// The errors of each text, without what is said of all of them.
fn errors(texts: &[String]) -> String {
    let mut told = String::new();
    for text in texts {
        let set = read_set(&[ManifestFile { path: "m.yaml".to_owned(), text: text.clone() }]);
        let lines = set.findings.iter().map(ToString::to_string);
        for line in lines.filter(|line| !line.contains("names no backend")) {
            let _ = writeln!(told, "{line}");
        }
    }
    told
}

fn errors_of(specs: &[&str]) -> String {
    errors(&specs.iter().map(|spec| stack(spec)).collect::<Vec<_>>())
}

#[test]
fn a_manifest_is_utf_8() {
    let file = |text: &str| {
        let bytes = text.bytes().map(|byte| if byte == b'~' { 0xe9 } else { byte }).collect();
        read_set(&[ManifestFile::new("m.yaml".to_owned(), bytes)])
    };
    let set = file(&stack("path: caf~"));
    assert!(set.stacks.is_empty() && !set.is_held_back);
    let freeze = "apiVersion: yuba.dev/v1\nkind: Freeze\nmetadata: {name: summer}\nspec: {reason: caf~}\n";
    assert!(file(freeze).is_held_back, "without it something would be applied that it forbids");
    let told: Vec<String> = set.findings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(told.join("\n"), @"m.yaml:12:1: error: holds bytes that are no text (or U+FFFD, which stands for such): a manifest is UTF-8");
    let told: Vec<String> =
        file("caf~: this is no manifest").findings.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["m.yaml:1:1: notice: ignored: neither `apiVersion` nor `kind`, so it is no manifest"]);
    assert_eq!(file(&stack("path: café")).stacks.len(), 1);
}

#[test]
fn what_is_to_be_masked_is_a_pattern_that_finds_something() {
    insta::assert_snapshot!(errors(&[of_kind("yuba.dev/v1", "Stack", "redact: ['key-[0-9a-f]+', '(', 'x*']")]), @"
    m.yaml:12:29: error: spec.redact[1]: found `(`, allowed is a regular expression that finds no empty text, such as `key-[0-9a-f]{32}`
    m.yaml:12:34: error: spec.redact[2]: found `x*`, allowed is a regular expression that finds no empty text, such as `key-[0-9a-f]{32}`
    ");
}

#[test]
fn what_is_not_yaml_or_no_manifest() {
    let texts = [
        "a: b: c",
        "kind: [",
        "\tkind: Terraform",
        "- 1\n- 2",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, name: b}\ndata: {x: !Ref y}",
        "a: &a [*a]",
        "a: *b",
        "<<: 5\nkind: x",
        "? [a]\n: b",
        "kind: Terraform",
        "hello: world",
    ];
    insta::assert_snapshot!(errors(&texts.map(str::to_owned)), @r#"
    m.yaml:1:5: error: not YAML: mapping values are not allowed in this context
    m.yaml:1:8: error: not YAML: while parsing a node, did not find expected node content
    m.yaml:1:2: error: apiVersion: found nothing, allowed is a text; it is required
    m.yaml:1:1: error: the document: found a list, allowed is a mapping with `apiVersion` and `kind`
    m.yaml:3:21: error: `name` is given twice; it stands at line 3 already
    m.yaml:4:11: error: the tag `!Ref` is not supported; write the value without it
    m.yaml:1:8: error: the alias stands inside its own anchor
    m.yaml:1:4: error: not YAML: while parsing node, found unknown anchor
    m.yaml:1:5: error: `<<` must name a mapping or a list of mappings
    m.yaml:1:3: error: a key must be a text
    m.yaml:1:1: error: apiVersion: found nothing, allowed is a text; it is required
    m.yaml:1:1: notice: ignored: neither `apiVersion` nor `kind`, so it is no manifest
    "#);
}

#[test]
fn kinds_and_versions_that_do_not_exist() {
    let texts = [
        of_kind("infra.contrib.fluxcd.io/v1alpha3", "Terraform", ""),
        of_kind("infra.contrib.fluxcd.io/v1alpha2", "Terrafrom", ""),
        of_kind("infra.contrib.fluxdc.io/v1alpha2", "Terraform", ""),
        of_kind("yuba.dev/v1", "Stak", ""),
        of_kind("yuba.dev/v2", "Stack", ""),
        of_kind("example.com/v1", "Widget", ""),
        "apiVersion: yuba.dev/v1\nkind: Policy\nmetadata: {name: xmas}\nspec: {}\n".to_owned(),
        "apiVersion: yuba.dev/v1\nkind: Freeze\nmetadata: {name: xmas}\n".to_owned(),
        "apiVersion: yuba.dev/v1\nkind: Team\nmetadata: [\n".to_owned(),
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: b}\n".to_owned(),
        "apiVersion: notification.toolkit.fluxcd.io/v1\nkind: Receiver\nmetadata: {name: r}\n".to_owned(),
    ];
    insta::assert_snapshot!(errors(&texts), @r#"
    m.yaml:6:13: error: apiVersion: found `infra.contrib.fluxcd.io/v1alpha3` for `Terraform`, allowed is `infra.contrib.fluxcd.io/v1alpha2` or `infra.contrib.fluxcd.io/v1alpha1`
    m.yaml:7:7: error: kind: found `Terrafrom` in `infra.contrib.fluxcd.io/v1alpha2`, allowed is `Terraform`
    m.yaml:6:13: error: apiVersion: found `infra.contrib.fluxdc.io/v1alpha2` for `Terraform`, allowed is `infra.contrib.fluxcd.io/v1alpha2` or `infra.contrib.fluxcd.io/v1alpha1`; did you mean `infra.contrib.fluxcd.io/v1alpha2`?
    m.yaml:7:7: error: kind: found `Stak` in `yuba.dev/v1`, allowed is `Stack`, `Context`, `Policy`, `Team` or `Freeze`; did you mean `Stack`?
    m.yaml:6:13: error: apiVersion: found `yuba.dev/v2` for `Stack`, allowed is `yuba.dev/v1`
    m.yaml:6:1: notice: ignored: Widget `web` of `example.com/v1` is not a kind that Yuba reads
    m.yaml:1:1: notice: not applied yet: Policy `xmas`
    m.yaml:1:1: error: the whole set is held back, because a Freeze is faulty: what it forbids would be allowed without it
    m.yaml:1:1: error: spec: found nothing, allowed is a mapping; it is required
    m.yaml:4:1: error: the whole set is held back, because a Team is faulty: what it forbids would be allowed without it
    m.yaml:4:1: error: not YAML: while parsing a node, did not find expected node content
    m.yaml:1:1: notice: Secret `default/s` is not used: its values do not belong in Git; store them with `yuba secret set default/s`
    m.yaml:1:1: notice: ignored: Receiver `r`; point the Git host's webhook at Yuba instead
    "#);
}

#[test]
fn fields_that_do_not_exist() {
    let mut texts =
        ["intervall: 5m", "depends_on: []", "engine: {tool: tofu}", "xyz: 1", "tfstate: {forceUnlok: auto}"]
            .map(stack)
            .to_vec();
    texts.push(of_kind("infra.contrib.fluxcd.io/v1alpha1", "Terraform", "planOnly: true"));
    texts.push(stack("vars:\n- {name: a, valeu: 1}"));
    insta::assert_snapshot!(errors(&texts), @r#"
    m.yaml:12:3: error: spec.intervall: no such field; did you mean `interval`?
    m.yaml:12:3: error: spec.depends_on: no such field; did you mean `dependsOn`?
    m.yaml:12:3: error: spec.engine: no such field in `Terraform`; it is a field of `Stack` in `yuba.dev/v1`, which has all others too
    m.yaml:12:3: error: spec.xyz: no such field; `docs/manifests.md` lists those that are allowed
    m.yaml:12:13: error: spec.tfstate.forceUnlok: no such field; did you mean `forceUnlock`?
    m.yaml:12:3: error: spec.planOnly: no such field in v1alpha1; it exists since `infra.contrib.fluxcd.io/v1alpha2`
    m.yaml:13:15: error: spec.vars[0].valeu: no such field; did you mean `value`?
    "#);
}

#[test]
fn values_of_the_wrong_type() {
    let specs = [
        "interval: 30",
        "interval:",
        "interval: 0",
        "interval: [5m]",
        "suspend: maybe",
        "suspend: 'true'",
        "path: 5",
        "vars: {a: b}",
        "vars: [a]",
        "parallelism: 1.5",
        "varsFrom: [{kind: secret, name: a}]",
        "tfstate: {forceUnlock: yes}",
        "sourceRef: code",
        "sourceRef: {kind: GitRepository}",
    ];
    insta::assert_snapshot!(errors_of(&specs), @r#"
    m.yaml:11:13: error: spec.interval: found the number 30, allowed is a duration above zero such as `30s`, `10m`, `1h30m`; write texts in quotes
    m.yaml:10:3: error: spec.interval: found nothing, allowed is a duration above zero such as `30s`, `10m`, `1h30m`; it is required
    m.yaml:11:11: error: spec.interval: found nothing, allowed is a duration above zero such as `30s`, `10m`, `1h30m`
    m.yaml:11:13: error: spec.interval: found the number 0, allowed is a duration above zero such as `30s`, `10m`, `1h30m`; write texts in quotes
    m.yaml:11:13: error: spec.interval: found a list, allowed is a duration above zero such as `30s`, `10m`, `1h30m`
    m.yaml:12:12: error: spec.suspend: found `maybe`, allowed is `true` or `false`
    m.yaml:12:12: error: spec.suspend: found `true`, allowed is `true` or `false`; write it without quotes
    m.yaml:12:9: error: spec.path: found the number 5, allowed is a path inside the repository, relative to its root; write texts in quotes
    m.yaml:12:9: error: spec.vars: found a mapping, allowed is a list
    m.yaml:12:10: error: spec.vars[0]: found `a`, allowed is a mapping
    m.yaml:12:16: error: spec.parallelism: found the number 1.5, allowed is a whole number
    m.yaml:12:21: error: spec.varsFrom[0].kind: found `secret`, allowed is `Secret` or `ConfigMap`; did you mean `Secret`?
    m.yaml:12:26: error: spec.tfstate.forceUnlock: found the boolean true, allowed is `yes`, `no` or `auto`; write texts in quotes
    m.yaml:11:14: error: spec.sourceRef: found `code`, allowed is a mapping
    m.yaml:11:15: error: spec.sourceRef.name: found nothing, allowed is a name of at most 253 lower-case letters, digits, `-` and `.`, with a letter or digit at both ends; it is required
    "#);
}

#[test]
fn values_of_the_wrong_form() {
    let specs = [
        "interval: 5 minutes",
        "retryInterval: 1d",
        "path: ../outside",
        "approvePlan: yes please",
        "approvePlan: plan-main-0123456789@xyz",
        "varsFrom: [{kind: Secret, name: a, varsKeys: ['a:b:c']}]",
        "writeOutputsToSecret: {name: Big_Name}",
        "dependsOn: [{name: Web}]",
        "sourceRef: {kind: Bucket, name: code}",
        "backendConfig: {customConfiguration: 'backend s3 {'}",
        "backendConfig: {customConfiguration: 'required_version = \"1\"'}",
        "storeReadablePlan: humane",
    ];
    insta::assert_snapshot!(errors_of(&specs), @r#"
    m.yaml:11:13: error: spec.interval: found `5 minutes`, allowed is a duration above zero such as `30s`, `10m`, `1h30m`
    m.yaml:12:18: error: spec.retryInterval: found `1d`, allowed is a duration above zero such as `30s`, `10m`, `1h30m`
    m.yaml:12:9: error: spec.path: found `../outside`, allowed is a path inside the repository, relative to its root
    m.yaml:12:16: error: spec.approvePlan: found `yes please`, allowed is `auto`, `manual` (or nothing), `disable`, a plan id as `plan-main-0123456789`, or one with the first 12 hexadecimal digits of its content digest as `plan-main-0123456789@0123456789ab`
    m.yaml:12:16: error: spec.approvePlan: found `plan-main-0123456789@xyz`, allowed is `auto`, `manual` (or nothing), `disable`, a plan id as `plan-main-0123456789`, or one with the first 12 hexadecimal digits of its content digest as `plan-main-0123456789@0123456789ab`
    m.yaml:12:49: error: spec.varsFrom[0].varsKeys[0]: found `a:b:c`, allowed is `key`, or `key:name` to take it under another name
    m.yaml:12:32: error: spec.writeOutputsToSecret.name: found `Big_Name`, allowed is a name of at most 253 lower-case letters, digits, `-` and `.`, with a letter or digit at both ends
    m.yaml:12:22: error: spec.dependsOn[0].name: found `Web`, allowed is a name of at most 253 lower-case letters, digits, `-` and `.`, with a letter or digit at both ends
    m.yaml:11:21: error: spec.sourceRef.kind: found `Bucket`, allowed is `GitRepository` alone
    m.yaml:12:40: error: spec.backendConfig.customConfiguration: found what is not HCL (line 1, column 13: invalid block body; expected `}`, newline or identifier), allowed is the body of a `terraform` block
    m.yaml:12:40: warning: spec.backendConfig.customConfiguration: found no `backend` or `cloud` block, allowed is the body of a `terraform` block such as `backend "s3" { … }`
    m.yaml:12:22: error: spec.storeReadablePlan: found `humane`, allowed is `none`, `json` or `human`; did you mean `human`?
    "#);
}

#[test]
fn faults_of_a_stack_of_yuba() {
    let specs = [
        "engine: {tool: tofuu, version: latest}",
        "drift: {mode: fix}",
        "drift: {mode: remediate}\napprovePlan: disable",
        "roles: {plan: admin}",
        "triggers: ['../x']",
        "labels: {a: 1}",
    ];
    let texts: Vec<String> = specs.iter().map(|spec| of_kind("yuba.dev/v1", "Stack", spec)).collect();
    insta::assert_snapshot!(errors(&texts), @r#"
    m.yaml:12:18: error: spec.engine.tool: found `tofuu`, allowed is `tofu` or `terraform`; did you mean `tofu`?
    m.yaml:12:34: error: spec.engine.version: found `latest`, allowed is a version such as `1.9.0`, or constraints such as `>= 1.6, < 2.0`
    m.yaml:12:17: error: spec.drift.mode: found `fix`, allowed is `alert`, `remediate` or `off`
    m.yaml:12:17: error: spec.drift.mode: found `remediate`, allowed is `alert` or `off` where approvePlan is `disable` or planOnly is set
    m.yaml:12:17: error: spec.roles.plan: found `admin`, allowed is the ARN of an IAM role such as `arn:aws:iam::123456789012:role/name`
    m.yaml:12:14: error: spec.triggers[0]: found `../x`, allowed is a glob of paths inside the repository, such as `policies/**/*.json`
    m.yaml:12:15: error: spec.labels.a: found the number 1, allowed is a text; write texts in quotes
    "#);
}

#[test]
fn faults_of_sources_and_accounts() {
    let source = |spec: &str| SOURCE.replace("url: 'https://example.com/code', interval: 1m", spec);
    let texts = [
        source("url: 'git@example.com:a/b.git', interval: 1m"),
        source("url: 'https://me:secret@example.com/a', interval: 1m"),
        source("interval: 1m"),
        source("url: 'https://example.com', interval: 1m, ref: {semver: '>1', branhc: x}"),
        source("url: 'https://example.com', interval: 1m, ref: {semver: '>1'}"),
        source("url: 'https://example.com', interval: 1m, ref: {commit: abc}"),
        source("url: 'https://example.com', interval: 1m, verify: {secretRef: {name: keys}}"),
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, annotations: {eks.amazonaws.com/role-arn: x}}".to_owned(),
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 1}".to_owned(),
    ];
    insta::assert_snapshot!(errors(&texts), @r#"
    m.yaml:4:13: error: spec.url: found `git@example.com:a/b.git`, allowed is a URL that starts with `https://`, `ssh://`, `http://` or `file://`; write `ssh://git@example.com/a/b.git`
    m.yaml:4:13: warning: spec.url: holds a password; store it with `yuba secret set` and name that secret in `spec.secretRef`
    m.yaml:4:8: error: spec.url: found nothing, allowed is a URL that starts with `https://`, `ssh://`, `http://` or `file://`; it is required
    m.yaml:4:70: error: spec.ref.branhc: no such field; did you mean `branch`?
    m.yaml:4:64: error: spec.ref.semver: ranges of versions do not work yet, allowed is `branch`, `tag`, `commit` or `name`
    m.yaml:4:64: error: spec.ref.commit: found `abc`, allowed is a commit id of 40 hexadecimal digits
    m.yaml:4:58: notice: not applied yet: spec.verify (signatures are not checked; its stacks are planned only)
    m.yaml:3:63: error: metadata.annotations["eks.amazonaws.com/role-arn"]: found `x`, allowed is the ARN of an IAM role such as `arn:aws:iam::123456789012:role/name`
    m.yaml:4:11: error: data.a: found the number 1, allowed is a text; write texts in quotes
    "#);
}

#[test]
fn faults_of_providers_and_alerts() {
    let of = |kind: &str, spec: &str| {
        format!(
            "apiVersion: notification.toolkit.fluxcd.io/v1beta3\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n"
        )
    };
    let texts = [
        of("Provider", "{type: telegram, channel: [a]}"),
        of("Provider", "{type: slak, secretRef: {name: a}}"),
        of("Provider", "{channel: a}"),
        of("Provider", "{type: generic, timeout: soon, proxy: http://p, colour: red}"),
        of(
            "Alert",
            "{providerRef: {name: b}, eventSources: [{kind: Stack, name: '*'}], exclusionList: ['(']}",
        ),
        of("Alert", "{eventSources: [{kind: Bucket}]}"),
        of(
            "Alert",
            "{providerRef: {name: b}, eventSources: [{kind: Bucket, name: a}], eventSeverity: debug}",
        ),
    ];
    insta::assert_snapshot!(errors(&texts), @r#"
    m.yaml:4:14: warning: spec.type: `telegram` is not delivered yet: nothing is sent by it
    m.yaml:4:33: warning: spec.channel: found a list, allowed is a text
    m.yaml:4:14: warning: spec.type: `slak` is no service that is known, nothing is sent by it; delivered is `slack`, `generic`, `generic-hmac`, `pagerduty`, `opsgenie`, `msteams`, `github`, `gitlab`, `jira`, `sns` or `eventbridge`; did you mean `slack`?
    m.yaml:4:8: error: spec.type: found nothing, allowed is a text; it is required
    m.yaml:4:32: warning: spec.timeout: found `soon`, allowed is a duration above zero such as `30s`, `10m`, `1h30m`
    m.yaml:4:45: notice: not applied yet: spec.proxy (messages go without a proxy)
    m.yaml:4:55: warning: spec.colour: no such field; allowed is `type`, `address`, `channel`, `username`, `timeout`, `interval`, `secretRef`, `certSecretRef`, `proxySecretRef`, `proxy`, `serviceAccountName`, `commitStatusExpr` or `suspend`
    m.yaml:4:28: warning: spec.providerRef: no Provider `default/b` in these manifests
    m.yaml:4:90: warning: spec.exclusionList[0]: found `(`, allowed is a regular expression (found open group without closing ')'); it finds nothing
    m.yaml:4:8: error: spec.providerRef: found nothing, allowed is a mapping; it is required
    m.yaml:4:24: warning: spec.eventSources[0].name: found nothing, allowed is a text; it is required
    m.yaml:4:28: warning: spec.providerRef: no Provider `default/b` in these manifests
    m.yaml:4:54: notice: spec.eventSources: there are no events of `Bucket` here, only of `Terraform` and `Stack`
    m.yaml:4:88: warning: spec.eventSeverity: found `debug`, allowed is `info`, `warning` or `error`
    "#);
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in any::<String>()) {
        let _ = errors(&[text]);
    }

    #[test]
    fn any_yaml_like_text_is_read_without_a_panic(text in "([a-c&*<!|>'\"%?#:,\\-\\[\\]{} \\n\\t]|---\\n|\\r\\n|: |- |&a |\\*a |kind: Terraform\\n){0,60}") {
        let _ = errors(&[text.clone(), stack(&text)]);
    }
}

#[test]
fn faults_of_freezes() {
    let of =
        |spec: &str| format!("apiVersion: yuba.dev/v1\nkind: Freeze\nmetadata: {{name: a}}\nspec: {spec}\n");
    let texts = [
        of(
            "{reason: x, from: 2026-12-20T18:00:00+01:00, until: 2026-12-20T17:30:00Z, stacks: [{name: '*'}]}",
        ),
        of("{from: 2026-12-20, until: soon}"),
        of("{from: 2026-12-20T18:00:00+01:00, until: 2026-12-20T17:00:00Z}"),
        of("{windows: [{cron: '0 20 * * *', duration: 240h}]}"),
        of("{stack: [{name: a}]}"),
    ];
    insta::assert_snapshot!(errors(&texts), @r"
    m.yaml:1:1: error: the whole set is held back, because a Freeze is faulty: what it forbids would be allowed without it
    m.yaml:4:14: error: spec.from: found `2026-12-20`, allowed is a point in time with its offset such as `2026-12-20T18:00:00+01:00` or `2026-12-20T17:00:00Z`
    m.yaml:4:33: error: spec.until: found `soon`, allowed is a point in time with its offset such as `2026-12-20T18:00:00+01:00` or `2026-12-20T17:00:00Z`
    m.yaml:1:1: error: the whole set is held back, because a Freeze is faulty: what it forbids would be allowed without it
    m.yaml:4:48: error: spec.until: is not after `from`: it would never be in force
    m.yaml:1:1: error: the whole set is held back, because a Freeze is faulty: what it forbids would be allowed without it
    m.yaml:4:49: error: spec.windows[0].duration: found `240h0m0s`, allowed is at most `168h0m0s`
    m.yaml:1:1: error: the whole set is held back, because a Freeze is faulty: what it forbids would be allowed without it
    m.yaml:4:8: error: spec.stack: no such field; did you mean `stacks`?
    ");
}
