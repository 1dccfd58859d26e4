"""hookctl pack import: a pack of the hooks that stand in a host's settings."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from hookctl import hosts
from hookctl.documents import MISSING
from hookctl.documents.toml import block, inline
from hookctl.errors import HookctlError, usage_error
from hookctl.hosts import Host, shapes
from hookctl.masking import masked_text
from hookctl.model import Line, Result
from hookctl.output.lines import amount, cut, tilde
from hookctl.packs.model import CLAUDE
from hookctl.packs.pack import parse
from hookctl.packs.protocol import MATCHED_EVENTS, SHORT
from hookctl.packs.slots import slots
from hookctl.settings import targets
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.verbs.choosing import new_folder, require_name

_USUAL = (None, False, "bash")
_LONGEST = 60  # characters of a command that is named


def import_hooks(folders: Folders, names: Sequence[str], output: str) -> Result:
    """Write a pack of the user's hooks on one host; the settings stay as they are."""
    if len(names) != 1:
        raise usage_error("import from which host?", "Name one with --host.")
    folder = new_folder(folders, output)
    name = os.path.basename(folder)
    require_name(name)
    host, path = targets.active_file(hosts.load(names[0]), "user", folders.environ, "")
    snapshot, document = targets.read_settings(path, host.format)
    if snapshot.data is None:
        hint = "hookctl imports the hooks of this file; with --host, name an agent that has some."
        raise HookctlError("no_hooks", f"{host.title} has no settings yet", path=path, hint=hint)
    found, left = [], []
    for hook, problem in _read_hooks(host, document.value):
        problem = problem or _find_problem(name, host, hook)
        if problem:
            command = cut(masked_text(hook.get("command", "")), _LONGEST)
            left.append(f"{hook['event']}{command and f', `{command}`'}: {problem}")
        else:
            found.append(hook)
    if not found:
        hint = " ".join(["Only hooks that run a command can be in a pack.", *left])
        raise HookctlError("no_hooks", "no hook to import", path=path, hint=hint)
    data = _pack_text(name, host, found)
    files.write_tree(folder, {"pack.toml": data}, 0o644)
    count = amount(len(found), "hook")
    lines = [Line(f"{count} of {host.title} in a pack", "warn" if left else "ok", path=folder)]
    lines.append(Line("read from", indent=2, path=tilde(path)))
    lines += [Line(f"left out: {text}", indent=2) for text in left]
    lines += [
        Line("The scripts stay where they are; to hand the pack on, list them in [files]."),
        Line("The hooks stay in the settings, so `hookctl disable ID` them before you install."),
        Line(f"Next: hookctl pack check {shlex.quote(output)}"),
    ]
    return Result({"folder": folder, "hooks": len(found), "left": left}, tuple(lines))


def _read_hooks(host: Host, root: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Each hook as a table of a pack, and why it cannot be one, if so."""
    usual = host.registration.usual_timeouts
    for path, fields, group in shapes.handlers(host.shape, {} if root is MISSING else root):
        command = fields.get("command")
        event = str(path[len(host.shape.root)])
        if not isinstance(command, str) or fields.get("type", "command") != "command":
            yield {"event": event}, "it runs no command"
            continue
        if shapes.is_ours(command):
            continue
        table: dict[str, Any] = {"event": event, "command": command}
        # What makes the host run the command in another way than a pack's.
        own = [name for name in host.handlers.fields if fields.get(name) not in _USUAL]
        if own:
            yield table, f"it has `{own[0]}`, which no hook of a pack has"
            continue
        timeout = fields.get(host.registration.timeout)
        if isinstance(timeout, int | float) and not isinstance(timeout, bool):
            table["timeout"] = max(1, round(hosts.seconds(host, timeout)))
        elif event in SHORT and usual.get(event, usual.get("*")):  # a pack's would be less
            table["timeout"] = usual.get(event, usual.get("*"))
        matcher = group.get("matcher", fields.get("matcher"))
        is_ignored = host.name == CLAUDE and SHORT.get(event, "pre-tool") not in MATCHED_EVENTS
        if isinstance(matcher, str) and not is_ignored:
            table["matcher"] = matcher
        yield table, ""


def _find_problem(name: str, host: Host, hook: dict[str, Any]) -> str:
    """Why a hook cannot be in a pack as it is, or ''."""
    try:
        parse(_pack_text(name, host, [hook]), name)
        replaced = [slot.name for slot in slots(hook["command"])]
    except HookctlError as error:
        return re.sub("the command of hook-1|hooks.command", "the command", error.message)
    if replaced:
        return f"the command has {{{replaced[0]}}}, which a pack would replace"
    return ""


def _pack_text(name: str, host: Host, hooks: list[dict[str, Any]]) -> bytes:
    """The pack's file; each hook gets an id of its own."""
    speaks = host.name == CLAUDE
    header = {"name": name, "version": "0.1.0", "description": f"Hooks of {host.title}"}
    header |= {} if speaks else {"protocol": "host"}
    common: list[dict[str, Any]] = []
    native: list[dict[str, Any]] = []
    for number, hook in enumerate(hooks, 1):
        table = {"id": f"hook-{number}", **hook}
        if speaks and hook["event"] == "PreToolUse":
            table["may_allow"] = True
        (common if speaks and hook["event"] in SHORT else native).append(table)
    tables = {("pack",): header, ("hooks",): common, ("host", host.name, "hooks"): native}
    lines: list[str] = []
    for names, value in tables.items():
        lines += block(names, inline(value)) if value else []
    return (re.sub(r"\n(?=\[)", "\n\n", "\n".join(lines)) + "\n").encode()
