"""Several settings files in one command: all or nothing; every broken file is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookctl.errors import HookctlError, problems_of

from .conftest import Hookctl, Outcome, put
from .trees import tree

HOSTS = ("claude", "codex", "gemini", "qwen")
FILES = {
    "claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
}  # fmt: skip


@pytest.fixture(autouse=True)
def four_hosts(fixed_python: None, monkeypatch: pytest.MonkeyPatch, isolated: Path) -> None:
    """Four hosts in use."""
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


REST = "Nothing was written in the other files either: repair these, or name the others with --host or --scope."


def speaks_of_the_rest(outcome: Outcome) -> bool:
    """Whether the last hint, and no other, says what to do for the files that are fine."""
    *others, last = [error["hint"] for error in outcome.result["errors"]]
    assert REST not in str(others), "said once"
    return last.endswith(f"\n  {REST}")


@pytest.mark.parametrize("verb", ["install", "plan"])
@pytest.mark.parametrize("hosts", [("--host", "all"), tuple(w for name in HOSTS for w in ("--host", name))], ids=len)
def test_install_names_every_broken_file(hookctl: Hookctl, isolated: Path, verb: str, hosts: tuple[str, ...]) -> None:
    broken = spoil(isolated)
    before = tree(isolated)
    outcome = hookctl(verb, *hosts, "--json")
    assert outcome.code == 4
    assert named(outcome) == broken
    assert tree(isolated) == before
    said = hookctl(verb, *hosts).err
    assert all(f"error: {path}:{line}:{column}: " in said for path, line, column in broken)
    assert speaks_of_the_rest(outcome)
    assert hookctl(verb, "--host", "codex", "--host", "gemini").code == 0


def test_where_every_file_is_broken_no_rest_is_spoken_of(hookctl: Hookctl, isolated: Path) -> None:
    broken = spoil(isolated)
    outcome = hookctl("install", "--host", "claude", "--host", "qwen", "--json")
    assert named(outcome) == broken
    assert not speaks_of_the_rest(outcome)


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
def test_uninstall_names_every_broken_file(hookctl: Hookctl, isolated: Path, arguments: tuple[str, ...]) -> None:
    assert hookctl("install", "--host", "all").code == 0
    broken = spoil(isolated)
    before = tree(isolated)
    outcome = hookctl("uninstall", *arguments, "--json")
    assert named(outcome) == broken
    assert all("Or remove by hand:" in error["hint"] for error in outcome.result["errors"])
    if arguments == ("--all",):  # nobody named the broken ones: the others go
        assert outcome.code == 1
    else:
        assert (outcome.code, tree(isolated)) == (4, before)
        assert speaks_of_the_rest(outcome)
        assert hookctl("uninstall", "--host", "codex", "--host", "gemini", "--json").code == 0
    assert [name for name in HOSTS if (isolated / "home" / FILES[name]).exists()] == ["claude", "qwen"]


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

    with pytest.raises(HookctlError, match="the disk is full"):
        problems_of(HookctlError("unwritable", "the disk is full"), [plan, lambda: None])
