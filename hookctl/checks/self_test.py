"""Starts the hook twice in a throw-away folder and returns its answers."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time

from hookctl.checks.facts import Answer

LONGEST = 5.0  # seconds for an answer; the host gives the hook 10 unless somebody edited that


def run(python: str, hook: str, host: str) -> tuple[Answer, ...]:
    """The answers to two stops: the first may be blocked, the second must be allowed."""
    with tempfile.TemporaryDirectory(prefix="hookctl-doctor-") as folder:
        environ = _arrange(folder)
        return tuple(_stop(python, hook, host, environ, folder, active) for active in (False, True))


def _arrange(folder: str) -> dict[str, str]:
    """Makes a project with work in it; its environment lets the guard block once."""
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
