"""Judges whether the host runs the hooks: its version, switches, approvals, files that it reads."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping

from hookctl import clock
from hookctl.checks.codes import Finding
from hookctl.checks.facts import FileFacts, HostFacts, Layer, UnreadFile
from hookctl.hosts import Host
from hookctl.hosts.shapes import event_of
from hookctl.packs.abilities import lacks
from hookctl.settings import approval, effective
from hookctl.settings.approval import Closed
from hookctl.settings.targets import GUARD


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


def judge_switches(file: FileFacts) -> Iterator[Finding]:
    """The switches of every scope that the host reads together with this file."""
    switch = effective.disabling_scope(file.target.scope, file.path, file.switch_layers)
    if switch:
        yield file.find("hooks_disabled", switch.source.path, switch=switch)
    for source, hook in effective.disabling_ours(file.switch_layers):
        if hook.id not in file.disabled_ids:  # by `hookctl disable`, which a line of its own says
            name = hook.fields.get("name", hook.id)
            yield _report_disabled(file, source.path, name, hook.pack)


def _report_disabled(file: FileFacts, path: str, name: str, pack: str, level: str = "") -> Finding:
    return file.find("hook_disabled", path, level, name=name, pack=_title(pack))


def _title(pack: str) -> str:
    return "the guard" if pack == GUARD else pack


# Approvals: what the host wants to be told before it runs a hook.


def judge_approvals(file: FileFacts) -> Iterator[Finding]:
    """The approvals that are missing: trust in the folder, and approval of each recorded hook."""
    if file.document is None or not any(hook.pack in file.packs for hook in file.elements):
        return
    if file.is_untrusted:
        level = "warning" if file.target.project and _has_client(file) else "info"
        action = _sentence(file.host.folder_trust.action)
        yield file.find("not_trusted", level=level, action=action)
    for closed in file.closed:
        is_disabled = closed.why == approval.OFF and closed.element.id in file.disabled_ids
        if closed.element.pack in file.packs and not is_disabled:
            yield _report_closed(file, closed)


def _has_client(file: FileFacts) -> bool:
    """Whether the client is there: nobody can approve anything in one that is not."""
    return file.client is None or bool(file.client.path)


def _report_closed(file: FileFacts, closed: Closed) -> Finding:
    trust, pack = file.host.trust, closed.element.pack
    level = "" if _has_client(file) else "info"
    if closed.why == approval.OFF:
        path = trust.config.format(config=file.config_folder)
        return _report_disabled(file, path, ".".join(map(str, closed.state)), pack, level)
    values = {"pack": _title(pack), "step": _sentence(trust.action)}
    return file.find("not_approved", level=level, **values)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


# Files that the host does not read, and those that another file hides.


def judge_unread(facts: HostFacts) -> Iterator[Finding]:
    """Our hooks that look active but do not run, as the host does not read their file here."""
    hidden = {file.path for file in facts.files if _hidden_by(facts, file)}
    running = {hook.id for hook in facts.running}
    unread = {file.real_path: file for file in facts.unread if file.owner not in hidden}
    for file in unread.values():
        ours = sorted({hook.id for hook in file.hooks} - running - {""})
        if ours:
            why = explain_unread(facts.host, facts.config_folder, facts.workplace.environ, file)
            fix = "Start the agent in that folder, or install at user scope."
            if file.scope == "user":
                variable = facts.host.config.variable or "HOME"
                fix = f"Install with the same {variable} that the agent is started with."
            yield facts.find("not_read", file.path, hooks=", ".join(ours), why=why, fix=fix)


def explain_unread(host: Host, config: str, environ: Mapping[str, str], file: UnreadFile) -> str:
    """Why the host does not read a file; `config` is its own folder."""
    title, variable = host.title, host.config.variable
    if file.reason == "local":
        return f"{title} reads {os.path.basename(file.path)} in projects only"
    if file.reason == "variable":
        return f"{variable} points to {config}"
    if file.reason == "folder":
        is_named = environ.get(variable)
        where = f"{variable} points there" if is_named else "nothing points to this folder"
        return f"{title} reads {config}, and {where}"
    return f"{title} reads project settings only in the folder it is started in"


def judge_hidden(facts: HostFacts) -> Iterator[Finding]:
    """Hooks of hookctl whose place another file takes, or whose program lies elsewhere."""
    running = {hook.id for hook in facts.running}
    for file in facts.files:
        for layer, hooks in _list_hidden(facts, file):
            if not {*hooks} - running:
                continue
            path, level = layer.source.path, "warning"
            install = f"hookctl install --host {facts.host.name} --scope project"
            if os.path.dirname(path) == os.path.dirname(file.path):
                install, level = file.install, "error"
            why, fix = f"{facts.host.title} reads {path} instead", f"`{install}` writes it there."
            values = {"hooks": ", ".join(hooks), "why": why, "fix": fix}
            yield file.find("not_read", level=level, **values)
        if file.repository:
            why = f"{facts.host.title} looks for its program in the repository, {file.repository}"
            repository = shlex.quote(file.repository)
            fix = f"`hookctl install --scope project --project {repository}`"
            hooks = sorted({hook.id for hook in file.elements})
            yield file.find("not_read", hooks=", ".join(hooks), why=why, fix=fix)


def _list_hidden(facts: HostFacts, file: FileFacts) -> Iterator[tuple[Layer, list[str]]]:
    """The file that the host reads instead of this one, or of some events of it; and our hooks."""
    hiding = _hidden_by(facts, file)
    if hiding and file.elements:
        yield hiding, sorted({hook.id for hook in file.elements})
    own = next((layer for layer in file.layers if layer.source.path == file.path), None)
    if own is None or not own.hidden:
        return
    hidden = set()
    for hook in file.elements:
        if event_of(file.host.shape, hook.path) in own.hidden:
            hidden.add(hook.id)
    for layer in file.layers if hidden else ():
        is_other_form = layer.source.host.variant != own.source.host.variant
        if layer.source.scope == own.source.scope and is_other_form:
            yield layer, sorted(hidden)


def _hidden_by(facts: HostFacts, file: FileFacts) -> Layer | None:
    """The file that the host reads instead of this one; None if it reads this one."""
    if not facts.host.scope_rules.first_only or file.target.scope != "user" or not facts.layers:
        return None
    return None if facts.layers[0].real_path == file.real_path else facts.layers[0]
