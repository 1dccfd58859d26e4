"""The guard's program files: the launchers, and the package that they start."""

from __future__ import annotations

import functools

from hookctl.packs.wrapping import PROGRAM as WRAPPER
from hookctl.system.package_data import list_data, read_data
from hookctl.system.packages import HOOK, name_package, path_from_launcher
from hookctl.values import NamedTuple

_PACKAGE = "guard"  # its folder in the templates
_NAMED = 'PACKAGE = "%s"'


class Programs(NamedTuple):
    """The guard's program files."""

    package: str  # the name of its folder
    modules: dict[str, bytes]
    launchers: dict[str, bytes]  # what registrations call; the hook is last: it names the package

    @property
    def all(self) -> dict[str, bytes]:
        """The modules and the launchers, by their paths from the launchers' folder."""
        folder = path_from_launcher(self.package)
        modules = {f"{folder}/{name}": data for name, data in self.modules.items()}
        return {**modules, **self.launchers}


@functools.cache
def load_programs(*, wrapper: bool) -> Programs:
    """The programs of this version; `wrapper` adds the one that runs another tool's hook."""
    modules = _modules()
    package = name_package(_PACKAGE, modules)
    launchers = {}
    if wrapper:
        launchers[WRAPPER] = read_data("templates", "guard", WRAPPER)
    hook = read_data("templates", "guard", HOOK)
    launchers[HOOK] = _set_package(hook, path_from_launcher(package))
    return Programs(package, modules, launchers)


def template_files() -> list[str]:
    """The hook and its package in the templates; they run there too."""
    names = _module_names()
    return [HOOK, *(f"{_PACKAGE}/{name}" for name in names)]


@functools.cache
def _modules() -> dict[str, bytes]:
    names = _module_names()
    return {name: read_data("templates", "guard", _PACKAGE, name) for name in names}


def _module_names() -> list[str]:
    return list_data("templates", "guard", _PACKAGE, ending=".py")


def _set_package(launcher: bytes, path: str) -> bytes:
    """The launcher with the path of the installed package in it."""
    before, _, behind = launcher.partition((_NAMED % _PACKAGE).encode())
    return before + (_NAMED % path).encode() + behind
