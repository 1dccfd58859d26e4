"""The program files of the guard and of the runner: launchers, and the package that they start."""

from __future__ import annotations

import functools
from typing import NamedTuple

from hookctl.system.package_data import asset, list_data, read_data, read_folder
from hookctl.system.packages import HOOK, WRAPPER, name_package, path_from_launcher

_TEMPLATES = ("templates", "guard")
_PACKAGE = "guard"  # its folder in there
_RUNNER = ("templates", "runner")
_NAMED = b'PACKAGE = "%s"'


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
    modules = _read_modules()
    package = name_package(_PACKAGE, modules)
    launchers = {WRAPPER: read_data(*_TEMPLATES, WRAPPER)} if wrapper else {}
    hook, template = read_data(*_TEMPLATES, HOOK), _NAMED % _PACKAGE.encode()
    launchers[HOOK] = hook.replace(template, _NAMED % path_from_launcher(package).encode(), 1)
    return Programs(package, modules, launchers)


class Runner(NamedTuple):
    """The program files that run the commands of packs: of the guard's package, and their own."""

    package: str  # the name of its folder
    modules: dict[str, bytes]
    launcher: bytes  # beside the package


@functools.cache
def load_runner() -> Runner:
    """The runner of this version."""
    modules = {**_read_modules(), **read_folder(*_RUNNER, ending=".py")}
    package = name_package("runner", modules)
    template = _NAMED % _PACKAGE.encode()
    launcher = read_data(*_TEMPLATES, HOOK).replace(template, _NAMED % package.encode(), 1)
    return Runner(package, modules, launcher)


def template_files(*, runner: bool) -> dict[str, str]:
    """The sources of the hook and its package, by their paths; with the runner's if that is meant.

    They run as they stand in the templates.
    """
    sources = {HOOK: asset(*_TEMPLATES, HOOK)}
    for name in _read_modules():
        sources[f"{_PACKAGE}/{name}"] = asset(*_TEMPLATES, _PACKAGE, name)
    for name in list_data(*_RUNNER, ending=".py") if runner else ():
        sources[f"{_PACKAGE}/{name}"] = asset(*_RUNNER, name)
    return sources


@functools.cache
def _read_modules() -> dict[str, bytes]:
    """The modules of the package, by name."""
    return read_folder(*_TEMPLATES, _PACKAGE, ending=".py")
