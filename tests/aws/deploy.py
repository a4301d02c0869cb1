"""Deploys Yuba to the AWS emulator of the tests as `infra/` does: every name and setting is that of a plan of it.

The plan knows what AWS would say of what it makes, as tests/infra/made.json has it. What the emulator says otherwise (the URLs
of queues and functions, the id of a key) is put in its place. It runs zips as processes of this machine, and no images:
`source`, which is an image on AWS for the git in it, is a zip here too, and calls this machine's git.

    deploy.py ENDPOINT PROGRAMS PLAN

PROGRAMS is the directory of the built programs, PLAN a file with what `show -json` says of the plan. Prints one JSON object:
where the functions are reached, and the settings of all functions.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile

import botocore.session

ENDPOINT, PROGRAMS, PLAN = sys.argv[1:]
REGION, ACCOUNT = "eu-central-1", "111122223333"
# What the installation's own secrets hold, by the setting that names each.
SECRETS = {
    "YUBA_TASK_KEY": "k" * 64,
    "YUBA_API_TOKEN": "t" * 64,
    "YUBA_WEBHOOK_SECRETS": "w" * 64,
    "YUBA_SLACK_SIGNING_SECRETS": "s" * 32,
}
# The Slack of the tests is on this machine, which no installation has to do with.
OF_TESTS = {"YUBA_PRIVATE_ADDRESSES": "allowed"}

SESSION = botocore.session.get_session()
SESSION.set_credentials(ACCOUNT, "test")

with open(PLAN, encoding="utf-8") as plan:
    CHANGES = [it for it in json.load(plan)["resource_changes"] if it["mode"] == "managed"]
# What the emulator says in the place of what the plan does.
SAID = {}


def aws(service):
    return SESSION.create_client(service, region_name=REGION, endpoint_url=ENDPOINT)


def planned(kind):
    """The resources of a type, with what the emulator says of what it made."""
    return [real(it["change"]["after"]) for it in CHANGES if it["type"] == kind]


def real(value):
    text = json.dumps(value)
    for ours, theirs in SAID.items():
        text = text.replace(ours, theirs)
    return json.loads(text)


def camel(words):
    return "".join(word.capitalize() for word in words.split("_"))


def keys():
    for key in planned("aws_kms_key"):
        SAID[key["arn"]] = aws("kms").create_key()["KeyMetadata"]["Arn"]


def table():
    kinds = ["HASH", "RANGE"]
    schema = lambda *names: [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, kinds)]
    for it in planned("aws_dynamodb_table"):
        aws("dynamodb").create_table(
            TableName=it["name"],
            BillingMode=it["billing_mode"],
            AttributeDefinitions=[{"AttributeName": at["name"], "AttributeType": at["type"]} for at in it["attribute"]],
            KeySchema=schema(it["hash_key"], it["range_key"]),
            GlobalSecondaryIndexes=[
                {
                    "IndexName": index["name"],
                    "KeySchema": schema(index["hash_key"], index["range_key"]),
                    "Projection": {"ProjectionType": index["projection_type"]},
                }
                for index in it["global_secondary_index"]
            ],
        )


# By the names of the module's attributes, SQS' own where it is not the same in another spelling.
SQS = {"visibility_timeout_seconds": "VisibilityTimeout", "message_retention_seconds": "MessageRetentionPeriod"}
SQS |= {"receive_wait_time_seconds": "ReceiveMessageWaitTimeSeconds", "sqs_managed_sse_enabled": "SqsManagedSseEnabled"}
SQS |= {name: camel(name) for name in ["fifo_queue", "content_based_deduplication", "deduplication_scope"]}
SQS |= {name: camel(name) for name in ["fifo_throughput_limit", "redrive_policy", "redrive_allow_policy"]}


def queues():
    """Those first that others name as where dead letters go."""
    for it in sorted(planned("aws_sqs_queue"), key=lambda it: it["redrive_policy"] is not None):
        said = {SQS[name]: it[name] for name in SQS if it[name] not in (None, False)}
        said = {name: str(value).lower() if value is True else str(value) for name, value in said.items()}
        SAID[it["url"]] = aws("sqs").create_queue(QueueName=it["name"], Attributes=said)["QueueUrl"]


def poison(url):
    """What cannot be read, and what can in the same group, as often received as a message is tried but for one time: so a
    function need not be watched for minutes."""
    unknown = {"schema": 1, "wake": {"stack": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}, "cause": {"due": {"slot": 0}}}
    for name, body in [("poison", "what is no message"), ("neighbour", json.dumps(unknown))]:
        aws("sqs").send_message(QueueUrl=url, MessageBody=body, MessageGroupId="poison", MessageDeduplicationId=name)
    for _ in range(7):
        received = aws("sqs").receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0)["Messages"]
        assert len(received) == 2, received


def tasks():
    for it in planned("aws_ecs_cluster"):
        aws("ecs").create_cluster(clusterName=it["name"])
    for it in planned("aws_ecs_task_definition"):
        aws("ecs").register_task_definition(
            family=it["family"],
            networkMode=it["network_mode"],
            requiresCompatibilities=it["requires_compatibilities"],
            cpu=str(it["cpu"]),
            memory=str(it["memory"]),
            containerDefinitions=json.loads(it["container_definitions"]),
        )


def buckets():
    for it in planned("aws_s3_bucket"):
        place = {"LocationConstraint": REGION}
        aws("s3").create_bucket(Bucket=it["bucket"], CreateBucketConfiguration=place)
    for it in planned("aws_s3_bucket_versioning"):
        status = {"Status": it["versioning_configuration"][0]["status"]}
        aws("s3").put_bucket_versioning(Bucket=it["bucket"], VersioningConfiguration=status)


def package(name):
    """The function's program in a zip, without what debuggers read; made once for each build of it."""
    program = f"{PROGRAMS}/yuba-{name}"
    built = os.stat(program)
    packed = f"{program}-{built.st_mtime_ns}-{built.st_size}.zip"
    if not os.path.exists(packed):
        with tempfile.NamedTemporaryFile() as bare, tempfile.NamedTemporaryFile(dir=PROGRAMS, delete=False) as new:
            subprocess.run(["strip", "-o", bare.name, program], check=True)
            with zipfile.ZipFile(new, "w") as archive:
                bootstrap = zipfile.ZipInfo("bootstrap")
                bootstrap.external_attr = 0o755 << 16
                archive.writestr(bootstrap, bare.read())
        os.rename(new.name, packed)
    with open(packed, "rb") as file:
        return file.read()


def functions():
    """Those first whose URLs are settings of others. The settings of all, together."""
    urls = {it["function_name"]: it for it in planned("aws_lambda_function_url")}
    all_settings = {}
    names = [it["function_name"] for it in planned("aws_lambda_function")]
    for name in sorted(names, key=lambda name: name not in urls):
        it = next(it for it in planned("aws_lambda_function") if it["function_name"] == name)
        settings = it["environment"][0]["variables"] | OF_TESTS
        all_settings |= settings
        aws("lambda").create_function(
            FunctionName=name,
            Runtime="provided.al2023",
            Handler="bootstrap",
            Role=it["role"],
            Code={"ZipFile": package(name.split("-")[-1])},
            Timeout=it["timeout"],
            MemorySize=it["memory_size"],
            Environment={"Variables": settings},
        )
        if name in urls:
            said = {"AuthType": urls[name]["authorization_type"], "InvokeMode": urls[name]["invoke_mode"] or "BUFFERED"}
            made = aws("lambda").create_function_url_config(FunctionName=name, **said)["FunctionUrl"]
            id = made.split("://")[1].split(".")[0]
            SAID[urls[name]["function_url"].rstrip("/")] = f"{ENDPOINT}/_aws/lambda-url/{id}"
    return all_settings


def triggers():
    for it in planned("aws_lambda_event_source_mapping"):
        aws("lambda").create_event_source_mapping(
            EventSourceArn=it["event_source_arn"],
            FunctionName=it["function_name"],
            BatchSize=it["batch_size"],
            FunctionResponseTypes=it["function_response_types"],
            ScalingConfig={"MaximumConcurrency": it["scaling_config"][0]["maximum_concurrency"]},
        )
    for it in planned("aws_cloudwatch_event_rule"):
        when = {"ScheduleExpression": it["schedule_expression"], "EventPattern": it["event_pattern"]}
        aws("events").put_rule(Name=it["name"], **{name: value for name, value in when.items() if value})
    for it in planned("aws_cloudwatch_event_target"):
        aws("events").put_targets(Rule=it["rule"], Targets=[{"Id": it["rule"], "Arn": it["arn"]}])
    for it in planned("aws_lambda_permission"):
        said = {"SourceArn": it["source_arn"], "FunctionUrlAuthType": it["function_url_auth_type"]}
        said |= {"InvokedViaFunctionUrl": it["invoked_via_function_url"]}
        aws("lambda").add_permission(
            FunctionName=it["function_name"],
            StatementId=it["statement_id"],
            Action=it["action"],
            Principal=it["principal"],
            **{name: value for name, value in said.items() if value},
        )
    for it in planned("aws_lambda_function_event_invoke_config"):
        aws("lambda").put_function_event_invoke_config(
            FunctionName=it["function_name"],
            MaximumRetryAttempts=it["maximum_retry_attempts"],
            MaximumEventAgeInSeconds=it["maximum_event_age_in_seconds"],
        )


def main():
    keys()
    table()
    queues()
    tasks()
    buckets()
    for it in planned("aws_sns_topic"):
        aws("sns").create_topic(Name=it["name"])
    settings = functions()
    for name, value in SECRETS.items():
        aws("ssm").put_parameter(Name=settings[name], Type="SecureString", Value=value)
    poison(settings["YUBA_STACKS_QUEUE_URL"])
    triggers()
    urls = {it["function_name"].split("-")[-1]: it["function_url"] for it in planned("aws_lambda_function_url")}
    states = [it["bucket"] for it in planned("aws_s3_bucket") if "state" in it["bucket"]]
    print(json.dumps({"urls": urls, "settings": settings, "states": states[0]}))


if __name__ == "__main__":
    main()
