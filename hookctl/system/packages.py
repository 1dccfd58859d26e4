"""What lies in a data folder of hookctl, and in a project's `.hookctl`, for hosts to run.

`hook.py` is the launcher of everything there. It names the packages `runtime/NAME_DIGEST` that it
starts. A package is put there whole by one rename before the launcher names it, and removed by one
when no launcher names it any more. So a kill leaves at most an unnamed package, and the journal of
a run need not know what is in it.
"""

import contextlib
import os
import re
import shutil
import time
from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

from hookctl.errors import FAILED, HookctlError
from hookctl.system import files

HOOK = "hook.py"
PACKAGES, CONFIGS, PACKS = "runtime", "guard", "packs"  # the folders beside the launcher
TABLE = f"{PACKAGES}/hosts.json"  # what the runner has to know of the hosts, and their packs
# The patterns are compiled when they are used: most calls change no package.
NAME = r"[a-z]+_[0-9a-f]{16}"  # of a package's folder, whatever its version
LOCK_SECONDS = 30

Modules = Mapping[str, bytes]  # of a package, by their names


class Packages(NamedTuple):
    """What a run does in one folder of packages."""

    path: str  # of the folder, with every link resolved
    new: Mapping[str, Modules] = {}  # what to put there, by package
    mode: int = files.PRIVATE  # of its files
    keeps_replaced: bool = False  # a call that runs now may still be importing from it


def name_package(name: str, modules: Modules) -> str:
    """The name of a package's folder; it depends on the content, so versions coexist."""
    digest = files.sha256()
    for module, data in sorted(modules.items()):
        digest.update(f"{module} {len(data)}\n".encode() + data)
    return f"{name}_{digest.hexdigest()[:16]}"


def packages_named(launcher: bytes) -> list[str]:
    """The packages that a launcher names."""
    return [name.decode() for name in re.findall(NAME.encode(), launcher)]


def version_of(launcher: bytes) -> str:
    """The version that a launcher says it is of; '' where it says none, as 0.2.0's."""
    match = re.search(rb'(?m)^VERSION = "([0-9.]+)"', launcher)
    return match[1].decode() if match else ""


def find_unnamed(folder: str) -> list[str]:
    """The packages that no launcher names, and the runner's where no pack needs it."""
    top = os.path.dirname(folder)
    hook, named = os.path.join(top, HOOK), set()
    try:
        for path in {hook, *list_former(top)}:
            if os.path.basename(path) == HOOK:
                names = packages_named(files.read(path).data or b"")
                if path == hook and not os.path.lexists(os.path.join(top, TABLE)):
                    names = [name for name in names if not name.startswith("runner_")]
                named.update(names)
    except (HookctlError, OSError):
        return []
    return [name for name in files.names_in(folder, NAME) if name not in named]


def list_former(top: str) -> list[str]:
    """The launchers that 0.2.0 laid below a folder, and the configurations beside them."""
    configs, runtime, found = os.path.join(top, CONFIGS), os.path.join(top, PACKAGES), []
    for name in files.names_in(configs):
        folder = os.path.join(configs, name)
        if not os.path.islink(folder):
            found += [os.path.join(folder, each) for each in ("hook.py", "wrap.py", "config.json")]
    for name in files.names_in(runtime, r"hook\.py|trace\.py|(?!hosts\.json\Z).*\.json"):
        found.append(os.path.join(runtime, name))
    return [path for path in found if os.path.lexists(path)]


def is_whole(package: str, modules: Modules) -> bool:
    """Whether a package has just these modules; bytecode beside them does not matter."""
    with contextlib.suppress(HookctlError, OSError):
        names = {*os.listdir(package)} - {"__pycache__"}
        paths = [os.path.join(package, name) for name in names]
        if names == modules.keys() and not any(map(os.path.islink, (package, *paths))):
            return files.read_folder(package, names) == modules
    return False


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Hold the lock of a folder, which runs with other state folders share."""
    end = time.monotonic() + LOCK_SECONDS
    with contextlib.ExitStack() as held:
        while True:
            try:
                handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:  # nothing is there to be kept from others
                break
            except OSError as error:
                raise files.cannot_write(folder, error) from None
            held.callback(os.close, handle)
            if try_lock(handle, folder):
                break
            held.close()
            if time.monotonic() > end:
                raise lock_timeout(folder)
            time.sleep(0.05)
        yield


def lock_timeout(folder: str) -> HookctlError:
    """The error of a folder's lock that stays held."""
    message = f"another hookctl has held the lock for {LOCK_SECONDS} seconds"
    hint = "Wait for it to end, then run the command again."
    return HookctlError("lock_timeout", message, path=folder, hint=hint, exit_code=FAILED)


def try_lock(handle: int, path: str) -> bool:
    """Lock what was opened, unless another process holds it, or it was removed or replaced."""
    import fcntl  # late: Windows has none

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # this file system has no locks
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(handle), os.stat(path))
    return False


def provide(packages: Packages, locks: contextlib.ExitStack, created: list[str]) -> list[str]:
    """Lock a folder and put the packages there; returns those to keep when the run is over."""
    for name in packages.new:
        inside = os.path.join(packages.path, name)
        created[:0] = files.make_parent_folders(inside, packages.mode)
    locks.enter_context(locked(packages.path))
    kept = []
    if packages.keeps_replaced:
        unnamed = find_unnamed(packages.path)
        kept = [name for name in files.names_in(packages.path, NAME) if name not in unnamed]
    for name, modules in packages.new.items():
        target = os.path.join(packages.path, name)
        if is_whole(target, modules):
            continue
        staged = files.temporary_name(target)
        try:
            files.write_folder(staged, modules, packages.mode)
            _remove(target)  # of that name, with another content
            os.rename(staged, target)
            files.sync_folder(packages.path)
        except FileNotFoundError:
            raise files.Changed(target) from None
        except OSError as error:
            shutil.rmtree(staged, ignore_errors=True)
            raise files.cannot_write(target, error) from None
    return kept


def sweep(folder: str, kept: Container[str] = ()) -> bool:
    """Remove what killed runs left here, and packages that no launcher names, but for `kept`.

    Nothing is removed where a link has come into the path of the folder. False where something
    could not be removed.
    """
    if os.path.realpath(folder) != folder:
        return True
    try:
        for name in find_unnamed(folder):
            if name not in kept:
                _remove(os.path.join(folder, name))
        is_clean = files.sweep(folder)
        if is_clean and not os.listdir(folder):
            os.rmdir(folder)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return is_clean


def _remove(package: str) -> None:
    """Remove a package, if it is there, by one rename: a kill leaves none that is half there."""
    gone = files.temporary_name(package)
    try:
        os.rename(package, gone)
    except FileNotFoundError:
        return
    if os.path.islink(gone):
        os.unlink(gone)
    else:
        shutil.rmtree(gone)
