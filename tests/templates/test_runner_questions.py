"""What a pack's command is asked on each host: Claude Code's names and keys, whatever the host's own are."""

import json
from typing import Any

import pytest

from .runner_bench import BASES, HOSTS, SHELLS, Bench, decide

PRE = "PreToolUse"
# Host, its tool and input, then Claude Code's tool and input, and the class: those that are not in `calls/`.
CALLS: list[tuple[str, str, dict[str, Any], str, dict[str, Any], str]] = [
    ("claude", "Agent", {"prompt": "p"}, "Agent", {"prompt": "p"}, "agent"),
    ("claude", "TodoWrite", {"todos": []}, "TodoWrite", {"todos": []}, "other"),
    ("codex", "spawn_agent", {"message": "p"}, "Agent", {"prompt": "p"}, "agent"),
    ("gemini", "grep_search", {"pattern": "x"}, "Grep", {"pattern": "x"}, "search"),
    ("gemini", "glob", {"pattern": "x"}, "Glob", {"pattern": "x"}, "list"),
    ("gemini", "list_directory", {"dir_path": "/d"}, "Glob", {"path": "/d"}, "list"),
    ("gemini", "google_web_search", {"query": "q"}, "WebSearch", {"query": "q"}, "other"),
    ("gemini", "invoke_agent", {"agent_name": "a"}, "Agent", {"subagent_type": "a"}, "agent"),
    ("qwen", "grep_search", {"pattern": "x"}, "Grep", {"pattern": "x"}, "search"),
    ("qwen", "agent", {"prompt": "p"}, "Agent", {"prompt": "p"}, "agent"),
    ("copilot", "grep", {"pattern": "x"}, "Grep", {"pattern": "x"}, "search"),
    ("copilot", "glob", {"pattern": "x"}, "Glob", {"pattern": "x"}, "list"),
    ("copilot", "task", {"prompt": "p", "agent_type": "a"}, "Agent", {"prompt": "p", "subagent_type": "a"}, "agent"),
    ("openhands", "file_editor", {"command": ["view"], "path": "/f"}, "file_editor", {"path": "/f"}, "other"),
    ("openhands", "grep", {"pattern": "x"}, "Grep", {"pattern": "x"}, "search"),
    ("droid", "Glob", {"patterns": ["*.py"]}, "Glob", {"pattern": "*.py"}, "list"),
    ("droid", "LS", {"directory_path": "/d"}, "Glob", {"path": "/d"}, "list"),
    ("hermes", "search_files", {"pattern": "x", "path": "/d"}, "Grep", {"pattern": "x", "path": "/d"}, "search"),
    ("hermes", "delegate_task", {"goal": "p"}, "Agent", {"prompt": "p"}, "agent"),
]


@pytest.mark.parametrize("host", HOSTS)
def test_each_other_tool_is_asked_about_as_claude_codes(bench: Bench, host: str) -> None:
    for name, tool, sent, claude, input, kind in CALLS:
        if name != host:
            continue
        payload = bench.tool_call(host, tool, sent)
        (asked,) = bench.ask(host, "PreToolUse", payload)
        portable = asked["portable"]
        assert (asked["tool_name"], asked["tool_input"], portable["tool"]) == (claude, input, kind)
        assert [portable[name] for name in ("paths", "command", "url")] == [None] * 3
        assert portable["native"] == (None if host == "claude" else payload)


# Claude Code's fields, then our own, as each host fills them at the shell's call.
CAN = {
    "claude": ["refuse", "ask", "change", "context"],
    "codex": ["refuse", "context"],
    "gemini": ["refuse", "change"],
    "qwen": ["refuse", "ask"],
    "copilot": ["refuse", "ask", "change", "context"],
    "opencode": ["refuse", "change", "context"],
    "pi": ["refuse", "change", "context"],
    "openhands": ["refuse"],
    "droid": ["refuse", "change"],
    "hermes": ["refuse"],
    "vibe": ["refuse", "change"],
}
TURNS = {"claude": "p1", "codex": "t1", "qwen": BASES["qwen"]["pre-tool"]["prompt_id"], "opencode": "msg_1",
         "pi": "42648467"}  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_the_whole_question_with_null_for_what_is_unknown(bench: Bench, host: str) -> None:
    payload = bench.tool_call(host, SHELLS[host], {"command": "ls"})
    (asked,) = bench.ask(host, "PreToolUse", payload)
    portable = asked.pop("portable")
    assert portable.pop("turn") == TURNS.get(host)
    assert portable == {
        "host": host,
        "event": "PreToolUse",
        "tool": "shell",
        "command": "ls",
        **dict.fromkeys(("paths", "url", "ok", "exit_status", "agent")),
        "can": CAN[host],
        "native": None if host == "claude" else payload,
    }
    if host == "claude":
        assert asked == payload
        return
    session = payload.get("session_id", payload.get("sessionId"))
    assert asked == {
        "session_id": session,
        "transcript_path": payload.get("transcript_path"),
        "cwd": str(bench.project),
        "permission_mode": payload.get("permission_mode"),
        "hook_event_name": "PreToolUse",
        "tool_use_id": payload.get("tool_call_id" if host == "vibe" else "tool_use_id"),
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
    }


@pytest.mark.parametrize(
    "data",
    [b'{"tool_name":"Bash","n":1.50,"n":2}', b' {"a" : "\\u00e9\xc3\xa9" }\n', b"{}", b"\xef\xbb\xbf{ }", b'{"a":"}"}'],
)
def test_claude_codes_bytes_come_as_they_are_with_one_key_more(bench: Bench, data: bytes) -> None:
    seen = bench.root / "seen"
    bench.run("claude", "PreToolUse", data, f"cat > {seen}")
    head, found, tail = seen.read_bytes().partition(b'"portable":')
    assert found
    assert head.rstrip(b",") == data.rstrip()[:-1]
    assert json.loads(tail[:-1])["host"] == "claude"
    assert tail.endswith(b"}}")


ADDED = "*** Add File: new.py\n+a\n+b\n"
CHANGED = "*** Update File: src/old.py\n@@\n one\n-two\n+2\n"
GONE = "*** Delete File: /gone\n"
MOVED = "*** Update File: .env\n*** Move to: env.txt\n@@\n-a\n+b\n"


def patch(*changes: str) -> dict[str, str]:
    return {"command": "*** Begin Patch\n" + "".join(changes) + "*** End Patch\n"}


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        ((ADDED,), ["Write new.py"]),
        ((CHANGED,), ["Edit src/old.py"]),
        ((ADDED, CHANGED, GONE), ["Write new.py", "Edit src/old.py", "Write /gone"]),
        ((MOVED,), ["Edit .env", "Edit env.txt"]),
        ((ADDED, "  " + GONE), ["Write new.py", "Write /gone"]),
        ((GONE, "\t*** Update File: x \n@@\n-a\n+b\n"), ["Write /gone", "Edit x"]),
        ((CHANGED + " *** Delete File: no\n",), ["Edit src/old.py"]),
        (("*** Add File: a\n+*** Delete File: no\n",), ["Write a"]),
    ],
)
def test_a_patch_is_one_question_a_file(bench: Bench, changes: tuple[str, ...], asked: list[str]) -> None:
    payload = bench.tool_call("codex", "apply_patch", patch(*changes))
    seen = bench.ask("codex", "PreToolUse", payload)
    paths = [one["tool_input"]["file_path"].replace(f"{bench.project}/", "") for one in seen]
    assert [f"{one['tool_name']} {path}" for one, path in zip(seen, paths, strict=True)] == asked
    assert all(one["portable"]["paths"] == [one["tool_input"]["file_path"]] for one in seen)
    assert all(one["portable"]["native"] == payload for one in seen)


EDITS = ("--matcher", "Edit|Write")
HERE = "apply_patch <<'EOF'\n*** Begin Patch\n" + ADDED + CHANGED + "*** End Patch\nEOF\n"


@pytest.mark.parametrize(
    ("command", "options", "asked"),
    [
        (HERE, (), ["Bash", "Write new.py", "Edit src/old.py"]),
        (HERE, ("--matcher", "Edit|Write"), ["Write new.py", "Edit src/old.py"]),
        (HERE, ("--matcher", "Bash"), ["Bash"]),
        (f"cd 'a b' && {HERE}", ("--matcher", "Write"), ["Write a b/new.py"]),
        (f"cd /tmp && {HERE}", ("--matcher", "Write"), ["Write /tmp/new.py"]),
        (f"cd /tmp&&cd x; {HERE}", ("--matcher", "Write"), ["Write /tmp/x/new.py"]),
        (f"(cd x; ls); {HERE}", ("--matcher", "Write"), ["Edit None"]),
        (f"cd x || cd y; {HERE}", EDITS, ["Edit None"]),
        (f"cd\t/etc && {HERE}", ("--matcher", "Write"), ["Write /etc/new.py"]),
        (f"env -C /etc {HERE}", EDITS, ["Edit None"]),
        (f"{{ cd /etc; {HERE} }}", EDITS, ["Edit None"]),
        (f"ls -C; {HERE}", ("--matcher", "Write"), ["Write new.py"]),
        (HERE.replace("apply_patch ", "'apply_patch'"), EDITS, ["Write new.py", "Edit src/old.py"]),
        (HERE.replace(" <<'EOF'\n", " '").replace("\nEOF", "'"), EDITS, ["Write new.py", "Edit src/old.py"]),
        (f"{HERE}cd sub\n{HERE}", ("--matcher", "Edit"), ["Edit src/old.py", "Edit sub/src/old.py"]),
        (HERE.replace("+b\n", "+*** End Patch\n+*** Begin Patch\n"), EDITS, ["Write new.py", "Edit src/old.py"]),
        (HERE.replace(" one\n", " *** End Patch\n"), EDITS, ["Write new.py", "Edit src/old.py"]),
        (f"cd $HOME && {HERE}", EDITS, ["Edit None"]),
        (f"cd - && {HERE}", EDITS, ["Edit None"]),
        ("printf '*** Begin Patch\\n*** Add File: new.py\\n+a' | apply_patch", EDITS, ["Edit None"]),
        ("cat apply_patch", (), ["Bash"]),
        # Nobody needs to name the program, so every patch counts.
        (HERE.replace("apply_patch", "cat"), EDITS, ["Write new.py", "Edit src/old.py"]),
    ],
)
def test_a_patch_in_a_shell_command_is_asked_as_its_edits_too(
    bench: Bench, command: str, options: tuple[str, ...], asked: list[str]
) -> None:
    seen = bench.ask("codex", "PreToolUse", bench.tool_call("codex", "Bash", {"command": command}), *options)
    paths = [str((one["portable"]["paths"] or [None])[0]).replace(f"{bench.project}/", "") for one in seen]
    told = [f"{one['tool_name']} {path}" for one, path in zip(seen, paths, strict=True)]
    assert [name.replace("Bash None", "Bash") for name in told] == asked
    if asked[0] == "Bash":
        assert seen[0]["tool_input"] == {"command": command}


def test_a_hook_of_the_shell_may_change_or_allow_a_command_with_a_patch(bench: Bench) -> None:
    answer = json.dumps(decide("allow", updatedInput={"command": "ls"}))
    payload = bench.tool_call("codex", "Bash", {"command": HERE})
    ran = bench.run("codex", "PreToolUse", payload, f"echo '{answer}'", "--may-allow", "--matcher", "Bash")
    assert ran.answer == decide("allow", updatedInput={"command": "ls"})
    ran = bench.run("codex", "PreToolUse", payload, f"echo '{answer}'", "--may-allow", "--matcher", "Write|Edit")
    assert ran.outcome == "deny", "a change of an edit has no place in the command"


@pytest.mark.parametrize("args", [{"path": "/f", "file_text": "a"}, '{"path": "/f", "file_text": "a"}'])
def test_copilots_two_spellings_are_one_question(bench: Bench, args: Any) -> None:
    base = {"cwd": str(bench.project)}
    camel = {**base, "sessionId": "S", "toolName": "create", "toolArgs": args, "agentId": "A"}
    pascal = {**base, "session_id": "S", "tool_name": "Write", "tool_input": args, "agent_id": "A"}
    pascal["hook_event_name"] = "PreToolUse"
    (first,), (second,) = (bench.ask("copilot", "PreToolUse", payload) for payload in (camel, pascal))
    for asked in (first, second):
        del asked["portable"]["native"]
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


@pytest.mark.parametrize(
    ("host", "event", "sent", "told"),
    [
        ("codex", "Stop", {"stop_hook_active": True}, {"stop_hook_active": True}),
        ("hermes", "Stop", {"extra": {"attempt": 0}}, {"stop_hook_active": False}),
        ("hermes", "Stop", {"extra": {"attempt": 2}}, {"stop_hook_active": True}),
        ("openhands", "Stop", {}, {"stop_hook_active": None}),
        ("qwen", "SubagentStop", {"agent_type": "Plan", "last_assistant_message": "bye"},
         {"agent_type": "Plan", "last_assistant_message": "bye"}),
        ("copilot", "SubagentStop", {"agentType": "Plan", "response": "bye"},
         {"agent_type": "Plan", "last_assistant_message": "bye"}),
        ("droid", "SubagentStop", {"task_name": "look", "task_result": "bye"},
         {"agent_type": None, "last_assistant_message": "bye"}),
        ("hermes", "SubagentStop", {"extra": {"child_summary": "bye"}},
         {"agent_type": None, "last_assistant_message": "bye"}),
        ("copilot", "SessionStart", {"source": "new"}, {"source": "startup"}),
        ("copilot", "SessionStart", {"source": "resume"}, {"source": "resume"}),
        ("gemini", "Notification", {"notification_type": "ToolPermission"}, {"notification_type": "permission_prompt"}),
    ],
)  # fmt: skip
def test_a_hosts_own_fields_and_words_are_told_as_claude_codes(
    bench: Bench, host: str, event: str, sent: dict[str, Any], told: dict[str, Any]
) -> None:
    payload = bench.payload(host, event, **sent)
    (asked,) = bench.ask(host, event, payload)
    assert {name: asked[name] for name in told} == told
    assert asked["portable"]["native"] == payload
    if event in ("SessionStart", "Notification"):
        (word,) = told.values()
        assert [len(bench.ask(host, event, payload, "--matcher", matcher)) for matcher in (f"{word}|x", "no")] == [1, 0]


# Host, what it sends after a shell command, then text, ok and exit status.
ENDS: list[tuple[str, Any, Any, Any, Any]] = [
    ("codex", {"tool_response": "out"}, "out", None, None),
    ("gemini", {"tool_response": {"llmContent": "out", "returnDisplay": "x"}}, "out", None, None),
    ("qwen", {"tool_response": {"llmContent": "out"}}, "out", True, None),
    ("copilot", {"toolResult": {"resultType": "success", "textResultForLlm": "out"}}, "out", None, None),
    ("copilot", {"toolResult": None, "tool_result": {"text_result_for_llm": "out"}}, "out", None, None),
    ("gemini", {"tool_response": {"llmContent": "out", "error": {"message": "boom"}}}, "boom", False, None),
    ("pi", {"tool_response": {"output": "out", "is_error": False}}, "out", True, None),
    ("pi", {"tool_response": {"output": "out", "is_error": True}}, "out", False, None),
    ("opencode", {"tool_response": {"output": "out", "metadata": {"exit": 0}}}, "out", True, 0),
    ("opencode", {"tool_response": {"output": "out", "metadata": {"exit": 3}}}, "out", False, 3),
    (
        "openhands",
        {"tool_response": {"content": [{"text": "out"}], "exit_code": 1, "is_error": False}},
        "out",
        False,
        1,
    ),
    ("openhands", {"tool_response": {"content": [{"text": "out"}], "exit_code": 0, "is_error": False}}, "out", True, 0),
    ("openhands", {"tool_response": {"content": [{"text": "out"}], "is_error": True}}, "out", False, None),
    ("droid", {"tool_response": "out"}, "out", None, None),
    ("hermes", {"extra": {"result": '{"output": "out", "exit_code": 2}'}}, "out", False, 2),
    ("hermes", {"extra": {"result": "plain"}}, "plain", None, None),
    ("hermes", {"extra": {"result": "plain", "status": "ok"}}, "plain", True, None),
    ("hermes", {"extra": {"result": "plain", "status": "error"}}, "plain", False, None),
    ("hermes", {"extra": {"result": "plain", "status": "timeout"}}, "plain", False, None),
]


@pytest.mark.parametrize(("host", "fields", "text", "ok", "status"), ENDS)
def test_what_came_of_a_call(bench: Bench, host: str, fields: Any, text: Any, ok: Any, status: Any) -> None:
    payload = bench.tool_call(host, SHELLS[host], {"command": "ls"}, "PostToolUse", **fields)
    other = "PostToolUse" if ok is False else "PostToolUseFailure"
    if host not in ("qwen", "copilot"):  # each end is an event of its own
        assert bench.ask(host, other, payload) == [], "a call has one end"
    event = "PostToolUseFailure" if ok is False else "PostToolUse"
    (asked,) = bench.ask(host, event, payload)
    assert (asked["portable"]["ok"], asked["portable"]["exit_status"]) == (ok, status)
    said = asked["error"] if ok is False else asked["tool_response"]["stdout"]
    assert (said, asked["hook_event_name"]) == (text, event)


@pytest.mark.parametrize(
    ("event", "about", "matcher", "fits"),
    [
        *[(PRE, "grep_search", matcher, True) for matcher in ("*", "", "Grep", "Bash, Grep", "^Gr", "r.p$")],
        *[(PRE, "grep_search", matcher, False) for matcher in ("Bash", "Gre", "grep", "(")],
        (PRE, "mcp_probe_ping", "mcp__probe__.*", True),
        (PRE, "mcp_probe_ping", "mcp__probe", False),
        (PRE, "mcp_my-server_ping", "mcp__my-server__ping", True),
        (PRE, "invoke_agent", "Task", True),
        ("SessionStart", {"source": "resume"}, "startup|resume", True),
        ("SessionStart", {"source": "clear"}, "startup|resume", False),
        ("SessionStart", {}, "startup|resume", True),
        ("PreCompact", {"trigger": "auto"}, "manual", False),
        ("PreCompact", {"trigger": "manual", "custom_instructions": ""}, "manual", True),
        ("Notification", {"notification_type": "idle"}, "permission_prompt", False),
        ("Notification", {"message": "hello"}, "permission_prompt", True),
        ("SessionEnd", {"reason": "exit"}, "clear|exit", True),
        ("SessionEnd", {"reason": "exit"}, "clear", False),
        ("SubagentStop", {"agent_type": "Plan"}, "Plan|Explore", True),
        ("SubagentStop", {"agent_type": "Plan"}, "Explore", False),
        ("SubagentStop", {"stop_hook_active": True}, "Explore", True),
        ("Stop", {"stop_hook_active": True}, "nothing", True),
    ],
)
def test_matchers_are_claude_codes(bench: Bench, event: str, about: Any, matcher: str, fits: bool) -> None:
    """Of a tool, and of what other events are about."""
    fields = {} if event == PRE else about
    payload = bench.tool_call("gemini", about, {}) if event == PRE else bench.payload("gemini", event, **fields)
    asked = bench.ask("gemini", event, payload, "--matcher", matcher)
    assert len(asked) == fits
    for one in asked:
        assert {name: one[name] for name in fields} == fields
