"""One session of `pi --mode rpc`: `pi_session.py STEPS COMMAND...`, and at the end its entries on stdout.

STEPS is JSON: a list of records for its stdin. Each waits until the session has settled behind the one before; one
with `"while": NAME` is sent as soon as the session says NAME instead, as a person who does not wait would do it.
Once it is taken, the file is made that a step names with `"then": PATH`.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

WORK = ("prompt", "steer", "follow_up")


class Session:
    """Pi in RPC mode, as a program that drives it has it; ends with the block."""

    def __init__(self, command: list[str]) -> None:
        self.is_settled = True
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def send(self, record: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(record).encode() + b"\n")
        self.process.stdin.flush()

    def wait(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The next record of a kind with these fields."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            record = json.loads(line)
            self.is_settled = self.is_settled or record["type"] == "agent_settled"
            if record["type"] == kind and all(record.get(name) == value for name, value in fields.items()):
                return record
        raise SystemExit(f"it ended before it said {kind} {fields}")

    def settle(self) -> None:
        """Until nothing goes on any more."""
        if not self.is_settled:
            self.wait("agent_settled")

    def take(self, step: dict[str, Any]) -> None:
        early, mark = step.pop("while", ""), step.pop("then", "")
        if early:
            self.wait(early)
        else:
            self.settle()
        self.send(step)
        is_command = str(step.get("message", "")).startswith("/")  # of an extension, which asks no model
        self.is_settled = self.is_settled and (is_command or step["type"] not in WORK)
        self.wait("response", command=step["type"])
        if mark:
            Path(mark).touch()


def main(steps: str, *command: str) -> None:
    with Session(list(command)) as session:
        for step in json.loads(steps):
            session.take(step)
        session.settle()
        session.send({"type": "get_entries"})
        entries = session.wait("response", command="get_entries")["data"]["entries"]
    print(json.dumps(entries))


if __name__ == "__main__":
    main(*sys.argv[1:])
