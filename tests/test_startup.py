"""What a call imports: a no-op install is the call that agents' start scripts make, and most of its time is imports."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from hookctl.system import folders

from .conftest import Hookctl

DEAR = {
    "pydantic", "rich", "jsonschema", "tomlkit", "filelock", "subprocess", "difflib", "hashlib", "tempfile",
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
    hookctl: Hookctl, arguments: tuple[str, ...]
) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    assert not modules(LIST, *arguments) & (DEAR - of_typer())


def test_planning_a_change_needs_no_lock_and_no_schema(hookctl: Hookctl) -> None:
    loaded = modules(LIST, "plan", "--host", "claude")
    assert not loaded & {"pydantic", "rich", "jsonschema", "tomlkit", "filelock"}
    assert "difflib" in loaded


def test_our_own_folders_are_asked_of_platformdirs_only_where_no_variable_names_them(hookctl: Hookctl) -> None:
    assert "platformdirs" not in modules(LIST, "status")


@pytest.mark.parametrize(
    ("xdg", "state", "data"),
    [
        ("", "/home/ann/.local/state/hookctl", "/home/ann/.local/share/hookctl"),
        ("/xdg", "/xdg/hookctl", "/xdg/hookctl"),
    ],
)
def test_our_own_folders_lie_where_the_xdg_rules_want_them(
    xdg: str, state: str, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOOKCTL_STATE_DIR", "HOOKCTL_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, xdg)
    monkeypatch.setenv("HOME", "/home/ann")
    found = folders.here()
    assert (found.state, found.data) == (state, data)
