"""The guard answers as its hosts' data files say: what a file says reaches the hook through config.json."""

from __future__ import annotations

import posix
from typing import Any

import pytest

from hookctl import hosts
from hookctl.checks.self_test import says
from hookctl.hosts.model import Dialect
from hookctl.packs import guard
from hookctl.packs.abilities import limits_for
from hookctl.packs.choices import Settings
from hookctl.packs.guard import events

from .templates.modules import module


def host(name: str) -> Any:
    """A host as the hook has it from its configuration."""
    return module("hosts").find_host(guard.host_table(hosts.load(name)), name, {})


@pytest.mark.parametrize("name", hosts.names())
def test_the_hook_answers_in_the_words_of_the_hosts_file(name: str) -> None:
    data, known = hosts.load(name).data, host(name)
    dialect, environment = data["dialect"], data["environment"]
    forms = (known.block, known.release, known.end, known.refuse)
    assert forms == (dialect["block"], dialect["release"], dialect["end"], dialect["refuse"])
    assert known.project_variable == environment.get("project", "")
    assert known.session_variable == environment.get("session", "")


@pytest.mark.parametrize("name", hosts.names())
def test_the_hook_counts_the_cap_that_the_hosts_file_has(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cap = hosts.load(name).cap
    if not cap or "field" in cap or cap.get("asks"):  # nothing that the hook could count
        assert host(name).cap == float("inf")
        return
    for text in ("", "0", "3", "-1", "1000", "x"):
        if "key" in cap:
            monkeypatch.setenv(cap["key"], text)
            monkeypatch.setitem(posix.environ, cap["key"].encode(), text.encode())
        wanted = hosts.read_cap(hosts.load(name), text if "key" in cap else "")
        bounded = wanted > 0 or cap.get("overrides_last")
        assert host(name).cap == (wanted if bounded else float("inf")), text


@pytest.mark.parametrize("name", hosts.names())
def test_the_table_of_a_registration_has_who_runs_it_and_nobody_else(name: str) -> None:
    known = [reader for reader in hosts.load(name).data.get("also_read_by", ()) if "host" in reader]
    readers = [reader["host"] for reader in known if not reader.get("never_ours")]
    table = guard.host_table(hosts.load(name))
    assert set(table) == {name, *readers}
    assert set(table[name].get("also_run_by", {})) == set(readers)


def test_no_tool_call_is_left_to_the_guard_where_its_silence_could_refuse_all() -> None:
    settings = Settings(options={"dispatch_tools": ["run_command"]})
    assert "pre-tool" not in events(settings, hosts.load("antigravity"))
    assert "pre-tool" in events(settings, hosts.load("gemini"))
    assert any("cannot refuse" in said for said in limits_for(hosts.load("antigravity"), settings)[0])


def test_the_self_test_knows_an_answer_with_its_text_further_in() -> None:
    claude = hosts.load("claude")
    host = claude._replace(dialect=Dialect(block='{"a":{"b":"block","reason":%s}}'))
    for text, fits in {
        '{"a":{"b":"block","reason":"go on"}}': True, '{"a":{"b":"deny","reason":"x"}}': False, '{"a":"block"}': False,
        '{"a":{"b":"block"}}': False, '{"a":{"b":"block","reason":"x"},"c":1}': False, "": False,
    }.items():  # fmt: skip
        assert says(text, host, "block") == fits, text
    assert says("", host, "release")


def test_without_a_table_the_hook_knows_the_usual_host_as_its_file_has_it() -> None:
    table = guard.host_table(hosts.load("claude"))
    known = {name: value for name, value in table["claude"].items() if name != "also_run_by"}
    assert {"claude": known} == module("hosts").USUAL
