"""Claude Code's hook protocol, in which packs speak: its events, its tools and its matchers."""

from __future__ import annotations

import re
from typing import Any

from hookctl.hosts import Host
from hookctl.system.package_data import guard_module

FAILURE_EVENT = "post-tool-failure"
# Claude Code's events by their short forms.
EVENTS = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "pre-tool": "PreToolUse",
    "post-tool": "PostToolUse",
    FAILURE_EVENT: "PostToolUseFailure",
    "stop": "Stop",
    "subagent-stop": "SubagentStop",
    "pre-compact": "PreCompact",
    "notification": "Notification",
    "session-end": "SessionEnd",
}
SHORT = {name: short for short, name in EVENTS.items()}
TOOL_EVENTS = ("pre-tool", "post-tool", FAILURE_EVENT)
MATCHED_EVENTS = (
    *TOOL_EVENTS,
    "session-start",
    "pre-compact",
    "notification",
    "session-end",
    "subagent-stop",
)
REFUSING_EVENTS = ("pre-tool", "prompt")  # those on which `on_failure` has a meaning
ALL = (None, "", "*")
_NAMES = re.compile(r"[A-Za-z0-9_]+(?:[|,] ?[A-Za-z0-9_]+)*")


def native_event(host: Host, event: str) -> str:
    """The host's own name of an event, by its short form; '' if it has none."""
    own = host.runner.get("events", {}).get(EVENTS[event])
    if own:
        return str(own)
    if event == FAILURE_EVENT:  # the runner tells failed calls from others, where the host says so
        is_told = {"exit_status", "failed"} & host.runner.get("fields", {}).keys()
        return host.events.get("post-tool", "") if is_told else ""
    return host.events.get(event, "")


def native_events(host: Host, event: str, tools: str | None) -> list[str]:
    """All events of the host that one stands for: some have one for each kind of tool."""
    own = host.runner.get("tool_events", {}).get(EVENTS[event])
    if own:
        return [name for name in own if re.search(tools or "", name)]
    return [native_event(host, event)]


def protocol_event(host: Host, event: str) -> str:
    """Claude Code's name of a host's event; the host's own where that has none."""
    return next((EVENTS[short] for short, name in host.events.items() if name == event), event)


def fit(host: Host, event: str, matcher: str | None) -> tuple[str | None, list[str]]:
    """What a matcher of Claude Code's settings becomes on a host, and the tools that it lacks.

    None is for all tools; for none where tools are lacking.
    """
    if host.runner.get("own_protocol"):
        return (None if matcher in ALL else matcher), []
    if event not in TOOL_EVENTS or not _NAMES.fullmatch(matcher or ""):
        return None, []
    own = {name: own_names(host, name) for name in re.split("[|,] ?", matcher or "")}
    names = [each for found in own.values() for each in found]
    lacking = [name for name, found in own.items() if not found]
    if not names:
        return None, lacking
    # Claude Code had it once: nobody misses it beside those that followed it.
    lacking = [name for name in lacking if name != "MultiEdit"]
    writes = {*host.tools.get("write", ()), *host.tools.get("edit", ())}
    if host.runner.get("patches_in_shell") and writes.intersection(names):
        names += host.tools.get("shell", ())
    pattern = "|".join(dict.fromkeys(re.escape(name) for name in names))
    return f"{host.matchers.prefix}^({pattern})$", lacking


def own_names(host: Host, name: str) -> list[str]:
    """The host's names of a tool of Claude Code; none if it has no such tool."""
    if name.startswith("mcp__"):
        server, _, tool = name.removeprefix("mcp__").partition("__")
        forms = host.tools.get("mcp") or ["mcp__{server}__{tool}"]
        return [form.format(server=server, tool=tool) for form in forms]
    names: list[str] = []
    by, parts = host.runner.get("by", {}), host.runner.get("parts", {})
    for kind, claude in guard_module("payload").TOOLS.items():
        if claude == guard_module("matching").FORMER.get(name, name):
            names += host.tools.get(kind, ())
            if by and kind in by["classes"].values():  # a tool that does this among other things
                names += by["tools"]
            if kind == "write":  # a patch may add files
                names += [tool for tool, part in parts.items() if "patch" in part]
    return list(dict.fromkeys(names))


def kind_of(host: Host, tool: str) -> str:
    """The class of a tool by Claude Code's name or the host's; '' if it has none."""
    tools = guard_module("payload").TOOLS.items()
    return next((kind for kind, name in tools if tool in (name, *host.tools.get(kind, ()))), "")


def native_payload(
    host: Host, tool: str, input: dict[str, Any], fields: dict[str, Any]
) -> dict[str, Any]:
    """What a host's payload has of a call of a tool, and of these fields."""
    payload: dict[str, Any] = {}
    for name, value in fields.items():
        _put(payload, _path(host, name), value)
    if tool:
        native = _native_input(host, kind_of(host, tool), tool, input)
        _put(payload, _path(host, "tool_name"), native_tool(host, tool))
        _put(payload, _path(host, "tool_input"), native)
    return payload


def mark_failed(host: Host, payload: dict[str, Any]) -> None:
    """Make the payload of a call that has run that of one that failed."""
    name = "exit_status" if "exit_status" in host.runner.get("fields", {}) else "failed"
    _put(payload, _path(host, name), 1 if name == "exit_status" else True)


def native_tool(host: Host, tool: str) -> str:
    """The host's name of a tool, the first where it has several; a name of its own stays."""
    return [*own_names(host, tool), tool][0]


def _native_input(host: Host, kind: str, tool: str, input: dict[str, Any]) -> dict[str, Any]:
    first = guard_module("payload").alternatives
    part = host.runner.get("parts", {}).get(native_tool(host, tool), {})
    is_patch = "patch" in part and (kind == "write" or "only" not in part)
    if is_patch and kind in ("write", "edit") and "file_path" in input:
        added, action = str(input.get("content", "")), "Add"
        removed: list[str] = []
        if kind == "edit":
            added, action = str(input.get("new_string", "")), "Update"
            removed = str(input.get("old_string", "")).splitlines()
        body = [f"-{line}" for line in removed] + [f"+{line}" for line in added.splitlines()]
        start = ["*** Begin Patch", f"*** {action} File: {input['file_path']}"]
        patch = "\n".join([*start, *body, "*** End Patch"])
        return {first(part["patch"])[-1]: patch, **part.get("only", {})}
    names = host.runner.get("input", {}).get(kind, {})
    native = {first(names.get(name, name))[0]: value for name, value in input.items()}
    by = host.runner.get("by")
    if by and native_tool(host, tool) in by["tools"]:
        values = [value for value, its_kind in by["classes"].items() if its_kind == kind]
        native = {by["field"]: values[0], **native}
    return native


def _path(host: Host, name: str) -> str:
    """Where the host puts a field: the first place that the runner looks at."""
    return str(host.runner.get("fields", {}).get(name, [name])[0])


def _put(payload: dict[str, Any], path: str, value: Any) -> None:
    name, _, rest = path.partition(".")
    is_list = rest[:1].isdigit() or rest[:1] == "*"
    if is_list:
        rest = rest.partition(".")[2]
    if rest:
        inside: dict[str, Any] = {} if is_list else payload.setdefault(name, {})
        _put(inside, rest, value)
        value = inside
    payload[name] = [value] if is_list else value
