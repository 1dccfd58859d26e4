"""What a call imports: a no-op install is the call that agents' start scripts make, and most of its time is imports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Hookctl

DEAR = {
    "pydantic", "rich", "jsonschema", "tomlkit", "subprocess", "difflib", "hashlib", "unicodedata",
}  # fmt: skip
LIST = """
import json, sys
from hookctl.__main__ import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


def modules(code: str, *arguments: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    status, names = json.loads(done.stderr.splitlines()[-1])
    assert status == 0, done.stdout
    return set(names)


def of_typer() -> set[str]:
    return modules("import json, sys, typer\nprint(json.dumps([0, sorted(sys.modules)]), file=sys.stderr)")


@pytest.mark.parametrize("arguments", [("install", "--host", "claude"), ("status",), ("run", "status")])
def test_what_is_dear_is_not_imported_where_there_is_nothing_to_do(
    hookctl: Hookctl, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOOKCTL_STATE_DIR", "HOOKCTL_DATA_DIR"):  # as on a person's machine
        monkeypatch.delenv(name)
    assert hookctl("install", "--host", "claude").code == 0
    assert not modules(LIST, *arguments) & (DEAR - of_typer())


def test_planning_a_change_needs_no_lock_and_no_schema(hookctl: Hookctl) -> None:
    loaded = modules(LIST, "plan", "--host", "claude")
    assert not loaded & {"pydantic", "rich", "jsonschema", "tomlkit"}
    assert "difflib" in loaded


TYPED = {"cli", "commands"}  # what makes a program of the words that somebody typed
SHOWN = TYPED | {
    "clock", "documents", "events", "hosts", "ledger", "output", "packs", "report", "settings", "system", "verbs",
}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "rooms", "most"),
    [
        (("--version",), TYPED, 7),
        (("--help",), TYPED, 14),
        (("install", "--help"), TYPED, 8),
        (("run", "status"), SHOWN, 57),
        (("run", "heartbeat"), SHOWN, 57),
        (("status",), SHOWN | {"checks", "engine", "planner"}, 94),
        (("install", "--host", "claude"), SHOWN | {"engine", "planner"}, 71),
    ],
)
def test_a_command_imports_the_rooms_that_it_needs_and_no_more_modules_than_these(
    hookctl: Hookctl, isolated: Path, arguments: tuple[str, ...], rooms: set[str], most: int
) -> None:
    (isolated / "home" / ".git").mkdir(parents=True)
    hookctl("install", "--host", "claude")
    hookctl("run", "heartbeat")
    own = {name for name in modules(LIST, *arguments) if name.partition(".")[0] == "hookctl"}
    values = {"__main__", "errors", "masking", "model", "values"}
    assert {name.split(".")[1] for name in own - {"hookctl"}} <= rooms | values
    assert len(own) <= most


def test_an_install_with_nothing_to_do_knows_neither_runs_nor_projects_nor_approvals(hookctl: Hookctl) -> None:
    hookctl("install", "--host", "claude")
    assert not modules(LIST, "install", "--host", "claude") & {
        "hookctl.run", "hookctl.ledger.committed", "hookctl.planner.approvals", "hookctl.planner.consent",
        "hookctl.planner.project_files", "hookctl.planner.rules", "hookctl.output.diffs", "hookctl.packs.pack",
    }  # fmt: skip
