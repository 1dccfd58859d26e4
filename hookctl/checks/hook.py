"""Does the hook really work: its file, its configuration, its interpreter, and a self-test."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl import files, interpreter, runtime_files
from hookctl.checks import Finding, Scene, configuration, selftest
from hookctl.errors import HookctlError
from hookctl.model import PackRecord
from hookctl.packs.programs import HOOK, load_programs, package_of
from hookctl.packs.settings import settings_from


def check(scene: Scene) -> Iterator[Finding]:
    """The runtime files of one registration."""
    page = scene.guard
    if page is None:
        return
    settings = settings_from(page.settings)
    if not settings.events:
        message, fix = "the guard is off", f"`{scene.install} --mode breaker` switches it on."
        yield scene.find("guard_off", "info", message, fix)
        return
    chosen = settings.python
    if scene.place.shared:  # there the command takes whatever python3 is on PATH
        chosen = interpreter.python3(scene.folders.environ) or "python3"
    python = list(_interpreter(scene, chosen))
    program = list(_program(scene, page))
    yield from (*python, *program, *configuration.check(scene, page.folder))
    # A committed ledger vouches for nothing: at project scope only this version's own program is started.
    stop = ("error", "warning", "info") if scene.place.shared else ("error", "warning")
    if not any(finding.level in stop for finding in (*python, *program)):
        yield from selftest.check(scene, chosen, os.path.join(page.folder, HOOK))


def _interpreter(scene: Scene, python: str) -> Iterator[Finding]:
    if not os.path.isfile(python) or not os.access(python, os.X_OK):
        message, fix = "the hook's Python is gone, so the hook does nothing", "`hookctl doctor --fix` chooses another."
        if scene.place.shared:
            message, fix = "there is no python3 on PATH, so the hook does nothing", "Install Python 3.8 or later."
        yield scene.find("interpreter_missing", "error", message, fix, python)
        return
    found = interpreter.ask(python)
    if found is None:
        message = "the hook's Python does not run, so the hook does nothing"
        yield scene.find("interpreter_broken", "error", message, "Mend it.", python)
    elif found[1] < interpreter.MINIMUM:
        version, needed = (".".join(map(str, v)) for v in (found[1], interpreter.MINIMUM))
        message = f"the hook's Python is {version}; it needs {needed} or later"
        yield scene.find("interpreter_old", "error", message, f"Upgrade it, then `{scene.install}`.", python)


def _program(scene: Scene, page: PackRecord) -> Iterator[Finding]:
    """The launcher and the package that it starts; the first fault says enough."""
    recorded = [name for name in page.files if package_of(name)]
    for name in (HOOK, *recorded):
        finding = _file(scene, os.path.join(page.folder, name), page.files.get(name, ""))
        if finding:
            yield finding
            return
    current = load_programs(wrapper=False).all
    if any(_data(os.path.join(page.folder, name)) != data for name, data in current.items()):
        message = "the hook is of another version of hookctl" + ("; it was not tried" if scene.place.shared else "")
        path = os.path.join(page.folder, HOOK)
        yield scene.find("hook_old", "info", message, f"`{scene.install}` brings this version's.", path)


def _file(scene: Scene, path: str, sha: str) -> Finding | None:
    try:
        there = files.read(path)
    except HookctlError as error:
        return scene.find("hook_unreadable", "error", error.message, error.hint, path)
    if there.data is None:
        message = "the hook's file is missing, so the hook does nothing"
        if scene.place.shared:
            message += ": is .hookctl/ committed with the settings?"
        return scene.find("hook_missing", "error", message, "`hookctl doctor --fix` puts it back.", path)
    if not runtime_files.is_ours(there, sha):
        message = "the hook's file is not as hookctl installed it; it was not tried"
        return scene.find("hook_changed", "warning", message, f"`{scene.install} --force` puts ours back.", path)
    return None


def _data(path: str) -> bytes | None:
    try:
        return files.read(path).data
    except HookctlError:
        return None
