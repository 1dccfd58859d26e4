"""Reads the guard's options on a command line, which are texts there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hookctl.errors import nearest, usage_error
from hookctl.packs.guard_options import is_valid, schema
from hookctl.system.package_data import guard_module

# A colon may be part of a tool's name, but not of several tools or of a limit in another form.
_DISPATCH = r"((?:[^\s,:]|:(?![0-9/]|$))+)(?::([0-9]{1,9})/([0-9]{1,9}))?"


def parse_options(
    assignments: Sequence[str], nudge: str | None, nudge_env: str | None, dispatch: Sequence[str]
) -> dict[str, Any]:
    """The options that --set, --nudge, --nudge-env and --dispatch give; the later ones win."""
    options: dict[str, Any] = {}
    known = settable_options() if assignments else {}
    limit_key = guard_module("settings").VARIABLES["max_stop_blocks"]
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        name = "max_stop_blocks" if key == limit_key else key
        if name == "mode":
            raise usage_error("--set cannot set the mode", f"Say --mode {text or 'breaker'}.")
        names = f"Give KEY=VALUE with one of: {', '.join(sorted(known))}."
        if name not in known:
            meant = nearest(key, [*known, limit_key])
            raise usage_error(f"unknown setting {assignment!r}", meant.strip() or names)
        if not equals:
            raise usage_error(f"{assignment} needs a value", names)
        options[name] = _parse_value(name, text.strip(), known[name])
    return options | _parse_nudge(nudge, nudge_env) | _parse_dispatch(dispatch)


def _parse_nudge(nudge: str | None, nudge_env: str | None) -> dict[str, Any]:
    """The options of --nudge and --nudge-env; an empty text turns them off."""
    options: dict[str, Any] = {}
    if nudge is not None:
        rule = settable_options()["required_tools"]
        options["required_tools"] = _parse_value("required_tools", nudge, rule)
    if nudge_env is not None:
        name = nudge_env.strip()
        if name and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            hint = "The reminder comes only where this variable is set: "
            hint += "--nudge-env HERMES_KANBAN_TASK."
            raise usage_error(f"--nudge-env {name!r} is not a variable name", hint)
        options["required_scope_env"] = name
    return options


def _parse_dispatch(claims: Sequence[str]) -> dict[str, Any]:
    """The options of --dispatch TOOL[:MAX/SECONDS]; an empty text alone turns it off."""
    tools: list[str] = []
    limits: set[tuple[str, str]] = set()
    for claim in claims if [*claims] != [""] else ():
        match = re.fullmatch(_DISPATCH, claim.strip())
        if match is None or not claim.isprintable():
            hint = "Give --dispatch TOOL or TOOL:MAX/SECONDS, as in Task:30/300, for each tool."
            raise usage_error(f"--dispatch {claim!r} has no tool, or an invalid limit", hint)
        tools.append(match[1])
        if match[2]:
            limits.add((match[2], match[3]))
    if len(limits) > 1:
        hint = "Give the same MAX/SECONDS to each, or to one of them."
        raise usage_error("all dispatch tools share one limit", hint)
    options: dict[str, Any] = {"dispatch_tools": list(dict.fromkeys(tools))} if claims else {}
    for most, seconds in limits:
        options |= {"dispatch_max": int(most), "dispatch_window_s": int(seconds)}
    return options


def settable_options() -> dict[str, Any]:
    """The schemas of the options of --set; the mode has --mode, the state folder is hookctl's."""
    options = schema()
    for name in ("mode", "state_dir"):
        options.pop(name, None)
    return options


def _parse_value(name: str, text: str, rule: dict[str, Any]) -> Any:
    """An option's value from the command line, in the type and form that its schema wants."""
    kind = rule.get("type", "string")
    value = _convert(text, kind)
    if not is_valid(value, rule):
        kinds = {"integer": "A whole number. ", "boolean": "true or false. "}
        hint = kinds.get(kind, "") + rule.get("description", "")
        raise usage_error(f"{name} cannot be {text!r}", hint)
    return value


def _convert(text: str, kind: str) -> Any:
    """A text as a value of a type of JSON Schema; None if it cannot be one."""
    if kind == "integer":
        return int(text) if re.fullmatch(r"[+-]?[0-9]{1,9}", text) else None
    if kind == "boolean":
        return guard_module("settings").parse_text(bool, text)
    if not text.isprintable():
        return None
    if kind == "array":
        return [part.strip() for part in text.split(",") if part.strip()]
    return text
