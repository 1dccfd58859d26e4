"""The packages that launchers start: `runtime/NAME_DIGEST`, beside the launchers' folder `guard/`.

`runtime/hook.py`, which runs the commands of packs, is a launcher too.

All launchers of a data folder, or of a project, share them. A package is put there whole by one
rename before a launcher names it, and removed by one when no launcher names it any more. So a kill
leaves at most an unnamed package, and the journal of a run need not know what is in it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

from hookctl.errors import FAILED, HookctlError
from hookctl.system import files

HOOK, WRAPPER, TRACER = "hook.py", "wrap.py", "trace.py"  # launchers
LAUNCHERS, PACKAGES = "guard", "runtime"  # their folders
# The patterns are compiled when they are used: most calls change no package.
_NAME = r"([a-z]+)_[0-9a-f]{16}"
_NAMED = rb'(?m)^PACKAGE = "(?:\.\./\.\./runtime/)?([a-z]+_[0-9a-f]{16})"'
_LOOSELY_NAMED = rb"[a-z]+_[0-9a-f]{16}"  # in an edited launcher, too
_CACHE = "__pycache__"
_PROJECT = ".hookctl"
LOCK_SECONDS = 30
_POLL = 0.05  # seconds


class Packages(NamedTuple):
    """What a run does in one folder of packages."""

    path: str  # of the folder, with every link resolved
    new: Mapping[str, Mapping[str, bytes]] = {}  # what to put there: modules by package
    mode: int = files.PRIVATE  # of its files
    keeps_replaced: bool = False  # a call that runs now may still be importing from it


def folder_beside(launchers: str) -> str:
    """The folder with the packages that a folder's launchers start, every link resolved."""
    real = os.path.realpath(launchers)
    if is_launcher(os.path.join(real, HOOK)) and os.path.basename(real) == PACKAGES:
        return files.real(real)
    return files.real(os.path.join(real, "..", "..", PACKAGES))


def is_launcher(path: str) -> bool:
    """Whether a path is that of a guard's hook, or of the runner."""
    folder, name = os.path.split(path)
    above, room = os.path.split(folder)
    is_guard = os.path.basename(above) == LAUNCHERS
    is_runner = room == PACKAGES and os.path.basename(above) != "packs"
    return name == HOOK and (is_guard or is_runner)


def path_from_launcher(name: str) -> str:
    """The path of a package from the folder of a launcher."""
    return f"../../{PACKAGES}/{name}"


def name_package(name: str, modules: Mapping[str, bytes | None]) -> str:
    """The name of a package's folder; it depends on the content, so versions coexist."""
    digest = files.sha256()
    for module, data in sorted(modules.items()):
        data = data or b""
        digest.update(f"{module} {len(data)}\n".encode() + data)
    return f"{name}_{digest.hexdigest()[:16]}"


def packages_named(launcher: bytes) -> list[str]:
    """The packages that a launcher names: one, or in a merge conflict both sides'."""
    return [name.decode() for name in re.findall(_NAMED, launcher)]


def list_packages(folder: str) -> list[str]:
    """The names of the packages in a folder, of whatever version."""
    names = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if re.fullmatch(_NAME, entry.name) and entry.is_dir(follow_symlinks=False):
                names.append(entry.name)
    return sorted(names)


def find_unnamed(folder: str, changed: Mapping[str, bytes | None]) -> list[str]:
    """The packages that no launcher names; `changed` has launchers as they will be, by path.

    There are none where a launcher cannot be read: it could name any of them.
    """
    named: set[bytes] = set()
    try:
        for path in {*list_launchers(folder), *changed}:
            data = changed[path] if path in changed else files.read(path).data
            named.update(re.findall(_LOOSELY_NAMED, data or b""))
    except (HookctlError, OSError):
        return []
    return [name for name in list_packages(folder) if name.encode() not in named]


def list_launchers(folder: str) -> list[str]:
    """The launchers that start packages of a folder, in every folder of launchers beside it."""
    launchers = os.path.join(os.path.dirname(folder), LAUNCHERS)
    runner = os.path.join(folder, HOOK)
    paths = [runner] if os.path.lexists(runner) else []
    if not os.path.isdir(launchers):
        return paths
    with os.scandir(launchers) as entries:
        for entry in entries:
            path = os.path.join(entry.path, HOOK)
            if entry.is_dir(follow_symlinks=False) and os.path.lexists(path):
                paths.append(path)
    return paths


def read_modules(package: str) -> dict[str, bytes | None]:
    """The modules of a package: the launcher loads nothing else from its folder.

    A link has None: its bytes lie elsewhere. Refuses what is no regular file.
    """
    modules: dict[str, bytes | None] = {}
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = sorted(os.listdir(package))
    folder = files.real(package) if names else ""  # once for all of them
    for name in names:
        target, path = os.path.join(folder, name), os.path.join(package, name)
        if name.endswith(".py"):
            is_link = os.path.islink(target)
            modules[name] = None if is_link else files.read_resolved(target, path).data
    return modules


def find_edits(package: str, modules: Mapping[str, bytes]) -> list[str]:
    """The paths in a package's folder that are not ours: edited modules and other names.

    An empty name stands for what is no folder.
    """
    if os.path.islink(package) or (os.path.lexists(package) and not os.path.isdir(package)):
        return [""]
    found = read_modules(package)
    edits = [name for name, data in found.items() if modules.get(name) != data]
    with contextlib.suppress(OSError):
        own = {*found, *(() if _is_in_project(package) else (_CACHE,))}
        edits += sorted(name for name in os.listdir(package) if name not in own)
    return edits


def _is_in_project(package: str) -> bool:
    return os.path.basename(os.path.dirname(os.path.dirname(package))) == _PROJECT


def is_as_named(package: str) -> bool:
    """Whether a package has the content that its name says, and nothing beside it but bytecode.

    In a project there is none of ours.
    """
    match = re.fullmatch(_NAME, os.path.basename(package))
    with contextlib.suppress(HookctlError, OSError):
        modules = read_modules(package)
        if match and name_package(match[1], modules) == match[0]:
            rest = set(os.listdir(package)) - modules.keys()
            if rest and _is_in_project(package):
                return False
            return rest <= {_CACHE} and _has_only_bytecode(package)
    return False


def is_ours(package: str) -> bool:
    """Whether a package has nothing of anybody else, so that hookctl may replace or remove it."""
    return is_as_named(package) or is_mixture(package)


def is_mixture(package: str) -> bool:
    """Whether a project's package has modules that are not those of its name, and nothing else.

    So git leaves it where both branches have another version. No other modules belong there.
    """
    if not _is_in_project(package) or os.path.islink(package) or is_as_named(package):
        return False
    with contextlib.suppress(OSError), os.scandir(package) as entries:
        for entry in entries:
            if not entry.name.endswith(".py") or not entry.is_file(follow_symlinks=False):
                return False
        return True
    return False


def _has_only_bytecode(package: str) -> bool:
    cache = os.path.join(package, _CACHE)
    if not os.path.lexists(cache):
        return True
    if os.path.islink(cache):
        return False
    with os.scandir(cache) as entries:
        for entry in entries:
            if ".pyc" not in entry.name or not entry.is_file(follow_symlinks=False):
                return False
    return True


def is_whole(package: str, modules: Mapping[str, bytes]) -> bool:
    """Whether a package has just these modules."""
    with contextlib.suppress(HookctlError):
        return not os.path.islink(package) and read_modules(package) == modules
    return False


# How they come and go


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Hold the lock of a folder, which runs with other state folders share.

    Raises `lock_timeout` (exit 1) after 30 seconds.
    """
    end = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # nothing is there to be kept from others
            yield
            return
        except OSError as error:
            raise files.cannot_write(folder, error) from None
        try:
            if _try_lock(handle, folder):
                yield
                return
        finally:
            os.close(handle)
        if time.monotonic() > end:
            raise lock_timeout(folder)
        time.sleep(_POLL)


def lock_timeout(folder: str) -> HookctlError:
    """The error of a folder's lock that stays held."""
    message = f"another hookctl has held the lock for {LOCK_SECONDS} seconds"
    hint = "Wait for it to end, then run the command again."
    return HookctlError("lock_timeout", message, path=folder, hint=hint, exit_code=FAILED)


def _try_lock(handle: int, folder: str) -> bool:
    """Lock a folder, unless another process holds it, or it was removed or replaced meanwhile."""
    import fcntl  # late: Windows has none

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # this file system has no locks
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(handle), os.stat(folder))
    return False


def provide(packages: Packages, locks: contextlib.ExitStack, created: list[str]) -> list[str]:
    """Lock a folder and put the packages there; returns those to keep when the run is over.

    Folders that are made are added to `created`, the deepest first.
    """
    for name in packages.new:
        inside = os.path.join(packages.path, name)
        created[:0] = files.make_parent_folders(inside, packages.mode)
    locks.enter_context(locked(packages.path))
    kept = []
    if packages.keeps_replaced:
        unnamed = find_unnamed(packages.path, {})
        kept = [name for name in list_packages(packages.path) if name not in unnamed]
    for name, modules in packages.new.items():
        _lay(packages, name, modules)
    return kept


def _lay(packages: Packages, name: str, modules: Mapping[str, bytes]) -> None:
    """Put a package there, whole; one of that name with another content gives way.

    Raises HookctlError where the folder may not be written, and Changed where it is gone.
    """
    target = os.path.join(packages.path, name)
    if is_whole(target, modules):
        return
    staged = files.temporary_name(target)
    try:
        files.write_folder(staged, modules, packages.mode)
        _put_in_place(staged, target)
        files.sync_folder(packages.path)
    except FileNotFoundError:
        raise files.Changed(target) from None
    except OSError as error:
        shutil.rmtree(staged, ignore_errors=True)
        raise files.cannot_write(target, error) from None


def _put_in_place(staged: str, target: str) -> None:
    """Rename a package into its place; what is there gives way, and comes back if that fails."""
    if not os.path.lexists(target):
        os.rename(staged, target)
        return
    old = files.temporary_name(target)
    os.rename(target, old)
    try:
        os.rename(staged, target)
    except OSError:
        os.rename(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def sweep(folder: str, kept: Container[str] = ()) -> bool:
    """Remove what killed runs left here, and packages that no launcher names, but for `kept`.

    An edited package stays, but not in a project. Nothing is removed where a link has come into the
    path of the folder. False where something could not be removed.
    """
    if os.path.realpath(folder) != folder:
        return True
    try:
        for name in find_unnamed(folder, {}):
            package = os.path.join(folder, name)
            if name not in kept and is_ours(package):
                _remove(package)
        files.sweep_folders(folder)
        if not os.listdir(folder):
            os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _remove(package: str) -> None:
    """Remove a package by one rename, so that a kill leaves none that is half there."""
    gone = files.temporary_name(package)
    try:
        os.rename(package, gone)
    except FileNotFoundError:
        return
    if os.path.islink(gone):
        os.unlink(gone)
    else:
        shutil.rmtree(gone)
