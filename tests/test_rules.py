"""Blocks of rules in the files that agents read: put there, kept, and taken out without a trace."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl.model import Change
from hookctl.ownership import execute
from hookctl.packs import programs
from tests.conftest import Hookctl, put
from tests.documents.test_rules import texts as rule_texts

TEXT = programs.load_pack("guard").rules
BEGIN, END = "<!-- hookctl=guard begin", "<!-- hookctl=guard end -->"
SECRET = "hunter2-of-the-operator"
PROJECT = ("--scope", "project")

pytestmark = pytest.mark.usefixtures("fixed_python")


@pytest.fixture
def notes(isolated: Path) -> Path:
    """The user's file with instructions for Claude Code; it does not exist yet."""
    return isolated / "home" / ".claude" / "CLAUDE.md"


@pytest.fixture
def install(hookctl: Hookctl) -> Callable[..., str]:
    """Install for Claude Code, and what that says."""

    def call(*options: str) -> str:
        outcome = hookctl("install", "--host", "claude", *options)
        assert outcome.code == 0, outcome
        return outcome.out + outcome.err

    return call


@pytest.fixture
def uninstall(hookctl: Hookctl) -> Callable[..., str]:
    def call(*options: str) -> str:
        outcome = hookctl("uninstall", *options)
        assert outcome.code == 0, outcome
        return outcome.out + outcome.err

    return call


def blocks_in(path: Path) -> int:
    return path.read_bytes().count(BEGIN.encode()) if path.exists() else 0


@settings(deadline=None, max_examples=15, suppress_health_check=list(HealthCheck))
@given(text=st.none() | rule_texts(), added=rule_texts(), again=st.booleans())
def test_the_very_bytes_come_back(
    isolated: Path, notes: Path, hookctl: Hookctl, text: str | None, added: str, again: bool
) -> None:
    for folder in ("home", "state", "data"):
        shutil.rmtree(isolated / folder, ignore_errors=True)
    (isolated / "home").mkdir()
    if text is not None:
        put(notes, text.encode())
    assert hookctl("install", "--host", "claude", "--rules").code == 0
    written = notes.read_bytes()
    assert written.startswith((text or "").encode())
    assert written.count(TEXT.splitlines()[0].encode()) == 1
    if again:
        assert hookctl("install", "--host", "claude").out == "nothing to do\n"
        assert notes.read_bytes() == written
    # Whatever somebody writes below it stays, too.
    mine = added.removeprefix("\ufeff").encode()
    notes.write_bytes(written + mine)
    assert hookctl("uninstall").code == 0
    if text is None and not mine.strip():  # blank lines alone keep no file of ours
        assert not (isolated / "home" / ".claude").exists()
        return
    expected = (text or "").encode() + mine
    if mine and text and not text.endswith(("\n", "\r", "\ufeff")):
        # The line break that ended their last line stays: they wrote on in a new one.
        assert notes.read_bytes() in [(text + end).encode() + mine for end in ("\n", "\r\n", "\r")]
    else:
        assert (notes.read_bytes() if notes.exists() else b"") == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("written", f"x\n{END}\n"), ("before", f"x\n{BEGIN} -->\n"), ("written", 5), ("path", ["guard", "x"]),
        ("path", ["other"]), ("path", ["../x"]), ("kind", "container"),
    ],
)  # fmt: skip
def test_a_stranger_s_record_of_rules_is_refused(
    isolated: Path, install: Callable[..., str], hookctl: Hookctl, name: str, value: object
) -> None:
    install(*PROJECT, "--rules")
    ledger = isolated / "work" / ".hookctl" / "ledger.json"
    page = json.loads(ledger.read_text())
    page["files"]["CLAUDE.md"]["entries"][0][name] = value
    ledger.write_text(json.dumps(page))
    before = (isolated / "work" / "CLAUDE.md").read_bytes()
    outcome = hookctl("uninstall", *PROJECT)
    assert (outcome.code, "cannot be read" in outcome.err) == (4, True)
    assert (isolated / "work" / "CLAUDE.md").read_bytes() == before


class Killed(BaseException):
    """Ends a run at once, as a kill does."""


@pytest.mark.parametrize("command", [("install", "--host", "claude", *PROJECT, "--rules"), ("uninstall", *PROJECT)])
@pytest.mark.parametrize("at", ["settings.json", "CLAUDE.md", "ledger.json"])
def test_a_killed_run_is_carried_to_its_end(
    isolated: Path, install: Callable[..., str], hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, at: str,
    command: tuple[str, ...],
) -> None:  # fmt: skip
    work = isolated / "work"
    instructions = put(work / "CLAUDE.md", "# Ours")
    put(work / ".claude" / "settings.json", "{}")
    if command[0] == "uninstall":
        install(*PROJECT, "--rules")
    apply_change = execute.apply_change

    def until(change: Change) -> Change:
        if change.path.endswith(at):
            raise Killed
        return apply_change(change)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(execute, "apply_change", until)
        hookctl(*command)
    assert hookctl(*command).code == 0
    assert blocks_in(instructions) == (command[0] == "install")
    assert hookctl("uninstall", *PROJECT).code == 0
    assert (instructions.read_text(), (work / ".claude" / "settings.json").read_text()) == ("# Ours", "{}")
    assert not (work / ".hookctl").exists()


def test_secrets_beside_the_block_are_not_shown(notes: Path, hookctl: Hookctl) -> None:
    put(notes, f"# Mine\napi_key: {SECRET}\nexport GITHUB_TOKEN={SECRET}\nPASSWORD={SECRET}\n")
    for command in ("plan", "install"):
        outcome = hookctl(command, "--host", "claude", "--rules")
        assert SECRET not in outcome.out + outcome.err
    notes.write_text(notes.read_text().replace("## Long", f"token: {SECRET}"))
    for arguments in (
        ("plan", "--host", "claude", "--force"),
        ("status", "--verbose"),
        ("doctor", "--verbose"),
        ("uninstall",),
    ):
        outcome = hookctl(*arguments)
        assert SECRET not in outcome.out + outcome.err


@pytest.mark.parametrize("text", ["", "  ", f"a\\n{END}", "a\\u200bb", "a\\u0007", "x" * 4001])
def test_a_text_that_cannot_be_rules_is_refused(isolated: Path, hookctl: Hookctl, text: str) -> None:
    pack = put(isolated / "notes.toml", f'[pack]\nname = "notes"\nversion = "1.0"\n[rules]\ntext = "{text}"\n')
    outcome = hookctl("plan", str(pack), "--host", "codex")
    assert (outcome.code, "rules.text" in outcome.err) == (4, True), outcome
