"""hookctl uninstall --all: what it asks is what it does and says; a file that cannot be planned stops no other."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hookctl.errors import HookctlError, problems_of
from hookctl.ledger import store
from hookctl.system import folders, interpreter
from hookctl.verbs.uninstall import Request, question

from .conftest import Hookctl, put
from .trees import tree

INSTALL = ("install", "--host", "claude")
PACK = '[pack]\nname = "one"\nversion = "1"\n[env]\nONE = "1"\n'


@pytest.fixture
def places(isolated: Path, hookctl: Hookctl, settings: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The guard at every scope and in a linked settings folder, another pack at user scope alone; the names to say."""
    monkeypatch.setattr(interpreter, "choose", lambda environ: ("/usr/bin/python3", ""))
    monkeypatch.setattr(interpreter, "on_path", lambda environ, project: ())
    (isolated / "work" / ".git").mkdir()
    (isolated / "dotfiles").mkdir()
    settings.parent.symlink_to(isolated / "dotfiles")
    put(isolated / "one.toml", PACK)
    project = isolated / "work" / ".claude"
    assert hookctl(*INSTALL).code == 0
    assert hookctl(*INSTALL, str(isolated / "one.toml")).code == 0
    assert hookctl(*INSTALL, "--scope", "project").code == 0
    assert hookctl(*INSTALL, "--scope", "local").code == 0
    return {
        "user": str(settings),
        "project": str(project / "settings.json"),
        "local": str(project / "settings.local.json"),
    }


def named_in(asked: str, project: Path) -> list[str]:
    """The settings files that a question names."""
    if asked.startswith("Uninstall"):
        return [asked.split(" from ")[1].rstrip("?").split(" (")[0]]
    folder, named = "", []
    for line in asked.split("\n")[:-1]:
        if not line.startswith(" "):
            folder = str(project) if line == f"{project}:" else ""
            continue
        named.append(os.path.join(folder, line.strip().split(": ")[0]))
    return named


@pytest.mark.parametrize(
    ("removal", "scopes"),
    [
        (Request("", True), ["user", "local", "project"]),
        (Request("guard", True), ["user", "local", "project"]),
        (Request("one", True), ["user"]),
        (Request("", True, scope="local"), ["local"]),
        (Request("one", True, scope="local"), []),
        (Request("", True, hosts=("claude",)), ["user", "local", "project"]),
        (Request("", True, hosts=("codex",)), []),
    ],
    ids=["all", "the guard", "another pack", "a scope", "a pack and a scope", "a host", "another host"],
)
def test_the_question_names_what_the_answer_takes(
    isolated: Path, hookctl: Hookctl, places: dict[str, str], removal: Request, scopes: list[str]
) -> None:
    asked = question(folders.here(), removal)
    named = named_in(asked, isolated / "work") if asked else []
    assert sorted(named) == sorted(places[scope] for scope in scopes)
    options = [*filter(None, [removal.name]), *(("--scope", removal.scope) if removal.scope else ())]
    if "codex" not in removal.hosts:
        plan = hookctl("uninstall", *options, "--all", "--dry-run", "--json").data
        assert {action["scope"] for action in plan["actions"]} == set(scopes)


def test_a_file_that_moved_behind_a_link_is_named_as_it_is_reached_now(
    isolated: Path, hookctl: Hookctl, settings: Path
) -> None:
    hookctl(*INSTALL)
    moved = isolated / "dotfiles" / "settings.json"
    put(moved, settings.read_bytes())
    settings.unlink()
    settings.symlink_to(moved)
    assert question(folders.here(), Request("", True)) == f"Uninstall every pack from {settings}?"
    settings.unlink()  # the page's own name leads nowhere any more; what is recorded stands for itself
    assert question(folders.here(), Request("", True)) == f"Uninstall every pack from {settings}?"


def test_a_pack_that_is_installed_nowhere_is_an_error_before_any_question(places: dict[str, str]) -> None:
    with pytest.raises(HookctlError, match=r"unknown pack 'two'.*Installed are: guard, one"):
        question(folders.here(), Request("two", True))


@pytest.fixture
def five(isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Five projects with the guard for two hosts, one of them with a merge conflict in its record."""
    projects = [isolated / "repositories" / name for name in "abcde"]
    for project in projects:
        (project / ".git").mkdir(parents=True)
        monkeypatch.chdir(project)
        assert hookctl(*INSTALL, "--host", "codex", "--scope", "project").code == 0
    ledger = projects[2] / ".hookctl" / "ledger.json"
    put(ledger, b"<<<<<<< HEAD\n" + ledger.read_bytes())
    monkeypatch.chdir(projects[0])
    return projects


def test_the_question_has_every_repository_and_what_leaves_it(five: list[Path]) -> None:
    lines = question(folders.here(), Request("", True)).split("\n")
    for project in (*five[:2], *five[3:]):
        at = lines.index(f"{project}:")
        assert lines[at + 1 : at + 3] == ["  .claude/settings.json: guard", "  .codex/hooks.json: guard"]
    assert lines[-2].startswith(f"stays in {five[2]}/.hookctl/ledger.json: hookctl's record has merge-conflict marks.")
    assert lines[-1] == "Uninstall every pack from all of these?"


@pytest.mark.parametrize(
    ("gone", "summary"), [(False, "removed from 4 of 5 projects; left:"), (True, "removed from 3 of 5 projects; left:")]
)
def test_the_answer_says_how_much_is_removed_what_is_left_and_why(
    hookctl: Hookctl, five: list[Path], gone: bool, summary: str
) -> None:
    left = [f"{five[2]}/.hookctl/ledger.json: hookctl's record has merge-conflict marks. Resolve the settings"]
    if gone:
        five[4].rename(five[4].with_name("renamed"))
        left.append(f"{five[4]}: it is not there")
    as_data = hookctl("uninstall", "--all", "--dry-run", "--json")
    messages = [message["message"] for message in as_data.data["messages"]]
    outcome = hookctl("uninstall", "--all", "--yes")
    lines = outcome.out.splitlines()
    at = lines.index(summary)
    below = [line.strip() for line in lines[at + 1 :]]
    for wanted, line in zip(left, below, strict=False):
        assert line.startswith(wanted)
    assert "is uninstalled" not in outcome.out
    for project in (five[0], five[1], five[3]):
        assert [line for line in below if str(project) in line] == [
            f"in {project}: commit .claude/settings.json .codex/hooks.json .hookctl"
        ]
    assert len([line for line in below if "hookctl check" in line]) == 1
    assert (outcome.code, as_data.code) == (1, 1)
    assert summary in messages


def test_a_file_that_stays_makes_its_project_one_that_is_left(hookctl: Hookctl, five: list[Path]) -> None:
    put(five[0] / ".codex" / "hooks.json", '{"hooks": {')
    assert "removed from 3 of 5 projects; left:\n" in hookctl("uninstall", "guard", "--all", "--yes").out.replace(
        "guard is removed", "removed"
    )


def torn(isolated: Path, settings: Path) -> tuple[Path, str]:
    return put(settings, '{"env": {'), "unparsable"


def no_file(isolated: Path, settings: Path) -> tuple[Path, str]:
    settings.unlink()
    settings.mkdir()
    return settings, "unreadable"


def leads_out(isolated: Path, settings: Path) -> tuple[Path, str]:
    path = isolated / "work" / ".claude" / "settings.local.json"
    path.unlink()
    path.symlink_to("/etc/hostname")
    return path, "link_leaves_project"


def of_a_newer_hookctl(isolated: Path, settings: Path) -> tuple[Path, str]:
    ledger = isolated / "state" / "ledger.json"
    pages = json.loads(ledger.read_text())
    pages["files"][os.path.realpath(settings)]["host"] = "emacs"
    put(ledger, json.dumps(pages))
    return settings, "ledger_newer"


@pytest.mark.parametrize("spoil", [torn, no_file, leads_out, of_a_newer_hookctl])
def test_one_file_that_cannot_be_planned_is_named_with_what_to_do_and_stops_no_other(
    isolated: Path, hookctl: Hookctl, settings: Path, places: dict[str, str], spoil: object
) -> None:
    path, code = spoil(isolated, settings)  # type: ignore[operator]
    outcome = hookctl("uninstall", "--all", "--json")
    (error,) = outcome.result["errors"]
    assert (outcome.code, error["code"], error["path"]) == (1, code, str(path))
    assert error["hint"] and not error["hint"].startswith("\n"), "first what to do with this file"
    (left,) = store.load(folders.here())
    assert os.path.basename(left) == path.name
    before = tree(isolated)
    assert hookctl("uninstall", "--all", "--json").code == 4  # there is nothing left that it could do
    assert tree(isolated) == before


def test_where_there_is_one_file_only_no_other_is_spoken_of(isolated: Path, hookctl: Hookctl, settings: Path) -> None:
    hookctl(*INSTALL)
    torn(isolated, settings)
    (error,) = hookctl("uninstall", "--all", "--json").result["errors"]
    assert "other" not in error["hint"]


def test_what_is_uninstalled_is_said_of_the_hosts_that_were_named(isolated: Path, hookctl: Hookctl) -> None:
    for host in ("claude", "codex", "gemini"):
        assert hookctl("install", "--host", host).code == 0
    named = ("--host", "claude", "--host", "gemini", "--host", "qwen")
    assert "\nguard is uninstalled for Claude Code, Gemini CLI. Backups" in hookctl("uninstall", *named).out
    assert hookctl("install", *named[:2]).code == 0
    assert "\neverything is uninstalled for Claude Code. " in hookctl("uninstall", "--all", "--yes", *named[:2]).out
    assert "\nguard is uninstalled. Backups" in hookctl("uninstall").out


def test_what_planning_a_part_alone_does_not_refuse_is_raised_again() -> None:
    another = HookctlError("unparsable", "another thing")
    with pytest.raises(HookctlError, match="the disk is full"):
        problems_of(HookctlError("unwritable", "the disk is full"), [another, None])
