"""The operator's last word where a story cannot tell it: odd spellings, broken files, and a disk that fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, put

INSTALL, UNINSTALL = ("install", "--host", "claude"), ("uninstall", "--host", "claude")


@pytest.mark.parametrize("raw", ["1e3", '"\\u0037"', "12345678901234567890123", "null", '{ "a" : [1, 2] }'])
def test_a_forced_value_comes_back_in_its_own_spelling(raw: str, settings: Path, hookctl: Hookctl) -> None:
    text = f'{{\n  "env": {{"MAX_STOP_BLOCKS": {raw}}}\n}}\n'
    put(settings, text)
    outcome = hookctl(*INSTALL)
    assert f'"MAX_STOP_BLOCKS": {raw}' in settings.read_text()
    assert f"kept: your MAX_STOP_BLOCKS={raw};" in outcome.out
    hookctl(*INSTALL, "--force")
    assert json.loads(settings.read_bytes())["env"]["MAX_STOP_BLOCKS"] == "5"
    put(settings, settings.read_text() + "\n")  # somebody wrote, so no backup helps
    hookctl(*UNINSTALL)
    assert settings.read_text() == text + "\n"


CONFIG = "data/guard/claude.json"


def in_settings(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """An edit of the settings file by hand."""

    def edit(isolated: Path) -> None:
        path = isolated / "home" / ".claude" / "settings.json"
        page = json.loads(path.read_bytes())
        change(page)
        path.write_text(json.dumps(page))

    return edit


def in_config(**values: Any) -> Callable[[Path], None]:
    """An edit of the guard's configuration by hand."""

    def edit(isolated: Path) -> None:
        path = isolated / CONFIG
        path.write_text(json.dumps({**json.loads(path.read_bytes()), **values}))

    return edit


def in_rules(isolated: Path) -> None:
    path = isolated / "home" / ".claude" / "CLAUDE.md"
    path.write_text(path.read_text().replace("## Long", "## Very long"))


LIMIT = in_settings(lambda page: page["env"].update(MAX_STOP_BLOCKS="9"))
WITHOUT_LIMIT = in_settings(lambda page: page["env"].pop("MAX_STOP_BLOCKS"))
WITHOUT_STOP = in_settings(lambda page: page["hooks"].pop("Stop"))
WITHOUT_DISPATCH = in_settings(lambda page: page["hooks"].pop("PreToolUse"))
WITHOUT_GUIDANCE = in_settings(lambda page: page["hooks"].pop("SessionStart"))


@pytest.mark.parametrize(
    ("first", "edit", "asked", "stays"),
    [
        ("", LIMIT, "--set MAX_STOP_BLOCKS=7", 'MAX_STOP_BLOCKS stays as it is for Claude Code: kept your'),
        ("", WITHOUT_LIMIT, "--set max_stop_blocks=7", "MAX_STOP_BLOCKS stays as it is for Claude Code: you removed"),
        ("", LIMIT, "--preset bmad", "MAX_STOP_BLOCKS stays"),
        ("", in_config(mode="guard"), "--mode keepalive", 'mode stays as it is for Claude Code: kept your mode='),
        ("--set claim=false", in_config(claim=True), "--set claim=false", "claim stays"),
        ("--nudge a", in_config(required_tools=["b"]), "--nudge c", "required_tools stays"),
        ("--nudge a --nudge-env X", in_config(required_scope_env="Y"), "--nudge-env Z", "required_scope_env stays"),
        ("--dispatch A", in_config(dispatch_tools=["B"]), "--dispatch C", "dispatch_tools stays"),
        ("--dispatch A", WITHOUT_DISPATCH, "--dispatch C", "guard/pre-tool stays as it is for Claude Code: you"),
        ("--guidance", WITHOUT_GUIDANCE, "--guidance", "guard/session-start stays"),
        ("", WITHOUT_STOP, "--mode keepalive", "guard/stop stays"),
        ("--rules", in_rules, "--rules", "the block of rules stays"),
        ("--dispatch A", LIMIT, "--dispatch C", ""),
        ("--dispatch A", WITHOUT_DISPATCH, "--set MAX_STOP_BLOCKS=7", ""),
        ("--dispatch A", WITHOUT_STOP, "--dispatch C", ""),
        ("", LIMIT, "--set MAX_STOP_BLOCKS=9", ""),
    ],
)  # fmt: skip
def test_an_option_against_what_a_person_changed_ends_with_1(
    first: str, edit: Callable[[Path], None], asked: str, stays: str, isolated: Path, hookctl: Hookctl
) -> None:
    assert hookctl(*INSTALL, *first.split()).code == 0
    edit(isolated)
    assert hookctl(*INSTALL).code == 0
    outcome = hookctl(*INSTALL, *asked.split())
    assert outcome.code == bool(stays) and stays in outcome.err, outcome
    if not stays:
        return
    assert "fix: Put it right by hand, or add --force to take it over." in outcome.err
    assert not outcome.out.startswith("ok")
    assert hookctl("plan", *INSTALL[1:], *asked.split()).code == 1
    reset = hookctl(*INSTALL, *asked.split(), "--reset")
    assert reset.code == 0 and stays in reset.err and "error" not in reset.err
    assert hookctl(*INSTALL, *asked.split(), "--force").code == 0
    assert hookctl(*INSTALL, *asked.split()).code == 0


@pytest.mark.parametrize("command", [INSTALL, UNINSTALL])
@pytest.mark.parametrize("text", ["[]", '{"env": []}', '{"hooks": {"Stop": {}}}', '{"env": {}, "env": {}}', "{", "\\"])
def test_a_file_of_a_wrong_shape_is_refused_with_its_line(
    command: tuple[str, ...], text: str, settings: Path, hookctl: Hookctl
) -> None:
    put(settings, '{"a": 1}')
    hookctl(*INSTALL)
    put(settings, "\n" + text)
    outcome = hookctl(*command, "--json")
    error = outcome.result["errors"][0]
    assert (outcome.code, error["path"], error["line"]) == (4, str(settings), 2)
    assert settings.read_text() == "\n" + text
