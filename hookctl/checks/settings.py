"""Judges settings files: does the host read all of them, and who else can change them?"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

from hookctl.checks import own_hooks
from hookctl.checks.codes import Finding, describe_error
from hookctl.checks.facts import FileFacts, HostFacts
from hookctl.documents import MISSING
from hookctl.errors import HookctlError
from hookctl.hosts import loading, shapes
from hookctl.masking import masked_text


def judge_reading(file: FileFacts) -> Iterator[Finding]:
    """Whether the file can be read, and whether the guard is in it."""
    if file.error:
        yield _report_unreadable(file, file.error, "error")


def judge_nothing(facts: HostFacts) -> Iterator[Finding]:
    """A host in use with nothing of hookctl's in any of its files."""
    for file in facts.files:
        if file.record or (file.current and file.current.elements):
            return
    if facts.files:
        file = facts.files[0]
        message = f"nothing of hookctl's is installed for {facts.host.title}"
        yield file.find("not_installed", message, f"`{file.install}` installs the guard.")


def _report_unreadable(file: FileFacts, error: HookctlError, level: str) -> Finding:
    """A finding about an unreadable settings file, with the backup that can replace it."""
    costs_it = f"; {loading.cost(file.host)}" if error.code == "unparsable" else ""
    message, fix = f"{describe_error(error)}{costs_it}", error.hint
    if file.backup:
        command = f"hookctl restore {shlex.quote(file.path)}"
        fix += (
            f" Or `{command} --to {file.backup}` restores the last text that hookctl kept; "
            "`--list` shows all."
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
            message = "the file is read-only, so neither install nor uninstall can change it"
            yield file.find(
                "read_only", message, "Make it writable, or change it where it is generated."
            )
        # A client may follow one link and replace the next (docs of Claude Code, issue 78162).
        if len(file.links) > 1:
            message = (
                f"the file is a link to a link; some versions of {file.host.title} replace the "
                "second link with a file"
            )
            yield file.find("link_chain", message, f"Link it to {file.links[-1]} directly.")
    yield from judge_content(file)


def judge_content(file: FileFacts) -> Iterator[Finding]:
    """What in a file makes the host ignore it, or a part of it."""
    if file.document is None or not isinstance(file.document.value, dict):
        yield from _judge_empty(file)
        return
    yield from _judge_strictness(file)
    yield from _judge_loading(file)
    yield from _judge_hooks(file)
    yield from _judge_env_names(file)


def _judge_strictness(file: FileFacts) -> Iterator[Finding]:
    error = loading.refusal(file.host, file.document) if file.document else None
    if error:
        message = f"{describe_error(error)}; {loading.cost(file.host)}"
        yield file.find("strict_host", message, "Remove it.")


def _judge_empty(file: FileFacts) -> Iterator[Finding]:
    if file.document and not file.host.empty and file.document.value is MISSING and file.is_file:
        message = f"the file is empty; {loading.cost(file.host)}"
        yield file.find("strict_host", message, "Remove it, or write {} into it.")


def _judge_loading(file: FileFacts) -> Iterator[Finding]:
    """What the host loads nothing for: the whole file, an entry, or all below a key."""
    host, document = file.host, file.document
    for fault in loading.faults(host, document) if document else ():
        message = f"{fault.message}; {loading.cost(host)}" if fault.is_whole else fault.message
        fix = fault.fix or _suggest_fix(file, fault.subject)
        yield file.find(fault.code, message, fix, level=fault.level)


def _judge_hooks(file: FileFacts) -> Iterator[Finding]:
    """The map of events as a whole, and the timeouts in it."""
    host, root = file.host, file.document.value if file.document else {}
    named = host.shape.root[:1]
    events_map = root.get(*named, {}) if named else {}
    is_lost = not isinstance(events_map, dict) and not (events_map is None and host.null_is_absent)
    if is_lost and file.record is None:
        message = f"{named[0]} is not an object; {host.title} reads no hook of this file"
        yield file.find("lost_hook", message, _suggest_fix(file, "it"))
    for above, events in shapes.event_maps(host.shape, root):
        for event in events:
            if loading.is_event(host, event):
                yield from _judge_timeouts(file, (*above, event), event, events[event])


def _judge_timeouts(
    file: FileFacts, path: tuple[Any, ...], event: str, groups: Any
) -> Iterator[Finding]:
    """Timeouts of other tools' hooks that look wrong in the host's unit."""
    host = file.host
    for below, fields, _ in shapes.handlers(host.shape._replace(root=()), {event: groups}):
        given, command = loading.timeout_seconds(host, fields), fields.get("command")
        if given is None or (isinstance(command, str) and shapes.is_ours(command)):
            continue
        name, value = ".".join(map(str, (*path, *below[1:]))), fields.get("timeout")
        if host.timeout_unit == "milliseconds" and given < 1:
            message = (
                f"{name} has a timeout of {value}, which {host.title} reads as "
                f"{given * 1000:g} milliseconds"
            )
            message += ": the hook may be killed before it answers"
            yield file.find("timeout_unit", message, "Write it in milliseconds, and as a number.")
        elif host.handlers.milliseconds_from < float("inf") and given != value:
            message = (
                f"{name} has a timeout of {value}, which {host.title} reads as {given:g} seconds"
            )
            yield file.find("timeout_unit", message, level="info")


def _quote(name: str) -> str:
    return json.dumps(masked_text(name), ensure_ascii=False)


def _suggest_fix(file: FileFacts, what: str) -> str:
    """The fix for something that the host refuses, with the host's own check if it has one."""
    doctor = file.host.client.doctor
    return f"Fix {what}, or remove it" + (
        f"; `{doctor}` says whether it is right then." if doctor else "."
    )


def _judge_env_names(file: FileFacts) -> Iterator[Finding]:
    env = file.document.get(file.host.env_path) if file.document and file.host.env_path else MISSING
    for name in env if isinstance(env, dict) else ():
        if not name or "=" in name:
            message = (
                f"env has the name {_quote(name)}, which is not a valid variable name; "
                f"{file.host.title} drops it"
            )
            yield file.find("lost_env", message, "Fix the name, or remove it.")


def judge_managed(facts: HostFacts) -> Iterator[Finding]:
    """Managed settings: invalid JSON stops the host; a wrong key is dropped alone."""
    fix, title = "Ask whoever manages this machine.", facts.host.title
    for managed in facts.managed:
        if managed.error:
            message = f"{describe_error(managed.error)}; {title} does not start with such managed"
            message += " settings"
            yield facts.find("managed_invalid", message, fix, managed.path)
        elif managed.document:
            for name, wrong, _ in loading.wrong_keys(facts.host, managed.document):
                message = f"{name} {wrong}; {title} drops that key of the managed settings"
                yield facts.find("wrong_type", message, fix, managed.path, "warning")


def judge_switch_files(facts: HostFacts) -> Iterator[Finding]:
    """A file that has no hooks, but that the client reads at its start all the same: can it?"""
    for variant, path, error in facts.switch_files:
        message = f"{describe_error(error)}; {loading.cost(variant)}"
        yield Finding(error.code, "error", message, facts.host.name, path, error.hint)


def judge_committed(file: FileFacts) -> Iterator[Finding]:
    """Does everyone who clones the project get the hook with the settings that register it?"""
    for rule in file.ignored:
        message, fix = own_hooks.describe_uncommitted(rule)
        yield file.find("not_committed", message, fix, rule.path)


def judge_rights(file: FileFacts) -> Iterator[Finding]:
    """Could somebody else change what runs as you?"""
    seen = set()
    for rights in file.rights:
        if rights.fault in seen:
            continue
        seen.add(rights.fault)
        message = "somebody else could run commands as you: "
        if rights.fault.path != rights.path:
            message += f"{rights.fault.path} "
        message += rights.fault.reason
        yield file.find("loose_mode", message, f"`{rights.fault.fix}`", rights.path)


def judge_nested(file: FileFacts) -> Iterator[Finding]:
    """Programs that lie where no hook of project scope finds them."""
    for path in file.nested:
        message = "this belongs to another user, so no hook of yours runs what lies there"
        yield file.find("nested_folder", message, "Look at it, or remove it.", path)
    if file.repository:
        message = (
            f"{file.host.title} looks for the hook in the repository, {file.repository}, "
            "so nothing runs here"
        )
        fix = f"`hookctl install --scope project --project {shlex.quote(file.repository)}`"
        yield file.find("nested_folder", message, fix, file.target.project)


def judge_env_files(facts: HostFacts) -> Iterator[Finding]:
    """Variables for the guard that a project brings."""
    for env_file in facts.env_files:
        names = ", ".join(env_file.names)
        message = f"{facts.host.title} gives this file's variables to hooks, and it sets {names}"
        fix = "Remove these lines, unless you want this project to change the guard."
        yield facts.find("env_file", message, fix, env_file.path)
