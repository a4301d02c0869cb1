"""Deploys functions to the AWS emulator of the tests: what they need, and the built programs, packaged as they are for AWS.

The emulator runs zips as processes of this machine, and no images: `source`, which is an image on AWS for the git in it, is a zip here too,
and calls this machine's git.

    deploy.py ENDPOINT PROGRAMS MANIFESTS

PROGRAMS is the directory of the built programs, MANIFESTS what YUBA_MANIFESTS is to be. Prints one JSON object: where the
webhook function is reached, and the settings of all functions.
"""

import io
import json
import subprocess
import sys
import tempfile
import zipfile

import botocore.session

ENDPOINT, PROGRAMS, MANIFESTS = sys.argv[1:]
REGION, INSTALLATION, BUCKET = "us-east-1", "test", "yuba-objects"
ROLE = "arn:aws:iam::000000000000:role/yuba"
# As `shared/aws/src/table.rs` describes the table.
INDEXES = ["due", "effects", "runs", "events", "expires", "stacks", "sources", "manifests"]

SESSION = botocore.session.get_session()
SESSION.set_credentials("test", "test")


def aws(service):
    return SESSION.create_client(service, region_name=REGION, endpoint_url=ENDPOINT)


def table():
    keys = [("pk", "sk")] + [(f"{name}-shard", name) for name in INDEXES]
    schema = lambda pair: [
        {"AttributeName": name, "KeyType": kind} for name, kind in zip(pair, ["HASH", "RANGE"])
    ]
    aws("dynamodb").create_table(
        TableName="yuba",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for pair in keys for name in pair],
        KeySchema=schema(keys[0]),
        GlobalSecondaryIndexes=[
            {"IndexName": pair[1], "KeySchema": schema(pair), "Projection": {"ProjectionType": "KEYS_ONLY"}}
            for pair in keys[1:]
        ],
    )


def queue(name, dead_letters=None):
    """The queue's URL and ARN."""
    attributes = {"FifoQueue": "true", "VisibilityTimeout": "360"}
    if dead_letters:
        policy = {"deadLetterTargetArn": dead_letters, "maxReceiveCount": 60}
        attributes["RedrivePolicy"] = json.dumps(policy)
    url = aws("sqs").create_queue(QueueName=f"{name}.fifo", Attributes=attributes)["QueueUrl"]
    arn = aws("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    return url, arn["Attributes"]["QueueArn"]


def poison(url):
    """What cannot be read, and what can in the same group, as often received as a message is tried but for one time: so a
    function need not be watched for minutes."""
    unknown = {"schema": 1, "wake": {"stack": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}, "cause": {"due": {"slot": 0}}}
    for name, body in [("poison", "what is no message"), ("neighbour", json.dumps(unknown))]:
        aws("sqs").send_message(QueueUrl=url, MessageBody=body, MessageGroupId="poison", MessageDeduplicationId=name)
    for _ in range(7):
        received = aws("sqs").receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0)["Messages"]
        assert len(received) == 2, received


def secret(name, value):
    path = f"/yuba/{INSTALLATION}/system/{name}"
    aws("ssm").put_parameter(Name=path, Type="SecureString", Value=value)
    return path


def cluster():
    aws("ecs").create_cluster(clusterName="yuba")
    aws("ecs").register_task_definition(
        family="runner", containerDefinitions=[{"name": "runner", "image": "runner", "memory": 128}]
    )


def package(function):
    """The function's program in a zip, without what debuggers read; its key in the bucket."""
    with tempfile.NamedTemporaryFile() as bare:
        subprocess.run(["strip", "-o", bare.name, f"{PROGRAMS}/yuba-{function}"], check=True)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            bootstrap = zipfile.ZipInfo("bootstrap")
            bootstrap.external_attr = 0o755 << 16
            archive.writestr(bootstrap, bare.read())
    key = f"packages/{function}.zip"
    aws("s3").put_object(Bucket=BUCKET, Key=key, Body=packed.getvalue())
    return key


def function(name, settings):
    aws("lambda").create_function(
        FunctionName=f"yuba-{name}",
        Runtime="provided.al2023",
        Handler="bootstrap",
        Role=ROLE,
        Code={"S3Bucket": BUCKET, "S3Key": package(name)},
        Timeout=60,
        MemorySize=512,
        Environment={"Variables": settings},
    )


def feed(name, queue_arn):
    aws("lambda").create_event_source_mapping(
        EventSourceArn=queue_arn,
        FunctionName=f"yuba-{name}",
        BatchSize=10,
        FunctionResponseTypes=["ReportBatchItemFailures"],
    )


def url(name):
    mode = "RESPONSE_STREAM" if name == "api" else "BUFFERED"
    made = aws("lambda").create_function_url_config(FunctionName=f"yuba-{name}", AuthType="NONE", InvokeMode=mode)
    return made["FunctionUrl"]


def main():
    table()
    cluster()
    aws("s3").create_bucket(Bucket=BUCKET)
    queues = {"sources": "source", "stacks": "orchestrator", "notices": "notifier"}
    dead = {name: queue(f"{name}-dead") for name in queues}
    work = {name: queue(name, dead[name][1]) for name in queues}
    poison(work["stacks"][0])
    settings = {
        "YUBA_INSTALLATION": INSTALLATION,
        "YUBA_TABLE": "yuba",
        **{f"YUBA_{name.upper()}_QUEUE_URL": url for name, (url, _) in work.items()},
        **{f"YUBA_{name.upper()}_DEAD_QUEUE_URL": url for name, (url, _) in dead.items()},
        "YUBA_BUCKET": BUCKET,
        "YUBA_SECRETS_PREFIX": f"/yuba/{INSTALLATION}/secrets",
        "YUBA_CONFIG_MAPS_PREFIX": f"/yuba/{INSTALLATION}/config-maps",
        "YUBA_TOPIC_ARN": aws("sns").create_topic(Name="events")["TopicArn"],
        "YUBA_ECS_CLUSTER": "yuba",
        "YUBA_TASK_DEFINITION": "runner:1",
        "YUBA_TASK_SUBNETS": "subnet-1",
        "YUBA_TASK_SECURITY_GROUPS": "sg-1",
        "YUBA_TASKS_URL": "https://tasks.example.com",
        "YUBA_MANIFESTS": MANIFESTS,
        "YUBA_OBJECTS_ROLE": ROLE,
        "YUBA_TASK_KEY": secret("task-key", "k" * 64),
        "YUBA_API_TOKEN": secret("api-token", "t" * 64),
        "YUBA_WEBHOOK_SECRETS": secret("webhooks", "w" * 64),
        "YUBA_SLACK_SIGNING_SECRETS": secret("slack-signing", "s" * 32),
        "YUBA_SLACK_BUTTONS": "shown",
        "YUBA_WEB_URL": "https://yuba.example.com",
        # The Slack of the tests is one of them.
        "YUBA_PRIVATE_ADDRESSES": "allowed",
    }
    for name in ["webhook", "scheduler", "source", "orchestrator", "tasks", "api", "slack", "notifier"]:
        function(name, settings)
    for name, woken in queues.items():
        feed(woken, work[name][1])
    urls = {name: url(name) for name in ["webhook", "tasks", "api", "slack"]}
    print(json.dumps({"urls": urls, "settings": settings}))


if __name__ == "__main__":
    main()
