"""What an operator chooses for the guard: mode, preset and knobs, as the command line says it and the ledger has it."""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

from hookctl.errors import USAGE, HookctlError, nearest
from hookctl.packs.knobs import LIMIT_KEY, schema
from hookctl.packs.presets import PRESETS
from hookctl.settings.words import WORDS

MODES = ("breaker", "keepalive", "guard", "off")
DEFAULT_LIMIT = 5


class Request(NamedTuple):
    """What one command asks for, still as text; None and empty: as it is."""

    mode: str = ""
    preset: str = ""
    assignments: tuple[str, ...] = ()  # KEY=VALUE
    nudge: str | None = None  # TOOL[,TOOL]
    nudge_env: str | None = None
    dispatch: tuple[str, ...] = ()  # TOOL[:MAX/SECONDS]
    wrap: str | None = None  # a part of another hook's command

    @property
    def option(self) -> str:
        """The first option of the guard's own that was given, as it is written; empty if there was none."""
        given = {
            "--mode": self.mode or None,
            "--preset": self.preset or None,
            "--set": self.assignments or None,
            "--nudge": self.nudge,
            "--nudge-env": self.nudge_env,
            "--dispatch": self.dispatch or None,
            "--wrap": self.wrap,
        }
        return next((name for name, value in given.items() if value is not None), "")


class Settings:
    """What the operator has chosen so far, as the ledger records it, and what follows from it; nobody changes it."""

    def __init__(
        self,
        mode: str = "breaker",
        knobs: dict[str, Any] | None = None,
        python: str = "",
        preset: str = "",
    ) -> None:
        self.mode = mode
        self.knobs = knobs or {}
        self.python = python
        self.preset = preset
        pinned = {name: value for name, value in PRESETS.get(preset, {}).items() if name != "mode"}
        self.effective = {
            **pinned,
            **self.knobs,
        }  # the knobs chosen one by one, over those of the preset
        self.events = _events(
            mode, self.effective
        )  # canonical ones; none where the guard has nothing to do

    def with_python(self, python: str) -> Settings:
        """The same choices with another interpreter for the hook."""
        return Settings(self.mode, self.knobs, python, self.preset)


def _events(mode: str, knobs: dict[str, Any]) -> tuple[str, ...]:
    limits = knobs.get("dispatch_max", 1), knobs.get("dispatch_window_s", 1)
    counts_calls = bool(knobs.get("dispatch_tools")) and min(limits) > 0
    stop = ("stop",) if mode != "off" else ()
    return (*stop, "pre-tool") if counts_calls else stop


def settings_from(recorded: dict[str, Any]) -> Settings:
    """The settings that a ledger page has; ledger_unreadable where they are of a wrong kind."""
    defaults: dict[str, Any] = {"mode": "breaker", "knobs": {}, "python": "", "preset": ""}
    values = {name: recorded.get(name, default) for name, default in defaults.items()}
    if not (_are_well_formed(values, defaults) and isinstance(recorded.get("config", {}), dict)):
        hint = "Move the ledger away; `hookctl install` then takes back the hooks that it finds."
        raise HookctlError(
            "ledger_unreadable", "the guard's settings in the ledger are of a wrong kind", hint=hint
        )
    return Settings(**values)


def _are_well_formed(values: dict[str, Any], defaults: dict[str, Any]) -> bool:
    """Whether recorded settings are of the kinds that hookctl writes, and name what there is."""
    if not all(isinstance(value, type(defaults[name])) for name, value in values.items()):
        return False
    knobs = values["knobs"]
    numbers = ("max_stop_blocks", "dispatch_max", "dispatch_window_s")
    if not all(type(knobs.get(name, 0)) is int for name in numbers):
        return False
    if not isinstance(knobs.get("dispatch_tools", []), list):
        return False
    return values["mode"] in MODES and values["preset"] in ("", *PRESETS)


def choose(settings: Settings, request: Request) -> Settings:
    """The settings with what was asked on top; a usage error names what is unknown and what there is."""
    _require("mode", request.mode, MODES)
    _require("preset", request.preset, (*PRESETS, "none"))
    mode, preset = request.mode or settings.mode, request.preset or settings.preset
    preset = "" if preset == "none" else preset
    if request.preset and not request.mode:
        # A mode that came with the preset before goes with it.
        left = PRESETS.get(settings.preset, {}).get("mode") == settings.mode
        mode = PRESETS.get(preset, {}).get("mode", "breaker" if left else settings.mode)
    knobs = {
        **settings.knobs,
        **_assigned(request.assignments),
        **_nudge(request),
        **_dispatch(request.dispatch),
    }
    return Settings(mode, knobs, settings.python, preset)


def remarks(settings: Settings, request: Request) -> tuple[str, ...]:
    """What somebody may not expect of these settings."""
    knobs, found = settings.effective, []
    pinned = PRESETS.get(request.preset, {})
    over = [
        name for name in settings.knobs if name in pinned and settings.knobs[name] != pinned[name]
    ]
    if over:
        found.append(
            f"{', '.join(over)}, set by hand, stays over {request.preset}'s own; --reset leaves it out"
        )
    if settings.preset == "rockbot" and not knobs.get("dispatch_tools"):
        found.append(
            "rockbot counts no tool's calls yet: name the tools with --dispatch TOOL, or --dispatch '*'"
        )
    # It is no error: Cursor's own names of MCP tools have a colon, others may.
    tools = _dispatch(request.dispatch).get("dispatch_tools", ())
    odd = [tool for tool in tools if ":" in tool.removeprefix("MCP:")]
    if odd:
        found.append(
            f"{', '.join(odd)} is taken for a tool's whole name; a limit is as in Task:30/300"
        )
    if (
        knobs.get("dispatch_tools")
        and min(knobs.get("dispatch_max", 1), knobs.get("dispatch_window_s", 1)) <= 0
    ):
        found.append("a limit or a window of 0 switches dispatch off")
    if settings.mode == "off" and knobs.get("required_tools"):
        found.append("mode off gives no reminder of tools either")
    if request.nudge_env and not knobs.get("required_tools"):
        found.append("--nudge-env does nothing without --nudge TOOL")
    if not settings.events and request == Request():
        found.append("the guard is off, so no hook is registered; --mode breaker puts it back")
    return tuple(found)


def require_portable(settings: Settings) -> None:
    """Refuses knobs with a path of this machine: what is committed must hold in every clone."""
    for name in ("run_dir", "task_file"):
        path = str(settings.knobs.get(name, ""))
        if os.path.isabs(path) or ".." in path.split("/"):
            hint = "Give a path within the project."
            message = f"{name}={path} leaves the project, which at project scope it must not"
            raise HookctlError("usage", message, hint=hint, exit_code=USAGE)


def _require(what: str, name: str, known: tuple[str, ...]) -> None:
    if name and name not in known:
        hint = f"{what.capitalize()}s: {', '.join(known)}."
        raise HookctlError("usage", f"unknown {what} {name!r}", hint=hint, exit_code=USAGE)


def _assigned(assignments: tuple[str, ...]) -> dict[str, Any]:
    """The knobs that --set names."""
    knobs: dict[str, Any] = {}
    known = _knobs() if assignments else {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        name = "max_stop_blocks" if key == LIMIT_KEY else key
        if name == "mode":
            message, hint = "the mode is no --set", f"Say --mode {text or 'breaker'}."
            raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
        if not equals or name not in known:
            message = (
                f"unknown setting {assignment!r}"
                if name not in known
                else f"{assignment} needs a value"
            )
            meant = "" if name in known else nearest(key, [*known, LIMIT_KEY])
            hint = f"{meant}Give KEY=VALUE with one of: {', '.join(sorted(known))}."
            raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
        knobs[name] = _parse(name, text.strip(), known[name])
    return knobs


def _nudge(request: Request) -> dict[str, Any]:
    """The knobs of --nudge and --nudge-env; an empty text switches off."""
    knobs: dict[str, Any] = {}
    if request.nudge is not None:
        knobs["required_tools"] = _parse(
            "required_tools", request.nudge, _knobs()["required_tools"]
        )
    if request.nudge_env is not None:
        name = request.nudge_env.strip()
        if name and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            hint = "The reminder comes only where this variable is set: --nudge-env HERMES_KANBAN_TASK."
            raise HookctlError(
                "usage", f"--nudge-env {name!r} is no variable's name", hint=hint, exit_code=USAGE
            )
        knobs["required_scope_env"] = name
    return knobs


def _dispatch(claims: tuple[str, ...]) -> dict[str, Any]:
    """The knobs of --dispatch TOOL[:MAX/SECONDS]; an empty text switches off."""
    tools, limits = [], set()
    for claim in claims:
        match = re.fullmatch(r"(.*?)(?::([0-9]{1,9})/([0-9]{1,9}))?", claim.strip())
        tool = match[1].strip() if match else ""
        odd = re.search(r"[\s,]|:[0-9/]|:$", tool)  # several tools, or a limit that is none
        if (
            not tool.isprintable()
            or odd
            or (not tool and (len(claims) > 1 or match is None or match[2]))
        ):
            hint = (
                "Give --dispatch TOOL, or TOOL:MAX/SECONDS as in Task:30/300; once for each tool."
            )
            message = f"--dispatch {claim!r} names no tool, or a limit that is none"
            raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
        tools += [tool] if tool else []
        limits |= {(int(match[2]), int(match[3]))} if match and match[2] else set()
    if len(limits) > 1:
        hint = "Give the same MAX/SECONDS to each, or to one of them."
        raise HookctlError(
            "usage", "all dispatch tools share one limit", hint=hint, exit_code=USAGE
        )
    knobs: dict[str, Any] = {"dispatch_tools": list(dict.fromkeys(tools))} if claims else {}
    for most, seconds in limits:
        knobs |= {"dispatch_max": most, "dispatch_window_s": seconds}
    return knobs


def _knobs() -> dict[str, Any]:
    """The knobs that --set takes; the mode has an option of its own, and the state folder is hookctl's."""
    return {name: about for name, about in schema().items() if name not in ("mode", "state_dir")}


def _parse(name: str, text: str, schema: dict[str, Any]) -> Any:
    """A knob's value from the command line, in the type that the schema gives it and as the schema wants it."""
    import jsonschema

    kind, value = schema.get("type", "string"), text if text.isprintable() else None
    if kind == "integer":
        value = int(text) if re.fullmatch(r"[+-]?[0-9]{1,9}", text) else None
    elif kind == "boolean":
        value = WORDS.get(text.lower())
    elif kind == "array" and value is not None:
        value = [part.strip() for part in text.split(",") if part.strip()]
    if not jsonschema.Draft202012Validator(schema).is_valid(value):
        kinds = {"integer": "A whole number. ", "boolean": "true or false. "}
        hint = kinds.get(kind, "") + schema.get("description", "")
        raise HookctlError("usage", f"{name} cannot be {text!r}", hint=hint, exit_code=USAGE)
    return value
