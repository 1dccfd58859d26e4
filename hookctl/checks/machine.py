"""What the facts about several hosts share: settings files and the log, each read once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from hookctl import clock, events, hosts
from hookctl.checks import probes
from hookctl.checks.facts import FoundHook, Layer
from hookctl.documents import MISSING
from hookctl.errors import HookctlError
from hookctl.hosts import Host, shapes
from hookctl.ledger import store
from hookctl.model import Record
from hookctl.packs import guard_options
from hookctl.settings import effective, precedence
from hookctl.settings.precedence import Source
from hookctl.settings.sources import look
from hookctl.settings.targets import Target, active_file, variant_of_file
from hookctl.system import project
from hookctl.system.folders import Folders


class Machine:
    """One look at this machine: what is read of it stays as it was read first."""

    def __init__(self, folders: Folders, records: Mapping[str, Record], scope: str = "") -> None:
        self.folders = folders
        self.environ = dict(folders.environ)
        self.records = records
        self._scope = scope  # the only one whose files are looked at; empty for all
        self.reader = probes.FileReader()
        self.read = self.reader.document
        self.now = clock.now(folders.environ)
        self.cwd_project = project.look(folders.cwd, folders.environ)
        self.settings_schema = guard_options.schema()
        self._made = store.list_made(self.records)
        self._hosts: dict[str, Host] = {}
        self._standing: dict[tuple[str, ...], tuple[Host, str]] = {}
        self._targets: dict[str, list[Target]] = {}
        self._layers: dict[tuple[str, ...], tuple[Layer, ...]] = {}
        self._log: tuple[dict[str, Any], ...] | None = None

    def load(self, name: str) -> Host:
        """The host of this name."""
        if name not in self._hosts:
            self._hosts[name] = hosts.load(name)
        return self._hosts[name]

    def active_file(self, host: Host, scope: str, folder: str = "") -> tuple[Host, str]:
        """The active settings file of a scope, and the host variant that matches its layout."""
        key = (host.name, host.variant, scope, folder)
        if key not in self._standing:
            self._standing[key] = active_file(host, scope, self.environ, folder, self.read)
        return self._standing[key]

    def targets(self, host: Host) -> list[Target]:
        """The settings files to look at: the user's, the project's, and those with a record."""
        if host.name not in self._targets:
            targets = self._find_targets(host)
            if self._scope:
                targets = [target for target in targets if target.scope == self._scope]
            self._targets[host.name] = targets
        return self._targets[host.name]

    def _find_targets(self, host: Host) -> list[Target]:
        variant, path = self.active_file(host, "user")
        user_target = Target(variant, "user", path)
        key, record = store.find_record(self.records, user_target.path)
        is_here = bool(hosts.detected(host, self.environ, self._made))
        targets = {key: user_target} if record or is_here else {}
        root = self.cwd_project
        for scope in host.scopes[1:]:
            variant, path = self.active_file(host, scope, root)
            target = Target(variant, scope, path, root)
            key, record = store.find_record(self.records, target.path)
            is_declared = scope == "project" and not targets and self._has_hooks(target)
            if record or is_declared or self._has_ours(target):
                targets.setdefault(key, target)
        for key, record in self.records.items():
            has_ours = record.packs or record.gaps  # else only approvals are in the file
            if record.host == host.name and has_ours:
                path = store.current_path(self.records, key)
                variant = variant_of_file(host, path, self.read)
                targets.setdefault(key, Target(variant, record.scope, path, record.project))
        return list(targets.values())

    def _has_hooks(self, target: Target) -> bool:
        """Whether a settings file has any hook, or cannot be read."""
        if not os.path.lexists(target.path):
            return False
        try:
            document = self.reader.patient_document(target.path, target.host.format)[1]
        except HookctlError:
            return True
        root = {} if document.value is MISSING else document.value
        return bool(shapes.handlers(target.host.shape, root))

    def _has_ours(self, target: Target) -> bool:
        """Whether a hook of ours stands in a settings file, whatever the ledger says."""
        if not os.path.lexists(target.path):
            return False
        try:
            document = self.reader.patient_document(target.path, target.host.format)[1]
            return bool(look(target.host, document, (), ()).elements)
        except HookctlError:
            return False

    def layers(self, host: Host, users: str, start: str) -> tuple[Layer, ...]:
        """The settings files that a host reads in a folder; `users` is the user's own file."""
        key = (host.name, host.variant, users, start)
        if key not in self._layers:
            sources = precedence.sources(self.folders, host, users, start, self.read)
            self._layers[key] = tuple(self._layer(source, sources) for source in sources)
        return self._layers[key]

    def _layer(self, source: Source, sources: list[Source]) -> Layer:
        real_path = self.reader.snapshot(source.path).path
        hidden = frozenset(precedence.hidden_events(sources, source))
        return Layer(source, real_path, hooks_of(source), effective.variables([source]), hidden)

    def log(self) -> tuple[dict[str, Any], ...]:
        """Every line of the guard's log."""
        if self._log is None:
            self._log = tuple(events.read(self.folders.state))
        return self._log


def hooks_of(source: Source) -> tuple[FoundHook, ...]:
    """Every handler of a settings file; malformed parts are passed over."""
    shape, value = source.host.shape, source.document.value
    ours = {element.path: element for element in shapes.elements(shape, value)}
    hooks = []
    for path, fields, _ in shapes.handlers(shape, value):
        own, event = ours.get(path), shapes.event_of(shape, path)
        hooks.append(
            FoundHook(source, path, event, own.fields if own else fields, own.id if own else "")
        )
    return tuple(hooks)
