"""What `doctor --fix` does to the files that our registrations run: what is missing is put back."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from typing import Any

from hookctl.documents import MISSING
from hookctl.errors import HookctlError
from hookctl.hosts import shapes
from hookctl.model import PackRecord
from hookctl.packs import guard
from hookctl.packs.choices import settings_from
from hookctl.packs.pack import load_file, read_files
from hookctl.packs.programs import HOOK, package_of
from hookctl.packs.wrapping import wraps
from hookctl.planner import runtime_files
from hookctl.planner.content import guard_digest
from hookctl.planner.draft import Draft
from hookctl.planner.runtime_files import CONFIG, File, Runtime
from hookctl.settings.targets import GUARD
from hookctl.system import files


def repair_files(draft: Draft) -> None:
    """Put back what is missing of each pack's files; the draft's packs then say so."""
    for name, pack in list(draft.packs.items()):
        # A folder where a file should be, a link that leads out: doctor says so, the other packs are mended.
        with contextlib.suppress(HookctlError):
            if name == GUARD:
                _repair_guard(draft, pack)
            else:
                _put_back(draft, name, pack, _files_of_pack(draft, name, pack))


def _put_back(draft: Draft, name: str, pack: PackRecord, wanted: Mapping[str, File]) -> None:
    """Those that are missing; one that is there is noted as ours if it has our bytes, and else left alone."""
    fitting = {}
    for file_name, file in wanted.items():
        with contextlib.suppress(HookctlError):
            if files.read(os.path.join(pack.folder, file_name)).data in (None, file.data):
                fitting[file_name] = file
    unknown = pack._replace(files={})
    runtime = runtime_files.install(
        draft.folders, draft.target, pack.folder, unknown, fitting, False
    )
    _note(
        draft, name, pack, runtime, {**dict.fromkeys(wanted, ""), **pack.files, **runtime.written}
    )


def _note(
    draft: Draft, name: str, pack: PackRecord, runtime: Runtime, recorded: dict[str, str]
) -> None:
    if runtime.actions or (name == GUARD and not pack.files):
        draft.packs[name] = pack._replace(files=recorded)
    draft.use_files(Runtime(runtime.changes, runtime.actions, rmdirs=runtime.rmdirs))


def _repair_guard(draft: Draft, pack: PackRecord) -> None:
    """The same of the guard: where a file is missing, unedited ones of an earlier version give way to this one's."""
    wanted = _files_of_guard(draft, pack)
    if not wanted:
        return
    if not pack.digest:  # nobody has recorded it
        pack = pack._replace(digest=guard_digest(wanted))
    hook = files.read(os.path.join(pack.folder, HOOK))
    is_current = hook.data in (None, wanted[HOOK].data)
    is_ours = is_current or runtime_files.is_ours(hook, pack.files.get(HOOK, ""))
    if not is_ours or draft.target.shared:
        _put_back(
            draft, GUARD, pack, {n: file for n, file in wanted.items() if _belongs(n, hook.data)}
        )
        return
    needed = {*pack.files, *wanted} if is_current else set(pack.files)
    if pack.files and not _is_of_0_1_0(pack) and not _misses_any(pack, needed):
        return
    config, known = _current_config(draft, pack), pack
    if config:
        wanted = {**wanted, CONFIG: config}
    else:
        wanted, known = _without(wanted, CONFIG), pack._replace(files=_without(pack.files, CONFIG))
    runtime = runtime_files.install(draft.folders, draft.target, pack.folder, known, wanted, False)
    recorded = {CONFIG: pack.files.get(CONFIG, ""), **runtime.written}
    _note(draft, GUARD, pack._replace(digest=guard_digest(wanted)), runtime, recorded)


def _is_of_0_1_0(pack: PackRecord) -> bool:
    """Whether the installed hook is one file, without a package."""
    return HOOK in pack.files and not any(package_of(name) for name in pack.files)


def _belongs(name: str, hook: bytes | None) -> bool:
    """Whether a file is of use to the hook that is there: a package is to one that names it."""
    package = package_of(name)
    return not package or hook is None or package.encode() in hook


def _current_config(draft: Draft, pack: PackRecord) -> File | None:
    """config.json with what the operator changed in it; None where it cannot be read."""
    with contextlib.suppress(HookctlError):
        path, before = os.path.join(pack.folder, CONFIG), pack.settings.get("config", {})
        return runtime_files.configuration(
            path, before, _configuration(draft, pack), draft.host, False
        )
    return None


def _without(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}


def _configuration(draft: Draft, pack: PackRecord) -> dict[str, Any]:
    state = "" if draft.target.shared else draft.folders.state
    return guard.configuration(settings_from(pack.settings), state, draft.host)


def _files_of_guard(draft: Draft, pack: PackRecord) -> dict[str, File]:
    """The guard's programs and a configuration as new; none where it has nothing to do."""
    root = {} if draft.document.value is MISSING else draft.document.value
    wrapped = any(wraps(element.id) for element in shapes.elements(draft.host.shape, root))
    if not settings_from(pack.settings).events and not wrapped:
        return {}
    path, wanted = os.path.join(pack.folder, CONFIG), _configuration(draft, pack)
    config = runtime_files.configuration(path, {}, wanted, draft.host, False, fresh=True)
    return runtime_files.guards_files(config, wrapper=wrapped)


def _files_of_pack(draft: Draft, name: str, pack: PackRecord) -> dict[str, File]:
    """A pack's files as they were installed, if its own file is still where it was and says the same version."""
    if draft.target.shared or not pack.source or not _misses_any(pack, pack.files):
        return {}
    loaded = load_file(pack.source)
    if (loaded.name, loaded.version) != (name, pack.version):
        return {}
    found = {file: File(*content) for file, content in read_files(loaded).items()}
    return {
        file: one for file, one in found.items() if files.digest(one.data) == pack.files.get(file)
    }


def _misses_any(pack: PackRecord, names: Iterable[str]) -> bool:
    return any(not os.path.lexists(os.path.join(pack.folder, name)) for name in names)
