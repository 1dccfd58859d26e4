"""What the facts about several hosts share: settings files and the log, each read once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from hookctl import clock, hosts
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.model import Record
from hookctl.ownership import store
from hookctl.ownership.sources import FileReader
from hookctl.packs.choices import settings_from
from hookctl.settings import effective, switches
from hookctl.settings.effective import Source
from hookctl.settings.switches import Switch
from hookctl.settings.targets import GUARD, Target, active_file, variant_of_file
from hookctl.system import project
from hookctl.system.folders import Folders

if TYPE_CHECKING:  # late: most have the guard alone
    from hookctl.ownership.disabled import DisabledHook


class Machine:
    """One look at this machine: each thing is read once and then stays the same."""

    def __init__(
        self,
        folders: Folders,
        records: Mapping[str, Record],
        scope: str = "",
        cwd_project: str = "",
    ) -> None:
        self.folders = folders
        self.environ = dict(folders.environ)
        self.records = records
        self._scope = scope  # the only one whose files are looked at; empty for all
        self.reader = FileReader()
        self.read = self.reader.read
        self.cwd_project = cwd_project or project.look(folders.cwd, folders.environ)
        self.now = clock.now(folders.environ)
        self.made = store.list_made(self.records)

    def detects(self, host: Host) -> bool:
        """Whether a host is on this machine, by more than what hookctl itself made."""
        return bool(hosts.detected(host, self.environ, self.made))

    @cached_property
    def disabled(self) -> tuple[DisabledHook, ...]:
        """What `hookctl disable` switched off; nothing where that is unknown."""
        return read_disabled(self.folders).hooks

    def start_of(self, host: Host) -> str:
        """The folder whose project settings the host reads when it is started here."""
        is_alone = host.scope_rules.start_folder_only  # else it looks upwards from any folder
        return self.folders.cwd if is_alone else self.cwd_project

    def active_file(self, host: Host, scope: str, folder: str = "") -> tuple[Host, str]:
        """The active settings file of a scope, and the host variant that matches its layout."""
        key = ("file", host.name, host.stands, scope, folder)
        return self.reader.once(
            key, lambda: active_file(host, scope, self.environ, folder, self.read)
        )

    def targets(self, host: Host) -> list[Target]:
        """The settings files to look at: the user's, the project's, and those with a record."""
        targets = self.reader.once(("targets", host.name), lambda: self._find_targets(host))
        return [target for target in targets if self._scope in ("", target.scope)]

    def _find_targets(self, host: Host) -> list[Target]:
        variant, path = self.active_file(host, "user")
        user_target = Target(variant, "user", path)
        key, record = store.find_record(self.records, user_target.path)
        is_here = self.detects(host)
        targets = {key: user_target} if record or is_here else {}
        root = self.cwd_project
        for scope in host.scopes[1:]:
            variant, path = self.active_file(host, scope, root)
            target = Target(variant, scope, path, root)
            key, record = store.find_record(self.records, target.path)
            is_declared = scope == "project" and not targets and os.path.lexists(target.path)
            if record or is_declared or self.reader.names_us(target.path):
                targets.setdefault(key, target)
        for key, record in self.records.items():
            has_ours = record.packs or record.gaps  # else only approvals are in the file
            if record.host == host.name and has_ours:
                path = store.current_path(self.records, key)
                variant = variant_of_file(host, path, self.read)
                targets.setdefault(key, Target(variant, record.scope, path, record.project))
        return list(targets.values())

    def sources(self, host: Host, users: str, start: str) -> list[Source]:
        """The settings files that a host reads in a folder; `users` is the user's own file."""
        key = ("sources", host.name, host.stands, users, start)
        return self.reader.once(
            key, lambda: effective.sources(self.folders, host, users, start, self.read)
        )

    def surroundings(self, target: Target) -> tuple[list[Source], tuple[Switch, ...]]:
        """The files that the host reads together with one, and the switches that are set there."""
        host, user_path = target.host, target.path
        if target.scope != "user":
            user_path = self.active_file(host, "user")[1]
        start = target.project or self.start_of(host)
        return self.sources(host, user_path, start), self.switches(host, user_path, start)

    def switches(self, host: Host, users: str, start: str) -> tuple[Switch, ...]:
        """The switches of a host that are set where it is started."""

        def find() -> tuple[Switch, ...]:
            scopes = switches.list_scopes(host, start, self.environ, self.read)
            return switches.find(self.folders, host, users, start, scopes, self.read)

        return self.reader.once(("switches", host.name, host.stands, users, start), find)


class RecordFacts(NamedTuple):
    """hookctl's own record."""

    records: dict[str, Record]  # by the real path of their settings file
    errors: tuple[HookctlError, ...] = ()
    gone: Mapping[str, str] = {}  # the folder that is not there, by such a path
    others: tuple[str, ...] = ()  # projects on record that are not looked at

    @property
    def usable(self) -> dict[str, Record]:
        """The records of what is there."""
        return {key: record for key, record in self.records.items() if key not in self.gone}


def read_records(folders: Folders, *, everywhere: bool) -> RecordFacts:
    """The records of the user's files and of this project; of every known one with `everywhere`.

    Of another project nothing is read at all, so that nothing in it can be wrong here.
    """
    try:
        stored = store.load(folders)
    except HookctlError as error:
        return RecordFacts({}, (error,))
    here = project.look(folders.cwd, folders.environ)
    others = () if everywhere else _list_others(stored, here)
    away = store.away(folders, stored)
    looked_at = {key: one for key, one in stored.items() if one.project not in others}
    roots = [here]
    records = {}
    for key, record in looked_at.items():
        if record.scope != "project":
            records[key] = record
        elif key not in away:
            roots.append(record.project)
    errors = []
    for root in dict.fromkeys(roots):
        try:
            of_project = store.read(folders, [root])
        except HookctlError as error:
            errors.append(error)
            continue
        records |= {key: one for key, one in of_project.items() if one.scope == "project"}
    for key in [*records]:
        try:
            settings_from(records[key].packs[GUARD].settings if GUARD in records[key].packs else {})
        except HookctlError as error:
            error.path = folders.ledger
            errors.append(error)
            del records[key]
    return RecordFacts(
        records,
        tuple(errors),
        gone={key: away[key] for key in away if key in looked_at},
        others=others,
    )


def _list_others(records: Mapping[str, Record], here: str) -> tuple[str, ...]:
    projects = []
    for record in records.values():
        if record.project and store.real_path(record.project) != here:
            projects.append(record.project)
    return tuple(dict.fromkeys(projects))


class DisabledHooks(NamedTuple):
    """What is disabled, without what is back in its file by now."""

    hooks: tuple[DisabledHook, ...] = ()
    error: HookctlError | None = None  # why it is not known


def read_disabled(folders: Folders) -> DisabledHooks:
    """What is disabled in any file."""
    try:
        known = store.load_disabled(folders)
        if not known:
            return DisabledHooks()
        from hookctl.ownership import disable  # late: few have anything disabled

        return DisabledHooks(tuple(disable.find_away(known, FileReader())))
    except HookctlError as error:
        return DisabledHooks(error=error)
