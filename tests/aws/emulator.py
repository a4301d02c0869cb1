"""Runs the AWS emulator of the tests on a free port of 127.0.0.1, says where on the first line of standard output, and
ends when standard input does, so that it never outlives the test that started it.

Where YUBA_EMULATOR_CLOCK is set, the queues' time is the test's: it stands still, and moves as the file of that name says
(milliseconds since the start). SQS hides and deduplicates messages by it. Where YUBA_EMULATOR_TASKS is set, tasks of ECS run (see
`ecs.py`), much goes wrong where a test wants it (see `faults.py`), and a minute of its schedules takes ten seconds.
"""

import asyncio
import os
import socket
import sys
import threading
import time

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    PORT = free.getsockname()[1]
TASKS = os.environ.get("YUBA_EMULATOR_TASKS")
ENDPOINT = f"http://127.0.0.1:{PORT}"
os.environ.update(
    GATEWAY_PORT=str(PORT),
    BIND_HOST="127.0.0.1",
    MINISTACK_HOST="127.0.0.1",
    AWS_ENDPOINT_URL=ENDPOINT,
    AWS_EC2_METADATA_DISABLED="true",
    LOG_LEVEL="WARNING",
)


class TestsClock:
    """Stands in for the module `time` where queues ask for the time."""

    def __init__(self, path):
        self.path = path
        self.start = int(time.time())

    def time(self):
        try:
            with open(self.path, encoding="ascii") as file:
                return self.start + int(file.read() or 0) / 1000
        except FileNotFoundError:
            return float(self.start)

    def __getattr__(self, name):
        return getattr(time, name)


def announce():
    """Says where, once somebody listens there."""
    while True:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", PORT)) == 0:
                break
        time.sleep(0.01)
    print(ENDPOINT, flush=True)


def end_with_input():
    sys.stdin.read()
    if TASKS:
        import ecs

        ecs.end()
    os._exit(0)


def main():
    from hypercorn.asyncio import serve
    from hypercorn.config import Config
    from ministack import app
    from ministack.services import sns, sqs

    if clock := os.environ.get("YUBA_EMULATOR_CLOCK"):
        # Topics note in the queues when their messages may be seen.
        sqs.time = sns.time = TestsClock(clock)
    if TASKS:
        import ecs
        import faults
        from ministack.services import eventbridge

        ecs.install()
        faults.install()
        app.app = faults.faulty(app.app)
        seconds = eventbridge._parse_rate_seconds
        eventbridge._parse_rate_seconds = lambda rate: seconds(rate) and seconds(rate) // 6
        eventbridge._SCHEDULER_TICK_INTERVAL = 1
    for work in (announce, end_with_input):
        threading.Thread(target=work, daemon=True).start()
    config = Config()
    config.bind = [f"127.0.0.1:{PORT}"]
    config.loglevel = "WARNING"
    config.keep_alive_timeout = 75
    asyncio.run(serve(app.app, config))


if __name__ == "__main__":
    main()
