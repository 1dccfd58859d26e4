"""Claude Code's hook protocol, in which packs speak: its events, its tools and its matchers."""

from __future__ import annotations

import re

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
