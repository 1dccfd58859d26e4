"""The guard's options, as the hook reads them and as a command line gives them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hookctl.errors import nearest, usage_error
from hookctl.system.package_data import guard_module, read_data

_NO_OPTIONS = ("$schema", "hosts", "wraps")
# A colon may be part of a tool's name, but not of several tools or of a limit in another form.
_DISPATCH = r"((?:[^\s,:]|:(?![0-9/]|$))+)(?::([0-9]{1,9})/([0-9]{1,9}))?"


def schema() -> dict[str, Any]:
    """The JSON Schema of every option, by the option's name."""
    properties = json.loads(read_data("schemas", "guard-config.schema.json"))["properties"]
    return {name: rule for name, rule in properties.items() if name not in _NO_OPTIONS}


def variables_of(env: Mapping[str, str]) -> Callable[[str], str]:
    """A function that gives a variable's value to the guard's code: '' if it is not set."""
    return lambda name: env.get(name, "")


def confine(config: dict[str, Any], root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """A project's own configuration without values that lead out of it, as the hook reads it."""
    kept: dict[str, Any] = guard_module("settings").confine(config, root, variables_of(environ))
    return kept


def value_in_effect(name: str, config: Any, env: Mapping[str, str]) -> Any:
    """The value that the hook uses: of a valid variable, else of config.json, else the default."""
    guard = guard_module("settings")
    known = config if isinstance(config, dict) else {}
    return guard.read_setting(name, guard.DEFAULTS[name], known, variables_of(env))


def is_true(text: str) -> bool:
    """Whether the hook reads the text of a variable as yes."""
    return bool(guard_module("files").is_true(text))


def whole_number(text: str) -> int | None:
    """The whole number that the hook reads in a text; None if it reads none."""
    number: int | None = guard_module("files").whole_number(text)
    return number


def switches_off(name: str, value: str) -> bool:
    """Whether a variable turns the hook off."""
    return name == "HOOKCTL_DISABLE" and is_true(value)


def read_settings(config: Mapping[str, Any], env: Mapping[str, str]) -> Any:
    """Every setting under its name, as the hook reads them where no file locks the guard."""
    usable = {name: value for name, value in config.items() if _is_usable(value)}
    return guard_module("settings").Settings(usable, env=variables_of(env))


def _is_usable(value: Any) -> bool:
    """Whether every text of a value is allowed in a path: no NUL and no lone surrogate."""
    for text in value if isinstance(value, list) else [value]:
        try:
            if isinstance(text, str) and "\0" in text.encode().decode():
                return False
        except UnicodeEncodeError:
            return False
    return True


def is_valid(value: Any, rule: Mapping[str, Any]) -> bool:
    """Whether a value keeps to the schema of its option."""
    kind = rule.get("type", "string")
    if type(value) is not {"integer": int, "boolean": bool, "string": str, "array": list}[kind]:
        return False
    if kind == "integer":
        return bool(rule.get("minimum", value) <= value <= rule.get("maximum", value))
    if kind == "array":
        fits = all(is_valid(item, rule["items"]) for item in value)
        return fits and len(value) >= rule.get("minItems", 0)
    is_word = value in rule.get("enum", [value])
    return is_word and (kind == "boolean" or bool(re.search(rule.get("pattern", ""), value)))


# On a command line, where they are texts


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
