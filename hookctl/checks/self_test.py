"""Starts the hook twice in a throw-away folder and returns its answers.

It runs hookctl's own bytes, never those of a project or of any folder that somebody else can write.
"""

from __future__ import annotations

import json
import os
import subprocess
import time

from hookctl.checks.facts import Answer
from hookctl.packs.guard_options import in_effect
from hookctl.packs.programs import HOOK, load_programs
from hookctl.system.temporary import private_folder

LONGEST = 5.0  # seconds for an answer; the host gives the hook 10 unless somebody edited that


def run(python: str, config: bytes | None, host: str, state: str) -> tuple[Answer, ...]:
    """The answers to two stops: the first may be blocked, the second must be allowed.

    `config` is the installed config.json, if there is one; `state` is hookctl's state folder.
    """
    with private_folder("doctor", state) as folder:
        environ = _arrange(folder, _read_task_fields(config))
        hook = _lay_programs(os.path.join(folder, "guard"), config)
        return tuple(_stop(python, hook, host, environ, folder, active) for active in (False, True))


def _read_task_fields(config: bytes | None) -> dict[str, str]:
    """Our names of a task's fields, and those that the configuration reads."""
    try:
        values = json.loads(config or b"{}")
    except (ValueError, RecursionError):
        return {}  # the hook cannot read it either
    options = in_effect(values, {}) if isinstance(values, dict) else {}
    return dict(pair.split("=", 1) for pair in options.get("task_fields", []) if "=" in pair)


def _arrange(folder: str, fields: dict[str, str]) -> dict[str, str]:
    """Makes a project with work in it; its environment lets the guard block once.

    The variables confine every path of the configuration to the folder.
    """
    run_dir = os.path.join(folder, "project", ".hookctl", "run")
    os.makedirs(run_dir)
    with open(os.path.join(run_dir, "task.json"), "w", encoding="ascii") as stream:
        json.dump({fields.get("remaining", "remaining"): 1}, stream)
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


def _lay_programs(folder: str, config: bytes | None) -> str:
    """Write this version of the guard with that configuration; returns the path of its launcher."""
    contents = dict(load_programs(wrapper=False).all)
    if config is not None:
        contents["config.json"] = config
    for name, data in contents.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(data)
    return os.path.join(folder, HOOK)


def _stop(
    python: str, hook: str, host: str, environ: dict[str, str], folder: str, active: bool
) -> Answer:
    project = os.path.join(folder, "project")
    payload = {
        "session_id": "doctor",
        "cwd": project,
        "hook_event_name": "Stop",
        "stop_hook_active": active,
    }
    call, begin = [python, "-I", "-S", "-B", hook, "stop", "--host", host], time.monotonic()
    try:
        process = subprocess.run(
            call,
            input=json.dumps(payload),
            capture_output=True,
            text=True,
            timeout=LONGEST,
            env=environ,
            cwd=project,
        )
        text = process.stdout if process.returncode == 0 else f"exit status {process.returncode}"
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        text = f"{type(error).__name__}"
    return Answer(text, time.monotonic() - begin)
