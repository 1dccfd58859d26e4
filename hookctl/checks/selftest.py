"""The hook, started once in a throw-away folder: does it block, does it let go, and is it fast enough?"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import NamedTuple

from hookctl.checks import Finding, Scene, handlers
from hookctl.hosts import Host
from hookctl.model import Element

LONGEST = 5.0  # seconds for an answer; the host gives the hook 10 unless somebody edited that


class _Answer(NamedTuple):
    text: str
    seconds: float

    @property
    def value(self) -> dict[str, object]:
        try:
            value = json.loads(self.text)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def check(scene: Scene, python: str, hook: str) -> Iterator[Finding]:
    """Two stops of a made-up session in a throw-away project: the first is blocked, the second let go."""
    allowed = _allowed(scene)
    with tempfile.TemporaryDirectory(prefix="hookctl-doctor-") as folder:
        environ = _arrange(folder)
        first, second = (_stop(python, hook, scene.host.name, environ, folder, active) for active in (False, True))
    slowest = max(first.seconds, second.seconds)
    if slowest > allowed:
        message = f"the hook does not answer in time: it took {slowest:.1f} s of {allowed:g} s"
        fix = "Is the machine busy, or the disk slow? Raise the entry's timeout, or look what slows Python down."
        yield scene.find("hook_slow", "error", message, fix, hook)
    elif _says(first, scene.host, "block") and _says(second, scene.host, "release"):
        message = "the hook works: in a self-test it blocked a stop and then let go"
        yield scene.find("self_test_passed", "info", message, "", hook)
    else:
        said = " and then ".join(" ".join(answer.text.split()) or "nothing" for answer in (first, second))
        message = f"the hook does not work: in a self-test it said {said}"
        yield scene.find("self_test_failed", "error", message, f"`{scene.install} --force` puts it back.", hook)


def _says(answer: _Answer, host: Host, what: str) -> bool:
    """Whether an answer has the form of the host's dialect, whatever its text; nothing where it has no such form."""
    form = host.data["dialect"][what]
    return _fits(answer.value, json.loads(form.replace("%s", "null"))) if form else not answer.text


def _fits(value: object, wanted: object) -> bool:
    """Whether a value is as wanted, where null stands for any text."""
    if isinstance(wanted, dict):
        same = isinstance(value, dict) and value.keys() == wanted.keys()
        return same and all(_fits(value[name], part) for name, part in wanted.items())
    return wanted is None or value == wanted


def _allowed(scene: Scene) -> float:
    """How long an answer may take: less than the host waits for it."""
    elements: tuple[Element, ...] = scene.live.elements if scene.live else ()
    given = (handlers.patience(scene.host, element.fields) for element in elements if element.id == "guard/stop")
    return min([LONGEST, *(number for number in given if number and number > 0)])


def _arrange(folder: str) -> dict[str, str]:
    """A project with work in it, and the environment in which the guard blocks once, whatever its configuration."""
    run_dir = os.path.join(folder, "project", ".hookctl", "run")
    os.makedirs(run_dir)
    with open(os.path.join(run_dir, "task.json"), "w", encoding="ascii") as stream:
        stream.write('{"remaining": 1}')
    return {
        "HOME": folder,
        "HOOKCTL_STATE_DIR": os.path.join(folder, "state"),
        "HOOKCTL_RUN_DIR": run_dir,
        "HOOKCTL_MODE": "breaker",
        "HOOKCTL_REQUIRE_ARM": "0",
        "HOOKCTL_COUNT": "blocks",
        "HOOKCTL_HONOR_STOP_HOOK_ACTIVE": "0",
        "HOOKCTL_OWNER": "doctor",
        "HOOKCTL_TASK_FILE": os.path.join(run_dir, "task.json"),
        "MAX_STOP_BLOCKS": "1",
    }


def _stop(python: str, hook: str, host: str, environ: dict[str, str], folder: str, active: bool) -> _Answer:
    project = os.path.join(folder, "project")
    payload = {"session_id": "doctor", "cwd": project, "hook_event_name": "Stop", "stop_hook_active": active}
    call, begin = [python, "-I", "-S", "-B", hook, "stop", "--host", host], time.monotonic()
    try:
        run = subprocess.run(
            call, input=json.dumps(payload), capture_output=True, text=True, timeout=LONGEST, env=environ, cwd=project
        )
        text = run.stdout if run.returncode == 0 else f"exit status {run.returncode}"
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        text = f"{type(error).__name__}"
    return _Answer(text, time.monotonic() - begin)
