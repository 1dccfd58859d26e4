"""One launcher for everything in a data folder or a project: what lies there, its upgrades, and its faults."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hookctl as package_of_hookctl
from hookctl import __version__
from hookctl.packs import guard, programs
from tests import digests_of_programs
from tests.manifest import hook, manifest

from .conftest import Hookctl, Outcome, put

PACK = manifest("{name}", hook("PreToolUse", "sh {{files}}/no.sh", matcher="Bash"), files=["no.sh"])
CALL = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "rm"}}
SCOPES = pytest.mark.parametrize("scope", ["user", "project"])


class Place:
    """A project and a home, packs that refuse every command of the shell, and the way to ask hooks as the host does."""

    def __init__(self, root: Path, hookctl: Hookctl) -> None:
        self.root, self.hookctl, self.project = root, hookctl, root / "work"
        (self.project / ".git").mkdir()
        for name in ("one", "two"):
            put(root / name / "no.sh", f'echo "no by {name}" >&2\nexit 2\n')
            put(root / name / "pack.toml", PACK.format(name=name))

    def install(self, name: str, scope: str = "user", *more: str) -> Outcome:
        pack = () if name == "guard" else (str(self.root / name), "--yes")
        return self.hookctl("install", *pack, "--host", "claude", "--scope", scope, *more)

    def top(self, scope: str) -> Path:
        return self.project / ".hookctl" if scope == "project" else self.root / "data"

    def settings(self, scope: str) -> Path:
        home = self.project if scope in ("project", "local") else Path(os.environ["HOME"])
        return home / ".claude" / ("settings.local.json" if scope == "local" else "settings.json")

    def ask(self, scope: str, event: str, payload: dict[str, Any]) -> list[dict[str, Any]]:
        """What the hooks of an event answer, by their registered commands."""
        answers = []
        environ = {"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"], "CLAUDE_PROJECT_DIR": payload["cwd"]}
        for group in json.loads(self.settings(scope).read_text())["hooks"][event]:
            done = subprocess.run(
                ["sh", "-c", group["hooks"][0]["command"]], input=json.dumps(payload), capture_output=True, text=True,
                env=environ, cwd=self.project,
            )  # fmt: skip
            assert done.returncode == 0
            answers.append(json.loads(done.stdout or "{}"))
        return answers

    def asked(self, scope: str = "user") -> list[str]:
        """The reasons of the packs that refuse a call."""
        answers = self.ask(scope, "PreToolUse", {**CALL, "cwd": str(self.project)})
        return [answer.get("hookSpecificOutput", {}).get("permissionDecisionReason", "") for answer in answers]

    def blocks(self, scope: str, prompt: str = "p", project: Path | None = None) -> bool:
        """Whether the guard blocks a stop while work remains."""
        project = project or self.project
        put(project / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
        (answer,) = self.ask(scope, "Stop", {"session_id": "s", "prompt_id": prompt, "cwd": str(project)})
        return answer.get("decision") == "block"

    def codes(self, *arguments: str) -> list[tuple[str, str]]:
        """Code and file of each error that a command finds."""
        found = self.hookctl(*arguments, "--json").data["findings"]
        return [(one["code"], Path(one["path"]).name) for one in found if one["level"] == "error"]


@pytest.fixture
def place(isolated: Path, hookctl: Hookctl, fixed_python: None) -> Place:
    return Place(isolated, hookctl)


def content(top: Path) -> dict[str, bytes]:
    """The programs below a folder of hookctl's."""
    paths = [path for path in (top / "hook.py", *top.glob("runtime/**/*")) if path.is_file() and path.suffix != ".pyc"]
    return {str(path.relative_to(top)): path.read_bytes() for path in paths}


def packages(top: Path) -> set[str]:
    return {path.name for path in top.glob("runtime/*_*")}


# What lies there
@pytest.mark.parametrize("order", [("one", "two", "guard"), ("guard", "two", "one"), ("two", "guard", "one")])
@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_what_stays_always_answers_and_the_last_one_takes_everything_along(
    place: Place, scope: str, order: tuple[str, ...]
) -> None:
    staying = ["guard", "one", "two"]
    for name in staying:
        assert place.install(name, scope).code == 0
    for name in order:
        assert place.asked(scope) == [f"no by {pack}" for pack in staying if pack != "guard"]
        assert "guard" not in staying or place.blocks(scope)
        assert place.hookctl("uninstall", name, "--scope", scope).code == 0
        staying.remove(name)
        if staying == ["guard"]:
            break
    place.hookctl("uninstall", "--all", "--yes")
    assert not place.top(scope).exists() or scope == "project"
    assert not content(place.project / ".hookctl")
    assert not place.settings(scope).exists()


# What doctor and check say, and what an install writes anew
def other_version(top: Path, version: str) -> None:
    launcher = top / "hook.py"
    launcher.write_text(launcher.read_text().replace(f'VERSION = "{__version__}"', f'VERSION = "{version}"'))


@SCOPES
def test_the_programs_of_a_newer_hookctl_stay_until_they_are_replaced_by_force(place: Place, scope: str) -> None:
    place.install("one", scope)
    top = place.top(scope)
    ours = content(top)
    other_version(top, "9.0.0")
    newer = content(top)
    assert place.asked(scope) == ["no by one"]
    found = place.hookctl("doctor", "--scope", scope, "--json").data["findings"]
    assert ("hook_newer", "warning") in [(one["code"], one["level"]) for one in found]
    refused = place.install("two", scope)
    assert (refused.code, "hookctl 9.0.0 wrote the programs" in refused.err) == (1, True)
    place.hookctl("doctor", "--fix", "--scope", scope)
    assert content(top) == newer
    assert place.install("two", scope, "--force").code == 0
    assert content(top)["hook.py"] == ours["hook.py"]
    assert place.asked(scope) == ["no by one", "no by two"]
    other_version(top, "9.0.0")
    assert place.hookctl("uninstall", "two", "--scope", scope).code == 0
    assert place.asked(scope) == ["no by one"]


def test_the_table_of_releases_has_nothing_else_of_this_version() -> None:
    """Before its release it has no line, so that the programs may change; a release writes it."""
    table = json.loads(digests_of_programs.TABLE.read_text("ascii"))
    command = "python -m tests.digests_of_programs"
    assert table.get(__version__) in (None, digests_of_programs.digests()), f"`{command}` writes the line anew"


# From one version to the next

Upgrade = Callable[[], set[str]]


@pytest.fixture
def upgrade(monkeypatch: pytest.MonkeyPatch) -> Iterator[Upgrade]:
    """Make this a later version, with a module more in each package; the names of its packages."""
    known, versions = programs.read_folder, iter(range(1, 9))

    def make_later() -> set[str]:
        number = next(versions)
        for module in (package_of_hookctl, programs, guard):
            monkeypatch.setattr(module, "__version__", f"{__version__}.{number}")
        more = {f"later{number}.py": b'"""More."""\n'}
        monkeypatch.setattr(programs, "read_folder", lambda *path, ending: {**known(*path, ending=ending), **more})
        programs.load_programs.cache_clear()
        return {*programs.load_programs().guard, *programs.load_programs().runner}

    yield make_later
    monkeypatch.undo()
    programs.load_programs.cache_clear()


@SCOPES
def test_the_package_before_stays_until_the_next_upgrade_but_not_in_a_project(
    place: Place, upgrade: Upgrade, scope: str
) -> None:
    place.install("guard", scope)
    assert place.blocks(scope)  # so that Python keeps its bytecode there, too
    before = packages(place.top(scope))
    for _ in range(2):
        upgrade()
        for _ in range(2):  # the second one finds nothing to do
            assert place.install("guard", scope).code == 0
        now = packages(place.top(scope))
        assert before < now if scope == "user" else len(now) == 1 and not before & now
        before = now - before
    assert place.blocks(scope, "another")
    assert place.hookctl("uninstall", "--scope", scope).code == 0
    assert not content(place.top(scope))


def test_calls_in_a_loop_never_miss_an_upgrade(place: Place, upgrade: Upgrade) -> None:
    """Each of them blocks: it finds the package whole that its launcher names, or the next one."""
    place.install("guard")
    answers: list[bool] = []
    is_over = threading.Event()

    def call(number: int) -> None:
        project = place.root / f"project{number}"
        while not is_over.is_set():
            answers.append(place.blocks("user", f"prompt {len(answers)}", project))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        before = len(answers)
        upgrade()
        assert place.install("guard").code == 0
        while len(answers) < before + 4:  # so that calls stand between upgrades, and in them
            time.sleep(0.01)
    is_over.set()
    for thread in threads:
        thread.join()
    assert set(answers) == {True}


def test_a_projects_table_does_not_say_where_the_runner_writes(place: Place) -> None:
    place.install("one", "project")
    table, elsewhere = place.top("project") / "runtime/hosts.json", place.root / "elsewhere"
    table.write_text(json.dumps({**json.loads(table.read_text()), "state_dir": str(elsewhere)}))
    assert place.asked("project") == ["no by one"]
    assert not elsewhere.exists()
    assert [*Path(os.environ["HOME"], ".local/state/hookctl/guard").glob("*/runs.jsonl")]
