"""The cells of the table of ownership that need files: what doctor says, and who writes at the same time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.ownership import execute as run
from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")

LIMIT = "MAX_STOP_BLOCKS"
HOST = ("--host", "claude")
THEIRS = {"type": "command", "command": "say done"}
OWN = '{\n  "model": "m"\n}\n'


def document(path: Path) -> Any:
    return json.loads(path.read_bytes())


def findings(hookctl: Hookctl) -> dict[str, dict[str, Any]]:
    """What doctor says of entries, by code."""
    found = hookctl("doctor", *HOST, "--json").data["findings"]
    return {finding["code"]: finding for finding in found if finding["code"].startswith(("entr", "ledger", "edited"))}


def pack(name: str, **env: str) -> str:
    lines = ["[pack]", f'name = "{name}"', 'version = "1"', "[env]", *(f'{key} = "{env[key]}"' for key in env)]
    return str(put(Path(f"{name}.toml"), "\n".join(lines) + "\n").absolute())


def test_row_3_doctor_has_nothing_against_a_value_that_is_as_wanted(settings: Path, hookctl: Hookctl) -> None:
    put(settings, f'{{"env": {{"{LIMIT}": "5"}}}}')
    assert findings(hookctl) == {}


def test_row_4_doctor_has_nothing_against_an_adopted_value(settings: Path, hookctl: Hookctl) -> None:
    put(settings, f'{{"env": {{"{LIMIT}": "5"}}}}')
    hookctl("install", *HOST)
    assert findings(hookctl) == {}


def test_row_14_doctor_has_nothing_against_a_shared_value(settings: Path, hookctl: Hookctl) -> None:
    for name in "pq":
        assert hookctl("install", pack(name, SHARED="1"), *HOST).code == 0
    assert findings(hookctl) == {}


def test_row_18_doctor_has_nothing_against_a_move(settings: Path, hookctl: Hookctl) -> None:
    put(settings, OWN)
    hookctl("install", *HOST)
    here = document(settings)
    (ours,) = here["hooks"]["Stop"][0]["hooks"]
    here["hooks"]["Stop"] = [{"hooks": [THEIRS, ours]}]
    put(settings, json.dumps(here))
    assert findings(hookctl) == {}


def test_row_22_fix_works_on_the_real_file_and_leaves_the_link(
    settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    real = put(isolated / "dotfiles" / "settings.json", OWN)
    settings.parent.mkdir()
    settings.symlink_to(real)
    hookctl("install", *HOST)
    installed = real.read_bytes()
    put(real, OWN)
    assert hookctl("doctor", *HOST, "--fix", "--json").data["fixed"]
    assert settings.is_symlink() and not real.is_symlink()
    assert real.read_bytes() == installed


@pytest.mark.parametrize(
    "command",
    [("install",), ("install", "--set", "max_stop_blocks=9"), ("uninstall",), ("doctor", "--fix")],
    ids=["install", "upgrade", "uninstall", "fix"],
)
@pytest.mark.parametrize("times", [1, 4])
def test_row_24_who_writes_meanwhile_loses_nothing(
    command: tuple[str, ...], times: int, settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(settings, OWN)
    hookctl(*(command if command == ("install",) else ("install",)), *HOST)
    if command in (("install",), ("doctor", "--fix")):
        put(settings, OWN)  # reset by somebody, so that there is something to write
    writes, real = [], run.execute

    def execute(*arguments: Any) -> None:
        if len(writes) < times:
            writes.append(f"X{len(writes)}")
            put(settings, json.dumps({**document(settings), writes[-1]: 1}))
        real(*arguments)

    monkeypatch.setattr(run, "execute", execute)
    outcome = hookctl(*command, *HOST)
    assert "changed_meanwhile" not in outcome.err
    here = document(settings)
    assert {key: here[key] for key in ("model", *writes)} == {"model": "m", **dict.fromkeys(writes, 1)}
    assert len(writes) == times
    assert ("hooks" in here) == (command != ("uninstall",))
    assert here.get("env", {}).get(LIMIT) == {"install": "5", "doctor": "5", "uninstall": None}[command[0]] or (
        "--set" in command and here["env"][LIMIT] == "9"
    )
