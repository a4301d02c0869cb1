//! What keeps something: table, queues, buckets, topic, logs.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use yuba_core::record::Index;

use crate::kit::{Plan, Resource, existing_vpc, plans, statements};

/// The resource of a type for a bucket.
fn of_bucket<'a>(plan: &'a Plan, kind: &'a str, bucket: &str) -> &'a Resource {
    let found = plan.all(kind).find(|it| it.values["bucket"] == bucket);
    found.unwrap_or_else(|| panic!("bucket {bucket} has no {kind}"))
}

fn is_tls_only(policy: &Value) -> bool {
    statements(policy).iter().any(|it| {
        it["Effect"] == "Deny"
            && it["Principal"] == "*"
            && it["Condition"] == json!({"Bool": {"aws:SecureTransport": "false"}})
    })
}

#[test]
fn the_table_has_an_index_for_each_list_of_records() {
    for plan in plans() {
        let table = &plan.one("aws_dynamodb_table.records").values;
        assert_eq!((&table["hash_key"], &table["range_key"]), (&json!("pk"), &json!("sk")));
        let indexes = table["global_secondary_index"].as_array().expect("indexes");
        let names: BTreeSet<&str> = indexes.iter().filter_map(|index| index["name"].as_str()).collect();
        assert_eq!(names, Index::ALL.map(Index::as_str).into_iter().collect());
        for index in indexes {
            let name = index["name"].as_str().expect("a name");
            assert_eq!(index["hash_key"], format!("{name}-shard"));
            assert_eq!((&index["range_key"], &index["projection_type"]), (&json!(name), &json!("KEYS_ONLY")));
        }
    }
}

#[test]
fn tables_are_paid_by_use_recoverable_and_protected() {
    for table in plans().into_iter().flat_map(|plan| plan.all("aws_dynamodb_table")) {
        assert_eq!(table.values["billing_mode"], "PAY_PER_REQUEST", "{}", table.address);
        assert_eq!(table.values["point_in_time_recovery"][0]["enabled"], true, "{}", table.address);
        assert_eq!(table.values["deletion_protection_enabled"], true, "{}", table.address);
    }
    for plan in plans() {
        let records = &plan.one("aws_dynamodb_table.records").values;
        assert_eq!(records["ttl"][0]["attribute_name"], "ttl");
        assert_eq!(records["server_side_encryption"][0]["enabled"], true);
    }
    assert!(
        existing_vpc().resources.iter().any(|it| it.address == "module.yuba.aws_dynamodb_table.locks[0]")
    );
}

#[test]
fn a_message_that_cannot_be_handled_ends_in_its_queue_s_own_dead_letter_queue() {
    for plan in plans() {
        for queue in ["sources", "stacks", "notices"] {
            let arn = |end| {
                format!("arn:aws:sqs:eu-central-1:111122223333:yuba-{}-{queue}{end}.fifo", plan.installation)
            };
            let work = plan.one(&format!("aws_sqs_queue.work[\"{queue}\"]"));
            let dead = plan.one(&format!("aws_sqs_queue.dead[\"{queue}\"]"));
            assert_eq!(work.document("redrive_policy")["deadLetterTargetArn"], arn("-dead"));
            let allowed = dead.document("redrive_allow_policy");
            assert_eq!(allowed, json!({"redrivePermission": "byQueue", "sourceQueueArns": [arn("")]}));
            assert!(arn("-dead").ends_with(dead.text("name")) && arn("").ends_with(work.text("name")));
        }
    }
}

#[test]
fn a_message_is_hidden_for_six_times_as_long_as_its_function_runs() {
    for plan in plans() {
        for (queue, function) in [("sources", "source"), ("stacks", "orchestrator"), ("notices", "notifier")]
        {
            let hidden =
                plan.one(&format!("aws_sqs_queue.work[\"{queue}\"]")).values["visibility_timeout_seconds"]
                    .as_u64();
            let runs = plan.function(function).values["timeout"].as_u64();
            assert!(
                hidden >= runs.map(|seconds| 6 * seconds) && hidden.is_some(),
                "{queue}: {hidden:?} for {runs:?}"
            );
        }
    }
}

#[test]
fn queues_are_fifo_encrypted_and_over_tls_only() {
    for plan in plans() {
        for queue in plan.all("aws_sqs_queue") {
            assert_eq!(queue.values["fifo_queue"], true, "{}", queue.address);
            assert_eq!(queue.values["sqs_managed_sse_enabled"], true, "{}", queue.address);
        }
        assert_eq!(plan.all("aws_sqs_queue").count(), 6);
        let policies: Vec<Value> = plan.all("aws_sqs_queue_policy").map(|it| it.document("policy")).collect();
        assert!(policies.len() == 6 && policies.iter().all(is_tls_only));
        assert!(is_tls_only(&plan.one("aws_sns_topic_policy.events").document("policy")));
    }
}

#[test]
fn buckets_are_versioned_encrypted_and_never_public() {
    for plan in plans() {
        let buckets: Vec<&str> = plan.all("aws_s3_bucket").map(|it| it.text("bucket")).collect();
        assert_eq!(buckets.len(), 2);
        for bucket in buckets {
            let block = &of_bucket(plan, "aws_s3_bucket_public_access_block", bucket).values;
            for setting in
                ["block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets"]
            {
                assert_eq!(block[setting], true, "{bucket}: {setting}");
            }
            let versioning = &of_bucket(plan, "aws_s3_bucket_versioning", bucket).values;
            assert_eq!(versioning["versioning_configuration"][0]["status"], "Enabled");
            let encryption = of_bucket(plan, "aws_s3_bucket_server_side_encryption_configuration", bucket);
            let rule = &encryption.values["rule"][0];
            assert_eq!(rule["bucket_key_enabled"], true);
            assert_eq!(rule["apply_server_side_encryption_by_default"][0]["sse_algorithm"], "aws:kms");
            assert!(
                is_tls_only(&of_bucket(plan, "aws_s3_bucket_policy", bucket).document("policy")),
                "{bucket}"
            );
        }
    }
}

#[test]
fn states_never_expire_and_uploads_that_were_given_up_go() {
    for plan in plans() {
        for bucket in plan.all("aws_s3_bucket").map(|it| it.text("bucket")) {
            let rules = &of_bucket(plan, "aws_s3_bucket_lifecycle_configuration", bucket).values["rule"];
            let rules = rules.as_array().expect("rules");
            let expires =
                rules.iter().any(|rule| rule["expiration"].as_array().is_some_and(|it| !it.is_empty()));
            assert_eq!(expires, bucket.contains("-objects-"), "{bucket}");
            assert!(
                rules
                    .iter()
                    .any(|rule| rule["abort_incomplete_multipart_upload"][0]["days_after_initiation"] == 2)
            );
        }
    }
}

#[test]
fn other_accounts_reach_states_with_roles_of_the_installation_alone() {
    let plan = existing_vpc();
    let policy = of_bucket(plan, "aws_s3_bucket_policy", "yuba-prod-state-111122223333").document("policy");
    let allowed: Vec<Value> = statements(&policy).into_iter().filter(|it| it["Effect"] == "Allow").collect();
    assert_eq!(allowed.len(), 3);
    let roles = ["222233334444", "333344445555"].map(|id| format!("arn:aws:iam::{id}:role/yuba/prod/*"));
    for statement in allowed {
        assert_eq!(statement["Condition"], json!({"ArnLike": {"aws:PrincipalArn": roles}}));
        if statement["Action"] == json!(["s3:DeleteObject"]) {
            assert_eq!(statement["Resource"], "arn:aws:s3:::yuba-prod-state-111122223333/*.tflock");
        }
    }
}

#[test]
fn logs_are_kept_for_as_long_as_is_said() {
    for group in plans().into_iter().flat_map(|plan| plan.all("aws_cloudwatch_log_group")) {
        assert_eq!(group.values["retention_in_days"], 365, "{}", group.address);
    }
    assert_eq!(existing_vpc().all("aws_cloudwatch_log_group").count(), 9);
}
