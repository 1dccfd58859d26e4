"""hookctl itself as an operator has it: its command line, its folders and the guard's own log."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .claude import Place


def state_folder(place: Place) -> Path:
    return place.root / "state"


def data_folder(place: Place) -> Path:
    return place.root / "data"


def hookctl(
    place: Place, *arguments: str, code: int = 0, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line in the project, and make sure of its exit code."""
    folders = {"HOOKCTL_STATE_DIR": str(state_folder(place)), "HOOKCTL_DATA_DIR": str(data_folder(place))}
    done = subprocess.run(
        [sys.executable, "-m", "hookctl", *arguments],
        cwd=place.project,
        env={**place.environment(), **folders, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == code, f"hookctl {' '.join(arguments)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def hookctl_json(place: Place, *arguments: str, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    return json.loads(hookctl(place, *arguments, "--json", environment=environment).stdout)["data"]


def leave_work(place: Place, remaining: int = 2) -> None:
    """Tell the guard that so many things are still to do in the project."""
    hookctl(place, "run", "remaining", str(remaining), "--project", str(place.project))


def decisions(place: Place) -> list[dict[str, Any]]:
    """Return the guard's own log, a line for each stop."""
    logs = sorted(state_folder(place).glob("guard/*/events.jsonl"))
    return [json.loads(line) for log in logs for line in log.read_text("utf-8").splitlines()]


def codes(place: Place) -> list[str]:
    """Return the guard's reason for each stop."""
    return [entry["code"] for entry in decisions(place)]
