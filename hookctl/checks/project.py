"""Judges what a project declares, from its own files: is it there, whole and its own?"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from typing import Any

from hookctl import __version__, engine
from hookctl.checks import own_hooks
from hookctl.checks.codes import Finding, finding
from hookctl.checks.rules import judge_blocks
from hookctl.checks.trial import Trial
from hookctl.documents import Document
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.hosts import loading, reading
from hookctl.ledger.digests import content_digest, with_unix_endings
from hookctl.model import WRAP, Current, Entry, HookEntry, IgnoreRule, PackRecord, Record
from hookctl.packs import guard
from hookctl.packs.choices import settings_from
from hookctl.packs.model import MISSING, NEWER, UNKNOWN, Origin, Pack
from hookctl.settings import effective
from hookctl.settings.precedence import Source
from hookctl.settings.targets import GUARD, OWN, Target
from hookctl.values import NamedTuple

CONFIG = "config.json"
LEDGER = "ledger.json"
ANY = "*"  # stands for each file of a folder
_OWN_FILES = (CONFIG, "hook.py", "wrap.py")


class ProjectFile(NamedTuple):
    """A settings file in the project, and what the project's record has of it."""

    target: Target
    record: Record | None
    document: Document | None = None  # None where it cannot be read
    current: Current | None = None
    error: HookctlError | None = None
    is_there: bool = True
    start: str = ""  # the folder that the fixes are typed in
    start_project: str = ""

    def install_of(self, pack: str) -> str:
        """The command that installs a pack again, from the source that the record names."""
        pack_record = self.record.packs.get(pack) if self.record else None
        source = pack_record.source if pack_record else ""
        if source:
            source = own_hooks.nearby(source, self.start)
        elif pack != GUARD:
            source = "PATH"
        return own_hooks.install_command(self.target, pack, source, self.start_project)

    def again(self, pack: str) -> str:
        """The same as a sentence, with --force."""
        title = "the guard" if pack == GUARD else pack
        command = f"`{self.install_of(pack)} --force` puts {title} back"
        return f"{command}, with the path of its file." if " PATH " in command else f"{command}."


class InstalledPack(NamedTuple):
    """A pack of the record at one settings file, and its files as they are."""

    name: str
    file: ProjectFile
    record: PackRecord
    error: HookctlError | None = None  # why one of them cannot be read
    contents: dict[str, bytes | None] = {}  # noqa: RUF012 - of all but the guard; None: not there
    origin: Origin | None = None  # where the guard's programs come from; None: nothing runs them
    package: str = ""  # the folder of the guard's modules
    config: Any = None  # of the guard
    outside: tuple[str, ...] = ()  # what it names outside the project, in words
    config_error: HookctlError | None = None
    host_table: dict[str, Any] = {}  # noqa: RUF012 - what hookctl writes there of hosts
    trial: Trial | None = None  # of the guard with that configuration, if it was asked


class RequiredPack(NamedTuple):
    """A pack that must be installed in the project; with `pack`, with this very content."""

    name: str
    pack: Pack | None = None
    digest: str = ""  # of its files
    source: str = ""  # its file, as it is typed


class ProjectFacts(NamedTuple):
    """Everything in a project that hookctl put there, or that decides whether it runs."""

    project: str
    files: tuple[ProjectFile, ...] = ()
    packs: tuple[InstalledPack, ...] = ()
    error: HookctlError | None = None  # why its record cannot be read
    sources: dict[str, tuple[Source, ...]] = {}  # noqa: RUF012 - by host, the winning ones first
    programs: tuple[str, ...] = ()  # every file in hookctl's folder of programs
    pythons: dict[str, str] = {}  # noqa: RUF012 - the first python3 on each PATH of the settings
    has_record: bool = True
    lost: tuple[InstalledPack, ...] = ()  # guards with programs, and without a record
    start_project: str = ""  # the one that the fixes are typed in
    has_repository: bool = True
    ignored: tuple[IgnoreRule, ...] = ()  # what git ignores of all that
    run_files: tuple[str, ...] = ()  # of the work in hand, that git tracks or would take


def judge(facts: ProjectFacts) -> Iterator[Finding]:
    """Every finding about a project, whatever is required of it."""
    if facts.error is not None:
        yield _from_error("ledger_unreadable", facts.error, "")
        for file in facts.files:
            if file.error is not None:
                yield from _judge_file(file)
        return
    if not facts.has_record and (facts.programs or facts.files):
        yield _report_lost(facts)
    for file in facts.files:
        yield from _judge_file(file)
        if facts.has_record:
            yield from _judge_unrecorded(file)
    yield from _judge_programs(facts)
    for name in sorted({file.target.host.name for file in facts.files if file.record}):
        yield from _judge_switches(facts, name)


def judge_sharing(facts: ProjectFacts, *, is_required: bool) -> Iterator[Finding]:
    """Whether git brings what the project has to everyone who clones it."""
    if not facts.files:
        return
    if not facts.has_repository:
        message = "this is no git repository, so no clone brings the hooks to others"
        yield finding("no_repository", message, "", facts.project)
    for rule in facts.ignored:
        message, fix = own_hooks.describe_uncommitted(rule)
        level = "error" if is_required else "warning"
        yield finding("not_committed", message, "", rule.path, fix, level)


def judge_run_files(facts: ProjectFacts) -> Iterator[Finding]:
    """Whether a commit brings somebody's work in hand, or could, to everyone who clones it."""
    own = os.path.join(facts.project, OWN, "run", "")
    for path in facts.run_files:
        name = os.path.relpath(path, facts.project)
        if os.path.basename(path) != ANY:
            message = f"{name} is in git, or would be: every clone then has this work in hand"
            fix = f"`git rm -f --ignore-unmatch {shlex.quote(name)}`, then commit."
            yield finding("run_committed", message, "", path, fix)
        elif path.startswith(own):
            message = "git does not ignore .hookctl/run, the work in hand of one checkout"
            path = os.path.join(facts.project, OWN, ".gitignore")
            yield finding("run_committed", message, "", path, "Add the line `run/` to it.")


def judge_trials(facts: ProjectFacts, *, is_required: bool) -> Iterator[Finding]:
    """Whether each guard does what its configuration promises; the variables have their own."""
    for installed in facts.packs:
        trial, host = installed.trial, installed.file.target.host.name
        if trial is None or trial.is_kept:
            continue
        path = os.path.join(installed.record.folder, CONFIG)
        level = "error" if is_required else "warning"  # perhaps the team wants just that
        for name in trial.settings:
            message = own_hooks.describe_cause(trial, name, installed.config[name])
            fix = f"Remove it there, or `{installed.file.install_of(GUARD)} --reset`."
            yield finding("self_test_failed", message, host, path, fix, level)
        if not trial.settings and not trial.variables:
            answer = " ".join(trial.answer.text.split()) or "nothing"
            message = f"the guard does not work: in a self-test it answered {answer}"
            yield finding("self_test_failed", message, host, path, installed.file.again(GUARD))


def _report_lost(facts: ProjectFacts) -> Finding:
    """The one thing to say where the record is gone: all the rest follows from that."""
    message = "there is no record of what hookctl wrote here: was it deleted, or not committed?"
    back = own_hooks.checkout_command(facts.project, OWN, facts.start_project)
    repair = own_hooks.repair_command(facts.project, facts.start_project)
    fix = f"`{back}` brings it back; else `{repair}` records the guard again."
    return finding("ledger_missing", message, "", os.path.join(facts.project, OWN, LEDGER), fix)


def _from_error(code: str, error: HookctlError, host: str) -> Finding:
    where = f"line {error.line}, column {error.column}: " if error.line else ""
    return finding(code, where + error.message, host, error.path, error.hint, "error")


def _judge_file(file: ProjectFile) -> Iterator[Finding]:
    """Whether the entries of a settings file are those of the record."""
    host, path = file.target.host.name, file.target.path
    if file.error is not None:
        yield _from_error("unparsable", file.error, host)._replace(path=path)
        return
    assert file.current is not None
    if isinstance(file.document, RulesDocument):
        yield from _judge_rules(file, file.document)
        return
    yield from _judge_loading(file)
    entries = file.record.entries if file.record else ()
    if not file.is_there and entries:
        yield _report_absent(file)
        return
    yield from _judge_hooks(file, file.current.elements)
    for entry in entries:
        if entry.kind != "container":
            yield from _judge_entry(file, entry, file.current)


def _report_absent(file: ProjectFile) -> Finding:
    """A settings file that the record has, and the project has not."""
    path, project = file.target.path, file.target.project
    name = os.path.relpath(path, project)
    back = own_hooks.checkout_command(project, name, file.start_project)
    packs = file.record.packs if file.record else {}
    again = [
        file.again(pack) for pack, known in packs.items() if pack != GUARD and not known.source
    ]
    if len(again) < len(packs):
        again.insert(0, f"`{own_hooks.upgrade_command(file.target, file.start_project)}`.")
    fix = f"`{back}` brings it back; else {' '.join(again)}"
    message = "this file is not there: is it committed?"
    return finding("entry_missing", message, file.target.host.name, path, fix, "error")


def _judge_unrecorded(file: ProjectFile) -> Iterator[Finding]:
    """Hooks with hookctl's head that the project's record does not know."""
    recorded = {entry.id for entry in file.record.entries} if file.record else set()
    for hook in file.current.elements if file.current else ():
        if hook.id not in recorded:
            message = f"{hook.id} is registered here, but the project's record does not know it"
            fix = f"Look at its command, then remove it; or {_lower(file.again(hook.pack))}"
            host, path = file.target.host.name, file.target.path
            yield finding("ledger_missing", message, host, path, fix)


def _judge_hooks(file: ProjectFile, hooks: tuple[HookEntry, ...]) -> Iterator[Finding]:
    """Whether each hook is registered once and works, and the guard's have commands of hookctl's.

    Nothing here asks the record: it comes with the same commit.
    """
    host, path = file.target.host, file.target.path
    ids = [hook.id for hook in hooks]
    for id in sorted(set(ids)):
        if ids.count(id) > 1:
            message = f"{id} is registered {ids.count(id)} times, so it runs that often"
            yield finding("entry_doubled", message, host.name, path, "Remove all but one.")
    for hook in hooks:
        forgery = own_hooks.find_forgery(file.target, hook)
        defect = _find_defect(file, hook)
        fix = f"Look at it; {file.again(hook.pack)}"
        if forgery and not _is_edited(file, hook.id):
            yield finding("command_unknown", forgery, host.name, path, fix)
        if defect:
            message = f"{hook.id} was edited so that it does not work: {defect}"
            yield finding("entry_disarmed", message, host.name, path, fix, "error")


def _find_defect(file: ProjectFile, hook: HookEntry) -> str:
    if hook.id.startswith(WRAP):  # all of it but the command is another tool's
        return ""
    return own_hooks.find_defect(file.target.host, hook)


def _is_edited(file: ProjectFile, id: str) -> bool:
    """Whether the record has another command for a hook than the settings."""
    assert file.current is not None
    commands = [hook.fields.get("command") for hook in file.current.elements.with_id(id)]
    for entry in file.record.entries if file.record else ():
        if entry.id == id and entry.kind == "element":
            return entry.written.get("command") not in commands
    return False


def _judge_rules(file: ProjectFile, document: RulesDocument) -> Iterator[Finding]:
    """Whether the blocks of rules in a file with instructions are those of the record."""
    path, host = file.target.path, file.target.host.name
    known = {str(entry.path[0]) for entry in file.record.entries} if file.record else set()
    for pack in document.packs:
        if pack not in known:
            message = f"the rules of {pack} are in this file, and the project's record has none"
            fix = "Look at them, then remove them, or `hookctl install` the pack."
            yield finding("ledger_missing", message, host, path, fix)
    if file.record is not None:
        yield from judge_blocks(path, file.record, document)


def _judge_loading(file: ProjectFile) -> Iterator[Finding]:
    """What makes the host load nothing of the file, so no hook of it runs."""
    host = file.target.host
    for fault in loading.faults(host, file.document) if file.document else ():
        if fault.is_whole:
            message = f"{fault.message}; {host.title} {reading.cost(host)}"
            fix = fault.fix or f"Fix {fault.subject}, or remove it."
            yield finding(fault.code, message, host.name, file.target.path, fix, "error")


def _judge_entry(file: ProjectFile, entry: Entry, current: Current) -> Iterator[Finding]:
    host, path = file.target.host.name, file.target.path
    name = entry.id or ".".join(map(str, entry.path))
    state = engine.state(entry, current, entry.path, entry.id)
    fix = file.again(next(iter(entry.owners), GUARD))
    if state == "missing":
        message = f"{name} is on record, and is not in the settings"
        yield finding("entry_missing", message, host, path, fix, "error")
    elif state == "overridden" and entry.kind == "element" and _is_edited(file, entry.id):
        message = f"the command of {name} is not the one on record"
        yield finding("entry_edited", message, host, path, f"Look at it; {fix}", "error")
    elif state == "overridden" and not _has_defect(file, entry.id):
        message = f"{name} was changed since hookctl wrote it; the change stays"
        yield finding("entry_edited", message, host, path, "", "info")


def _has_defect(file: ProjectFile, id: str) -> bool:
    hooks = file.current.elements.with_id(id) if file.current else []
    return any(_find_defect(file, hook) for hook in hooks)


def _judge_programs(facts: ProjectFacts) -> Iterator[Finding]:
    """Whether every program is one that hookctl released, or that the record has."""
    own: set[str] = set()
    for installed in facts.packs:
        own |= _files_of(installed, facts.programs)
        if installed.name == GUARD:
            yield from _judge_guard(installed)
        else:
            yield from _judge_pack(installed)
    for guard_files in facts.lost:
        own |= _files_of(guard_files, facts.programs)
        yield from _judge_origin(guard_files)
    lost = tuple(_find_lost_packs(facts))
    for path in facts.programs:
        if path not in own and not path.startswith(lost):
            message = "no record names this file in hookctl's folder of programs"
            fix = (
                "Look at it. Perhaps a colleague's pack lost its record in a merge: then install "
                "that again; else remove the file."
            )
            yield finding("stray_file", message, "", path, fix)


def _find_lost_packs(facts: ProjectFacts) -> Iterator[str]:
    """The folders of packs with hooks in the settings and no record: their hooks are named."""
    known = {installed.name for installed in facts.packs}
    for file in facts.files:
        for hook in file.current.elements if file.current else ():
            if hook.pack not in known and hook.pack != GUARD:
                yield os.path.join(facts.project, OWN, "packs", hook.pack, "")


def _files_of(installed: InstalledPack, programs: tuple[str, ...]) -> set[str]:
    """The paths of a pack's files; those of the guard's package are judged by their digest."""
    folder = installed.record.folder
    paths = {os.path.join(folder, name) for name in installed.record.files}
    if installed.name == GUARD:
        paths |= {os.path.join(folder, name) for name in _OWN_FILES}
    if installed.package:
        paths |= {path for path in programs if _is_module(path, f"{installed.package}/")}
    return paths


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _is_module(path: str, top: str) -> bool:
    rest = path.removeprefix(top)
    return path.startswith(top) and "/" not in rest and rest.endswith(".py")


def _judge_guard(installed: InstalledPack) -> Iterator[Finding]:
    yield from _judge_events(installed)
    if installed.origin is not None:
        yield from _judge_origin(installed)
        yield from _judge_configuration(installed)


def _judge_origin(installed: InstalledPack) -> Iterator[Finding]:
    """Whether the guard's programs are ones that hookctl released."""
    origin, host = installed.origin, installed.file.target.host.name
    assert origin is not None
    hook = os.path.join(installed.record.folder, "hook.py")
    if origin.kind == MISSING:
        message = "the guard's program is not there: is .hookctl committed with the settings?"
        yield finding("hook_missing", message, host, hook, installed.file.again(GUARD))
    elif origin.kind == UNKNOWN:
        message = own_hooks.describe_unknown(origin)
        fix = own_hooks.fix_unknown(origin, installed.file.again(GUARD), shared=True)
        yield finding("hook_unknown", message, host, origin.path, fix)
    elif origin.kind == NEWER:
        message = f"the hook is of hookctl {origin.version}, which this one cannot check"
        fix = f"Upgrade hookctl to {origin.version} or later."
        yield finding("hook_newer", message, host, hook, fix, "error")


def _judge_events(installed: InstalledPack) -> Iterator[Finding]:
    """Whether the record has a hook for each event that the guard's own settings need."""
    file, host = installed.file, installed.file.target.host
    for id in own_hooks.list_left_out(file.record, host) if file.record else ():
        message = own_hooks.describe_left_out(id)
        fix = file.again(GUARD)
        yield finding("entry_missing", message, host.name, file.target.path, fix, "error")


def _judge_configuration(installed: InstalledPack) -> Iterator[Finding]:
    """Whether the guard's config.json can be read, and leaves the guard on."""
    host, config = installed.file.target.host.name, installed.config
    path = os.path.join(installed.record.folder, CONFIG)
    if installed.config_error is not None:
        unreadable = _from_error("config_unreadable", installed.config_error, host)
        fix = f"{unreadable.fix} Or {installed.file.again(GUARD)}".removeprefix(" Or ")
        yield unreadable._replace(path=path, fix=fix)
        return
    if config is None:
        message = "the guard's configuration is not there: is it committed?"
        yield finding("config_missing", message, host, path, installed.file.again(GUARD), "error")
        return
    values = config if isinstance(config, dict) else {}
    if values.get("mode") == "off" and settings_from(installed.record.settings).mode != "off":
        message = "the configuration switches the guard off, and the record does not"
        fix = f"Look at it; {installed.file.again(GUARD)}"
        yield finding("guard_off", message, host, path, fix, "error")
        return
    yield from _judge_values(installed, values, path)


def _judge_values(installed: InstalledPack, values: dict[str, Any], path: str) -> Iterator[Finding]:
    """Values in config.json that are not those of the record, and facts that are not hookctl's."""
    host = installed.file.target.host
    recorded = installed.record.settings
    written = recorded.get("config") or guard.configuration(settings_from(recorded), "", host)
    changed = []
    for name in sorted({*values, *written} - {guard.HOSTS, "$schema"}):
        if not engine.same(values.get(name), written.get(name)):
            changed.append(f"{name} is {json.dumps(values.get(name))}")
    if changed:
        message = f"the configuration differs from the record: {', '.join(changed)}"
        yield finding("config_changed", message, host.name, path)
    for message in installed.outside:
        yield finding("config_invalid", message, host.name, path, "Remove it there.")
    origin = installed.origin
    is_of_this_version = origin is not None and origin.version == __version__
    if is_of_this_version and not engine.same(values.get(guard.HOSTS), installed.host_table):
        message = "what the configuration says of hosts is not what hookctl writes there"
        fix = f"Look at it; {installed.file.again(GUARD)}"
        yield finding("config_changed", message, host.name, path, fix, "error")


def _judge_pack(installed: InstalledPack) -> Iterator[Finding]:
    """Whether a pack's files are there, and together those that the install wrote."""
    host, name = installed.file.target.host.name, installed.name
    fix = f"Look at it; {installed.file.again(name)}"
    if installed.error is not None:
        yield _from_error("pack_changed", installed.error, host)
        return
    contents: dict[str, bytes] = {}
    for file_name, data in installed.contents.items():
        path = os.path.join(installed.record.folder, file_name)
        if data is None:
            yield finding("pack_changed", f"a file of {name} is not there", host, path, fix)
            return
        contents[file_name] = data
    if content_digest(b"", contents) == installed.record.digest:
        return
    message = f"the files of {name} are not those that its install wrote"
    plain = {file_name: with_unix_endings(data) for file_name, data in contents.items()}
    if content_digest(b"", plain) == installed.record.digest:
        message = f"the files of {name} have other line endings than written (git's autocrlf?)"
        fix = f"{own_hooks.KEEP_ENDINGS}; then {installed.file.again(name)}"
    yield finding("pack_changed", message, host, installed.record.folder, fix)


def _judge_switches(facts: ProjectFacts, name: str) -> Iterator[Finding]:
    """Whether something in the project keeps a host from running the hooks."""
    sources = facts.sources.get(name, ())
    switch = effective.disabling(sources)
    if switch is not None:
        message = f"{switch.said}, so no hook runs"
        yield finding("hooks_disabled", message, name, switch.source.path, "Remove it.", "error")
    for source, hook in effective.disabling_ours(sources):
        message = f"{hook.id} is switched off by its name"
        yield finding("hook_disabled", message, name, source.path, "Remove it from the list.")
    yield from _judge_variables(facts, name, sources)


def _judge_variables(
    facts: ProjectFacts, name: str, sources: tuple[Source, ...]
) -> Iterator[Finding]:
    """The variables that the project's settings give to the hook."""
    trials = [
        installed.trial
        for installed in facts.packs
        if installed.trial and installed.file.target.host.name == name
    ]
    causes = {key: trial for trial in trials for key in trial.variables}
    paths = {}
    for source in reversed(sources):  # of the same variable the first one counts
        paths.update(dict.fromkeys(effective.variables([source]), source.path))
    for key, value in effective.variables(sources).items():
        off = own_hooks.ends_guard(key, value)
        message = f"{key} {off}"
        if not off and key in causes:
            off = message = own_hooks.describe_cause(causes[key], key)
        if key == "PATH":
            off = own_hooks.fault_of_path(value, facts.pythons.get(value, ""), facts.project)
            message = f"on the PATH that these settings give to hooks, {off}"
        if off:
            yield finding("hook_environment", message, name, paths[key], "Remove it.", "error")
        elif key.startswith("HOOKCTL_"):
            message = f"{key} overrides the guard's configuration"
            yield finding("hook_environment", message, name, paths[key], "", "info")
