"""The cases of a pack: `tests/*.toml` beside it, each a question and what is expected."""

from __future__ import annotations

import glob
import math
import os
import tomllib
from collections.abc import Collection
from typing import Any, NamedTuple

from hookctl.errors import HookctlError, nearest
from hookctl.hosts import names
from hookctl.packs.model import PackHook
from hookctl.packs.protocol import EVENTS, SHORT
from hookctl.packs.shortfalls import declared_answers, possible_answers
from hookctl.system import files

OUTCOMES = (
    "none", "allow", "deny", "ask", "block", "change", "context", "end", "failed", "timeout",
)  # fmt: skip
_KEYS = ("name", "event", "hook", "tool", "input", "fields", "expect", "text", "hosts")
_KINDS = {
    "event": str,
    "hook": str,
    "tool": str,
    "text": str,
    "expect": str,
    "input": dict,
    "fields": dict,
    "hosts": list,
}
_ANSWERS = {  # of a case, by what it expects
    "deny": "refuse",
    "block": "refuse",
    "ask": "ask",
    "change": "change",
    "context": "context",
    "end": "end",
}
_HINT = "docs/packs.md has an example."


class Case(NamedTuple):
    """A question to a pack's hooks, and what should come of it."""

    path: str
    name: str
    event: str  # Claude Code's name
    expect: str  # one of OUTCOMES
    hook: str = ""  # an id; empty: every hook that the question is for
    tool: str = ""
    input: dict[str, Any] = {}  # noqa: RUF012 (never changed in place)
    fields: dict[str, Any] = {}  # noqa: RUF012
    text: str = ""  # what stands in the answer
    hosts: tuple[str, ...] = ()  # empty: every host


def load_cases(folder: str) -> list[Case]:
    """The cases in `tests/*.toml` of a pack's folder; raises `bad_case` with the file."""
    cases = []
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "tests", "*.toml"))):
        data = files.read(path).data or b""
        try:
            tables = tomllib.loads(data.decode()).get("cases", [])
        except (ValueError, RecursionError) as error:
            raise _bad(path, f"not valid TOML: {error}") from None
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise _bad(path, "cases is not an array of tables")
        cases += [_read(path, number, table) for number, table in enumerate(tables, 1)]
    return cases


def _read(path: str, number: int, table: dict[str, Any]) -> Case:
    label = str(table.get("name", f"case {number}"))
    for key in table:
        if key not in _KEYS:
            hint = f"{nearest(key, _KEYS)}Known keys: {', '.join(_KEYS)}."
            raise _bad(path, f"{label} has an unknown key {key!r}", hint)
    for key, kind in _KINDS.items():
        if not isinstance(table.get(key, kind()), kind):
            raise _bad(path, f"{label}: {key} has the wrong type")
    if not _is_json(table):
        raise _bad(path, f"{label} has a value that no host sends, a date perhaps")
    event = SHORT.get(table.get("event", ""), table.get("event", ""))
    if event not in EVENTS:
        hint = f"{nearest(str(event), [*EVENTS.values()])}Events: {', '.join(EVENTS.values())}."
        raise _bad(path, f"{label} has no known event", hint)
    expect = table.get("expect", "none")
    if expect not in OUTCOMES:
        hint = f"{nearest(str(expect), OUTCOMES)}Outcomes: {', '.join(OUTCOMES)}."
        raise _bad(path, f"{label} cannot expect {expect!r}", hint)
    for host in table.get("hosts", ()):
        if host not in names():
            hint = f"{nearest(str(host), names())}Hosts: {', '.join(names())}."
            raise _bad(path, f"{label} is for an unknown host {host!r}", hint)
    known = {key: table[key] for key in ("hook", "tool", "input", "fields", "text") if key in table}
    hosts = tuple(str(host) for host in table.get("hosts", ()))
    return Case(path, label, EVENTS[event], expect, hosts=hosts, **known)


def _is_json(value: Any) -> bool:
    """Whether JSON has such a value."""
    if isinstance(value, dict):
        return all(_is_json(part) for part in value.values())
    if isinstance(value, list):
        return all(_is_json(part) for part in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int)


def _bad(path: str, message: str, hint: str = _HINT) -> HookctlError:
    return HookctlError("bad_case", message, path=path, hint=hint)


def readable_cases(source: str) -> list[Case]:
    """The cases beside a pack's file; none where they cannot be read."""
    try:
        return load_cases(os.path.dirname(os.path.realpath(source)))
    except HookctlError:
        return []


def find_answers(hook: PackHook, cases: Collection[Case]) -> set[str]:
    """What a hook answers: as its cases show, or whatever it may where none is about it."""
    about = cases_of(hook, cases)
    if not about:
        return possible_answers(hook)
    shown = {_ANSWERS[case.expect] for case in about if case.expect in _ANSWERS}
    return shown | declared_answers(hook)


def cases_of(hook: PackHook, cases: Collection[Case]) -> list[Case]:
    """The cases that ask a hook."""
    event = EVENTS.get(hook.event)
    return [case for case in cases if case.event == event and case.hook in ("", hook.id)]
