"""The guard's program files: the launchers, and the package that they start."""

from __future__ import annotations

import functools

from hookctl.system.package_data import read_data, read_folder
from hookctl.system.packages import HOOK, WRAPPER, name_package, path_from_launcher
from hookctl.values import NamedTuple

_TEMPLATES = ("templates", "guard")
_PACKAGE = "guard"  # its folder in there
_NAMED = b'PACKAGE = "%s"'


class Programs(NamedTuple):
    """The guard's program files."""

    package: str  # the name of its folder
    modules: dict[str, bytes]
    launchers: dict[str, bytes]  # what registrations call; the hook is last: it names the package
    runner: bytes = b""  # the hook in the packages' own folder, which packs' commands are run by

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
    runner = hook.replace(template, _NAMED % package.encode(), 1)
    return Programs(package, modules, launchers, runner)


def template_files() -> list[str]:
    """The hook and its package in the templates; they run there too."""
    return [HOOK, *(f"{_PACKAGE}/{name}" for name in _read_modules())]


@functools.cache
def _read_modules() -> dict[str, bytes]:
    """The modules of the package, by name."""
    return read_folder(*_TEMPLATES, _PACKAGE, ending=".py")
