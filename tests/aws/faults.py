"""What goes wrong between functions and the services of the emulator, as a test says in `control.json` of the directory
YUBA_EMULATOR_TASKS, whenever it likes:

    answers    requests that are answered by an error, each rule with
        to      a part of the operation's name, or where the service has none of `METHOD /path`
        body    a part of the request, if that matters
        with    the error (`SlowDown`) and its HTTP status, 400 if it is not said
        every   which of these requests: each third; or `only` one of them
        done    whether the request is carried out all the same, and only its answer lost
        kill    a function whose processes are killed instead
    redeliver  how often messages that were handled are delivered again
    paused     the end of a queue's name that wakes no function

`met.json` beside it says how many requests each rule was for. A message that a function was killed over comes again after a second, and not only after the queue's own time.
"""

import json
import os
import signal
import threading
import time

DIRECTORY = os.environ.get("YUBA_EMULATOR_TASKS")
LOCK = threading.Lock()
# How many requests a rule was for, by the rule.
MET = {}


def control(name):
    try:
        with open(f"{DIRECTORY}/control.json", encoding="utf-8") as file:
            return json.load(file).get(name)
    except FileNotFoundError:
        return None


def faulty(app):
    """The emulator's application, where requests go wrong."""

    async def serve(scope, receive, send):
        rules = scope["type"] == "http" and control("answers")
        if not rules:
            return await app(scope, receive, send)
        body = await whole(receive)
        rule = next((rule for rule in rules if meets(rule, scope, body)), None)
        if rule and "kill" in rule:
            kill(rule["kill"])
        elif rule and not rule.get("done"):
            return await refuse(rule, send)
        await app(scope, again(body, receive), discard if rule else send)
        if rule:
            await refuse(rule, send)

    return serve


async def whole(receive):
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body


def again(body, receive):
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_one():
        return messages.pop() if messages else await receive()

    return next_one


async def discard(_):
    pass


def meets(rule, scope, body):
    target = dict(scope["headers"]).get(b"x-amz-target", b"").decode().split(".")[-1]
    if rule["to"] not in (target or f"{scope['method']} {scope['path']}") or rule.get("body", "").encode() not in body:
        return False
    with LOCK:
        name = json.dumps(rule)
        MET[name] = MET.get(name, 0) + 1
        with open(f"{DIRECTORY}/met.new", "w", encoding="utf-8") as file:
            json.dump(list(MET.values()), file)
        os.rename(f"{DIRECTORY}/met.new", f"{DIRECTORY}/met.json")
        return MET[name] == rule["only"] if "only" in rule else MET[name] % rule["every"] == 0


async def refuse(rule, send):
    code, status = (rule["with"].split() + ["400"])[:2] if "with" in rule else ("InternalError", "500")
    if "/" in rule["to"]:
        kind, text = b"application/xml", f"<Error><Code>{code}</Code><Message>by a test</Message></Error>"
    else:
        reasons = [{"Code": "TransactionConflict"}]
        kind, text = b"application/x-amz-json-1.0", json.dumps({"__type": code, "message": "by a test", "CancellationReasons": reasons})
    await send({"type": "http.response.start", "status": int(status), "headers": [(b"content-type", kind)]})
    await send({"type": "http.response.body", "body": text.encode()})


def kill(function):
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as environment, open(f"/proc/{process}/stat", "rb") as stat:
                is_ours = int(stat.read().rsplit(b")", 1)[1].split()[1]) == os.getpid()
                if is_ours and f"AWS_LAMBDA_FUNCTION_NAME={function}".encode() in environment.read().split(b"\0"):
                    os.kill(int(process), signal.SIGKILL)
        except OSError:
            pass


def install():
    """Has messages come again."""
    from ministack.services import lambda_svc, sqs

    receive, delete, run = sqs._receive_messages_for_esm, sqs._delete_messages_for_esm, lambda_svc._run_sqs_batch

    def show(url, is_meant, after):
        with sqs._queues_lock:
            for message in filter(is_meant, sqs._get_q(url)["messages"]):
                message["visible_at"] = time.time() + after

    def receive_or_not(url, number):
        paused = control("paused")
        return [] if paused and url.endswith(paused) else receive(url, number)

    def delete_or_not(url, handles):
        times = control("redeliver") or 0
        is_again = lambda message: message.get("receipt_handle") in handles and message["receive_count"] <= times
        with sqs._queues_lock:
            kept = {it["receipt_handle"] for it in sqs._get_q(url)["messages"] if is_again(it)}
        delete(url, handles - kept)
        show(url, lambda message: message.get("receipt_handle") in kept, 0)

    def run_and_show(mapping, function, event, batch, url, name):
        run(mapping, function, event, batch, url, name)
        if mapping.get("LastProcessingResult") == "FAILED":
            ids = {message["id"] for message in batch}
            show(url, lambda message: message["id"] in ids, 1)

    sqs._receive_messages_for_esm, sqs._delete_messages_for_esm = receive_or_not, delete_or_not
    lambda_svc._run_sqs_batch = run_and_show
