"""The guard answers as its hosts' data files say: hook and data are written apart, since the hook imports nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hookctl import hosts
from hookctl.checks.facts import Answer
from hookctl.checks.hook import says
from hookctl.packs.abilities import remarks_for
from hookctl.packs.guard import events
from hookctl.packs.programs import hook_program
from hookctl.packs.settings import Settings

from .test_project import HOOK


def tables(name: str) -> Any:
    """The hook's own tables, as it is installed for a host."""
    hook = {"__name__": "hook"}
    exec(hook_program(hosts.load(name)), hook)
    return SimpleNamespace(**hook)


@pytest.mark.parametrize("name", hosts.names())
def test_the_hook_answers_in_the_words_of_the_hosts_file(name: str) -> None:
    about = hosts.load(name).data
    dialect = about["dialect"]
    assert tables(name).HOSTS[name][:4] == (dialect["block"], dialect["release"], dialect["end"], dialect["refuse"])
    project, session = tables(name).HOSTS[name][4:]
    assert project == about["environment"].get("project", "")
    assert session in ("", about["environment"].get("session", ""))  # where every payload has it, no variable is needed


@pytest.mark.parametrize("name", hosts.names())
def test_the_hook_counts_the_cap_that_the_hosts_file_has(name: str) -> None:
    cap = hosts.load(name).cap
    if not cap or "field" in cap or cap.get("asks"):  # nothing that the hook could count
        assert name not in tables(name).CAPS
        return
    variable, default, _ = tables(name).CAPS[name]
    assert (variable, default) == (cap.get("key", ""), cap["default"])


def test_the_hook_knows_no_host_without_a_file() -> None:
    assert HOOK.HOSTS.keys() <= set(hosts.names())


def test_no_tool_call_is_left_to_the_guard_where_its_silence_could_refuse_all() -> None:
    settings = Settings(knobs={"dispatch_tools": ["run_command"]})
    assert "pre-tool" not in events(settings, hosts.load("antigravity"))
    assert "pre-tool" in events(settings, hosts.load("gemini"))
    assert any("cannot refuse" in said for said in remarks_for(hosts.load("antigravity"), settings))


def test_the_self_test_knows_an_answer_with_its_text_further_in() -> None:
    claude = hosts.load("claude")
    host = claude._replace(data={**claude.data, "dialect": {"block": '{"a":{"b":"block","reason":%s}}', "release": ""}})
    for text, fits in {
        '{"a":{"b":"block","reason":"go on"}}': True, '{"a":{"b":"deny","reason":"x"}}': False, '{"a":"block"}': False,
        '{"a":{"b":"block"}}': False, '{"a":{"b":"block","reason":"x"},"c":1}': False, "": False,
    }.items():  # fmt: skip
        assert says(Answer(text, 0.1), host, "block") == fits, text
    assert says(Answer("", 0.1), host, "release")
