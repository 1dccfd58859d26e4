"""An upgrade of the installed hook: launcher, package and bytecode give way to those of another version."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl.packs import programs
from hookctl.system.packages import name_package

from .conftest import Hookctl, put
from .e2e.product import git

pytestmark = pytest.mark.usefixtures("fixed_python")

INSTALL = ("install", "--host", "claude")


def stop(settings: Path, project: Path, active: bool, prompt: str = "p") -> str:
    """A stop, by the command that stands in the settings: Block, Release or Allow."""
    (command,) = re.findall(r'"(: hookctl=guard/stop; (?:[^"\\]|\\.)*)"', settings.read_text())
    payload = {"session_id": "s", "cwd": str(project), "prompt_id": prompt, "stop_hook_active": active}
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

Upgrade = Callable[[], str]


@pytest.fixture
def upgrade(monkeypatch: pytest.MonkeyPatch) -> Iterator[Upgrade]:
    """Make this another version, with a module more in its package; the name of its package."""

    def forget() -> None:
        programs.load_programs.cache_clear()
        programs.load_runner.cache_clear()

    known, versions = programs._read_modules, iter(range(9))

    def make_later() -> str:
        name = f"later{next(versions)}.py"
        monkeypatch.setattr(programs, "_read_modules", lambda: {**known(), name: b'"""More."""\n'})
        forget()
        return programs.load_programs(wrapper=False).package

    yield make_later
    monkeypatch.undo()
    forget()


def packages(top: Path) -> set[str]:
    """The packages in a data folder, or in the `.hookctl` of a project."""
    return {path.name for path in (top / "runtime").iterdir()}


def named_by(launcher: Path) -> str:
    (name,) = re.findall(r'^PACKAGE = "../../runtime/(\w+)"', launcher.read_text(), re.MULTILINE)
    return name


def run(isolated: Path, settings: Path) -> Path:
    """Let the hook run, so that Python keeps its bytecode; the folder with it."""
    put(isolated / "work" / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
    assert stop(settings, isolated / "work", False) == "B"
    name = named_by(isolated / "data" / "guard" / "claude-user" / "hook.py")
    return isolated / "data" / "runtime" / name / "__pycache__"


def test_an_upgrade_puts_the_whole_package_there_before_the_launcher_names_it(
    upgrade: Upgrade, hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hookctl.system import files

    assert hookctl(*INSTALL).code == 0
    new = upgrade()
    modules = programs.load_programs(wrapper=False).modules
    steps: list[str] = []
    replace = files.replace

    def noted(there: files.Snapshot, data: bytes | None, **options: Any) -> None:
        package = isolated / "data" / "runtime" / new
        assert {path.name: path.read_bytes() for path in package.iterdir()} == modules
        steps.append(Path(there.path).name)
        replace(there, data, **options)

    monkeypatch.setattr(files, "replace", noted)
    assert hookctl(*INSTALL).code == 0
    assert steps == ["hook.py"]
    assert named_by(isolated / "data" / "guard" / "claude-user" / "hook.py") == new


def test_an_upgrade_for_one_host_moves_the_launchers_of_the_others_too(
    upgrade: Upgrade, hookctl: Hookctl, isolated: Path
) -> None:
    for host in ("claude", "gemini"):
        assert hookctl("install", "--host", host).code == 0
    new = upgrade()
    assert hookctl(*INSTALL).code == 0
    launchers = list((isolated / "data" / "guard").glob("*/hook.py"))
    assert [named_by(path) for path in launchers] == [new, new]


def test_bytecode_goes_with_its_package(upgrade: Upgrade, hookctl: Hookctl, isolated: Path, settings: Path) -> None:
    assert hookctl(*INSTALL).code == 0
    old = run(isolated, settings)
    for _ in range(2):
        upgrade()
        assert hookctl(*INSTALL).code == 0
    assert not old.parent.exists()
    run(isolated, settings)
    assert hookctl("uninstall", "--host", "claude").code == 0
    assert not (isolated / "data").exists()


def test_a_package_that_a_merge_left_behind_goes_with_the_next_install(hookctl: Hookctl, isolated: Path) -> None:
    shared = ("install", "--host", "claude", "--scope", "project")
    assert hookctl(*shared).code == 0
    (package,) = (isolated / "work" / ".hookctl" / "runtime").iterdir()
    (modules := {"a.py": b"A = 1\n"})
    older = package.with_name(name_package("guard", modules))
    put(older / "a.py", modules["a.py"])
    assert hookctl("check").code == 0  # nothing runs it
    assert "- program files" in hookctl(*shared).out
    assert packages(package.parents[1]) == {package.name}
    put(older / "a.py", b"A = 2\n")
    assert "stray_file" in [finding["code"] for finding in hookctl("check", "--json").data["findings"]]


@pytest.mark.parametrize("repair", [("install", "--host", "claude"), ("doctor", "--fix")])
@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("is_older", [False, True])
def test_a_launcher_whose_package_is_missing_is_an_error_and_repaired(
    upgrade: Upgrade, hookctl: Hookctl, isolated: Path, repair: tuple[str, ...], scope: str, is_older: bool
) -> None:
    (isolated / "work" / ".git").mkdir()
    assert hookctl(*INSTALL, "--scope", scope).code == 0
    top = isolated / ("data" if scope == "user" else "work/.hookctl")
    shutil.rmtree(top / "runtime")
    new = upgrade() if is_older else programs.load_programs(wrapper=False).package
    for verb in ("doctor", "check") if scope == "project" else ("doctor",):
        outcome = hookctl(verb, "--json")
        assert "hook_missing" in [finding["code"] for finding in outcome.data["findings"]] and outcome.code == 1, verb
    assert hookctl(*repair, *(("--scope", scope) if repair[0] == "install" else ())).code == 0
    assert packages(top) == {new}
    assert "hook_missing" not in [finding["code"] for finding in hookctl("doctor", "--json").data["findings"]]


def test_an_edited_launcher_keeps_the_package_that_it_names(
    upgrade: Upgrade, hookctl: Hookctl, settings: Path, isolated: Path
) -> None:
    assert hookctl(*INSTALL).code == 0
    upgrade()
    hook = isolated / "data" / "guard" / "claude-user" / "hook.py"
    hook.write_text(hook.read_text() + "# mine\n")
    outcome = hookctl(*INSTALL)
    assert "edited by hand, so it stays" in outcome.out
    run_folder = isolated / "work"
    put(run_folder / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
    assert stop(settings, run_folder, False) == "B"
    assert hookctl(*INSTALL, "--force").code == 0
    assert named_by(hook) == programs.load_programs(wrapper=False).package


# Under fire.


def test_calls_in_a_loop_never_miss_an_upgrade(
    upgrade: Upgrade, hookctl: Hookctl, isolated: Path, settings: Path
) -> None:
    """Each of them blocks: it finds the package whole that its launcher names, or the next one."""
    assert hookctl(*INSTALL).code == 0
    answers: list[str] = []
    is_over = threading.Event()

    def call(number: int) -> None:
        project = isolated / f"project{number}"
        put(project / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
        while not is_over.is_set():
            answers.append(stop(settings, project, False, f"prompt {len(answers)}"))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(6):
        before = len(answers)
        upgrade()
        assert hookctl(*INSTALL).code == 0
        while len(answers) < before + 4:  # so that calls stand between upgrades, and in them
            time.sleep(0.01)
    is_over.set()
    for thread in threads:
        thread.join()
    assert set(answers) == {"B"}
    # A call may keep a package from being removed: it goes with the next upgrade.
    upgrade()
    assert hookctl(*INSTALL).code == 0
    assert len(packages(isolated / "data")) == 2


def test_two_installs_at_once_with_other_state_folders_share_the_runtime_of_a_project(
    hookctl: Hookctl, process: Hookctl, isolated: Path
) -> None:
    """As of two people, or of a person and a container, in one checkout."""
    (isolated / "work" / ".git").mkdir()
    for _ in range(4):
        for verb in (("install",), ("uninstall",)):
            installs = []
            for host in ("claude", "gemini"):
                words = [sys.executable, "-m", "hookctl", *verb, "--host", host, "--scope", "project"]
                environ = {**os.environ, "HOOKCTL_STATE_DIR": str(isolated / host)}
                installs.append(subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
            outputs = [install.communicate()[0].decode() for install in installs]
            assert [install.returncode for install in installs] == [0, 0], outputs
            own = isolated / "work" / ".hookctl"
            launchers = list(own.glob("guard/*/hook.py"))
            assert len(launchers) == (2 if verb == ("install",) else 0)
            if launchers:
                assert {named_by(path) for path in launchers} == packages(own)
                assert hookctl("check", "--require", "guard").code == 0
        assert not own.exists(), ([str(p) for p in own.rglob("*")], outputs)


@pytest.fixture
def branches(upgrade: Upgrade, hookctl: Hookctl, isolated: Path) -> Path:
    """A repository whose branches `ours` and `theirs` have upgraded the guard to different versions."""
    project = isolated / "work"
    git(project, "init", "-q", "-b", "main")
    assert hookctl(*INSTALL, "--scope", "project").code == 0
    commit(project, "install")
    for branch in ("theirs", "ours"):
        git(project, "checkout", "-q", "-b", branch, "main")
        upgrade()
        assert hookctl(*INSTALL, "--scope", "project").code == 0
        commit(project, branch)
    return project


def commit(project: Path, message: str) -> None:
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", message)


def block(project: Path) -> str:
    """What the hook of a project answers while work remains."""
    put(project / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
    return stop(project / ".claude" / "settings.json", project, False)


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_merge_of_two_runtimes_is_one_after_the_next_upgrade(hookctl: Hookctl, branches: Path, side: str) -> None:
    """By the recipe of docs/teams.md."""
    with pytest.raises(AssertionError):
        git(branches, "merge", "-q", "theirs")
    assert hookctl("check").code == 1  # the launcher and the record have conflict marks
    git(branches, "checkout", f"--{side}", ".hookctl/guard", ".hookctl/ledger.json")
    assert hookctl("upgrade", "--project", ".", "--yes").code == 0
    assert hookctl("check", "--require", "guard").code == 0
    own = branches / ".hookctl"
    assert packages(own) == {named_by(own / "guard" / "claude" / "hook.py")}
    assert block(branches) == "B"


def test_the_branch_of_a_colleague_brings_its_own_runtime(hookctl: Hookctl, branches: Path) -> None:
    """In each the hook runs, and nothing of the other stays behind in the checkout."""
    own = branches / ".hookctl"
    for branch in ("main", "theirs", "ours", "main"):
        git(branches, "checkout", "-q", branch)
        assert block(branches) == "B"
        assert packages(own) == {named_by(own / "guard" / "claude" / "hook.py")}
        assert git(branches, "status", "--porcelain") == ""
