"""What a call imports: a no-op install is the call that agents' start scripts make, and most of its time is imports."""

from __future__ import annotations

import json
import subprocess
import sys

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
