"""The guard's program files: the launchers, and the package that they start."""

from __future__ import annotations

import functools
import re

from hookctl.packs.wrapping import PROGRAM as WRAPPER
from hookctl.system.files import sha256
from hookctl.system.package_data import list_data, read_data
from hookctl.values import NamedTuple

HOOK = "hook.py"
_PACKAGE = "guard"  # its folder in the templates
_NAMED = 'PACKAGE = "%s"'
_INSTALLED = re.compile(rf"{_PACKAGE}_[0-9a-f]{{16}}")


class Programs(NamedTuple):
    """The guard's program files by their names in its folder, in the order to write them."""

    package: dict[str, bytes]
    launchers: dict[
        str, bytes
    ]  # a registration calls them; the hook comes last: it names the package

    @property
    def all(self) -> dict[str, bytes]:
        """The package's modules and the launchers."""
        return {**self.package, **self.launchers}


@functools.cache
def load_programs(*, wrapper: bool) -> Programs:
    """The programs of this version; `wrapper` adds the one that runs another tool's hook."""
    modules = _modules()
    package = name_package(modules)
    launchers = {WRAPPER: _read(WRAPPER)} if wrapper else {}
    launchers[HOOK] = _set_package_name(_read(HOOK), package)
    return Programs({f"{package}/{name}": data for name, data in modules.items()}, launchers)


def package_of(name: str) -> str:
    """The package folder of a guard file, of any version; empty if it is in none."""
    folder, inside, _ = name.rpartition("/")
    return folder if inside and is_package(folder) else ""


def is_package(name: str) -> bool:
    """Whether a folder has the name of an installed package, of any version."""
    return bool(_INSTALLED.fullmatch(name))


def template_files() -> list[str]:
    """The hook and its package in the templates; they run there too."""
    names = _module_names()
    return [HOOK, *(f"{_PACKAGE}/{name}" for name in names)]


def _modules() -> dict[str, bytes]:
    return {name: _read(_PACKAGE, name) for name in _module_names()}


def _module_names() -> list[str]:
    return list_data("templates", "guard", _PACKAGE, ending=".py")


def name_package(sources: dict[str, bytes]) -> str:
    """The package's folder name; it depends on the content, so versions coexist."""
    digest = sha256()
    for name, data in sorted(sources.items()):
        digest.update(f"{name} {len(data)}\n".encode() + data)
    return f"{_PACKAGE}_{digest.hexdigest()[:16]}"


def _set_package_name(launcher: bytes, package: str) -> bytes:
    """The launcher with the installed package's name in it."""
    before, _, behind = launcher.partition((_NAMED % _PACKAGE).encode())
    return before + (_NAMED % package).encode() + behind


def _read(*names: str) -> bytes:
    return read_data("templates", "guard", *names)
