"""The version of an installed guard's programs: this one, an earlier or newer one, or none.

A record says which version wrote a program, but a record can come with a repository. So earlier
versions are known by the digests that come with hookctl, in released.json.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping

from hookctl import __version__
from hookctl.errors import HookctlError
from hookctl.model import PackRecord
from hookctl.packs import guard
from hookctl.packs.model import (
    ADDED,
    CHANGED,
    GONE,
    LINE_ENDINGS,
    MISSING,
    MIXED,
    NEWER,
    RELEASED,
    UNKNOWN,
    Origin,
)
from hookctl.packs.programs import load_programs
from hookctl.system import files
from hookctl.system.files import content_digest, with_unix_endings
from hookctl.system.package_data import read_data
from hookctl.system.packages import (
    HOOK,
    WRAPPER,
    folder_beside,
    is_ours,
    name_package,
    packages_named,
    path_from_launcher,
    read_modules,
)

Programs = Mapping[str, bytes]  # by their paths from the launchers' folder


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
    version = _find_version(programs)
    if version and (wrapper is None or _find_version({WRAPPER: wrapper})):
        return Origin(RELEASED, version)
    if not version and guard.is_newer(pack_record.version) and _is_recorded(pack_record, programs):
        return Origin(NEWER, pack_record.version)
    if version and wrapper is not None:
        programs = {WRAPPER: wrapper}
    name, difference = _find_difference(programs)
    if difference in (CHANGED, GONE) and _is_mixed(pack_record, programs, name):
        difference = MIXED
    path = os.path.normpath(os.path.join(folder, name))
    return Origin(UNKNOWN, path=path, difference=difference)


def package_of(folder: str, read: Callable[[str], files.Snapshot] = files.read) -> str:
    """The name of the package that the launcher in a folder starts; '' where it names none."""
    try:
        return _package_in(read(os.path.join(folder, HOOK)).data or b"")
    except HookctlError:
        return ""


def _package_in(launcher: bytes) -> str:
    names = packages_named(launcher)
    return names[0] if len(names) == 1 else ""


def _read_programs(folder: str, read: Callable[[str], files.Snapshot]) -> dict[str, bytes]:
    """The launcher and the modules that it starts; links are not followed."""
    launcher = read(os.path.join(folder, HOOK)).data
    if launcher is None:
        return {}
    programs, package = {HOOK: launcher}, _package_in(launcher)
    if package:
        path = path_from_launcher(package)
        for name, data in read_modules(os.path.join(folder, path)).items():
            if data is not None:
                programs[f"{path}/{name}"] = data
    return programs


def _find_version(programs: Programs) -> str:
    """The version that has these programs: this one, or the first earlier one; '' if none has."""
    own = load_programs(wrapper=True).all
    is_hook = HOOK in programs
    if programs == {name: own[name] for name in own if (name != WRAPPER) is is_hook}:
        return __version__
    return find_earlier("hook" if is_hook else "wrap", programs)


def find_earlier(kind: str, programs: Programs) -> str:
    """The first earlier version that has these programs as its hook, wrap or runner."""
    digest = content_digest(b"", programs)
    for version, digests in json.loads(read_data("packs", "released.json")).items():
        if digests[kind] == digest:
            return str(version)
    return ""


def _find_difference(programs: Programs) -> tuple[str, str]:
    """The first file that is in no version, and how it differs."""
    plain = {name: with_unix_endings(data) for name, data in programs.items()}
    if _find_version(plain):
        return next(name for name in sorted(plain) if plain[name] != programs[name]), LINE_ENDINGS
    if HOOK not in programs:
        return WRAPPER, CHANGED
    package, own = _package_in(programs[HOOK]), load_programs(wrapper=False)
    if package == own.package:
        return _compare(programs, own.all)
    # The name of another version's package tells at least whether its content is the one released.
    is_changed = package and not _is_as_named(package, programs)
    return (path_from_launcher(package) if is_changed else HOOK), CHANGED


def _compare(programs: Programs, own: Programs) -> tuple[str, str]:
    """The first file that differs between an installed guard and this version's own."""
    for name in sorted({*programs, *own}):
        if name not in own:
            return name, ADDED
        if name not in programs:
            return name, GONE
        if programs[name] != own[name]:
            return name, CHANGED
    return HOOK, CHANGED


def _is_as_named(package: str, programs: Programs) -> bool:
    """Whether a package has the content that its name says."""
    modules = {os.path.basename(name): programs[name] for name in programs if name != HOOK}
    return name_package(package.partition("_")[0], modules) == package


def _is_mixed(pack_record: PackRecord, programs: Programs, name: str) -> bool:
    """Whether a program that differs lies in a package that hookctl may write again."""
    launcher = programs.get(HOOK, b"")
    recorded = pack_record.files.get(HOOK)
    is_known = launcher == load_programs(wrapper=False).launchers[HOOK]
    if not is_known and recorded != files.digest(launcher):
        return False
    package = _package_in(launcher)
    is_in_package = name.startswith(path_from_launcher(package))
    return is_in_package and is_ours(os.path.join(folder_beside(pack_record.folder), package))


def _is_recorded(pack_record: PackRecord, programs: Programs) -> bool:
    """Whether the launcher is the one on record, and its package has the content of its name."""
    if pack_record.files.get(HOOK) != files.digest(programs[HOOK]):
        return False
    package = _package_in(programs[HOOK])
    return not package or _is_as_named(package, programs)
