"""An uninstall removes the folders that hookctl made, and none that was there before."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl.system import interpreter
from tests.conftest import Hookctl, put
from tests.test_entries_of_hosts import TWO_EVENTS
from tests.trees import tree

pytestmark = pytest.mark.usefixtures("fixed_python")

PACK = '[pack]\nname = "bell"\nversion = "1"\nprotocol = "host"\n[files]\ninclude = ["ring.sh"]\n[env]\nBELL = "1"\n'
IGNORED = "run/\n"


THERE: dict[str, Callable[[Path], object]] = {
    "empty folder": lambda top: (top / "work/.hookctl").mkdir(),
    "ignore file": lambda top: put(top / "work/.hookctl/.gitignore", IGNORED),
    "empty data folder": lambda top: (top / "data").mkdir(),
    "settings too": lambda top: (
        put(top / "work/.claude/settings.json", "{ }"), put(top / "work/.claude/settings.local.json", "{ }"),
        put(top / "work/.hookctl/.gitignore", IGNORED), (top / "data").mkdir(),
    ),
}  # fmt: skip


def below(isolated: Path) -> dict[str, object]:
    """Every file and folder but hookctl's state, with its mode and bytes."""
    places = {name: (mode, data) for name, (mode, _, data) in tree(isolated).items()}
    return {name: about for name, about in places.items() if not name.startswith(("state", "bell"))}


@pytest.mark.parametrize("scope", ["user", "project", "local"])
@pytest.mark.parametrize("there", THERE.values(), ids=THERE)
def test_what_was_there_before_stays(
    isolated: Path, hookctl: Hookctl, there: Callable[[Path], object], scope: str
) -> None:
    there(isolated)
    before = below(isolated)
    pack = put(isolated / "bell" / "pack.toml", PACK)
    put(isolated / "bell" / "ring.sh", "")
    where = ("--host", "claude", "--scope", scope)
    for what in ((), (str(pack),), ("--set", "latch=no")):
        assert hookctl("install", *what, *where).code == 0
    assert hookctl("uninstall", "--all", "--json").code == 0
    assert below(isolated) == before


# hookctl uninstall --all: what it asks is what it does and says; a file that cannot be planned stops no other.
INSTALL = ("install", "--host", "claude")
ONE = '[pack]\nname = "one"\nversion = "1"\nprotocol = "host"\n[env]\nONE = "1"\n'


@pytest.fixture
def places(isolated: Path, hookctl: Hookctl, settings: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The guard at every scope and in a linked settings folder, another pack at user scope alone; the names to say."""
    monkeypatch.setattr(interpreter, "choose", lambda environ: ("/usr/bin/python3", ""))
    monkeypatch.setattr(interpreter, "on_path", lambda environ, project: ())
    (isolated / "work" / ".git").mkdir()
    (isolated / "dotfiles").mkdir()
    settings.parent.symlink_to(isolated / "dotfiles")
    put(isolated / "one.toml", ONE)
    project = isolated / "work" / ".claude"
    assert hookctl(*INSTALL).code == 0
    assert hookctl(*INSTALL, str(isolated / "one.toml")).code == 0
    assert hookctl(*INSTALL, "--scope", "project").code == 0
    assert hookctl(*INSTALL, "--scope", "local").code == 0
    return {
        "user": str(settings),
        "project": str(project / "settings.json"),
        "local": str(project / "settings.local.json"),
    }


def named_in(asked: str) -> list[str]:
    """The settings files that a question names."""
    return [os.path.expanduser(line.split("  ")[1].split(": ")[0]) for line in asked.split("\n")[:-1]]


@pytest.mark.parametrize(
    ("options", "scopes"),
    [
        ((), ["user", "local", "project"]),
        (("guard",), ["user", "local", "project"]),
        (("one",), ["user"]),
        (("--scope", "local"), ["local"]),
        (("one", "--scope", "local"), []),
        (("--host", "claude"), ["user", "local", "project"]),
        (("--host", "codex"), []),
    ],
    ids=["all", "the guard", "another pack", "a scope", "a pack and a scope", "a host", "another host"],
)
def test_the_question_names_what_the_answer_takes(
    hookctl: Hookctl, places: dict[str, str], monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...],
    scopes: list[str],
) -> None:  # fmt: skip
    asked: list[str] = []
    monkeypatch.setattr("hookctl.verbs.uninstall.confirm", asked.append)
    monkeypatch.setattr("hookctl.verbs.uninstall.can_ask", lambda: True)
    plan = hookctl("uninstall", *options, "--all", "--dry-run", "--json").data
    assert {action["scope"] for action in plan["actions"]} == set(scopes)
    hookctl("uninstall", *options, "--all")
    assert sorted(named_in(asked[0])) == sorted(places[scope] for scope in scopes)


def test_what_is_installed_after_the_answer_is_not_taken_out(
    settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hookctl("install", "--host", "claude").code == 0

    def agree(question: str) -> bool:
        assert hookctl("install", "--host", "codex").code == 0
        return bool(question)

    monkeypatch.setattr("hookctl.verbs.uninstall.confirm", agree)
    monkeypatch.setattr("hookctl.verbs.uninstall.can_ask", lambda: True)
    outcome = hookctl("uninstall", "--all")
    assert (outcome.code, "what you agreed to has changed meanwhile" in outcome.err) == (1, True)
    assert "hookctl=guard/stop" in settings.read_text()


# Hermes takes `hooks:` and an event without a value for none: install fills them, and the bytes come back.
@pytest.fixture
def config(isolated: Path) -> Path:
    return isolated / "home" / ".hermes" / "config.yaml"


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
    bell = str(put(isolated / "bell.toml", TWO_EVENTS.format("bell").encode()))

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
