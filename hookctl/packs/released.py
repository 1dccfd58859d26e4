"""The guard's programs that hookctl released, known by their digests (released.json).

A record says which version wrote a program, but a record can come with a repository. These digests
come with hookctl. `python -m tests.digests_of_programs` writes those of this version.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
from collections.abc import Callable, Mapping

from hookctl import __version__
from hookctl.errors import HookctlError
from hookctl.model import PackRecord
from hookctl.packs.model import (
    ADDED,
    CHANGED,
    GONE,
    LINE_ENDINGS,
    MISSING,
    NEWER,
    RELEASED,
    UNKNOWN,
    Origin,
)
from hookctl.packs.programs import load_programs
from hookctl.packs.wrapping import PROGRAM as WRAPPER
from hookctl.system import files
from hookctl.system.files import content_digest, with_unix_endings
from hookctl.system.package_data import read_data
from hookctl.system.packages import (
    HOOK,
    folder_beside,
    name_package,
    packages_named,
    path_from_launcher,
)

TABLE = os.path.join(os.path.dirname(__file__), "released.json")


def find_origin(
    pack_record: PackRecord,
    *,
    wraps: bool = False,
    read: Callable[[str], files.Snapshot] = files.read,
) -> Origin:
    """Where the programs come from that a guard's hooks run; `wraps` adds the wrapping one."""
    folder = pack_record.folder
    try:
        programs = _read_programs(folder, read)
        wrapper = read(os.path.join(folder, WRAPPER)).data if wraps else None
    except HookctlError:
        return Origin(UNKNOWN, path=os.path.join(folder, HOOK))
    if HOOK not in programs:
        return Origin(MISSING, path=os.path.join(folder, HOOK))
    package = _package_in(programs[HOOK])
    if package and programs.keys() == {HOOK}:
        return Origin(MISSING, path=os.path.join(folder_beside(folder), package))
    version = _find_version("hook", content_digest(b"", programs))
    if version and (wrapper is None or _find_version("wrap", files.digest(wrapper))):
        return Origin(RELEASED, version)
    if not version and _is_newer(pack_record.version) and _is_recorded(pack_record, programs):
        return Origin(NEWER, pack_record.version)
    if version and wrapper is not None:
        name, difference = WRAPPER, CHANGED
        if _find_version("wrap", files.digest(with_unix_endings(wrapper))):
            difference = LINE_ENDINGS
    else:
        name, difference = _find_difference(programs)
    path = os.path.normpath(os.path.join(folder, name))
    return Origin(UNKNOWN, path=path, difference=difference)


def _find_difference(programs: Mapping[str, bytes]) -> tuple[str, str]:
    """The first file that is not as hookctl released it, and how it differs."""
    plain = {name: with_unix_endings(data) for name, data in programs.items()}
    if _find_version("hook", content_digest(b"", plain)):
        return next(name for name in sorted(plain) if plain[name] != programs[name]), LINE_ENDINGS
    package = _package_in(programs[HOOK])
    if package == load_programs(wrapper=False).package:
        return _compare(programs, load_programs(wrapper=False).all)
    # The name of another version's package tells at least whether its content is the one released.
    is_changed = package and not _is_as_named(package, programs)
    return (path_from_launcher(package) if is_changed else HOOK), CHANGED


def _is_as_named(package: str, programs: Mapping[str, bytes]) -> bool:
    """Whether a package has the content that its name says."""
    modules = {}
    for name, data in programs.items():
        if name != HOOK:
            modules[os.path.basename(name)] = data
    return name_package(package.partition("_")[0], modules) == package


def _compare(programs: Mapping[str, bytes], own: Mapping[str, bytes]) -> tuple[str, str]:
    """The first file that differs between an installed guard and this version's own."""
    for name in sorted({*programs, *own}):
        if name not in own:
            return name, ADDED
        if name not in programs:
            return name, GONE
        if programs[name] != own[name]:
            return name, CHANGED
    return HOOK, CHANGED


def package_of(folder: str, read: Callable[[str], files.Snapshot] = files.read) -> str:
    """The name of the package that the launcher in a folder starts; '' where it names none."""
    try:
        launcher = read(os.path.join(folder, HOOK)).data
    except HookctlError:
        return ""
    return _package_in(launcher or b"")


def _package_in(launcher: bytes) -> str:
    names = packages_named(launcher)
    return names[0] if len(names) == 1 else ""


def digests_of_this_version() -> dict[str, str]:
    """The digests of the programs that this hookctl installs."""
    programs = load_programs(wrapper=True).all
    wrapper = programs[WRAPPER]
    others = {name: data for name, data in programs.items() if name != WRAPPER}
    return {"hook": content_digest(b"", others), "wrap": files.digest(wrapper)}


def table() -> dict[str, dict[str, str]]:
    """The digests of every release, by version: of the hook with its package, and of wrap.py."""
    return dict(json.loads(read_data("packs", "released.json")))


def _find_version(name: str, digest: str) -> str:
    """The first version that released a program, or ''."""
    for version, digests in _known().items():
        if digests.get(name) == digest:
            return version
    return ""


@functools.cache
def _known() -> dict[str, dict[str, str]]:
    """Every release, and the programs that this hookctl brings, whatever the table says."""
    return {**table(), __version__: digests_of_this_version()}


def _read_programs(folder: str, read: Callable[[str], files.Snapshot]) -> dict[str, bytes]:
    """The launcher, and every file of the package that it starts, but not Python's bytecode."""
    launcher = read(os.path.join(folder, HOOK)).data
    if launcher is None:
        return {}
    programs = {HOOK: launcher}
    package = _package_in(launcher)
    if package:
        path = path_from_launcher(package)
        for name in _list_files(os.path.join(folder, path)):
            data = read(os.path.join(folder, path, name)).data
            if data is not None:
                programs[f"{path}/{name}"] = data
    return programs


def _list_files(folder: str) -> list[str]:
    """The modules of a package: the launcher loads nothing else from its folder."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if _is_module(entry))
    return []


def _is_module(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a module; the bytes behind a link are not the package's own."""
    return entry.name.endswith(".py") and not entry.is_symlink()


def _is_recorded(pack_record: PackRecord, programs: Mapping[str, bytes]) -> bool:
    """Whether the launcher is the one on record, and its package has the content of its name."""
    if pack_record.files.get(HOOK) != files.digest(programs[HOOK]):
        return False
    package = _package_in(programs[HOOK])
    return not package or _is_as_named(package, programs)


def _is_newer(version: str) -> bool:
    numbers, own = _numbers(version), _numbers(__version__)
    return bool(numbers) and numbers > own


def _numbers(version: str) -> tuple[int, ...]:
    """A version as numbers; none where it is no plain one."""
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){1,3}", version):
        return ()
    return tuple(map(int, version.split(".")))
