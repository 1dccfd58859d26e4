"""Gathers the facts about one host: its settings files, hooks and work in the working folder."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Container, Iterable, Iterator

from hookctl import hosts
from hookctl.checks.facts import FileFacts, HostFacts, ManagedFile, UnreadFile
from hookctl.checks.gather_file import bare_facts, file_facts
from hookctl.checks.gather_guard import explain_conflict
from hookctl.checks.gather_hooks import add_hooks
from hookctl.checks.machine import Machine, hooks_of
from hookctl.documents import formats
from hookctl.errors import HookctlError
from hookctl.hosts import Host, loading
from hookctl.hosts.version import ask_client
from hookctl.ledger import store
from hookctl.settings import effective
from hookctl.settings.effective import Source
from hookctl.settings.targets import Target, variant_of_file
from hookctl.system import project

_SUBFOLDERS = 100  # that are looked at for settings which the host does not read here
_FOLDER = "\0folder"  # stands for any folder in the path of a settings file


def host_facts(machine: Machine, host: Host) -> HostFacts:
    """The facts about a host as it starts in the working folder; no files if it is not in use."""
    targets = machine.targets(host)
    config, start = hosts.config_folder(host, machine.environ), machine.start_of(host)
    facts = HostFacts(host, machine.workplace, config, ())
    if not targets:
        return facts
    client = ask_client(host, machine.folders)
    # Before the layers: this waits until a file that another program is writing is whole.
    files_of_ours = tuple(file_facts(machine, target)._replace(client=client) for target in targets)
    user_path = machine.active_file(host, "user")[1]
    layers = machine.layers(host, user_path, start)
    variables = dict(machine.environ)
    for layer in reversed(layers):
        variables |= layer.env
    facts = facts._replace(
        files=files_of_ours,
        layers=layers,
        variables=variables,
        switches=machine.switches(host, user_path, start),
        guests=tuple(_find_guests(machine, host, files_of_ours)),
        managed=tuple(_find_managed(machine, host)),
        switch_files=tuple(_find_broken_switch_files(machine, host, files_of_ours)),
    )
    read = {layer.real_path for layer in layers}
    facts = facts._replace(unread=tuple(find_unread(machine, host, targets, read)))
    return add_hooks(machine, facts)


def _find_guests(machine: Machine, host: Host, known: tuple[FileFacts, ...]) -> Iterator[FileFacts]:
    """Settings of the project, or of the working folder, that have nothing of ours."""
    start = machine.start_of(host)
    real_paths = {facts.real_path for facts in known}
    for scope in host.scopes[1:]:
        variant, path = machine.active_file(host, scope, start)
        if os.path.lexists(path) and store.real_path(path) not in real_paths:
            document, error = None, None
            target = Target(variant, scope, path, start)
            try:
                document = machine.reader.patient_document(path, variant.format)[1]
            except HookctlError as fault:
                explain_conflict(target, fault)
                error = fault
            yield bare_facts(machine, target, None, document, error)


def _find_managed(machine: Machine, host: Host) -> Iterator[ManagedFile]:
    """The managed settings files of this machine."""
    for pattern in host.managed_files.get(sys.platform, []):
        for path in sorted(glob.glob(pattern)):
            yield _read_managed(machine, hosts.managed_layout(host, path), path)


def _read_managed(machine: Machine, host: Host, path: str) -> ManagedFile:
    try:
        snapshot, document = machine.read(path, host.format)
        if not snapshot.data and host.syntax == "json":
            document = formats.parse(host.format, b"{}", where=path)
        loading.require(host, document)
    except HookctlError as error:
        return ManagedFile(path, None, error)
    return ManagedFile(path, document, None)


def _find_broken_switch_files(
    machine: Machine, host: Host, known: tuple[FileFacts, ...]
) -> Iterator[tuple[Host, str, HookctlError]]:
    """Files in another layout that the client reads at its start, but cannot parse."""
    paths = {facts.path for facts in known}
    user, start = machine.active_file(host, "user")[1], machine.start_of(host)
    for scope in host.scopes:
        found = effective.find_files(machine.folders, host, scope, user, start, machine.read)
        for variant, path in found:
            is_known = path in paths or not variant.variant or not os.path.lexists(path)
            if variant.faults.stops_client and not is_known:
                try:
                    machine.reader.patient_document(path, variant.format)
                except HookctlError as error:
                    yield variant, path, error


def find_unread(
    machine: Machine, host: Host, known: Iterable[Target], read: Container[str]
) -> Iterator[UnreadFile]:
    """Settings files with hooks that are there although the host does not read them here.

    `read` has the real paths of those that it reads.
    """
    for path, scope, reason, owner in _list_unread_paths(machine, host, known):
        if not os.path.isfile(path):
            continue
        real_path = store.real_path(path)
        if real_path in read:
            continue
        try:
            variant = variant_of_file(host, path, machine.read)
            document = machine.reader.patient_document(path, variant.format)[1]
        except HookctlError:
            continue
        if loading.refusal(variant, document):
            continue  # the host reads no such text anywhere, which is the more important reason
        hooks = hooks_of(Source(scope, path, document, variant))
        yield UnreadFile(path, real_path, scope, reason, hooks, owner)


def _list_unread_paths(
    machine: Machine, host: Host, known: Iterable[Target]
) -> Iterator[tuple[str, str, str, str]]:
    """Settings that the host does not read here: path, scope, reason and owner."""
    environ, config = machine.environ, hosts.config_folder(host, machine.environ)
    if "local" in host.scopes:
        name = os.path.basename(host.files["local"])
        yield os.path.join(config, name), "local", "local", ""
    variable = host.config.variable
    if environ.get(variable):
        plain = {name: value for name, value in environ.items() if name != variable}
        yield hosts.settings_path(host, "user", plain), "user", "variable", ""
    for target in known:
        if target.scope == "user":
            yield target.path, "user", "folder", target.path
    if host.scope_rules.start_folder_only:
        patterns = {
            scope: hosts.settings_path(host, scope, environ, _FOLDER) for scope in host.scopes[1:]
        }
        for folder, reason in _list_folders_around(machine):
            for scope, pattern in patterns.items():
                yield pattern.replace(_FOLDER, folder.rstrip("/")), scope, reason, ""


def _list_folders_around(machine: Machine) -> Iterator[tuple[str, str]]:
    """The folders above the working folder, up to HOME, and those in it, hidden ones apart."""
    home = store.real_path(machine.environ["HOME"])
    for folder in project.below_home(os.path.dirname(machine.folders.cwd), home):
        yield folder, "above"
    try:
        names = sorted(os.listdir(machine.folders.cwd))[:_SUBFOLDERS]
    except OSError:
        return
    for name in names:
        if not name.startswith("."):
            yield os.path.join(machine.folders.cwd, name), "below"
