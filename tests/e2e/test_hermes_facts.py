"""The behaviour of the real Hermes agent that hookctl relies on; expected values are in pins/hermes.toml."""

import json
import shlex
from typing import Any

import pytest
import yaml

from .agent import Run
from .clients import Client
from .dialects import Call
from .hermes import ACCEPT, BASE, YOLO, Place, ask, play, shell, write_file
from .hooks import END, NESTED, UNDECIDED, say, verdict
from .model_server import Script
from .probe import BLOCK, Probe, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]

Entry = dict[str, Any]
NO = verdict("block", "no")


def in_shell(command: str) -> str:
    """The form that hookctl writes for a host that runs no shell."""
    return f"sh -c {shlex.quote(command)}"


def entry(hook: Probe | str, **more: Any) -> Entry:
    return {"command": hook if isinstance(hook, str) else in_shell(hook.command), **more}


def write_settings(place: Place, more: dict[str, Any] | None = None, **events: Any) -> None:
    place.settings.write_text(BASE + yaml.safe_dump({**(more or {}), "hooks": events}, width=10_000, sort_keys=False))


def run_turn(hermes: Client, place: Place, *arguments: str, **options: Any) -> Run:
    """A turn that writes a file, and whose model is done every time it is asked again."""
    return play(hermes, place, Script([write_file(place), "done"], limit=12), YOLO, *arguments, timeout=120, **options)


def attempts(probe: Probe) -> list[int]:
    return [heard.payload["extra"]["attempt"] for heard in probe.heard()]


# The end of a turn


def test_a_hook_that_always_blocks_is_asked_three_times_and_the_reply_is_kept(hermes: Client, place: Place) -> None:
    """Beside it stand an event that Hermes does not know, malformed entries, and a second hook, which is not heard."""
    first, second = (make_probe(place.root, name, answers=(verdict("block", name),)) for name in ("first", "second"))
    strangers = {"Stop": [entry(first)], "on_session_start": None, "post_tool_call": ["text", {"timeout": 1}]}
    write_settings(place, **strangers, on_session_end="text", pre_verify=[entry(first), entry(second)])
    before = place.settings.read_bytes()
    run = run_turn(hermes, place, ACCEPT)
    cap = hermes.pins["cap"]["default"]
    assert (run.requests, run.code) == (2 + cap, 0)
    assert attempts(first) == attempts(second) == list(range(cap))
    assert run.told("user") == ["begin", *["first"] * cap]
    assert run.out.endswith("\ndone\n")
    assert "unknown hook event 'Stop'" in place.log()
    assert place.settings.read_bytes() == before
    assert hermes.pins["consent"]["entry"] == sorted(place.approvals()[0])
    heard, variables = first.heard()[0], hermes.pins["variables"]
    assert heard.payload["cwd"] == heard.environment[variables["project"]] == str(place.project)
    assert heard.payload["session_id"] == heard.environment[variables["session"]] != ""
    assert heard.payload["extra"]["changed_paths"] == [str(place.project / "made.py")]


def test_a_turn_without_a_written_file_asks_no_hook(hermes: Client, place: Place) -> None:
    """A file that a command of the shell writes does not count."""
    probe = make_probe(place.root, answers=(BLOCK,))
    write_settings(place, pre_verify=[entry(probe)])
    run = play(hermes, place, [shell("echo 1 > made.py"), "done"], YOLO, ACCEPT, timeout=120)
    assert (run.requests, run.code, probe.heard()) == (2, 0, [])
    assert (place.project / "made.py").exists()


def test_the_cap_is_a_setting_and_a_tool_call_does_not_start_its_count_again(hermes: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(BLOCK,))
    write_settings(place, {"agent": {hermes.pins["cap"]["setting"]: 2}}, pre_verify=[entry(probe)])
    replies = [write_file(place), "one", write_file(place, "more.py"), "two", write_file(place, "last.py"), "done"]
    run = play(hermes, place, Script(replies, limit=12), YOLO, ACCEPT, timeout=120)
    assert (run.requests, attempts(probe)) == (6, [0, 1])


def test_a_new_prompt_of_the_same_session_starts_the_count_again(hermes: Client, place: Place) -> None:
    """Nothing but the attempt says so: the payload has no identity of the turn."""
    probe = make_probe(place.root, answers=(BLOCK, ""))
    write_settings(place, pre_verify=[entry(probe)])
    run_turn(hermes, place, ACCEPT)
    run_turn(hermes, place, ACCEPT, "--continue")
    assert attempts(probe) == [0, 1, 0]
    assert len({heard.payload["session_id"] for heard in probe.heard()}) == 1
    assert not any("turn" in name for heard in probe.heard() for name in heard.payload["extra"])


def test_these_block_whatever_the_exit_code(hermes: Client, place: Place) -> None:
    answers = (
        json.dumps({"action": "continue", "message": "one"}),
        json.dumps({"decision": "block", "message": "two", "more": 1}),
        verdict("block", "three"),
    )
    write_settings(place, pre_verify=[entry(make_probe(place.root, answers=answers, code=2, errors="words"))])
    run = run_turn(hermes, place, ACCEPT)
    assert (run.requests, run.told("user")) == (5, ["begin", "one", "two", "three"])


def test_what_passes(hermes: Client, place: Place) -> None:
    passing = [
        *UNDECIDED,
        say(END),
        say("text"),
        say(verdict("block", "")),
        say(verdict("approve", "on")),
        say(code=2, errors="on"),
    ]
    without_a_shell = ["/nowhere/hook", "sh /nowhere/hook", "sh -c 'open", ": hookctl=guard/stop; exit 0"]
    write_settings(place, pre_verify=[*(entry(in_shell(hook)) for hook in passing), *map(entry, without_a_shell)])
    run = run_turn(hermes, place, ACCEPT)
    assert (run.requests, run.code) == (2, 0)
    assert "let go" not in run.out + run.errors, "a message is shown now"
    log = place.log()
    assert "No closing quotation" in log
    assert log.count("command not found") == 2, "a command is run in a shell now"


def test_a_timeout_is_in_seconds_and_its_hook_s_answer_is_lost(hermes: Client, place: Place) -> None:
    late = make_probe(place.root, "late", answers=(verdict("block", "late"),), seconds=3)
    slow = make_probe(place.root, "slow", answers=(verdict("block", "in time"), ""), seconds=2)
    write_settings(place, pre_verify=[entry(late, timeout=1), entry(slow, timeout=20), entry("true")])
    run = run_turn(hermes, place, ACCEPT)
    assert run.told("user") == ["begin", "in time"]
    assert "timed out" in place.log()
    assert f"timeout={hermes.pins['timeout']['default']}s" in place.log()


# Consent


def test_without_consent_no_hook_is_run_and_the_log_says_so(hermes: Client, place: Place) -> None:
    """What counts is the event and the command, word for word, and not when the script was written."""
    agreed, changed, other = (make_probe(place.root, name) for name in ("agreed", "changed", "other"))
    write_settings(place, pre_verify=[entry(agreed), entry(changed), entry(other)])
    old = {"event": "pre_verify", "script_mtime_at_approval": "2001-01-01T00:00:00Z"}
    approvals = [
        {**old, "command": entry(agreed)["command"]},
        {**old, "command": entry(changed)["command"].replace("sh -c", "sh  -c")},
        {**old, "command": entry(other)["command"], "event": "on_session_end"},
    ]
    place.consent.write_text(json.dumps({"approvals": approvals}))
    run = run_turn(hermes, place)
    assert (run.requests, run.code) == (2, 0)
    assert [len(probe.heard()) for probe in (agreed, changed, other)] == [1, 0, 0]
    assert place.log().count("not allowlisted") == 2
    assert place.approvals() == approvals
    assert "not allowlisted" in ask(hermes, place, "hooks", "list")


@pytest.mark.parametrize("way", ["variable", "setting"])
def test_consent_may_come_from_the_environment_or_the_settings_and_is_written_down(
    hermes: Client, place: Place, way: str
) -> None:
    probe, consent = make_probe(place.root), hermes.pins["consent"]
    write_settings(place, {consent["setting"]: True} if way == "setting" else {}, pre_verify=[entry(probe)])
    run_turn(hermes, place, environment={consent["variable"]: "1"} if way == "variable" else {})
    assert len(probe.heard()) == 1
    assert [one["command"] for one in place.approvals()] == [entry(probe)["command"]]


# The other events


def test_a_refused_tool_call_is_not_made_and_the_model_is_told(hermes: Client, place: Place) -> None:
    answers = (NO, json.dumps({"action": "block", "message": "no"}), NESTED)
    refuses = make_probe(place.root, "refuses", answers=answers)
    exits = make_probe(place.root, "exits", code=2, errors="no")
    passed_over = make_probe(place.root, "passed-over", answers=(NO,))
    ended = make_probe(place.root, "ended")
    matched = {"write_.*": refuses, "patch|terminal": exits, "term": passed_over}
    hooks = [entry(probe, matcher=matcher) for matcher, probe in matched.items()]
    write_settings(place, pre_tool_call=hooks, pre_verify=[entry(ended)])
    replies = [write_file(place, f"{n}.py") for n in range(3)]
    run = play(hermes, place, [*replies[:2], shell("echo 1 > shell.txt"), "done"], YOLO, ACCEPT, timeout=120)
    assert run.told("tool")[:2] == ['{"error": "no"}'] * 2
    assert [len(probe.heard()) for probe in (refuses, exits, passed_over)] == [2, 1, 0]
    assert ended.heard() == [], "a refused write counts as one now"
    assert sorted(path.name for path in place.project.iterdir()) == ["shell.txt"]
    payload = refuses.heard()[0].payload
    assert (payload["tool_name"], payload["tool_input"]) == ("write_file", dict(replies[0].arguments))
    run = play(hermes, place, [replies[2], "done"], YOLO, ACCEPT, timeout=120)
    assert (place.project / "2.py").exists(), "Claude Code's nested answer is read now"


def test_payloads_have_the_pinned_fields_and_a_subagent_is_heard_of(hermes: Client, place: Place) -> None:
    pinned = hermes.pins["extra"]
    probes = {event: make_probe(place.root, event) for event in pinned}
    write_settings(place, **{event: [entry(probe)] for event, probe in probes.items()})
    delegate = Call("delegate_task", {"goal": "SUBAGENT: look", "context": "none"})
    # A sub-agent works in the background, and the process ends without it.
    log = shlex.quote(str(probes["subagent_stop"].stem.with_suffix(".log.jsonl")))
    wait = shell(f"for n in $(seq 300); do [ -s {log} ] && break; sleep 0.1; done")
    script = Script([write_file(place), delegate, wait, "done"], sub_marker="SUBAGENT: look", limit=8)
    run = play(hermes, place, script, YOLO, ACCEPT, timeout=120)
    assert (run.requests, run.count("sub"), run.code) == (4, 1, 0)
    for event, fields in pinned.items():
        payload = probes[event].heard()[0].payload
        assert set(hermes.pins["payload"]["all"]) <= set(payload), event
        assert set(fields) <= set(payload["extra"]), event
        assert payload["hook_event_name"] == event
    sessions = {heard.payload["session_id"] for heard in probes["on_session_end"].heard()}
    assert len(sessions) == 2, "a subagent's end is not that of a session any more"
    assert len(probes["pre_verify"].heard()) == 1


# The settings file


@pytest.mark.parametrize(
    "text", ["model: [\n", BASE + "hooks:\n\tx: 1\n", BASE + "---\nx: 1\n"], ids=["torn", "a tab", "two documents"]
)
def test_a_broken_file_is_ignored_as_a_whole(hermes: Client, place: Place, text: str) -> None:
    broken = text.encode()
    place.settings.write_bytes(broken)
    run = play(hermes, place, ["done"], YOLO)
    assert (run.requests, run.code) == (0, hermes.pins["exit"]["settings_broken"])
    assert "is being IGNORED" in run.errors
    assert place.settings.read_bytes() == broken
    assert [path.read_bytes() for path in place.config.glob("config.yaml.corrupt.*.bak")] == [broken]


def test_a_byte_order_mark_and_carriage_returns_are_read_and_of_a_doubled_key_the_last(
    hermes: Client, place: Place
) -> None:
    first, last = make_probe(place.root, "first"), make_probe(place.root, "last")
    write_settings(place, pre_verify=[entry(first)])
    text = place.settings.read_text() + yaml.safe_dump({"hooks": {"pre_verify": [entry(last)]}}, width=10_000)
    place.settings.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    run_turn(hermes, place, ACCEPT)
    assert (len(first.heard()), len(last.heard())) == (0, 1)


def test_a_variable_in_braces_is_put_in_by_hermes_itself_if_it_is_set(hermes: Client, place: Place) -> None:
    probe = make_probe(place.root)
    command = probe.command.replace(str(probe.stem), "${PROBE}")
    write_settings(place, pre_verify=[entry(command), entry("sh -c ': ${NOT_SET}'"), entry("sh -c ': $PROBE'")])
    run_turn(hermes, place, ACCEPT, environment={"PROBE": str(probe.stem)})
    assert len(probe.heard()) == 1
    commands = [one["command"] for one in place.approvals()]
    assert commands == [probe.command, "sh -c ': ${NOT_SET}'", "sh -c ': $PROBE'"]


def test_the_config_folder_moves_with_its_variable_and_managed_settings_hide_an_event(
    hermes: Client, place: Place
) -> None:
    users, moved, managed = (make_probe(place.root, name) for name in ("users", "moved", "managed"))
    write_settings(place, pre_verify=[entry(users)])
    config, system = place.root / "elsewhere", place.root / "managed-settings"
    for folder in (config, system):
        folder.mkdir()
    hooks = {"pre_verify": [entry(users)], "on_session_end": [entry(moved)]}
    (config / "config.yaml").write_text(BASE + yaml.safe_dump({"hooks": hooks}, width=10_000))
    (system / "config.yaml").write_text(yaml.safe_dump({"hooks": {"pre_verify": [entry(managed)]}}, width=10_000))
    names = hermes.pins["variables"]
    variables = {names["config_folder"]: str(config), names["managed_folder"]: str(system)}
    run_turn(hermes, place, ACCEPT, environment=variables)
    assert [len(probe.heard()) for probe in (users, moved, managed)] == [0, 1, 1]
    assert (config / place.consent.name).exists() and not place.consent.exists()
