"""Claude Code's protocol, in which packs speak, and what their commands become on each host."""

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

from hookctl.hosts import Host, load
from hookctl.hosts.matchers import FOR_ALL, explain_mismatch
from hookctl.hosts.shapes import FAILS_OPEN, head
from hookctl.model import Wanted
from hookctl.packs import CLAUDE, DEFAULT_TIMEOUT, Pack, PackHook, Part, guard
from hookctl.settings.targets import OWN, Target, in_sh, quote
from hookctl.system import guard_module
from hookctl.system.packages import HOOK, PACKAGES

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
    # Nobody misses one that Claude Code had once, and one that is an Edit elsewhere, beside that.
    unmissed = ("MultiEdit", "NotebookEdit" if "Edit" in own else "")
    lacking = [name for name in lacking if name not in unmissed]
    writes = {*host.tools.get("write", ()), *host.tools.get("edit", ())}
    if host.runner.get("patches_in_shell") and writes.intersection(names):
        names += host.tools.get("shell", ())
    pattern = "|".join(dict.fromkeys(re.escape(name) for name in names))
    return f"{host.matchers.prefix}^({pattern})$", lacking


@cache
def find_slips(event: str, matcher: str | None) -> dict[str, str]:
    """The names in a matcher that fit no tool of Claude Code, each with the reason."""
    is_list = event in TOOL_EVENTS and _NAMES.fullmatch(matcher or "")
    names = re.split("[|,] ?", matcher or "") if is_list else [matcher]
    reasons = {name or "": explain_mismatch(load(CLAUDE), EVENTS[event], name) for name in names}
    return {name: reason for name, reason in reasons.items() if reason}


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


# The call of the runner, and what a host lacks for a pack.

REFUSES = 42  # the runner's status for it
MARGIN = 2  # seconds that the host's limit is longer than the runner's
# The end of a registered command.
END = rf"(?: 2>/dev/null)?; (?:\[ \$\? -eq {REFUSES} \] && exit 2; )?exit 0"
# In a command: the files of its pack, the runner without arguments, what stands before a command
# that names either, and what follows where the host takes what the shell says for an answer.
_FILES, _CALL, _LEAD, _QUIET = "\0", "\1", "\2", "\3"
Note = tuple[str, bool]  # what a host lacks for a pack, and whether that is certain
# What a hook may answer, by its event; at the others nobody waits for an answer.
_POSSIBLE = {
    "pre-tool": ("refuse", "ask", "change", "context"),
    "post-tool": ("refuse", "context"),
    FAILURE_EVENT: ("context",),
    "prompt": ("refuse", "context"),
    "session-start": ("context",),
    "stop": ("refuse",),
    "subagent-stop": ("refuse",),
}
_LOST = {  # what becomes of an answer that the host has no form for
    "refuse": "it cannot refuse there, so the call runs",
    "change": "a changed input becomes a refusal that names it",
    "replace": "what it puts in place of a result is dropped",
    "ask": "`ask` becomes a refusal",
    "allow": "`allow` lifts no permission",
    "context": "context for the model is dropped",
}
_MCP_NAME = r"mcp__[^|,()$\s]*"


def find_programs(target: Target, folder: str, top: str, python: str) -> dict[int, str]:
    """What stands in a command for a pack's files in `folder`, and the launcher in `top`."""
    texts = {
        _FILES: in_sh(target, folder),
        _CALL: guard.call(target, f"{top}/{HOOK}", python),
        _LEAD: target.host.environment.finds_project * target.shared,
        _QUIET: guard.QUIET * target.host.registration.quiet,
    }
    return str.maketrans(texts)


def find_event(command: str) -> str:
    """The event of Claude Code that a registered command is run for; '' if it is no such one."""
    match = re.search(r" run ([A-Za-z]+) --host ", command)
    return match[1] if match else ""


def needs_runner(pack: Pack, host: Host) -> bool:
    """Whether any hook of a pack is run by the runner on a host."""
    return any(one.is_run and native_event(host, one.event) for one in hooks_of(pack, host.name))


def _runner_command(pack: Pack, hook: PackHook, host: Host, env: dict[str, str]) -> str:
    words = ["run", EVENTS[hook.event], "--host", shlex.quote(host.name)]
    words += ["--id", f"{pack.name}/{hook.id}"]
    limit = hook.timeout or DEFAULT_TIMEOUT
    if host.registration.longest:  # the host would end the runner, which then could not refuse
        limit = min(limit, host.registration.longest - MARGIN)
    if limit != DEFAULT_TIMEOUT:
        words += ["--timeout", str(limit)]
    if hook.event in MATCHED_EVENTS and hook.matcher not in ALL:
        words += ["--matcher", quote(host, hook.matcher)]
    if hook.on_failure == "deny":
        words += ["--on-failure", "deny"]
    if hook.may_allow:
        words += ["--may-allow"]
    if not host.env_path and not host.env_field:
        for key, value in env.items():
            words += ["--env", quote(host, f"{key}={value}")]
    if pack.files:
        words += ["--files", _FILES]
        for name in dict.fromkeys(list_named_files(hook.command)):
            if name in pack.files:
                words += ["--file", name]
    words.append(quote(host, hook.command))
    # Python itself ends with 2 where it finds no file, which would refuse.
    refuses = any("exit 2" in forms.values() for forms in host.runner.get("answers", {}).values())
    end = f"{_QUIET}; " + f"[ $? -eq {REFUSES} ] && exit 2; " * refuses + "exit 0"
    return f"{_LEAD}{_CALL} {' '.join(words)}{end}"


def _forms(host: Host, command: str) -> str:
    """A pattern for every form of a command that this pack writes for its hook, with any path."""
    text = re.escape(command).replace(_LEAD + _CALL, guard.start_forms(host, PACKAGES))
    # 0.2.0 had neither a lead nor this end.
    text = text.replace(_LEAD, f"(?:{re.escape(host.environment.finds_project)})?")
    text = text.replace(_QUIET, f"(?:{guard.QUIET})?")
    files = guard.FILES_FORM
    old = re.escape(host.environment.in_command_0_2_0)
    if old:
        files = f"(?:{files}|{old}/{OWN}/packs/[a-z0-9-]+)"
    text = text.replace(_FILES, f"(?P<files>{files})", 1)
    return text.replace(_FILES, "(?P=files)")


def hosts_file(packs: Mapping[str, list[str]], state: str) -> bytes:
    """What the runner has to know: the packs registered for each host, and of these hosts."""
    table: dict[str, Any] = {}
    for name in packs:
        facts = guard.host_table(load(name))
        table = {**facts, **table, name: facts[name]}  # its own row says who else runs its file
    lines = [f' "packs": {_dump(dict(packs))},']
    if state:
        lines.append(f' "state_dir": {_dump(state)},')
    for name, facts in table.items():
        table[name] = {**facts, **load(name).runner, "tools": load(name).tools}
    rows = [f"  {_dump(name)}: {_dump(facts)}" for name, facts in table.items()]
    text = "\n".join(["{", *lines, ' "hosts": {', ",\n".join(rows), " }", "}", ""])
    return text.encode("utf-8", "backslashreplace")


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def possible_answers(hook: PackHook) -> set[str]:
    """What a hook may answer as far as its pack says."""
    return {*_POSSIBLE.get(hook.event, ()), *declared_answers(hook)}


def declared_answers(hook: PackHook) -> set[str]:
    """What a hook answers by the words of its pack."""
    answers = {"allow"} if hook.may_allow else set()
    return answers | ({"refuse"} if hook.on_failure == "deny" else set())


def wants(
    pack: Pack,
    host: Host,
    programs: dict[int, str],
    answers_of: Callable[[PackHook], Collection[str]] = possible_answers,
) -> tuple[list[Wanted], list[Note]]:
    """The pack's entries for this host, and what it lacks: each with whether that is certain.

    It is not, of an answer that may never come.
    """
    env = pack.parts[""].env | pack.parts.get(host.name, Part()).env
    values = {key: claim.value for key, claim in env.items()}
    found: list[Wanted] = []
    notes: list[Note] = []
    hooks = hooks_of(pack, host.name)
    if pack.all_hooks and not hooks:
        hosts = sorted({name for own, hook in pack.all_hooks for name in (own, *hook.hosts)} - {""})
        notes.append((f"no hook is for it, only for {', '.join(hosts)}", True))
    for hook in hooks:
        event = hook.event if hook.native else host.events.get(hook.event, "")
        if not (native_event(host, hook.event) if hook.is_run else event):
            lack = f"it has no event {EVENTS.get(hook.event, hook.event)}"
            if hook.event == FAILURE_EVENT and host.events.get("post-tool"):
                lack = "it does not say which calls failed"
            notes.append((f"{hook.id}: {lack}: not registered", True))
        elif hook.is_run:
            run, more = _runner_wants(pack, hook, host, programs, values, answers_of(hook))
            found += run
            notes += more
        else:
            # None for all tools, as `*` and "" match none on some hosts.
            matcher = None if hook.matcher in FOR_ALL else hook.matcher
            id = f"{pack.name}/{hook.id}"
            text = head(id) + _host_command(pack, hook, host, event)
            command, forms = text.translate(programs), partial(_forms, host, text)
            named = (host, id, event, command, forms, hook.timeout)
            found.append(guard.wanted_hook(*named, matcher=matcher, env=values))
            if reason := explain_mismatch(host, event, matcher):
                notes.append((f"the hook {hook.id} never runs there: {reason}", True))
    found = [*guard.top_wants(host), *found] if found else []
    if host.env_path:
        found += [
            Wanted((*host.env_path, key), "leaf", claim.value, merge=claim.merge)
            for key, claim in env.items()
        ]
    elif env and not host.env_field:
        has_runner = bool(hooks) and all(hook.is_run for hook in hooks)
        if not has_runner:  # which gives every hook its variables
            notes.append((f"it has no env channel: {', '.join(env)} is not set", True))
    return found, notes


def _runner_wants(
    pack: Pack,
    hook: PackHook,
    host: Host,
    programs: dict[int, str],
    env: dict[str, str],
    answers: Collection[str],
) -> tuple[list[Wanted], list[Note]]:
    """The entries of a hook that the runner runs: several where the host has several events."""
    matcher, lost = fit(host, hook.event, hook.matcher)
    slips = find_slips(hook.event, hook.matcher)
    lacks = [*slips.values()]
    if unknown := [name for name in lost if name not in slips]:
        lacks.append(f"it has no {', '.join(unknown)}")
    end = ": not registered" if lost and not matcher else ""
    notes = [(f"{hook.id}: {lack}{end}", True) for lack in lacks]
    if end:
        return [], notes
    is_about_tools, forms = hook.event in TOOL_EVENTS, host.tools.get("mcp")
    names = ", ".join(re.findall(_MCP_NAME, hook.matcher or "")) if is_about_tools else ""
    if names and not forms:
        text = f"{hook.id}: how it names MCP tools is not known: {names} may never fit"
        notes.append((text, True))
    elif names and "{server}" not in forms[0] and "mcp_server" not in host.runner.get("fields", {}):
        text = f"{hook.id}: it does not tell the server of an MCP tool: {names} never fits"
        notes.append((text, True))
    wanted, seconds = [], (hook.timeout or DEFAULT_TIMEOUT) + MARGIN
    for number, event in enumerate(native_events(host, hook.event, matcher)):
        # An ID for each entry.
        own = hook._replace(id=f"{hook.id}.{event}") if number else hook
        id = f"{pack.name}/{own.id}"
        text = head(id) + _runner_command(pack, own, host, env)
        command, known = text.translate(programs), partial(_forms, host, text)
        named = (host, id, event, command, known, seconds)
        wanted.append(guard.wanted_hook(*named, matcher=matcher, env=env))
    return wanted, [*notes, *_notes_on_answers(hook, host, answers)]


def hooks_of(pack: Pack, host: str) -> list[PackHook]:
    """A host's hooks: its own replace those with the same id in place, and the others follow."""
    own = {hook.id: hook for hook in pack.parts.get(host, Part()).hooks}
    common = [hook for hook in pack.hooks if not hook.hosts or host in hook.hosts]
    replaced = [own.pop(hook.id, hook) for hook in common]
    return [*replaced, *own.values()]


def _host_command(pack: Pack, hook: PackHook, host: Host, event: str) -> str:
    """A hook's command, which does nothing where the pack's files are gone.

    `event` is the host's name of it. Folders are marks in the command, filled in for a target.
    """
    closed = [host.events.get(name) for name in host.registration.fails_closed]
    text = FAILS_OPEN if event in closed else ""
    if pack.files:
        first = f"{_FILES}/{pack.files[0]}"
        text += f"{_LEAD}[ -f {first} ] && [ -r {first} ] || exit 0; "
    values = {"files": _FILES, "host": shlex.quote(host.name), "event": shlex.quote(hook.event)}
    return text + "".join(fill(hook.command, values))


# What a host lacks for a pack


def describe(pack: Pack, host: Host, notes: Iterable[Note]) -> tuple[list[str], list[str]]:
    """What the host lacks, and what it lacks for answers that may never come, in sentences."""
    start, certainties = f"{pack.name} on {host.title}", dict(notes)
    surely = [f"{start}: {text}" for text, is_sure in certainties.items() if is_sure]
    assumed = "; ".join(text for text, is_sure in certainties.items() if not is_sure)
    return surely, [f"{start}, of what it may answer: {assumed}"] if assumed else []


def _notes_on_answers(hook: PackHook, host: Host, answers: Collection[str]) -> Iterator[Note]:
    """What becomes of answers on the host; that the pack declares one is certain."""
    forms = host.runner.get("answers", {}).get(EVENTS[hook.event], {})
    is_own = host.runner.get("own_protocol")
    for answer in () if is_own else ("refuse", "change", "ask", "allow", "context", "end"):
        text = _find_loss(hook, answer, forms) if answer in answers else ""
        if text:
            yield f"{hook.id}: {text}", answer in declared_answers(hook)
    if forms.get("silence"):
        yield f"{hook.id}: no opinion is told as an `allow`, since silence refuses there", False


def _find_loss(hook: PackHook, answer: str, forms: dict[str, str]) -> str:
    """What becomes of an answer with the host's forms; '' where nothing is lost."""
    if answer == "change" and hook.event == "post-tool":
        answer = "replace"
    fate = "becomes a refusal" if forms.get("on_end") == "refuse" else "is dropped"
    rows = (
        (
            answer == "change" and forms.get("change_allows") and not hook.may_allow,
            f"{_LOST['change']} (may_allow = false)",
        ),
        (forms.get(answer), ""),
        (answer == "refuse" and hook.event in TOOL_EVENTS[1:], "nobody reads a refusal"),
        (
            answer == "end" and hook.event in ("stop", "subagent-stop"),
            "`continue: false` lets the agent stop",
        ),
        (answer == "end", f"`continue: false` {fate}"),
        (True, _LOST.get(answer, "")),
    )
    return next(text for applies, text in rows if applies)


# The placeholders of commands, and what stands in quotes of sh.

PLACEHOLDERS = ("files", "host", "event")
# Behind {files}: the rest of the word, quotes in it included.
_REST = re.compile(r"(?:[^\s;&|<>():\"']|\"[^\"]*\"|'[^']*')*")
_EXPANDED = re.compile(r"[$`*?\[\\]")  # with one of these only the shell knows which file is meant
_KNOWN = r"(?<!\$)\{(?:files|host|event)\}"  # ${host} is the shell's
# Behind @ or % it belongs to a revision or a format, behind - to a default.
_UNKNOWN = r"(?<![$@%-])\{[A-Za-z_][A-Za-z0-9_-]*\}"
# What is expanded in double quotes may hold simple quotes only: where others end is hard to tell.
_CALLED = r"""\$\((?:[^()"'`\\]|'[^']*'|"[^"`\\(){}]*")*+\)"""
_EXPANSION = rf"""{_CALLED}|\$\{{[^{{}}"'`\\]*\}}|`[^`"'\\]*`"""
_DOUBLE = rf"""(?:[^"\\`$]|\\.|{_EXPANSION}|\$(?![({{]))*+"""
_CLOSED = rf"""'[^']*'|"{_DOUBLE}"|`[^`\\]*`|(?<![^\s;&|<>()])\#.*"""
_TOKEN = re.compile(
    rf"""(?P<closed>{_CLOSED})|(?P<open>\$?'|["`])|\\.|(?P<slot>{_KNOWN}|{_UNKNOWN})""", re.DOTALL
)
_TITLES = {"'": "single quotes", '"': "double quotes", "`": "backticks", "#": "a comment"}


class Slot(NamedTuple):
    """A placeholder in a command."""

    start: int
    end: int
    name: str  # files | host | event, or what is none of them
    inside: str = ""  # what it stands in; empty where it may be replaced


class Unreadable(ValueError):
    """A command whose quotes have no end, or hide which placeholders stand inside them."""


def slots(command: str) -> Iterator[Slot]:
    """The placeholders of a command, and what looks like one outside quotes, in order."""
    for match in _TOKEN.finditer(command):
        if match["slot"]:
            yield Slot(match.start(), match.end(), match["slot"][1:-1])
        elif match["closed"]:
            for inner in re.finditer(_KNOWN, match[0]):
                at = match.start() + inner.start()
                yield Slot(at, at + len(inner[0]), inner[0][1:-1], _TITLES[match[0][0]])
        elif match["open"] == "$'":
            raise Unreadable("$'...' means different things to different shells")
        elif match["open"]:
            if match["open"] not in command[match.end() :]:
                raise Unreadable(f"{match['open']} is opened and never closed")
            # It has an end, but not one that is sure.
            if re.search(_KNOWN, command):
                raise Unreadable(f"what stands inside {match['open']} cannot be followed")
            return


def fill(command: str, values: Mapping[str, str]) -> Iterator[str]:
    """The pieces of a command with the values of its placeholders, each a piece of its own."""
    at = 0
    for slot in slots(command):
        yield command[at : slot.start]
        yield values[slot.name]
        at = slot.end
    yield command[at:]


def list_named_files(command: str) -> Iterator[str]:
    """The files that a command names below {files}; not those that it only writes."""
    for slot in slots(command):
        if slot.name != "files" or command[: slot.start].rstrip().endswith(">"):
            continue
        match = _REST.match(command, slot.end)
        rest = match[0] if match else ""
        if rest.startswith("/") and not _EXPANDED.search(rest):
            name = re.sub("[\"']", "", rest).lstrip("/")
            yield posixpath.normpath(name) if name else ""
