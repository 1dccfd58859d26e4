"""What a call imports: a no-op install is the call that agents' start scripts make, and most of its time is imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import platformdirs
import pytest

from hookctl.system import folders

from .conftest import Hookctl

DEAR = {
    "pydantic", "rich", "jsonschema", "tomlkit", "filelock", "subprocess", "difflib", "hashlib", "tempfile",
    "platformdirs", "unicodedata",
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


@pytest.mark.parametrize("xdg", ["", "/xdg", "/xdg/", "relative", "~/xdg"])
@pytest.mark.parametrize("home", ["/home/ann", "/home/ann/", "/"])
def test_our_own_folders_lie_where_platformdirs_has_them(xdg: str, home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOOKCTL_STATE_DIR", "HOOKCTL_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, xdg)
    monkeypatch.setenv("HOME", home)
    found = folders.here()
    usual = platformdirs.user_state_dir("hookctl", False), platformdirs.user_data_dir("hookctl", False)
    assert (found.state, found.data) == tuple(map(os.path.abspath, usual))
