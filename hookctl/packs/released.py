"""The programs of released versions, known by the digests that come with hookctl."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from hookctl.errors import HookctlError
from hookctl.system import files
from hookctl.system.files import content_digest
from hookctl.system.package_data import read_data
from hookctl.system.packages import HOOK, PACKAGES, list_former, packages_named


def _load() -> dict[str, dict[str, str]]:
    released: dict[str, dict[str, str]] = json.loads(read_data("packs", "released.json"))
    return released


def version_of_launcher(launcher: bytes) -> str:
    """The released version that has this launcher, which names its packages; '' if none has."""
    digest = files.digest(launcher)
    return next((version for version, known in _load().items() if known.get(HOOK) == digest), "")


def find_former(top: str, read: Callable[[str], files.Snapshot]) -> set[str]:
    """The files below a folder that 0.2.0 laid there: its programs as released, and their data."""
    known, found = set(_load()["0.2.0"].values()), set()
    runtime = os.path.join(top, PACKAGES)
    for path in list_former(top):
        if not path.endswith(".py"):
            found.add(path)
            continue
        prefix = os.path.relpath(runtime, os.path.dirname(path))
        try:
            launcher = read(path).data or b""
            programs, paths = {os.path.basename(path): launcher}, {path}
            for package in packages_named(launcher):
                for name in sorted(os.listdir(os.path.join(runtime, package))):
                    module = os.path.join(runtime, package, name)
                    if name.endswith(".py"):
                        paths.add(module)
                        relative = os.path.normpath(os.path.join(prefix, package, name))
                        programs[relative] = read(module).data or b""
        except (HookctlError, OSError):
            continue
        if content_digest(b"", programs) in known:
            found |= paths
    return found
