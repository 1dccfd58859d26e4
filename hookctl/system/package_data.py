"""Reads the data files of hookctl: schemas, templates, hosts, packs, and the hooks' packages.

Plain files are opened directly. Only a package in an archive needs importlib.resources, whose
import costs a tenth of a call.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

_GUARD = "hookctl_guard"  # the name of its package in here


def asset(*names: str) -> str:
    """A file of `schemas/` or `templates/`: in the package of a wheel, beside it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    in_package = os.path.join(package, *names)
    if os.path.exists(in_package):
        return in_package
    return os.path.join(os.path.dirname(package), *names)


def read_data(*names: str) -> bytes:
    """The bytes of a file, by its path in the package as it is installed."""
    try:
        with open(asset(*names), "rb") as stream:
            return stream.read()
    except (FileNotFoundError, NotADirectoryError):
        from importlib.resources import files  # late: only in an archive

        return files("hookctl").joinpath(*names).read_bytes()


def list_data(*names: str, ending: str) -> list[str]:
    """The names of the files of a folder that end like this, sorted."""
    try:
        found = os.listdir(asset(*names))
    except (FileNotFoundError, NotADirectoryError):
        from importlib.resources import files  # late: only in an archive

        found = [entry.name for entry in files("hookctl").joinpath(*names).iterdir()]
    return sorted(name for name in found if name.endswith(ending))


def read_folder(*names: str, ending: str) -> dict[str, bytes]:
    """The bytes of the files of a folder that end like this, by name."""
    return {name: read_data(*names, name) for name in list_data(*names, ending=ending)}


def guard_module(name: str) -> ModuleType:
    """A module of the guard or the runner as this version copies it out to users."""
    if _GUARD not in sys.modules:
        package = ModuleType(_GUARD)
        package.__path__ = []
        archive = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        folders = (("templates", "guard", "guard"), ("templates", "runner"))
        for names in folders:
            package.__path__ += [asset(*names), os.path.join(archive, *names)]
        sys.modules[_GUARD] = package
    return importlib.import_module(f"{_GUARD}.{name}")
