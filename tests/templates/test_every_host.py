"""Whole sessions of every host, played through the real hook as the host calls it."""

import json
from pathlib import Path
from typing import Any

import pytest

from .hosts import BORROWED, NAMES, PAYLOADS, REFUSALS, TALKATIVE, Session, same_form
from .lab import Lab, name_of

# What has to be registered beside the stop, for prompts and tool calls to be known.
PROMPT_EVENTS = ("gemini", "copilot", "openhands")
TOOL_EVENTS = ("gemini", "qwen", "copilot", "openhands", "cursor", "hermes", "antigravity")
KNOWN_TOOLS = (*TOOL_EVENTS, "droid")  # which writes them down
CAPPED = ("claude", "qwen", "copilot")
BLIND = ("antigravity",)  # nothing tells a new prompt
NEEDED = {name: ("prompt",) if name in PROMPT_EVENTS else () for name in NAMES}

ALL = [*NAMES, *BORROWED]
LET_GO = {name: "R" if name in TALKATIVE else "A" for name in ALL}


def session_of(lab: Lab, name: str, registered: str = "needed") -> Session:
    return Session(lab, name, ("prompt",) if registered == "all" else NEEDED.get(name, ()))


@pytest.mark.parametrize("name", NAMES)
def test_a_chain_is_blocked_let_go_left_alone_and_guarded_again_after_a_prompt(lab: Lab, name: str) -> None:
    session = session_of(lab, name)
    session.prompt("begin")
    assert session.stop() == "A"
    lab.task(remaining=2)
    session.prompt("begin")
    assert session.stops(7) == "BBBBB" + LET_GO[name] + "A"
    assert lab.codes()[1:] == ["blocked"] * 5 + ["tripped", "open"]
    session.prompt("go on")
    assert session.stops(6) == ("AAAAAA" if name in BLIND else "BBBBB" + LET_GO[name])


@pytest.mark.parametrize("name", [name for name in NAMES if name not in (*BLIND, "cursor", "droid", "hermes")])
def test_a_person_who_breaks_in_begins_anew(lab: Lab, name: str) -> None:
    lab.config(max_stop_blocks=2).task(remaining=2)
    session = session_of(lab, name)
    for _ in range(3):
        session.prompt("do it")
        assert session.stop() == "B"
    session.prompt("and now this")
    assert session.stops(3) == "BB" + LET_GO[name]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("flag", [True, False, None], ids=["true", "false", "absent"])
def test_a_host_that_asks_for_ever_is_let_go_whatever_its_flags_say(lab: Lab, name: str, flag: bool | None) -> None:
    """A flag that lies or is not there buys no more blocks, and neither does a reason that is told as a prompt."""
    lab.config(max_stop_blocks=3).task(remaining=2)
    session = session_of(lab, name, "all")
    session.prompt()
    flags = {"stop_hook_active": flag, "loop_count": None if flag is None else int(flag)}
    ids = {"prompt_id": None, "turn_id": None} if flag is None else {}
    assert "".join(session.stop(**flags, **ids) for _ in range(4)) == "BBB" + LET_GO[name]


@pytest.mark.parametrize("name", ["codex", "gemini", "qwen"])
def test_an_id_that_changes_with_each_continuation_is_no_prompt(lab: Lab, name: str) -> None:
    lab.task(remaining=2)
    session = session_of(lab, name)
    session.prompt()
    key = {"codex": "turn_id", "gemini": "prompt", "qwen": "prompt_id"}[name]
    assert "".join(session.stop(**{key: f"{n}", "stop_hook_active": n > 0}) for n in range(6)) == "BBBBBR"
    session.prompt()
    assert "".join(session.stop(**{key: f"x{n > 0}", "stop_hook_active": n > 0}) for n in range(7)) == "BBBBBRA"


@pytest.mark.parametrize("name", ALL)
def test_no_chain_passes_the_ceiling(lab: Lab, name: str) -> None:
    lab.config(max_stop_blocks=0).task(remaining=2)
    session = session_of(lab, name)
    session.prompt()
    assert session.stop() == "B"
    lab.edit(total=199)
    assert session.stops(3) == "B" + ("R" if name in TALKATIVE else "A") + "A"
    assert lab.codes()[-2:] == ["ceiling", "ceiling"]


@pytest.mark.parametrize("name", NAMES)
def test_a_chain_is_one_where_every_fresh_stop_counts_anew(lab: Lab, name: str) -> None:
    """With the presets of old a stop that is taken for fresh is another five blocks."""
    lab.config(chain_reset="fresh", latch=False, end_foreign_chains=False, max_stop_blocks=3).task(remaining=2)
    session = session_of(lab, name)
    session.prompt()
    assert session.stops(4) == "BBB" + LET_GO[name]


@pytest.mark.parametrize("name", ["antigravity", "cursor", "gemini", "hermes", "openhands"])
def test_without_flag_and_count_what_our_block_forced_on_is_not_fresh(lab: Lab, name: str) -> None:
    lab.config(chain_reset="fresh", latch=False, max_stop_blocks=3).task(remaining=2)
    session = session_of(lab, name)
    session.prompt()
    absent = {"stop_hook_active": None, "loop_count": None, "extra": {}}
    assert "".join(session.stop(**absent) for _ in range(4)) == "BBB" + LET_GO[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_block_is_followed_by_none_where_that_is_wished(lab: Lab, name: str) -> None:
    lab.config(honor_stop_hook_active=True).task(remaining=2)
    session = session_of(lab, name)
    session.prompt()
    assert session.stops(2) == "BA"
    assert lab.codes()[-1] == "honor_active"


@pytest.mark.parametrize("name", KNOWN_TOOLS)
def test_a_tool_call_that_the_host_tells_of_is_progress_and_the_same_one_is_not(lab: Lab, name: str) -> None:
    lab.config(max_stop_blocks=2).task(remaining=2)
    session = session_of(lab, name)
    session.prompt()
    letters = session.stop()
    for argument in ("one", "two", "three", "three", "three"):
        session.tool("sh", argument)
        letters += session.stop()
    assert letters == "BBBBB" + LET_GO[name]


@pytest.mark.parametrize("name", KNOWN_TOOLS)
def test_a_tool_that_was_called_before_the_first_stop_of_a_prompt_is_not_asked_for(lab: Lab, name: str) -> None:
    lab.config(required_tools=["finish"])
    session = session_of(lab, name)
    session.prompt("one")
    session.tool("finish", "now")
    assert session.stop() == "A"
    if name not in BLIND:
        session.prompt("two")
        assert session.stops(2) == "BA"
        session.prompt("three")
        session.tool("x.finish", "now")
        assert session.stop() == "A"


@pytest.mark.parametrize("name", [name for name in NAMES if name not in (*BLIND, "cursor", "droid", "hermes")])
def test_the_first_stop_after_a_person_broke_in_is_fresh(lab: Lab, name: str) -> None:
    lab.config(honor_stop_hook_active=True).task(remaining=2)
    session = session_of(lab, name)
    for text in ("do it", "no, that", "both"):
        session.prompt(text)
        assert session.stop() == "B"


def test_two_stops_of_the_same_bytes_are_two_with_a_prompt_between(lab: Lab) -> None:
    lab.config(max_stop_blocks=2).task(remaining=2)
    session = session_of(lab, "openhands")
    other = beside(session, "openhands")
    session.prompt("one")
    assert session.stop() == "B"
    lab.raw("prompt", session.payload("prompt", prompt_id="2", message="two"))
    assert other.stop() == "B"
    assert len(lab.log()) == 2


@pytest.mark.parametrize("call", [None, "x", [], 5], ids=repr)
def test_an_odd_tool_call_is_none(lab: Lab, call: object) -> None:
    lab.config(dispatch_tools=["*"], dispatch_max=1)
    session = session_of(lab, "antigravity")
    assert [session.refusal(toolCall=call) for _ in range(3)] == [""] * 3
    assert lab.raw("post-tool", session.payload("post-tool", toolCall=call)) == ""
    assert lab.session()["acts"] == 1


def test_codexs_own_kind_of_tools_are_calls(lab: Lab) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    session = session_of(lab, "codex")
    session.prompt()
    assert session.stop() == "B"
    transcript = lab.root / "rollout.jsonl"
    item = {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch", "call_id": "c"}
    letters = ""
    for _ in range(2):  # the same one again is nothing new
        with transcript.open("a") as file:
            file.write(json.dumps({"type": "response_item", "payload": item}) + "\n")
        letters += session.stop(transcript_path=str(transcript))
    assert letters == "BR"


@pytest.mark.parametrize("name", ["gemini", "qwen", "copilot", "openhands", "cursor"])
def test_a_transcript_of_another_form_is_not_read(lab: Lab, name: str) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    lab.calls("one")
    session = session_of(lab, name)
    session.prompt()
    assert session.stop(**{**lab.payload, "session_id": "S"}) == "B"
    lab.calls("two")
    assert session.stop(**{**lab.payload, "session_id": "S"}) == LET_GO[name]


def test_a_background_task_of_copilot_is_no_prompt(lab: Lab) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    session = session_of(lab, "copilot")
    session.prompt()
    assert session.stops(2) == "BA"
    session.prompt('<system_notification>\nShell command "x" has completed.\n</system_notification>')
    assert (session.stop(), lab.codes()[-1]) == ("A", "open")
    session.prompt("What does <system_notification> mean?")
    assert session.stop() == "B"


def test_where_prompts_come_as_events_a_stop_without_one_is_no_prompt(lab: Lab) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    session = session_of(lab, "cursor", "all")
    session.prompt()
    assert session.stops(2) == "BA"
    assert (session.stop(loop_count=1), lab.codes()[-1]) == ("A", "open")


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


@pytest.mark.parametrize("name", ["gemini", "claude-run-by-cursor"])
def test_the_same_words_again_are_a_new_prompt(lab: Lab, name: str) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    session = session_of(lab, name)
    for _ in range(2):
        session.prompt("go on")
        assert session.stops(2) == "B" + LET_GO[name]


@pytest.mark.parametrize("status", ["aborted", "error"])
def test_what_a_person_has_aborted_in_cursor_stays_so(lab: Lab, status: str) -> None:
    lab.config(required_tools=["finish"]).task(remaining=2)
    session = session_of(lab, "cursor")
    assert (session.stop(status=status), lab.codes()) == ("A", ["allowed"])
    assert session.stop() == "B"
    assert session_of(lab, "gemini").stop(status=status) == "B"


def test_antigravity_waits_for_what_runs_in_the_background(lab: Lab) -> None:
    lab.task(remaining=2)
    session = session_of(lab, "antigravity")
    assert (session.stop(fullyIdle=False), lab.codes()[-1]) == ("A", "background")
    lab.config(yield_on_background=False)
    assert session.stop(fullyIdle=False) == "B"


REMINDED = [("HERMES_KANBAN_TASK", "A"), ("MINE", "B"), ("", "B")]


@pytest.mark.parametrize(("scope", "answer"), REMINDED, ids=["its own workers", "others", "everybody"])
def test_on_hermes_its_own_workers_are_left_to_its_own_reminder(lab: Lab, scope: str, answer: str) -> None:
    lab.config(required_tools=["kanban_complete"], required_scope_env=scope)
    lab.environment.update({scope: "T7"} if scope else {})
    session = session_of(lab, "hermes")
    session.prompt()
    assert session.stop() == answer


# --- caps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in (*NAMES, "claude-run-by-cursor") if name not in CAPPED])
def test_a_host_without_a_cap_of_its_own_that_overrides_answers_has_none_here(lab: Lab, name: str) -> None:
    lab.config(max_stop_blocks=0).task(remaining=2)
    assert session_of(lab, name).stops(12) == "B" * 12


@pytest.mark.parametrize("extra", [None, "attempt", [1], {"attempt": "1"}, {"attempt": None}, {}], ids=repr)
def test_an_odd_extra_of_hermes_tells_nothing(lab: Lab, extra: object) -> None:
    lab.config(max_stop_blocks=2).task(remaining=2)
    assert "".join(session_of(lab, "hermes").stop(extra=extra) for _ in range(3)) == "BBA"


def test_the_attempts_are_hermes_own(lab: Lab) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    session = Session(lab, "copilot")
    assert "".join(session.stop(extra={"attempt": 0}) for _ in range(3)) == "BAA"


# --- tool calls ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_a_call_made_too_often_is_refused_in_the_host_s_form(lab: Lab, name: str) -> None:
    lab.config(dispatch_tools=["*"], dispatch_max=1)
    session = session_of(lab, name)
    form = REFUSALS[session.host]
    assert session.refusal() == ""
    said = session.refusal()
    assert same_form(json.loads(said), form)
    assert [line["host"] for line in lab.log()] == [session.host]
    assert list(lab.state.rglob("dispatch.json")) != []


# --- where a session and a project are -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_every_event_is_of_the_same_session_and_project(lab: Lab, name: str) -> None:
    lab.task(remaining=2)
    session = session_of(lab, name)
    for event in PAYLOADS[name]:
        lab.raw(event, session.payload(event))
    assert session.stop() == "B"
    assert len([path for path in lab.folder.glob("*.json") if len(path.stem) == 16]) == 1
    assert {path.parent for path in lab.state.rglob("*.json*")} == {lab.folder}


@pytest.mark.parametrize("name", ["cursor", "claude-run-by-cursor"])
def test_cursors_variable_names_the_project(lab: Lab, name: str) -> None:
    lab.task(remaining=2)
    session = session_of(lab, name)
    lab.environment["CURSOR_PROJECT_DIR"] = str(lab.project)
    assert session.stop(workspace_roots=["/gone"]) == "B"
    lab.environment["CURSOR_PROJECT_DIR"] = ""
    assert [session.stop(workspace_roots=roots) for roots in ([], None, [None], "/")] == ["A"] * 4
    assert len(lab.log()) == 5
    assert not (lab.state / "guard" / name_of(Path("/"))).exists()


# --- another host's file ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BORROWED)
def test_who_runs_claude_codes_file_is_spoken_to_in_its_own_words(lab: Lab, name: str) -> None:
    lab.task(remaining=2)
    session = session_of(lab, name)
    session.prompt()
    assert session.stops(7) == "BBBBBAA"
    assert {line["host"] for line in lab.log()} == {session.host}
    assert lab.codes()[-2:] == ["tripped", "open"]


def test_the_cap_of_copilot_holds_in_claude_codes_file(lab: Lab) -> None:
    lab.config(max_stop_blocks=0).task(remaining=2)
    lab.environment["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "5000"
    assert session_of(lab, "claude-run-by-copilot").stops(9) == "B" * 8 + "A"
    assert lab.codes()[-1] == "host_cap"


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "qwen", "droid"])
def test_a_host_in_copilots_shell_is_itself(lab: Lab, name: str) -> None:
    lab.task(remaining=2)
    lab.environment["COPILOT_CLI"] = "1"
    assert session_of(lab, name).stop() == "B"
    assert [line["host"] for line in lab.log()] == [name]


@pytest.mark.parametrize("fields", [{"conversation_id": "c"}, {"loop_count": 1}, {"generation_id": "g"}], ids=repr)
def test_one_field_of_cursors_makes_no_cursor(lab: Lab, fields: dict[str, object]) -> None:
    lab.task(remaining=2)
    assert session_of(lab, "claude").stop(**fields) == "B"


@pytest.mark.parametrize("field", ["cursor_version", "generation_id", "loop_count"])
def test_a_conversation_with_one_field_of_cursors_is_cursors(lab: Lab, field: str) -> None:
    lab.task(remaining=2)
    lab.stop(conversation_id="c", **{field: 1})
    assert [line["host"] for line in lab.log()] == ["cursor"]


def test_copilots_project_is_the_one_that_it_names(lab: Lab) -> None:
    lab.task(remaining=2)
    session = session_of(lab, "claude-run-by-copilot")
    lab.environment |= {"COPILOT_PROJECT_DIR": str(lab.project), "CLAUDE_PROJECT_DIR": str(lab.root)}
    assert session.stop(cwd="/") == "B"


def beside(session: Session, name: str) -> Session:
    """The same session as another registration of ours sees it."""
    other = Session(session.lab, name, folder=session.lab.second())
    other.now = session.now
    return other


def stop_both(session: Session, other: Session, first: int) -> str:
    """One stop, told to both registrations; what they say."""
    pair = [session, other] if first == 0 else [other, session]
    letters = ""
    for registration in pair:
        registration.lab.host = registration.name.partition("-")[0]
        letters += registration.stop()
    return letters


@pytest.mark.parametrize(
    ("own", "borrowed"),
    [("copilot", "claude-run-by-copilot"), ("cursor", "claude-run-by-cursor")],
    ids=lambda name: name,
)
@pytest.mark.parametrize("first", [0, 1], ids=["own-first", "borrowed-first"])
def test_a_stop_that_comes_in_two_spellings_is_one(lab: Lab, own: str, borrowed: str, first: int) -> None:
    lab.config(max_stop_blocks=2).task(remaining=2)
    session = session_of(lab, own)
    session.prompt()
    other = beside(session, borrowed)
    assert [stop_both(session, other, first) for _ in range(4)] == ["BB", "BB", "AA", "AA"]
    assert lab.codes() == ["blocked", "blocked", "tripped", "open"]
    assert {line["host"] for line in lab.log()} == {own}


def test_two_stops_of_copilot_are_two_although_one_registration_missed_the_first(lab: Lab) -> None:
    lab.config(max_stop_blocks=2).task(remaining=2)
    session = session_of(lab, "copilot")
    other = beside(session, "claude-run-by-copilot")
    assert session.stop() == "B"
    other.now = session.now
    lab.host = "claude"
    assert other.stops(2) == "BA"
    assert lab.codes() == ["blocked", "blocked", "tripped"]


@pytest.mark.parametrize("when", [None, "", True, [1], 1.5], ids=repr)
def test_without_a_time_of_copilots_the_bytes_say_what_is_one_stop(lab: Lab, when: object) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    session = session_of(lab, "copilot")
    other = beside(session, "copilot")
    assert session.stop(timestamp=when) + other.stop(timestamp=when) == "BB"
    assert session.stop(timestamp=when) + other.stop(timestamp=when, stopReason="other") == "AA"
    assert len(lab.log()) == 3


@pytest.mark.parametrize("when", ["soon", -1, 10**17, 10**30], ids=repr)
def test_an_odd_time_of_copilots_is_a_time(lab: Lab, when: object) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    session = session_of(lab, "copilot")
    other = beside(session, "copilot")
    assert session.stop(timestamp=when) + other.stop(timestamp=when, stopReason="other") == "BB"
    assert session.stop(timestamp=0) == "A"


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
