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
