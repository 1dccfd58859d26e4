"""The values of this room: files with hooks, and the hooks in them."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hookctl.hosts import Host
from hookctl.hosts.model import Table
from hookctl.model import Path
from hookctl.ownership.store import text_of
from hookctl.receipts import Runs

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
# Those in which nothing but an approval, or a program, is missing.
WAITING = (NOT_APPROVED, FOLDER_UNTRUSTED, *FAILING)
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
    is_shared: bool = False  # whether it stops other hooks of the host, too


class HookFile(NamedTuple):
    """A file with hooks, and what its host does with all of them."""

    host: Host  # in the variant of this file
    scope: str  # user | project | local | managed | plugin
    path: str  # as people know it
    plugin: str = ""  # the name of the plugin that the file belongs to
    note: str = ""  # what to know about hooks of it that run
    readers: tuple[Table, ...] = ()  # the other agents that read the file
    variables: Mapping[str, str] = {}  # that its commands get, as the root of a plugin

    def expand(self, command: str) -> str:
        """A command with the values of these variables in it; others stay."""
        for name, value in self.variables.items():
            command = re.sub(rf"\$(?:\{{{name}\}}|{name}\b)", lambda _, value=value: value, command)
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
    obstacles: tuple[Obstacle, ...] = ()  # the one that counts first; shared ones last
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
        if text := text_of(self.within.host, fields):
            return text
        for key in ("url", "prompt"):
            if isinstance(fields.get(key), str):
                return str(fields[key])
        texts = [fields.get("server"), fields.get("tool")]
        return " ".join(text for text in texts if isinstance(text, str))

    @property
    def is_disabled(self) -> bool:
        """Whether `hookctl disable` took it out."""
        return any(obstacle.state == DISABLED for obstacle in self.obstacles)

    @property
    def state(self) -> str:
        """The state of the first obstacle: of its own first, since it has them in any case."""
        return self.obstacles[0].state if self.obstacles else RUNS

    @property
    def reason(self) -> str:
        """Why it does not run, or what to know about it; empty where there is nothing to say."""
        return list_reasons(self.obstacles) or self.note or self.within.note

    @property
    def fix(self) -> str:
        """What to do about the first obstacle, where the reason does not say so."""
        return self.obstacles[0].fix if self.obstacles else ""

    @property
    def is_started(self) -> bool:
        """Whether the host starts it, though its program may not be there."""
        return all(obstacle.state in FAILING for obstacle in self.obstacles)

    @property
    def place(self) -> str:
        return f"line {self.line} of {self.file}"


def command_of(host: Host, fields: Mapping[str, Any]) -> str:
    """The key of the command that the host takes; '' where a hook has none."""
    keys = host.registration.commands
    return next((str(key) for key in keys if isinstance(fields.get(key), str)), "")


def is_powershell(host: Host, fields: Mapping[str, Any]) -> bool:
    """Whether a hook's command is one for PowerShell."""
    is_said = "shell" in host.handlers.fields and fields.get("shell") == "powershell"
    return is_said or command_of(host, fields) == "powershell"


def list_reasons(obstacles: Iterable[Obstacle]) -> str:
    """Why a hook does not run, in one text."""
    return "; also: ".join(obstacle.reason for obstacle in obstacles)
