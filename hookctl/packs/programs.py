"""The guard's programs as files: the launchers, and the package beside them that they start."""

from __future__ import annotations

import hashlib
import os
import re

from hookctl.folders import asset
from hookctl.packs.wrapping import PROGRAM as WRAPPER

HOOK = "hook.py"
_PACKAGE = "guard"  # its folder in the templates
_NAMED = 'PACKAGE = "%s"'
_INSTALLED = re.compile(rf"{_PACKAGE}_[0-9a-f]{{16}}")


def package_files() -> dict[str, bytes]:
    """The package's modules, by their names in the guard's folder."""
    sources = _sources()
    package = _package_name(sources)
    return {f"{package}/{name}": data for name, data in sources.items()}


def launchers(*, wrapper: bool) -> dict[str, bytes]:
    """What a registration calls, in the order to write it: the hook, which names the package, comes last."""
    files = {WRAPPER: _template(WRAPPER)} if wrapper else {}
    return {**files, HOOK: _hook(_package_name(_sources()))}


def package_of(name: str) -> str:
    """The package's folder that a file of the guard's lies in, of whatever version; empty if it lies in none."""
    folder = os.path.dirname(name)
    return folder if is_package(folder) else ""


def is_package(name: str) -> bool:
    """Whether a folder has the name of an installed package, of whatever version."""
    return bool(_INSTALLED.fullmatch(name))


def template_files() -> list[str]:
    """The hook and its package as they lie in the templates, where they run as well."""
    return [HOOK, *(f"{_PACKAGE}/{name}" for name in _sources())]


def _sources() -> dict[str, bytes]:
    """The package's modules and their sources."""
    names = sorted(os.listdir(asset("templates", "guard", _PACKAGE)))
    return {name: _template(_PACKAGE, name) for name in names if name.endswith(".py")}


def _package_name(sources: dict[str, bytes]) -> str:
    """The name of the installed package's folder: other content has another one, and both lie side by side."""
    digest = hashlib.sha256()
    for name, data in sorted(sources.items()):
        digest.update(f"{name} {len(data)}\n".encode() + data)
    return f"{_PACKAGE}_{digest.hexdigest()[:16]}"


def _hook(package: str) -> bytes:
    """The hook's launcher with the package's name in it."""
    named = (_NAMED % _PACKAGE).encode()
    before, _, behind = _template(HOOK).partition(named)
    return before + (_NAMED % package).encode() + behind


def _template(*names: str) -> bytes:
    with open(asset("templates", "guard", *names), "rb") as stream:
        return stream.read()
