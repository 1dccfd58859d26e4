"""The guard's command, env values and configuration file; what hosts can do, and cannot."""

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from hookctl import __version__
from hookctl.documents import Document
from hookctl.hosts import Host, load, loading, names, parse_version, read_cap
from hookctl.hosts.shapes import head, split_words
from hookctl.model import WRAP, Wanted
from hookctl.packs import Pack
from hookctl.packs.choices import DEFAULT_LIMIT, LIMIT_KEY, Settings, whole_number
from hookctl.settings.targets import GUARD, OWN, Target, in_sh, quote
from hookctl.system import files
from hookctl.system.packages import HOOK

HOSTS = "hosts"  # the key of a configuration with the facts about hosts
WRAPS = "wraps"  # whether a hook of another tool is wrapped there
ARMED_CEILING = 5000  # blocks for each prompt during a keepalive run, whatever the settings say
UNLIMITED_CAP = 5000  # if the guard's own limit is as high, or there is none
_CAP_KEYS = ("key", "default", "most", "overrides_last", "counts_anew")  # the hook counts by these
WORD = r"""(?:'[^']*'|"'"|[A-Za-z0-9_@%+=:,./-])+"""  # quoted by shlex
# What {files} becomes: quoted, behind a variable of the host where the project is meant.
FILES_FORM = rf"""(?:"\$[A-Za-z0-9_]+"|\$[A-Za-z0-9_]+)?{WORD}"""
_ABSOLUTE = rf"(?='?/){WORD}"
QUIET = " 2>/dev/null"  # where the host takes what the shell says for an answer
# Whether both files are there: 0.2.0 asked that before each call, now only a wrapped hook does.
IS_FILE = r"\[ -f {0} \] && \[ -r {1} \]"
ON_PATH = "command -v python3 >/dev/null 2>&1"
_STARTED = (
    rf": hookctl=[^;]*; (?:set -- {WORD}; if )?"
    rf"(?:{IS_FILE.format(FILES_FORM, FILES_FORM)} && (?:\[ -x {WORD} \]|{ON_PATH})"
    rf"(?: && |; then exec ))?(?P<python>{WORD}) -I -S (?P<hook>{FILES_FORM}) "
)


def cost_of_run(cap: int) -> str:
    """What a keepalive run may cost, with the most blocks without progress that it allows."""
    idle = f", {cap} of them without progress" if 0 < cap < ARMED_CEILING else ""
    return (
        f"up to {ARMED_CEILING} forced stops{idle}, each at least one model request with the whole "
        "context; `--for` shortens the run, `hookctl install --host HOST --set keepalive_cap=N` "
        "allows N without progress"
    )


def command(id: str, target: Target, config: str, python: str, event: str) -> str:
    """The registered command: exits with 0 if a file is missing or the hook crashes."""
    host = target.host
    start = host.environment.finds_project * target.shared
    launcher, words = _launch(host, config)
    start += call(target, launcher, python)
    return f"{head(id)}{start} {event} {words}{QUIET * host.registration.quiet}; exit 0"


def _launch(host: Host, config: str) -> tuple[str, str]:
    """The launcher beside a configuration, and the words that tell it host and configuration."""
    folder, name = os.path.split(config.removesuffix(".json"))
    words = f"--host {host.name}" + f" --config {name}" * (name != host.name)
    return os.path.join(os.path.dirname(folder), HOOK), words


def call(target: Target, path: str, python: str) -> str:
    """The call of a program of ours, without its arguments."""
    program = "python3" if target.shared else quote(target.host, python)
    return f"{program} -I -S {in_sh(target, path)}"


def command_forms(id: str, event: str, host: Host) -> str:
    """A pattern for every command that a released version wrote for this hook, with any paths."""
    started = start_forms(host, f"{GUARD}/{host.name}")
    name = f"--host {re.escape(host.name)}(?: --config (?P<config>[a-z0-9-]+))?"
    arguments = f"{re.escape(event)} {name}(?:{QUIET})?; exit 0"  # 0.2.0 had no QUIET
    return f"{re.escape(head(id))}{started} {arguments}"


def start_forms(host: Host, folder: str) -> str:
    """A pattern for the start of a launcher, up to its arguments, wherever it lies.

    `folder` is the one in a project's .hookctl that 0.2.0's launcher lay in, whose commands have
    the groups `program` or `former`; `python` is not in a command of project scope.
    """
    environment = host.environment
    files_0_2_0 = IS_FILE.format(f"(?P<file>{WORD})", "(?P=file)")
    own_0_2_0 = rf"{files_0_2_0} && \[ -x (?P<program>{WORD}) \] && "
    same = "(?=(?P=program) -I -S (?P=file) )"
    own = rf"(?:{own_0_2_0}{same})?(?P<python>{_ABSOLUTE}) -I -S (?P<hook>{_ABSOLUTE})"
    path = f"{environment.in_command}/{OWN}/{HOOK}"
    shared = re.escape(f"{environment.finds_project}python3 -I -S {path}")
    project = environment.in_command_0_2_0 or environment.in_command
    path = re.escape(f"{project}/{OWN}/{folder}/{HOOK}")
    shared_0_2_0 = f"{IS_FILE.format(path, path)} && {ON_PATH} && python3 -I -S {path}"
    return f"(?:{own}|{shared}|(?P<former>{shared_0_2_0}))"


def read(command: str) -> tuple[str, str, str]:
    """Interpreter, program of ours and arguments of a registered command; '' if it has none."""
    match = re.match(_STARTED, command)
    if match is None:
        return "", "", ""
    python, hook = split_words(f"{match['python']} {match['hook']}")
    return python, hook, command[match.end() :]


def config_path(text: str, id: str, event: str, target: Target) -> str:
    """The configuration that a registered command has; empty where hookctl wrote no such one."""
    match = re.fullmatch(command_forms(id, event, target.host), text)
    if not match or (match["python"] is None and not target.project):
        return ""
    name, folder = target.host.name, os.path.join(target.project, OWN)
    if match["former"]:
        return os.path.join(folder, GUARD, name, "config.json")
    if match["python"] is not None:
        folder = os.path.dirname("".join(split_words(match["hook"])))
    if match["program"]:  # 0.2.0's
        return os.path.join(folder, "config.json")
    return os.path.join(folder, GUARD, f"{match['config'] or name}.json")


def is_shared_command(text: str, id: str, target: Target) -> bool:
    """Whether a released version writes a command into the project's settings of this host."""
    match = re.fullmatch(command_forms(id, id.partition("/")[2], target.host), text)
    return bool(match) and match["python"] is None and match["config"] is None


def wants(
    settings: Settings,
    target: Target,
    pack: Pack,
    config: str,
    limit: str = "",
    cap: str = "",
    *,
    wraps: bool = False,
) -> list[Wanted]:
    """The guard's entries in a host's settings file; `config` is the path of its configuration.

    The cap follows the limit in effect: `limit`, if the configuration has it. `cap` is the person's
    own cap from a file that ours would override: then ours repeats it. `wraps`: it wraps another
    tool's hook.
    """
    host, env = target.host, dict[str, str]()
    if settings.mode == "breaker" and settings.effective.get("locked") is not True:
        env[LIMIT_KEY] = wanted_limit(settings)  # the hook reads it in this mode only
    needed, wanted = events(settings, host, wraps=wraps), []
    needed_cap = ""
    if settings.mode in ("breaker", "keepalive") and host.cap:
        needed_cap = cap_for(host, settings.mode, limit or wanted_limit(settings))
    for hook in pack.parts[""].hooks:
        if hook.event not in needed:
            continue
        id, is_stop = f"{GUARD}/{hook.id}", hook.event == "stop"
        wanted.append(
            wanted_hook(
                host,
                id,
                host.events[hook.event],
                command(id, target, config, settings.python, hook.event),
                partial(command_forms, id, hook.event, host),
                hook.timeout,
                matcher=matcher_of(settings, host) if hook.event == "pre-tool" else None,
                env=env if is_stop else None,
                cap=needed_cap if is_stop else "",
            )
        )
    if wanted:
        wanted = [*top_wants(host), *wanted]
    if host.env_path:
        leaves = {key: Wanted((*host.env_path, key), "leaf", value) for key, value in env.items()}
        if needed_cap and host.cap_key:
            wanted_cap = Wanted((*host.env_path, host.cap_key), "leaf", cap or needed_cap)
            if not cap:
                after = partial(cap_for, host, settings.mode)
                path = (*host.env_path, LIMIT_KEY)
                wanted_cap = wanted_cap._replace(follows=path, value_after=after)
            leaves[host.cap_key] = wanted_cap
        wanted += leaves.values()
    allowed = host.permission.texts if settings.allow_run else ()
    return wanted + [Wanted((*host.shape.texts, text), "leaf", text) for text in allowed]


def wanted_hook(
    host: Host,
    id: str,
    event: str,
    command: str,
    forms: Callable[[], str],
    seconds: int | None,
    *,
    matcher: str | None = None,
    env: dict[str, str] | None = None,
    cap: str = "",
) -> Wanted:
    """A hook at an event of the host's; `seconds` is its timeout, `cap` needs a field for it."""
    registration, pack = host.registration, id.partition("/")[0]
    fields: dict[str, Any] = {}
    whole_name = id.replace("/", "-")
    for key, value in registration.fields.items():
        if isinstance(value, str):
            name = GUARD if pack == GUARD else whole_name
            value = value.replace("{name}", name).replace("{id}", whole_name)
        fields[key] = value
    fields["command"] = command
    if seconds is not None and registration.timeout:
        limit = seconds * 1000 if host.timeout_unit == "milliseconds" else seconds
        fields[registration.timeout] = min(limit, registration.longest or limit)
    if matcher is not None and not host.matchers.none:
        fields["matcher"] = matcher
    if env and host.env_field:
        fields[host.env_field] = env
    if cap and "field" in host.cap:
        fields[host.cap["field"]] = int(cap)
    return Wanted(host.shape.event_path(event, pack), "element", fields, id, forms)


def top_wants(host: Host) -> list[Wanted]:
    """The keys that the host's settings file needs at its top for any hook."""
    return [Wanted((key,), "leaf", value) for key, value in host.registration.top.items()]


def events(settings: Settings, host: Host, *, wraps: bool = False) -> tuple[str, ...]:
    """The events that these settings need, of those that the host has and the guard can answer."""
    needed = list(settings.events)
    if "stop" in needed or wraps:
        needed += host.guard.events
    lost = {"pre-tool": not can_refuse(host), "session-start": not host.dialect.context}
    needed = [event for event in needed if not lost.get(event)]
    if "pre-tool" in needed and ends_refused(settings, host) and "prompt" in host.guard.events:
        needed.append("prompt")  # a prompt begins the count anew, and no tool call tells of it
    return tuple(event for event in dict.fromkeys(needed) if event in host.events)


def can_refuse(host: Host) -> bool:
    """Whether the guard can refuse a tool call there, and its silence lets the others run."""
    return bool(host.dialect.refuse) and "pre-tool" not in host.guard.without


def ends_refused(settings: Settings, host: Host) -> bool:
    """Whether a call that is refused too often ends the turn there."""
    return bool(host.dialect.refuse_end) and settings.effective.get("dispatch_end", 0) > 0


def everything(settings: Settings) -> Settings:
    """The settings that need every entry that the guard can have."""
    options = {**settings.options, "dispatch_tools": ["*"], "guidance": True}
    return Settings("breaker", options, settings.python, settings.preset, allow_run=True)


def matcher_of(settings: Settings, host: Host) -> str | None:
    """The matcher for the tools that the hook counts; the hook compares the names again."""
    tools = settings.effective.get("dispatch_tools", ())
    if "pre-tool" in host.guard.events or "*" in tools:
        return None
    # Hosts take names split at | literally, and anything else for a regular expression.
    pattern = "|".join(tool if tool.isidentifier() else re.escape(tool) for tool in tools)
    return host.matchers.prefix + pattern


def wanted_limit(settings: Settings) -> str:
    """The limit as an env value."""
    return str(settings.effective.get("max_stop_blocks", DEFAULT_LIMIT))


def cap_for(host: Host, mode: str, limit: Any) -> str:
    """The host's cap for a limit, as text or as it stands in settings.

    It is high enough that the guard releases first, with its message.
    """
    number = whole_number(limit if isinstance(limit, str) else json.dumps(limit))
    if number is None:
        number = DEFAULT_LIMIT
    cap = max(8, number + 3) if mode == "breaker" and number > 0 else UNLIMITED_CAP
    return str(min(cap, host.cap.get("most", cap)))


def is_newer(version: str) -> bool:
    """Whether a plain version is above this one."""
    is_plain = re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){1,3}", version)
    own = re.findall("[0-9]+", __version__)
    return bool(is_plain) and parse_version(version) > list(map(int, own))


def host_table(host: Host) -> dict[str, Any]:
    """The facts for config.json about every host that may run this host's registration."""
    others = [load(one.host) for one in host.also_read_by if one.host and not one.never_ours]
    table: dict[str, Any] = {}
    for one in (host, *others):
        # Empty where it just stops asking, or the hook's entry sets it.
        cap = {} if "field" in one.cap or one.cap.get("asks") else one.cap
        facts = {
            **vars(one.dialect),
            "project": one.environment.project,
            "session": one.environment.session,
            "process": one.environment.process,
            "cap": {name: cap[name] for name in _CAP_KEYS if name in cap},
            "payload": one.payload,
            "denials": one.denials,
            "reminds_where": one.guard.reminds_where,
        }
        table[one.name] = {name: value for name, value in facts.items() if value}
    if others:
        table[host.name]["also_run_by"] = {other.name: other.told_by for other in others}
    return table


def configuration(
    settings: Settings, state: str, host: Host, *, wraps: bool = False
) -> dict[str, Any]:
    """The content of a configuration; tools have the names that the host sends.

    In breaker mode the limit is in the host's env, if that has one and the guard reads it.
    """
    config = {"mode": settings.mode, **settings.effective}
    has_variable = bool(host.env_path or host.env_field)
    if settings.mode == "breaker" and has_variable and settings.effective.get("locked") is not True:
        config.pop("max_stop_blocks", None)
    if config.get("dispatch_tools"):
        from hookctl.hosts.matchers import sent_names  # late: few guards count calls

        names = [name for tool in config["dispatch_tools"] for name in sent_names(host, tool)]
        config["dispatch_tools"] = list(dict.fromkeys(names))
    if wraps:
        config[WRAPS] = True
    if state:
        config["state_dir"] = state
    return config


# The command that replaces another tool's Stop hook, so that its denials end at a limit.
#
# `: hookctl=guard/wrap-HASH; set -- COMMAND;
# if ...; then exec hook.py wrap "$1"; else eval "set --; $1"; fi`
#
# Without the launcher or Python the hook runs as it did before, and its own command can be read
# from the wrapping one. Because of `exec`, a host that ends the shell ends the hook.

_ALONE = 'eval "set --; $1"'  # the other hook, in the shell that the host started
# Every command that a released version wrote for a wrapped hook, on any host and with any paths.
_WRAP_FILE = IS_FILE.format("(?P<file>.{1,5000})", "(?P=file)")
_WRAP_READY = f"(?P<lead>.{{0,400}}&& )?{_WRAP_FILE}"
_WRAP_PYTHON = rf"\[ -x (?P<python>{WORD}) \]; then exec (?P=python)|{ON_PATH}; then exec python3"
_WRAP_WORDS = "(?:wrap )?stop --host [a-z]+(?: --config [a-z0-9-]+)?"
_WRAP_FORM = (
    rf": hookctl={WRAP}[0-9a-f]{{8}}; set -- (?P<original>{WORD}); if {_WRAP_READY} && "
    rf'(?:{_WRAP_PYTHON}) -I -S (?P=file) (?P<words>{_WRAP_WORDS}) "\$1"; '
    rf"else {re.escape(_ALONE)}; fi"
)


def wrap_id(original: str) -> str:
    """The id of a wrapped hook, from its original command."""
    return WRAP + files.digest(original.encode("utf-8", "surrogatepass"))[:8]


def wrap_command(original: str, target: Target, config: str, python: str) -> str:
    """The command that runs `original` through the guard, or directly if our file is missing."""
    path, words = _launch(target.host, config)
    file, start = in_sh(target, path), call(target, path, python)
    has_python = ON_PATH if target.shared else f"[ -x {quote(target.host, python)} ]"
    lead = target.host.environment.finds_project * target.shared
    is_ready = f"{lead}[ -f {file} ] && [ -r {file} ] && {has_python}"
    guarded = f'exec {start} wrap stop {words} "$1"'
    choice = f"if {is_ready}; then {guarded}; else {_ALONE}; fi"
    return f"{head(wrap_id(original))}set -- {shlex.quote(original)}; {choice}"


def is_shared_wrap(text: str, target: Target) -> bool:
    """Whether a released version writes this command into the project's settings of this host."""
    match, name, where = _match_wrap(text), target.host.name, target.host.environment
    if match is None or match["python"]:
        return False
    former = where.in_command_0_2_0 or where.in_command
    return (match["lead"] or "", match["file"], match["words"]) in (
        (where.finds_project, f"{where.in_command}/{OWN}/{HOOK}", f"wrap stop --host {name}"),
        ("", f"{former}/{OWN}/{GUARD}/{name}/wrap.py", f"stop --host {name}"),
    )


def original_of(text: str) -> str | None:
    """The original command inside a wrapping one, with any paths; None if it is none of ours."""
    match = _match_wrap(text)
    return "".join(split_words(match["original"])) if match else None


def _match_wrap(text: str) -> re.Match[str] | None:
    match = re.fullmatch(_WRAP_FORM, text)
    if not match or not text.startswith(head(wrap_id("".join(split_words(match["original"]))))):
        return None
    # Anything else there would be run, and nobody would be shown it.
    environments = [load(name).environment for name in names()]
    folders = {each for one in environments for each in (one.in_command, one.in_command_0_2_0)}
    shared = "|".join(map(re.escape, folders - {""}))
    own = rf"(?:{WORD})|(?:{shared})/{OWN}/(?:{HOOK}|{GUARD}/[a-z]+/wrap\.py)"
    is_lead = match["lead"] in (None, *(one.finds_project for one in environments))
    return match if is_lead and re.fullmatch(own, match["file"]) else None


# What a host can do, and what it cannot, in sentences for install and `hookctl hosts`.

_BLOCKING = ("breaker", "keepalive")  # the modes that block stops


def list_abilities(host: Host) -> dict[str, bool]:
    """What a hook can do there at a stop and at a tool call."""
    dialect, answers = host.dialect, host.runner.get("answers", {})  # it may have no runner
    tool, stop = answers.get("PreToolUse", {}), answers.get("Stop", {})
    at_stop = bool(dialect.end or stop.get("end"))
    at_call = bool(dialect.refuse_end or tool.get("end"))
    return {
        "block": bool(dialect.block or stop.get("refuse")),
        "refuse": bool(dialect.refuse or tool.get("refuse")),
        "ask": bool(tool.get("ask")),
        "change": bool(tool.get("change")),
        "end": at_stop or at_call,
        "end_at_stop": at_stop,
        "end_at_call": at_call,
    }


def shortcomings(host: Host) -> list[str]:
    """Everything that a host cannot do, with any settings."""
    older = [f"before {since} it {does}" for since, does in host.client.since.values()]
    most, unless = _fixed_cap(host), "whatever is set"
    if "setting" in host.cap and "key" not in host.cap:
        unless = f"if {'.'.join(host.cap['setting'])} does not say otherwise"
    caps = [f"grants at most {count_blocks(host, most)}, {unless}"] if most else []
    return [*_unproven(host), *caps, *_find_lost(host).values(), *host.cannot, *older]


def lacks(
    host: Host, version: str, settings: Settings | None, document: Document | None
) -> Iterator[tuple[str, str, str]]:
    """What of the installed setup a client's version lacks: level, what it does, since when."""
    is_read = document and "entries" in host.client.since
    faults = loading.read(host, document).faults if is_read else ()
    refuses = settings is not None and "pre-tool" in settings.events
    costs_hooks = any(fault.reach in (loading.ITEM, loading.EVENT) for fault in faults)
    rows = {
        "entries": ("error", costs_hooks),
        "refuse_end": ("warning", refuses and ends_refused(settings, host)),
        "message": ("info", settings is not None and settings.mode != "off"),
    }
    for feature, (since, does) in host.client.since.items():
        level, is_needed = rows.get(feature, ("error", True))
        if is_needed and parse_version(version) < parse_version(since):
            yield level, does, since


def limits_for(host: Host, settings: Settings, cap: str = "") -> tuple[list[str], list[str]]:
    """Where the host does not do what the person asks the guard for; and what else limits it."""
    mode, limit, options = settings.mode, wanted_limit(settings), settings.effective
    missed: list[str] = []
    others = [*_unproven(host), *(host.cannot if settings.events else ())]
    # Nobody chose the default limit, so a cap below it takes nothing from anybody.
    is_chosen = mode == "keepalive" or limit != str(DEFAULT_LIMIT)
    most = _fixed_cap(host, cap)
    own = UNLIMITED_CAP if mode == "keepalive" else int(limit)
    if mode in _BLOCKING and 0 < most < own:
        blocks = f"the host grants no more than {count_blocks(host, most)}"
        text = f"{blocks}, so the guard stops blocking after {most} and not {own}"
        (missed if is_chosen else others).append(text)
    asked = {
        "block": mode in _BLOCKING,
        "end": mode == "guard",
        "refuse": bool(options.get("dispatch_tools")),
        "context": options.get("guidance") is True,
    }
    for name, text in _find_lost(host).items() if settings.events else ():
        if asked.get(name):
            missed.append(text)
        if name == "refuse_end" and asked["refuse"] and options.get("dispatch_end", 0) > 0:
            others.append(text)
    where = options.get("required_scope_env") if options.get("required_tools") else ""
    if settings.events and mode != "off" and where and where == host.guard.reminds_where:
        missed.append(f"it reminds its own workers, where {where} is set, so the guard does not")
    if "pre-tool" in settings.events and can_refuse(host):
        from hookctl.hosts.matchers import explain_mismatch  # late: few guards count calls

        reason = explain_mismatch(host, host.events["pre-tool"], matcher_of(settings, host))
        missed += [f"--dispatch does nothing: {reason}"] if reason else []
    title = host.title
    return [f"{title}: {line}" for line in missed], [f"{title}: {line}" for line in others]


def count_blocks(host: Host, number: int) -> str:
    """A number of blocks in words, as the host counts them."""
    blocks = "1 block" if number == 1 else f"{number} blocks"
    return f"{blocks} in a turn" if host.cap.get("per_turn") else f"{blocks} in a row"


def _unproven(host: Host) -> list[str]:
    source = {"read": "the source of the client", "docs": "documents"}.get(host.sure)
    text = f"not proven: what hookctl knows of it is from {source}, and no client was run"
    return [text] if source else []


def _fixed_cap(host: Host, text: str = "") -> int:
    """The cap on blocks in a row that hookctl cannot lift; 0 if there is none."""
    cap = host.cap
    if not cap or "field" in cap or ("key" in cap and "most" not in cap):
        return 0
    if "key" not in cap:
        return int(read_cap(host, text))
    return cap.get("most", cap["default"]) - cap.get("overrides_last", False)


def _find_lost(host: Host) -> dict[str, str]:
    """What the guard cannot do there, by a word for it."""
    dialect, refuses = host.dialect, can_refuse(host)
    wrap = "; `--wrap` limits such a hook" * host.registration.wraps
    packs = "; a pack's hook can" if not refuses and list_abilities(host)["refuse"] else ""
    rows = {
        "block": (dialect.block, "a hook cannot keep it working at a stop"),
        "message": (
            dialect.release,
            "shows no message of a hook that lets the agent stop; `hookctl log` has it",
        ),
        "end": (dialect.end, f"a hook cannot end a turn that other hooks force on{wrap}"),
        "refuse": (refuses, f"the guard cannot refuse a tool call{packs}"),
        "refuse_end": (
            dialect.refuse_end or not refuses,
            "a refused tool call cannot end the turn",
        ),
        "context": (dialect.context, "a session's start takes no text from a hook"),
    }
    return {name: text for name, (can, text) in rows.items() if not can}
