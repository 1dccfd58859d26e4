"""Approvals that a host asks for: the person's own, only read, and what hookctl says while one is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.ownership import execute
from hookctl.ownership.execute import Journal, Step, write_journal
from hookctl.system import files, folders
from tests.approving import approve
from tests.conftest import Hookctl, put
from tests.disk import quiet

pytestmark = pytest.mark.usefixtures("fixed_python")

CONFIG = '# mine\nmodel = "m"\n\n[projects."/a"]\ntrust_level = "trusted"\n'
INSTALL, UNINSTALL = ("install", "--host", "codex"), ("uninstall", "--host", "codex")
WAITS = "approve it under /hooks"


@pytest.fixture
def config(isolated: Path) -> Path:
    return put(isolated / "home" / ".codex" / "config.toml", CONFIG).absolute()


def test_an_approval_stays_a_person_s_own_whatever_hookctl_does(config: Path, hookctl: Hookctl) -> None:
    hooks = config.with_name("hooks.json")
    assert WAITS in hookctl(*INSTALL).err and config.read_text() == CONFIG
    approve(hooks)
    given = config.read_bytes()
    assert WAITS not in hookctl(*INSTALL).err
    assert WAITS in hookctl(*INSTALL, "--dispatch", "Bash").err, "the new hook has none"
    approve(hooks)
    both = config.read_bytes()
    assert both != given and WAITS not in hookctl(*INSTALL, "--force").err
    assert hookctl("doctor", "--fix").code == 0
    assert hookctl(*UNINSTALL).code == 0
    assert config.read_bytes() == both and not hooks.exists()


def test_a_write_after_a_kill_keeps_the_page_of_a_file_that_only_got_an_approval(config: Path) -> None:
    text = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say"\n'
    config.write_text(text)
    assert quiet(*INSTALL) == 0
    before = (folders.here(), config.read_bytes())
    theirs = b"x = 1\n"
    step = Step(str(config), files.digest(before[1]), files.digest(b"y = 1\n"), 0o600, True)
    write_journal(before[0], Journal((step,), {}, (), ()))
    config.write_bytes(theirs)
    execute.recover(before[0])
    assert config.read_bytes() == theirs
    assert str(config) in json.loads(Path(before[0].ledger).read_text())["files"]


# `--allow-run`: what lets an agent report without being asked is an entry like any other, in a list of texts.
RUN, TASK = "Bash(hookctl run:*)", "Edit(.hookctl/run/task.json)"
PROJECT = ("--scope", "project")
CLAUDE = ("install", "--host", "claude")


def allowed(path: Path) -> list[str]:
    return json.loads(path.read_bytes()).get("permissions", {}).get("allow", [])


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode())


TEXTS: list[str | None] = [
    None,
    "",
    "{}",
    '{\n  "permissions": {}\n}\n',
    '{\n  "permissions": {"allow": []}\n}\n',
    '{"permissions":{"deny":["Bash(curl:*)"],"allow":["Bash(ls)" , "Bash(ls)"]},"model":"x"}',
    '{\r\n\t"permissions": {\r\n\t\t"allow": [\r\n\t\t\t"Read"\r\n\t\t]\r\n\t}\r\n}\r\n',
    f'{{"permissions": {{"allow": ["{RUN}", 1, {{}}]}}}}',
    f'{{"permissions": {{"allow": ["{TASK}", "{RUN}"]}}}}\n',
]


@pytest.mark.parametrize("is_touched", [False, True])
@pytest.mark.parametrize("text", TEXTS)
def test_the_list_comes_back(settings: Path, hookctl: Hookctl, text: str | None, *, is_touched: bool) -> None:
    """By the first backup, and entry by entry where somebody else has written meanwhile."""
    if text is not None:
        put(settings, text)
    before: dict[str, Any] = json.loads(text or "{}")
    assert hookctl(*CLAUDE, "--allow-run").code == 0
    had = before.get("permissions", {}).get("allow", [])
    assert allowed(settings) == had + [rule for rule in (RUN, TASK) if rule not in had]
    written = settings.read_bytes()
    assert hookctl(*CLAUDE, "--allow-run").out == "nothing to do\n"
    assert hookctl(*CLAUDE).out == "nothing to do\n"
    assert settings.read_bytes() == written
    if is_touched:
        edit(settings, '"env"', '"theme": "dark", "env"')
    assert hookctl("uninstall").code == 0
    if is_touched:
        assert json.loads(settings.read_text()) == {**before, "theme": "dark"}
    else:
        assert (settings.read_bytes().decode() if settings.exists() else None) == text


def test_a_person_decides(settings: Path, hookctl: Hookctl) -> None:
    """What was removed by hand stays away, and an option that asks for it again says so."""
    put(settings, f'{{"permissions": {{"allow": ["{TASK}"]}}}}')
    said = hookctl(*CLAUDE, "--allow-run").out
    assert f"+ permissions.allow: {RUN}\n" in said
    assert f"= permissions.allow: {TASK}: your value is the wanted one already\n" in said
    edit(settings, f', "{RUN}"', ', "Bash(make)"')
    kept = f"= permissions.allow: {RUN} kept: you removed it"
    assert kept in hookctl(*CLAUDE).out
    assert hookctl("upgrade").code == 0
    asked = hookctl(*CLAUDE, "--allow-run")
    assert asked.code == 1
    assert f"stays as it is for Claude Code: {RUN} is not in permissions.allow" in asked.err
    assert hookctl("plan", "--host", "claude", "--allow-run").code == 1
    reset = hookctl(*CLAUDE, "--allow-run", "--reset")
    assert (reset.code, kept in reset.out) == (0, True)
    assert allowed(settings) == [TASK, "Bash(make)"]
    assert hookctl(*CLAUDE, "--allow-run", "--force").code == 0
    assert allowed(settings) == [TASK, "Bash(make)", RUN]
    assert f"- permissions.allow: {RUN}\n" in hookctl(*CLAUDE, "--reset").out
    assert allowed(settings) == [TASK, "Bash(make)"]
    assert hookctl(*CLAUDE, "--mode", "off", "--allow-run").code == 1


@pytest.mark.parametrize("rule", [RUN, "Bash"])
@pytest.mark.parametrize("list_", ["deny", "ask"])
def test_a_rule_that_stands_against_it_is_named(settings: Path, hookctl: Hookctl, list_: str, rule: str) -> None:
    put(settings, json.dumps({"permissions": {list_: [rule]}}))
    for _ in range(2):
        outcome = hookctl(*CLAUDE, "--allow-run")
        assert outcome.code == 1 and f"{rule} in permissions.{list_} stands against it" in outcome.err


def test_a_strangers_record_takes_no_other_rule_out(isolated: Path, hookctl: Hookctl) -> None:
    settings, ledger = (isolated / "work" / name for name in (".claude/settings.json", ".hookctl/ledger.json"))
    hookctl(*CLAUDE, *PROJECT, "--allow-run")
    edit(settings, f'"{RUN}",', f'"{RUN}", "Bash(*)",')
    edit(ledger, f'"{RUN}"', '"Bash(*)"')
    edit(ledger, f'"{RUN}"', '"Bash(*)"')
    assert hookctl("check").code == 1
    assert hookctl("uninstall", *PROJECT).code == 4
    assert "Bash(*)" in allowed(settings)


@pytest.mark.parametrize(
    "change", [None, ('"Bash(ls)"', '"Bash(make)", "Bash(ls)"'), ('"allow": ["Bash(ls)"]', '"x": 1')]
)
def test_it_goes_and_comes_with_the_guard(settings: Path, hookctl: Hookctl, change: tuple[str, str] | None) -> None:
    put(settings, '{\n  "permissions": {"allow": ["Bash(ls)"]}\n}\n')
    hookctl(*CLAUDE, "--allow-run")
    written = settings.read_bytes()
    assert hookctl("disable", "guard").code == 0
    assert allowed(settings) == ["Bash(ls)"]
    if change:
        edit(settings, *change)
    had = allowed(settings)
    assert hookctl("enable", "guard").code == 0
    assert allowed(settings) == [*had, RUN, TASK]
    if not change:
        assert settings.read_bytes() == written
    assert hookctl("uninstall").code == 0
    assert allowed(settings) == had


FINE: list[dict[str, Any]] = [
    {"allow": [RUN]},
    {"allow": [TASK]},
    {"allow": ["Bash(ls)", "Bash"]},
    {"defaultMode": "bypassPermissions", "ask": ["Bash(curl:*)"]},
]
NOT_FINE: list[dict[str, Any]] = [{}, {"allow": ["Bash(ls)"]}, {"defaultMode": "acceptEdits"}]


@pytest.mark.parametrize("rules", [*FINE, *NOT_FINE])
def test_doctor_says_whether_the_agent_may_report(hookctl: Hookctl, rules: dict[str, Any]) -> None:
    """The rules of every file that the host reads here count, and only while work waits."""
    put(Path(".claude/settings.local.json"), json.dumps({"permissions": rules}))
    hookctl(*CLAUDE)

    def codes() -> list[str]:
        return [finding["code"] for finding in hookctl("doctor", "--json").data["findings"]]

    assert "must_ask" not in codes()
    hookctl("run", "remaining", "2")
    assert ("must_ask" in codes()) == (rules in NOT_FINE)
