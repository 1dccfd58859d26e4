"""What a hook written for Claude Code is asked about each tool call of each host.

`calls/` has the calls as the clients or their documents have them, and what each does, written by hand: nothing there
comes from the tables that translate.
"""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.hosts.matchers import fits
from hookctl.packs.protocol import fit

from .runner_bench import Bench

FILES = {path.stem: json.loads(path.read_text()) for path in sorted((Path(__file__).parent / "calls").glob("*.json"))}
CALLS = [
    pytest.param(name, call, id=f"{name}-{call['name']}")
    for name, file in FILES.items()
    for call in file["calls"]
    if call["payload"]  # of some calls no hook is told
]
TOOLS = [(name, tool, kind) for name, file in FILES.items() for tool, kind in file["tools"].items()]
CLASSES = {"shell": "Bash", "write": "Write", "edit": "Edit", "read": "Read", "fetch": "WebFetch"}


GONE = "*** Delete File: /x/"


def host_of(name: str) -> str:
    """The host of a file; some have more than one way of telling their hooks."""
    return name.partition("-")[0]


def told(question: Any, names: Any) -> dict[str, Any]:
    """The tool and these inputs of a question, and its file as every hook is told of it."""
    input = question.get("tool_input", {})
    paths = question["portable"]["paths"]
    own = {name: input.get(name, question.get(name)) for name in names if name != "tool_name"}
    if "file_path" in names:
        own["file_path"] = paths[0] if paths else None
    return {**({"tool_name": question["tool_name"]} if "tool_name" in names else {}), **own}


def test_every_host_has_calls() -> None:
    assert {host_of(name) for name in FILES} == set(hosts.names())
    for name, file in FILES.items():
        kinds = {ask.get("tool_name") for call in file["calls"] for ask in call["asks"]}
        one_tool = {"windsurf": "Write"}  # which is an edit there
        assert {"Bash", "Write", "Edit", "Read"} - {one_tool.get(name)} <= kinds, name


@pytest.mark.parametrize(("name", "call"), CALLS)
def test_a_hook_is_asked_about_all_that_a_call_does(bench: Bench, name: str, call: Any) -> None:
    host = host_of(name)
    bench.environment["HOME"] = "/home/u"
    event = "UserPromptSubmit" if call["name"].startswith("prompt") else "PreToolUse"
    seen = bench.ask(host, event, call["payload"])
    assert [told(question, ask) for question, ask in zip(seen, call["asks"], strict=False)] == call["asks"]
    assert len(seen) == len(call["asks"])


@pytest.mark.parametrize(
    ("host", "tool", "input", "asked"),
    [
        # What only Claude Code reads hides nothing.
        ("pi", "write", {"path": "/x/.env", "file_path": "/x/ok"}, ["/x/.env"]),
        ("pi", "write", {"file_path": "/x/ok", "path": "/x/.env"}, ["/x/.env"]),
        ("openhands", "write_file", {"path": "/x/ok", "file_path": "/x/.env"}, ["/x/ok", "/x/.env"]),
        ("pi", "write", {"path": "sub/../../x/.env"}, ["/home/u/x/.env"]),
        ("pi", "write", {"path": "/usr/../LINK/../.env"}, ["ROOT/.env", "/.env"]),
        ("pi", "write", {"path": "\0/../.env"}, ["/home/u/project/.env"]),
        ("pi", "write", {"path": "\ud800/../.env"}, ["/home/u/project/.env"]),
        ("pi", "write", {"path": ".//x/./.env"}, ["/home/u/project/x/.env"]),
        ("pi", "write", {"path": "file:///x/%2Eenv"}, ["/x/.env"]),
        ("pi", "write", {"path": "file://host/x/.env"}, [None]),
        ("vscode", "create_file", {"filePath": "untitled:/x/.env"}, [None]),
        ("hermes", "write_file", {"path": "~u/.env"}, [None]),
        ("codex", "view_image", {"path": "~u/.env"}, ["/home/u/project/~u/.env"]),
        ("pi", "edit", {"path": "/x/.env", "edits": [{"path": "/x/ok", "oldText": "a"}]}, ["/x/ok", "/x/.env"]),
        ("kiro", "read_files", {"path": "/x/ok", "paths": ["/x/.env", "/x/b"]}, ["/x/ok", "/x/.env", "/x/b"]),
        ("cursor", "ApplyPatch", {"patch": f"{GONE}ok", "input": f"{GONE}.env"}, ["/x/ok", "/x/.env"]),
        ("hermes", "patch", {"mode": "patch", "patch": f"*** Begin Patch\n{GONE}a\n***  End Patch\n{GONE}.env"},
         ["/x/a", "/x/.env"]),
        ("pi", "write", {"path": ["/x/.env"]}, ["/x/.env"]),
        ("pi", "write", {"path": 5}, [None]),
    ],
)  # fmt: skip
def test_no_file_hides_behind_another(bench: Bench, host: str, tool: str, input: Any, asked: list[Any]) -> None:
    (bench.root / "link").symlink_to("/usr")
    link = str(bench.root / "link")
    input = {key: value.replace("/LINK", link) if isinstance(value, str) else value for key, value in input.items()}
    payload = {"session_id": "s", "cwd": "/home/u/project", "tool_name": tool, "tool_input": input}
    seen = bench.ask(host, "PreToolUse", payload)
    paths = [(each["portable"]["paths"] or [None])[0] for each in seen]
    assert [path and path.replace(str(bench.root), "ROOT") for path in paths] == asked


def test_many_files_take_no_more_time_than_the_hook_has(bench: Bench) -> None:
    patch = "".join(f"*** Add File: f{number}\n+a\n" for number in range(300))
    payload = bench.tool_call("opencode", "apply_patch", {"patchText": patch})
    begin = time.monotonic()
    ran = bench.run("opencode", "PreToolUse", payload, "sleep 0.1", "--timeout", "1", "--on-failure", "deny")
    assert ran.answer["decision"] == "deny" and time.monotonic() - begin < 3


def test_a_file_behind_many_others_is_asked_about(bench: Bench) -> None:
    """Each question has descriptors of its own, which are few where a limit is low."""
    patch = "".join(f"*** Add File: f{number}\n+a\n" for number in range(80)) + "*** Delete File: .env\n"
    payload = bench.tool_call("opencode", "apply_patch", {"patchText": patch})
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, limit[1]))
    try:
        seen = bench.ask("opencode", "PreToolUse", payload)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    assert len(seen) == 81


@pytest.mark.parametrize(
    ("host", "tool", "input"),
    [
        ("codex", "Bash", {"command": "*** Begin Patch\n*** Update File: a\n" * 12_000}),
        ("pi", "edit", {"path": "/x", "edits": [{"oldText": "a" * 50, "newText": "b" * 50}] * 60_000}),
    ],
)
def test_a_long_call_is_read_once(bench: Bench, host: str, tool: str, input: Any) -> None:
    payload = bench.tool_call(host, tool, input)
    ran = bench.run(host, "PreToolUse", payload, "exit 2", "--timeout", "8")
    assert ran.answer


def test_a_hook_without_an_opinion_says_so_where_silence_refuses(bench: Bench) -> None:
    call = FILES["antigravity"]["calls"][0]["payload"]
    other = ["--matcher", "Write"]  # which the call does not fit
    for command, options in ((":", []), ("exit 2", other), ("exit 1", []), ("echo {}", [])):
        assert bench.run("antigravity", "PreToolUse", call, command, *options).answer == {"decision": "allow"}
    assert bench.run("antigravity", "PreToolUse", call, "exit 2").answer["decision"] == "deny"
    assert bench.run("antigravity", "PostToolUse", call, ":").answer is None


@pytest.mark.parametrize(("host", "call"), [("cursor", "write"), ("windsurf", "edit")])
@pytest.mark.parametrize("matcher", ["Write", "Edit"])
def test_a_hook_for_either_is_asked_where_one_tool_writes_and_edits(
    bench: Bench, host: str, call: str, matcher: str
) -> None:
    (payload,) = [each["payload"] for each in FILES[host]["calls"] if each["name"] == call]
    assert len(bench.ask(host, "PreToolUse", payload, "--matcher", matcher)) == 1
    assert bench.ask(host, "PreToolUse", payload, "--matcher", "Read") == []


@pytest.mark.parametrize(("name", "call"), [case for case in CALLS if "tool_name" in str(case.values[1]["asks"])])
def test_a_pack_is_registered_for_all_that_a_call_does(name: str, call: Any) -> None:
    """The host's own matcher of a pack for one of Claude Code's tools fits what the host says that it calls."""
    host = hosts.load(host_of(name))
    tool = tool_of(call["payload"])
    if host.name == "claude":
        return
    for ask in call["asks"]:
        if ask["tool_name"] in CLASSES.values():
            matching = fit(host, "pre-tool", ask["tool_name"])
            assert not matching.never and fits(host, matching.matcher, [tool]), (tool, matching)


@pytest.mark.parametrize(("name", "tool", "kind"), TOOLS)
def test_every_tool_that_changes_files_or_runs_commands_is_of_a_class(name: str, tool: str, kind: str) -> None:
    host = hosts.load(host_of(name))
    if kind in ("shell", "write", "edit", "read"):
        assert tool in [*host.tools.get(kind, ()), *host.runner.get("by", {}).get("tools", ())]


def tool_of(payload: Any) -> str:
    """The tool as the payload names it, wherever that stands."""
    named = [payload.get(key) for key in ("tool_name", "toolName", "agent_action_name")]
    return str(next(filter(None, named), "") or payload["toolCall"]["name"])
