"""Judges settings files: does the host read all of them, and who else can change them?"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from hookctl.checks.codes import Finding, describe_error, levels
from hookctl.checks.facts import FileFacts, HostFacts
from hookctl.documents import CONFLICT, MISSING
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


def judge_guests(facts: HostFacts) -> Iterator[Finding]:
    """Settings of the working folder without entries of hookctl; the host must read them too."""
    for file in facts.guests:
        stops = loading.reach_of(file.host, "text") == loading.CLIENT
        if file.error:
            yield _report_unreadable(file, file.error, "error" if stops else "warning")
        for finding in judge_content(file):
            yield finding if stops else finding._replace(level="warning")


def judge(file: FileFacts) -> Iterator[Finding]:
    """Faults that make the host ignore the file, or keep hookctl from changing it."""
    is_object = file.document is not None and isinstance(file.document.value, dict)
    if is_object and file.is_read_only:
        yield file.find("read_only")
    yield from judge_content(file)


def judge_content(file: FileFacts) -> Iterator[Finding]:
    """The mistakes that make the host ignore a file, or a part of it."""
    document, cost = file.document, loading.cost(file.host)
    if document is None:
        return
    if not isinstance(document.value, dict):
        if not file.host.empty and document.value is MISSING and file.is_file:
            yield file.find("strict_host", what="the file is empty", cost=cost)
        return
    error = loading.refusal(file.host, document)
    if error:
        yield file.find("strict_host", what=describe_error(error), cost=cost)
    for fault in loading.read(file.host, document).faults:
        if fault.kind == "never":
            continue
        what = loading.describe(document, fault)
        message = f"{what}; {loading.cost(file.host, fault.reach)}"
        fix = fault.fix or _suggest_fix(file, "that place")
        level = levels(fault.code)[0] if fault.is_whole else "warning"
        yield Finding(fault.code, level, message, file.host.name, file.path, fix)


def _suggest_fix(file: FileFacts, what: str) -> str:
    """The fix for something that the host refuses, with the host's own check if it has one."""
    doctor = file.host.client.doctor
    check = f"; `{doctor}` says whether it is right then." if doctor else "."
    return f"Fix {what}, or remove it{check}"


def judge_broken(facts: HostFacts) -> Iterator[Finding]:
    """Files that hookctl never writes, and without which the client does not start."""
    for path, error in facts.broken:
        message = f"{describe_error(error)}; {facts.host.title} does not start with it"
        yield Finding(error.code, "error", message, facts.host.name, path, error.hint)


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
