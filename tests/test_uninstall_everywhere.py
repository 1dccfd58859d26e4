"""hookctl uninstall --all: what it asks is what it does and says; a file that cannot be planned stops no other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookctl.system import folders, interpreter
from hookctl.verbs.uninstall import Request, question

from .conftest import Hookctl, put

INSTALL = ("install", "--host", "claude")
PACK = '[pack]\nname = "one"\nversion = "1"\nprotocol = "host"\n[env]\nONE = "1"\n'


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


def named_in(asked: str) -> list[str]:
    """The settings files that a question names."""
    return [os.path.expanduser(line.split("  ")[1].split(": ")[0]) for line in asked.split("\n")[:-1]]


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
    asked = question(folders.here(), removal, [])
    assert sorted(named_in(asked)) == sorted(places[scope] for scope in scopes)
    options = [*filter(None, [removal.name]), *(("--scope", removal.scope) if removal.scope else ())]
    if "codex" not in removal.hosts:
        plan = hookctl("uninstall", *options, "--all", "--dry-run", "--json").data
        assert {action["scope"] for action in plan["actions"]} == set(scopes)


def test_what_is_installed_after_the_answer_is_not_taken_out(
    settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hookctl("install", "--host", "claude").code == 0

    def agree(question: str) -> bool:
        assert hookctl("install", "--host", "codex").code == 0
        return bool(question)

    monkeypatch.setattr("hookctl.verbs.uninstall.confirm", agree)
    monkeypatch.setattr("hookctl.verbs.uninstall.can_ask", lambda: True)
    outcome = hookctl("uninstall", "--all")
    assert (outcome.code, "what you agreed to has changed meanwhile" in outcome.err) == (1, True)
    assert "hookctl=guard/stop" in settings.read_text()
