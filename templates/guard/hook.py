"""What hosts run: `hook.py EVENT --host HOST`, `hook.py run ...` and `hook.py wrap ...`.

It starts the guard's package, or for `run` the runner's with it. A package's folder is named after
its content: an upgrade adds the new folder and then replaces this file. Only the packages' own
modules are loaded, and bytecode only if no other user can write it. Any failure lets the agent
stop, and lets a wrapped hook run by itself. Python 3.8 or later, standard library only.
"""

import _signal
import gc
import posix
import sys
from _frozen_importlib_external import SourceFileLoader, spec_from_file_location

VERSION = ""  # the hookctl that installed this file
GUARD = "guard"  # the packages' paths from here; as installed, with the digests of their content
RUNNER = "runner"
FOLDER = __file__.rpartition("/")[0] or "."


class SourceOnly(SourceFileLoader):
    """Loads a module from its source and ignores bytecode."""

    def get_data(self, path):
        if not path.endswith(".py"):
            raise OSError
        return super().get_data(path)


class Finder:
    """Finds the modules of the package `hook`, each a source file in a folder, and nothing else."""

    def __init__(self, folders, loader):
        self.folders, self.loader = folders, loader

    def find_spec(self, name, path=None, target=None):
        package, _, module = name.rpartition(".")
        for folder in self.folders if package == "hook" else ():
            file = folder + "/" + module + ".py"
            try:
                mode = posix.stat(file).st_mode
            except FileNotFoundError:
                continue
            if mode & 0o170000 != 0o100000:
                return None  # a pipe could hang us
            loader = self.loader(name, file)
            return spec_from_file_location(
                name, file, loader=loader, submodule_search_locations=None
            )
        return None


def absolute_folder():
    """The folder of this file, absolute."""
    return FOLDER if FOLDER[0] == "/" else posix.getcwd() + "/" + FOLDER


def is_private(folder):
    """Can only this user and root write in a folder?"""
    status = posix.stat(folder)
    return status.st_uid in (0, posix.geteuid()) and not status.st_mode & 0o022


def is_foreign(path):
    """Does a file, or what a link leads to, belong neither to the caller nor to root?"""
    owners = posix.lstat(path).st_uid, posix.stat(path).st_uid
    return any(owner not in (0, posix.geteuid()) for owner in owners)


def require_own_project():
    """Stop if this lies in another user's .hookctl or project."""
    above, mark, _ = (absolute_folder() + "/").rpartition("/.hookctl/")
    if mark and (is_foreign(above or "/") or is_foreign(above + "/.hookctl")):
        raise PermissionError


def may_use_bytecode(folder):
    """May Python keep a package's bytecode? Never under -B, and never in a shared project."""
    if ".hookctl" in absolute_folder().split("/") or sys.dont_write_bytecode:
        return False
    cache = folder + "/__pycache__"
    try:
        if not all(map(is_private, (FOLDER, folder.rpartition("/")[0], folder))):
            return False
        posix.mkdir(cache, 0o700)
    except FileExistsError:
        pass
    except OSError:
        return False
    return is_private(cache)


def start(words, packages, loader):
    """Load all modules that these words need from the packages; return what to run."""
    above = sys.modules["hook"] = type(sys)("hook")
    above.__path__ = []  # only the finder looks for modules
    above.__file__ = __file__  # tells the modules where their launcher lies
    sys.meta_path.insert(0, Finder([FOLDER + "/" + package for package in packages], loader))
    __import__("hook.call")
    return sys.modules["hook.call"].prepare(words)


def load(words):
    """Start from bytecode if it is ours; if that fails, start again from the sources."""
    require_own_project()
    packages = [RUNNER, GUARD] if words[:1] == ["run"] else [GUARD]
    sys.pycache_prefix = None
    own = all([may_use_bytecode(FOLDER + "/" + package) for package in packages])
    sys.dont_write_bytecode = not own
    try:
        return start(words, packages, SourceFileLoader if own else SourceOnly)
    except Exception:
        del sys.meta_path[0]
        for name in [*sys.modules]:
            if name.startswith("hook."):
                del sys.modules[name]
        return start(words, [named_now(package) for package in packages], SourceOnly)


def named_now(package):
    """The path of the same package as this file names it now: an upgrade may have replaced both."""
    name = "\nRUNNER" if package is RUNNER else "\nGUARD"
    with open(__file__, encoding="utf-8") as stream:
        return stream.read().partition(name + ' = "')[2].partition('"')[0]


def become(command):
    """Replace this process by a wrapped hook, whose command this is."""
    # Python ignores this signal, and the other hook would inherit that.
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    posix.execv("/bin/sh", ["/bin/sh", "-c", command])


if __name__ == "__main__":
    gc.disable()  # a call is too short for it
    words = sys.argv[1:]
    try:
        run = load(words)
    except Exception:
        if words[:1] == ["wrap"]:
            become(words[-1])
        posix._exit(0)
    try:
        run()
    finally:
        posix._exit(0)
