"""The list of hooks by host and event: what each runs, its file, and why it does not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from hookctl import hosts
from hookctl.hosts import readers
from hookctl.hosts.hook_id import shorten
from hookctl.masking import OwnText, masked_text
from hookctl.model import WRAP, Line
from hookctl.output.lines import ERROR, OK, SKIP, WARN, amount, cut, fix, place, tilde, tildes
from hookctl.output.runs import show_ms
from hookctl.receipts.model import Runs
from hookctl.survey.inventory import Inventory
from hookctl.survey.model import RUNS, WANTED, Hook
from hookctl.survey.scripts import name_program

_LONGEST = 60  # characters of a command or a matcher
_BEHIND_MARK = 8  # columns: the mark and the indentation
BEHIND_ID = 17  # columns: the mark, the indentation, the ID and a gap


def hook_lines(
    hooks: Sequence[Hook], inventory: Inventory, shown: Callable[[Hook], str]
) -> Iterator[Line]:
    """The lines about hooks, which stand by host and event; `shown` gives a command to show."""
    for host, group in groupby(hooks, lambda hook: hook.host):
        of_host = list(group)
        is_here = host not in inventory.missing
        yield Line(hosts.load(host).title + ("" if is_here else ", which is not on this machine"))
        yield from _lines_on_shared(of_host)
        for event, of_event in groupby(of_host, lambda hook: hook.event):
            yield Line(event or "no event", indent=2)
            for hook in of_event:
                yield from _lines_of(hook, shown(hook))
        yield from _lines_on_readers(of_host)
    for unreadable in inventory.unreadable:
        text = f"its hooks are not known: {unreadable.message}"
        yield Line(text, ERROR, path=place(unreadable.path, unreadable.line))
    yield Line(_count(hooks))


def lines_on_unknown_events(hooks: Iterable[Hook]) -> Iterator[Line]:
    """A line for each file and event that its host does not have, with the hooks under it."""
    places: dict[tuple[str, str, str], list[int]] = {}
    for hook in hooks:
        places.setdefault((hook.host, hook.event, hook.file), []).append(hook.line)
    for (host, event, file), numbers in places.items():
        text, is_one = amount(len(numbers), "hook"), len(numbers) == 1
        if event:
            text += f" {'is' if is_one else 'are'} under {masked_text(event)}, "
            text += f"an event that {hosts.load(host).title} does not have"
        else:
            text += f" {'names' if is_one else 'name'} no event"
        yield Line(text, WARN, path=place(file, numbers[0]))


def _lines_on_shared(hooks: Sequence[Hook]) -> Iterator[Line]:
    """What stops several hooks of a host, each said once, with their number where others run."""
    counts = Counter(obstacle for hook in hooks for obstacle in hook.shared)
    for obstacle, count in counts.items():
        text = tildes(obstacle.reason)
        if count < len(hooks):
            text += f" ({count} of {len(hooks)} hooks)"
        yield Line(text, _mark(obstacle.state), indent=2)
        if obstacle.fix:
            yield fix(tildes(obstacle.fix), indent=_BEHIND_MARK)


def _mark(state: str) -> str:
    return OK if state == RUNS else SKIP if state in WANTED else WARN


def _lines_of(hook: Hook, command: str) -> Iterator[Line]:
    text = _name(hook, command)
    if hook.matcher:
        text += f" on {cut(hook.matcher, _LONGEST)}"
    where = place(hook.file, hook.line)
    label = OwnText(shorten(hook.id))
    yield Line(text, _mark(hook.state), indent=2, label=label, path=where)
    if hook.own_reason:
        yield Line(tildes(hook.own_reason), indent=BEHIND_ID)
    if hook.own_fix:
        yield fix(tildes(hook.own_fix), indent=BEHIND_ID)
    if hook.receipts.runs:
        yield Line(describe_receipts(hook.receipts), indent=BEHIND_ID)


def _name(hook: Hook, command: str) -> str:
    """What a hook is in a few words: ours by its name, others by what they run."""
    is_wrapped = hook.own_id.startswith(WRAP)
    if hook.is_ours and not is_wrapped:
        return hook.own_id
    kind = hook.fields.get("type", "command")
    text = command if len(command) <= _LONGEST else name_program(command) or cut(command, _LONGEST)
    if kind != "command":
        text = f"{kind} {text}".strip()
    name = hook.fields.get("name")
    if isinstance(name, str) and hosts.load(hook.host).list_key("names"):
        text = f"{masked_text(name)}: {text}"  # by which the host switches it off
    text += f" (wrapped by {hook.own_id})" if is_wrapped else ""
    return f"{text} (plugin {hook.plugin})" if hook.plugin else text


def describe_receipts(receipts: Runs) -> str:
    """What the receipts of a hook say, in a sentence."""
    parts = [f"ran {amount(receipts.runs, 'time')}"]
    if receipts.failures:
        parts.append(f"{receipts.failures} failed")
    if receipts.median_ms is not None:
        parts.append(f"median {show_ms(receipts.median_ms)}, p95 {show_ms(receipts.p95_ms)}")
    if receipts.bytes:
        parts.append(f"{amount(receipts.bytes, 'byte')} into the context")
    return ", ".join(parts)


def _lines_on_readers(hooks: Sequence[Hook]) -> Iterator[Line]:
    """A line for the files with hooks that the same other agents read too."""
    files: dict[str, dict[str, None]] = {}
    for hook in hooks:
        if hook.within.readers:
            names = ", ".join(map(readers.describe, hook.within.readers))
            files.setdefault(names, {})[tilde(hook.file)] = None
    for names, paths in files.items():
        verb = "is" if len(paths) == 1 else "are"
        yield Line(f"{' and '.join(paths)} {verb} also read by {names}", indent=2)


def _count(hooks: Iterable[Hook]) -> str:
    states = [hook.state for hook in hooks]
    if not states:
        return "no hooks here"
    running = states.count(RUNS)
    others = len(states) - running
    text = amount(running, "hook runs", "hooks run")
    return f"{text}, {others} {'does' if others == 1 else 'do'} not" if others else text
