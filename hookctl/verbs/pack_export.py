"""hookctl pack export: a pack as a plugin of Claude Code, which other agents read too."""

from __future__ import annotations

import json
import shlex
from typing import Any

from hookctl.errors import FAILED, OK, usage_error
from hookctl.hosts.matchers import FOR_ALL
from hookctl.model import Line, Result
from hookctl.packs.model import CLAUDE, Pack, PackHook
from hookctl.packs.protocol import EVENTS
from hookctl.packs.runner import hooks_of
from hookctl.packs.slots import fill, list_named_files, slots
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.verbs.choosing import new_folder

FORM = "claude-plugin"
_ROOT = '"${CLAUDE_PLUGIN_ROOT}"'
_HOST = "claude"


def export(folders: Folders, pack: Pack, form: str, output: str) -> Result:
    """Write the plugin into a new folder; exit code 1 where a part of the pack would vanish."""
    if form != FORM:
        raise usage_error("export as what?", f"Use --as {FORM}.")
    folder = new_folder(folders, output)
    written = _plugin(pack)
    programs = [name for name, (_, is_executable) in pack.contents.items() if is_executable]
    files.write_tree(folder, written, 0o644, programs)
    lost = _find_lost(pack)
    lines = [Line(f"{pack.name} {pack.version} as a plugin", "warn" if lost else "ok", path=folder)]
    lines += [Line(f"left out: {text}", indent=2) for text in lost]
    if any(hook.event == "pre-tool" and not hook.may_allow for hook in pack.hooks):
        text = "a hook's `allow` counts in a plugin: there it lifts the person's own permission"
        lines.append(Line(text, indent=2))
    text = "there is no runner: a program that reads `portable` or HOOKCTL_HOST does not find it"
    lines.append(Line(text, indent=2))
    lines.append(Line(f"Next: claude --plugin-dir {shlex.quote(output)}"))
    data = {"folder": folder, "files": sorted(written), "lost": lost}
    return Result(data, tuple(lines), exit_code=FAILED if lost else OK)


def _plugin(pack: Pack) -> dict[str, bytes]:
    about = {"name": pack.name, "version": pack.version, "description": pack.description}
    events: dict[str, list[dict[str, Any]]] = {}
    for hook in hooks_of(pack, _HOST):
        event = hook.event if hook.native else EVENTS[hook.event]
        entry: dict[str, Any] = {"type": "command", "command": _command(pack, hook)}
        seconds = hook.timeout
        if seconds is not None:  # the host's own limit is longer than that of a pack
            entry["timeout"] = seconds
        group: dict[str, Any] = {}
        if hook.matcher is not None and hook.matcher not in FOR_ALL:
            group["matcher"] = hook.matcher
        events.setdefault(event, []).append({**group, "hooks": [entry]})
    written = {name: data for name, (data, _) in pack.contents.items()}
    written[".claude-plugin/plugin.json"] = _dump(about)
    written["hooks/hooks.json"] = _dump({"hooks": events})
    return written


def _command(pack: Pack, hook: PackHook) -> str:
    """The command for a shell, which does nothing where the plugin's files are not.

    An agent may not say where its plugins are, and a plugin may be moved away: an interpreter
    without its program ends with 2, which would refuse every call.
    """
    named = [name for name in list_named_files(hook.command) if name in pack.files]
    has_files = any(slot.name == "files" for slot in slots(hook.command))
    needed = [*dict.fromkeys(named)] or [*pack.files[:1]] * has_files
    guard = "".join(f"[ -r {_ROOT}/{name} ] || exit 0; " for name in needed)
    values = {"files": _ROOT, "host": _HOST, "event": shlex.quote(hook.event)}
    return guard + "".join(fill(hook.command, values))


def _find_lost(pack: Pack) -> list[str]:
    lost = []
    if pack.protocol != CLAUDE:
        lost.append(f"the protocol {pack.protocol!r}: Claude Code asks in its own")
    names = sorted({name for _, name, _ in pack.all_env})
    if names:
        lost.append(f"env: {', '.join(names)}")
    for hook in pack.hooks:
        if hook.on_failure == "deny":
            lost.append(f'{hook.id}: on_failure = "deny" (a failing command lets the call go)')
        if hook.hosts and _HOST not in hook.hosts:
            lost.append(f"{hook.id}: it is for {', '.join(hook.hosts)}")
    others = sorted(name for name in pack.hosts if name != _HOST)
    if others:
        lost.append(f"the parts for {', '.join(others)}")
    if pack.rules:
        lost.append("the rules for the agent")
    return lost


def _dump(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
