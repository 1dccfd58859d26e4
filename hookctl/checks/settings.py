"""Judges settings files: does the host read all of them, and who else can change them?"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from hookctl.checks.codes import Finding, describe_error
from hookctl.checks.facts import FileFacts, HostFacts
from hookctl.documents import CONFLICT
from hookctl.errors import HookctlError
from hookctl.hosts import loading


def judge_reading(file: FileFacts) -> Iterator[Finding]:
    """Whether the file can be read."""
    if file.error:
        yield _report_unreadable(file, file.error, "error")


def judge_nothing(facts: HostFacts) -> Iterator[Finding]:
    """A host without any of hookctl's entries."""
    if not any(file.record or file.elements for file in facts.files):
        path = facts.files[0].path if facts.files else ""
        yield facts.find("not_installed", path, title=facts.host.title, name=facts.host.name)


def _report_unreadable(file: FileFacts, error: HookctlError, level: str) -> Finding:
    """A finding about an unreadable settings file, with the backup that can replace it."""
    costs_it = f"; {loading.cost(file.host)}" if error.code == "unparsable" else ""
    message, fix = f"{describe_error(error)}{costs_it}", error.hint
    if file.backup and error.message != CONFLICT:  # it is of neither branch
        command = f"hookctl restore {shlex.quote(file.path)}"
        fix += (
            f" Or `{command} --to {file.backup}` restores the text from before hookctl's last "
            "write, without what that wrote; `--list` shows all."
        )
    return Finding(error.code, level, message, file.host.name, file.path, fix)


def judge_lost(facts: HostFacts) -> Iterator[Finding]:
    """Other files that the host reads, of which it takes nothing, or with which it stops."""
    known = {file.path for file in facts.files}
    for lost in facts.lost:
        if lost.path not in known:
            level = "error" if lost.stops_client else "warning"
            where = f"line {lost.line}: " if lost.line else ""
            message = lost.message if lost.message.startswith("line") else where + lost.message
            fix = lost.fix or "Fix that place, or remove it."
            yield Finding(lost.code, level, message, facts.host.name, lost.path, fix)


def judge(file: FileFacts) -> Iterator[Finding]:
    """Faults that make the host ignore the file, or keep hookctl from changing it."""
    is_object = file.document is not None and isinstance(file.document.value, dict)
    if is_object and file.is_read_only:
        yield file.find("read_only")
    yield from judge_content(file)


def judge_content(file: FileFacts) -> Iterator[Finding]:
    """The mistake that makes the host ignore a file."""
    document = file.document
    if document is None or not file.is_file:
        return
    error, fault = loading.refusal(file.host, document), loading.read(file.host, document).whole
    if error:
        cost = loading.cost(file.host)
        yield file.find("strict_host", what=describe_error(error), cost=cost)
    if fault:
        what, cost = loading.describe(document, fault), loading.cost(file.host, fault.reach)
        fix = fault.fix or _suggest_fix(file)
        yield Finding(fault.code, "error", f"{what}; {cost}", file.host.name, file.path, fix)


def _suggest_fix(file: FileFacts) -> str:
    """The fix for something that the host refuses, with the host's own check if it has one."""
    doctor = file.host.client.doctor
    check = f"; `{doctor}` says whether it is right then." if doctor else "."
    return f"Fix that place, or remove it{check}"


def judge_committed(file: FileFacts) -> Iterator[Finding]:
    """Does everyone who clones the project get the hook with the settings that register it?"""
    for rule in file.ignored:
        yield file.find("not_committed", rule.path, rule=rule, names=" and ".join(rule.names))


def judge_rights(file: FileFacts) -> Iterator[Finding]:
    """Could another user change what runs as you?"""
    seen = set()
    for path, fault in file.loose.items():
        if fault not in seen:
            where = "" if fault.path == path else f"{fault.path} "
            yield file.find("loose_mode", path, fault=fault, where=where)
        seen.add(fault)
