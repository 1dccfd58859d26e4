"""From options to what a verb takes: hosts, settings files, what may be done.

It imports what it needs at once, so a command imports it only when it is called.
"""

from __future__ import annotations

import sys

from hookctl import hosts as known
from hookctl.commands.calling import confirm
from hookctl.errors import USAGE, HookctlError
from hookctl.hosts import Host
from hookctl.ledger import store
from hookctl.packs.choices import Permission
from hookctl.packs.model import Pack
from hookctl.report import say
from hookctl.settings import targets
from hookctl.settings.targets import Target
from hookctl.system.folders import Folders, here
from hookctl.system.project import find, named


def permission_for(pack: Pack, yes: bool, accept_changed: bool, as_json: bool) -> Permission | None:
    """What may be done with a pack; None for a built-in one, which needs no consent."""
    return permission_from(yes, accept_changed, as_json) if pack.source else None


def permission_from(yes: bool, accept_changed: bool, as_json: bool) -> Permission:
    """What may be done with packs that are not built in."""
    if as_json:
        return Permission(yes, accept_changed)
    return Permission(yes, accept_changed, say, confirm)


def choose_hosts(command: str, names: list[str] | None, scope: str, as_json: bool) -> list[Host]:
    """The named hosts; without --host the detected ones, after a question at the terminal."""
    if sys.platform == "win32":
        message = "Windows is not supported yet: no form of the hook's command is proven there"
        raise HookctlError("usage", message, hint="Use it inside WSL.", exit_code=USAGE)
    if scope not in ("user", "project", "local"):
        message, hint = f"unknown scope {scope!r}", "Use user, project or local."
        if scope == "managed":
            message = "hookctl does not write managed settings"
            hint = "`hookctl render --scope managed` prints what to put there."
        raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
    if names and "all" not in names:
        return [known.load(name) for name in dict.fromkeys(names)]
    folders, found = here(), []
    ours = store.made_paths(folders)
    if command.partition(" ")[0] not in ("install", "plan"):
        ours = set()  # `all` are also those where we are installed
    for host in map(known.load, known.names()):
        if known.detected(host, folders.environ, ours):
            found.append(host)
    detected = [host.name for host in found if scope in host.scopes]
    without = ", ".join(host.title for host in found if scope not in host.scopes)
    if not names:
        listed = ", ".join(detected) or "none"
        if not detected or as_json or not confirm(f"Detected here: {listed}. Go on with {listed}?"):
            named = command.removesuffix(" guard")
            message, hint = (
                "which host?",
                f"Name it, as in `hookctl {named} --host claude`. Detected here: {listed}.",
            )
            raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
    if not detected:
        hint = f"Name one of them with --host: {', '.join(known.names())}."
        raise HookctlError("usage", "no host was detected here", hint=hint, exit_code=USAGE)
    if without:
        say(f"skipped, no {scope} settings: {without}")
    return [known.load(name) for name in detected]


def find_targets(
    folders: Folders, hosts: list[Host], scope: str, project: str, *, recorded: bool = False
) -> list[Target]:
    """The hosts' settings files of a scope, in the named project or that of the working folder.

    With `recorded`, the named one may be gone, if hookctl's record has it.
    """
    root = ""
    if project:
        records = store.load(folders) if recorded else {}
        root = named(project, {record.project for record in records.values()})
    if project and scope == "user":
        say("--project has no effect in user scope, only with --scope project or --scope local")
    if scope != "user":
        root = root or find(folders.cwd, folders.environ)
    return [targets.find(host, scope, folders, root) for host in hosts]


def load_hosts(names: list[str] | None) -> list[Host]:
    """The named hosts; an empty list stands for all that are in use."""
    if names and "all" not in names:
        return [known.load(name) for name in dict.fromkeys(names)]
    return []


def known_scope(scope: str) -> str:
    """A scope that files can be filtered by; empty for all of them."""
    if scope not in ("", "user", "project", "local"):
        hint = "Use user, project or local."
        raise HookctlError("usage", f"unknown scope {scope!r}", hint=hint, exit_code=USAGE)
    return scope


def in_project(folders: Folders, project: str) -> Folders:
    """The folders as they are in the named project, or as they are here."""
    if not project:
        return folders
    return Folders(folders.state, folders.data, folders.environ, named(project))
