"""Packs by path: are their files still as they were installed, and is the pack's own file still where it was?"""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl import files, runtime_files
from hookctl.checks import Finding, Scene
from hookctl.errors import HookctlError
from hookctl.model import PackRecord
from hookctl.packs.pack import load_file
from hookctl.places import GUARD


def check(scene: Scene) -> Iterator[Finding]:
    """The files of every pack in one settings file, the guard's apart."""
    for name, page in sorted(scene.record.packs.items()) if scene.record else ():
        if name != GUARD:
            for file, sha in sorted(page.files.items()):
                yield from _file(scene, name, os.path.join(page.folder, file), sha)
            yield from _source(scene, name, page)


def _file(scene: Scene, pack: str, path: str, sha: str) -> Iterator[Finding]:
    install = scene.install_of(pack)
    try:
        there = files.read(path)
    except HookctlError as error:
        yield scene.find("hook_unreadable", "error", f"{pack}: {error.message}", error.hint, path)
        return
    if there.data is None:
        message = f"a file of {pack} is missing, so its hooks may do nothing"
        fix = f"`hookctl doctor --fix` or `{install}` puts it back, if the pack is still at hand."
        yield scene.find("hook_missing", "error", message, fix, path)
    elif not runtime_files.is_ours(there, sha):
        message = f"a file of {pack} is not as hookctl installed it"
        yield scene.find("hook_changed", "warning", message, f"`{install} --force` puts the pack's back.", path)


def _source(scene: Scene, name: str, page: PackRecord) -> Iterator[Finding]:
    source = page.source
    if scene.place.shared or not source:
        return
    try:
        pack = load_file(source)
    except HookctlError as error:
        message = (
            f"the file of {name} cannot be read any more, so it can be neither upgraded nor mended: {error.message}"
        )
        yield scene.find("pack_gone", "info", message, "Put it back, or install the pack from where it is now.", source)
        return
    if pack.name != name:
        message = f"this was the file of {name}; now {pack.name} is there"
        yield scene.find("pack_gone", "info", message, "Install the pack from where it is now.", source)
    elif pack.version != page.version:
        message = f"{name} is there in version {pack.version}; installed is {page.version}"
        yield scene.find("pack_old", "info", message, f"`{scene.install_of(name)}` brings it.", source)
