"""Judges what a project declares, from its own files: is it there, complete and unchanged?"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hookctl import engine
from hookctl.checks import activation, entries, hook, limits, records, settings
from hookctl.checks.codes import UNRECORDED, Finding, describe_error, finding, from_error
from hookctl.checks.facts import FileFacts
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.model import IgnoreRule, PackRecord, Path, Record
from hookctl.packs import guard
from hookctl.packs.choices import Settings
from hookctl.packs.model import MANIFEST, Pack
from hookctl.packs.pack import committed_files
from hookctl.planner import fixes
from hookctl.settings.targets import GUARD, OWN, rules_target
from hookctl.survey.model import Workplace
from hookctl.system.files import content_digest

LEDGER = "ledger.json"
ANY = "*"  # stands for each file of a folder

# The judges of a settings file that need none of the user's files.
_FILE_JUDGES = (
    settings.judge_reading,
    settings.judge_content,
    entries.judge,
    activation.judge_switches,
    limits.judge_environment,
    hook.judge_programs,
    hook.judge_mode,
    hook.judge_configuration,
    hook.judge_self_test,
)
# Findings that are no errors in doctor, and their level in a shared project.
_LEVELS = {
    "config_changed": "warning",
    "config_invalid": "warning",
    "entry_edited": "info",
    "hook_environment": "info",
    "hook_newer": "error",
    "hook_old": "error",
    "self_test_failed": "warning",  # perhaps the team wants just that
}
_OF_REQUIRED_GUARD = {"guard_off": "error", "self_test_failed": "error"}
_MOST_NAMED = 5  # files that a finding names


class InstalledPack(NamedTuple):
    """A pack of the record at one settings file, and its current files."""

    name: str
    file: FileFacts
    record: PackRecord
    pack: Pack | HookctlError | None = None  # as its manifest beside its files has it
    source: Pack | HookctlError | None = None  # as it is where it came from, if in the project
    host_table: dict[str, Any] = {}  # noqa: RUF012 - the guard's host table as hookctl writes it


class RequiredPack(NamedTuple):
    """A pack that must be installed in the project; with `pack`, with this very content."""

    name: str
    pack: Pack | None = None
    source: str = ""  # its file, as it is typed


class ProjectFacts(NamedTuple):
    """Everything that hookctl put into a project, or that decides whether it runs."""

    project: str
    workplace: Workplace
    files: tuple[FileFacts, ...] = ()
    packs: tuple[InstalledPack, ...] = ()
    error: HookctlError | None = None  # why its record cannot be read
    hosts: tuple[str, ...] = ()  # those with settings there
    programs: tuple[str, ...] = ()  # every file in hookctl's folder of programs
    has_record: bool = True
    recorded: Mapping[str, Record] = {}  # what that says itself, by the path of the settings file
    known_programs: frozenset[str] = frozenset()  # those that hookctl wrote, or should have
    ignored: tuple[IgnoreRule, ...] = ()  # what git ignores of all that
    run_files: tuple[str, ...] = ()  # of the work in hand, that git tracks or would add


def judge(facts: ProjectFacts, required: tuple[str, ...]) -> Iterator[Finding]:
    """Every finding about a project in which these packs are required."""
    if facts.error is not None:
        yield from_error(facts.error)
    elif not facts.has_record and (facts.programs or facts.files):
        yield _report_no_record(facts)
    for file in facts.files:
        yield from _judge_file(file, facts, required)
    if facts.error is None:
        yield from _judge_programs(facts)
    for rule in facts.ignored if facts.files else ():
        level, names = "error" if required else "warning", " and ".join(rule.names)
        yield finding("not_committed", "", rule.path, level, rule=rule, names=names)
    yield from _judge_run_files(facts)


def _report_no_record(facts: ProjectFacts) -> Finding:
    """The only finding about a missing record: all others follow from it."""
    checkout = fixes.checkout_command(facts.project, OWN, facts.workplace.project)
    where = fixes.project_option(facts.project, facts.workplace.project)
    named = dict.fromkeys(file.host.name for file in facts.files) or ["NAME"]
    hosts = "".join(f" --host {name}" for name in named)
    install = f"hookctl install{hosts} --scope project{where}"
    path = os.path.join(facts.project, OWN, LEDGER)
    fix = f"`{checkout}` brings it back; else `{install}` records the guard again."
    return finding("ledger_missing", path=path, id="what hookctl wrote", fix=fix)


def _judge_file(
    file: FileFacts, facts: ProjectFacts, required: tuple[str, ...]
) -> Iterator[Finding]:
    """The findings of doctor's judges on a settings file that matter in every clone."""
    levels = {**_LEVELS, **(_OF_REQUIRED_GUARD if GUARD in required else {})}
    if facts.error is not None:
        yield from settings.judge_reading(file)
    elif isinstance(file.document, RulesDocument):
        yield from _judge_rules(facts, file, file.document)
    else:
        for judge_file in _FILE_JUDGES:
            for found in judge_file(file):
                level = "error" if found.level == "error" else levels.get(found.code)
                if level and (facts.has_record or found.code not in UNRECORDED):
                    yield found._replace(level=level)


def _judge_run_files(facts: ProjectFacts) -> Iterator[Finding]:
    """Whether a commit brings one person's work in hand, or could, to everyone who clones it."""
    own = os.path.join(facts.project, OWN, "run", "")
    for path in facts.run_files:
        name = os.path.relpath(path, facts.project)
        fix = f"`git rm -f --ignore-unmatch {shlex.quote(name)}`, then commit."
        if os.path.basename(path) != ANY:
            yield finding("run_committed", path=path, name=name, fix=fix)
        elif path.startswith(own):
            path = os.path.join(facts.project, OWN, ".gitignore")
            yield finding("run_committed", path=path, name=name, fix="Add the line `run/` to it.")


def _judge_rules(
    facts: ProjectFacts, file: FileFacts, document: RulesDocument
) -> Iterator[Finding]:
    """Whether the blocks of rules in a file with instructions are those of the record's packs."""
    installed = {installed.name for installed in facts.packs}
    known = {str(entry.path[0]) for entry in file.entries} & installed
    for pack in document.packs:
        if pack not in known:
            fix = "`hookctl install` with its pack takes it back; else remove it."
            yield file.find("ledger_missing", id=f"the block of rules of {pack}", fix=fix)
    if file.record is not None:
        yield from records.judge_blocks(file.path, file.record, document)


def _judge_programs(facts: ProjectFacts) -> Iterator[Finding]:
    """Whether every program is this hookctl's own, or one that the record has."""
    own = set(facts.known_programs)
    for installed in facts.packs:
        folder = installed.record.folder
        own |= {os.path.join(folder, name) for name in installed.record.files}
    for installed in facts.packs:
        if installed.name == GUARD:
            yield from _judge_values(installed)
        else:
            yield from _judge_pack(facts, installed)
    yield from _judge_strays(facts, own)


def _judge_strays(facts: ProjectFacts, own: set[str]) -> Iterator[Finding]:
    """The files that no record has, each folder once."""
    known = tuple(_find_lost_packs(facts))
    strays: dict[str, list[str]] = {}
    for path in facts.programs:
        if path not in own and not path.startswith(known):
            strays.setdefault(os.path.dirname(path), []).append(path)
    for folder, paths in strays.items():
        names = ", ".join(map(os.path.basename, paths[:_MOST_NAMED]))
        path = folder if len(paths) > 1 else paths[0]
        yield finding("stray_file", path=path, count=len(paths), names=names)


def _find_lost_packs(facts: ProjectFacts) -> Iterator[str]:
    """The folders of packs that have hooks in the settings but no record."""
    known = {installed.name for installed in facts.packs}
    for file in facts.files:
        for pack in {element.pack for element in file.elements}:
            if pack not in known and pack != GUARD:
                yield os.path.join(facts.project, OWN, "packs", pack, "")


def _judge_values(installed: InstalledPack) -> Iterator[Finding]:
    """Values in config.json that differ from the record, and a foreign host table."""
    file, config = installed.file, installed.file.config
    if config is None or config.error is not None or not config.is_there:
        return
    values, settings = config.value, file.settings or Settings()
    written = installed.record.settings.get("config")
    written = written or guard.configuration(settings, "", file.host)
    changed, again = [], file.again(GUARD)
    for name in sorted({*values, *written} - {guard.HOSTS, "$schema"}):
        is_reported = name == "mode" and file.has_other_mode  # by hook.py
        if not is_reported and not engine.same(values.get(name), written.get(name)):
            changed.append(f"{name} is {json.dumps(values.get(name))}")
    if changed:
        differs = ", ".join(changed)
        yield file.find("config_changed", config.path, "info", changed=differs, again=again)
    if file.fault is None and not engine.same(values.get(guard.HOSTS), installed.host_table):
        differs = "its table of hosts"
        yield file.find("config_changed", config.path, "error", changed=differs, again=again)


def _judge_pack(facts: ProjectFacts, installed: InstalledPack) -> Iterator[Finding]:
    """Whether a pack's manifest and files are those of the record, and of where they came from.

    Its hooks in the settings are judged with all others, by what the manifest wants there.
    """
    file, name, record, pack = installed.file, installed.name, installed.record, installed.pack
    fix = f"Look at it; {file.again(name)}"
    values = {"pack": name, "where": "its install wrote it", "fix": fix}
    if isinstance(pack, HookctlError):
        found = from_error(pack, file.host.name)
        yield found._replace(code="pack_changed", fix=fix)
        return
    if pack is None:
        upgrade = fixes.upgrade_command(file.target, facts.workplace.project)
        path = os.path.join(record.folder, MANIFEST)
        yield file.find("hook_missing", path, whose=name, command=upgrade)
        return
    what = _find_other_record(facts, installed, pack)
    if not _is_recorded(pack, record):
        found = committed_files(pack).items()
        plain = {part: data.replace(b"\r\n", b"\n") for part, data in found}
        what = "its files"
        if content_digest(b"", plain) == record.digest:
            what = "its line endings (git's autocrlf?)"
            line = "Add the line `.hookctl/** -text` to .gitattributes; then"
            values["fix"] = f"{line} {file.again(name)}"
        yield file.find("pack_changed", record.folder, what=what, **values)
    elif what:
        path = os.path.join(facts.project, OWN, LEDGER)
        yield file.find("pack_changed", path, what=f"{what} in the record", **values)
    yield from _judge_source(installed, pack)


def _find_other_record(facts: ProjectFacts, installed: InstalledPack, pack: Pack) -> str:
    """What the record says otherwise of a pack than an install of its manifest; '' if nothing."""
    name, file = installed.name, installed.file
    assert file.record is not None
    said, wanted = _what_is_said(facts.recorded[file.path], name), _what_is_said(file.record, name)
    for key in {**said, **wanted}:
        # A variable that the operator had before the pack is not on record.
        is_theirs = key not in said and not isinstance(key, str)
        if not engine.same(said.get(key), wanted.get(key)) and not is_theirs:
            return str(key if isinstance(key, str) else key[-1])
    target = rules_target(file.target)
    if not pack.rules or target is None or target.path not in facts.recorded:
        return "rules" if pack.rules and target else ""
    rules = _what_is_said(facts.recorded[target.path], name)
    return "" if rules == {(name,): [(name,), pack.rules]} else "rules"


def _what_is_said(record: Record, pack: str) -> dict[str | Path, Any]:
    """What a record says of a pack: all but what its content and its source are."""
    said: dict[str | Path, Any] = {}
    if pack in record.packs:
        known = record.packs[pack]
        said = {"version": known.version, "settings": known.settings, "files": sorted(known.files)}
    for entry in record.entries:
        if pack in entry.owners and entry.kind != "container":
            said[entry.id or entry.path] = [entry.path, entry.owners[pack].value]
    return said


def _judge_source(installed: InstalledPack, pack: Pack) -> Iterator[Finding]:
    """Whether a pack is installed as it is where it came from, if that is in the project."""
    file, record, source = installed.file, installed.record, installed.source
    what = ""
    if isinstance(source, HookctlError):
        what = describe_error(source)
    elif source is not None and not _is_recorded(source, record):
        what = _find_difference(pack, source)  # in nothing: both were changed, the record was not
    if what:
        fix = f"Look at both; `{file.install_of(installed.name)}`, then commit what that writes."
        values = {"pack": installed.name, "where": "in its own file", "what": what, "fix": fix}
        yield file.find("pack_changed", record.source, **values)


def _is_recorded(pack: Pack, record: PackRecord) -> bool:
    return content_digest(b"", committed_files(pack)) == record.digest


def _find_difference(pack: Pack, other: Pack) -> str:
    """The files in which two contents of a pack differ, in words; '' if in none."""
    one, two = committed_files(pack), committed_files(other)
    names = [name for name in sorted({**one, **two}) if one.get(name) != two.get(name)]
    return " and ".join(names)


# Packs that must be installed.


def judge_required(facts: ProjectFacts, required: RequiredPack) -> Iterator[Finding]:
    """Whether a pack is installed in the project; one given as a file, with the same content."""
    name, pack = required.name, required.pack
    places = [installed for installed in facts.packs if installed.name == name]
    if not places and not _may_be_installed(facts, name):
        install = _first_install(facts, required)
        yield finding("pack_required", path=facts.project, pack=name, differs="", install=install)
    for installed in places if pack is not None else ():
        assert pack is not None
        file, known = installed.file, installed.pack
        difference = _find_difference(known, pack) if isinstance(known, Pack) else ""
        difference = difference or _find_other_rules(facts, file, pack)
        difference = difference or _find_edited_hooks(file, name)
        if difference:
            source = _name_source(required)
            install = fixes.install_command(file.target, name, source, file.workplace.project)
            differs = f" as in the named file: {difference}"
            install = f"`{install} --force`"
            yield file.find("pack_required", pack=name, differs=differs, install=install)


def _find_edited_hooks(file: FileFacts, pack: str) -> str:
    """The hooks of a pack whose matcher or limit somebody set by hand, in words; '' if none.

    What else was edited has a finding of its own.
    """
    names = []
    for entry in file.entries:
        hooks = file.current.elements.by_id.get(entry.id) if file.current else None
        if hooks and entry.id.startswith(f"{pack}/"):
            changed = entries.list_changed_fields(file.current, entry)
            if changed and entries.is_choice(file, changed):
                names.append(f"the hook {entry.id}")
    return " and ".join(names)


def _may_be_installed(facts: ProjectFacts, name: str) -> bool:
    """Whether a missing or unreadable record, which has its own finding, may have a pack."""
    if facts.error is not None or facts.has_record:
        return facts.error is not None
    return any(element.pack == name for file in facts.files for element in file.elements)


def _name_source(required: RequiredPack) -> str:
    """The pack's file as it is typed in a command."""
    return required.source or ("" if required.name == GUARD else "PATH")


def _first_install(facts: ProjectFacts, required: RequiredPack) -> str:
    """The command that installs a required pack for the agents that the project has settings of."""
    recorded = [file.target.host.name for file in facts.files if file.record]
    names = recorded or facts.hosts or ["claude"]
    hosts = " ".join(f"--host {name}" for name in dict.fromkeys(names))
    source = _name_source(required)
    pack = f" {shlex.quote(source)}" if source else ""
    where = "--scope project" + fixes.project_option(facts.project, facts.workplace.project)
    command = f"`hookctl install{pack} {hosts} {where}`"
    return f"{command}, PATH being the pack's file" if source == "PATH" else command


def _find_other_rules(facts: ProjectFacts, file: FileFacts, pack: Pack) -> str:
    """What an agent reads instead of a pack's block of rules, in words; '' if nothing."""
    target = rules_target(file.target)
    for other in facts.files if pack.rules and target else ():
        is_there = target and other.path == target.path and other.document is not None
        if is_there and other.document.get((pack.name,)) != pack.rules:
            return "the rules for the agent"
    return ""
