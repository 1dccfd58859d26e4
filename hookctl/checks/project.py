"""Judges what a project declares, from its own files: is it there, whole and its own?"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from typing import Any

from hookctl import __version__, engine
from hookctl.checks import activation, entries, hook, limits, own_hooks, settings
from hookctl.checks.codes import Finding, finding, from_error
from hookctl.checks.facts import FileFacts
from hookctl.checks.rules import judge_blocks
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.model import IgnoreRule, PackRecord
from hookctl.packs import guard
from hookctl.packs.choices import settings_from
from hookctl.packs.model import MISSING, NEWER, UNKNOWN, Origin, Pack
from hookctl.settings.targets import GUARD, OWN
from hookctl.system.files import content_digest, with_unix_endings
from hookctl.values import NamedTuple

CONFIG = "config.json"
LEDGER = "ledger.json"
ANY = "*"  # stands for each file of a folder
_OWN_FILES = (CONFIG, "hook.py", "wrap.py")

# Of each settings file: those judges of doctor's that need nothing of the user.
_FILE_JUDGES = (
    settings.judge_reading,
    settings.judge_content,
    entries.judge,
    entries.judge_wrapped,
    activation.judge_switches,
    limits.judge_environment,
    hook.judge_mode,
    hook.judge_configuration,
    hook.judge_self_test,
)
# What is said though it is no error of doctor's, and how bad it is where everybody shares it.
_LEVELS = {
    "config_invalid": "warning",
    "config_missing": "error",
    "edited_copy": "error",
    "entry_edited": "info",
    "hook_environment": "info",
    "orphan_hook": "error",
    "self_test_failed": "warning",  # perhaps the team wants just that
    "wrap_edited": "error",
    "wrap_gone": "error",
    "wrap_unknown": "error",
}
_OF_REQUIRED_GUARD = {"guard_off": "error", "self_test_failed": "error"}
_UNRECORDED = ("ledger_missing", "orphan_hook", "wrap_unknown")  # follow from a record that is gone


class InstalledPack(NamedTuple):
    """A pack of the record at one settings file, and its files as they are."""

    name: str
    file: FileFacts
    record: PackRecord
    error: HookctlError | None = None  # why one of them cannot be read
    contents: dict[str, bytes | None] = {}  # noqa: RUF012 - of all but the guard; None: not there
    origin: Origin | None = None  # where the guard's programs come from; None: nothing runs them
    package: str = ""  # the folder of the guard's modules
    config: Any = None  # of the guard
    outside: tuple[str, ...] = ()  # what it names outside the project, in words
    config_error: HookctlError | None = None
    host_table: dict[str, Any] = {}  # noqa: RUF012 - what hookctl writes there of hosts


class RequiredPack(NamedTuple):
    """A pack that must be installed in the project; with `pack`, with this very content."""

    name: str
    pack: Pack | None = None
    digest: str = ""  # of its files
    source: str = ""  # its file, as it is typed


class ProjectFacts(NamedTuple):
    """Everything in a project that hookctl put there, or that decides whether it runs."""

    project: str
    files: tuple[FileFacts, ...] = ()
    packs: tuple[InstalledPack, ...] = ()
    error: HookctlError | None = None  # why its record cannot be read
    hosts: tuple[str, ...] = ()  # those with settings there
    programs: tuple[str, ...] = ()  # every file in hookctl's folder of programs
    has_record: bool = True
    lost: tuple[InstalledPack, ...] = ()  # guards with programs, and without a record
    start_project: str = ""  # the one that the fixes are typed in
    has_repository: bool = True
    packages: tuple[str, ...] = ()  # with the content that their names say, whoever starts them
    ignored: tuple[IgnoreRule, ...] = ()  # what git ignores of all that
    run_files: tuple[str, ...] = ()  # of the work in hand, that git tracks or would take


def judge(facts: ProjectFacts, required: tuple[str, ...]) -> Iterator[Finding]:
    """Every finding about a project in which these packs are required."""
    yield from _judge_record(facts)
    for file in facts.files:
        yield from _judge_file(file, facts, required)
    if facts.error is None:
        yield from _judge_programs(facts)
    yield from _judge_sharing(facts, "error" if required else "warning")
    yield from _judge_run_files(facts)


def _judge_record(facts: ProjectFacts) -> Iterator[Finding]:
    """The one thing to say where the record is gone: all the rest follows from that."""
    if facts.error is not None:
        yield from_error(facts.error)
    elif not facts.has_record and (facts.programs or facts.files):
        message = "there is no record of what hookctl wrote here: was it deleted, or not committed?"
        back = own_hooks.checkout_command(facts.project, OWN, facts.start_project)
        repair = own_hooks.repair_command(facts.project, facts.start_project)
        fix = f"`{back}` brings it back; else `{repair}` records the guard again."
        path = os.path.join(facts.project, OWN, LEDGER)
        yield finding("ledger_missing", message, "", path, fix)


def _judge_file(
    file: FileFacts, facts: ProjectFacts, required: tuple[str, ...]
) -> Iterator[Finding]:
    """What doctor's judges say of a settings file, as far as that matters in every clone."""
    levels = {**_LEVELS, **(_OF_REQUIRED_GUARD if GUARD in required else {})}
    if facts.error is not None:
        yield from settings.judge_reading(file)
    elif isinstance(file.document, RulesDocument):
        yield from _judge_rules(file, file.document)
    else:
        for judge_file in _FILE_JUDGES:
            for found in judge_file(file):
                level = "error" if found.level == "error" else levels.get(found.code)
                if level and (facts.has_record or found.code not in _UNRECORDED):
                    yield found._replace(level=level)


def _judge_sharing(facts: ProjectFacts, level: str) -> Iterator[Finding]:
    """Whether git brings what the project has to everyone who clones it."""
    if facts.files and not facts.has_repository:
        message = "this is no git repository, so no clone brings the hooks to others"
        yield finding("no_repository", message, "", facts.project)
    for rule in facts.ignored if facts.files else ():
        message, fix = own_hooks.describe_uncommitted(rule)
        yield finding("not_committed", message, "", rule.path, fix, level)


def _judge_run_files(facts: ProjectFacts) -> Iterator[Finding]:
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


def _judge_rules(file: FileFacts, document: RulesDocument) -> Iterator[Finding]:
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
        if path not in own and not path.startswith((*lost, *facts.packages)):
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
        for pack in {element.pack for element in file.current.elements} if file.current else ():
            if pack not in known and pack != GUARD:
                yield os.path.join(facts.project, OWN, "packs", pack, "")


def _files_of(installed: InstalledPack, programs: tuple[str, ...]) -> set[str]:
    """The paths of a pack's files; those of the guard's package are judged by their digest."""
    folder = installed.record.folder
    paths = {os.path.join(folder, name) for name in installed.record.files}
    if installed.name == GUARD:
        paths |= {os.path.join(folder, name) for name in _OWN_FILES}
    if installed.package:
        paths |= {path for path in programs if _is_module(path, f"{installed.package}/")}
    return paths


def _is_module(path: str, top: str) -> bool:
    rest = path.removeprefix(top)
    return path.startswith(top) and "/" not in rest and rest.endswith(".py")


def _judge_guard(installed: InstalledPack) -> Iterator[Finding]:
    if installed.origin is not None:
        yield from _judge_origin(installed)
        yield from _judge_values(installed)


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


def _judge_values(installed: InstalledPack) -> Iterator[Finding]:
    """Values in config.json that are not those of the record, and a table that is not hookctl's."""
    config = installed.file.config
    if config is None or config.error is not None or not config.is_there:
        return
    values, path = config.value, config.path
    host = installed.file.target.host
    recorded = installed.record.settings
    written = recorded.get("config") or guard.configuration(settings_from(recorded), "", host)
    if values.get("mode") == "off" and settings_from(recorded).mode != "off":
        return  # hook.py says so
    changed = []
    for name in sorted({*values, *written} - {guard.HOSTS, "$schema"}):
        if not engine.same(values.get(name), written.get(name)):
            changed.append(f"{name} is {json.dumps(values.get(name))}")
    if changed:
        message = f"the configuration differs from the record: {', '.join(changed)}"
        yield finding("config_changed", message, host.name, path)
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
        yield from_error(installed.error, host)._replace(code="pack_changed")
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
