"""Everything that a pack brings, in full: what a person reads before they agree to it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hookctl.masking import OwnText
from hookctl.packs.model import Pack, PackHook
from hookctl.packs.protocol import ALL, EVENTS, REFUSING_EVENTS, TOOL_EVENTS
from hookctl.packs.risks import is_risky
from hookctl.packs.runner import DEFAULT_TIMEOUT, is_run_by_runner
from hookctl.system import files

# The hosts' own events that ask before something is done.
_ASKS = (
    "(?i)permission|approv|(pre|before).*(tool|shell|mcp|read|write|command)|^tool.*(call|before)"
)
LONGEST_TEXT = 64 * 1024  # bytes of a file that is shown in full; of a longer one only its name

Contents = Mapping[str, tuple[bytes, bool]]  # by name: bytes, and whether it is executable


def lines(pack: Pack, contents: Contents, digest: str) -> list[str]:
    """The commands, variables and files of a pack, for people; never masked."""
    shown = [f"{pack.name} {pack.version} is not built into hookctl. {pack.origin} brings:"]
    for host, hook in pack.all_hooks:
        shown += _command_lines(pack, hook, host)
    shown += [_env_line(name, claim.value, host) for host, name, claim in pack.all_env]
    for name, (data, _) in contents.items():
        shown += _file_lines(name, data)
    if pack.rules:
        shown.append("  rules    for the agent, in the host's own file (CLAUDE.md, AGENTS.md, ...)")
        shown += [f"  | {line}" for line in pack.rules.split("\n")]
    shown.append(f"  sha256   {digest} (all of the above)")
    return [OwnText(line) for line in shown]


def data(pack: Pack, contents: Contents, digest: str) -> dict[str, Any]:
    """The same for machines."""
    commands = []
    for host, hook in pack.all_hooks:
        command = {"id": hook.id, "event": hook.event, "command": OwnText(hook.command)}
        command |= {"matcher": hook.matcher, "timeout": _time_limit(pack, hook)}
        command |= {"on_failure": hook.on_failure, "may_allow": _may_allow(pack, hook)}
        commands.append({**command, "hosts": [host] if host else list(hook.hosts)})
    env = []
    for host, name, claim in pack.all_env:
        named = {"name": name, "value": OwnText(claim.value)}
        env.append({**named, "hosts": [host] if host else [], "risky": is_risky(name)})
    listed = []
    for name, (content, is_executable) in contents.items():
        text = _text(content)
        listed.append(
            {
                "name": name,
                "bytes": len(content),
                "sha256": files.digest(content),
                "executable": is_executable,
                "text": None if text is None else OwnText(text),
            }
        )
    return {
        "name": pack.name,
        "version": pack.version,
        "source": OwnText(pack.source),
        "commit": pack.commit,
        "digest": digest,
        "commands": commands,
        "env": env,
        "files": listed,
        "rules": OwnText(pack.rules),
    }


def file_changes(old: bytes, new: bytes) -> list[str]:
    """The difference between two versions of a file, line by line where both are texts."""
    old_text, new_text = _text(old), _text(new)
    if old_text is None or new_text is None:
        return []
    diff = difflib.unified_diff(old_text.split("\n"), new_text.split("\n"), lineterm="", n=1)
    return [f"  | {line}" for line in list(diff)[2:]]


def _command_lines(pack: Pack, hook: PackHook, host: str) -> list[str]:
    """When a command runs, the command, and what limits it."""
    where = host or ", ".join(hook.hosts)
    only = f" on {where}" if where else ""
    id = "" if hook.id == hook.event else f" ({hook.id})"
    event = EVENTS.get(hook.event, hook.event)
    limits = "; ".join(_limits(pack, hook))
    shown = [f"  command  {event}{id}{only}: {hook.command}"]
    return [*shown, f"           {limits}"] if limits else shown


def _limits(pack: Pack, hook: PackHook) -> Iterator[str]:
    """For which calls a command runs, how long, and what it may do, in words."""
    if hook.matcher not in ALL:
        yield f"matcher {hook.matcher}"
    elif hook.event in TOOL_EVENTS:
        yield "every tool"
    seconds = _time_limit(pack, hook)
    if seconds is not None:
        yield f"timeout {seconds} s"
    if is_run_by_runner(pack, hook) and hook.event in REFUSING_EVENTS:
        is_refused = hook.on_failure == "deny"
        yield f"on_failure {hook.on_failure}{': refuses where it fails' if is_refused else ''}"
    if _may_allow(pack, hook):
        yield "its allow lifts your own permission"


def _may_allow(pack: Pack, hook: PackHook) -> bool:
    """Whether the host may hear an allow: the runner takes it out, where it is not declared."""
    if is_run_by_runner(pack, hook):
        return hook.may_allow
    return bool(re.search(_ASKS, EVENTS.get(hook.event, hook.event)))


def _time_limit(pack: Pack, hook: PackHook) -> int | None:
    """The seconds that a command has; None where the host decides."""
    if hook.timeout is None and is_run_by_runner(pack, hook):
        return DEFAULT_TIMEOUT
    return hook.timeout


def _env_line(name: str, value: str, host: str) -> str:
    only = f" on {host}" if host else ""
    needed = f"  (needs --allow-env {name})" if is_risky(name) else ""
    return f"  env      {name}={value}{only}{needed}"


def _file_lines(name: str, data: bytes) -> list[str]:
    shown = [f"  file     {name} ({len(data)} bytes, sha256 {files.digest(data)})"]
    text = _text(data)
    if text is None:
        return [*shown, "  | (not shown: no text, or longer than 64 KiB; read it yourself)"]
    return shown + [f"  | {line}" for line in text.split("\n")]


def _text(data: bytes) -> str | None:
    """The text of a file; None where it is none, or too long to be read at a terminal."""
    if len(data) > LONGEST_TEXT or b"\0" in data:
        return None
    try:
        return data.decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError:
        return None
