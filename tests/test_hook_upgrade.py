"""An upgrade of the installed hook: launcher, package and bytecode give way to those of another version."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl.packs.programs import load_programs

from .conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")

INSTALL = ("install", "--host", "claude")


def stop(settings: Path, project: Path, active: bool) -> str:
    """A stop, by the command that stands in the settings: Block, Release or Allow."""
    (command,) = re.findall(r'"(: hookctl=guard/stop; (?:[^"\\]|\\.)*)"', settings.read_text())
    payload = {"session_id": "s", "cwd": str(project), "prompt_id": "p", "stop_hook_active": active}
    env = {**os.environ, "MAX_STOP_BLOCKS": "5", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "8"}
    env |= {"CLAUDE_PROJECT_DIR": str(project)}
    call = ["sh", "-c", json.loads(f'"{command}"')]
    done = subprocess.run(call, input=json.dumps(payload), capture_output=True, text=True, env=env, cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout or "{}")
    return "B" if "decision" in answer else "R" if answer else "A"


def test_a_host_table_that_somebody_changed_is_renewed(isolated: Path, hookctl: Hookctl) -> None:
    """It is hookctl's own, unlike the settings beside it."""
    path = isolated / "data" / "guard" / "claude-user" / "config.json"
    assert hookctl(*INSTALL).code == 0
    whole = path.read_text()
    put(path, whole.replace("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "ANOTHER"))
    assert hookctl(*INSTALL).code == 0
    assert path.read_text() == whole


# From one package to the next.


@pytest.fixture
def upgraded(isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Path]]:
    """Make this a version with another package; the folder of the guard."""
    assert hookctl(*INSTALL).code == 0

    def upgrade() -> Path:
        from hookctl.packs import programs

        known = programs._modules
        monkeypatch.setattr(programs, "_modules", lambda: {**known(), "later.py": b'"""More."""\n'})
        programs.load_programs.cache_clear()
        return isolated / "data" / "guard" / "claude-user"

    yield upgrade
    monkeypatch.undo()
    load_programs.cache_clear()


def run(folder: Path, settings: Path) -> Path:
    """Let the hook run, so that Python keeps its bytecode; the folder with it."""
    put(folder.parents[2] / "work" / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
    assert stop(settings, folder.parents[2] / "work", False) == "B"
    (cache,) = folder.glob("guard_*/__pycache__")
    return cache


def test_an_upgrade_replaces_the_launcher_between_the_new_package_and_the_end_of_the_old(
    upgraded: Callable[[], Path], hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, settings: Path
) -> None:
    from hookctl.system import files

    (old,) = {name.rpartition("/")[0] for name in load_programs(wrapper=False).package}
    folder = upgraded()
    run(folder, settings)
    (new,) = {name.rpartition("/")[0] for name in load_programs(wrapper=False).package}
    steps: list[str] = []
    replace = files.replace

    def noted(there: files.Snapshot, data: bytes | None, **options: Any) -> None:
        name = os.path.relpath(there.path, folder).partition("/")[0]
        steps.append(("-" if data is None else "+") + name)
        replace(there, data, **options)

    monkeypatch.setattr(files, "replace", noted)
    assert hookctl(*INSTALL).code == 0
    assert list(dict.fromkeys(steps)) == [f"+{new}", "+hook.py", f"-{old}"]
    assert [path.name for path in folder.glob("guard_*")] == [new]


def test_bytecode_that_a_call_leaves_behind_an_upgrade_goes_with_the_next(
    upgraded: Callable[[], Path], hookctl: Hookctl, settings: Path
) -> None:
    folder = upgraded()
    cache = run(folder, settings)
    assert hookctl(*INSTALL).code == 0
    put(cache / "stop.cpython-311.pyc", b"from a call that began before")
    assert hookctl(*INSTALL).code == 0
    assert not cache.parent.exists()
    put(cache / "stop.cpython-311.pyc", b"once more")
    assert hookctl("uninstall", "--host", "claude").code == 0
    assert not folder.exists()


def test_an_empty_folder_for_bytecode_goes_and_what_is_linked_there_stays(
    hookctl: Hookctl, isolated: Path, settings: Path
) -> None:
    assert hookctl(*INSTALL).code == 0
    folder = isolated / "data" / "guard" / "claude-user"
    (package,) = folder.glob("guard_*")
    (package / "__pycache__").mkdir()
    mine = put(isolated / "mine" / "__pycache__" / "a.pyc", b"mine")
    linked = folder / "guard_0123456789abcdef"
    linked.symlink_to(mine.parents[1])
    (package / "__pycache__" / "b.pyc").symlink_to(mine)
    assert hookctl("uninstall", "--host", "claude").code == 0
    assert mine.read_bytes() == b"mine"
    (package / "__pycache__" / "b.pyc").unlink()
    linked.unlink()
    assert hookctl(*INSTALL).code == 0
    assert hookctl("uninstall", "--host", "claude").code == 0
    assert not folder.exists()


def test_bytecode_in_a_project_is_not_ours(hookctl: Hookctl, isolated: Path) -> None:
    """hookctl never makes it there: it is somebody else's, like any other file."""
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    (package,) = (isolated / "work" / ".hookctl" / "guard" / "claude").glob("guard_*")
    theirs = put(package / "__pycache__" / "stop.cpython-311.pyc", b"theirs")
    assert hookctl("uninstall", "--host", "claude", "--scope", "project").code == 0
    assert theirs.exists() and [path.name for path in package.iterdir()] == ["__pycache__"]


def test_an_edited_launcher_keeps_the_package_that_it_names(
    upgraded: Callable[[], Path], hookctl: Hookctl, settings: Path, isolated: Path
) -> None:
    folder = upgraded()
    hook = folder / "hook.py"
    hook.write_text(hook.read_text() + "# mine\n")
    outcome = hookctl(*INSTALL)
    assert "edited by hand, so it stays" in outcome.out
    run_folder = isolated / "work"
    put(run_folder / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
    assert stop(settings, run_folder, False) == "B"
    assert hookctl(*INSTALL, "--force").code == 0
    assert len(list(folder.glob("guard_*/stop.py"))) == 1


def test_an_edited_module_stays_until_force(hookctl: Hookctl, isolated: Path) -> None:
    assert hookctl(*INSTALL).code == 0
    (module,) = isolated.glob("data/guard/claude-user/guard_*/answers.py")
    whole = module.read_bytes()
    module.write_bytes(whole + b"# mine\n")
    assert "hook_unknown" in [f["code"] for f in hookctl("doctor", "--json").data["findings"]]
    assert hookctl(*INSTALL).code == 0
    assert module.read_bytes() != whole
    assert hookctl(*INSTALL, "--force").code == 0
    assert module.read_bytes() == whole


def test_a_module_that_is_gone_is_missed_and_put_back(hookctl: Hookctl, isolated: Path) -> None:
    assert hookctl(*INSTALL).code == 0
    (module,) = isolated.glob("data/guard/claude-user/guard_*/answers.py")
    module.unlink()
    assert "hook_missing" in [f["code"] for f in hookctl("doctor", "--json").data["findings"]]
    hookctl("doctor", "--fix")
    assert module.exists()
    assert "self_test_passed" in [f["code"] for f in hookctl("doctor", "--json").data["findings"]]
