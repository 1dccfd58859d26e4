"""The values of this room: files with hooks, the handlers in them, and the hooks in the list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hookctl.hosts import Host
from hookctl.hosts.model import OtherAgent
from hookctl.model import Path

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
MODULE = "plugin"  # the event of a plugin that is code, and itself says what it hooks


class Obstacle(NamedTuple):
    """Why a hook does not run."""

    state: str
    reason: str
    fix: str = ""  # what to do, where the reason does not say it


class Handler(NamedTuple):
    """A handler in a file, as the file has it."""

    path: Path
    event: str
    fields: Mapping[str, Any]
    matcher: str = ""  # empty where it has none
    line: int = 0  # where it begins; 0 where that is not known
    own_id: str = ""  # PACK/ID of one of ours
    lost: str = ""  # why the host does not load it, where that is a matter of its place
    broken: Obstacle | None = None  # a script that is missing, not executable or does not compile
    disabled: str = ""  # how `hookctl disable` took it out, in words; empty where it did not


class HookFile(NamedTuple):
    """A file with hooks, and what its host does with them."""

    host: Host  # in the variant of this file
    scope: str  # user | project | local | managed | plugin
    path: str  # as people know it
    handlers: tuple[Handler, ...]
    plugin: str = ""  # the name of the plugin that the file belongs to
    obstacle: Obstacle | None = None  # what keeps every hook of the file from running
    shared: tuple[Obstacle, ...] = ()  # and what stops the host's hooks in other files too
    hidden_events: Mapping[str, str] = {}  # and the file that the host takes the event from
    closed: Mapping[Path, Obstacle] = {}  # hooks without an approval, and single ones that are off
    note: str = ""  # what to know about hooks of it that run
    readers: tuple[OtherAgent, ...] = ()  # the other agents that read the file
    variables: Mapping[str, str] = {}  # that its commands get, as the root of a plugin


class Unreadable(NamedTuple):
    """A file that cannot be read, so that its hooks are not known."""

    path: str
    line: int  # 0 where none is known
    message: str


class Receipts(NamedTuple):
    """What the receipts of one hook add up to."""

    runs: int = 0
    failures: int = 0
    median_ms: float | None = None
    p95_ms: float | None = None
    bytes: int = 0  # that went into the context
    last_run: float | None = None  # in seconds since the epoch


class Hook(NamedTuple):
    """A hook that a host would run here, or would not."""

    id: str
    host: str
    scope: str
    event: str
    matcher: str
    command: str  # in full, as the host gets it; nothing is masked
    file: str
    line: int
    owner: str  # a pack or a plugin; empty where nobody is known
    state: str
    reason: (
        str  # why it does not run, or what to know about it; empty where there is nothing to say
    )
    path: Path  # in the document of the file
    fields: Mapping[str, Any]
    own_id: str = ""  # PACK/ID of one of ours
    plugin: str = ""  # the plugin that it belongs to
    readers: tuple[OtherAgent, ...] = ()  # the other agents that read the file
    receipts: Receipts = Receipts()
    variables: Mapping[str, str] = {}  # that its command gets, as the root of a plugin
    fix: str = ""  # what to do about it, where the reason does not say so
    own_reason: str = ""  # both without what it shares with other hooks of the host
    own_fix: str = ""
    shared: tuple[Obstacle, ...] = ()  # what stops other hooks of the host, too

    @property
    def is_started(self) -> bool:
        """Whether the host starts it, though its program may not be there."""
        return self.state == RUNS or (self.state in FAILING and not self.shared)

    @property
    def is_ours(self) -> bool:
        """Whether hookctl installed it."""
        return bool(self.own_id)
