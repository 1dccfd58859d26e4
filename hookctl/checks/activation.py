"""Judges whether the host runs the hooks: switches, approvals, unread files, double entries."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl import hosts
from hookctl.checks.codes import Finding
from hookctl.checks.facts import FileFacts, HostFacts, Layer, UnreadFile
from hookctl.hosts.shapes import event_of
from hookctl.settings import approval, effective
from hookctl.settings.approval import Closed
from hookctl.settings.targets import GUARD

# Switches, as far as the settings files of all scopes have them.


def judge_switches(file: FileFacts) -> Iterator[Finding]:
    """The switches of every scope that the host reads together with this file."""
    sources = file.switch_layers
    winner = effective.disabling(sources)
    if winner:
        message = (
            f"{winner.said} in {winner.source.scope} scope, so no hook runs here, not even the "
            "guard"
        )
        path = winner.source.path
        yield file.find("hooks_disabled", message, f"Remove it from {path}.", path)
    for switch, off in effective.switches(sources):
        if off and not winner:
            path = switch.source.path
            message = (
                f"{switch.said} in {switch.source.scope} scope: hooks run here only because "
                "another scope allows them"
            )
            yield file.find(
                "hooks_disabled",
                message,
                f"Remove it from {path}.",
                path,
                level="warning",
            )
    for source, hook in effective.disabling_ours(sources):
        name = hook.fields.get("name", hook.id)
        what = "the guard" if hook.pack == GUARD else hook.pack
        message = f"{name} is in the list of disabled hooks, so {what} does not run"
        yield file.find(
            "hook_disabled", message, f"Remove it from the list in {source.path}.", source.path
        )
    yield from _judge_managed_only(file)


def _judge_managed_only(file: FileFacts) -> Iterator[Finding]:
    key = file.host.switches.managed_only
    for layer in file.layers if key else ():
        source = layer.source
        if source.document.get((key,)) is not True:
            continue
        if source.scope == "managed":
            message = f"{key} is true, so hooks of {file.target.scope} scope do not run"
            yield file.find(
                "managed_only", message, "Ask whoever manages this machine.", source.path
            )
        else:
            message = f"{key} has no effect in {source.scope} scope, only in managed settings"
            yield file.find("managed_only_ignored", message, "Remove it.", source.path)


# Approvals: what the host wants to be told before it runs a hook.


def judge_approvals(file: FileFacts) -> Iterator[Finding]:
    """The gates in front of what the ledger has in this file: of its folder, and of each hook."""
    packs = file.record.packs if file.record else {}
    elements = file.current.elements if file.current else ()
    if file.document is None or not any(hook_entry.pack in packs for hook_entry in elements):
        return
    trust = file.host.trust
    yield from _judge_folder(file)
    for closed in file.closed:
        if closed.element.pack in packs:
            yield _report_closed(file, closed)
    if trust.config or trust.memory or file.host.folder_trust.file:
        return  # the host keeps its approvals where they were just looked up
    if file.target.scope in (trust.scopes or ()):
        yield file.find(
            "not_approved", f"{trust.gate}: {trust.step(file.target.scope)}", level="info"
        )


def _report_closed(file: FileFacts, closed: Closed) -> Finding:
    trust, title = file.host.trust, file.host.title
    pack = "the guard" if closed.element.pack == GUARD else closed.element.pack
    if closed.why == approval.OFF:
        where = trust.config.format(config=file.config_folder)
        message = f"{title} has this hook of {pack} disabled, at {'.'.join(map(str, closed.state))}"
        return file.find("hook_disabled", message, f"Remove `enabled = false` from {where}.")
    message = f"{title} silently skips a hook of {pack}: it was changed since it was approved"
    if closed.why == approval.UNKNOWN:
        message = f"{title} silently skips a hook of {pack}: it is not approved"
    return file.find("not_approved", message, f"{_sentence(trust.step(file.target.scope))}.")


def _judge_folder(file: FileFacts) -> Iterator[Finding]:
    """A gate in front of all hooks of a folder."""
    if not file.is_untrusted:
        return
    message = f"{file.host.title} does not trust {file.start} yet, so it runs no hook there"
    level = "warning" if file.target.project else "info"
    if level == "info":
        message += " until you trust it"
    yield file.find(
        "not_trusted",
        message,
        f"{_sentence(file.host.folder_trust.action)}.",
        level=level,
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


# Files that the host passes over, and those that another one hides.


def judge_unread(facts: HostFacts) -> Iterator[Finding]:
    """Stop hooks, and any hook of ours, that will not run although they look as if."""
    hidden = {file.path for file in facts.files if hidden_by(facts, file)}
    unread = {file.real_path: file for file in facts.unread if file.owner not in hidden}
    for file in unread.values():
        yield from _judge_unread(facts, file)


def _judge_unread(facts: HostFacts, file: UnreadFile) -> Iterator[Finding]:
    ours = sorted({hook.id for hook in file.hooks if hook.id})
    stops = [hook for hook in file.hooks if not hook.id and _is_stop(facts, hook.event)]
    why = _explain_unread(facts, file)
    if ours:
        alone = "guard/stop" in ours and not facts.guards
        message = f"{', '.join(ours)} in this file is not active in this folder: {why}"
        yield facts.find(
            "not_read",
            message,
            _suggest_fix(facts, file),
            file.path,
            "warning" if alone else "info",
        )
    elif stops and file.reason != "below":  # hooks of others there are nobody's surprise
        message = (
            f"a hook on {stops[0].event} in this file ({stops[0].title}) is not active in this "
            f"folder: {why}"
        )
        yield facts.find("not_read", message, _suggest_fix(facts, file), file.path, "info")


def _is_stop(facts: HostFacts, event: str) -> bool:
    return event in (facts.host.events.get("stop"), facts.host.events.get("subagent-stop"))


def _explain_unread(facts: HostFacts, file: UnreadFile) -> str:
    """Why the host does not read a file."""
    title, config = facts.host.title, facts.config_folder
    variable = facts.host.config.variable
    if file.reason == "local":
        return f"{title} reads {os.path.basename(file.path)} in projects only"
    if file.reason == "variable":
        return f"{variable} points to {config}"
    if file.reason == "folder":
        where = (
            f"{variable} points there"
            if facts.environ.get(variable)
            else "nothing points to this folder"
        )
        return f"{title} reads {config}, and {where}"
    return f"{title} reads project settings only in the folder it is started in"


def _suggest_fix(facts: HostFacts, file: UnreadFile) -> str:
    if file.scope == "user":
        variable = facts.host.config.variable or "HOME"
        return f"Install with the same {variable} that the agent is started with."
    return "Start the agent in that folder, or install at user scope."


def judge_shadowed(facts: HostFacts) -> Iterator[Finding]:
    """Hooks of hookctl that another file hides, and scopes with hooks in two files."""
    for file in facts.files:
        hiding = hidden_by(facts, file)
        if hiding and file.current and file.current.elements:
            yield _report_hidden(facts, file, hiding.source.path, hiding.real_path, "no hook")
        yield from _judge_overlaid(facts, file)
    yield from _judge_two_forms(facts)


def hidden_by(facts: HostFacts, file: FileFacts) -> Layer | None:
    """The file for which the host passes over this one as a whole; None if it does not."""
    if not facts.host.scope_rules.first_only or file.target.scope != "user" or not facts.layers:
        return None
    return None if facts.layers[0].real_path == file.real_path else facts.layers[0]


def _judge_overlaid(facts: HostFacts, file: FileFacts) -> Iterator[Finding]:
    """Events of ours that the host takes from a file beside this one."""
    file_layer = next((layer for layer in file.layers if layer.source.path == file.path), None)
    if file_layer is None or not file_layer.hidden or file.current is None:
        return
    events = {event_of(file.host.shape, hook_entry.path) for hook_entry in file.current.elements}
    hidden = sorted(events & file_layer.hidden)
    if hidden:
        beside = next(layer for layer in file.layers if _is_beside(layer, file_layer))
        yield _report_hidden(
            facts, file, beside.source.path, beside.real_path, f"no hook on {' and '.join(hidden)}"
        )


def _is_beside(layer: Layer, file_layer: Layer) -> bool:
    """Whether a file is another one of the same scope, in another form."""
    source, other = layer.source, file_layer.source
    return source.scope == other.scope and source.host.variant != other.host.variant


def _report_hidden(
    facts: HostFacts, file: FileFacts, path: str, real_path: str, hooks: str
) -> Finding:
    message = f"{facts.host.title} reads {path} instead, so {hooks} of hookctl runs from this file"
    if real_path in _paths_of_guards(facts):
        return file.find("shadowed", f"{message}; the guard is there too", level="info")
    beside = os.path.dirname(path) == os.path.dirname(file.path)
    install, level = f"hookctl install --host {facts.host.name} --scope project", "warning"
    if beside:
        install, level = file.install, "error"
    return file.find("shadowed", message, f"`{install}` puts the guard there.", level=level)


def _paths_of_guards(facts: HostFacts) -> set[str]:
    """The files that have a guard which the host runs."""
    paths = {registration.hook.source.path for registration in facts.guards}
    return {layer.real_path for layer in facts.layers if layer.source.path in paths}


def _judge_two_forms(facts: HostFacts) -> Iterator[Finding]:
    """Hooks in two files of one scope, about which the client warns at every start."""
    forms = [
        variant.variant for where, variant in hosts.variants(facts.host) if where == "has hooks"
    ]
    for layer in facts.layers:
        source = layer.source
        if source.host.variant not in forms or not layer.hooks:
            continue
        for other in [other_layer.source for other_layer in facts.layers]:
            if other.scope != source.scope or other.path == source.path:
                continue
            if other.host.variant not in forms and _has_hooks(other.document.value):
                message = (
                    f"hooks are registered here and in {other.path}; {facts.host.title} warns "
                    "about that at every start"
                )
                fix = (
                    "Move your own hooks into one of the two, then uninstall and install the "
                    "guard again."
                )
                yield facts.find("two_forms", message, fix, source.path)


def _has_hooks(value: object) -> bool:
    return isinstance(value, dict) and bool(value.get("hooks"))


# The guard in several scopes, and agents that read each other's files.


def judge_doubles(facts: HostFacts) -> Iterator[Finding]:
    """The guard in several scopes at once; entries.py judges doubles in one file."""
    guards = list(
        {registration.hook.source.path: registration for registration in facts.guards}.values()
    )
    if len(guards) < 2:
        return
    scopes = ", ".join(registration.hook.source.scope for registration in guards)
    path = guards[0].hook.source.path
    once = facts.host.scope_rules.same_command_once
    commands = {str(registration.hook.fields["command"]) for registration in guards}
    if once and len(commands) == 1:
        message = (
            f"the guard is registered in several scopes ({scopes}) with one command, which the "
            "host runs once"
        )
        yield facts.find(
            "two_scopes", message, "Uninstall it from the scopes where you do not want it.", path
        )
        return
    message = (
        f"the guard is registered in several scopes ({scopes}); they all run, and a stop is "
        "counted once"
    )
    yield facts.find(
        "two_scopes", message, "Uninstall it from the scopes where you do not want it.", path
    )
    if len({registration.digest for registration in guards} - {""}) > 1:
        message = f"the guards of {scopes} scope have different versions; the first answer decides"
        fix = "Install all of them with the same hookctl."
        yield facts.find("two_versions", message, fix, path)


def judge_readers(file: FileFacts) -> Iterator[Finding]:
    """Agents that run the guard of this file as if they were its host."""
    for reader in file.readers:
        reads = f"{reader.title} reads this file too{reader.only}"
        if reader.own_guard:
            message = f"{reads}, and has the guard in {reader.own_guard} as well"
            message += "; both run, and a stop is counted once"
            fix = (
                f"Nothing has to be done; where {reader.title} reads this file, its own guard "
                "may go."
            )
            yield file.find("registered_twice", message, fix)
        elif reader.is_there:
            message = f"{reads}, and runs the hook as well"
            yield file.find(
                "also_read", message, "Do not install the guard for both in one project."
            )
