"""The guard's runtime hook: `hook.py EVENT --host HOST`. It starts the package that it names.

The package's folder is named after its content: an upgrade adds the new folder and then replaces
this file. Only the package's own modules are loaded from it, and bytecode only if no other user
can write it. Any failure lets the agent stop. Python 3.8 or later, standard library only.
"""

import gc
import posix
import sys
from _frozen_importlib_external import SourceFileLoader, spec_from_file_location

PACKAGE = "guard"  # its path from here; as installed, with the digest of its content
FOLDER = __file__.rpartition("/")[0] or "."


class SourceOnly(SourceFileLoader):
    """Loads a module from its source and ignores bytecode."""

    def get_data(self, path):
        if not path.endswith(".py"):
            raise OSError
        return super().get_data(path)


class Finder:
    """Finds the modules of a package, each in one source file, and nothing else."""

    def __init__(self, package, folder, loader):
        self.package, self.folder, self.loader = package, folder, loader

    def find_spec(self, name, path=None, target=None):
        package, _, module = name.rpartition(".")
        if package != self.package:
            return None
        file = self.folder + "/" + module + ".py"
        if posix.stat(file).st_mode & 0o170000 != 0o100000:
            return None  # a pipe could hang us
        loader = self.loader(name, file)
        return spec_from_file_location(name, file, loader=loader, submodule_search_locations=None)


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
    """May Python keep the package's bytecode? Never under -B, and never in a shared project."""
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


def named_package():
    """The package that this file names now: an upgrade may have replaced both."""
    with open(__file__, encoding="utf-8") as stream:
        return stream.read().partition('\nPACKAGE = "')[2].partition('"')[0]


def start(path, loader, module, words):
    """Load a module of a package and all that these arguments need; return what to run."""
    package = path.rpartition("/")[2]
    above = sys.modules[package] = type(sys)(package)
    above.__path__ = []  # only the finder looks for modules
    above.__file__ = __file__  # tells the package where its launcher lies
    sys.meta_path.insert(0, Finder(package, FOLDER + "/" + path, loader))
    name = package + "." + module
    __import__(name)
    return sys.modules[name].prepare(words)


def load(module, words):
    """Start from bytecode if it is ours; if that fails, start again from the sources."""
    require_own_project()
    sys.pycache_prefix = None
    own = may_use_bytecode(FOLDER + "/" + PACKAGE)
    sys.dont_write_bytecode = not own
    try:
        return start(PACKAGE, SourceFileLoader if own else SourceOnly, module, words)
    except Exception:
        del sys.meta_path[0]
        for name in [*sys.modules]:
            if name.startswith(PACKAGE.rpartition("/")[2] + "."):
                del sys.modules[name]
        return start(named_package(), SourceOnly, module, words)


if __name__ == "__main__":
    gc.disable()  # a call is too short for it
    try:
        load("call", sys.argv[1:])()
    finally:
        posix._exit(0)
