"""Programs that hookctl released are known by their digests; nobody vouches for any other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hookctl import __version__
from hookctl.packs import released
from hookctl.packs.programs import Programs
from hookctl.system.files import content_digest
from tests import digests_of_programs
from tests.conftest import Hookctl, put

SHARED = ("--host", "claude", "--scope", "project")
pytestmark = pytest.mark.usefixtures("fixed_python")


@pytest.fixture
def clone(isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a committed guard, on a machine that never wrote it."""
    (isolated / "work" / ".git").mkdir()
    assert hookctl("install", *SHARED).code == 0
    monkeypatch.setenv("HOOKCTL_STATE_DIR", str(isolated / "another machine"))
    return isolated / "work"


def commit_evil(clone: Path, name: str = "hook.py", version: str = "", text: str = "import os\n") -> None:
    """Put another program there, and its digest into the committed ledger."""
    folder, ledger = clone / ".hookctl" / "guard" / "claude", clone / ".hookctl" / "ledger.json"
    put(folder / name, text)
    page = json.loads(ledger.read_text())
    pack = page["files"][".claude/settings.json"]["packs"]["guard"]
    programs = {file: (folder / file).read_bytes() for file in pack["files"] if file != "config.json"}
    pack["digest"] = content_digest(b"", programs)
    pack["version"] = version or pack["version"]
    ledger.write_text(json.dumps(page))


def module_of(clone: Path) -> str:
    (path,) = (clone / ".hookctl" / "runtime").glob("guard_*/stop.py")
    return f"../../runtime/{path.parent.name}/{path.name}"


def codes(hookctl: Hookctl) -> dict[str, str]:
    return {finding["code"]: finding["level"] for finding in hookctl("doctor", "--json").data["findings"]}


def test_the_table_has_nothing_else_of_this_version() -> None:
    """Before its release it has no line, so that the guard may change; a release writes it."""
    table = json.loads(digests_of_programs.TABLE.read_text("ascii"))
    command = "python -m tests.digests_of_programs"
    assert table.get(__version__) in (None, digests_of_programs.digests()), f"`{command}` writes the line anew"


def test_the_programs_of_an_earlier_version_are_known(
    clone: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = json.dumps({"0.1.9": digests_of_programs.digests()}).encode()
    monkeypatch.setattr(released, "read_data", lambda *names: table)
    monkeypatch.setattr(released, "load_programs", lambda **_: Programs("", {}, {"hook.py": b"", "wrap.py": b""}))
    (file,) = hookctl("status", "--json").data["files"]
    assert file["program"] == "released"


def test_our_own_program_is_known(clone: Path, hookctl: Hookctl) -> None:
    assert not {"hook_unknown", "hook_newer", "hook_old"} & codes(hookctl).keys()
    (file,) = hookctl("status", "--json").data["files"]
    assert file["program"] == "released"


@pytest.mark.parametrize("where", ["launcher", "module", "added module"])
def test_a_program_that_only_a_committed_ledger_knows_is_an_error(clone: Path, hookctl: Hookctl, where: str) -> None:
    module = module_of(clone)
    names = {"launcher": "hook.py", "module": module, "added module": module.replace("stop.py", "stop2.py")}
    commit_evil(clone, names[where])
    assert codes(hookctl).get("hook_unknown") == "error"
    assert hookctl("doctor", "--host", "claude").code == 1
    told = hookctl("status")
    assert "is not a program that hookctl released" in told.out
    assert "blocks at most" not in told.out
    assert hookctl("status", "--json").data["files"][0]["program"] == "unknown"


def test_a_newer_program_is_named_as_such_where_its_record_says_so(clone: Path, hookctl: Hookctl) -> None:
    commit_evil(clone, version="99.0.0")
    found = codes(hookctl)
    assert found.get("hook_newer") == "warning" and "hook_unknown" not in found
    told = hookctl("status").out
    assert "99.0.0" in told
    assert hookctl("doctor", "--strict").code == 1


@pytest.mark.parametrize("version", ["0.0.1", "99", "99.x", "99.0.0 "])
def test_no_other_version_excuses_a_program(clone: Path, hookctl: Hookctl, version: str) -> None:
    commit_evil(clone, version=version)
    assert codes(hookctl).get("hook_unknown") == "error"


def test_a_newer_version_excuses_no_program_that_its_record_does_not_name(clone: Path, hookctl: Hookctl) -> None:
    commit_evil(clone, version="99.0.0")
    put(clone / ".hookctl" / "guard" / "claude" / "hook.py", "import sys\n")
    assert codes(hookctl).get("hook_unknown") == "error"


@pytest.mark.parametrize("scope", ["user", "local", "project"])
def test_an_edited_program_is_an_error_at_every_scope(hookctl: Hookctl, isolated: Path, scope: str) -> None:
    (isolated / "work" / ".git").mkdir()
    assert hookctl("install", "--host", "claude", "--scope", scope).code == 0
    (program,) = isolated.rglob("hook.py")
    program.write_text(program.read_text() + "# mine\n")
    assert codes(hookctl).get("hook_unknown") == "error"
    assert "is not a program that hookctl released" in hookctl("status").out


def test_a_wrapping_program_is_looked_at_too(hookctl: Hookctl, isolated: Path, settings: Path) -> None:
    hook = {"hooks": [{"type": "command", "command": "say done"}]}
    put(settings, json.dumps({"hooks": {"Stop": [hook]}}))
    assert hookctl("install", "--host", "claude", "--wrap", "say done").code == 0
    assert "hook_unknown" not in codes(hookctl)
    (program,) = isolated.rglob("wrap.py")
    program.write_text("import os\n")
    assert codes(hookctl).get("hook_unknown") == "error"


def test_an_unknown_program_is_not_started(clone: Path, hookctl: Hookctl, isolated: Path) -> None:
    marker = isolated / "started"
    commit_evil(clone, text=f"open({str(marker)!r}, 'w')\n")
    hookctl("doctor")
    hookctl("status")
    assert not marker.exists()


def test_the_table_is_read_where_it_is_needed_only() -> None:
    program = (
        "import sys; from hookctl.__main__ import run; run(['plan', '--host', 'claude']); "
        "print('hookctl.packs.released' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.endswith("False\n"), done.stderr
