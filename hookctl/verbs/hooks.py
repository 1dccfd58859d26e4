"""hookctl hooks: every hook that the hosts would run here, and every one that they would not."""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from itertools import groupby
from typing import Any

from hookctl import hosts
from hookctl.errors import usage_error
from hookctl.firing.calls import find_event
from hookctl.hosts.shapes import shorten
from hookctl.masking import OwnText, masked_text
from hookctl.model import WRAP, Line, Result
from hookctl.output.lines import amount, cut, fix, place, show_ms, tilde, tildes
from hookctl.packs.guard import original_of
from hookctl.packs.runner import EVENTS
from hookctl.survey.listing import take_inventory
from hookctl.survey.model import RUNS, UNKNOWN_EVENT, WANTED, Hook, list_reasons
from hookctl.survey.programs import name_program
from hookctl.system.folders import Folders
from hookctl.verbs.choosing import in_project, load_hosts

_LONGEST = 200  # characters of a command that machines are shown
_FIELDS = (  # of a hook, as --json has them
    *("id", "host", "scope", "event", "matcher", "command", "file", "line", "owner"),
    *("state", "reason", "fix"),
)
_COUNTED = ("runs", "failures", "median_ms", "p95_ms", "bytes", "last_run")  # of its receipts
_LONGEST_TEXT = 60  # characters of a command or a matcher in its line
_BEHIND_MARK = 8  # columns: the mark and the indentation
BEHIND_ID = 17  # columns: the mark, the indentation, the ID and a gap


HELP = """
--event E  Only this event: stop, PreToolUse, or a host's own name.

Examples:
  hookctl hooks --host claude --event pre-tool
"""


def hooks(folders: Folders, host: Sequence[str] = (), event: str = "", project: str = "") -> Result:
    """Every hook of the hosts in the working folder, with its place, owner and state."""
    inventory = take_inventory(in_project(folders, project), load_hosts(host))
    listed = list(inventory.hooks)
    if event:
        names = {host: find_event(hosts.load(host), event)[0] for host in hosts.names()}
        listed = [hook for hook in listed if hook.event in (event, names[hook.host])]
    if event and not listed:  # maybe one under a name that is meant for it
        listed = [hook for hook in inventory.hooks if hook.state == UNKNOWN_EVENT]
        if not listed and not any(names.values()):
            hint = f"Use one of {', '.join(EVENTS)}, or a host's own name of an event."
            raise usage_error(f"no host has an event {event}", hint)
    order: dict[tuple[str, str], int] = {}  # of events, as a session of each host brings them
    for one in inventory.hosts:
        for name in [*one.events.values(), *sorted(hook.event for hook in listed)]:
            order.setdefault((one.name, name), len(order))
    listed.sort(key=lambda hook: order[hook.host, hook.event])
    unreadable, lines = [], [*_hook_lines(listed, inventory.missing)]
    for file in inventory.unreadable:
        unreadable.append({"path": file.path, "line": file.line, "message": file.message})
        text = f"its hooks are not known: {file.message}"
        lines.append(Line(text, "error", path=place(file.path, file.line)))
    running = sum(hook.state == RUNS for hook in listed)
    is_empty = not (listed or unreadable)
    text = "no hooks here" if is_empty else f"{running} of {amount(len(listed), 'hook')} will run"
    data = {"hooks": lambda: [_describe(hook) for hook in listed], "unreadable": unreadable}
    return Result(data, (*lines, Line(text)))


def _describe(hook: Hook) -> dict[str, Any]:
    return {
        **{name: getattr(hook, name) for name in _FIELDS},
        "command": shown_command(hook),
        **{name: getattr(hook.receipts, name) for name in _COUNTED},
        "name": hook.own_id,
        "plugin": hook.plugin,
        "also_read_by": [
            {"agent": hosts.reader_title(agent), "only": hosts.reader_condition(agent)}
            for agent in hook.within.readers
        ],
    }


def shown_command(hook: Hook) -> str:
    """The command of a hook, or the one that it wraps, as it may be shown: masked, not too long."""
    original = original_of(hook.command)
    text = masked_text(original or hook.command)
    is_whole = len(text) <= _LONGEST or (hook.own_id and not original)
    return text if is_whole else f"{text[:_LONGEST]}…"


# For people.


def _hook_lines(hooks: Sequence[Hook], missing: Container[str]) -> Iterator[Line]:
    for host, group in groupby(hooks, lambda hook: hook.host):
        of_host = list(group)
        away = ", which is not on this machine" if host in missing else ""
        yield Line(hosts.load(host).title + away)
        # What stops several hooks is said once, with their number where others run.
        counts = Counter(one for hook in of_host for one in hook.obstacles if one.is_shared)
        for obstacle, count in counts.items():
            some = f" ({count} of {len(of_host)} hooks)" if count < len(of_host) else ""
            yield Line(tildes(obstacle.reason) + some, _mark(obstacle.state), indent=2)
            if obstacle.fix:
                yield fix(tildes(obstacle.fix), indent=_BEHIND_MARK)
        for event, of_event in groupby(of_host, lambda hook: hook.event):
            yield Line(event or "no event", indent=2)
            for hook in of_event:
                yield from _lines_of(hook)
        files: dict[str, dict[str, None]] = {}  # by the other agents that read them too
        for hook in of_host:
            if names := ", ".join(map(hosts.describe_reader, hook.within.readers)):
                files.setdefault(names, {})[tilde(hook.file)] = None
        for names, paths in files.items():
            verb = "is" if len(paths) == 1 else "are"
            yield Line(f"{' and '.join(paths)} {verb} also read by {names}", indent=2)


def _mark(state: str) -> str:
    return "ok" if state == RUNS else "skip" if state in WANTED else "warn"


def _lines_of(hook: Hook) -> Iterator[Line]:
    text = _name(hook, shown_command(hook))
    if hook.matcher:
        text += f" on {cut(hook.matcher, _LONGEST_TEXT)}"
    yield name_hook(hook, text, _mark(hook.state))
    own = [obstacle for obstacle in hook.obstacles if not obstacle.is_shared]
    reason = list_reasons(own) if hook.obstacles else hook.reason
    if reason:
        yield Line(tildes(reason), indent=BEHIND_ID)
    if fixes := "; ".join(dict.fromkeys(obstacle.fix for obstacle in own if obstacle.fix)):
        yield fix(tildes(fixes), indent=BEHIND_ID)
    ran = hook.receipts
    if ran.runs:
        spans = f"median {show_ms(ran.median_ms)}, p95 {show_ms(ran.p95_ms)}"
        text = f"ran {amount(ran.runs, 'time')}, {ran.failures} failed, {spans}"
        yield Line(f"{text}, {amount(ran.bytes, 'byte')} into the context", indent=BEHIND_ID)


def name_hook(hook: Hook, text: str, mark: str) -> Line:
    """The line that begins what is said of a hook, with its ID and its place."""
    label, where = OwnText(shorten(hook.id)), place(hook.file, hook.line)
    return Line(text, mark, indent=2, label=label, path=where)


def _name(hook: Hook, command: str) -> str:
    """What a hook is in a few words: ours by its name, others by what they run."""
    is_wrapped = hook.own_id.startswith(WRAP)
    if hook.own_id and not is_wrapped:
        return hook.own_id
    kind = hook.fields.get("type", "command")
    text = command
    if len(text) > _LONGEST_TEXT:
        text = name_program(command) or cut(command, _LONGEST_TEXT)
    if kind != "command":
        text = f"{kind} {text}".strip()
    name = hook.fields.get("name")
    if isinstance(name, str) and hosts.load(hook.host).list_key("names"):
        text = f"{masked_text(name)}: {text}"  # by which the host switches it off
    text += f" (wrapped by {hook.own_id})" if is_wrapped else ""
    return f"{text} (plugin {hook.plugin})" if hook.plugin else text
