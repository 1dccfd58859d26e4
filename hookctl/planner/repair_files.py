"""What `doctor --fix` does to the files that our registrations run: it puts missing ones back."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from typing import Any

from hookctl.documents import MISSING
from hookctl.errors import HookctlError
from hookctl.hosts import shapes
from hookctl.model import WRAP, PackRecord
from hookctl.packs import guard
from hookctl.packs.choices import settings_from
from hookctl.packs.guard import is_newer
from hookctl.packs.pack import load_file, read_files
from hookctl.packs.programs import load_programs
from hookctl.planner.content import guard_digest
from hookctl.planner.draft import Draft
from hookctl.planner.guard_files import (
    add_package,
    find_folder,
    guard_programs,
    merge_config,
    new_config,
)
from hookctl.planner.runtime_files import (
    CONFIG,
    File,
    Runtime,
    install_files,
    is_in_conflict,
    is_ours,
)
from hookctl.planner.sources import Sources
from hookctl.settings.targets import GUARD
from hookctl.system import files
from hookctl.system.packages import (
    HOOK,
    Packages,
    folder_beside,
    is_as_named,
    packages_named,
    read_modules,
)
from hookctl.system.packages import is_ours as is_own_package


def repair_files(draft: Draft) -> None:
    """Put back what is missing of each pack's files, and record it in the draft's packs."""
    for name, pack_record in list(draft.packs.items()):
        # Doctor reports a folder in place of a file, or a link out; other packs are fixed.
        with contextlib.suppress(HookctlError):
            if name == GUARD:
                _repair_guard(draft, pack_record)
            else:
                wanted = _missing_pack_files(draft, name, pack_record)
                _put_back(draft, name, pack_record, wanted)


def _put_back(draft: Draft, name: str, pack_record: PackRecord, wanted: Mapping[str, File]) -> None:
    """Write the missing files; record those with our bytes as ours, leave all others alone."""
    ours = {}
    for file_name, file in wanted.items():
        with contextlib.suppress(HookctlError):
            path = os.path.join(pack_record.folder, file_name)
            snapshot = draft.sources.once(files.read, path)
            if snapshot.data in (None, file.data):
                ours[file_name] = file
    unknown = pack_record._replace(files={})
    runtime = _install(draft, name, unknown, ours)
    recorded = {**dict.fromkeys(wanted, ""), **pack_record.files, **runtime.written}
    _record_files(draft, name, pack_record, runtime, recorded)


def _install(
    draft: Draft, name: str, pack_record: PackRecord, wanted: Mapping[str, File]
) -> Runtime:
    folder = pack_record.folder
    runtime = install_files(draft.sources, draft.target, folder, pack_record, wanted, False)
    if name == GUARD and HOOK in wanted:
        runtime = add_package(draft.sources, runtime, draft.target, folder, force=False)
    return runtime


def _record_files(
    draft: Draft, name: str, pack_record: PackRecord, runtime: Runtime, recorded: dict[str, str]
) -> None:
    is_unknown_guard = name == GUARD and not pack_record.files
    if runtime.actions or is_unknown_guard:
        draft.packs[name] = pack_record._replace(files=recorded)
    draft.add_runtime(runtime._replace(kept=()))


def _repair_guard(draft: Draft, pack_record: PackRecord) -> None:
    """Put back the guard's files; where one is missing, unedited old ones are replaced too."""
    if draft.target.shared:  # where a merge may leave packages that no launcher names
        folder = find_folder(draft.sources, draft.target, pack_record.folder)
        draft.packages.append(Packages(folder))
    wanted = _wanted_guard_files(draft, pack_record)
    if not wanted:
        return
    launcher = draft.sources.once(files.read, os.path.join(pack_record.folder, HOOK))
    is_current = launcher.data in (None, wanted[HOOK].data)
    is_known = is_current or is_ours(launcher, pack_record.files.get(HOOK, ""))
    is_known = is_known or is_in_conflict(draft.target, launcher)
    draft.foreign_programs = () if is_known else (launcher.path,)
    misses_package = _misses_package(draft, pack_record, launcher.data or b"")
    if not is_current and is_newer(pack_record.version):
        return  # doctor says which hookctl has these programs
    if not is_known or (draft.target.shared and not misses_package):
        _put_back(draft, GUARD, pack_record, wanted)
        _renew_configuration(draft)
    elif (
        misses_package
        or _has_to_be_written(draft.sources, pack_record, wanted, is_current=is_current)
        or _has_moved(draft, pack_record)
    ):
        _write_guard(draft, pack_record, wanted)


def _misses_package(draft: Draft, pack_record: PackRecord, launcher: bytes) -> bool:
    """Whether a launcher names a package that is missing or incomplete; or in a project, two ones,
    or one with other modules than its name says, which is what a merge makes of two versions.
    """
    programs, sources = load_programs(wrapper=False), draft.sources
    folder = sources.once(folder_beside, pack_record.folder)
    names = packages_named(launcher)
    for name in names:
        package = os.path.join(folder, name)
        modules = sources.once(read_modules, package)
        wanted = programs.modules if name == programs.package else {}
        if not modules or wanted.keys() - modules.keys():
            return True
        if draft.target.shared and not sources.once(is_as_named, package):
            return sources.once(is_own_package, package)
    return draft.target.shared and len(names) > 1


def _has_to_be_written(
    sources: Sources, pack_record: PackRecord, wanted: Mapping[str, File], *, is_current: bool
) -> bool:
    """Whether the guard's files are unknown or not all there."""
    needed = set(pack_record.files)
    if is_current:
        needed |= wanted.keys()
    return not pack_record.files or _misses_any(sources, pack_record, needed)


def _has_moved(draft: Draft, pack_record: PackRecord) -> bool:
    """Whether the configuration names a state folder that is not there any more."""
    named = pack_record.settings.get("config", {}).get("state_dir", draft.folders.state)
    return named != draft.folders.state and not draft.sources.once(os.path.isdir, named)


def _write_guard(draft: Draft, pack_record: PackRecord, wanted: dict[str, File]) -> None:
    """Install the guard's files as this version has them."""
    config, known = _merged_config(draft, pack_record), pack_record
    if config:
        wanted = {**wanted, CONFIG: config}
    else:
        wanted = _without(wanted, CONFIG)
        known = pack_record._replace(files=_without(pack_record.files, CONFIG))
    runtime = _install(draft, GUARD, known, wanted)
    recorded = {CONFIG: pack_record.files.get(CONFIG, ""), **runtime.written}
    settings = {**pack_record.settings, "config": _configuration(draft, pack_record)}
    pack_record = pack_record._replace(digest=guard_digest(wanted), settings=settings)
    _record_files(draft, GUARD, pack_record, runtime, recorded)


def _renew_configuration(draft: Draft) -> None:
    """Write a project's configuration where the one on record is not that of the settings there.

    So it is in a record that is made anew from both sides of a merge.
    """
    pack_record = draft.packs[GUARD]
    recorded, wanted = pack_record.settings.get("config"), _configuration(draft, pack_record)
    if not draft.target.shared or recorded in (None, wanted):
        return
    config = _merged_config(draft, pack_record)
    if config:
        unknown = pack_record._replace(files={})
        draft.add_runtime(_install(draft, GUARD, unknown, {CONFIG: config}))
        settings = {**pack_record.settings, "config": wanted}
        draft.packs[GUARD] = pack_record._replace(settings=settings)


def _merged_config(draft: Draft, pack_record: PackRecord) -> File | None:
    """config.json with what the operator changed in it; None where it cannot be read."""
    path = os.path.join(pack_record.folder, CONFIG)
    written = pack_record.settings.get("config", {})
    with contextlib.suppress(HookctlError):
        wanted = _configuration(draft, pack_record)
        snapshot = draft.sources.once(files.read, path)
        return merge_config(snapshot, written, wanted, draft.host, force=False)
    return None


def _without(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}


def _configuration(draft: Draft, pack_record: PackRecord) -> dict[str, Any]:
    state = "" if draft.target.shared else draft.folders.state
    return guard.configuration(settings_from(pack_record.settings), state, draft.host)


def _wanted_guard_files(draft: Draft, pack_record: PackRecord) -> dict[str, File]:
    """The guard's programs and a new configuration; none where it has nothing to do."""
    root = {} if draft.document.value is MISSING else draft.document.value
    wraps_any = any(hook.id.startswith(WRAP) for hook in shapes.elements(draft.host.shape, root))
    if not settings_from(pack_record.settings).events and not wraps_any:
        return {}
    config = new_config(_configuration(draft, pack_record), draft.host)
    return guard_programs(config, wrapper=wraps_any)


def _missing_pack_files(draft: Draft, name: str, pack_record: PackRecord) -> dict[str, File]:
    """A pack's files as installed, if one is missing and its source still has this version."""
    if draft.target.shared or not pack_record.source or pack_record.commit:
        return {}
    if not _misses_any(draft.sources, pack_record, pack_record.files):
        return {}
    pack = draft.sources.once(load_file, pack_record.source)
    if (pack.name, pack.version) != (name, pack_record.version):
        return {}
    wanted = {}
    contents = draft.sources.once(read_files, pack, key=pack.source)
    for file_name, (data, executable) in contents.items():
        if files.digest(data) == pack_record.files.get(file_name):
            wanted[file_name] = File(data, executable)
    return wanted


def _misses_any(sources: Sources, pack_record: PackRecord, names: Iterable[str]) -> bool:
    paths = [os.path.join(pack_record.folder, name) for name in names]
    return not all(sources.once(os.path.lexists, path) for path in paths)
