"""Judges settings files: does the host read all of them, and who else can change them?"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

from hookctl.checks.codes import Finding, describe_error, levels
from hookctl.checks.facts import FileFacts, HostFacts
from hookctl.documents import CONFLICT, MISSING, Document
from hookctl.errors import HookctlError
from hookctl.hosts import loading, shapes
from hookctl.masking import masked_text
from hookctl.model import Path


def judge_reading(file: FileFacts) -> Iterator[Finding]:
    """Whether the file can be read."""
    if file.error:
        yield _report_unreadable(file, file.error, "error")


def judge_nothing(facts: HostFacts) -> Iterator[Finding]:
    """A host in use without any of hookctl's entries."""
    if facts.files and not any(file.record or file.elements for file in facts.files):
        yield facts.files[0].find("not_installed")


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
        stops = file.host.faults.stops_client
        if file.error:
            yield _report_unreadable(file, file.error, "error" if stops else "warning")
        for finding in judge_content(file):
            is_lower = finding.level == "info" or stops
            yield finding if is_lower else finding._replace(level="warning")


def judge(file: FileFacts) -> Iterator[Finding]:
    """Faults that make the host ignore the file, or keep hookctl from changing it."""
    if file.document is not None and isinstance(file.document.value, dict):
        if file.is_read_only:
            whose = file.other_owner and f" and belongs to {file.other_owner}"
            yield file.find("read_only", whose=whose)
        # A client may follow one link and replace the next (docs of Claude Code, issue 78162).
        if len(file.links) > 1:
            yield file.find("link_chain", end=file.links[-1])
    yield from judge_content(file)


def judge_content(file: FileFacts) -> Iterator[Finding]:
    """The mistakes that make the host ignore a file, or a part of it."""
    document, cost = file.document, loading.cost(file.host)
    if document is None:
        return
    if not isinstance(document.value, dict):
        if not file.host.empty and document.value is MISSING and file.is_file:
            yield file.find("strict_host.empty", cost=cost)
        return
    error = loading.refusal(file.host, document)
    if error:
        yield file.find("strict_host", what=describe_error(error), cost=cost)
    for fault in loading.faults(file.host, document):
        message = f"{fault.message}; {cost}" if fault.is_whole else fault.message
        fix, level = fault.fix or _suggest_fix(file, fault.subject), fault.level
        level = level or levels(fault.code)[0]
        yield Finding(fault.code, level, message, file.host.name, file.path, fix)
    yield from _judge_hooks(file, document)
    yield from _judge_env_names(file, document)


def _judge_hooks(file: FileFacts, document: Document) -> Iterator[Finding]:
    """The map of events as a whole, and the timeouts in it."""
    host, root = file.host, document.value
    named = host.shape.root[:1]
    events_map = root.get(*named, {}) if named else {}
    is_lost = not isinstance(events_map, dict) and not (events_map is None and host.null_is_absent)
    if is_lost and file.record is None:
        needed = document.needed_at(tuple(named), "an object")
        yield file.find("lost_hook", name=named[0], needed=needed, fix=_suggest_fix(file, "it"))
    for above, events in shapes.event_maps(host.shape, root):
        for event in events:
            if loading.is_event(host, event):
                yield from _judge_timeouts(file, document, (*above, event), events[event])


def _judge_timeouts(
    file: FileFacts, document: Document, path: Path, groups: Any
) -> Iterator[Finding]:
    """Timeouts of other tools' hooks that look wrong in the host's unit."""
    host = file.host
    for below, fields, _ in shapes.handlers(host.shape._replace(root=()), {path[-1]: groups}):
        given, command = loading.timeout_seconds(host, fields), fields.get("command")
        if given is None or (isinstance(command, str) and shapes.is_ours(command)):
            continue
        name, value = document.name_of((*path, *below[1:])), fields.get("timeout")
        if host.timeout_unit == "milliseconds" and given < 1:
            yield file.find("timeout_unit", name=name, value=value, milliseconds=given * 1000)
        elif host.handlers.milliseconds_from < float("inf") and given != value:
            yield file.find("timeout_unit.seconds", name=name, value=value, seconds=given)


def _suggest_fix(file: FileFacts, what: str) -> str:
    """The fix for something that the host refuses, with the host's own check if it has one."""
    doctor = file.host.client.doctor
    check = f"; `{doctor}` says whether it is right then." if doctor else "."
    return f"Fix {what}, or remove it{check}"


def _judge_env_names(file: FileFacts, document: Document) -> Iterator[Finding]:
    env = document.get(file.host.env_path) if file.host.env_path else MISSING
    for name in env if isinstance(env, dict) else ():
        if not name or "=" in name:
            quoted = json.dumps(masked_text(name), ensure_ascii=False)
            yield file.find("lost_env", name=quoted)


def judge_managed(facts: HostFacts) -> Iterator[Finding]:
    """Managed settings: invalid JSON stops the host; a wrong key is dropped alone."""
    for managed in facts.managed:
        path = managed.path
        if managed.error:
            yield facts.find("managed_invalid", path, error=describe_error(managed.error))
        elif managed.document:
            for name, wrong, _ in loading.wrong_keys(facts.host, managed.document):
                yield facts.find("wrong_type.managed", path, name=name, wrong=wrong)


def judge_switch_files(facts: HostFacts) -> Iterator[Finding]:
    """A file without hooks that the client reads at its start: can it be read?"""
    for variant, path, error in facts.switch_files:
        message = f"{describe_error(error)}; {loading.cost(variant)}"
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


def judge_env_files(facts: HostFacts) -> Iterator[Finding]:
    """Variables for the guard that a project brings."""
    for path, names in facts.env_files.items():
        yield facts.find("env_file", path, names=", ".join(names))
