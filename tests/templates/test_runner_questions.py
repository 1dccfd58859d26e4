"""What a pack's command is asked on each host: Claude Code's names and keys, whatever the host's own are.

`calls/` has the calls as the clients or their documents have them, and what each does, written by hand: nothing there
comes from the tables that translate. rows/questions.txt has what no call shows.
"""

from __future__ import annotations

import json
import resource
import shlex
import time
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.hosts.matchers import fits
from hookctl.packs.runner import fit
from tests.documents.table import read_table
from tests.texts import all_of

from .runner_bench import BASES, HOSTS, SHELLS, Bench, decide

HERE = Path(__file__).parent
PRE = "PreToolUse"
FILES = {path.stem: json.loads(path.read_text()) for path in sorted((HERE / "calls").glob("*.json"))}
CALLS = [
    pytest.param(name, call, id=f"{name}-{call['name']}")
    for name, file in FILES.items()
    for call in file["calls"]
    if call["payload"]  # of some calls no hook is told
]
TOOLS = [(name, tool, kind) for name, file in FILES.items() for tool, kind in file["tools"].items()]
CLASSES = {"shell": "Bash", "write": "Write", "edit": "Edit", "read": "Read", "fetch": "WebFetch"}
PATCH = "*** Begin Patch\n*** Add File: new.py\n+a\n*** End Patch\n"


def host_of(name: str) -> str:
    """The host of a file; some have more than one way of telling their hooks."""
    return name.partition("-")[0]


def told(question: Any, names: Any) -> dict[str, Any]:
    """The tool and these inputs of a question, and its file as every hook is told of it."""
    input = question.get("tool_input", {})
    own = {name: input.get(name, question.get(name)) for name in names if name != "tool_name"}
    if "file_path" in names:
        own["file_path"] = (question["portable"]["paths"] or [None])[0]
    return {**({"tool_name": question["tool_name"]} if "tool_name" in names else {}), **own}


def test_every_host_has_calls() -> None:
    assert {host_of(name) for name in FILES} == set(hosts.names())
    for name, file in FILES.items():
        kinds = {ask.get("tool_name") for call in file["calls"] for ask in call["asks"]}
        one_tool = {"windsurf": "Write"}  # which is an edit there
        assert {"Bash", "Write", "Edit", "Read"} - {one_tool.get(name)} <= kinds, name


@pytest.mark.parametrize(("name", "call"), CALLS)
def test_a_hook_is_asked_about_all_that_a_call_does(bench: Bench, name: str, call: Any) -> None:
    bench.environment["HOME"] = "/home/u"
    event = "UserPromptSubmit" if call["name"].startswith("prompt") else PRE
    seen = bench.ask(host_of(name), event, call["payload"])
    assert [told(question, ask) for question, ask in zip(seen, call["asks"], strict=False)] == call["asks"]
    assert len(seen) == len(call["asks"])


@all_of(("name", "call"), [case for case in CALLS if "tool_name" in str(case.values[1]["asks"])])
def test_a_pack_is_registered_for_all_that_a_call_does(name: str, call: Any) -> None:
    """The host's own matcher of a pack for one of Claude Code's tools fits what the host says that it calls."""
    host, payload = hosts.load(host_of(name)), call["payload"]
    named = [payload.get(key) for key in ("tool_name", "toolName", "agent_action_name")]
    tool = next(filter(None, named), "") or payload["toolCall"]["name"]
    for ask in call["asks"] if host.name != "claude" else ():
        if ask["tool_name"] in CLASSES.values():
            matcher, lost = fit(host, "pre-tool", ask["tool_name"])
            assert (matcher or not lost) and fits(host, matcher, [tool]), (tool, matcher)


@all_of(("name", "tool", "kind"), TOOLS)
def test_every_tool_that_changes_files_or_runs_commands_is_of_a_class(name: str, tool: str, kind: str) -> None:
    host = hosts.load(host_of(name))
    if kind in ("shell", "write", "edit", "read"):
        assert tool in [*host.tools.get(kind, ()), *host.runner.get("by", {}).get("tools", ())]


@pytest.mark.parametrize(("host", "call"), [("cursor", "write"), ("windsurf", "edit")])
def test_a_hook_for_either_is_asked_where_one_tool_writes_and_edits(bench: Bench, host: str, call: str) -> None:
    (payload,) = [each["payload"] for each in FILES[host]["calls"] if each["name"] == call]
    asked = [len(bench.ask(host, PRE, payload, "--matcher", matcher)) for matcher in ("Write", "Edit", "Read")]
    assert asked == [1, 1, 0]


def is_asked(question: Any, expected: Any, top: str = "") -> bool:
    """Has a question this part? A tool's input is there in full."""
    if isinstance(expected, str) and top == "":
        tool, _, path = expected.partition(" ")
        paths = question["portable"]["paths"]
        is_path = paths == [question["tool_input"].get("file_path")] if tool != "*" and paths else True
        return tool in ("*", question["tool_name"]) and is_path and (paths or ["None"])[0] == (path or "None")
    if isinstance(expected, dict) and top != "tool_input":
        return all(name in question and is_asked(question[name], part, name) for name, part in expected.items())
    return bool(question == expected)


@pytest.mark.parametrize(("host", "event", "sent", "options", "asked"), read_table("questions", HERE / "rows"))
def test_a_row(bench: Bench, host: str, event: str, sent: str, options: str, asked: str) -> None:
    """A path below the project is told from there on; LINK leads elsewhere, and ROOT is the folder above."""
    (bench.root / "link").symlink_to("/usr")
    tool, _, rest = sent.partition(" ") if not sent.startswith("{") else ("", "", sent)
    rest = rest.replace("/LINK", str(bench.root / "link"))
    fields, end = json.JSONDecoder().raw_decode(rest)
    payload = bench.payload(host, event, **fields)
    if tool:
        payload = bench.tool_call(host, tool, fields, event, **json.loads(rest[end:] or "{}"))
    seen = bench.ask(host, event, payload, *shlex.split(options))
    assert all(each["portable"]["native"] == (None if host == "claude" else payload) for each in seen)
    plain = json.loads(json.dumps(seen).replace(f"{bench.project}/", "").replace(str(bench.root), "ROOT"))
    wanted = json.loads(asked)
    assert len(plain) == len(wanted) and all(map(is_asked, plain, wanted)), plain


# Claude Code's fields, then our own, as each host fills them at the shell's call.
CAN = {
    "claude": "refuse ask change context", "codex": "refuse context", "gemini": "refuse change", "qwen": "refuse ask",
    "copilot": "refuse ask change context", "opencode": "refuse change context", "pi": "refuse change context",
    "openhands": "refuse", "droid": "refuse change", "hermes": "refuse", "vibe": "refuse change",
}  # fmt: skip
TURNS = {"claude": "p1", "codex": "t1", "qwen": BASES["qwen"]["pre-tool"]["prompt_id"], "opencode": "msg_1",
         "pi": "42648467"}  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_the_whole_question_with_null_for_what_is_unknown(bench: Bench, host: str) -> None:
    payload = bench.tool_call(host, SHELLS[host], {"command": "ls"})
    (asked,) = bench.ask(host, PRE, payload)
    portable = asked.pop("portable")
    assert portable.pop("turn") == TURNS.get(host)
    assert portable == {
        "host": host,
        "event": PRE,
        "tool": "shell",
        "command": "ls",
        **dict.fromkeys(("paths", "url", "ok", "exit_status", "agent")),
        "can": CAN[host].split(),
        "native": None if host == "claude" else payload,
    }
    own = {
        "session_id": payload.get("session_id", payload.get("sessionId")),
        "transcript_path": payload.get("transcript_path"),
        "cwd": str(bench.project),
        "permission_mode": payload.get("permission_mode"),
        "hook_event_name": PRE,
        "tool_use_id": payload.get("tool_call_id" if host == "vibe" else "tool_use_id"),
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
    }
    assert asked == (payload if host == "claude" else own)


@pytest.mark.parametrize(
    "data",
    [b'{"tool_name":"Bash","n":1.50,"n":2}', b' {"a" : "\\u00e9\xc3\xa9" }\n', b"{}", b"\xef\xbb\xbf{ }", b'{"a":"}"}'],
)
def test_claude_codes_bytes_come_as_they_are_with_one_key_more(bench: Bench, data: bytes) -> None:
    bench.run("claude", PRE, data, f"cat > {bench.seen}")
    head, found, tail = bench.seen.read_bytes().partition(b'"portable":')
    assert found
    assert head.rstrip(b",") == data.rstrip()[:-1]
    assert json.loads(tail[:-1])["host"] == "claude"
    assert tail.endswith(b"}}")


def test_a_hook_of_the_shell_may_change_or_allow_a_command_with_a_patch(bench: Bench) -> None:
    answer = decide("allow", updatedInput={"command": "ls"})
    payload = bench.tool_call("codex", "Bash", {"command": f"apply_patch <<'EOF'\n{PATCH}EOF\n"})
    command = f"echo '{json.dumps(answer)}'"
    assert bench.run("codex", PRE, payload, command, "--may-allow", "--matcher", "Bash").answer == answer
    ran = bench.run("codex", PRE, payload, command, "--may-allow", "--matcher", "Write|Edit")
    assert ran.outcome == "deny", "a change of an edit has no place in the command"


@pytest.mark.parametrize("args", [{"path": "/f", "file_text": "a"}, '{"path": "/f", "file_text": "a"}'])
def test_copilots_two_spellings_are_one_question(bench: Bench, args: Any) -> None:
    camel = {"cwd": str(bench.project), "sessionId": "S", "toolName": "create", "toolArgs": args, "agentId": "A"}
    pascal = {"cwd": str(bench.project), "session_id": "S", "tool_name": "Write", "tool_input": args, "agent_id": "A"}
    (first,), (second,) = (bench.ask("copilot", PRE, sent) for sent in (camel, {**pascal, "hook_event_name": PRE}))
    del first["portable"]["native"], second["portable"]["native"]
    assert first == second
    assert first["tool_input"] == {"file_path": "/f", "content": "a"}
    assert (first["session_id"], first["portable"]["agent"]) == ("S", "A")


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"])
@pytest.mark.parametrize(
    ("host", "fields"),
    [
        ("copilot", {"agentId": "A"}),
        ("droid", {"calling_session_id": "M"}),
        ("hermes", {"extra": {"platform": "subagent", "user_message": "begin"}}),
        ("vibe", {"parent_session_id": "M"}),
    ],
)
def test_a_sub_agent_stops_begins_and_ends_unheard(bench: Bench, host: str, fields: dict[str, Any], event: str) -> None:
    assert bench.ask(host, event, bench.payload(host, event, **fields)) == []
    assert len(bench.ask(host, event, bench.payload(host, event))) == 1


# Long calls, and hooks without an opinion
def test_many_files_take_no_more_time_than_the_hook_has(bench: Bench) -> None:
    patch = "".join(f"*** Add File: f{number}\n+a\n" for number in range(300))
    payload = bench.tool_call("opencode", "apply_patch", {"patchText": patch})
    begin = time.monotonic()
    ran = bench.run("opencode", PRE, payload, "sleep 0.1", "--timeout", "1", "--on-failure", "deny")
    assert ran.answer["decision"] == "deny" and time.monotonic() - begin < 3


def test_a_file_behind_many_others_is_asked_about(bench: Bench) -> None:
    """Each question has descriptors of its own, which are few where a limit is low."""
    patch = "".join(f"*** Add File: f{number}\n+a\n" for number in range(80)) + "*** Delete File: .env\n"
    payload = bench.tool_call("opencode", "apply_patch", {"patchText": patch})
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, limit[1]))
    try:
        assert len(bench.ask("opencode", PRE, payload)) == 81
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)


@pytest.mark.parametrize(
    ("host", "tool", "input"),
    [
        ("codex", "Bash", {"command": "*** Begin Patch\n*** Update File: a\n" * 12_000}),
        ("pi", "edit", {"path": "/x", "edits": [{"oldText": "a" * 50, "newText": "b" * 50}] * 60_000}),
    ],
)
def test_a_long_call_is_read_once(bench: Bench, host: str, tool: str, input: Any) -> None:
    assert bench.run(host, PRE, bench.tool_call(host, tool, input), "exit 2", "--timeout", "3").answer


def test_a_hook_without_an_opinion_says_so_where_silence_refuses(bench: Bench) -> None:
    call = FILES["antigravity"]["calls"][0]["payload"]
    other = ["--matcher", "Write"]  # which the call does not fit
    for command, options in ((":", []), ("exit 2", other), ("exit 1", []), ("echo {}", [])):
        assert bench.run("antigravity", PRE, call, command, *options).answer == {"decision": "allow"}
    assert bench.run("antigravity", PRE, call, "exit 2").answer["decision"] == "deny"
    assert bench.run("antigravity", "PostToolUse", call, ":").answer is None
