"""Judges whether the host runs the hooks: its version, switches, approvals, files that it reads."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from hookctl import clock
from hookctl.checks.codes import Finding
from hookctl.checks.facts import FileFacts, HostFacts
from hookctl.packs.abilities import lacks
from hookctl.survey import gathering
from hookctl.survey.model import FOLDER_UNTRUSTED, HIDDEN, NOT_APPROVED, OFF, Obstacle


def judge_client(file: FileFacts) -> Iterator[Finding]:
    """What the client's version lacks, and whether it did what the guard asked for."""
    client = file.client
    if client is None or file.record is None:  # hookctl was not asked about this client
        return
    said = []
    if client.version:
        for level, does, since in lacks(file.host, client.version, file.settings, file.document):
            said.append((level, does, f" to {since} or later"))
    last = max([line["t"] for line in file.log if line.get("code") == "went_on"], default=0.0)
    if last > client.since:
        age = clock.age(file.workplace.now - last)
        does = f"went on after the guard asked it to end the turn, last {age} ago"
        said.append(("warning", does, ""))
    for level, does, since in said:
        values = {"client": client, "does": does, "since": since}
        yield file.find("client_old", client.path, level, **values)


# What keeps a hook of ours from running, by the state that it has then, and how bad that is where
# the client is there.
_CODES = {
    OFF: ("hook_disabled", "error"),
    NOT_APPROVED: ("not_approved", "error"),
    FOLDER_UNTRUSTED: ("not_trusted", "warning"),
    HIDDEN: ("not_read", "warning"),
}


def judge_hooks(facts: HostFacts) -> Iterator[Finding]:
    """Our hooks that do not run: switched off, not approved, or in a file that is not read."""
    found: dict[tuple[str, Obstacle, bool], list[str]] = {}
    running = {hook.own_id for hook in facts.running}
    disabled = {id for file in facts.files for id in file.disabled_ids}
    for hook in facts.hooks:
        for obstacle in (*hook.obstacles, *hook.shared) if hook.own_id else ():
            is_elsewhere = obstacle.state == HIDDEN and hook.own_id in running
            is_wanted = obstacle.state == OFF and hook.own_id in disabled
            if obstacle.state in _CODES and not is_elsewhere and not is_wanted:
                is_shared = obstacle in hook.shared
                found.setdefault((hook.file, obstacle, is_shared), []).append(hook.own_id)
    for (path, obstacle, is_shared), ids in found.items():
        code, level = _CODES[obstacle.state]
        if obstacle.state == OFF and is_shared:
            code = "hooks_disabled"
        is_there = any(file.client and file.client.path for file in facts.files)
        if obstacle.state in (NOT_APPROVED, FOLDER_UNTRUSTED) and not is_there:
            level = "info"  # nobody can approve anything in a client that is not there
        hooks = ", ".join(dict.fromkeys(ids))
        values = {"hooks": hooks, "reason": obstacle.reason, "fix": _sentence(obstacle.fix)}
        yield facts.find(code, path, level, **values)


def _sentence(text: str) -> str:
    text = text or "See `hookctl hooks`"
    return text[:1].upper() + text[1:]


def judge_switches(file: FileFacts) -> Iterator[Finding]:
    """The switches in the files that are known to the host together with this one."""
    hooks = ", ".join(sorted({hook.id for hook in file.elements})) or "a hook here"
    off = gathering.judge_switches(file.target.scope, file.path, file.switches)
    if off:
        yield file.find("hooks_disabled", hooks=hooks, reason=off.reason, fix=_sentence(off.fix))
    named = gathering.list_disabled(file.switches)
    for hook in file.elements:
        off = named.get(str(hook.fields.get("name", hook.fields.get("command"))))
        if off:
            fix = _sentence(off.fix)
            yield file.find("hook_disabled", hooks=hook.id, reason=off.reason, fix=fix)


def judge_repository(file: FileFacts) -> Iterator[Finding]:
    """Hooks whose program the host looks for elsewhere."""
    if file.repository:
        reason = f"{file.host.title} looks for its program in the repository, {file.repository}"
        repository = shlex.quote(file.repository)
        fix = f"`hookctl install --scope project --project {repository}`"
        hooks = " and ".join(sorted({hook.id for hook in file.elements}))
        yield file.find("not_read", hooks=hooks, reason=reason, fix=fix)
