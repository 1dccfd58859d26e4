"""A question of Claude Code's protocol as a host would ask it: the runner's tables, backwards."""

from __future__ import annotations

from typing import Any

from hookctl.hosts import Host
from hookctl.packs.protocol import SHORT, native_event, own_names
from hookctl.system.package_data import guard_module

_EVENT_FIELDS = ("hook_event_name", "event_type")


def native_payload(
    host: Host, event: str, tool: str, input: dict[str, Any], fields: dict[str, Any]
) -> dict[str, Any]:
    """The host's payload for an event by Claude Code's name.

    `tool` is Claude Code's name or the host's; `fields` are others by Claude Code's names.
    """
    payload: dict[str, Any] = {}
    for name in _EVENT_FIELDS:
        payload[name] = native_event(host, SHORT[event])
    for name, value in fields.items():
        _put(payload, _path(host, name), value)
    if tool:
        classes = guard_module("payload").TOOLS.items()
        kinds = [kind for kind, name in classes if tool in (name, *host.tools.get(kind, ()))]
        kind = str(kinds[0]) if kinds else ""
        _put(payload, _path(host, "tool_name"), native_tool(host, tool))
        _put(payload, _path(host, "tool_input"), _native_input(host, kind, tool, input))
    return payload


def mark_failed(host: Host, payload: dict[str, Any]) -> None:
    """Make the payload of a call that has run that of one that failed."""
    fields = host.runner.get("fields", {})
    if "exit_status" in fields:
        _put(payload, _path(host, "exit_status"), 1)
    else:
        _put(payload, _path(host, "failed"), True)


def native_tool(host: Host, tool: str) -> str:
    """The host's name of a tool, the first where it has several; a name of its own stays."""
    names = own_names(host, tool)
    return names[0] if names else tool


def _native_input(host: Host, kind: str, tool: str, input: dict[str, Any]) -> dict[str, Any]:
    """The tool's input by the host's names."""
    first = guard_module("payload").alternatives
    part = host.runner.get("parts", {}).get(native_tool(host, tool), {})
    is_patch = "patch" in part and (kind == "write" or "only" not in part)
    if is_patch and kind in ("write", "edit") and "file_path" in input:
        return {first(part["patch"])[-1]: _patch_of(kind, input), **part.get("only", {})}
    names = host.runner.get("input", {}).get(kind, {})
    native = {first(names.get(name, name))[0]: value for name, value in input.items()}
    by = host.runner.get("by")
    if by and native_tool(host, tool) in by["tools"]:
        values = [value for value, its_kind in by["classes"].items() if its_kind == kind]
        native = {by["field"]: values[0], **native}
    return native


def _patch_of(kind: str, input: dict[str, Any]) -> str:
    """A patch that does what a write or an edit does."""
    path = input.get("file_path", "file")
    if kind == "write":
        body = [f"+{line}" for line in str(input.get("content", "")).splitlines()]
        head = f"*** Add File: {path}"
    else:
        body = [f"-{line}" for line in str(input.get("old_string", "")).splitlines()]
        body += [f"+{line}" for line in str(input.get("new_string", "")).splitlines()]
        head = f"*** Update File: {path}"
    return "\n".join(["*** Begin Patch", head, *body, "*** End Patch"])


def _path(host: Host, name: str) -> str:
    """Where the host puts a field: the first place that the runner looks at."""
    paths = host.runner.get("fields", {}).get(name)
    return str(paths[0]) if paths else name


def _put(payload: dict[str, Any], path: str, value: Any) -> None:
    *above, last = path.split(".")
    inside: Any = payload
    for number, part in enumerate(above):
        following = [*above, last][number + 1]
        empty: Any = [] if following.isdigit() or following == "*" else {}
        if isinstance(inside, list):
            inside.append(empty)
            inside = inside[-1]
        else:
            inside = inside.setdefault(part, empty)
    if isinstance(inside, list):
        inside.append(value)
    else:
        inside[last] = value
