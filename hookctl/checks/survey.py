"""Which settings files doctor looks at, and every check that is made of each and of each host."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator

from hookctl import effects, files, hosts, ledger, project, scopes
from hookctl.checks import (
    Finding,
    Here,
    Scene,
    activity,
    cap,
    client,
    committed,
    doubles,
    entries,
    environment,
    foreign,
    hook,
    managed,
    neighbours,
    packs,
    reach,
    readers,
    safety,
    settings,
    shadowed,
    switches,
    trust,
    work,
    wrapped,
)
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.hosts import Host, reading
from hookctl.live import look, read_document
from hookctl.model import Record
from hookctl.places import GUARD, Place, of_file, require_inside, standing

# Of each settings file with something of ours in it, or that a host in use has for the user.
_OF_A_FILE = (
    settings.check, entries.check, switches.check, trust.check, hook.check, packs.check, activity.check, cap.check,
    environment.check, environment.check_shell, committed.check, safety.check, client.check, readers.check,
    wrapped.check,
)  # fmt: skip
# Of each host as it would be started in the working folder.
_OF_A_HOST = (
    managed.check, switches.check_here, doubles.check, neighbours.check, foreign.check, shadowed.check, reach.check,
    work.check, activity.check_here,
)  # fmt: skip


def findings_of(folders: Folders, host: Host, records: dict[str, Record]) -> list[Finding]:
    """Everything about one host, in no order."""
    places = places_of(folders, host, records)
    if not places:
        message, fix = f"{host.title} is not in use here", f"`hookctl install --host {host.name}`"
        return [Finding("not_installed", "info", message, host.name, fix=fix)]
    looked = [_look(folders, place, ledger.page_of(records, place.path)[1]) for place in places]
    findings = [finding for _, found in looked for finding in found]
    _, user = standing(host, "user", folders.environ)
    read = scopes.sources(folders, host, user, folders.cwd)
    off = effects.disabling(effects.with_switches(folders, host, read, folders.cwd))
    here = Here(folders, host, tuple(scene for scene, _ in looked), tuple(read), off)
    findings += _guests(here)
    return [*findings, *(finding for check in _OF_A_HOST for finding in check(here))]


def places_of(folders: Folders, host: Host, records: dict[str, Record]) -> list[Place]:
    """The user's settings if the host is in use, the working folder's project where something of ours is in it, and
    every other file that the ledgers have."""
    own = Place(*_user(folders, host))
    key, record = ledger.page_of(records, own.path)
    found = {key: own} if record or hosts.detected(host, folders.environ) else {}
    root = project.find(folders.cwd, folders.environ)
    for scope in host.scopes[1:]:
        variant, path = standing(host, scope, folders.environ, root)
        place = Place(variant, scope, path, root)
        key, record = ledger.page_of(records, place.path)
        if record or _has_ours(place):
            found.setdefault(key, place)
    for key, page in records.items():
        if page.host == host.name:
            path = ledger.place_of(records, key)
            found.setdefault(key, Place(of_file(host, path), page.scope, path, page.project))
    return list(found.values())


def _user(folders: Folders, host: Host) -> tuple[Host, str, str]:
    variant, path = standing(host, "user", folders.environ)
    return variant, "user", path


def _has_ours(place: Place) -> bool:
    """Whether a hook of ours stands in a settings file, whatever the ledger says."""
    try:
        if not os.path.lexists(place.path):
            return False
        return bool(look(place.host, read_document(place.path, place.host.format)[1], (), ()).elements)
    except HookctlError:
        return False


def _look(folders: Folders, place: Place, record: Record | None) -> tuple[Scene, list[Finding]]:
    scene, findings = Scene(folders, place, None, record, None), []
    try:
        if place.project:
            require_inside(place.project, place.path)
        _, document = read_document(place.path, place.host.format)
        scene = scene._replace(document=document)
        scene = scene._replace(live=look(place.host, document, (), record.entries if record else ()))
    except HookctlError as error:
        findings.append(_unreadable(scene, error, "error"))
    if (record is None or GUARD not in record.packs) and not _has_guard(scene):
        message, fix = "the guard is not installed here", f"`{scene.install}`"
        findings.append(scene.find("not_installed", "info", message, fix))
    for check in _OF_A_FILE:
        findings += check(scene)
    return scene, findings


def _has_guard(scene: Scene) -> bool:
    return bool(scene.live) and any(element.id.startswith(f"{GUARD}/") for element in scene.live.elements)


def _guests(here: Here) -> Iterator[Finding]:
    """Settings of the working folder that have nothing of ours: the host may not be able to read them either."""
    looked_at = {ledger.target_of(scene.path) for scene in here.scenes}
    for scope in here.host.scopes[1:]:
        host, path = standing(here.host, scope, here.folders.environ, here.folders.cwd)
        if ledger.target_of(path) in looked_at or not os.path.lexists(path):
            continue
        scene = Scene(here.folders, Place(host, scope, path, here.folders.cwd), None, None, None)
        try:
            scene = scene._replace(document=read_document(path, host.format)[1])
        except HookctlError as error:
            yield _unreadable(scene, error, "error" if reading.stops_client(host) else "warning")
        for finding in settings.content(scene):
            level = finding.level if reading.stops_client(host) else "warning"
            yield finding._replace(level="info" if finding.level == "info" else level)


def _unreadable(scene: Scene, error: HookctlError, level: str) -> Finding:
    """A settings file that cannot be read, and how an earlier text of it is put back, if there is one."""
    where = f"line {error.line}, column {error.column}: " if error.line else ""
    costs = f"; {settings.costs(scene.host)}" if error.code == "unparsable" else ""
    return scene.find(error.code, level, where + error.message + costs, f"{error.hint}{_earlier(scene)}")


def _earlier(scene: Scene) -> str:
    numbers: dict[int, files.Backup] = {}
    with contextlib.suppress(HookctlError, OSError):
        numbers = files.numbered(files.backups(scene.folders.state, ledger.target_of(scene.path)))
    if not numbers:
        return ""
    command = f"hookctl restore {shlex.quote(scene.path)}"
    return f" Or `{command} --to {max(numbers)}` puts back the last text that hookctl kept; `--list` shows all."
