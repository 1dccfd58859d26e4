"""Judges whether the host runs the hooks: its version, switches, approvals, files that it reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from hookctl import clock, hosts
from hookctl.checks.codes import Finding
from hookctl.checks.facts import FileFacts, HostFacts, Layer, UnreadFile
from hookctl.hosts import Host
from hookctl.hosts.shapes import event_of
from hookctl.hosts.version import Client
from hookctl.packs.abilities import lacks
from hookctl.settings import approval, switches
from hookctl.settings.approval import Closed
from hookctl.settings.targets import GUARD

# Is the client there, and is its version one that the facts hold for?


def judge_client(file: FileFacts) -> Iterator[Finding]:
    """The version that the client itself prints."""
    client, known = file.client, file.host.client
    if client is None or file.record is None:  # hookctl was not asked about this client
        return
    yield from _judge_ends(file, client)
    if not client.path:
        names = hosts.commands(file.host)
        yield file.find("client_missing", names[0], names=" or ".join(names))
    elif not known.asks_version:
        yield file.find("client_unknown.other", client.path)
    elif client.not_asked:
        yield file.find("client_unknown.not-asked", client.path, client=client)
    elif not client.version:
        yield file.find("client_unknown", client.path)
    else:
        yield from _judge_version(file, client)


def _judge_version(file: FileFacts, client: Client) -> Iterator[Finding]:
    """What an older version lacks, and a version that hookctl does not know."""
    for level, does, since in lacks(file.host, client.version, file.settings, file.document):
        values = {"client": client, "does": does, "since": since}
        yield file.find("client_old", client.path, level, **values)
    if hosts.parse_version(client.version) > hosts.parse_version(file.host.client.seen):
        known = "the version that hookctl knows from documentation"
        if file.host.sure == "proven":
            known = "the version that hookctl was tested with"
        yield file.find("client_newer", client.path, client=client, known=known)


def _judge_ends(file: FileFacts, client: Client) -> Iterator[Finding]:
    """By the guard's log: did this client go on where the guard asked it to end the turn?"""
    lines = [line for line in file.log if line.get("code") == "went_on"]
    times = [line["t"] for line in lines if line["t"] > client.since]
    if times:
        count = "once" if len(times) == 1 else f"{len(times)} times"
        age = clock.age(file.workplace.now - times[-1])
        yield file.find("client_went_on", client.path, times=count, age=age)


# Switches in the settings files of all scopes.


def judge_switches(file: FileFacts) -> Iterator[Finding]:
    """The switches of every scope that the host reads together with this file."""
    winner = switches.find_stopping(file.switches, file.target.scope, file.path)
    for switch in [winner] if winner else file.switches:
        entry = "hooks_disabled" if winner else "hooks_disabled.allowed"
        if winner or (switch.is_off and not switch.counts):
            fix = f"{_sentence(switch.fix)}."
            yield file.find(entry, switch.path, switch=switch, fix=fix)
    named = switches.list_names(file.switches)
    for hook in [hook for layer in file.layers for hook in layer.hooks] if named else ():
        switch = named.get(str(hook.fields.get("name", hook.fields.get("command"))))
        # What `hookctl disable` did has a line of its own.
        if switch and hook.id and hook.id not in file.disabled_ids:
            name, pack = hook.fields.get("name", hook.id), _title(hook.id.partition("/")[0])
            yield file.find("hook_disabled", switch.path, name=name, pack=pack)


def _title(pack: str) -> str:
    return "the guard" if pack == GUARD else pack


# Approvals: what the host wants to be told before it runs a hook.


def judge_approvals(file: FileFacts) -> Iterator[Finding]:
    """The approvals that are missing: trust in the folder, and approval of each recorded hook."""
    if file.document is None or not any(hook.pack in file.packs for hook in file.elements):
        return
    trust, folder_trust = file.host.trust, file.host.folder_trust
    if file.is_untrusted:
        entry = "not_trusted" if file.target.project else "not_trusted.user"
        yield file.find(entry, action=_sentence(folder_trust.action))
    for closed in file.closed:
        is_disabled = closed.why == approval.OFF and closed.element.id in file.disabled_ids
        if closed.element.pack in file.packs and not is_disabled:
            yield _report_closed(file, closed)
    if trust.config or trust.memory or folder_trust.file:
        return  # the approvals of this host can be read, and were judged above
    if file.target.scope in (trust.scopes or ()):
        yield file.find("not_approved.unknown", step=trust.action)


def _report_closed(file: FileFacts, closed: Closed) -> Finding:
    trust, pack = file.host.trust, _title(closed.element.pack)
    if closed.why == approval.OFF:
        where = trust.config.format(config=file.config_folder)
        key = ".".join(map(str, closed.state))
        return file.find("hook_disabled.single", pack=pack, key=key, where=where)
    entry = "not_approved" if closed.why == approval.UNKNOWN else "not_approved.changed"
    return file.find(entry, pack=pack, step=_sentence(trust.action))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


# Files that the host does not read, and those that another file hides.


def judge_unread(facts: HostFacts) -> Iterator[Finding]:
    """Other tools' stop hooks, and our hooks, that look active but will not run."""
    hidden = {file.path for file in facts.files if _hidden_by(facts, file)}
    stops = (facts.host.events.get("stop"), facts.host.events.get("subagent-stop"))
    unread = {file.real_path: file for file in facts.unread if file.owner not in hidden}
    for file in unread.values():
        ours = sorted({hook.id for hook in file.hooks if hook.id})
        theirs = [hook for hook in file.hooks if not hook.id and hook.event in stops]
        if ours:
            is_alone = "guard/stop" in ours and not facts.guards
            level = "warning" if is_alone else "info"
            yield _report_unread(facts, file, f"{', '.join(ours)} in this file", level)
        elif theirs and file.reason != "below":  # other tools' hooks below are no surprise
            hook = f"a hook on {theirs[0].event} in this file ({theirs[0].title})"
            yield _report_unread(facts, file, hook, "info")


def _report_unread(facts: HostFacts, file: UnreadFile, hooks: str, level: str) -> Finding:
    """The finding that hooks of a file do not run, and why the host does not read the file."""
    why = explain_unread(facts.host, facts.config_folder, facts.workplace.environ, file)
    entry = "not_read.user" if file.scope == "user" else "not_read"
    variable = facts.host.config.variable or "HOME"
    return facts.find(entry, file.path, level, hooks=hooks, why=why, variable=variable)


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


def judge_shadowed(facts: HostFacts) -> Iterator[Finding]:
    """Hooks of hookctl that another file hides, and scopes with hooks in two files."""
    for file in facts.files:
        hiding = _hidden_by(facts, file)
        if hiding and file.elements:
            yield _report_hidden(facts, file, hiding, "no hook")
        yield from _judge_overlaid(facts, file)
    yield from _judge_two_forms(facts)


def _hidden_by(facts: HostFacts, file: FileFacts) -> Layer | None:
    """The file that the host reads instead of this one; None if it reads this one."""
    if not facts.host.scope_rules.first_only or file.target.scope != "user" or not facts.layers:
        return None
    return None if facts.layers[0].real_path == file.real_path else facts.layers[0]


def _judge_overlaid(facts: HostFacts, file: FileFacts) -> Iterator[Finding]:
    """Our events that the host takes from another file in the same folder, in another form."""
    own = next((layer for layer in file.layers if layer.source.path == file.path), None)
    if own is None or not own.hidden:
        return
    events = {event_of(file.host.shape, hook_entry.path) for hook_entry in file.elements}
    hidden = sorted(events & own.hidden)
    for layer in file.layers if hidden else ():
        source = layer.source
        is_other_form = source.host.variant != own.source.host.variant
        if source.scope == own.source.scope and is_other_form:
            yield _report_hidden(facts, file, layer, f"no hook on {' and '.join(hidden)}")
            return


def _report_hidden(facts: HostFacts, file: FileFacts, layer: Layer, hooks: str) -> Finding:
    """The finding that the host reads another file instead; the guard may be there too."""
    path = layer.source.path
    guarded = {registration.hook.source.path for registration in facts.guards}
    for other in facts.layers:
        if other.source.path in guarded and other.real_path == layer.real_path:
            return file.find("shadowed.guarded", other=path, hooks=hooks)
    install, level = f"hookctl install --host {facts.host.name} --scope project", "warning"
    if os.path.dirname(path) == os.path.dirname(file.path):
        install, level = file.install, "error"
    return file.find("shadowed", level=level, other=path, hooks=hooks, install=install)


def _judge_two_forms(facts: HostFacts) -> Iterator[Finding]:
    """Hooks in two files of one scope, about which the client warns at every start."""
    forms = [variant.variant for where, variant in facts.host.variants if where == "has hooks"]
    for layer in facts.layers if forms else ():
        source = layer.source
        if source.host.variant not in forms or not layer.hooks:
            continue
        for other in [other_layer.source for other_layer in facts.layers]:
            if other.scope != source.scope or other.path == source.path:
                continue
            if other.host.variant not in forms and _has_hooks(other.document.value):
                yield facts.find("two_forms", source.path, other=other.path)


def _has_hooks(value: object) -> bool:
    return isinstance(value, dict) and bool(value.get("hooks"))


# The guard in several scopes, and agents that read each other's files.


def judge_doubles(facts: HostFacts) -> Iterator[Finding]:
    """The guard in several scopes at once; entries.py judges doubles in one file."""
    by_path = {registration.hook.source.path: registration for registration in facts.guards}
    guards = list(by_path.values())
    if len(guards) < 2:
        return
    scopes = ", ".join(registration.hook.source.scope for registration in guards)
    path = guards[0].hook.source.path
    if facts.host.scope_rules.same_name_once:
        yield facts.find("two_scopes.one_name", path, scopes=scopes)
        return
    commands = {str(registration.hook.fields["command"]) for registration in guards}
    if facts.host.scope_rules.same_command_once and len(commands) == 1:
        yield facts.find("two_scopes.one_command", path, scopes=scopes)
        return
    yield facts.find("two_scopes", path, scopes=scopes)
    if len({registration.program for registration in guards} - {b""}) > 1:
        yield facts.find("two_versions", path, scopes=scopes)


def judge_readers(file: FileFacts) -> Iterator[Finding]:
    """Agents that run the guard of this file as if they were its host."""
    for reader in file.readers:
        if reader.own_guard:
            yield file.find("registered_twice", reader=reader)
        elif reader.is_there:
            yield file.find("also_read", reader=reader)
