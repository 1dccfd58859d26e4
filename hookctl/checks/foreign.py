"""Other people's hooks with a trap in them: never run, a script that is gone, an agent or an installer inside."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from hookctl import hosts
from hookctl.checks import Finding, Here
from hookctl.checks.handlers import knowledge, never_runs
from hookctl.checks.registered import Hook, running

_FLOATING = ("npx", "bunx", "pnpx", "uvx")  # they may fetch another version at every call
_SHELL = re.compile(r"[;&|<>()`$*?\n]")  # a command with one of these is more than a program and its arguments
_BEFORE = r"\s*(?:\w+=\S*\s+|(?:exec|env|nohup|time|command)\s+|timeout\s+\S+\s+)*"  # of a command's own name
_SCRIPTED = re.compile(r"(?:python|node|ruby|perl|bash|sh|zsh|dash)[0-9.]*")


def check(here: Here) -> Iterator[Finding]:
    """Every hook of others that the host reads here."""
    agents = {hosts.load(name).data["client"]["command"] for name in hosts.names()}
    for hook in running(here):
        if not hook.id:
            yield from _idle(here, hook)
            yield from _script(here, hook)
            yield from _starts(here, hook, agents)


def _at(hook: Hook) -> str:
    return ".".join(map(str, hook.path))


def _idle(here: Here, hook: Hook) -> Iterator[Finding]:
    why = never_runs(here.host, hook.event, hook.fields)
    if why:
        message = f"{_at(hook)} ({hook.title}) {why}"
        yield here.find(
            "never_runs", "warning", message, "Remove `if`, and let the hook itself decide.", hook.source.path
        )
    ignored = knowledge(here.host).get("ignored", {})
    for name in (name for name in (*ignored.get("*", ()), *ignored.get(hook.event, ())) if name in hook.fields):
        message = f"{_at(hook)} ({hook.title}): {here.host.title} ignores `{name}` there"
        yield here.find("ignored_field", "info", message, f"Remove `{name}`.", hook.source.path)


def _script(here: Here, hook: Hook) -> Iterator[Finding]:
    """A script that an interpreter is to run, by an absolute path, and that is not there."""
    words = hook.words
    plain = words and not _SHELL.search(hook.command) and _SCRIPTED.fullmatch(os.path.basename(words[0]))
    script = next((word for word in words[1:] if not word.startswith("-")), "") if plain else ""
    if not os.path.isabs(script) or os.path.lexists(script):
        return
    message = f"{_at(hook)} runs {script}, which is not there"
    level = "info"
    does = knowledge(here.host).get("script_gone", {}).get(hook.event)
    if does:
        level, message = "warning", f"{message}: {here.host.title} {does}"
    yield here.find("script_missing", level, message, "Put it back, or remove the hook.", hook.source.path)


def _starts(here: Here, hook: Hook, agents: set[str]) -> Iterator[Finding]:
    names = _commands(hook)
    agent = next((name for name in names if name in agents), "")
    if agent:
        message = f"{_at(hook)} starts {agent}, whose own hooks run then: that may never end"
        yield here.find("agent_in_hook", "warning", message, "Start agents elsewhere.", hook.source.path)
    floating = next((name for name in names if name in _FLOATING), "")
    if floating:
        message = (
            f"{_at(hook)} runs {floating} at every {hook.event}, which may fetch and run another version each time"
        )
        yield here.find("floating_hook", "warning", message, "Install the program, and name it.", hook.source.path)


def _commands(hook: Hook) -> list[str]:
    """The programs that a hook's command line calls, as far as they can be told without a shell."""
    parts = re.split(r"[;&|\n(`]+", hook.command)
    words = (re.match(_BEFORE + r"(?P<name>[^\s'\"=]+)", part) for part in parts)
    return [os.path.basename(word["name"]) for word in words if word]
