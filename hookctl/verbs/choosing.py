"""From options to what a verb takes: hosts, settings files, what may be done."""

import contextlib
import sys
from collections.abc import Sequence

from hookctl import hosts as known
from hookctl.errors import HookctlError, usage_error
from hookctl.hosts import Host
from hookctl.model import Record
from hookctl.output.lines import confirm, say
from hookctl.ownership import store
from hookctl.packs.choices import Permission
from hookctl.settings import targets
from hookctl.settings.targets import Target
from hookctl.system.folders import Folders, here
from hookctl.system.project import find, named


def permission(yes: bool, accept_changed: bool, verbose: bool, as_json: bool) -> Permission:
    """What may be done with packs that are not built in."""
    show, ask = (None, None) if as_json else (say, confirm)
    return Permission(yes, accept_changed, show, ask, verbose)


def choose_hosts(names: Sequence[str], scope: str, as_json: bool) -> list[Host]:
    """The named hosts; without --host the detected ones, after a question at the terminal."""
    if sys.platform == "win32":
        message = "Windows is not supported yet: no form of the hook's command is proven there"
        raise usage_error(message, "Use it inside WSL.")
    if scope == "managed":
        hint = "`hookctl render --scope managed` prints what to put there."
        raise usage_error("hookctl does not write managed settings", hint)
    known_scope(scope)
    if chosen := load_hosts(names):
        return chosen
    folders = here()
    ours = set[str]()  # a folder with only our files is no sign of a host
    with contextlib.suppress(HookctlError):  # the command itself says why it cannot be read
        ours = store.list_made(store.load(folders).files)
    every_host = map(known.load, known.names())
    detected = [host for host in every_host if known.detected(host, folders.environ, ours)]
    hosts = [host for host in detected if scope in host.scopes]
    listed = ", ".join(host.name for host in hosts)
    question = f"Detected here: {listed}. Go on with {listed}?"  # --json asks nobody
    if not names and not (hosts and not as_json and confirm(question)):
        hint = f"Name it, as in `--host claude`. Detected here: {listed or 'none'}."
        raise usage_error("which host?", hint)
    if not hosts:
        hint = f"Name one with --host: {', '.join(known.names())}."
        raise usage_error("no host was detected here", hint)
    without = ", ".join(host.title for host in detected if scope not in host.scopes)
    if without:
        say(f"skipped, no {scope} settings: {without}")
    return hosts


def find_targets(
    folders: Folders, hosts: list[Host], scope: str, project: str, *, recorded: bool = False
) -> list[Target]:
    """The hosts' settings files of a scope, in the named project or that of the working folder.

    With `recorded`, the named one may be gone, if hookctl's record has it.
    """
    root = ""
    if project and scope == "user":
        raise usage_error("--project is for project and local scope", "Add --scope project.")
    if project:
        records = store.load(folders).files if recorded else {}
        root = named(project, {record.project for record in records.values()})
    elif scope != "user":
        root = find(folders.cwd, folders.environ)
    return [targets.find(host, scope, folders, root) for host in hosts]


def recorded_target(record: Record, path: str) -> Target:
    """The target of a record; `path` is where its file is now."""
    if record.host not in known.names():
        message = f"this is for {record.host}, a host that this hookctl does not know"
        hint = "Use the newer hookctl that wrote it."
        raise HookctlError("ledger_newer", message, path=path, hint=hint)
    return targets.target_of_record(known.load(record.host), record, path)


def is_meant(record: Record, hosts: Sequence[str], scope: str) -> bool:
    """Whether a record is of the hosts and the scope that are asked for; empty for all."""
    return scope in ("", record.scope) and (not hosts or record.host in hosts)


def load_hosts(names: Sequence[str]) -> list[Host]:
    """The named hosts; an empty list stands for all that are in use."""
    return [known.load(name) for name in dict.fromkeys(() if "all" in names else names)]


def known_scope(scope: str) -> str:
    """A scope that files can be filtered by; empty for all of them."""
    if scope not in ("", *known.SCOPES):
        raise usage_error(f"unknown scope {scope!r}", "Use user, project or local.")
    return scope


def in_project(folders: Folders, project: str) -> Folders:
    """The folders as they are in the named project, or as they are here."""
    if not project:
        return folders
    return Folders(folders.state, folders.data, folders.environ, named(project))
