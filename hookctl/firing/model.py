"""The values of this room: a host's call, the hooks to run for it, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hookctl.hosts import Host
from hookctl.hosts.hook_id import shorten
from hookctl.survey.model import Hook

# What a hook's answer comes to, in the words of the receipts.
NONE = "none"
ALLOW = "allow"
DENY = "deny"
ASK = "ask"
BLOCK = "block"
CHANGE = "change"
CONTEXT = "context"
END = "end"
FAILED = "failed"
TIMEOUT = "timeout"
# And where there is no answer, or nobody knows what becomes of it.
NOT_RUN = "not_run"
UNKNOWN = "unknown"


class Call(NamedTuple):
    """What happens on a host, as it tells its hooks."""

    host: Host
    event: str  # its own name
    protocol: str  # Claude Code's name of the event, '' where it has none
    payload: Mapping[str, Any]
    data: bytes  # the payload, byte for byte
    tool: str = ""  # the host's name of the tool that is called


class Shot(NamedTuple):
    """A hook to run for a call, or one that is not run."""

    host: Host  # in the variant of the hook's file
    hook: Hook
    call: Call  # as this hook is told of it
    why_not: str = ""  # why it is not run; empty where it is
    note: str = ""  # what to know about it
    is_out: bool = False  # whether the host itself would not run it for this call
    is_asked: bool = False  # whether a person has to agree

    @property
    def name(self) -> str:
        """What people call the hook: PACK/ID of one of ours, or its ID."""
        return self.hook.own_id or shorten(self.hook.id)


class Ran(NamedTuple):
    """How a command ended, and what it printed."""

    status: int | None = None  # 128 + N for signal N; None where it did not end by itself
    ms: int = 0
    out: str = ""
    err: str = ""
    timed_out: bool = False
    problem: str = ""  # why its answer does not count


class Reading(NamedTuple):
    """What the host reads in an answer."""

    outcome: str
    reason: str = ""
    change: Any = None  # the new input, or the new result
    context: str = ""
    source: str = ""  # of a decision: status, nested or top
    refuses: bool = False


class Fired(NamedTuple):
    """A hook with what came of it."""

    shot: Shot
    ran: Ran
    reading: Reading


class Verdict(NamedTuple):
    """What the host would do after all of its hooks."""

    outcome: str
    reason: str = ""
    refuses: bool = False  # also where the turn ends


class Volley(NamedTuple):
    """All of one call: its hooks in their order, and the end of it."""

    call: Call
    fired: tuple[Fired, ...]
    verdict: Verdict  # of the hooks that the host runs
    if_all: Verdict | None = None  # if those that it does not run ran too; None without any
