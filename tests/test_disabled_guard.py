"""Work that waits while the guard is disabled: whoever asks is told that nobody is kept at it."""

from __future__ import annotations

import pytest

from tests.conftest import Hookctl

# Hosts where hooks that tell the guard of prompts and tools stay registered, and where none is.
HELPED, ALONE = ("cursor", "kimi"), ("claude", "antigravity")


@pytest.mark.parametrize("name", (*HELPED, *ALONE))
def test_work_that_waits_keeps_nobody_while_the_guard_is_disabled(hookctl: Hookctl, name: str) -> None:
    hookctl("install", "--host", name)
    hookctl("run", "remaining", "3")
    assert "for the first session" in hookctl("status").out
    hookctl("disable", "guard/stop")
    status = hookctl("status").out
    assert status.startswith("skip"), status
    assert " does nothing: disabled\n    fix: `hookctl enable guard" in status
    assert "3 remaining, touched " in status and "but no guard here blocks a stop: agents may stop" in status
    assert "for the first session" not in status
    said = hookctl("run", "remaining", "2").err
    assert said == "hookctl: the guard is disabled here: `hookctl enable guard`\n"
    hookctl("enable", "guard")
    assert hookctl("run", "remaining", "2").err == ""
    assert "for the first session" in hookctl("status").out


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", *HELPED])  # Codex and Gemini have switches of their own
def test_an_install_of_the_disabled_guard_is_no_success(hookctl: Hookctl, name: str) -> None:
    hookctl("install", "--host", name)
    hookctl("disable", "guard")
    outcome = hookctl("install", "--host", name)
    assert outcome.code == 1 and "error: guard stays as it is for" in outcome.err, outcome
    assert "disabled; `hookctl enable guard` puts it back" in outcome.err
    assert not outcome.out.startswith("ok"), outcome.out
    assert hookctl("plan", "--host", name).code == 1
    reset = hookctl("install", "--host", name, "--reset", "--json")
    assert (reset.code, [one["code"] for one in reset.data["messages"]].count("no_effect")) == (0, 1)
    assert hookctl("install", "--host", name, "--force").code == 0
    assert "disabled" not in hookctl("status").out
    assert hookctl("install", "--host", name).code == 0
