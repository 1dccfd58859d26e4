"""Where the amount of remaining work comes from: our command, or another system's file."""

from __future__ import annotations

from collections.abc import Mapping


def name_report(task: str, fields: Mapping[str, str]) -> str:
    """What says how much is left in a task file with these names of fields."""
    if not fields:
        return "`hookctl run remaining N`"
    return f"`{fields.get('remaining', 'remaining')}` in {task}"


def how_to_renew(task: str, fields: Mapping[str, str]) -> str:
    """How stale work is renewed, and how it ends."""
    if fields:
        return f"{name_report(task, fields)} renews it, 0 ends it"
    return "`hookctl run remaining N` renews it, `hookctl run remaining 0` ends it"
