"""hookctl doctor: does what is installed really work here? It reads, and writes nothing."""

from __future__ import annotations

import os

from hookctl import errors, files, hosts, project
from hookctl import ledger as ledger_pages
from hookctl.checks import Finding, Scene, cap, client, entries, hook, ledger, settings
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.hosts import Host
from hookctl.live import look, read_document
from hookctl.model import Record, Result
from hookctl.places import Place, require_inside

_ORDER = {"error": 0, "warning": 1, "info": 2}
_CHECKS = (settings.check, entries.check, hook.check, cap.check, client.check)


def doctor(folders: Folders, wanted: list[Host], *, strict: bool) -> Result:
    """Every finding about these hosts, the errors first; with `strict`, warnings count as errors."""
    records, findings = ledger.check(folders)
    for host in wanted:
        places = _places(folders, host, records)
        if not places:
            message, fix = f"{host.title} is not in use here", f"`hookctl install --host {host.name}`"
            findings.append(Finding("not_installed", "info", message, host.name, fix=fix))
        for place in places:
            findings += _look(folders, place, ledger_pages.page_of(records, place.path)[1])
    findings = list(dict.fromkeys(findings))  # a client's version is said once, however many settings files it has
    findings.sort(key=lambda finding: _ORDER[finding.level])
    bad = [f for f in findings if f.level == "error" or (strict and f.level == "warning")]
    data = {"findings": [finding._asdict() for finding in findings]}
    return Result(data, tuple(_lines(findings)), exit_code=errors.FAILED if bad else errors.OK)


def _places(folders: Folders, host: Host, records: dict[str, Record]) -> list[Place]:
    """The user's settings if the host is in use, the working folder's project where something of ours is in it, and
    every other file that the ledgers have."""
    own = Place(host, "user", hosts.settings_path(host, "user", folders.environ))
    key, record = ledger_pages.page_of(records, own.path)
    found = {key: own} if record or hosts.detected(host, folders.environ) else {}
    root = project.find(folders.cwd, folders.environ)
    for scope in ("project", "local"):
        place = Place(host, scope, hosts.settings_path(host, scope, folders.environ, root), root)
        key, record = ledger_pages.page_of(records, place.path)
        if record or _has_ours(place):
            found.setdefault(key, place)
    for key, page in records.items():
        if page.host == host.name:
            found.setdefault(key, Place(host, page.scope, ledger_pages.place_of(records, key), page.project))
    return list(found.values())


def _has_ours(place: Place) -> bool:
    """Whether a hook of ours stands in a settings file, whatever the ledger says."""
    try:
        return bool(look(read_document(place.path)[1], (), ()).elements)
    except HookctlError:
        return False


def _look(folders: Folders, place: Place, record: Record | None) -> list[Finding]:
    scene, findings = Scene(folders, place, None, record, None), []
    try:
        if place.project:
            require_inside(place.project, place.path)
        _, document = read_document(place.path)
        scene = scene._replace(document=document)
        scene = scene._replace(live=look(document, (), record.entries if record else ()))
    except HookctlError as error:
        where = f"line {error.line}, column {error.column}: " if error.line else ""
        hint = _restore(folders, place.path, error.hint)
        findings.append(scene.find(error.code, "error", where + error.message, hint))
    if record is None or "guard" not in record.packs:
        message, fix = "the guard is not installed here", f"`{scene.install}`"
        findings.append(scene.find("not_installed", "info", message, fix))
    for check in _CHECKS:
        findings += check(scene)
    return findings


def _restore(folders: Folders, path: str, hint: str) -> str:
    """What to do about a file that cannot be read, and where its backups lie if there are any."""
    backups = files.backup_folder(folders.state, ledger_pages.target_of(path))
    return f"{hint} Backups of it lie in {backups}." if os.path.isdir(backups) else hint


def _lines(findings: list[Finding]) -> list[str]:
    lines = []
    for finding in findings:
        where = f"{finding.path}: " if finding.path else ""
        lines.append(f"{finding.level:8} {where}{finding.message} [{finding.code}]")
        if finding.fix and finding.level != "info":
            lines.append(f"         {finding.fix}")
    counts = [sum(finding.level == level for finding in findings) for level in ("error", "warning")]
    if not any(counts):
        return [*lines, "no errors, no warnings"]
    words = (f"{n} {word}{'' if n == 1 else 's'}" for n, word in zip(counts, ("error", "warning"), strict=True))
    return [*lines, ", ".join(words)]
