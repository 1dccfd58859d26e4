"""Whole sessions of every host, played through the real hook as the host calls it."""

import json
from typing import Any

import pytest

from .hosts import BORROWED, NAMES, PAYLOADS, REFUSALS, TALKATIVE, Session, same_form
from .lab import Lab
from .play import Words, play, rows, scenarios

# What has to be registered beside the stop, for prompts and tool calls to be known.
PROMPT_EVENTS = ("gemini", "copilot", "openhands", "kimi", "kiro", "vscode")
NEEDED = {name: ("prompt",) if name in PROMPT_EVENTS else () for name in NAMES}

ALL = [*NAMES, *BORROWED]
# `tools` tell of tool calls; Droid writes them down.
GROUPS = {"own": NAMES, "all": ALL, "tools": [name for name in NAMES if name not in ("claude", "codex", "grok")]}
LET_GO = {name: "R" if BORROWED.get(name, name) in TALKATIVE else "A" for name in ALL}


def session_of(lab: Lab, name: str, registered: str = "needed") -> Session:
    return Session(lab, name, ("prompt",) if registered == "all" else NEEDED.get(name, ()))


def hosts_of(words: str) -> list[str]:
    """The hosts that a row names."""
    some, _, others = words.partition(" but ")
    found = [name for word in some.split() for name in GROUPS.get(word, [word])]
    return [name for name in found if name not in others.split()]


class Stage:
    """A session of a host, and the words that its scenarios have of their own."""

    def __init__(self, session: Session) -> None:
        self.session, self.fields = session, {}

    def stop(self, letters: str) -> None:
        """So many stops, with the fields that were told."""
        expected, _, code = letters.replace("!", LET_GO[self.session.name]).partition("[")
        assert "".join(self.session.stop(**self.fields) for _ in expected) == expected
        assert not code or self.session.lab.codes()[-1] == code.rstrip("]")

    @property
    def words(self) -> Words:
        return {
            "prompt": lambda lab, rest: self.session.prompt(rest.replace("¶", "\n") or "begin"),
            "stops": lambda lab, rest: self.stop(rest),
            "tool": lambda lab, rest: self.session.tool(*rest.split()),
            "with": lambda lab, rest: self.fields.update(json.loads(rest)),
        }


SCENARIOS = [
    (f"{title}-{name}", {"host": name, **config}, script)
    for title, config, script in scenarios("every-host")
    for name in hosts_of(config["on"])
]


@rows(SCENARIOS)
def test_each_host_plays_the_scenario(lab: Lab, config: dict[str, Any], script: str) -> None:
    settings = {name: value for name, value in config.items() if name not in ("on", "events", "host")}
    session = session_of(lab, config["host"], "all" if config.get("events") else "needed")
    play(lab, settings, script, Stage(session).words)


@pytest.mark.parametrize("name", ["codex", "gemini", "qwen"])
def test_an_id_that_changes_with_each_continuation_is_no_prompt(lab: Lab, name: str) -> None:
    lab.task(remaining=2)
    session = session_of(lab, name)
    session.prompt()
    key = {"codex": "turn_id", "gemini": "prompt", "qwen": "prompt_id"}[name]
    assert "".join(session.stop(**{key: f"{n}", "stop_hook_active": n > 0}) for n in range(6)) == "BBBBBR"
    session.prompt()
    assert "".join(session.stop(**{key: f"x{n > 0}", "stop_hook_active": n > 0}) for n in range(7)) == "BBBBBRA"


def test_two_stops_of_the_same_bytes_are_two_with_a_prompt_between(lab: Lab) -> None:
    lab.config(max_stop_blocks=2).task(remaining=2)
    session = session_of(lab, "openhands")
    other = beside(session, "openhands")
    session.prompt("one")
    assert session.stop() == "B"
    lab.raw("prompt", session.payload("prompt", prompt_id="2", message="two"))
    assert other.stop() == "B"
    assert len(lab.log()) == 2


REASON = "Work remains (2). Go on."
NO_PROMPTS = [
    *((name, {"prompt": "says another hook"}) for name in ("gemini", "copilot", "cursor")),
    # after each tool call
    *(("qwen", {"prompt_id": "S########1", "prompt": text}) for text in ("", "says another hook")),
    ("openhands", {"message": f"[Stop hook feedback] {REASON}"}),
    # a host that calls it before each request to the model would never be let go
    *(("antigravity", {"prompt": text}) for text in ("", None)),
]


@pytest.mark.parametrize(("name", "fields"), NO_PROMPTS)
def test_what_comes_as_a_prompt_and_is_none_gives_nothing_back(lab: Lab, name: str, fields: dict[str, Any]) -> None:
    lab.config(max_stop_blocks=2, reason="Work remains ({remaining}). Go on.").task(remaining=2)
    session = session_of(lab, name, "all" if name == "qwen" else "needed")
    session.prompt()
    letters = ""
    for _ in range(3):
        letters += session.stop()
        lab.raw("prompt", session.payload("prompt" if "prompt" in PAYLOADS[name] else "stop", **fields))
    assert letters == "BB" + LET_GO[name]


@pytest.mark.parametrize("name", [name for name in ALL if name != "kiro"])  # that reads no JSON there
def test_a_call_made_too_often_is_refused_in_the_host_s_form(lab: Lab, name: str) -> None:
    lab.config(dispatch_tools=["*"], dispatch_max=1)
    session = session_of(lab, name)
    form = REFUSALS[session.host]
    assert session.refusal() == ""
    said = session.refusal()
    assert same_form(json.loads(said), form)
    assert [line["host"] for line in lab.log()] == [session.host]
    assert list(lab.state.rglob("dispatch.json")) != []


@pytest.mark.parametrize("name", ALL)
def test_every_event_is_of_the_same_session_and_project(lab: Lab, name: str) -> None:
    lab.task(remaining=2)
    session = session_of(lab, name)
    for event in PAYLOADS[name]:
        lab.raw(event, session.payload(event))
    assert session.stop() == "B"
    assert len([path for path in lab.folder.glob("*.json") if len(path.stem) == 16]) == 1
    assert {path.parent for path in lab.state.rglob("*.json*")} == {lab.folder}


def beside(session: Session, name: str) -> Session:
    """The same session as another registration of ours sees it."""
    other = Session(session.lab, name, config=session.lab.second())
    other.now = session.now
    return other


def test_two_stops_of_copilot_are_two_although_one_registration_missed_the_first(lab: Lab) -> None:
    lab.config(max_stop_blocks=2).task(remaining=2)
    session = session_of(lab, "copilot")
    other = beside(session, "claude-run-by-copilot")
    assert session.stop() == "B"
    other.now = session.now
    lab.host = "claude"
    assert other.stops(2) == "BA"
    assert lab.codes() == ["blocked", "blocked", "tripped"]


def test_a_tool_call_that_comes_in_two_spellings_is_counted_once(lab: Lab) -> None:
    lab.config(dispatch_tools=["*"], dispatch_max=2)
    session = session_of(lab, "copilot")
    other = beside(session, "claude-run-by-copilot")
    answers = []
    for second in range(3):
        lab.host = "copilot"
        own = session.refusal(timestamp=1795334400000 + 1000 * second, toolName="search")
        lab.host = "claude"
        borrowed = other.refusal(timestamp=f"2026-11-22T08:00:{second:02}.000Z", tool_name="search")
        answers.append((own != "", borrowed != ""))
    assert answers == [(False, False), (False, False), (True, True)]
