"""The values of this room: files with hooks, and the hooks in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.hosts import Host
from hookctl.hosts.model import OtherAgent
from hookctl.model import Path
from hookctl.receipts.events import Runs

# The states of a hook. All but the first say why it does not run.
RUNS = "runs"
NOT_APPROVED = "not_approved"
FOLDER_UNTRUSTED = "folder_untrusted"
OFF = "off"
HIDDEN = "hidden"
NO_TOOL = "no_tool"
UNKNOWN_EVENT = "unknown_event"
IGNORED = "ignored"
MISSING = "missing"
NOT_EXECUTABLE = "not_executable"
NO_COMPILE = "no_compile"
DISABLED = "disabled"
TWICE = "twice"
# What somebody wanted so; every other state but the first is worth a look.
WANTED = (OFF, HIDDEN, DISABLED, TWICE)
# Those that the host starts all the same: what follows is another matter on each host.
FAILING = (MISSING, NOT_EXECUTABLE, NO_COMPILE)
# Of which the host takes nothing, and those of hooks that it does not even know by their names.
UNREAD = (DISABLED, HIDDEN, IGNORED)
NOT_LOADED = (IGNORED, UNKNOWN_EVENT, OFF, FOLDER_UNTRUSTED, DISABLED)
MODULE = "plugin"  # the event of a plugin that is code, and itself says what it hooks


class Obstacle(NamedTuple):
    """Why a hook does not run."""

    state: str
    reason: str
    fix: str = ""  # what to do, where the reason does not say it
    status: int = 0  # with which its command ends then; 0 where that is not known


class HookFile(NamedTuple):
    """A file with hooks, and what its host does with all of them."""

    host: Host  # in the variant of this file
    scope: str  # user | project | local | managed | plugin
    path: str  # as people know it
    plugin: str = ""  # the name of the plugin that the file belongs to
    shared: tuple[Obstacle, ...] = ()  # what stops its hooks, and those of other files too
    note: str = ""  # what to know about hooks of it that run
    readers: tuple[OtherAgent, ...] = ()  # the other agents that read the file
    variables: Mapping[str, str] = {}  # that its commands get, as the root of a plugin

    def expand(self, command: str) -> str:
        """A command with the values of these variables in it; others stay."""
        for name, value in self.variables.items():
            pattern = rf"\$(?:\{{{name}\}}|{name}\b)"
            command = re.sub(pattern, lambda _, value=value: value, command)
        return command


class Hook(NamedTuple):
    """A hook that stands in a file: a host would run it here, or would not."""

    within: HookFile
    path: Path  # in the document of the file
    event: str
    fields: Mapping[str, Any]
    matcher: str = ""  # empty where it has none
    line: int = 0  # where it begins; 0 where that is not known
    own_id: str = ""  # PACK/ID of one of ours
    obstacles: tuple[Obstacle, ...] = ()  # its own, the one that counts first
    note: str = ""  # what to know about it where it runs
    id: str = ""
    receipts: Runs = Runs()

    @property
    def host(self) -> str:
        return self.within.host.name

    @property
    def scope(self) -> str:
        return self.within.scope

    @property
    def file(self) -> str:
        return self.within.path

    @property
    def plugin(self) -> str:
        return self.within.plugin

    @property
    def owner(self) -> str:
        """A pack or a plugin; empty where nobody is known."""
        return self.own_id.partition("/")[0] or self.plugin

    @property
    def command(self) -> str:
        """What it runs, in one text: its command with its arguments, or what its type names."""
        fields = self.fields
        for key in self.within.host.registration.commands:
            if isinstance(fields.get(key), str):
                return " ".join([fields[key], *_texts(fields.get("args"))])
        for key in ("url", "prompt"):
            if isinstance(fields.get(key), str):
                return str(fields[key])
        return " ".join(_texts([fields.get("server"), fields.get("tool")]))

    @property
    def is_disabled(self) -> bool:
        """Whether `hookctl disable` took it out."""
        return any(obstacle.state == DISABLED for obstacle in self.obstacles)

    @property
    def shared(self) -> tuple[Obstacle, ...]:
        """What stops other hooks of the host, too."""
        return () if self.is_disabled else self.within.shared

    @property
    def state(self) -> str:
        """The state of the first obstacle: of its own first, since it has them in any case."""
        return (*(one.state for one in (*self.obstacles, *self.shared)), RUNS)[0]

    @property
    def reason(self) -> str:
        """Why it does not run, or what to know about it; empty where there is nothing to say."""
        return _list_reasons((*self.obstacles, *self.shared)) or self.note or self.within.note

    @property
    def fix(self) -> str:
        """What to do about the first obstacle, where the reason does not say so."""
        return next((one.fix for one in (*self.obstacles, *self.shared)), "")

    @property
    def own_reason(self) -> str:
        """The same without what it shares with other hooks of the host."""
        return _list_reasons(self.obstacles) if self.shared else self.reason

    @property
    def own_fix(self) -> str:
        fixes = [obstacle.fix for obstacle in self.obstacles if obstacle.fix]
        return "; ".join(dict.fromkeys(fixes))

    @property
    def is_started(self) -> bool:
        """Whether the host starts it, though its program may not be there."""
        return self.state == RUNS or (self.state in FAILING and not self.shared)

    @property
    def is_waiting(self) -> bool:
        """Whether nothing but an approval, or a program, is missing."""
        waits = (NOT_APPROVED, FOLDER_UNTRUSTED, *FAILING)
        return all(one.state in waits for one in (*self.obstacles, *self.shared))

    @property
    def place(self) -> str:
        """Its place in words."""
        return f"line {self.line} of {self.file}"


def is_powershell(host: Host, fields: Mapping[str, Any]) -> bool:
    """Whether a hook's command is one for PowerShell."""
    if "shell" in host.handlers.fields and fields.get("shell") == "powershell":
        return True
    used = [key for key in host.registration.commands if isinstance(fields.get(key), str)]
    return used[:1] == ["powershell"]


def _list_reasons(obstacles: Sequence[Obstacle]) -> str:
    return "; also: ".join(obstacle.reason for obstacle in obstacles)


def _texts(values: object) -> list[str]:
    if not isinstance(values, list):
        return []
    return [value for value in values if isinstance(value, str)]
