"""What a first install of the guard says: a warning is for what a person should do, a fact is a note."""

from __future__ import annotations

import pytest

from hookctl import hosts
from tests.conftest import Hookctl

# Hooks there wait for a person: to approve them, or to trust the folder.
WAITING = {"codex": "not_approved", "gemini": "not_approved", "hermes": "not_approved"}


def first_line(text: str) -> str:
    return text.splitlines()[0]


@pytest.mark.parametrize("name", hosts.names())
def test_a_fine_install_warns_of_nothing(hookctl: Hookctl, name: str) -> None:
    done = hookctl("install", "--host", name)
    expected = "warn" if name in WAITING or name == "windsurf" else "ok"
    assert first_line(done.out).startswith(expected), done.out
    messages = hookctl("install", "--host", name, "--json").data["messages"]
    warned = {message["code"] for message in messages if message["level"] == "warning"}
    assert warned == ({"host_limits"} if name == "windsurf" else {*filter(None, [WAITING.get(name)])})


@pytest.mark.parametrize(("name", "cap"), [("kimi", 1), ("vibe", 3), ("hermes", 3)])
def test_a_cap_below_the_limit_is_a_note_until_a_limit_is_asked_for(hookctl: Hookctl, name: str, cap: int) -> None:
    for wish, level in (("5", "info"), ("7", "warning")):
        done = hookctl("install", "--host", name, "--set", f"MAX_STOP_BLOCKS={wish}", "--json")
        said = [one for one in done.data["messages"] if f"stops blocking after {cap} and not {wish}" in one["message"]]
        assert [message["level"] for message in said] == [level]


def test_where_no_stop_can_be_blocked_no_work_is_proposed(hookctl: Hookctl) -> None:
    done = hookctl("install", "--host", "windsurf")
    assert "a hook cannot keep it working at a stop, so the guard only watches there" in done.err
    assert "run remaining" not in done.out
    assert "ok    Windsurf: nothing wrong\n" in hookctl("doctor").out
    assert "run remaining" in hookctl("install", "--host", "windsurf", "--host", "vibe").out
    hookctl("uninstall", "--host", "vibe")
    hookctl("run", "remaining", "3")
    assert "no guard here blocks a stop: agents may stop" in hookctl("status").out
    assert "work waits" not in hookctl("doctor", "--verbose").out
    facts = hookctl("hosts", "windsurf").out
    assert "cannot    a hook cannot keep it working at a stop\n" in facts


def test_an_install_that_changes_no_mode_does_not_introduce_the_guard_again(hookctl: Hookctl) -> None:
    assert "The guard keeps" in hookctl("install", "--host", "claude").out
    assert "The guard" not in hookctl("install", "--host", "claude", "--set", "MAX_STOP_BLOCKS=7").out
    said = hookctl("install", "--host", "claude", "--mode", "keepalive").out
    assert "The guard keeps" in said and "up to 5000 forced stops" in said
