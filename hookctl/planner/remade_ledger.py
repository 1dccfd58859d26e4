"""A project's ledger rebuilt from a merge conflict: both sides, compared with the files.

An entry counts if a side has it and the settings file holds it. Where the sides differ, the one
that fits the files is taken. What was there before us, and what we made, counts only where both
agree; else an uninstall removes ours and nothing more.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from hookctl import engine
from hookctl.errors import HookctlError
from hookctl.hosts import load
from hookctl.ledger.conflict import Sides, read_sides
from hookctl.model import Current, Entry, PackRecord, Record
from hookctl.packs.choices import options_between, settings_from
from hookctl.planner.runtime_files import CONFIG, is_as_recorded
from hookctl.planner.sources import Sources, look
from hookctl.settings.targets import GUARD, OWN, read_inside, target_of_record
from hookctl.values import NamedTuple


class Remade(NamedTuple):
    """A project's ledger that is made anew: the bytes that it replaces, and its records."""

    data: bytes
    records: dict[str, Record]
    lines: list[str]  # what the operator should know


def remake(sources: Sources, project: str) -> Remade | None:
    """The ledger of a project that its two sides have together.

    None where it is in no conflict, a side is no ledger by itself, or a settings file cannot be
    read, or has nothing of ours any more.
    """
    try:
        sides = sources.once(read_sides, sources.folders, project)
        joined = _join_sides(sources, sides) if sides else {}
    except HookctlError:
        return None
    if not sides or not joined:
        return None
    path = os.path.join(project, OWN, "ledger.json")
    lines = [f"{path}: rebuilt from both sides of the merge and from the settings files"]
    lines += _describe_lost(project, sides, joined)
    return Remade(sides.data, joined, lines + _describe_other_settings(sides, joined))


def _describe_lost(project: str, sides: Sides, joined: Mapping[str, Record]) -> list[str]:
    """A line for each pack that a side has and the settings have not, with how to install it."""
    lost: dict[str, tuple[str, dict[str, None]]] = {}  # source, hosts in order
    for key, record in (*sides.ours.items(), *sides.theirs.items()):
        known = joined[key].packs if key in joined else {}
        for name in record.packs.keys() - known.keys():
            source = record.packs[name].source
            if source and not record.packs[name].commit:
                source = f"./{os.path.relpath(source, project)}"
            wanted = name if name == GUARD else source or f"the file of {name}"
            lost.setdefault(name, (wanted, {}))[1][record.host] = None
    lines = []
    for name, (wanted, hosts) in sorted(lost.items()):
        command = _install_command(wanted, hosts)
        lines.append(f"{name} is not in the settings any more; to have it again: {command}")
    return lines


def _install_command(wanted: str, hosts: Iterable[str]) -> str:
    options = " ".join(f"--host {host}" for host in hosts)
    return f"hookctl install {wanted} {options} --scope project"


def _describe_other_settings(sides: Sides, joined: Mapping[str, Record]) -> list[str]:
    """A line for each choice of settings of the guard that one side has, and the record has not."""
    lost: dict[str, dict[str, None]] = {}  # options, hosts in order
    for key, record in (*sides.ours.items(), *sides.theirs.items()):
        known = joined[key].packs.get(GUARD) if key in joined else None
        other = record.packs.get(GUARD)
        if known is None or other is None:
            continue
        options = options_between(settings_from(known.settings), settings_from(other.settings))
        if options:
            text = " ".join(map(shlex.quote, options))
            lost.setdefault(text, {})[record.host] = None
    lines = []
    for text, hosts in lost.items():
        command = f"{_install_command(GUARD, hosts)} {text}"
        lines.append(f"the guard's other side: {text}; to have it: {command}")
    return lines


def _join_sides(sources: Sources, sides: Sides) -> dict[str, Record]:
    joined = {}
    for key in dict.fromkeys([*sides.ours, *sides.theirs]):
        known = [side[key] for side in (sides.ours, sides.theirs) if key in side]
        record = _join(sources, known)
        if record.packs or record.entries:
            joined[key] = record
    return joined


def _join(sources: Sources, known: Sequence[Record]) -> Record:
    """One record of a settings file from those of the sides that have it, ours first."""
    first, last = known[0], known[-1]
    target = target_of_record(load(first.host), first, first.known_as)
    document = sources.read(target.path, target.host.format)[1]
    every_entry = [entry for record in known for entry in record.entries]
    current = look(target.host, document, (), every_entry)
    entries = _join_entries(known, current)
    packs = {}
    for name in dict.fromkeys(name for record in known for name in record.packs):
        sides = choices = [record for record in known if name in record.packs]
        if _has_entries(every_entry, name) and not _has_entries(entries, name):
            # The file has no entry of it, so only a side that has switched it off is right.
            choices = [record for record in choices if _is_off(record.packs[name])]
        if choices:
            packs[name] = _choose_pack(sources, name, sides, choices, current, entries)
    return first._replace(
        created_file=first.created_file and last.created_file,
        created_dirs=tuple(name for name in first.created_dirs if name in last.created_dirs),
        packs=packs,
        entries=entries,
        gaps=tuple(sorted((Counter(first.gaps) & Counter(last.gaps)).elements())),
    )


def _join_entries(known: Iterable[Record], current: Current) -> tuple[Entry, ...]:
    """The entries of any side that the file holds, and the containers that these are in."""
    choices: dict[tuple[bool, object], list[Entry]] = {}
    for record in known:
        for entry in record.entries:
            name = entry.kind == "container", entry.id or entry.path
            choices.setdefault(name, []).append(entry)
    entries: list[Entry] = []
    containers: list[Entry] = []
    for (is_container, _), alternatives in choices.items():
        if is_container:
            containers.append(_agreed(alternatives[0], alternatives))
        else:
            entries += _choose_entry(alternatives, current)
    for container in containers:
        if any(entry.path[: len(container.path)] == container.path for entry in entries):
            entries.append(container)
    return tuple(entries)


def _choose_entry(alternatives: list[Entry], current: Current) -> list[Entry]:
    """The entry that fits the file best, with the owners of all; none where the file has none."""
    held = []
    for entry in alternatives:
        state = _state(entry, current)
        if state != "missing":
            held.append((state == "overridden", entry))
    if not held:
        return []
    _, best = min(held, key=lambda choice: choice[0])
    owners = {name: claim for entry in alternatives for name, claim in entry.owners.items()}
    return [_agreed(best, alternatives)._replace(owners={**owners, **best.owners})]


def _agreed(entry: Entry, alternatives: list[Entry]) -> Entry:
    """The entry with what was there before only where all agree; adopted if any has it so."""
    before = entry.before
    if any(other.before != before for other in alternatives):
        before = None
    is_adopted = any(other.mode == "adopted" for other in alternatives)
    return entry._replace(before=before, mode="adopted" if is_adopted else entry.mode)


def _is_off(pack: PackRecord) -> bool:
    return pack.settings.get("mode") == "off"


def _has_entries(entries: Iterable[Entry], pack: str) -> bool:
    return any(pack in entry.owners for entry in entries)


class _Fit(NamedTuple):
    """How badly the record of a side fits what is there of a pack; less is better."""

    entries: int  # of the settings file that the record has otherwise, or not at all
    programs: bool  # whether another file is there, or none
    configuration: bool

    @property
    def settings(self) -> tuple[int, bool]:
        """How badly the settings on record fit: those of the guard decide about both."""
        return self.entries, self.configuration


def _choose_pack(
    sources: Sources,
    name: str,
    sides: list[Record],
    choices: list[Record],
    current: Current,
    held: Sequence[Entry],
) -> PackRecord:
    """The record of a pack that fits the settings and its own files best; ours where both do.

    `choices` are the sides that the settings admit, and `held` the entries of all sides that they
    hold.
    """
    fits = {id(side): _measure(sources, name, side, current, held) for side in sides}

    def fit(side: Record) -> _Fit:
        return fits[id(side)]

    if name != GUARD:
        best = min(choices, key=lambda side: (fit(side).programs, fit(side).entries))
        return best.packs[name]
    # The guard's programs depend on no setting: they may be of another side than the settings.
    fitting = min(choices, key=lambda side: fit(side).settings).packs[name]
    programs = min(sides, key=lambda side: (fit(side).programs, not side.packs[name].files))
    settings = dict(fitting.settings)
    # Git takes a configuration that one side alone has changed, with the other side's settings
    # file. It is as hookctl wrote it there, and no edit by hand: so it may be replaced.
    for side in sides:
        written = side.packs[name]
        if CONFIG in written.files and not fit(side).configuration and "config" in written.settings:
            settings["config"] = written.settings["config"]
    return programs.packs[name]._replace(settings=settings)


def _measure(
    sources: Sources, name: str, side: Record, current: Current, held: Iterable[Entry]
) -> _Fit:
    pack, unfit = side.packs[name], 0
    known = {entry.id or entry.path for entry in side.entries}
    for entry in held:
        if name in entry.owners and (entry.id or entry.path) not in known:
            unfit += 1
    for entry in side.entries:
        if name in entry.owners and _state(entry, current) in ("missing", "overridden"):
            unfit += 1
    differs = {}
    for file in pack.files:
        snapshot = sources.once(read_inside, side.project, os.path.join(pack.folder, file))
        differs[file] = not is_as_recorded(snapshot, pack, file)
    configuration = differs.pop(CONFIG, False) if name == GUARD else False
    return _Fit(unfit, any(differs.values()), configuration)


def _state(entry: Entry, current: Current) -> str:
    """The state of an entry, of which only what the file holds is adopted."""
    state = engine.state(entry, current, entry.path, entry.id)
    if state == "adopted" and entry.path not in current.values:
        return "missing"
    return state
