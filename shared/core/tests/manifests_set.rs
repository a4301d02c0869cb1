//! Documents that refer to each other: what is used, what is held back, and why.

use yuba_core::approval::ApprovalRules;
use yuba_core::id::StackName;
use yuba_core::manifest::{ManifestFile, ManifestSet, read_set};
use yuba_core::spec::{ApprovePlan, DriftMode};

const SOURCE: &str = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: code}\n\
                      spec: {url: 'https://example.com/code', interval: 1m}\n---\n";

fn stack(name: &str, spec: &str) -> String {
    let given = spec.contains("backendConfig") || spec.contains("cloud");
    let backend = if given { "" } else { ", backendConfig: {customConfiguration: 'backend \"http\" {}'}" };
    let source =
        if spec.contains("sourceRef") { "" } else { ", sourceRef: {kind: GitRepository, name: code}" };
    format!(
        "apiVersion: yuba.dev/v1\nkind: Stack\nmetadata: {{name: {name}}}\nspec: {{path: {name}, interval: 1h{backend}{source}{spec}}}\n---\n"
    )
}

fn read(documents: &[String]) -> ManifestSet {
    let text = SOURCE.to_owned() + &documents.concat();
    read_set(&[ManifestFile { path: "m.yaml".to_owned(), text }])
}

/// The stacks that can be used, and what was found.
fn told(set: &ManifestSet) -> String {
    let names: Vec<&str> = set.stacks.iter().map(|stack| stack.name.name.as_str()).collect();
    let findings: Vec<String> = set.findings.iter().map(ToString::to_string).collect();
    format!("used: {}\n{}", names.join(" "), findings.join("\n"))
}

#[test]
fn of_two_documents_with_one_name_neither_is_used() {
    let set = read(&[stack("a", ""), stack("b", ""), stack("a", ", dependsOn: [{name: b}]")]);
    insta::assert_snapshot!(told(&set), @r#"
    used: b
    m.yaml:16:1: error: Stack `default/a` is given twice; it stands at m.yaml:6:1 already, and neither is used
    "#);
}

#[test]
fn a_cycle_is_named_in_full_and_holds_back_its_dependants() {
    let set = read(&[
        stack("a", ", dependsOn: [{name: b}]"),
        stack("b", ", dependsOn: [{name: d}, {name: c}]"),
        stack("c", ", dependsOn: [{name: a}]"),
        stack("d", ""),
        stack("e", ", dependsOn: [{name: a}]"),
    ]);
    insta::assert_snapshot!(told(&set), @r#"
    used: d
    m.yaml:9:147: error: spec.dependsOn: stacks wait for each other: default/a → default/b → default/c → default/a
    m.yaml:14:147: error: spec.dependsOn: stacks wait for each other: default/a → default/b → default/c → default/a
    m.yaml:19:147: error: spec.dependsOn: stacks wait for each other: default/a → default/b → default/c → default/a
    m.yaml:29:148: error: spec.dependsOn[0]: held back, because stack `default/a` is held back (m.yaml:6:1)
    "#);
}

#[test]
fn a_faulty_document_is_held_back_with_whatever_refers_to_it() {
    let set = read(&[
        stack("base", ", workspace: [1]"),
        stack("middle", ", dependsOn: [{name: base}]"),
        stack("top", ", dependsOn: [{name: middle}]"),
        stack("other", ""),
        stack("typo", ", dependsOn: [{name: othr}]"),
        stack("lost", ", sourceRef: {kind: GitRepository, name: cod}"),
    ]);
    insta::assert_snapshot!(told(&set), @r#"
    used: other
    m.yaml:9:150: error: spec.workspace: found a list, allowed is a text
    m.yaml:14:153: error: spec.dependsOn[0]: held back, because stack `default/base` is held back (m.yaml:6:1)
    m.yaml:19:150: error: spec.dependsOn[0]: held back, because stack `default/middle` is held back (m.yaml:11:1)
    m.yaml:29:151: error: spec.dependsOn[0]: no stack `default/othr` in these manifests; did you mean `default/other`?
    m.yaml:34:132: error: spec.sourceRef: no GitRepository `default/cod` in these manifests; did you mean `default/code`?
    "#);
    assert!(!set.lacks(&StackName::new("default", "base")));
    assert!(set.lacks(&StackName::new("default", "gone")));
}

#[test]
fn stacks_of_a_faulty_source_are_held_back() {
    let text = SOURCE.replace("1m", "never") + &stack("a", "");
    let set = read_set(&[ManifestFile { path: "m.yaml".to_owned(), text }]);
    insta::assert_snapshot!(told(&set), @r#"
    used: 
    m.yaml:4:51: error: spec.interval: found `never`, allowed is a duration above zero such as `30s`, `10m`, `1h30m`
    m.yaml:9:129: error: spec.sourceRef: held back, because GitRepository `default/code` is faulty (m.yaml:1:1)
    "#);
}

#[test]
fn a_document_that_is_not_yaml_leaves_the_others_of_its_file() {
    let set = read(&[
        stack("a", ""),
        "kind: Stack\nmetadata:\n  name: b\nspec: {\n---\n".to_owned(),
        stack("c", ""),
    ]);
    insta::assert_snapshot!(told(&set), @r#"
    used: a c
    m.yaml:15:1: error: not YAML: while parsing a node, did not find expected node content
    "#);
    assert!(!set.lacks(&StackName::new("default", "b")));
}

#[test]
fn what_helm_fills_in_is_passed_over_but_never_a_stack() {
    let file = |path: &str, text: &str| ManifestFile { path: path.to_owned(), text: text.to_owned() };
    let spec = "kind: Terraform\nmetadata:\n  name: a\n  labels: {{ .Values.labels }}\n";
    let set = read_set(&[
        file("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 0.1.0\n"),
        file("chart/templates/a.yaml", &format!("apiVersion: yuba.dev/v1\n{spec}")),
        file("loose/deployment.yaml", "{{- if .Values.on }}\nkind: Deployment\n{{- end }}\n"),
        file("loose/stack.yaml", spec),
    ]);
    insta::assert_snapshot!(told(&set), @"
    used: 
    chart/Chart.yaml:1:1: notice: ignored: it describes a chart of Helm
    chart/templates/a.yaml:1:1: notice: ignored: a template that is no manifest before it is filled in; check what `helm template` writes
    loose/deployment.yaml:1:3: notice: ignored: a template that is no manifest before it is filled in; check what `helm template` writes
    loose/stack.yaml:4:12: error: a key must be a text
    ");
    assert_eq!(
        set.held_back.iter().map(|held| held.name.as_deref()).collect::<Vec<_>>(),
        [Some("default/a")]
    );
}

#[test]
fn two_stacks_do_not_share_one_state() {
    let s3 = |order: &str| {
        format!(", backendConfig: {{customConfiguration: \"backend \\\"s3\\\" {{\\n{order}\\n}}\"}}")
    };
    let (one, other) =
        ("key = \\\"k\\\"\\nbucket = \\\"b\\\"", "bucket = \\\"b\\\" # shared\\nkey = \\\"k\\\"");
    let set = read(&[
        stack("a", &s3(one)),
        stack("b", &s3(other)),
        stack("c", &(s3(one) + ", workspace: blue")),
        stack("d", ""),
    ]);
    insta::assert_snapshot!(told(&set), @r#"
    used: c d
    m.yaml:9:92: error: spec.backendConfig: the state (s3 bucket=b key=k, workspace default) is that of stack `default/b` too (m.yaml:14:92); each stack needs its own
    m.yaml:14:92: error: spec.backendConfig: the state (s3 bucket=b key=k, workspace default) is that of stack `default/a` too (m.yaml:9:92); each stack needs its own
    "#);
}

#[test]
fn what_matters_and_does_not_work_yet_makes_a_stack_planned_only() {
    let set = read(&[stack("a", ", targets: [x.y], parallelism: 3, vars: [{name: v, valueFrom: {a: b}}]")]);
    insta::assert_snapshot!(told(&set), @r#"
    used: a
    m.yaml:9:145: notice: not applied yet: spec.targets (more would be applied than they name; the stack is planned only)
    m.yaml:9:165: notice: not applied yet: spec.parallelism (the engine's own is used)
    m.yaml:9:196: notice: not applied yet: spec.vars[0].valueFrom (the variable would be null; the stack is planned only)
    "#);
    let because = set.stacks[0].spec.planned_only_because().unwrap();
    assert_eq!(because, "the manifest uses what is not applied yet: spec.vars[0].valueFrom, spec.targets");
}

#[test]
fn a_stack_takes_the_role_of_its_service_account() {
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: tf-runner, annotations: {eks.amazonaws.com/role-arn: 'arn:aws:iam::123456789012:role/r'}}\n---\n";
    let own = ", roles: {apply: 'arn:aws:iam::123456789012:role/own'}";
    let set = read(&[account.to_owned(), stack("a", own), stack("b", ", serviceAccountName: nobody")]);
    let roles: Vec<_> =
        set.stacks.iter().map(|stack| (&stack.spec.roles.plan, &stack.spec.roles.apply)).collect();
    let role = |name: &str| Some(format!("arn:aws:iam::123456789012:role/{name}"));
    assert_eq!(roles, [(&role("r"), &role("own")), (&None, &None)]);
    insta::assert_snapshot!(told(&set), @r#"
    used: a b
    m.yaml:18:156: warning: spec.serviceAccountName: no ServiceAccount `nobody` in these manifests; runs use the server's own credentials
    "#);
}

#[test]
fn anchors_merge_keys_crlf_and_bom_are_read() {
    let text = "\u{feff}apiVersion: yuba.dev/v1\nkind: Stack\nmetadata: {name: a}\nspec:\n  \
                <<: {interval: 2h, approvePlan: &mode auto, path: p}\n  path: q\n  workspace: *mode\n  \
                sourceRef: {kind: GitRepository, name: code}\n---\n"
        .to_owned();
    let text = (text + SOURCE).replace('\n', "\r\n");
    let set = read_set(&[ManifestFile { path: "m.yaml".to_owned(), text }]);
    let spec = &set.stacks[0].spec;
    assert_eq!(
        (spec.path.as_str(), spec.workspace.as_str(), &spec.approve_plan),
        ("q", "auto", &ApprovePlan::Auto)
    );
    assert_eq!((spec.interval.to_string().as_str(), spec.drift.mode), ("2h0m0s", DriftMode::Remediate));
}

#[test]
fn an_alias_bomb_is_refused() {
    let level = |level: usize| {
        let inner = if level == 0 { "x".to_owned() } else { format!("*a{}", level - 1) };
        format!("a{level}: &a{level} [{}]", vec![inner; 10].join(", "))
    };
    let text = (0..12).map(level).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(told(&read_set(&[ManifestFile { path: "m.yaml".to_owned(), text }])), @r#"
    used: 
    m.yaml:5:40: error: anchors and aliases make more than 100000 values
    "#);
}

#[test]
fn aliases_copy_no_more_text_and_nest_no_deeper_than_a_file_may() {
    let told_of = |text: String| told(&read_set(&[ManifestFile { path: "m.yaml".to_owned(), text }]));
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), vec!["*a"; 60].join(", "));
    insta::assert_snapshot!(told_of(long), @r#"
    used: 
    m.yaml:2:165: error: anchors and aliases copy more than 4 MiB of text
    "#);
    let nest = |inner: &str| format!("{}{inner}{}", "[".repeat(50), "]".repeat(50));
    let deep = format!("a: &a {}\nb: {}\n", nest("x"), nest("*a"));
    insta::assert_snapshot!(told_of(deep), @r#"
    used: 
    m.yaml:2:54: error: nested deeper than 64 levels
    "#);
}

#[test]
fn documents_without_a_line_between_them_are_read() {
    let text =
        format!("{}...\n{}", SOURCE.trim_start_matches("---\n"), stack("a", "").trim_start_matches("---\n"));
    let set = read_set(&[ManifestFile { path: "m.yaml".to_owned(), text }]);
    assert_eq!((set.sources.len(), set.stacks.len()), (1, 1), "{:?}", set.findings);
}

#[test]
fn a_list_is_read_as_its_items() {
    let item = |name: &str| {
        format!(
            "- {{apiVersion: yuba.dev/v1, kind: Stack, metadata: {{name: {name}, uid: x}}, spec: {{interval: 1h, planOnly: true, sourceRef: {{kind: GitRepository, name: code}}}}, status: {{}}}}\n"
        )
    };
    let set = read(&[format!("apiVersion: v1\nkind: List\nitems:\n{}{}", item("a"), item("b"))]);
    assert_eq!(set.stacks.len(), 2);
}

#[test]
fn a_digest_follows_what_is_said_not_how() {
    let digest = |text: &str| read(&[text.to_owned()]).stacks[0].digest;
    let one = digest(&stack("a", ""));
    assert_eq!(one, digest(&stack("a", "").replace("kind: Stack", "kind: 'Stack' # said")));
    assert_ne!(one, digest(&stack("a", ", force: true")));
}

#[test]
fn a_stack_that_is_held_back_is_told_why() {
    let file = |path: &str, text: String| ManifestFile { path: path.to_owned(), text };
    let name = |name: &str| StackName::new("default", name);
    let good =
        file("good.yaml", stack("good", "") + &stack("odd", ", intervall: 1h") + &stack("last", ", x: 1"));
    let set = ManifestSet::read(&[file("s.yaml", SOURCE.to_owned()), good.clone()]);
    assert_eq!(set.why_held_back(&name("good"), "good.yaml"), None);
    let odd = set.why_held_back(&name("odd"), "good.yaml").unwrap();
    assert!(odd.starts_with("good.yaml:") && odd.contains("spec.intervall"), "{odd}");
    assert!(set.why_held_back(&name("last"), "good.yaml").unwrap().contains("spec.x"));
    assert_eq!(set.why_held_back(&name("gone"), "good.yaml"), None, "it is gone, not held back");
    let set = ManifestSet::read(&[
        file("s.yaml", SOURCE.to_owned()),
        good,
        file("torn.yaml", "kind: [".to_owned()),
    ]);
    let torn = set.why_held_back(&name("gone"), "torn.yaml").unwrap();
    assert!(torn.starts_with("torn.yaml:") && torn.contains("not YAML"), "{torn}");
}

fn team(name: &str, members: &str) -> String {
    format!(
        "apiVersion: yuba.dev/v1\nkind: Team\nmetadata: {{name: {name}}}\nspec: {{members: {members}}}\n---\n"
    )
}

#[test]
fn a_team_names_people_by_what_services_call_them() {
    let members = "[{name: Ada, email: Ada@Example.com, logins: {github: Ada}, slack: U02ABC}, {slack: U1}]";
    let set = read(&[team("platform", members), stack("a", ", approval: {teams: [{name: platform}]}")]);
    insta::assert_snapshot!(told(&set), @"used: a");
    let names: Vec<String> = set.teams[0].members[0].identities.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["ada@example.com", "ada of github", "U02ABC of Slack"]);
    let rules = set.stacks[0].spec.approval.as_ref().unwrap();
    assert_eq!((rules.always.count, rules.always.teams[0].count), (0, 1));
}

#[test]
fn rules_ask_for_one_person_where_they_say_no_more() {
    let approval = ", approval: {notAuthor: true, when: [{if: destroys > 0}, {if: changes >= 20, count: 2}]}";
    let set = read(&[stack("a", approval)]);
    let rules = set.stacks[0].spec.approval.as_ref().unwrap();
    let counts: Vec<u32> = rules.when.iter().map(|stricter| stricter.rule.count).collect();
    assert_eq!((rules.always.count, counts), (1, vec![1, 2]));
    assert_eq!(read(&[stack("a", ", approval: {}")]).stacks[0].spec.approval, Some(ApprovalRules::default()));
}

#[test]
fn a_faulty_team_holds_the_whole_set_back_and_a_missing_one_its_stack() {
    let set = read(&[team("platform", "[{name: Ada}]"), stack("a", "")]);
    assert!(set.is_held_back);
    insta::assert_snapshot!(told(&set), @r#"
    used: a
    m.yaml:6:1: error: the whole set is held back, because a Team is faulty: what it forbids would be allowed without it
    m.yaml:9:18: error: spec.members[0]: names nobody; allowed is at least one of `email`, `logins`, `slack`, `iamArn` or `oidcGroup`
    "#);
    let set = read(&[
        team("platform", "[]"),
        stack("a", ", approval: {teams: [{name: platfrom}]}"),
        stack("b", ""),
    ]);
    insta::assert_snapshot!(told(&set), @r#"
    used: b
    m.yaml:14:146: error: spec.approval: no Team `default/platfrom` in these manifests; did you mean `default/platform`?
    "#);
    let twice = read(&[team("platform", "[]"), team("platform", "[{slack: U1}]")]);
    assert!(twice.is_held_back, "nobody can say which is meant");
}

#[test]
fn rules_and_teams_of_the_wrong_form() {
    let specs = [
        ", approval: {count: 0}",
        ", approval: {count: 1.5}",
        ", approval: {counts: 1}",
        ", approval: {expiresAfter: 1d}",
        ", approval: {when: [{count: 2}]}",
        ", approval: {when: [{if: destroys}]}",
        ", approval: {onlyWithin: [{cron: 0 9 * *, duration: 1h}]}",
        ", approval: {onlyWithin: [{cron: 0 9 * * *, duration: 169h}]}",
        ", approval: {onlyWithin: [{cron: 0 9 * * *, duration: 1h, timeZone: Mars/Olympus}]}",
        ", approval: {teams: [{name: t1}, {name: t2}, {name: t3}, {name: t4}, {name: t5}, {name: t6}, {name: t7}, {name: t8}, {name: t9}]}",
    ];
    let teams = ["[{slack: ada}]", "[{email: ada}]", "[{logins: ada}]", "[{iamArn: x}]", "{}"];
    let sets =
        specs.iter().map(|spec| stack("a", spec)).chain(teams.iter().map(|members| team("t", members)));
    let first = |document: String| {
        let set = read(&[document]);
        let wrong = |finding: &&yuba_core::manifest::Finding| !finding.message.contains("whole set");
        set.findings.iter().find(wrong).map(ToString::to_string).unwrap_or_default()
    };
    let told: Vec<String> = sets.map(first).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    m.yaml:9:154: error: spec.approval.count: found the number 0, allowed is a whole number of at least 1
    m.yaml:9:154: error: spec.approval.count: found the number 1.5, allowed is a whole number of at least 1
    m.yaml:9:147: error: spec.approval.counts: no such field; did you mean `count`?
    m.yaml:9:161: error: spec.approval.expiresAfter: found `1d`, allowed is a duration above zero such as `30s`, `10m`, `1h30m`
    m.yaml:9:155: error: spec.approval.when[0].if: found nothing, allowed is a condition such as `destroys > 0` or `changes >= 20`; counted are `creates`, `updates`, `replaces`, `destroys`, `forgets` and `changes`; it is required
    m.yaml:9:159: error: spec.approval.when[0].if: found `destroys`, allowed is a condition such as `destroys > 0` or `changes >= 20`; counted are `creates`, `updates`, `replaces`, `destroys`, `forgets` and `changes`
    m.yaml:9:167: error: spec.approval.onlyWithin[0].cron: found `0 9 * *`, allowed is a cron expression of five fields such as `0 9 * * mon-fri`
    m.yaml:9:188: error: spec.approval.onlyWithin[0].duration: found `169h0m0s`, allowed is at most `168h0m0s`
    m.yaml:9:202: error: spec.approval.onlyWithin[0].timeZone: found `Mars/Olympus`, allowed is a time zone such as `Europe/Berlin` or `UTC`
    m.yaml:9:154: error: spec.approval.teams: found 9 teams, allowed are at most 8
    m.yaml:9:26: error: spec.members[0].slack: found `ada`, allowed is the id of a user in Slack such as `U02ABCDEF`
    m.yaml:9:26: error: spec.members[0].email: found `ada`, allowed is an e-mail address such as `ada@example.com`
    m.yaml:9:27: error: spec.members[0].logins: found `ada`, allowed is a mapping
    m.yaml:9:27: error: spec.members[0].iamArn: found `x`, allowed is the ARN of an IAM user or role such as `arn:aws:iam::123456789012:user/ada`
    m.yaml:9:17: error: spec.members: found a mapping, allowed is a list
    "#);
}
