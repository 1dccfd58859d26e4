"""hookctl hooks: every hook that the hosts would run here, and every one that they would not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hookctl import hosts
from hookctl.errors import nearest, usage_error
from hookctl.hosts import readers
from hookctl.masking import masked_text
from hookctl.model import Result
from hookctl.output.hooks import hook_lines, lines_on_unknown_events
from hookctl.packs.protocol import EVENTS
from hookctl.packs.wrapping import original_of
from hookctl.survey.inventory import Inventory, take_inventory
from hookctl.survey.model import UNKNOWN_EVENT, Hook
from hookctl.system.folders import Folders
from hookctl.verbs.choosing import in_project, load_hosts

_LONGEST = 200  # characters of a command that are shown
_COUNTED = ("runs", "failures", "median_ms", "p95_ms", "bytes", "last_run")  # of its receipts


HELP = """
--event E  Only this event: stop, PreToolUse, or a host's own name.

Examples:
  hookctl hooks
  hookctl hooks --host claude --event pre-tool
  hookctl hooks --project ../other --json
"""


def hooks(folders: Folders, host: Sequence[str] = (), event: str = "", project: str = "") -> Result:
    """Every hook of the hosts in the working folder, with its place, owner and state."""
    inventory = take_inventory(in_project(folders, project), load_hosts(host))
    listed = [hook for hook in inventory.hooks if not event or event in _names_of(hook)]
    if event and not listed:
        _require_event(event, inventory)
    listed.sort(key=_sort_key(inventory))
    data = {
        "hooks": lambda: [_describe(hook) for hook in listed],
        "unreadable": [
            {"path": file.path, "line": file.line, "message": file.message}
            for file in inventory.unreadable
        ],
    }
    text = list(hook_lines(listed, inventory, shown_command))
    if event:
        text += lines_on_unknown_events(_find_misspelt(event, listed, inventory))
    return Result(data, tuple(text))


def _names_of(hook: Hook) -> list[str]:
    """The names of a hook's event: the host's own, hookctl's, and Claude Code's."""
    names = [hook.event]
    for short, own in hosts.load(hook.host).events.items():
        if own == hook.event:
            names += [short, EVENTS[short]]
    return names


def _require_event(event: str, inventory: Inventory) -> None:
    """Refuse (usage) a name that is no event of any host and of no hook."""
    known = {*EVENTS, *EVENTS.values()}
    for host in map(hosts.load, hosts.names()):
        known |= {*host.events.values(), *host.handlers.events}
    for hook in inventory.hooks:
        known.add(hook.event)
    if event not in known:
        hint = f"Use one of {', '.join(EVENTS)}, or a host's own name of an event."
        raise usage_error(f"no host has an event {event}", hint)


def _find_misspelt(event: str, listed: Sequence[Hook], inventory: Inventory) -> Iterator[Hook]:
    """Hooks under events that no host has: those that may be meant, and all if none is listed."""
    for hook in inventory.hooks:
        is_unknown = hook.state == UNKNOWN_EVENT and hook not in listed
        if is_unknown and (not listed or nearest(hook.event, _spellings(event, hook.host))):
            yield hook


def _spellings(event: str, host: str) -> list[str]:
    """The names that an event has on a host, in hookctl and in Claude Code."""
    own = hosts.load(host).events
    for short, name in EVENTS.items():
        if event in (short, name, own.get(short)):
            return [short, name, own.get(short) or short]
    return [event]


def _sort_key(inventory: Inventory) -> Any:
    """Hosts in their order, their events as a session brings them, and then as they are read."""
    order = {host.name: number for number, host in enumerate(inventory.hosts)}
    events = {host.name: list(host.events.values()) for host in inventory.hosts}

    def key(hook: Hook) -> tuple[int, int, str]:
        known = events[hook.host]
        position = known.index(hook.event) if hook.event in known else len(known)
        return order[hook.host], position, hook.event

    return key


def _describe(hook: Hook) -> dict[str, Any]:
    """A hook as `--json` shows it."""
    return {
        "id": hook.id,
        "host": hook.host,
        "scope": hook.scope,
        "event": hook.event,
        "matcher": hook.matcher,
        "command": shown_command(hook),
        "file": hook.file,
        "line": hook.line,
        "owner": hook.owner,
        "state": hook.state,
        "reason": hook.reason,
        "fix": hook.fix,
        **{name: getattr(hook.receipts, name) for name in _COUNTED},
        "name": hook.own_id,
        "plugin": hook.plugin,
        "also_read_by": [
            {"agent": readers.title_of(agent), "only": readers.condition(agent)}
            for agent in hook.within.readers
        ],
    }


def shown_command(hook: Hook) -> str:
    """The command of a hook, or the one that it wraps, as it may be shown: masked, not too long.

    A pack's own command stands at the end of ours, which is shown in full.
    """
    original = original_of(hook.command)
    text = masked_text(original or hook.command)
    is_whole = len(text) <= _LONGEST or (hook.is_ours and not original)
    return text if is_whole else f"{text[:_LONGEST]}…"
