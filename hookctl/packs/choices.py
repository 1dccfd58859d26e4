"""The guard's settings that an operator chooses: mode, preset and options."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.errors import HookctlError, nearest, require_known, usage_error
from hookctl.system import guard_module, read_data

LIMIT_KEY = "MAX_STOP_BLOCKS"  # the limit's own variable
MODES = ("breaker", "keepalive", "guard", "off")
DEFAULT_LIMIT = 5
# The options that hookctl computes with, and of which type they have to be.
_NUMBERS = ("max_stop_blocks", "dispatch_max", "dispatch_window_s", "dispatch_end")
_TOOLS = ("dispatch_tools", "required_tools")
REFUSALS = 10  # of one call, until the turn ends; only where tool calls are counted
# Published systems as settings: with a preset the guard decides as its original does. Every preset
# keeps the host's cap, the ceiling and failing open.
PRESETS: dict[str, dict[str, Any]] = {
    # bmad-automator: five blocks without a new heartbeat or a smaller count.
    # Every fresh stop starts again.
    "bmad": {
        "mode": "breaker",
        "claim": False,
        "work_hours": 0,
        "guidance": True,
        "chain_reset": "fresh",
        "latch": False,
        "progress": ["heartbeat", "remaining"],
        "max_stop_blocks": 5,
        "limit_env": "STORY_AUTOMATOR_MAX_STOP_BLOCKS",
        "child_env": ["STORY_AUTOMATOR_CHILD"],
        "task_env": "STORY_AUTOMATOR_ACTIVE_MARKER",
        "task_file": ".claude/.story-automator-active:.agents/.story-automator-active:"
        ".codex/.story-automator-active",
        "task_fields": ["remaining=storiesRemaining", "heartbeat=heartbeat", "owner=ownerSession"],
        "yield_on_background": False,
        "end_foreign_chains": False,
    },
    # Nightly: blocks every stop of an armed run until STOP, CONCLUDE or its end.
    "nightly": {
        "mode": "keepalive",
        "claim": False,
        "work_hours": 0,
        "guidance": True,
        "chain_reset": "fresh",
        "latch": False,
        "keepalive_cap": 5000,
        "yield_on_background": False,
        "end_foreign_chains": False,
    },
    # OpenHands: the fifth stop in a row that another hook denies ends the turn.
    # A tool call in between starts the count again.
    "openhands": {
        "mode": "guard",
        "count": "attempts",
        "max_stop_blocks": 5,
        "action_novelty": False,
        "claim": False,
        "work_hours": 0,
    },
    # RockBot: 30 identical tool calls in five minutes; which tools, --dispatch says.
    # Stops are not affected, and a refusal ends no turn.
    "rockbot": {
        "mode": "off",
        "dispatch_max": 30,
        "dispatch_window_s": 300,
        "dispatch_scope": "project",
        "dispatch_end": 0,
        "claim": False,
        "work_hours": 0,
    },
    # Hermes: one reminder to close the task, in a worker that has one.
    "hermes": {
        "required_tools": ["kanban_complete", "kanban_block"],
        "required_scope_env": "HERMES_KANBAN_TASK",
        "max_nudges": 1,
        "show_env": ["HERMES_KANBAN_TASK"],
        "claim": False,
        "work_hours": 0,
        "end_foreign_chains": False,
    },
}


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
    allow_run: bool = False  # the agent may report without being asked

    @property
    def option(self) -> str:
        """The first guard option on the command line; empty if there is none."""
        for name, value, default in zip(self._fields, self, Request(), strict=True):
            if value != default:
                return "--set" if name == "assignments" else f"--{name.replace('_', '-')}"
        return ""


class Choice(NamedTuple):
    """What the operator asked of an install."""

    settings: Request = Request()
    reset: bool = False
    force: bool = False  # what is disabled of the pack comes back, too
    allow_env: tuple[str, ...] = ()
    restores: bool = False  # whether a pack comes back whose entries are all gone


class Permission(NamedTuple):
    """What the command line permits."""

    yes: bool = False
    accept_changed: bool = False
    show: Callable[[str], None] | None = None  # shows what the pack brings
    confirm: Callable[[str], bool] | None = None  # asks at a terminal; None: no question
    verbose: bool = False  # show long texts too


class Settings:
    """A person's choices as the ledger records them, and what follows from them."""

    def __init__(
        self,
        mode: str = "breaker",
        options: dict[str, Any] | None = None,
        python: str = "",
        preset: str = "",
        *,
        allow_run: bool = False,
    ) -> None:
        self.allow_run = allow_run  # whether the agent may report without being asked
        self.mode = mode
        self.options = options or {}  # chosen one by one
        self.python = python  # the interpreter for the hook, once it is known
        self.preset = preset
        pinned = {name: value for name, value in PRESETS.get(preset, {}).items() if name != "mode"}
        self.effective = {**pinned, **self.options}
        if self.effective.get("dispatch_tools"):
            self.effective.setdefault("dispatch_end", REFUSALS)
        counts = self.effective.get("dispatch_tools") and _has_dispatch_limit(self.effective)
        guides = self.effective.get("guidance") is True and mode in ("breaker", "keepalive")
        needed = {"stop": mode != "off", "pre-tool": counts, "session-start": guides}
        self.events = tuple(event for event, is_needed in needed.items() if is_needed)


def _has_dispatch_limit(options: dict[str, Any]) -> bool:
    return min(options.get("dispatch_max", 1), options.get("dispatch_window_s", 1)) > 0


def options_of(settings: Settings) -> list[str]:
    """The options of an install that choose these settings."""
    options = ["--preset", settings.preset] if settings.preset else []
    if settings.mode != PRESETS.get(settings.preset, {}).get("mode", "breaker"):
        options += ["--mode", settings.mode]
    for name, value in settings.options.items():
        options += ["--set", f"{name}={_as_text(value)}"]
    return options


def _as_text(value: Any) -> str:
    """A value as --set reads it."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def settings_from(recorded: dict[str, Any]) -> Settings:
    """The settings of a pack record; ledger_unreadable if they are not as hookctl writes them."""
    mode, preset = recorded.get("mode", "breaker"), recorded.get("preset", "")
    options, python = recorded.get("knobs", {}), recorded.get("python", "")
    allow_run = recorded.get("allow_run", False)
    if not (
        mode in MODES
        and preset in ("", *PRESETS)
        and isinstance(python, str)
        and isinstance(allow_run, bool)
        and isinstance(recorded.get("config", {}), dict)
        and isinstance(options, dict)
        and all(type(options.get(name, 0)) is int for name in _NUMBERS)
        and all(type(options.get(name, [])) is list for name in _TOOLS)
        and all(isinstance(text, str) for name in _TOOLS for text in options.get(name, []))
    ):
        message = "the guard's settings in hookctl's record are of a wrong kind"
        hint = "Move hookctl's record away; `hookctl install` takes back the hooks that it finds."
        raise HookctlError("ledger_unreadable", message, hint=hint)
    return Settings(mode, options, python, preset, allow_run=allow_run)


def choose(settings: Settings, request: Request) -> Settings:
    """The settings with the request on top; a usage error names what is unknown and what exists."""
    if request == Request():
        return settings
    mode, preset = request.mode or settings.mode, request.preset or settings.preset or "none"
    require_known("mode", mode, MODES)
    require_known("preset", preset, (*PRESETS, "none"))
    if preset == "none":
        preset = ""
    if request.preset and not request.mode:  # a mode from the old preset is dropped
        former = PRESETS.get(settings.preset, {}).get("mode")
        mode = PRESETS.get(preset, {}).get("mode", "breaker" if mode == former else mode)
    options = {**settings.options, **_parse_options(request)}
    if request.guidance:
        options["guidance"] = True
    allow_run = settings.allow_run or request.allow_run
    return Settings(mode, options, settings.python, preset, allow_run=allow_run)


def asked_names(request: Request) -> set[str]:
    """The names of all that a request asks for: options, variables, and hooks that must run."""
    asked = choose(Settings(), request)
    names, events = set(asked.effective), set(asked.events)
    if request.mode or "mode" in PRESETS.get(request.preset, {}):
        names.add("mode")
    if all(name == "guidance" or name.startswith("dispatch_") for name in names):
        events.discard("stop")  # these have hooks of their own
    if "max_stop_blocks" in names:
        names.add(LIMIT_KEY)
    return names | {f"guard/{event}" for event in events}


def remarks(settings: Settings, request: Request) -> tuple[str, ...]:
    """What has no effect, and may surprise a person."""
    options, mode = settings.effective, settings.mode
    tools = options.get("dispatch_tools", ())
    names = {text.partition("=")[0] for text in request.assignments}
    rows = (
        (
            settings.preset == "rockbot" and not tools,
            "rockbot counts no tool's calls yet: name the tools with --dispatch TOOL",
        ),
        (
            tools and not _has_dispatch_limit(options),
            "a limit or a window of 0 switches dispatch off",
        ),
        (
            mode == "off" and options.get("required_tools"),
            "mode off gives no reminder of tools either",
        ),
        (
            request.nudge_env and not options.get("required_tools"),
            "--nudge-env does nothing without --nudge TOOL",
        ),
        (
            mode == "keepalive" and names & {LIMIT_KEY, "max_stop_blocks"},
            f"{LIMIT_KEY} has no effect in keepalive: its limit is keepalive_cap",
        ),
        (
            not settings.events and request == Request(),
            "the guard is off, so no hook is registered; --mode breaker puts it back",
        ),
    )
    return tuple(text for applies, text in rows if applies)


def require_portable(settings: Settings) -> None:
    """Refuse options that the hook takes from no project: they must work in every clone."""
    for name in list_outside(settings.options, "/project", {}):
        text = _as_text(settings.options[name])
        message = f"{name}={text} leaves the project, which here it must not"
        hint = "Give what is the project's own, or install at user or local scope."
        raise usage_error(message, hint)


_NO_OPTIONS = ("$schema", "hosts", "wraps")
# A colon may be part of a tool's name, but not of several tools or of a limit in another form.
_DISPATCH = r"((?:[^\s,:]|:(?![-0-9/]|$))+)(?::([0-9]{1,9})/([0-9]{1,9}))?"


def schema() -> dict[str, Any]:
    """The JSON Schema of every option, by the option's name."""
    properties = json.loads(read_data("schemas", "guard-config.schema.json"))["properties"]
    return {name: rule for name, rule in properties.items() if name not in _NO_OPTIONS}


def variables_of(env: Mapping[str, str]) -> Callable[[str], str]:
    """A function that gives a variable's value to the guard's code: '' if it is not set."""
    return lambda name: env.get(name, "")


def confine(config: dict[str, Any], root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """A project's own configuration without values that lead out of it, as the hook reads it."""
    return dict(guard_module("settings").confine(config, root, variables_of(environ)))


def list_outside(config: dict[str, Any], root: str, environ: Mapping[str, str]) -> list[str]:
    """The options that lead out of a project, which the hook takes from none."""
    kept = confine(config, root, environ)
    return [name for name, value in config.items() if value and kept.get(name) != value]


def is_true(text: str) -> bool:
    """Whether the hook reads the text of a variable as yes."""
    return bool(guard_module("files").is_true(text))


def whole_number(text: str) -> int | None:
    """The whole number that the hook reads in a text; None if it reads none."""
    return guard_module("files").whole_number(text)


def read_settings(config: Mapping[str, Any], env: Mapping[str, str]) -> Any:
    """Every setting under its name, as the hook reads them where no file locks the guard."""
    usable = {name: value for name, value in config.items() if _is_usable(value)}
    return guard_module("settings").Settings(usable, env=variables_of(env))


def _is_usable(value: Any) -> bool:
    """Whether every text of a value is allowed in a path: no NUL and no lone surrogate."""
    values = value if isinstance(value, list) else [value]
    return not re.search("[\0\ud800-\udfff]", "".join(map(str, values)))


def is_valid(name: str, value: Any, rule: Mapping[str, Any]) -> bool:
    """Whether the hook takes a value for an option, which has this schema."""
    if type(value) is int and not rule.get("minimum", value) <= value <= rule.get("maximum", value):
        return False
    settings, is_default = guard_module("settings"), value in ("", []) and value == rule["default"]
    return is_default or bool(settings.fits(name, value, settings.DEFAULTS[name]))


def _parse_options(request: Request) -> dict[str, Any]:
    """The options that --set, --nudge, --nudge-env and --dispatch give; the later ones win."""
    options: dict[str, Any] = {}
    nudge, nudge_env = request.nudge, request.nudge_env
    if nudge_env and not re.fullmatch(r"\s*[A-Za-z_][A-Za-z0-9_]*\s*", nudge_env):
        hint = "Give the name of one, as --nudge-env HERMES_KANBAN_TASK."
        raise usage_error(f"--nudge-env {nudge_env!r} is not a variable name", hint)
    given = [*request.assignments]
    given += [] if nudge is None else [f"required_tools={nudge}"]
    given += [] if nudge_env is None else [f"required_scope_env={nudge_env}"]
    known = settable_options() if given else {}
    for assignment in given:
        key, equals, text = assignment.partition("=")
        name = "max_stop_blocks" if key == LIMIT_KEY else key
        if name == "mode":
            raise usage_error("--set cannot set the mode", f"Say --mode {text or 'breaker'}.")
        names = f"Give KEY=VALUE with one of: {', '.join(sorted(known))}."
        if name not in known:
            meant = nearest(key, [*known, LIMIT_KEY])
            raise usage_error(f"unknown setting {assignment!r}", meant.strip() or names)
        if not equals:
            raise usage_error(f"{assignment} needs a value", names)
        settings, rule, text = guard_module("settings"), known[name], text.strip()
        kind = type(settings.DEFAULTS[name])
        value = settings.parse_text(kind, text) if text.isprintable() else None
        if isinstance(value, list):
            value = [part for part in value if part]
        if not is_valid(name, value, rule):
            kinds = {"integer": "A whole number. ", "boolean": "true or false. "}
            hint = kinds.get(rule.get("type"), "") + rule.get("description", "")
            raise usage_error(f"{name} cannot be {text!r}", hint)
        options[name] = value
    return options | _parse_dispatch(request.dispatch)


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
    return {name: rule for name, rule in schema().items() if name not in ("mode", "state_dir")}
