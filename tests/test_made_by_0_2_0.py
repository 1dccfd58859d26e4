"""What 0.2.0 itself left is read, goes on, is upgraded and given back: a black box, through today's command line."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from hookctl.__main__ import run
from tests import made_by_0_2_0 as made
from tests.made_by_0_2_0 import CASES, TOP, Case, Hook

if sys.platform != "linux":
    pytest.skip("the records have the paths of a Linux machine", allow_module_level=True)
if not os.access(made.PYTHON, os.X_OK):
    pytest.skip(f"the records name {made.PYTHON}", allow_module_level=True)

TRACED = "claude user traced"
WAYS = {"at once": [], "upgraded": ["upgrade --yes"]}


@pytest.fixture(params=CASES)
def name(request: pytest.FixtureRequest) -> Iterator[str]:
    with made.place(request.param):
        made.lay(request.param)
        yield request.param


@pytest.fixture
def top(name: str) -> Path:
    return TOP / name


@pytest.fixture
def case(name: str) -> Case:
    return CASES[name]


@pytest.fixture
def hookctl(
    top: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., str]]:
    """Today's command line in the case's project, with nothing else in its environment."""

    def call(words: list[str]) -> tuple[int, str]:
        capsys.readouterr()
        code = run(words)
        return code, capsys.readouterr().out

    monkeypatch.chdir(top / "project")
    with mock.patch.dict(os.environ, made.environment(top), clear=True):
        yield lambda command, *codes: made.call(call, command, codes or (0,))


def data(answer: str) -> Any:
    return json.loads(answer)["data"]


def files(top: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and bytes of every file but hookctl's own folders, and the work in hand."""
    own = {top / "home/.local", top / "home/rung", top / "project/.hookctl/run", top / "project/.hookctl/.gitignore"}
    paths = [path for part in ("home", "project") for path in sorted((top / part).rglob("*")) if path.is_file()]
    kept = [path for path in paths if not own & {path, *path.parents}]
    return {str(path.relative_to(top)): (path.stat().st_mode & 0o777, path.read_bytes()) for path in kept}


def given_back(top: Path, case: Case) -> dict[str, tuple[int, bytes]]:
    """The files as they were before 0.2.0's first write, with what its operator changed since."""
    found = {"project/.git/HEAD": (0o644, b"ref: refs/heads/main\n")}
    for path in sorted((top / "before").rglob("*")):
        if path.is_file():
            found[str(path.relative_to(top / "before"))] = 0o644, path.read_bytes()
    for file, old, new in case.left:
        assert old.encode() in found[file][1], (file, old)
        found[file] = 0o644, found[file][1].replace(old.encode(), new.encode(), 1)
    return found


def compared(found: dict[str, tuple[int, bytes]], is_written: bool = True) -> dict[str, tuple[int, bytes]]:
    """The files; where a hook came back into one that was written since, without the blanks round it."""
    mode, text = found.get("home/.claude/settings.json", (0, b""))
    if is_written and b"check-it" in text:
        found = {**found, "home/.claude/settings.json": (mode, re.sub(rb"\[\s+{", b"[{", text))}
    return found


def answers(hooks: list[Hook], top: Path) -> dict[str, str]:
    return {hook.name: made.ask(hook, top) for hook in hooks}


def registered_by(name: str) -> set[str]:
    """The hooks of hookctl that a case has."""
    return {hook.name for hook in made.said(name)[0]} - {TRACED}


def rung(top: Path) -> int:
    """How many hooks of the pack really ran."""
    path = top / "home/rung"
    return len(path.read_text().splitlines()) if path.exists() else 0


def places(case: Case) -> set[tuple[str, str]]:
    """The settings in which the case's guard is."""
    shared = {(host, "project") for host in case.hosts if host not in case.users_only}
    local = {("claude", "local")} if "claude" in case.hosts else set()
    return {(host, "user") for host in case.hosts} | shared | local


def test_it_is_read(top: Path, name: str, case: Case, hookctl: Callable[..., str]) -> None:
    before = files(top)
    status = hookctl("status --all --json")
    assert {(file["host"], file["scope"]) for file in data(status)["files"] if "guard" in file["packs"]} == places(case)
    assert {hook.name for hook in made.registered(status)} == registered_by(name)
    codes = {finding["code"] for finding in data(hookctl("doctor --all --json", 0, 1))["findings"]}
    assert not {code for code in codes if code.startswith("ledger") or "unreadable" in code}
    hooks = data(hookctl("hooks --json"))["hooks"]
    listed = {f"{hook['host']} {hook['scope']} {hook['name']}" for hook in hooks if hook["name"]}
    assert {hook for hook in registered_by(name) if "wrap-" not in hook} <= listed
    assert files(top) == before


def test_its_commands_answer_after_an_upgrade_and_so_do_the_new_ones(
    top: Path, name: str, hookctl: Callable[..., str]
) -> None:
    """An open session holds the old commands; what people removed stays away."""
    old, expected = made.said(name)
    assert with_old_commands(top)
    ran = sum("bell/" in hook.name for hook in old)
    hookctl("upgrade --yes")
    hooks = data(hookctl("hooks --json"))["hooks"]
    assert "theirs --look" in {hook["command"] for hook in hooks} or name != "claude", "it was traced"
    found = {finding["code"] for finding in data(hookctl("check --json", 0, 1))["findings"]}
    assert found <= {"entry_missing", "entries_wiped"}  # what is disabled
    found = {finding["code"] for finding in data(hookctl("doctor --all --json", 0, 1))["findings"]}
    assert not found & {"hook_changed", "hook_old"}, "its programs stay beside ours, for open sessions"
    assert silent(answers(old, top)) == silent(expected)
    assert rung(top) == ran
    new = made.registered(hookctl("status --all --json"))
    assert {hook.name for hook in new} == registered_by(name)
    assert not with_old_commands(top)
    hookctl("run start --remaining 3")
    assert silent(answers(new, top)) == silent({hook.name: expected[hook.name] for hook in new})
    assert rung(top) == 2 * ran


def with_old_commands(top: Path) -> list[str]:
    """The files with a command in 0.2.0's form; that of a wrapped hook is the same."""
    old = re.compile(rb": hookctl=(?!guard/wrap-|chime/)[^;]*; \[ -f ")
    return [name for name, (_, content) in files(top).items() if old.search(content) and "ledger" not in name]


def silent(said: dict[str, str]) -> dict[str, bool]:
    """Which commands say nothing; the words of others may be new ones, but are an object."""
    assert all(isinstance(json.loads(answer or "{}"), dict) for answer in said.values())
    return {name: not answer for name, answer in said.items()}


def test_installed_again_nothing_is_lost(top: Path, case: Case, hookctl: Callable[..., str]) -> None:
    def install() -> dict[str, tuple[int, bytes]]:
        for scope in ("user", "project", "local"):
            hosts = [f"--host {host}" for host, where in sorted(places(case)) if where == scope]
            if hosts:
                hookctl(f"install --yes --scope {scope} {' '.join(hosts)}", 0, 1)  # 1: where it is disabled
        return files(top)

    again = install()
    assert install() == again
    for file, new in case.edits:
        assert new.encode() in again[file][1], (file, new)
    hookctl("uninstall --all --yes")
    assert compared(files(top)) == compared(given_back(top, case))


@pytest.mark.parametrize("way", WAYS)
def test_all_of_it_is_taken_out(way: str, top: Path, case: Case, hookctl: Callable[..., str]) -> None:
    """Also what is disabled is back, and what is traced or wrapped has its own bytes."""
    for command in WAYS[way]:
        hookctl(command)
    hookctl("uninstall --all --yes")
    is_written = way == "upgraded"
    assert compared(files(top), is_written) == compared(given_back(top, case), is_written)
    assert not (top / "home/.local/share").exists()
    assert not [path for path in top.rglob("*") if path.is_dir() and not any(path.iterdir())]


@pytest.mark.parametrize("way", WAYS)
def test_it_is_taken_out_of_files_that_others_write_too(
    way: str, top: Path, case: Case, hookctl: Callable[..., str]
) -> None:
    """No backup can be put back: each entry is taken out by itself."""
    for command in WAYS[way]:
        hookctl(command)
    expected = given_back(top, case)
    for file in [*expected]:
        if not file.endswith((".md", "/HEAD")):
            path = top / file
            path.write_bytes(path.read_bytes() + b"\n")
            expected[file] = 0o644, expected[file][1] + b"\n"
    hookctl("uninstall --all --yes")
    assert compared(files(top)) == compared(expected)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_disabled_comes_back(way: str, top: Path, name: str, case: Case, hookctl: Callable[..., str]) -> None:
    for command in WAYS[way]:
        hookctl(command)
    ids = " ".join(case.disabled)
    assert "disabled" in states(hookctl)
    hookctl(f"enable {ids}")
    assert "disabled" not in states(hookctl)
    assert {hook.name for hook in made.registered(hookctl("status --all --json"))} == registered_by(name)
    hookctl("upgrade --yes")
    assert not with_old_commands(top)
    hookctl("uninstall --all --yes")
    assert without_blanks(files(top)) == without_blanks(given_back(top, case))


def without_blanks(found: dict[str, tuple[int, bytes]]) -> dict[str, bytes]:
    """The files, but for the blanks round a hook that came back beside what an upgrade had changed."""
    return {name: b"".join(content.split()) for name, (_, content) in found.items()}


def states(hookctl: Callable[..., str]) -> set[str]:
    return {hook["state"] for hook in data(hookctl("hooks --json"))["hooks"]}
