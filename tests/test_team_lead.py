"""What a team lead finds out with check, doctor and upgrade: a pull request may have forged the record too,
and every fix that is named works as it stands."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from hookctl import hosts
from tests.conftest import Hookctl, put
from tests.test_check import BROKEN, EVIL, PROJECT, Project, conflict, forge

SHARING = [name for name in hosts.names() if "project" in hosts.load(name).scopes]


@pytest.fixture
def project(isolated: Path, hookctl: Hookctl, fixed_python: None) -> Project:
    return Project(isolated / "work", hookctl)


@pytest.fixture
def work(isolated: Path, hookctl: Hookctl, fixed_python: None) -> Path:
    """A project with nothing in it yet."""
    (isolated / "work" / ".git").mkdir()
    return isolated / "work"


def levels(hookctl: Hookctl, *command: str) -> dict[str, str]:
    return {finding["code"]: finding["level"] for finding in hookctl(*command, "--json").data["findings"]}


# The committed record is no witness.


@pytest.mark.parametrize("host", SHARING)
def test_a_forged_command_is_found_on_every_host_though_the_record_has_it_too(
    work: Path, hookctl: Hookctl, host: str
) -> None:
    assert hookctl("install", "--host", host, "--scope", "project").code == 0
    assert hookctl("check", "--require", "guard", "--json").data["findings"] == []
    assert "entry_edited" not in levels(hookctl, "doctor")
    forge(work, "; exit 0", f"; {EVIL}; exit 0")
    assert hookctl("check", "--require", "guard").code == 1
    assert levels(hookctl, "check") == {"entry_edited": "error"}
    assert levels(hookctl, "doctor", "--scope", "project").get("entry_edited") == "error"


def test_a_guard_whose_stop_is_in_neither_record_nor_settings_is_not_whole(work: Path, hookctl: Hookctl) -> None:
    hookctl("install", *PROJECT)
    settings, record = work / ".claude" / "settings.json", work / ".hookctl" / "ledger.json"
    values = json.loads(settings.read_text())
    del values["hooks"]
    settings.write_text(json.dumps(values))
    lines = [line for line in record.read_text().splitlines(keepends=True) if '"id": "guard/stop"' not in line]
    record.write_text("".join(lines))
    done = hookctl("check", "--require", "guard", "--json")
    assert (done.code, [f["code"] for f in done.data["findings"]]) == (1, ["entry_missing"])
    assert levels(hookctl, "doctor", "--scope", "project").get("entry_missing") == "error"
    carry_out(hookctl, done.data["findings"][0]["fix"])
    assert hookctl("check", "--require", "guard").code == 0


# Every fix that is a command works as it stands.

BY_HAND = {  # what no command can know
    "file beside the programs", "file of no pack", "bytecode planted", "settings torn", "settings in conflict",
    "a comment that the host does not read", "record in conflict", "record torn", "hooks switched off",
    "hooks switched off locally", "guard switched off", "a hook with our head", "folder of programs is a link",
    "folder of packs is a link", "program is a link", "program of a newer hookctl", "forged programs of 0.2.0",
    "hook doubled", "module added", "record deleted", "a second copy of a hook", "a second copy of a wrapped hook",
    "wrap forged",
    "STOP committed", "OWNER committed", "a run folder of its own committed", "a run folder that a commit takes",
    "ignore file emptied", "ignore file gone",
    "guard's mode switched off", "marked as a child", "no Python on the PATH", "a Python of the project's on the PATH",
}  # fmt: skip


def carry_out(hookctl: Hookctl, *fixes: str) -> list[str]:
    """Run the commands of hookctl in fixes, as they stand."""
    commands = commands_of(list(fixes))
    assert commands
    for command in commands:
        done = hookctl(*shlex.split(command)[1:])
        assert done.code == 0, (command, done)
    return commands


FIXED = [("check", name) for name in BROKEN if name not in BY_HAND]
FIXED += [("doctor", name) for name in ("entry removed", "variable removed", "command edited", "settings deleted")]


@pytest.mark.parametrize(("verb", "name"), FIXED)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_each_fix_works_as_it_stands(
    project: Project, isolated: Path, monkeypatch: pytest.MonkeyPatch, verb: str, name: str, elsewhere: bool
) -> None:
    BROKEN[name][0](project)
    where = ["--project", str(project.top)] if elsewhere else []
    if elsewhere:
        (isolated / "elsewhere").mkdir()
        monkeypatch.chdir(isolated / "elsewhere")
    options = where if verb == "check" else ["--all", "--scope", "project"]
    done = project.hookctl(verb, *options, "--json")
    assert done.code == 1
    errors = [finding for finding in done.data["findings"] if finding["level"] == "error"]
    commands = carry_out(project.hookctl, *(finding["fix"] for finding in errors))
    left = project.check(*where)
    assert (left.code, left.data["findings"]) == (0, []), commands


def commands_of(fixes: list[str]) -> list[str]:
    found = [command for fix in fixes for command in re.findall(r"`(hookctl [^`]*)`", fix)]
    return [command for command in dict.fromkeys(found) if " PATH " not in command]


# A finding names the file that differs.


@pytest.mark.parametrize(
    ("name", "code"),
    [("hook.py", "hook_changed"), ("runtime/guard_*/stop.py", "hook_changed"), ("packs/bell", "pack_changed")],
)
def test_what_differs_is_named_and_written_anew_also_where_git_changed_its_line_endings(
    project: Project, name: str, code: str
) -> None:
    (path,) = project.hook.parent.glob(name)
    for file in [path] if path.is_file() else path.iterdir():
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    found = only(project)
    assert (found["code"], found["path"]) == (code, str(path))
    doctors = project.hookctl("doctor", "--scope", "project", "--json").data["findings"]
    assert {"pack_changed": "hook_changed"}.get(code, code) in {finding["code"] for finding in doctors}
    carry_out(project.hookctl, found["fix"])
    assert project.check().data["findings"] == []


# One finding for one cause.


def only(project: Project, *options: str) -> dict[str, str]:
    """The only finding of check."""
    (found,) = project.check(*options).data["findings"]
    return found


def git(project: Project, *words: str) -> None:
    name = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    subprocess.run(["git", "-C", str(project.top), *name, *words], check=True, capture_output=True)


def run_git_of(fix: str) -> None:
    """Run the command of git in a fix, as it stands."""
    (command,) = re.findall("`(git [^`]*)`", fix)
    subprocess.run(shlex.split(command), check=True, capture_output=True)


def commit(project: Project) -> None:
    (project.top / ".git").rmdir()
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "All")


@pytest.mark.parametrize("what", ["record", "folder"])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_is_gone_is_one_finding_and_git_brings_it_back(
    project: Project, isolated: Path, monkeypatch: pytest.MonkeyPatch, what: str, elsewhere: bool
) -> None:
    commit(project)
    {"record": project.record.unlink, "folder": lambda: shutil.rmtree(project.record.parent)}[what]()
    if elsewhere:
        monkeypatch.chdir(isolated)
    where = ("--project", str(project.top))
    found = only(project, *where, "--require", "guard", "--require", str(project.pack))
    assert (found["code"], found["path"]) == ("ledger_missing", str(project.record))
    run_git_of(found["fix"])
    assert project.check(*where, "--require", "guard", "--require", str(project.pack)).code == 0


def test_without_a_record_an_evil_program_is_found_all_the_same(project: Project) -> None:
    project.record.unlink()
    for path in (project.hook, put(project.config.parent / "evil.py", "")):
        path.write_text("print()\n")
        assert project.found() == {"ledger_missing", "stray_file"}
        path.unlink()


def test_a_conflict_is_not_taken_for_a_missing_pack_and_every_conflicted_file_is_named(project: Project) -> None:
    assert project.hookctl("install", "--host", "codex", "--scope", "project").code == 0
    codex = project.top / ".codex" / "hooks.json"
    for path in (project.record, project.settings, codex):
        conflict(project, path)
    found = project.check("--require", "guard", "--require", str(project.pack)).data["findings"]
    assert {(f["code"], f["path"]) for f in found} == {
        ("ledger_unreadable", str(project.record)),
        ("unparsable", str(project.settings)),
        ("unparsable", str(codex)),
    }


# What silences the guard is found by both verbs, and a choice is none.


# Leaving.
