"""The guard's settings that a person chooses: mode, preset and options."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hookctl.errors import USAGE, HookctlError, nearest, usage_error
from hookctl.packs.guard_options import LIMIT_KEY, find_faults, schema
from hookctl.packs.guard_package import guard_module
from hookctl.packs.presets import PRESETS
from hookctl.values import NamedTuple

MODES = ("breaker", "keepalive", "guard", "off")
DEFAULT_LIMIT = 5
REFUSALS = 10  # of one call, until the turn ends; only where tool calls are counted


class Request(NamedTuple):
    """The settings on one command line, as text; None or empty keeps the current value."""

    mode: str = ""
    preset: str = ""
    assignments: Sequence[str] = ()  # KEY=VALUE
    nudge: str | None = None  # TOOL[,TOOL]
    nudge_env: str | None = None
    dispatch: Sequence[str] = ()  # TOOL[:MAX/SECONDS]
    wrap: str | None = None  # a part of another hook's command
    guidance: bool = False
    rules: bool = False  # a block in the file with instructions for the agent

    @property
    def option(self) -> str:
        """The first guard option on the command line; empty if there is none."""
        given = {
            "--mode": self.mode or None,
            "--preset": self.preset or None,
            "--set": self.assignments or None,
            "--nudge": self.nudge,
            "--nudge-env": self.nudge_env,
            "--dispatch": self.dispatch or None,
            "--wrap": self.wrap,
            "--guidance": self.guidance or None,
            "--rules": self.rules or None,
        }
        for name, value in given.items():
            if value is not None:
                return name
        return ""


class Choice(NamedTuple):
    """What the operator asked of an install."""

    settings: Request = Request()
    reset: bool = False
    force: bool = False
    trust: bool = False
    allow_env: tuple[str, ...] = ()


class Permission(NamedTuple):
    """What the command line permits."""

    yes: bool = False
    accept_changed: bool = False
    show: Callable[[str], None] | None = None  # shows what the pack brings
    confirm: Callable[[str], bool] | None = None  # asks at a terminal; None: nobody is asked


class Settings:
    """A person's choices as the ledger records them, and what follows from them; a value."""

    def __init__(
        self,
        mode: str = "breaker",
        options: dict[str, Any] | None = None,
        python: str = "",
        preset: str = "",
    ) -> None:
        self.mode = mode
        self.options = options or {}  # chosen one by one
        self.python = python
        self.preset = preset
        pinned = {name: value for name, value in PRESETS.get(preset, {}).items() if name != "mode"}
        self.effective = {**pinned, **self.options}
        if self.effective.get("dispatch_tools"):
            self.effective.setdefault("dispatch_end", REFUSALS)
        self.events = _needed_events(mode, self.effective)  # canonical; none if nothing is to do

    @property
    def reads_anothers_task(self) -> bool:
        """Whether another system writes what remains, so that hookctl only reads it."""
        named = self.effective.get("task_file") or self.effective.get("task_env")
        return bool(named and self.effective.get("task_fields"))

    def with_python(self, python: str) -> Settings:
        """The same choices with another interpreter for the hook."""
        return Settings(self.mode, self.options, python, self.preset)


def _needed_events(mode: str, options: dict[str, Any]) -> tuple[str, ...]:
    events = []
    if mode != "off":
        events.append("stop")
    if options.get("dispatch_tools") and _has_dispatch_limit(options):
        events.append("pre-tool")
    if options.get("guidance") is True and mode in ("breaker", "keepalive"):
        events.append("session-start")
    return tuple(events)


def _has_dispatch_limit(options: dict[str, Any]) -> bool:
    """Whether the limit of identical tool calls and its window are above 0."""
    return min(options.get("dispatch_max", 1), options.get("dispatch_window_s", 1)) > 0


def settings_from(recorded: dict[str, Any]) -> Settings:
    """The settings of a pack record; ledger_unreadable if a value has the wrong type."""
    defaults: dict[str, Any] = {"mode": "breaker", "knobs": {}, "python": "", "preset": ""}
    values = {name: recorded.get(name, default) for name, default in defaults.items()}
    has_config = isinstance(recorded.get("config", {}), dict)
    if not has_config or not _are_well_formed(values, defaults):
        hint = (
            "Move hookctl's record away; `hookctl install` then takes back the hooks that it finds."
        )
        raise HookctlError(
            "ledger_unreadable",
            "the guard's settings in hookctl's record are of a wrong kind",
            hint=hint,
        )
    return Settings(values["mode"], values["knobs"], values["python"], values["preset"])


def _are_well_formed(values: dict[str, Any], defaults: dict[str, Any]) -> bool:
    """Whether recorded settings have the types that hookctl writes, and a known mode and preset."""
    for name, value in values.items():
        if not isinstance(value, type(defaults[name])):
            return False
    options = values["knobs"]
    for name in ("max_stop_blocks", "dispatch_max", "dispatch_window_s", "dispatch_end"):
        if type(options.get(name, 0)) is not int:
            return False
    for name in ("dispatch_tools", "required_tools"):
        tools = options.get(name, [])
        if not isinstance(tools, list) or not all(isinstance(tool, str) for tool in tools):
            return False
    return values["mode"] in MODES and values["preset"] in ("", *PRESETS)


def choose(settings: Settings, request: Request) -> Settings:
    """The settings with the request on top; a usage error names what is unknown and what exists."""
    _require_known("mode", request.mode, MODES)
    _require_known("preset", request.preset, (*PRESETS, "none"))
    preset = request.preset or settings.preset
    if preset == "none":
        preset = ""
    options = {
        **settings.options,
        **_parse_assignments(request.assignments),
        **_parse_nudge(request),
        **_parse_dispatch(request.dispatch),
    }
    if request.guidance:
        options["guidance"] = True
    mode = _choose_mode(settings, request, preset)
    return Settings(mode, options, settings.python, preset)


def _choose_mode(settings: Settings, request: Request, preset: str) -> str:
    """The mode asked for, or that of a new preset; a mode from the old preset goes with it."""
    if request.mode:
        return request.mode
    if not request.preset:
        return settings.mode
    kept = settings.mode
    if PRESETS.get(settings.preset, {}).get("mode") == settings.mode:
        kept = "breaker"
    return str(PRESETS.get(preset, {}).get("mode", kept))


def remarks(settings: Settings, request: Request) -> tuple[str, ...]:
    """Effects of these settings that may surprise a person."""
    options = settings.effective
    lines = [*_preset_remarks(settings, request), *_dispatch_remarks(settings, request)]
    if settings.mode == "off" and options.get("required_tools"):
        lines.append("mode off gives no reminder of tools either")
    if request.nudge_env and not options.get("required_tools"):
        lines.append("--nudge-env does nothing without --nudge TOOL")
    if not settings.events and request == Request():
        lines.append("the guard is off, so no hook is registered; --mode breaker puts it back")
    return tuple(lines)


def _preset_remarks(settings: Settings, request: Request) -> Iterator[str]:
    pinned = PRESETS.get(request.preset, {})
    different = []
    for name, value in settings.options.items():
        if name in pinned and value != pinned[name]:
            different.append(name)
    if different:
        names = ", ".join(different)
        yield f"{names}, set by hand, stays over {request.preset}'s own; --reset leaves it out"
    if settings.preset == "rockbot" and not settings.effective.get("dispatch_tools"):
        yield (
            "rockbot counts no tool's calls yet: "
            "name the tools with --dispatch TOOL, or --dispatch '*'"
        )


def _dispatch_remarks(settings: Settings, request: Request) -> Iterator[str]:
    # A colon is no error: Cursor's own names of MCP tools have one, others may.
    tools = _parse_dispatch(request.dispatch).get("dispatch_tools", ())
    with_colon = [tool for tool in tools if ":" in tool.removeprefix("MCP:")]
    if with_colon:
        names = ", ".join(with_colon)
        yield f"{names} is taken for a tool's whole name; a limit is as in Task:30/300"
    if settings.effective.get("dispatch_tools") and not _has_dispatch_limit(settings.effective):
        yield "a limit or a window of 0 switches dispatch off"


def require_portable(settings: Settings) -> None:
    """Refuse options with a path of this machine: committed settings must work in every clone."""
    for name in ("run_dir", "task_file"):
        text = str(settings.options.get(name, ""))
        for path in text.split(":"):
            if os.path.isabs(path) or ".." in path.split("/"):
                hint = "Give a path within the project."
                message = f"{name}={text} leaves the project, which at project scope it must not"
                raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
    showable = guard_module("confined").SHOWABLE
    for variable in settings.options.get("show_env", []):
        if variable not in showable:
            hint = "Install at user or local scope, or leave it out of the texts."
            message = f"show_env={variable}: a project's own texts show no variable of a person's"
            raise HookctlError("usage", message, hint=hint, exit_code=USAGE)


def _require_known(kind: str, name: str, known: tuple[str, ...]) -> None:
    if name and name not in known:
        hint = f"{nearest(name, known)}{kind.capitalize()}s: {', '.join(known)}."
        raise usage_error(f"unknown {kind} {name!r}", hint)


def _parse_assignments(assignments: Sequence[str]) -> dict[str, Any]:
    """The options that --set gives."""
    options: dict[str, Any] = {}
    known = settable_options() if assignments else {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        name = "max_stop_blocks" if key == LIMIT_KEY else key
        if name == "mode":
            raise usage_error("the mode is no --set", f"Say --mode {text or 'breaker'}.")
        names = f"Give KEY=VALUE with one of: {', '.join(sorted(known))}."
        if name not in known:
            meant = nearest(key, [*known, LIMIT_KEY])
            raise usage_error(f"unknown setting {assignment!r}", meant.strip() or names)
        if not equals:
            raise usage_error(f"{assignment} needs a value", names)
        options[name] = _parse_value(name, text.strip(), known[name])
    return options


def _parse_nudge(request: Request) -> dict[str, Any]:
    """The options of --nudge and --nudge-env; an empty text turns them off."""
    options: dict[str, Any] = {}
    if request.nudge is not None:
        rule = settable_options()["required_tools"]
        options["required_tools"] = _parse_value("required_tools", request.nudge, rule)
    if request.nudge_env is not None:
        name = request.nudge_env.strip()
        if name and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            hint = "The reminder comes only where this variable is set: "
            hint += "--nudge-env HERMES_KANBAN_TASK."
            raise usage_error(f"--nudge-env {name!r} is no variable's name", hint)
        options["required_scope_env"] = name
    return options


def _parse_dispatch(claims: Sequence[str]) -> dict[str, Any]:
    """The options of --dispatch TOOL[:MAX/SECONDS]; an empty text turns it off."""
    tools: list[str] = []
    limits: set[tuple[int, int]] = set()
    for claim in claims:
        tool, limit = _split_dispatch(claim)
        if not tool and (len(claims) > 1 or limit):
            raise _dispatch_error(claim)
        if tool:
            tools.append(tool)
        if limit:
            limits.add(limit)
    if len(limits) > 1:
        hint = "Give the same MAX/SECONDS to each, or to one of them."
        raise usage_error("all dispatch tools share one limit", hint)
    options: dict[str, Any] = {}
    if claims:
        options["dispatch_tools"] = list(dict.fromkeys(tools))
    for most, seconds in limits:
        options |= {"dispatch_max": most, "dispatch_window_s": seconds}
    return options


def _split_dispatch(claim: str) -> tuple[str, tuple[int, int] | None]:
    """The tool and the limit of a --dispatch; no limit if it has none."""
    match = re.fullmatch(r"(.*?)(?::([0-9]{1,9})/([0-9]{1,9}))?", claim.strip())
    if match is None:
        raise _dispatch_error(claim)
    tool = match[1].strip()
    # Several tools, or a limit in another form.
    if not tool.isprintable() or re.search(r"[\s,]|:[0-9/]|:$", tool):
        raise _dispatch_error(claim)
    if match[2]:
        return tool, (int(match[2]), int(match[3]))
    return tool, None


def _dispatch_error(claim: str) -> HookctlError:
    hint = "Give --dispatch TOOL, or TOOL:MAX/SECONDS as in Task:30/300; once for each tool."
    return usage_error(f"--dispatch {claim!r} names no tool, or a limit that is none", hint)


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
    if any(find_faults(name, value, rule)):
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
