"""The guard registered in several scopes at once: what the host makes of that."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl import files
from hookctl.checks import Finding, Here
from hookctl.checks.registered import Guard, guards
from hookctl.errors import HookctlError


def check(here: Here) -> Iterator[Finding]:
    """Several registrations that the host reads here; twice in one file is an error of that file."""
    found = list({one.hook.source.path: one for one in guards(here)}.values())
    if len(found) < 2:
        return
    scopes = ", ".join(one.hook.source.scope for one in found)
    path = found[0].hook.source.path
    once = here.host.data["scopes"].get("same_command_once")
    if once and len({str(one.hook.fields["command"]) for one in found}) == 1:
        message = f"the guard is registered in several scopes ({scopes}) with one command, which the host runs once"
        yield here.find("two_scopes", "info", message, "An edit of one of them may have no effect.", path)
        return
    message = f"the guard is registered in several scopes ({scopes}); they all run, and a stop is counted once"
    yield here.find("two_scopes", "info", message, "Uninstall it where it is not meant.", path)
    if len({_program(one) for one in found} - {None}) > 1:
        message = f"the guards of {scopes} scope are of different versions; the first to answer decides for all"
        fix = "Install both with the same hookctl, or uninstall one of them."
        yield here.find("two_versions", "warning", message, fix, path)


def _program(one: Guard) -> bytes | None:
    try:
        return files.read(os.path.join(one.folder, "hook.py")).data
    except HookctlError:
        return None
