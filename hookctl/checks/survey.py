"""The whole of doctor: reads hookctl's own record, and asks every rule about each host."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain

from hookctl import hosts
from hookctl.checks import entries, guard, host
from hookctl.checks.codes import UNRECORDED, Finding, finding, from_error
from hookctl.checks.file import File, judge_content, judge_reading, judge_repository
from hookctl.checks.host import HostHere
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.model import Record
from hookctl.ownership import store
from hookctl.ownership.execute import read_journal
from hookctl.settings.targets import RULES, Target
from hookctl.survey.machine import Machine, read_records
from hookctl.system.folders import Folders

# For each settings file that has our entries, or is the user's file of a host in use.
_FILE_RULES = (
    judge_reading,
    judge_content,
    entries.judge,
    entries.judge_disabled,
    guard.judge_programs,
    guard.judge_interpreters,
    guard.judge,
    guard.judge_packs,
    guard.judge_limit,
    guard.judge_environment,
    judge_repository,
    guard.judge_rights,
)
# For each host as it would be started in the working folder.
_HOST_RULES = (
    host.judge_client,
    host.judge_lost,
    guard.judge_env_files,
    host.judge_scripts,
    host.judge_hooks,
    host.judge_receipts,
    host.judge_work,
    host.judge_silence,
)


class Survey:
    """Everything that doctor judges."""

    def __init__(self, folders: Folders, scope: str = "", *, everywhere: bool = False) -> None:
        self._found, self._scope = read_records(folders, everywhere=everywhere), scope
        self.others = self._found.others
        self._usable = self._found.usable
        self._machine = Machine(folders, self._usable, scope)

    def hosts_in_use(self) -> list[Host]:
        """The hosts that are in use here."""
        every = [hosts.load(name) for name in hosts.names()]
        return [one for one in every if self._machine.targets(one)]

    def findings(self, wanted: list[Host]) -> list[Finding]:
        """Everything about hookctl's own record and about these hosts, each finding once."""
        found = list(self._judge_records())
        names = [one.name for one in wanted]
        for key, record in self._usable.items():
            is_theirs = record.host in names or bool(record.project)  # of a project: of any host
            if is_theirs and self._scope in ("", record.scope):
                found += self._judge_rules(store.current_path(self._usable, key), record)
        unread = [os.path.dirname(os.path.dirname(error.path)) for error in self._found.errors]
        for one in chain.from_iterable(map(self._judge, wanted)):
            # What has no record where one cannot be read needs no advice of its own.
            is_of_unread = any(one.path.startswith(f"{folder}/") for folder in unread)
            follows = one.code == UNRECORDED and is_of_unread
            if not follows and not (unread and one.code == "not_installed"):
                found.append(one)
        return list(dict.fromkeys(found))  # a client is named once, however many files it has

    def _judge_records(self) -> Iterator[Finding]:
        folders = self._machine.folders
        try:
            journal = read_journal(folders)
            if journal:
                names = ", ".join(step.path for step in journal.steps)
                yield finding("interrupted_run", path=folders.journal, files=names)
        except HookctlError as error:
            yield from_error(error)
        yield from map(from_error, self._found.errors)

    def _judge_rules(self, path: str, record: Record) -> Iterator[Finding]:
        if record.format == RULES:
            layout = hosts.rules_layout(hosts.load(record.host))
            target = Target(layout, record.scope, path, record.project)
            file = File(self._machine, target, record)
            yield from judge_reading(file)
            yield from entries.judge(file)

    def _judge(self, wanted: Host) -> Iterator[Finding]:
        machine, files = self._machine, []
        for target in machine.targets(wanted):
            _, record = store.find_record(machine.records, target.path)
            files.append(File(machine, target, record))
        if not any(file.record or file.elements for file in files):
            path = files[0].path if files else ""
            values = {"title": wanted.title, "name": wanted.name}
            yield finding("not_installed", wanted.name, path, **values)
        if not files:
            return
        for file in files:
            for judge_file in _FILE_RULES:
                yield from judge_file(file)
        here = HostHere(machine, wanted, files)
        for judge_host in _HOST_RULES:
            yield from judge_host(here)
