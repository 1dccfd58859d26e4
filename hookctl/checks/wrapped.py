"""Other tools' hooks that the guard wraps: is what limits them there, and does the ledger know them?"""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl import files, runtime_files
from hookctl.checks import Finding, Scene
from hookctl.errors import HookctlError
from hookctl.masking import masked_text
from hookctl.model import Element, Entry, PackRecord
from hookctl.packs.settings import settings_from
from hookctl.packs.wrapping import PROGRAM, original_of, wraps

_ALONE = "the hooks of other tools that it wraps run by themselves, without a limit"


def check(scene: Scene) -> Iterator[Finding]:
    """The wrapped hooks of one settings file: of each only the command is ours."""
    if scene.live is None:
        return
    known = {entry.id: entry for entry in scene.record.entries if wraps(entry.id)} if scene.record else {}
    there = {element.id: element for element in scene.live.elements if wraps(element.id)}
    for id, element in there.items():
        yield from _one(scene, element, known.get(id))
    for id in known.keys() - there.keys():
        message = f"{id} is gone with the hook that it wrapped"
        yield scene.find("wrap_gone", "info", message, f"Nothing: the next `{scene.install}` forgets it.")
    if there and scene.guard:
        yield from _files(scene, scene.guard)


def _one(scene: Scene, element: Element, entry: Entry | None) -> Iterator[Finding]:
    original = original_of(str(element.fields["command"]))
    if original is None:
        message = f"the command of {element.id}, around another tool's hook, was edited; it is yours now and stays"
        fix = f"`{scene.install} --force` makes it as it was." if entry else "Put the tool's own command there."
        yield scene.find("wrap_edited", "warning", message, fix)
    elif entry is None:
        message = f"{element.id} wraps {masked_text(original)}, but the ledger does not know it"
        fix = f"`{scene.install}` takes it over; `hookctl uninstall` gives the command back."
        yield scene.find("wrap_unknown", "warning", message, fix)


def _files(scene: Scene, page: PackRecord) -> Iterator[Finding]:
    """What the wrapped hooks run through; the hook itself is looked at elsewhere while the guard is on."""
    for name in (PROGRAM,) if settings_from(page.settings).events else (PROGRAM, "hook.py"):
        path = os.path.join(page.folder, name)
        try:
            there = files.read(path)
        except HookctlError as error:
            yield scene.find("wrap_missing", "warning", f"{error.message}: {_ALONE}", error.hint, path)
            continue
        if there.data is None:
            message = f"{name} is missing: {_ALONE}"
            yield scene.find("wrap_missing", "warning", message, "`hookctl doctor --fix` puts it back.", path)
        elif not runtime_files.is_ours(there, page.files.get(name, "")):
            message = f"{name}, through which hooks of other tools run, is not as hookctl installed it"
            yield scene.find("wrap_changed", "warning", message, f"`{scene.install} --force` puts ours back.", path)
