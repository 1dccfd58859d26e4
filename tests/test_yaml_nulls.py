"""Hermes takes `hooks:` and an event without a value for none: install fills them, and the bytes come back.

So they do where something else in the file changed in between. Other hosts take such a null for a fault.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl.documents import formats
from tests.conftest import Hookctl, put
from tests.test_gaps import PACK

pytestmark = pytest.mark.usefixtures("fixed_python")

TEXTS = [
    "hooks:\n",
    "hooks: ~\n",
    "hooks: null  # mine\nmodel: x\n",
    "model: x\nhooks:",
    "hooks:  # mine\nmodel: x\n",
    "hooks:\n  pre_verify:\n",
    "hooks:\n  pre_verify: ~\n  # mine\n  on_session_end: []\n",
    "hooks:\r\nmodel: x\r\n",
    "hooks:\n# mine\nmodel: x\n",
    "hooks:\n  # mine\nmodel: x\n",
    "hooks: !!null\nmodel: x\n",
]


@pytest.fixture
def config(isolated: Path) -> Path:
    return isolated / "home" / ".hermes" / "config.yaml"


@pytest.mark.parametrize("text", TEXTS)
def test_null_is_filled_and_the_bytes_come_back(config: Path, hookctl: Hookctl, text: str) -> None:
    before = put(config, text.encode()).read_bytes()
    told = json.loads(hookctl("doctor", "--host", "hermes", "--json").out)["data"]["findings"]
    assert {finding["code"] for finding in told if finding["level"] != "info"} <= {"not_installed"}
    assert hookctl("install", "--host", "hermes").code == 0
    installed = config.read_bytes()
    (hook,) = formats.parse("yaml", installed).get(("hooks", "pre_verify"))
    assert "hookctl=guard/stop" in hook["command"]
    assert hookctl("install", "--host", "hermes").code == 0
    assert config.read_bytes() == installed
    assert hookctl("uninstall", "--host", "hermes").code == 0
    assert config.read_bytes() == before


NULLS = st.sampled_from(["", " ~", " null", " Null", " !!null"])
COMMENTS = st.sampled_from(["", " # mine", "   # mine"])
OTHERS = st.sampled_from(["", "model: x\n", "# mine\n", "\n", "agents:\n  max: 3 # mine\n"])
EVENTS = st.lists(st.sampled_from(["pre_verify", "subagent_stop", "on_session_end"]), max_size=2, unique=True)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A configuration in which the hooks are a null, or some of its events are."""
    lines = [draw(OTHERS), "hooks:"]
    events = draw(EVENTS)
    lines.append("" if events else draw(NULLS))
    lines.append(draw(COMMENTS) + "\n")
    for event in events:
        lines.append(f"  {event}:{draw(NULLS)}{draw(COMMENTS)}\n")
    text = "".join([*lines, draw(OTHERS)])
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def test_whatever_is_null_comes_back_byte_for_byte_around_the_edits_of_others(
    isolated: Path, config: Path, hookctl: Hookctl
) -> None:
    bell = str(put(isolated / "bell.toml", PACK.format("bell").encode()))

    @settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
    @given(texts(), st.permutations(["guard", "bell"]), st.sampled_from(["# later\n", "later: {a: 1}\n"]))
    def check(text: str, leaving: list[str], edit: str) -> None:
        later = edit.replace("\n", "\r\n" if "\r" in text else "\n")
        put(config, text.encode())
        for pack in ("guard", bell):
            assert hookctl("install", pack, "--host", "hermes").code == 0
        put(config, config.read_bytes() + later.encode())
        for pack in leaving:
            assert hookctl("uninstall", pack, "--host", "hermes").code == 0
        assert config.read_bytes() == f"{text}{later}".encode()

    check()


def test_a_null_with_an_anchor_is_refused(config: Path, hookctl: Hookctl) -> None:
    put(config, "hooks: &mine\nmodel: x\n")
    assert hookctl("install", "--host", "hermes").code == 4
    assert config.read_text() == "hooks: &mine\nmodel: x\n"
