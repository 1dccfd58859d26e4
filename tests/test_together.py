"""Several settings files in one command: all or nothing; every broken file is named, and what does the rest."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from hookctl import interpreter
from hookctl.errors import HookctlError
from hookctl.verbs.together import Part, refusal

from .conftest import Hookctl, Outcome, put
from .trees import tree

HOSTS = ("claude", "codex", "gemini", "qwen")
FILES = {
    "claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
}  # fmt: skip


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, isolated: Path) -> None:
    """Four hosts in use, no pause for a file that may be being written, and no interpreter to look for."""
    monkeypatch.setattr("hookctl.live.READ_PAUSE", 0)
    monkeypatch.setattr(interpreter, "choose", lambda environ: ("/usr/bin/python3", ""))
    monkeypatch.setattr(interpreter, "on_path", lambda environ: ())
    monkeypatch.setattr("hookctl.report.program", lambda: "hookctl")
    monkeypatch.setenv("PATH", "")
    for name in HOSTS:
        (isolated / "home" / FILES[name]).parent.mkdir()


def spoil(isolated: Path) -> list[tuple[str, int, int]]:
    """Two broken files; each with its line and column."""
    claude = put(isolated / "home" / FILES["claude"], '{\n  "env": {')
    qwen = put(isolated / "home" / FILES["qwen"], '{"a": 1 2}')
    return [(str(claude), 2, 11), (str(qwen), 1, 9)]


def named(outcome: Outcome) -> list[tuple[str, int, int]]:
    return [(error["path"], error["line"], error["column"]) for error in outcome.result["errors"]]


def way(outcome: Outcome) -> list[str]:
    """The words of the command that the last hint names for the rest."""
    hint = outcome.result["errors"][-1]["hint"].rpartition("\n")[2].strip()
    before, command, after = hint.split("`")
    assert (before, after) == ("Nothing was written in the other files either; for those: ", ".")
    assert "other files" not in str(outcome.result["errors"][:-1]), "said once"
    return shlex.split(command)[1:]


@pytest.mark.parametrize("verb", ["install", "plan"])
@pytest.mark.parametrize("hosts", [("--host", "all"), tuple(w for name in HOSTS for w in ("--host", name))], ids=len)
def test_install_names_every_broken_file_and_the_command_for_the_rest(
    hookctl: Hookctl, isolated: Path, verb: str, hosts: tuple[str, ...]
) -> None:
    broken = spoil(isolated)
    before = tree(isolated)
    outcome = hookctl(verb, *hosts, "--json")
    assert outcome.code == 4
    assert named(outcome) == broken
    assert tree(isolated) == before
    said = hookctl(verb, *hosts).err
    assert all(f"error: {path}:{line}:{column}: " in said for path, line, column in broken)
    rest = way(outcome)
    assert rest == [verb, "--host", "codex", "--host", "gemini"]
    assert hookctl(*rest).code == 0


def test_the_command_for_the_rest_has_the_other_options_too(hookctl: Hookctl, isolated: Path) -> None:
    put(isolated / "work" / FILES["claude"], "{")
    options = ["--mode", "guard", "--set", "latch=no", "--nudge", "a b", "--nudge-env", "V", "--dispatch", "T:3/4"]
    options += ["--wrap", "", "--reset", "--force"]
    where = ["--scope", "project", "--project", str(isolated / "work")]
    rest = way(hookctl("install", "--host", "claude", "--host", "gemini", *where, *options, "--json"))
    assert rest == ["install", "--host", "gemini", *where, *options]
    pack = put(isolated / "one.toml", '[pack]\nname = "one"\nversion = "1"\n[env]\nONE = "1"\n')
    rest = way(hookctl("install", str(pack), "--host", "claude", "--host", "gemini", *where, "--json"))
    assert rest == ["install", str(pack), "--host", "gemini", *where]


def test_where_every_file_is_broken_no_rest_is_spoken_of(hookctl: Hookctl, isolated: Path) -> None:
    broken = spoil(isolated)
    outcome = hookctl("install", "--host", "claude", "--host", "qwen", "--json")
    assert named(outcome) == broken
    assert "other files" not in str(outcome.result["errors"])


def test_what_is_wrong_for_all_is_said_once(hookctl: Hookctl, isolated: Path) -> None:
    put(isolated / "state" / "ledger.json", "no ledger")
    for verb in (("install", "--host", "all"), ("uninstall", "--host", "all")):
        outcome = hookctl(*verb, "--json")
        assert (outcome.code, [error["code"] for error in outcome.result["errors"]]) == (4, ["ledger_unreadable"])


def test_what_only_the_writing_finds_is_said_as_it_is(hookctl: Hookctl, isolated: Path) -> None:
    put(isolated / "home" / FILES["qwen"], "{}").chmod(0o444)
    outcome = hookctl("install", "--host", "all", "--json")
    assert (outcome.code, [error["code"] for error in outcome.result["errors"]]) == (1, ["read_only"])


@pytest.mark.parametrize("arguments", [("--all",), ("--host", "all")], ids=len)
def test_uninstall_names_every_broken_file_and_the_command_for_the_rest(
    hookctl: Hookctl, isolated: Path, arguments: tuple[str, ...]
) -> None:
    assert hookctl("install", "--host", "all").code == 0
    broken = spoil(isolated)
    before = tree(isolated)
    outcome = hookctl("uninstall", *arguments, "--json")
    assert outcome.code == 4
    assert named(outcome) == broken
    assert all("Or remove by hand:" in error["hint"] for error in outcome.result["errors"])
    assert tree(isolated) == before
    rest = way(outcome)
    assert rest == ["uninstall", "--all" if "--all" in arguments else "guard", "--host", "codex", "--host", "gemini"]
    assert hookctl(*rest, "--json").code == 0
    assert [name for name in HOSTS if (isolated / "home" / FILES[name]).exists()] == ["claude", "qwen"]


def test_uninstall_everywhere_names_the_scopes_of_a_host_that_are_fine(hookctl: Hookctl, isolated: Path) -> None:
    projects = [isolated / name for name in ("broken", "fine")]
    for project in projects:
        project.mkdir()
        assert hookctl("install", "--host", "claude", "--scope", "local", "--project", str(project)).code == 0
    assert hookctl("install", "--host", "claude").code == 0
    put(projects[0] / ".claude" / "settings.local.json", "{")
    rest = way(hookctl("uninstall", "guard", "--all", "--json"))
    assert rest == ["uninstall", "guard", "--all", "--host", "claude", "--scope", "user"]
    assert hookctl(*rest, "--json").code == 0


@pytest.mark.parametrize(
    ("command", "word"),
    [(("install",), "changed"), (("install", "--dry-run"), "would change"), (("plan",), "would change")],
    ids=str,
)
def test_the_table_says_what_became_of_each_file_or_would(
    hookctl: Hookctl, command: tuple[str, ...], word: str
) -> None:
    assert hookctl("install", "--host", "codex").code == 0
    lines = hookctl(*command, "--host", "codex", "--host", "gemini").out.splitlines()
    rows = [line for line in lines if line.startswith(("Codex CLI  ", "Gemini CLI  "))]
    assert [row.partition(".json")[2].strip().partition("  ")[0] for row in rows] == ["as it was", word]


def test_what_planning_a_part_alone_does_not_refuse_is_raised_again() -> None:
    def plan() -> None:
        raise HookctlError("unparsable", "another thing")

    parts = [Part("claude", "user", plan), Part("codex", "user", lambda: None)]
    with pytest.raises(HookctlError, match="the disk is full"):
        refusal(HookctlError("unwritable", "the disk is full"), parts, lambda rest: rest)
