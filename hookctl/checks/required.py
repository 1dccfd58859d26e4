"""Judges whether a pack that is required is installed in a project, with the content required."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from hookctl.checks import own_hooks
from hookctl.checks.codes import Finding, finding
from hookctl.checks.facts import FileFacts
from hookctl.checks.project import InstalledPack, ProjectFacts, RequiredPack
from hookctl.model import Wanted
from hookctl.packs.model import Pack
from hookctl.settings.targets import GUARD, rules_target


def judge(
    facts: ProjectFacts, required: RequiredPack, wanted: dict[str, list[Wanted]]
) -> Iterator[Finding]:
    """Whether a pack is installed in the project; one given as a file, with its very content.

    `wanted` has what that file wants in each settings file, by path.
    """
    name, pack = required.name, required.pack
    places = [installed for installed in facts.packs if installed.name == name]
    if not places and not _may_be_installed(facts, name):
        message = f"{name} is required, and is not installed in this project"
        fix = f"{_first_install(facts, required)}, then commit what it writes."
        yield finding("pack_required", message, "", facts.project, fix)
    for installed in places if pack is not None else ():
        assert pack is not None
        path = installed.file.target.path
        difference = _find_difference(installed, pack, required.digest, wanted[path])
        difference = difference or _find_other_rules(facts, installed.file, pack)
        if difference:
            message = f"{name} is not installed as in the named file: {difference}"
            command = _install_required(installed.file, required)
            fix = f"`{command} --force`, then commit what it writes."
            host = installed.file.target.host.name
            yield finding("pack_required", message, host, path, fix)


def _may_be_installed(facts: ProjectFacts, name: str) -> bool:
    """Whether a record that is gone or cannot be read may have a pack; a finding says so."""
    if facts.error is not None:
        return True
    for file in facts.files if not facts.has_record else ():
        for hook in file.current.elements if file.current else ():
            if hook.pack == name:
                return True
    return False


def _first_install(facts: ProjectFacts, required: RequiredPack) -> str:
    """The command that installs a required pack for the agents that the project has settings of."""
    recorded = [file.target.host.name for file in facts.files if file.record]
    names = recorded or facts.hosts or ["claude"]
    hosts = " ".join(f"--host {name}" for name in dict.fromkeys(names))
    source = required.source or ("" if required.name == GUARD else "PATH")
    pack = f" {shlex.quote(source)}" if source else ""
    where = "--scope project" + own_hooks.project_option(facts.project, facts.start_project)
    command = f"`hookctl install{pack} {hosts} {where}`"
    return f"{command}, PATH being the pack's file" if source == "PATH" else command


def _install_required(file: FileFacts, required: RequiredPack) -> str:
    source = required.source or ("" if required.name == GUARD else "PATH")
    return own_hooks.install_command(file.target, required.name, source, file.cwd_project)


def _find_difference(
    installed: InstalledPack, pack: Pack, digest: str, wanted: list[Wanted]
) -> str:
    """What differs between a pack in the project and the pack's own file; '' if nothing does."""
    version = installed.record.version
    if version != pack.version:
        return f"its version is {version} instead of {pack.version}"
    if digest != installed.record.digest:
        return "its files differ"
    claims = {}
    record = installed.file.record
    for entry in record.entries if record else ():
        if pack.name in entry.owners:
            claims[entry.path, entry.id] = entry.owners[pack.name].value
    for want in wanted:
        if claims.get((want.path, want.id)) != want.value:
            return f"{want.id or want.path[-1]} differs"
        if want.kind == "element" and _has_other_command(installed.file, want):
            return f"the command of {want.id} differs"
    return ""


def _find_other_rules(facts: ProjectFacts, file: FileFacts, pack: Pack) -> str:
    """What differs in the block of rules that the pack brings for the agent; '' if nothing does."""
    target = rules_target(file.target)
    if not pack.rules or target is None:
        return ""
    for other in facts.files:
        if other.target.path == target.path and other.document is not None:
            text = other.document.get((pack.name,))
            return "" if text == pack.rules else "the rules for the agent differ"
    return "the rules for the agent are not there"


def _has_other_command(file: FileFacts, want: Wanted) -> bool:
    """Whether a hook stands in the settings with another command than the pack's file has."""
    for hook in file.current.elements if file.current else ():
        if hook.id == want.id and hook.fields.get("command") != want.value["command"]:
            return True
    return False
