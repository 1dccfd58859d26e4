"""What hookctl asks of the operating system: safe writes, backups, folders, processes, projects.

It may import the values at the root, and nothing else of hookctl. Here is what reads the files that
come with it: schemas, templates, hosts, packs, and the packages of the hooks.
"""

import functools
import importlib
import os
import sys
from types import ModuleType

_GUARD = "hookctl_guard"  # the name of its package in here
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@functools.cache
def asset(*names: str) -> str:
    """A file of `schemas/` or `templates/`: in the package of a wheel, beside it in a checkout."""
    is_in_package = os.path.exists(os.path.join(_PACKAGE, names[0]))
    return os.path.join(_PACKAGE if is_in_package else os.path.dirname(_PACKAGE), *names)


def read_data(*names: str) -> bytes:
    """The bytes of a file, by its path in the package as it is installed."""
    with open(asset(*names), "rb", buffering=0) as stream:
        return stream.read()


def list_data(*names: str, ending: str) -> list[str]:
    """The names of the files of a folder that end like this, sorted."""
    return sorted(name for name in os.listdir(asset(*names)) if name.endswith(ending))


def read_folder(*names: str, ending: str) -> dict[str, bytes]:
    """The bytes of the files of a folder that end like this, by name."""
    return {name: read_data(*names, name) for name in list_data(*names, ending=ending)}


def guard_module(name: str) -> ModuleType:
    """A module of the guard or the runner as this version copies it out to users."""
    if _GUARD not in sys.modules:
        package = ModuleType(_GUARD)
        package.__path__ = []
        for names in (("templates", "guard", "guard"), ("templates", "runner")):
            package.__path__ += [asset(*names), os.path.join(_PACKAGE, *names)]
        sys.modules[_GUARD] = package
    return importlib.import_module(f"{_GUARD}.{name}")
