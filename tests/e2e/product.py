"""hookctl itself as an operator has it: its command line, its folders and the guard's own log; and git."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conftest import agreed
from tests.served import run_served

from .agent import Place

LIMIT = 5  # blocks, then the guard lets go
KEPT = ["blocked"] * LIMIT + ["tripped"]


def state_folder(place: Place) -> Path:
    return place.home / ".local" / "state" / "hookctl" if place.own_folders else place.root / "state"


def data_folder(place: Place) -> Path:
    return place.home / ".local" / "share" / "hookctl" if place.own_folders else place.root / "data"


def hookctl(
    place: Place, *arguments: str, code: int = 0, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line in the project, and make sure of its exit code."""
    folders = {"HOOKCTL_STATE_DIR": str(state_folder(place)), "HOOKCTL_DATA_DIR": str(data_folder(place))}
    environ = {**place.environment(), **({} if place.own_folders else folders), **(environment or {})}
    served = run_served([sys.executable, "-m", "hookctl", *agreed(arguments)], b"", environ, place.project)
    done = subprocess.CompletedProcess(arguments, served.returncode, served.stdout.decode(), served.stderr.decode())
    assert done.returncode == code, f"hookctl {' '.join(arguments)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def hookctl_json(place: Place, *arguments: str) -> dict[str, Any]:
    return json.loads(hookctl(place, *arguments, "--json").stdout)["data"]


def leave_work(place: Place, remaining: int = 2) -> None:
    """Tell the guard that so many things are still to do in the project."""
    hookctl(place, "run", "remaining", str(remaining), "--project", str(place.project))


def leave_work_by_hand(place: Place) -> Path:
    """Tell the guard the same without hookctl; the run folder."""
    folder = place.project / ".hookctl" / "run"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "task.json").write_text('{"remaining": 2}')
    return folder


def decisions(place: Place) -> list[dict[str, Any]]:
    """Return the guard's own log, a line for each stop."""
    logs = sorted(state_folder(place).glob("guard/*/events.jsonl"))
    return [json.loads(line) for log in logs for line in log.read_text("utf-8").splitlines()]


def codes(place: Place) -> list[str]:
    """Return the guard's reason for each stop."""
    return [entry["code"] for entry in decisions(place)]


def until_logged(place: Place, code: str) -> str:
    """A shell command for the agent that ends a little after the guard has logged this code, or in 30 s."""
    look = f"cat {state_folder(place)}/guard/*/events.jsonl 2>/dev/null | grep -q '\"{code}\"'"
    return f"for _ in $(seq 300); do {look} && break; sleep 0.1; done; sleep 0.7"


def git(folder: Path, *arguments: str) -> str:
    """Run git as somebody without any settings."""
    who = {f"GIT_{role}_{what}": "tests@localhost" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **who}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
