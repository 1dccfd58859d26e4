"""Whether the matcher of a hook can match a tool of its host, where that is certain."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator

from hookctl import hosts
from hookctl.hosts import Host

_NAMES = r"[A-Za-z][A-Za-z0-9_]*(?:[|,] ?[A-Za-z][A-Za-z0-9_]*)*"
_TOOL_EVENTS = ("pre-tool", "post-tool")


def explain_mismatch(host: Host, event: str, matcher: object) -> str:
    """Why a matcher matches no tool on the host's own event; empty if it does, or may.

    A host has tools that its file does not name, and those of MCP servers and extensions. So only
    a name that is another host's, or nearly one of this host's, is known to be none.
    """
    tool_events = [host.events.get(name) for name in _TOOL_EVENTS]
    if not host.tools or event not in tool_events or not isinstance(matcher, str):
        return ""
    if not re.fullmatch(_NAMES, matcher):
        return ""  # a pattern
    own = [tool for tools in host.tools.values() for tool in tools]
    meant: list[str] = []
    for name in re.split("[|,] ?", matcher):
        if name.startswith("mcp") or any(name in tool for tool in own):
            return ""
        instead = [*_of_the_same_kind(host, name), *difflib.get_close_matches(name, own, 1, 0.75)]
        if not instead:
            return ""
        meant += instead
    names = ", ".join(dict.fromkeys(meant))
    return f"the matcher {json.dumps(matcher)} matches no tool of {host.title}, which has {names}"


def _of_the_same_kind(host: Host, name: str) -> Iterator[str]:
    """The host's tools with the same purpose as a tool of this name on other hosts."""
    for other in map(hosts.load, hosts.names()):
        for kind, tools in other.tools.items():
            if name in tools:
                yield from host.tools.get(kind, ())
