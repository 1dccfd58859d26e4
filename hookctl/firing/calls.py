"""A host's call of its hooks, in its own names and payload, and what it makes of their answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hookctl import clock
from hookctl.errors import usage_error
from hookctl.hosts import Host
from hookctl.hosts.loading import is_within, read_status
from hookctl.hosts.matchers import explain_mismatch, fits, fits_word
from hookctl.hosts.shapes import shorten
from hookctl.packs.runner import (
    EVENTS,
    FAILURE_EVENT,
    SHORT,
    TOOL_EVENTS,
    native_event,
    native_events,
    own_names,
)
from hookctl.survey.model import Hook
from hookctl.system import files, guard_module
from hookctl.system.processes import LIMIT, Output

SESSION = "hookctl-fire"
_ABSENT = "{absent}"  # a field that other events have
_EXAMPLES: dict[str, dict[str, Any]] = {  # the input of a tool that is given none
    "Bash": {"command": "true"},
    "Write": {"file_path": "{project}/example.txt", "content": "text\n"},
    "Edit": {"file_path": "{project}/example.txt", "old_string": "a", "new_string": "b"},
    "Read": {"file_path": "{project}/example.txt"},
    "Grep": {"pattern": "example"},
    "Glob": {"pattern": "*"},
    "WebFetch": {"url": "https://example.com", "prompt": "example"},
    "Agent": {"prompt": "example", "description": "example"},
}


class Place(NamedTuple):
    """Where the call is made."""

    project: str
    home: str
    transcript: str
    environ: Mapping[str, str]


class Asked(NamedTuple):
    """What a person wants to happen: an event, and the tool call of it."""

    event: str
    tool: str = ""
    input: dict[str, Any] | None = None
    payload: bytes | None = None  # of the host, instead of one that is made
    fields: Mapping[str, Any] = {}  # more of it, by Claude Code's names


def find_event(host: Host, name: str, tool: str = "") -> tuple[str, str]:
    """The host's own name of an event, and Claude Code's; '' for what the host does not have."""
    short = _short_name(name)
    if short and (native := native_event(host, short)):
        if short == FAILURE_EVENT and native == host.events.get("post-tool"):
            short = "post-tool"
        of_tool = native_events(host, short, "|".join(own_names(host, tool) or [tool]))
        return next(iter(of_tool), native), EVENTS[short]
    for short, own in host.events.items():
        if name in (own, *host.runner.get("tool_events", {}).get(EVENTS[short], ())):
            return name, EVENTS[short]
    return (name, "") if name in host.handlers.events else ("", "")


def _short_name(name: str) -> str:
    """The short form of an event's name, or of Claude Code's; '' if it is neither."""
    return name if name in EVENTS else SHORT.get(name, "")


def require_question(hosts: Sequence[Host], asked: Asked) -> None:
    """Refuse (usage) an event that none of these hosts has, and one without its tool."""
    found = [find_event(host, asked.event) for host in hosts]
    if not any(event for event, _ in found):
        who = hosts[0].title if len(hosts) == 1 else "any host here"
        hint = f"Use one of {', '.join(EVENTS)}, or a host's own name of an event."
        raise usage_error(f"{asked.event} is no event of {who}", hint)
    is_made = asked.payload is None and not asked.tool
    if is_made and any(SHORT.get(protocol) in TOOL_EVENTS for _, protocol in found):
        hint = f"For example: `hookctl fire {asked.event} --tool Bash`, or --payload FILE."
        raise usage_error(f"{asked.event} is about a tool call, and no tool is named", hint)


def lacks_tool(host: Host, tool: str) -> bool:
    """Whether a host is known to have no tool that does what this one of Claude Code does."""
    kinds = [kind for kind, name in guard_module("payload").TOOLS.items() if name == tool]
    return any(kind in host.tools for kind in kinds) and not own_names(host, tool)


def make_call(host: Host, asked: Asked, place: Place) -> Call:
    """The call of a host that has this event."""
    event, protocol = find_event(host, asked.event, asked.tool)
    if asked.payload is not None:
        payload = parse(asked.payload, "the payload")
        return Call(host, event, protocol, payload, asked.payload, tool_in(host, payload))
    if SHORT.get(protocol) not in TOOL_EVENTS:
        asked = Asked(asked.event, fields=asked.fields)
    sends, payload = host.sends, dict[str, Any]()
    for field, value in asked.fields.items() if protocol else ():
        _put(payload, _path(host, field), value)
    if protocol and asked.tool:
        input = asked.input
        if input is None:
            input = _fill(_EXAMPLES.get(_claudes_name(host, asked.tool), {}), place)
        _put(payload, _path(host, "tool_name"), _native_tool(host, asked.tool))
        _put(payload, _path(host, "tool_input"), _native_input(host, asked.tool, input))
    name = protocol if sends.get("claudes_names") and protocol else event
    field = sends.get("event", "hook_event_name")
    told = {field: name} if field else {}
    usual = sends.get("common", {"session_id": "{session}", "cwd": "{project}"})
    fields = {**usual, **sends.get(protocol, {})}
    fields = {name: value for name, value in fields.items() if value != _ABSENT}
    payload = {**told, **_fill(fields, place), **payload, **told}  # first, and in any case
    twins = sends.get("twins", {})
    payload |= {twin: payload[name] for twin, name in twins.items() if name in payload}
    if _short_name(asked.event) == FAILURE_EVENT and protocol != EVENTS[FAILURE_EVENT]:
        if "exit_status" in host.runner.get("fields", {}):
            _put(payload, _path(host, "exit_status"), 1)
        else:
            _put(payload, _path(host, "failed"), True)
    data = json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogateescape")
    return Call(host, event, protocol, payload, data, tool_in(host, payload))


def make_calls(host: Host, asked: Asked, place: Place) -> list[Call]:
    """The same call in each dialect of a host: it may speak Claude Code's as well."""
    made = [make_call(host, asked, place)]
    if host.as_claude:
        claudes = asked._replace(tool=_claudes_name(host, asked.tool))
        made.append(make_call(host.as_claude, claudes, place))
    return made


def read_payload(path: str) -> bytes:
    """The payload in a file; refuses (usage) where there is none."""
    data = files.read(path).data
    if data is None:
        raise usage_error(f"no such file: {path}", "Give a file with a payload of the host.")
    return data


def is_meant(call: Call, matcher: str | None) -> bool:
    """Whether the host runs a hook with this matcher for the call."""
    if SHORT.get(call.protocol) in TOOL_EVENTS:
        # A matcher is held against the tool's name, and Claude Code's where it counts.
        host, names = call.host, [call.tool, *call.host.matchers.names.get(call.tool, ())]
        if host.runner.get("own_protocol"):
            formers = guard_module("matching").FORMER.items()
            names += [former for former, name in formers if name == call.tool]
        else:
            tools = guard_module("payload").TOOLS.items()
            both = [(name, {*host.tools.get(kind, ())}) for kind, name in tools]
            names += [name for name, own in both if {name, call.tool} <= own]
        return fits(host, matcher, names)
    if explain_mismatch(call.host, call.event, matcher):
        return False
    word = call.payload.get(guard_module("runner").MATCHED.get(call.protocol, ""))
    return not isinstance(word, str) or fits_word(call.host, call.event, matcher, word)


def _claudes_name(host: Host, tool: str) -> str:
    return str(guard_module("payload").TOOLS.get(_kind_of(host, tool), tool))


def _kind_of(host: Host, tool: str) -> str:
    """The class of a tool by Claude Code's name or the host's; '' if it has none."""
    tools = guard_module("payload").TOOLS.items()
    return next((kind for kind, name in tools if tool in (name, *host.tools.get(kind, ()))), "")


def _native_tool(host: Host, tool: str) -> str:
    """The host's name of a tool, the first where it has several; a name of its own stays."""
    return [*own_names(host, tool), tool][0]


def _native_input(host: Host, tool: str, input: dict[str, Any]) -> dict[str, Any]:
    kind = _kind_of(host, tool)
    first = guard_module("payload").alternatives
    part = host.runner.get("parts", {}).get(_native_tool(host, tool), {})
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
    if by and _native_tool(host, tool) in by["tools"]:
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


def _fill(value: Any, place: Place) -> Any:
    """A value of a data file with what its placeholders stand for."""
    if isinstance(value, dict):
        return {key: _fill(inner, place) for key, inner in value.items()}
    if isinstance(value, list):
        return [_fill(inner, place) for inner in value]
    if not isinstance(value, str) or "{" not in value:
        return value
    now = clock.now(place.environ)
    if value in ("{null}", "{milliseconds}"):
        return None if value == "{null}" else int(now * 1000)
    texts = {
        "{project}": place.project,
        "{home}": place.home,
        "{transcript}": place.transcript,
        "{session}": SESSION,
        "{time}": clock.stamp(now),
    }
    for name, text in texts.items():
        value = value.replace(name, text)
    return value


def tool_in(host: Host, payload: Mapping[str, Any]) -> str:
    """The tool's name in a payload."""
    return guard_module("payload").find_text(host.runner, payload, "tool_name") or ""


def parse(text: str | bytes, what: str) -> dict[str, Any]:
    """The object of a payload, or of a tool's input."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        hint = """Give one as {"command": "ls"}; docs/packs.md says what is in a payload."""
        raise usage_error(f"{what} is not one JSON object", hint)
    return value


class Call(NamedTuple):
    """What happens on a host, as it tells its hooks."""

    host: Host
    event: str  # its own name
    protocol: str  # Claude Code's name of the event, '' where it has none
    payload: Mapping[str, Any]
    data: bytes  # the payload, byte for byte
    tool: str = ""  # the host's name of the tool that is called


class Reading(NamedTuple):
    """What the host reads in an answer."""

    outcome: str  # as in a receipt; not_run, or unknown where nobody knows what becomes of it
    reason: str = ""
    change: Any = None  # the new input, or the new result
    context: str = ""
    source: str = ""  # of a decision: status, nested or top
    refuses: bool = False  # also where the turn ends


class Shot(NamedTuple):
    """A hook to run for a call, or one that is not run."""

    hook: Hook
    call: Call  # as this hook is told of it
    why_not: str = ""  # why it is not run; empty where it is
    note: str = ""  # what to know about it
    is_out: bool = False  # whether the host itself would not run it for this call
    is_asked: bool = False  # whether a person has to agree
    ran: Output = Output()
    receipt: Mapping[str, Any] = {}  # of the runner
    reading: Reading = Reading("none")  # of how it ended

    @property
    def host(self) -> Host:
        """Its host, in the variant of the hook's file."""
        return self.hook.within.host

    @property
    def name(self) -> str:
        """What people call the hook: PACK/ID of one of ours, or its ID."""
        return self.hook.own_id or shorten(self.hook.id)


# All of one call: its hooks in their order, and what the host would do after those that it runs.
Volley = tuple[Call, list[Shot], Reading]


# What a host makes of one hook's answer, by the table `reads` of its data file; nothing is read.
#
# A form is a path in the answer's object, with the value that it must have there: `decision=block`,
# or any value: `hookSpecificOutput.updatedInput`.

STOPS = ("Stop", "SubagentStop")
_BLOCKING = ("UserPromptSubmit", "PostToolUse", *STOPS)  # a refusal is a block there
_NESTED = "hookSpecificOutput"
_REASONS = (
    f"{_NESTED}.permissionDecisionReason",
    f"{_NESTED}.reason",
    "permissionDecisionReason",
    "reason",
    "agent_message",
    "user_message",
    "followup_message",
    "message",
    "stopReason",
)
_REFUSED = 2  # its text is on stderr; that of other statuses may stand anywhere


def read_answer(call: Call, ran: Output) -> Reading:
    """What the host of a call makes of how a hook ended and what it printed."""
    if ran.is_cut:
        return Reading("failed", f"it printed more than {LIMIT >> 20} MiB")
    if ran.status is None:
        return Reading("timeout", "it took too long")
    table = call.host.reads
    rules = table.get(call.protocol)
    if rules is None:
        said = ran.status or ran.out.strip()
        reason = f"what {call.host.title} makes of an answer to {call.event} is not known"
        return Reading("unknown", reason) if said else Reading("none")
    refusal = "block" if call.protocol in _BLOCKING else "deny"
    return _read(call, {**table, **rules, "refusal": refusal}, ran)


def _read(call: Call, rules: Mapping[str, Any], ran: Output) -> Reading:
    runner = guard_module("answer")
    status, text = ran.status or 0, ran.out.strip(runner.BLANKS)
    told = ran.err.strip()
    if call.host.denials.get("stderr"):
        told = text = text or ran.err.strip(runner.BLANKS)
    values = runner.object_in(text)
    if values is not None and is_within(status, rules.get("json", "0")):
        answer = _read_object(call, rules, values)
        is_text = answer == Reading("none") and rules.get("any_text")
        is_read = status == 0 and not is_text
        if is_read or rules.get("json_first") or answer.refuses:
            return answer
    told = told or text if status > _REFUSED else told
    does = read_status(rules, status, told)  # what a status says by itself
    if does in ("refuse", "end"):
        own_words = rules.get("status_reason")
        reason = own_words.format(status=status) if own_words else told
        outcome = "end" if does == "end" else rules["refusal"]
        return Reading(outcome, reason, source="status", refuses=True)
    if does:
        return Reading("context", context=told) if told else Reading("none")
    if status:
        said = "".join(f": {line[:200]}" for line in ran.err.strip().splitlines()[-1:])
        return Reading("failed", f"exit status {status}{said}")
    if rules.get("closed"):
        return Reading(rules["refusal"], "it printed no decision", refuses=True)
    if text.startswith(("{", "[")) and not rules.get("any_text"):
        return Reading("failed", "its output is not one JSON object")
    if text and rules.get("text") == "context":
        return Reading("context", context=text)
    return Reading("none")


def _read_object(call: Call, rules: Mapping[str, Any], values: dict[str, Any]) -> Reading:
    fault = _find_fault(call, rules, values)
    if fault:
        return Reading("failed", f"{fault}, so {call.host.title} ignores the answer")
    ended, refused = _match(rules, "end", values), _match(rules, "refuse", values)
    reason, stop_reason = _find_reason(values), _text_at(values, "stopReason")
    if refused and not (ended and call.protocol in STOPS):  # the end of a turn beats it at a stop
        outcome = "end" if ended or _match(rules, "end_of_refusal", values) else rules["refusal"]
        reason = stop_reason if refused == "continue=false" else reason
        return Reading(outcome, reason, source=_source_of(refused), refuses=True)
    if ended:
        return Reading("end", stop_reason, refuses=call.protocol in STOPS)
    asked, allowed = _match(rules, "ask", values), _match(rules, "allow", values)
    change = _value_at(values, _match(rules, "change", values))
    if rules.get("change_allows") and not allowed:
        change = None
    context = _text_at(values, _match(rules, "context", values))
    if asked or allowed or change is not None:
        outcome = "ask" if asked else "allow" if change is None else "change"
        return Reading(outcome, reason, change, context, _source_of(asked or allowed))
    return Reading("context", context=context) if context else Reading("none")


def _find_fault(call: Call, rules: Mapping[str, Any], values: dict[str, Any]) -> str:
    """What makes the host pass over the whole object."""
    nested, decision = values.get(_NESTED), values.get("decision")
    is_known = decision is None or decision in rules.get("decisions", (decision,))
    is_named = isinstance(nested, dict) and nested.get("hookEventName") == call.event
    needs_reason = rules.get("needs_reason") and _match(rules, "refuse", values)
    strange: list[str] = []
    for told, known in ((values, rules.get("keys")), (nested, rules.get("strict"))):
        if known is not None and isinstance(told, dict):
            strange += [key for key in told if key not in known]
    rows = (
        (not is_known, f"it does not know the decision {json.dumps(decision)[:80]}"),
        (
            rules.get("named") and nested is not None and not is_named,
            f"{_NESTED} is not for {call.event}",
        ),
        (strange, f"it does not know {', '.join(strange)}"),
        (
            needs_reason and not _find_reason(values).strip(),
            "a refusal without a reason is void",
        ),
    )
    return next((text for applies, text in rows if applies), "")


def _match(rules: Mapping[str, Any], name: str, values: dict[str, Any]) -> str:
    """The first of the forms with this name that the object has; '' if none."""
    for form in rules.get(name, ()):
        path, _, word = form.partition("=")
        value = _value_at(values, path)
        is_meant = not word or value == {"true": True, "false": False}.get(word, word)
        if value is not None and is_meant:
            return str(form)
    return ""


def _value_at(values: dict[str, Any], path: str) -> Any:
    inside: Any = values
    for part in path.split("."):
        inside = inside.get(part) if part and isinstance(inside, dict) else None
    return inside


def _text_at(values: dict[str, Any], path: str) -> str:
    value = _value_at(values, path)
    return value if isinstance(value, str) else ""


def _find_reason(values: dict[str, Any]) -> str:
    """The first reason that an object has, in the order in which hosts look."""
    return next(filter(None, (_text_at(values, path) for path in _REASONS)), "")


def _source_of(form: str) -> str:
    return "nested" if form.startswith(_NESTED) else "top" if form else ""


_STRICTEST_FIRST = ("end", "deny", "block", "ask", "change", "allow", "context", "unknown")
_DECIDED = ("deny", "allow")


def combine(call: Call, answers: Sequence[Reading]) -> Reading:
    """What the host would do."""
    readings = [answer for answer in answers if answer.outcome != "not_run"]
    winner = _settle_allow(call, readings)
    if winner is not None:
        readings = [each for each in readings if each.outcome not in _DECIDED or each is winner]
    for outcome in _STRICTEST_FIRST:
        found = [reading for reading in readings if reading.outcome == outcome]
        if not found:
            continue
        texts = [reading.reason for reading in found]
        if outcome == "context":
            texts = [reading.context for reading in found]
        elif outcome == "change":
            index = -1 if call.host.reads.get("change_wins") == "last" else 0
            texts = [json.dumps(found[index].change, ensure_ascii=False)]
        elif outcome not in ("deny", "block", "ask"):
            texts = texts[:1]
        reason = "\n".join(dict.fromkeys(filter(None, texts)))
        return Reading(outcome, reason, refuses=any(reading.refuses for reading in readings))
    return Reading("none")


def _settle_allow(call: Call, readings: Sequence[Reading]) -> Reading | None:
    """The decision that counts where the host lets an `allow` undo a refusal; None elsewhere."""
    rule = call.host.reads.get("allow_wins")
    decided = [reading for reading in readings if reading.outcome in _DECIDED]
    if not rule or not decided or call.protocol in STOPS:
        return None
    by_json = [reading for reading in decided if reading.source != "status"]
    if rule == "first":  # in the file; an exit status beats all
        by_status = [reading for reading in decided if reading.source == "status"]
        return by_status[0] if by_status else by_json[0]
    nested = [reading for reading in by_json if reading.source == "nested"]
    if nested:
        return nested[-1]
    allowed = [reading for reading in by_json if reading.outcome == "allow"]
    return allowed[0] if allowed else decided[0]
