"""The programs that hosts run, as this version writes them: a launcher and its packages."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from hookctl import __version__
from hookctl.system.package_data import asset, list_data, read_data, read_folder
from hookctl.system.packages import HOOK, PACKAGES, Modules, name_package

_GUARD, _RUNNER = ("templates", "guard", "guard"), ("templates", "runner")
_LAUNCHER = ("templates", "guard", HOOK)


class Programs(NamedTuple):
    """The launcher, and its packages by the names of their folders."""

    launcher: bytes
    guard: dict[str, Modules]
    runner: dict[str, Modules]

    @property
    def all(self) -> dict[str, bytes]:
        """Every file, by its path from the folder of the launcher, which is the last one."""
        files = {}
        for package, modules in {**self.guard, **self.runner}.items():
            for name, data in modules.items():
                files[f"{PACKAGES}/{package}/{name}"] = data
        return {**files, HOOK: self.launcher}


@functools.cache
def load_programs() -> Programs:
    """The programs of this version."""
    packages = []
    for package, folder in (("guard", _GUARD), ("runner", _RUNNER)):
        modules = read_folder(*folder, ending=".py")
        packages.append({name_package(package, modules): modules})
    guard, runner = packages
    launcher = read_data(*_LAUNCHER).decode()
    stamps = {"VERSION": __version__}
    for name, package in (("GUARD", guard), ("RUNNER", runner)):
        stamps[name] = f"{PACKAGES}/{next(iter(package))}"
    for name, value in stamps.items():
        launcher = re.sub(rf'(?m)^{name} = "[a-z]*"', f'{name} = "{value}"', launcher)
    return Programs(launcher.encode(), guard, runner)


def template_files(*, runner: bool) -> dict[str, str]:
    """The sources of the launcher and its packages; with the runner's if that is meant.

    They run as they stand in the templates.
    """
    sources = {HOOK: asset(*_LAUNCHER)}
    for package, folder in {"guard": _GUARD, **({"runner": _RUNNER} if runner else {})}.items():
        for name in list_data(*folder, ending=".py"):
            sources[f"{package}/{name}"] = asset(*folder, name)
    return sources
