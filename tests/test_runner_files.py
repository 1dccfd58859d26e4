"""The runner's files: a stranger's project decides nothing by them, and doctor and check look after them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookctl.packs import programs, released
from hookctl.packs.runner import _dump
from hookctl.system import interpreter
from hookctl.system.files import content_digest, digest
from hookctl.system.packages import name_package
from tests import digests_of_programs

from .conftest import Hookctl, Outcome, put

PACK = """[pack]
name = "{name}"
version = "1"

[files]
include = ["no.sh"]

[[hooks]]
event = "PreToolUse"
matcher = "Bash"
command = "sh {{files}}/no.sh"
"""
CALL = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "rm"}}


class Place:
    """A project and a home, packs that refuse every command of the shell, and the way to call one as the host does."""

    def __init__(self, root: Path, hookctl: Hookctl) -> None:
        self.root, self.hookctl, self.project = root, hookctl, root / "work"
        (self.project / ".git").mkdir()
        for name in ("one", "two"):
            put(root / name / "no.sh", f'echo "no by {name}" >&2\nexit 2\n')
            put(root / name / "pack.toml", PACK.format(name=name))

    def install(self, name: str, scope: str = "user", *more: str) -> Outcome:
        return self.hookctl("install", str(self.root / name), "--host", "claude", "--scope", scope, "--yes", *more)

    def runtime(self, scope: str) -> Path:
        return (self.project / ".hookctl" if scope == "project" else self.root / "data") / "runtime"

    def settings(self, scope: str) -> Path:
        home = Path(os.environ["HOME"])
        return (self.project if scope == "project" else home) / ".claude" / "settings.json"

    def asked(self, scope: str = "user") -> list[str]:
        """The reasons of the packs that refuse a call, by their registered commands."""
        reasons = []
        groups = json.loads(self.settings(scope).read_text())["hooks"]["PreToolUse"]
        payload = json.dumps({**CALL, "cwd": str(self.project)})
        environ = {"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"], "CLAUDE_PROJECT_DIR": str(self.project)}
        for group in groups:
            command = ["sh", "-c", group["hooks"][0]["command"]]
            done = subprocess.run(command, input=payload, capture_output=True, text=True, env=environ, cwd=self.project)
            answer = json.loads(done.stdout or "{}").get("hookSpecificOutput", {})
            reasons.append(answer.get("permissionDecisionReason", ""))
        return reasons

    def codes(self, *arguments: str) -> list[tuple[str, str]]:
        """Code and file of each error that a command finds."""
        found = self.hookctl(*arguments, "--json").data["findings"]
        return [(one["code"], Path(one["path"]).name) for one in found if one["level"] == "error"]


@pytest.fixture
def place(isolated: Path, hookctl: Hookctl, fixed_python: None) -> Place:
    return Place(isolated, hookctl)


def forge(path: Path, **changes: Any) -> None:
    """Write a table that has a digest as hookctl's own have it."""
    values = {**json.loads(path.read_text()), **changes}
    values.pop("digest")
    values["digest"] = digest(_dump(values))
    path.write_bytes(_dump(values))


def emptied(path: Path) -> None:
    """A table by which nothing is refused."""
    hosts = json.loads(path.read_text())["hosts"]
    hosts["claude"]["answers"] = {}
    hosts["claude"]["own_protocol"] = False
    forge(path, hosts=hosts)


# A project that a stranger wrote


def test_a_projects_table_does_not_say_where_the_runner_writes(place: Place) -> None:
    place.install("one", "project")
    elsewhere = place.root / "elsewhere"
    forge(place.runtime("project") / "claude.json", state_dir=str(elsewhere))
    assert place.asked("project") == ["no by one"]
    assert not elsewhere.exists()
    assert [*Path(os.environ["HOME"], ".local/state/hookctl/guard").glob("*/runs.jsonl")]


@pytest.mark.parametrize("change", [emptied, lambda path: path.write_text("{}"), lambda path: path.write_text("[")])
def test_check_names_a_table_by_which_a_pack_refuses_nothing(place: Place, change: Any) -> None:
    place.install("one", "project")
    change(place.runtime("project") / "claude.json")
    assert place.codes("check", "--require", str(place.root / "one")) == [("hook_unknown", "claude.json")]
    assert place.codes("doctor", "--scope", "project") == [("hook_unknown", "claude.json")]


def test_an_install_replaces_what_a_repository_brought_with_a_digest_of_its_own(place: Place) -> None:
    place.install("one", "project")
    written = (place.runtime("project") / "claude.json").read_bytes()
    emptied(place.runtime("project") / "claude.json")
    assert place.install("two", "project").code == 0
    assert place.hookctl("uninstall", "two", "--scope", "project").code == 0
    assert (place.runtime("project") / "claude.json").read_bytes() == written


# What doctor and check say, and what --fix puts back

FAULTS = {
    "launcher gone": (lambda folder: (folder / "hook.py").unlink(), ("hook_missing", "hook.py"), True),
    "table gone": (lambda folder: (folder / "claude.json").unlink(), ("hook_missing", "claude.json"), True),
    "package gone": (lambda folder: shutil.rmtree(package(folder)), ("hook_missing", "PACKAGE"), True),
    "module gone": (lambda folder: (package(folder) / "answer.py").unlink(), ("hook_missing", "PACKAGE"), True),
    "table of other packs": (
        lambda folder: forge(folder / "claude.json", packs=[]),
        ("hook_unknown", "claude.json"),
        True,
    ),
    "launcher edited": (lambda folder: append(folder / "hook.py"), ("hook_unknown", "hook.py"), False),
    "module edited": (lambda folder: append(package(folder) / "answer.py"), ("hook_unknown", "answer.py"), False),
    "table edited": (
        lambda folder: (folder / "claude.json").write_text("{}"),
        ("hook_unknown", "claude.json"),
        False,
    ),
}


def package(folder: Path) -> Path:
    """The package that the launcher names, or the only one there."""
    hook, packages = folder / "hook.py", [*folder.glob("runner_*")]
    named = [path for path in packages if hook.exists() and path.name in hook.read_text()]
    (path,) = named or packages
    return path


def append(path: Path) -> None:
    path.write_text(path.read_text() + "\n# mine\n")


def content(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("fault", FAULTS)
def test_doctor_names_what_is_wrong_with_the_runner_and_puts_back_what_is_gone(
    place: Place, scope: str, fault: str
) -> None:
    place.install("one", scope)
    folder = place.runtime(scope)
    written, name = content(folder), package(folder).name
    breaks, (code, path), is_repaired = FAULTS[fault]
    breaks(folder)  # type: ignore[no-untyped-call]
    expected = [(code, path.replace("PACKAGE", name))]
    assert place.codes("doctor", "--host", "claude", "--scope", scope) == expected
    status = place.hookctl("status", "--host", "claude", "--scope", scope).out
    assert ("does nothing" in status or "was changed" in status) and "warn" in status
    if scope == "project":
        assert place.codes("check") == expected
    place.hookctl("doctor", "--fix", "--host", "claude", "--scope", scope)
    assert (content(folder) == written) == (is_repaired or (fault, scope) == ("module edited", "project"))
    assert place.install("one", scope, "--force").code == 0
    assert content(folder) == written
    assert place.asked(scope) == ["no by one"]
    assert place.codes("doctor", "--host", "claude", "--scope", scope) == []
    assert "warn" not in place.hookctl("status", "--host", "claude", "--scope", scope).out


# Homes, folders and interpreters that go elsewhere


def test_doctor_says_that_a_moved_home_has_left_a_pack_without_its_runner_and_finds_it_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOOKCTL_STATE_DIR", "HOOKCTL_DATA_DIR"):
        monkeypatch.delenv(name)
    place.install("one")
    home = Path(os.environ["HOME"])
    moved = home.rename(home.with_name("moved"))
    monkeypatch.setenv("HOME", str(moved))
    assert place.asked() == [""]
    assert ("hook_missing", "hook.py") in place.codes("doctor", "--host", "claude")
    assert place.hookctl("doctor", "--fix", "--host", "claude").code == 0
    assert place.asked() == ["no by one"]
    assert str(home) + "/" not in place.settings("user").read_text()
    assert place.hookctl("uninstall", "one").code == 0
    assert not [*moved.rglob("hook.py")]


def test_doctor_chooses_another_python_for_a_pack_whose_own_is_gone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = place.root / "python3"
    python.symlink_to(os.path.realpath(shutil.which("python3", path="/usr/bin:/bin") or ""))
    with monkeypatch.context() as patch:
        patch.setattr(interpreter, "choose", lambda environ: (str(python), ""))
        place.install("one")
    assert str(python) in place.settings("user").read_text()
    python.unlink()
    assert place.codes("doctor", "--host", "claude") == [("interpreter_missing", "python3")]
    assert place.hookctl("doctor", "--fix", "--host", "claude").code == 0
    assert place.asked() == ["no by one"]


def test_a_pack_of_another_state_folder_keeps_the_runner(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.install("one")
    with monkeypatch.context() as patch:
        patch.setenv("HOOKCTL_STATE_DIR", str(place.root / "other"))
        two = str(place.root / "two")
        assert place.hookctl("install", two, "--host", "gemini", "--yes").code == 0
        assert place.hookctl("uninstall", "two").code == 0
    assert sorted(path.name for path in place.runtime("user").glob("*.*")) == ["claude.json", "hook.py"]
    assert place.asked() == ["no by one"]


def test_an_uninstall_leaves_what_is_no_file_in_the_runners_place(place: Place) -> None:
    place.install("one")
    launcher = place.runtime("user") / "hook.py"
    launcher.unlink()
    launcher.mkdir()
    assert place.install("two").code == 4
    assert place.hookctl("uninstall", "one").code == 0
    assert launcher.is_dir()
    assert not (launcher.parent / "claude.json").exists()
    assert not place.settings("user").exists()


# Every way to come and go


@pytest.mark.parametrize("order", [("one", "two", "guard"), ("guard", "two", "one"), ("two", "guard", "one")])
@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_a_pack_that_stays_always_refuses_and_the_last_one_takes_everything_along(
    place: Place, scope: str, order: tuple[str, ...]
) -> None:
    place.install("one", scope)
    assert place.hookctl("install", "--host", "claude", "--scope", scope).code == 0
    place.install("two", scope)
    staying = ["one", "two"]
    settings = place.settings("user") if scope == "user" else place.project / ".claude" / "settings.json"
    if scope == "local":
        settings = settings.with_name("settings.local.json")
    place.settings = lambda _: settings  # type: ignore[method-assign]
    for name in order:
        assert place.asked(scope) == [f"no by {pack}" for pack in staying]
        assert place.hookctl("uninstall", name, "--scope", scope).code == 0
        staying = [pack for pack in staying if pack != name]
        if not staying:
            break
    place.hookctl("uninstall", "--all", "--yes")
    assert not place.runtime("project" if scope == "project" else "user").exists()
    assert not settings.exists()


# Another version's runner


def make_old(folder: Path) -> None:
    """Let the runner be that of another version of hookctl, whole and as it wrote it."""
    current = package(folder)
    modules = {path.name: path.read_bytes() for path in current.glob("*.py")}
    modules["patch.py"] += b"# of another version\n"
    name = name_package("runner", modules)
    shutil.rmtree(current)
    for module, data in modules.items():
        put(folder / name / module, data)
    launcher = (folder / "hook.py").read_bytes().replace(current.name.encode(), name.encode())
    (folder / "hook.py").write_bytes(launcher)
    forge(folder / "claude.json", launcher=digest(launcher))


def release(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the runner there be that of a released version."""
    programs = {name: data for name, data in content(folder).items() if package(folder).name in name}
    programs["hook.py"] = (folder / "hook.py").read_bytes()
    line = {**digests_of_programs.digests(), "runner": content_digest(b"", programs)}
    monkeypatch.setattr(released, "read_data", lambda *names: json.dumps({"0.1.9": line}))


@pytest.mark.parametrize("scope", ["user", "project"])
def test_another_versions_runner_runs_on_until_a_pack_is_installed_again(
    place: Place, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.install("one", scope)
    folder = place.runtime(scope)
    written = content(folder)
    make_old(folder)
    release(monkeypatch, folder)
    assert place.asked(scope) == ["no by one"]
    assert place.codes("doctor", "--scope", scope) == []
    assert place.hookctl("install", "--host", "gemini", "--scope", scope).code == 0
    assert place.asked(scope) == ["no by one"]
    if scope == "project":
        assert place.codes("check") == [("hook_old", "hook.py")]
    assert place.hookctl("doctor", "--fix", "--scope", scope).code == 0
    assert content(folder).items() >= written.items()  # a call may still read the old package
    assert (folder / "hook.py").read_bytes() == written["hook.py"]
    make_old(folder)
    assert place.hookctl("uninstall", "guard", "--scope", scope).code == 0
    assert place.hookctl("uninstall", "one", "--scope", scope).code == 0
    assert not folder.exists()


@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_runner_that_no_version_released_is_an_error_whatever_its_table_says(place: Place, scope: str) -> None:
    place.install("one", scope)
    folder = place.runtime(scope)
    make_old(folder)
    assert place.codes("doctor", "--scope", scope) == [("hook_unknown", "hook.py")]
    assert "what runs it was changed" in place.hookctl("status", "--scope", scope).out


@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_table_for_another_launcher_than_the_one_beside_it_is_an_error(place: Place, scope: str) -> None:
    place.install("one", scope)
    emptied(place.runtime(scope) / "claude.json")
    forge(place.runtime(scope) / "claude.json", launcher="0" * 64)
    assert place.codes("doctor", "--scope", scope) == [("hook_unknown", "claude.json")]


@pytest.mark.parametrize("scope", ["user", "project"])
def test_the_runner_of_a_newer_hookctl_stays_until_it_is_replaced_by_force(place: Place, scope: str) -> None:
    place.install("one", scope)
    folder = place.runtime(scope)
    ours = (folder / "hook.py").read_bytes()
    make_old(folder)
    forge(folder / "claude.json", hookctl="9.0.0")
    newer = content(folder)
    assert place.asked(scope) == ["no by one"]
    found = place.hookctl("doctor", "--scope", scope, "--json").data["findings"]
    assert ("hook_newer", "warning") in [(one["code"], one["level"]) for one in found]
    refused = place.install("two", scope)
    assert (refused.code, "hookctl 9.0.0 wrote the runner" in refused.err) == (1, True)
    assert place.hookctl("doctor", "--fix", "--scope", scope).code == 0
    assert content(folder) == newer
    assert place.install("two", scope, "--force").code == 0
    assert (folder / "hook.py").read_bytes() == ours
    assert place.asked(scope) == ["no by one", "no by two"]
    forge(folder / "claude.json", hookctl="9.0.0")
    assert place.hookctl("uninstall", "two", "--scope", scope).code == 0
    assert place.asked(scope) == ["no by one"]
    assert json.loads((folder / "claude.json").read_text())["hookctl"] == "9.0.0"
    assert place.hookctl("uninstall", "one", "--scope", scope).code == 0
    assert not folder.exists()


@pytest.mark.parametrize("scope", ["user", "project"])
def test_the_packages_of_guard_and_runner_are_put_back_by_one_run(place: Place, scope: str) -> None:
    place.install("one", scope)
    assert place.hookctl("install", "--host", "claude", "--scope", scope).code == 0
    folder = place.runtime(scope)
    written = content(folder)
    for package_folder in (*folder.glob("guard_*"), *folder.glob("runner_*")):
        shutil.rmtree(package_folder)
    assert place.hookctl("doctor", "--fix", "--scope", scope).code == 0
    assert content(folder) == written


def test_a_new_runner_moves_no_guard_to_a_package_that_it_does_not_bring(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version installs a pack beside this version's guard, which runs on as it is."""
    assert place.hookctl("install", "--host", "claude").code == 0
    launcher = place.root / "data" / "guard" / "claude-user" / "hook.py"
    before, modules = launcher.read_bytes(), programs._read_modules()
    monkeypatch.setattr(programs, "_read_modules", lambda: {**modules, "later.py": b""})
    programs.load_programs.cache_clear()
    programs.load_runner.cache_clear()
    try:
        assert place.install("one").code == 0
    finally:
        monkeypatch.undo()
        programs.load_programs.cache_clear()
        programs.load_runner.cache_clear()
    assert launcher.read_bytes() == before


def test_two_branches_that_each_add_a_pack_leave_a_table_that_doctor_writes_again(place: Place) -> None:
    place.install("one", "project")
    place.install("two", "project")
    table = place.runtime("project") / "claude.json"
    written = table.read_bytes()
    forge(table, packs=["one"])
    ours = table.read_text()
    table.write_text(f"<<<<<<< HEAD\n{written.decode()}=======\n{ours}>>>>>>> theirs\n")
    assert place.codes("check") == [("hook_unknown", "claude.json")]
    assert place.hookctl("doctor", "--fix", "--scope", "project").code == 0
    assert table.read_bytes() == written
    assert place.codes("check") == []
