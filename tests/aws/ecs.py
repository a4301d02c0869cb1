"""ECS of the emulator, whose tasks run nothing by themselves: here each is a process of this machine, the real runner.

A client token names one task, whoever asks how often; what becomes of a task is told to EventBridge. A test says in
`control.json` what is to go wrong (see `faults.py` for the rest of it):

    refuse  a reason why RunTask starts none (`RESOURCE:MEMORY`), or an error as which it ends (`ThrottlingException`)
    hold    whether tasks wait before they start
    fail    why tasks stop before they start (`CannotPullContainerError: …`)
    late    whether tasks that stopped before they started start all the same
    kill    attempts whose process is killed
    memory  whether what was killed used too much memory
    events  how often EventBridge is told of a state, else once

Each task has a file `<attempt>.json` beside it: how often it was asked for, its status, the exit code of its process; and a log.
"""

import json
import os
import signal
import subprocess
import threading
import time

from faults import DIRECTORY, control
from ministack.core.responses import error_response_json, get_account_id, get_region, json_response, request_scope
from ministack.services import ecs, eventbridge

RUNNER = os.environ["YUBA_EMULATOR_RUNNER"]
INHERITED = ["PATH", "TF_CLI_CONFIG_FILE", "AWS_EC2_METADATA_DISABLED"]
GLANCE = 0.05

LOCK = threading.RLock()
# By client token: what was asked for, the task, how often.
ASKED = {}
RUN, STOP = ecs._run_task, ecs._stop_task


def run_task(data):
    """RunTask, for one task at a time."""
    with LOCK:
        token = data["clientToken"]
        if token in ASKED:
            first, task, times = ASKED[token]
            ASKED[token] = (first, task, times + 1)
            note(task)
            if first != data:
                return error_response_json("ConflictException", f"used already: {task['taskArn']}", 400)
            return json_response({"tasks": [ecs._sanitize(task)], "failures": []})
        if refused := control("refuse"):
            if refused.endswith("Exception"):
                return error_response_json(refused, "Rate exceeded", 400)
            return json_response({"tasks": [], "failures": [{"reason": refused}]})
        status, headers, body = RUN(data)
        if status != 200:
            return status, headers, body
        task = ecs._tasks[json.loads(body)["tasks"][0]["taskArn"]]
        task["lastStatus"] = "PENDING"
        ASKED[token] = (data, task, 1)
        note(task)
    threading.Thread(target=live, args=(task, get_account_id(), get_region()), daemon=True).start()
    return json_response({"tasks": [ecs._sanitize(task)], "failures": []})


def stop_task(data):
    """StopTask: what runs is asked to end, and killed where it does not."""
    task = ecs._resolve_task(data["task"], ecs._resolve_cluster_name(data["cluster"]))
    process = task and task.get("_process")
    if not process:
        answer = STOP(data)
        if task:
            tell(task)
        return answer
    with LOCK:
        task["desiredStatus"], task["_stopped"] = "STOPPED", data.get("reason", "")
    process.terminate()
    threading.Timer(container(task)["stopTimeout"], process.kill).start()
    return json_response({"task": ecs._sanitize(task)})


def live(task, account, region):
    """A task's life."""
    with request_scope(account, region):
        while control("hold") and task["lastStatus"] != "STOPPED":
            time.sleep(GLANCE)
        if task["lastStatus"] == "STOPPED":
            return
        if why := control("fail"):
            ended(task, why, "TaskFailedToStart", None)
            while not control("late"):
                time.sleep(GLANCE)
            start(task, "STOPPED").wait()
            return note(task)
        process = start(task, "RUNNING")
        tell(task)
        while process.poll() is None:
            if task["startedBy"] in (control("kill") or []):
                process.kill()
            time.sleep(GLANCE)
        end_all(work(task))
        code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        if code == 137 and control("memory"):
            task["containers"][0]["reason"] = "OutOfMemoryError: Container killed due to memory usage"
        if (why := task.get("_stopped")) is not None:
            task["desiredStatus"] = "RUNNING"
            return ended(task, why, "UserInitiated", code)
        ended(task, "Essential container in task exited", "EssentialContainerExited", code)


def start(task, status):
    os.makedirs(work(task))
    variables = {name: os.environ[name] for name in INHERITED if name in os.environ}
    said = container(task)["environment"] + task["overrides"]["containerOverrides"][0]["environment"]
    variables |= {"AWS_REGION": get_region()} | {it["name"]: it["value"] for it in said}
    # The volume of the definition is a directory of the test.
    variables["YUBA_WORK"] = work(task)
    with open(f"{DIRECTORY}/{task['startedBy']}.log", "ab") as log:
        process = subprocess.Popen([RUNNER], env=variables, cwd=work(task), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    task["_process"], task["lastStatus"] = process, status
    return process


def work(task):
    return f"{DIRECTORY}/{task['startedBy']}"


def container(task):
    definition = ecs._task_defs[ecs._resolve_td_key(task["taskDefinitionArn"])]
    return definition["containerDefinitions"][0]


def ended(task, why, stop_code, code):
    ecs._mark_task_stopped(task["taskArn"], task, why, stop_code, exit_code=code)
    tell(task)


def tell(task):
    """Notes a task's state, and tells EventBridge of it."""
    note(task)
    told = control("events")
    for _ in range(1 if told is None else told):
        event = {"Source": "aws.ecs", "DetailType": "ECS Task State Change", "Detail": json.dumps(ecs._sanitize(task))}
        eventbridge._put_events({"Entries": [event]}, allow_aws_source=True)


def note(task):
    with LOCK:
        times = next(times for _, other, times in ASKED.values() if other is task)
        process = task.get("_process")
        noted = {"asked": times, "status": task["lastStatus"], "code": process and process.poll()}
        path = f"{DIRECTORY}/{task['startedBy']}.json"
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump(noted, file)
        os.rename(f"{path}.new", path)


def end_all(directory):
    """Kills what is left in a directory, as nothing outlives a container."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{process}/cwd").startswith(f"{directory}/"):
                os.kill(int(process), signal.SIGKILL)
        except OSError:
            pass


def end():
    """Kills all tasks."""
    for _, task, _ in list(ASKED.values()):
        if process := task.get("_process"):
            process.kill()
    end_all(DIRECTORY)


def install():
    """Puts all this in the place of what the emulator has."""
    ecs._get_docker = lambda: None
    ecs._ACTION_MAP.update(RunTask=run_task, StopTask=stop_task)
