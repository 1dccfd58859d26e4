"""The cases of a pack: `tests/*.toml` beside it, each a question and what is expected."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Callable, Collection
from typing import Any

from hookctl.hosts import Host
from hookctl.model import Wanted
from hookctl.packs.model import Pack, PackHook
from hookctl.packs.pack import read_toml
from hookctl.packs.programs import load_programs
from hookctl.packs.protocol import EVENTS
from hookctl.packs.runner import (
    declared_answers,
    find_programs,
    possible_answers,
    wants,
)
from hookctl.settings.targets import Target
from hookctl.system import files
from hookctl.system.packages import PACKS

_ANSWERS = {  # of a case, by what it expects
    "deny": "refuse",
    "block": "refuse",
    "ask": "ask",
    "change": "change",
    "context": "context",
    "end": "end",
}


# A question to a pack's hooks, and what should come of it, where a case does not say it.
_USUAL: dict[str, Any] = {
    "expect": "none",
    "hook": "",  # every one that the question is for
    "tool": "",
    "input": {},
    "fields": {},
    "text": "",  # what stands in the answer
    "hosts": (),  # every one
}


def load_cases(pack: Pack) -> list[dict[str, Any]]:
    """The cases in `tests/*.toml` beside a pack's file, each with its path, name and event.

    Raises `bad_case` with the file.
    """
    folder, cases = os.path.dirname(os.path.realpath(pack.source)), []
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "tests", "*.toml"))):
        _, values = read_toml(files.read(path).data or b"", path, "bad_case", part="cases")
        for number, table in enumerate(values.get("cases", ()), 1):
            event = EVENTS.get(table["event"], table["event"])  # Claude Code's name
            named = {"path": path, "name": f"case {number}"}
            cases.append({**_USUAL, **named, **table, "event": event})
    return cases


def find_answers(hook: PackHook, cases: Collection[dict[str, Any]]) -> set[str]:
    """What a hook answers: as its cases show, or whatever it may where none is about it."""
    event = EVENTS.get(hook.event)
    about = [case for case in cases if case["event"] == event and case["hook"] in ("", hook.id)]
    if not about:
        return possible_answers(hook)
    shown = {_ANSWERS[case["expect"]] for case in about if case["expect"] in _ANSWERS}
    return shown | declared_answers(hook)


class Bench:
    """A private folder with a pack's files, the runner and a project."""

    def __init__(self, top: str, pack: Pack) -> None:
        self.top, self.pack = top, pack
        self.state = os.path.join(top, "state")
        self.project = os.path.join(top, "project")
        self.data = os.path.join(top, "data")
        self.files = os.path.join(self.data, PACKS, pack.name, "files")
        os.makedirs(os.path.join(self.project, ".git"))
        contents = {name: data for name, (data, _) in pack.contents.items()}
        programs = [name for name, (_, is_executable) in pack.contents.items() if is_executable]
        files.write_tree(self.data, load_programs().all, files.PRIVATE)
        files.write_tree(self.files, contents, files.PRIVATE, programs)

    def look_at(
        self, host: Host, answers_of: Callable[[PackHook], Collection[str]] = possible_answers
    ) -> tuple[list[Wanted], list[str]]:
        """The pack's hooks as they would be registered, and what the host lacks."""
        target = Target(host, "user", os.path.join(self.top, "settings"))
        programs = find_programs(target, self.files, self.data, sys.executable)
        wanted, notes = wants(self.pack, host, programs, answers_of)
        texts = [text for certain in (True, False) for text, is_sure in notes if is_sure == certain]
        return [want for want in wanted if want.kind == "element"], texts
