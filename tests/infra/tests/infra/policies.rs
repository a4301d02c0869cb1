//! Who may do what.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use yuba_infra::{Copy, FUNCTIONS};

use crate::kit::{Plan, existing_vpc, minimal, plans, statements, texts};

/// What may be done to `*`, as a statement's name, and why nothing else can be said.
const TO_EVERYTHING: [(&str, &str); 3] = [
    ("ListsTasks", "ECS names no resource for it; the condition names the cluster"),
    ("ListsSecrets", "Secrets Manager names no resource for it; it tells names, never values"),
    ("SignsInToEcr", "the token is for the registry; what it pulls, another statement says"),
];

const LOG: &[&str] = &["logs:CreateLogStream", "logs:PutLogEvents"];
const RECORDS: &[&str] = &[
    "dynamodb:BatchGetItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:GetItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
];
const DELETE_RECORDS: &[&str] = &["dynamodb:DeleteItem"];
const SEND: &[&str] = &["sqs:SendMessage"];
const RECEIVE: &[&str] =
    &["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"];
const REDRIVE: &[&str] = &["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:ReceiveMessage"];
const READ_OBJECTS: &[&str] = &["s3:GetObject", "s3:ListBucket"];
const WRITE_OBJECTS: &[&str] = &["s3:AbortMultipartUpload", "s3:PutObject"];
const SYSTEM_SECRET: &[&str] = &["ssm:GetParameter"];
const READ_SECRETS: &[&str] =
    &["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue", "ssm:GetParameter"];
const WRITE_CONFIG_MAPS: &[&str] = &["ssm:PutParameter"];
const WRITE_SECRETS: &[&str] = &[
    "secretsmanager:CreateSecret",
    "secretsmanager:PutSecretValue",
    "ssm:DeleteParameter",
    "ssm:PutParameter",
];
const LIST_SECRETS: &[&str] = &["secretsmanager:ListSecrets", "ssm:GetParametersByPath"];
const TASKS: &[&str] =
    &["ecs:DescribeTasks", "ecs:ListTasks", "ecs:RunTask", "ecs:StopTask", "ecs:TagResource", "iam:PassRole"];
const PUBLISH: &[&str] = &["sns:Publish"];
const ASSUME: &[&str] = &["sts:AssumeRole", "sts:TagSession"];

/// What each function's role may do, and no more.
const RIGHTS: [(&str, &[&[&str]]); 8] = [
    ("webhook", &[LOG, RECORDS, SEND, SYSTEM_SECRET]),
    ("scheduler", &[LOG, RECORDS, DELETE_RECORDS, SEND]),
    (
        "source",
        &[
            LOG,
            RECORDS,
            DELETE_RECORDS,
            RECEIVE,
            SEND,
            READ_OBJECTS,
            WRITE_OBJECTS,
            READ_SECRETS,
            WRITE_CONFIG_MAPS,
        ],
    ),
    (
        "orchestrator",
        &[
            LOG,
            RECORDS,
            DELETE_RECORDS,
            RECEIVE,
            SEND,
            READ_OBJECTS,
            READ_SECRETS,
            WRITE_SECRETS,
            TASKS,
            PUBLISH,
        ],
    ),
    ("tasks", &[LOG, RECORDS, DELETE_RECORDS, SEND, READ_SECRETS, ASSUME]),
    (
        "api",
        &[
            LOG,
            RECORDS,
            SEND,
            REDRIVE,
            READ_OBJECTS,
            WRITE_OBJECTS,
            READ_SECRETS,
            WRITE_SECRETS,
            WRITE_CONFIG_MAPS,
            LIST_SECRETS,
        ],
    ),
    ("slack", &[LOG, RECORDS, SEND, READ_SECRETS]),
    ("notifier", &[LOG, RECORDS, DELETE_RECORDS, RECEIVE, SEND, READ_OBJECTS, READ_SECRETS]),
];

/// The statements of the policies of all the module's roles, with where they stand.
fn of_roles(plan: &Plan) -> Vec<(String, Value)> {
    let policies = plan.all("aws_iam_role_policy").filter(|it| it.address.starts_with("module.yuba."));
    policies
        .flat_map(|policy| {
            statements(&policy.document("policy")).into_iter().map(|it| (policy.address.clone(), it))
        })
        .collect()
}

fn of_function(plan: &Plan, name: &str) -> Vec<Value> {
    statements(&plan.one(&format!("aws_iam_role_policy.{name}")).document("policy"))
}

fn statement(plan: &Plan, function: &str, sid: &str) -> Value {
    let found = of_function(plan, function).into_iter().find(|it| it["Sid"] == sid);
    found.unwrap_or_else(|| panic!("{function} has no statement {sid}"))
}

#[test]
fn a_function_may_do_what_it_needs_and_no_more() {
    for plan in plans() {
        for (name, rights) in RIGHTS {
            let expected: BTreeSet<String> =
                rights.iter().copied().flatten().map(|&it| it.to_owned()).collect();
            let actions: BTreeSet<String> =
                of_function(plan, name).iter().flat_map(|it| texts(&it["Action"])).collect();
            assert_eq!(actions, expected, "{name}");
        }
    }
}

/// Whom each function wakes, by queue; `-dead` is where it sets messages of its own aside.
const SENDS: [(&str, &[&str]); 8] = [
    ("webhook", &["sources"]),
    ("scheduler", &["sources", "stacks", "notices"]),
    ("source", &["sources", "stacks", "notices", "sources-dead"]),
    ("orchestrator", &["sources", "stacks", "notices", "stacks-dead"]),
    ("tasks", &["stacks"]),
    ("api", &["sources", "stacks", "notices"]),
    ("slack", &["stacks"]),
    ("notifier", &["notices", "notices-dead"]),
];

#[test]
fn a_function_sends_to_the_queues_of_those_it_wakes() {
    for plan in plans() {
        for (name, queues) in SENDS {
            let sends = of_function(plan, name);
            let sends =
                sends.iter().filter(|it| texts(&it["Action"]).contains(&"sqs:SendMessage".to_owned()));
            let to: Vec<String> = sends.flat_map(|it| texts(&it["Resource"])).collect();
            let arn = |queue: &&str| {
                format!("arn:aws:sqs:eu-central-1:111122223333:yuba-{}-{queue}.fifo", plan.installation)
            };
            assert_eq!(to, queues.iter().map(arn).collect::<Vec<_>>(), "{name}");
        }
    }
}

#[test]
fn nobody_may_do_everything_or_to_everything() {
    for plan in plans() {
        for (address, statement) in of_roles(plan) {
            assert_eq!(statement["Effect"], "Allow", "{address}");
            for action in texts(&statement["Action"]) {
                assert!(!action.contains('*'), "{address} allows {action}");
            }
            let sid = statement["Sid"].as_str().expect("a name");
            let to_everything = texts(&statement["Resource"]).contains(&"*".to_owned());
            let reasoned = TO_EVERYTHING.iter().any(|(name, _)| *name == sid);
            assert_eq!(to_everything, reasoned, "{address}: {sid}");
        }
    }
}

#[test]
fn what_is_named_is_the_installation_s_own() {
    for plan in plans() {
        for (address, statement) in of_roles(plan) {
            for resource in texts(&statement["Resource"]).iter().filter(|it| *it != "*") {
                let own = [format!("yuba-{}", plan.installation), format!("yuba/{}/", plan.installation)];
                let is_own = own.iter().any(|part| resource.contains(part.as_str()));
                let is_image = resource.starts_with("arn:aws:ecr:") && !resource.contains('*');
                assert!(is_own || is_image, "{address} names {resource}");
            }
        }
    }
}

#[test]
fn records_of_other_installations_are_out_of_reach() {
    for plan in plans() {
        for name in FUNCTIONS {
            let condition = &statement(plan, name, "UsesRecords")["Condition"];
            let own = json!({"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [format!("{}#*", plan.installation)]}});
            assert_eq!(*condition, own, "{name}");
        }
    }
}

#[test]
fn only_tasks_assumes_roles_with_the_external_id_and_as_a_phase() {
    let assumed = |plan, sid| {
        let it = statement(plan, "tasks", sid);
        (it["Resource"].clone(), it["Condition"].clone())
    };
    let (roles, condition) = assumed(minimal(), "AssumesRolesOfStacks");
    assert_eq!(roles, json!(["arn:aws:iam::*:role/yuba/demo/*"]));
    assert_eq!(condition, json!({"StringEquals": {"sts:ExternalId": "yuba:111122223333:demo"}}));
    let (roles, condition) = assumed(existing_vpc(), "SaysForWhom");
    let accounts = ["222233334444", "333344445555"];
    assert_eq!(roles, json!(accounts.map(|id| format!("arn:aws:iam::{id}:role/yuba/prod/*"))));
    assert_eq!(condition["StringEquals"], json!({"aws:RequestTag/yuba:phase": ["plan", "apply"]}));
    for (address, statement) in plans().into_iter().flat_map(of_roles) {
        let gets_credentials = texts(&statement["Action"]).iter().any(|action| action.starts_with("sts:"));
        assert!(!gets_credentials || address.ends_with("aws_iam_role_policy.tasks"), "{address}");
    }
}

#[test]
fn a_task_starts_without_any_right() {
    for plan in plans() {
        let task = format!("yuba-{}-task", plan.installation);
        let attached = plan
            .resources
            .iter()
            .filter(|it| it.kind.starts_with("aws_iam_role_policy"))
            .filter(|it| it.values["role"] == task.as_str());
        assert_eq!(attached.count(), 0);
        assert_eq!(plan.one("aws_iam_role.task").text("name"), task);
        let trust = statements(&plan.one("aws_iam_role.task").document("assume_role_policy"));
        assert_eq!(trust[0]["Principal"], json!({"Service": "ecs-tasks.amazonaws.com"}));
        assert_eq!(trust[0]["Condition"]["StringEquals"]["aws:SourceAccount"], "111122223333");
    }
}

#[test]
fn the_orchestrator_hands_over_the_roles_of_tasks_alone_and_to_ecs_alone() {
    for plan in plans() {
        let it = statement(plan, "orchestrator", "HandsTasksTheirRoles");
        let role = |end| format!("arn:aws:iam::111122223333:role/yuba-{}-{end}", plan.installation);
        assert_eq!(it["Resource"], json!([role("task"), role("task-execution")]));
        assert_eq!(
            it["Condition"],
            json!({"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}})
        );
    }
}

#[test]
fn the_key_is_used_by_whom_and_through_what_its_policy_says() {
    for plan in plans() {
        let policy = plan.one("aws_kms_key_policy.yuba").document("policy");
        let through: BTreeMap<String, Vec<String>> = statements(&policy)
            .iter()
            .filter(|it| it["Sid"].as_str().is_some_and(|sid| sid.starts_with("UsedThrough")))
            .map(|it| {
                let service = it["Condition"]["StringEquals"]["kms:ViaService"].as_str().expect("a service");
                let ends = texts(&it["Principal"]["AWS"]);
                let ends = ends.iter().filter_map(|arn| Some(arn.rsplit_once('-')?.1.to_owned()));
                (service.split('.').next().unwrap_or_default().to_owned(), ends.collect())
            })
            .collect();
        assert_eq!(through["sns"], ["orchestrator"]);
        assert_eq!(through["s3"], ["source", "orchestrator", "api", "notifier", "objects"]);
        assert_eq!(through["dynamodb"].len(), 8);
        assert_eq!(through.len(), 5);
    }
}

#[test]
fn a_role_of_stacks_is_assumed_for_its_phase_alone() {
    for phase in ["plan", "apply"] {
        let address = format!("module.stack_roles.aws_iam_role.stacks[\"{phase}\"]");
        let role = minimal().resources.iter().find(|it| it.address == address).expect("the role");
        assert_eq!(role.text("path"), "/yuba/demo/");
        for statement in statements(&role.document("assume_role_policy")) {
            assert_eq!(statement["Condition"]["StringEquals"]["aws:RequestTag/yuba:phase"], phase);
            assert_eq!(
                statement["Principal"],
                json!({"AWS": "arn:aws:iam::111122223333:role/yuba-demo-tasks"})
            );
        }
        let trust = statements(&role.document("assume_role_policy"));
        assert_eq!(trust[0]["Condition"]["StringEquals"]["sts:ExternalId"], "yuba:111122223333:demo");
    }
}

/// The module of stacks' roles by itself, with a state bucket.
const STACK_ROLES: &str = r#"
module "stack_roles" {
  source            = "../../modules/stack-roles"
  installation      = "demo"
  trusted_role_arn  = "arn:aws:iam::111122223333:role/yuba-demo-tasks"
  external_id       = "demo-1"
  stacks            = ["prod/*"]
  apply_policy_arns = ["arn:aws:iam::aws:policy/PowerUserAccess"]
  state             = { bucket = "states", prefix = "a/", kms_key_arn = "arn:aws:kms:eu-central-1:111122223333:key/1" }
}
"#;

#[test]
fn a_plan_holds_the_lock_of_a_state_and_only_an_apply_writes_it() {
    let copy = Copy::of("minimal", &json!({}));
    copy.write("main.tf", STACK_ROLES);
    let plan = Plan::of("demo", copy);
    let written = |phase: &str| {
        let address = format!("module.stack_roles.aws_iam_role_policy.state[\"{phase}\"]");
        let policy = plan.resources.iter().find(|it| it.address == address).expect("a policy");
        let writes = statements(&policy.document("policy")).into_iter();
        let writes = writes.filter(|it| texts(&it["Action"]).contains(&"s3:PutObject".to_owned()));
        writes.map(|it| (texts(&it["Resource"]).concat(), it["Condition"].clone())).collect::<Vec<_>>()
    };
    let lock = ("arn:aws:s3:::states/a/*.tflock".to_owned(), Value::Null);
    let applies = json!({"StringEquals": {"aws:PrincipalTag/yuba:phase": "apply"}});
    assert_eq!(written("plan"), vec![lock.clone()]);
    assert_eq!(written("apply"), [lock, ("arn:aws:s3:::states/a/*".to_owned(), applies)]);
}

#[test]
fn objects_of_attempts_are_granted_by_tasks_alone() {
    for plan in plans() {
        let role = plan.one("aws_iam_role.objects");
        let arn = |end| format!("arn:aws:iam::111122223333:role/yuba-{}-{end}", plan.installation);
        let trust = statements(&role.document("assume_role_policy"));
        assert_eq!((trust.len(), &trust[0]["Principal"]), (1, &json!({"AWS": arn("tasks")})));
        assert_eq!(statement(plan, "tasks", "GrantsObjects")["Resource"], json!([arn("objects")]));
        let rights = statements(&plan.one("aws_iam_role_policy.objects").document("policy"));
        let actions: Vec<String> = rights.iter().flat_map(|it| texts(&it["Action"])).collect();
        assert_eq!(actions, ["s3:GetObject", "s3:ListBucket", "s3:AbortMultipartUpload", "s3:PutObject"]);
    }
}
