"""A hook that writes down how it was called and answers as it was told."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any, NamedTuple

_PROGRAM = """\
import json, os, sys, time
me = sys.argv[1]
with open(me + ".answer.json") as file:
    told = json.load(file)
payload = json.load(sys.stdin)
with open(me + ".log.jsonl", "a+") as file:
    file.seek(0)
    calls = len(file.readlines())
    file.write(json.dumps({"time": time.time(), "payload": payload, "environment": dict(os.environ)}) + "\\n")
answers = told["answers"]
print(answers[min(calls, len(answers) - 1)], end="")
time.sleep(told["seconds"])
"""

BLOCK = json.dumps({"decision": "block", "reason": "the probe says: go on"})


class Heard(NamedTuple):
    """One call of the probe."""

    payload: dict[str, Any]
    environment: dict[str, str]


class Probe(NamedTuple):
    """A probe in a folder of its own; `command` registers it."""

    stem: Path
    command: str

    def flags(self) -> str:
        """Say what stop_hook_active was at each call: F or T."""
        return "".join("FT"[heard.payload["stop_hook_active"]] for heard in self.heard())

    def heard(self) -> list[Heard]:
        path = self.stem.with_suffix(".log.jsonl")
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        return [Heard(entry["payload"], entry["environment"]) for entry in map(json.loads, lines)]


def make_probe(folder: Path, name: str = "probe", answers: tuple[str, ...] = ("",), seconds: float = 0) -> Probe:
    """Write a probe that gives one answer a call, the last one for ever, and takes its time."""
    folder.mkdir(exist_ok=True)
    program, stem = folder / "probe.py", folder / name
    told = {"answers": answers, "seconds": seconds}
    program.write_text(_PROGRAM)
    stem.with_suffix(".answer.json").write_text(json.dumps(told))
    return Probe(stem, shlex.join([sys.executable, "-I", "-S", str(program), str(stem)]))
