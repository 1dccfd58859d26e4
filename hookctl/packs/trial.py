"""A pack as it would be installed, in a private folder, with the real runner."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection

from hookctl import hosts
from hookctl.hosts import Host
from hookctl.model import Wanted
from hookctl.packs.model import Pack, PackHook
from hookctl.packs.programs import load_programs
from hookctl.packs.runner import find_programs, hosts_file
from hookctl.packs.shortfalls import Note, possible_answers
from hookctl.packs.wants import wants
from hookctl.settings.targets import Target
from hookctl.system import files
from hookctl.system.packages import PACKS, TABLE

LONGEST = 60  # seconds beyond a hook's own limit


class Bench:
    """A private folder with a pack's files, the runner and a project."""

    def __init__(self, top: str, pack: Pack, python: str) -> None:
        self.top, self.pack, self.python = top, pack, python
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
    ) -> tuple[list[Wanted], list[Note]]:
        """The pack's hooks as they would be registered, and what the host lacks."""
        target = Target(host, "user", os.path.join(self.top, "settings"))
        programs = find_programs(target, self.files, self.data, self.python)
        wanted, notes = wants(self.pack, host, programs, answers_of)
        return [want for want in wanted if want.kind == "element"], notes

    def lay_table(self, host: Host) -> None:
        """Write what the runner has to know of a host."""
        table = hosts_file({host.name: [self.pack.name]}, self.state)
        files.write_own(os.path.join(self.data, TABLE), table)


def every_host(names: tuple[str, ...]) -> list[Host]:
    """The named hosts, or all that have answers to the runner."""
    chosen = dict.fromkeys(names) or hosts.names()
    return [hosts.load(name) for name in chosen]
