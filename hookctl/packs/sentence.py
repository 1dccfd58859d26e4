"""What the guard will do, in one sentence, from the knobs that are in effect."""

from __future__ import annotations

from typing import Any

from hookctl.packs.guard import ARMED_CEILING, CEILING


def sentence(mode: str, knobs: dict[str, Any], limit: int, cap: float, host: str) -> str:
    """What happens on a stop and on a tool call; `limit` and `cap` are blocks, 0 or less for no end, `host` a title."""
    parts = [_STOPS[mode](knobs, limit, cap, host)]
    if mode != "off" and knobs.get("required_tools"):
        parts.append(_nudge(mode, knobs))
    limits = _whole(knobs, "dispatch_max", 30), _whole(knobs, "dispatch_window_s", 300)
    if knobs.get("dispatch_tools") and min(limits) > 0:
        parts.append(_dispatch(knobs))
    if mode == "breaker" and knobs.get("end_foreign_chains") is False:
        parts.append("leaves chains that other hooks force alone")
    return "; ".join(parts)


def _breaker(knobs: dict[str, Any], limit: int, cap: float, host: str) -> str:
    own = limit - (knobs.get("count") == "attempts") if limit > 0 else 0
    blocks = (
        0 if own == 0 < limit else min(number for number in (own, int(cap), CEILING) if number > 0)
    )
    run = " in a run that `hookctl run start` has armed" if knobs.get("require_arm") is True else ""
    return f"blocks at most {_count(blocks, 'stop')} without progress while work remains{run}, then lets go"


def _keepalive(knobs: dict[str, Any], limit: int, cap: float, host: str) -> str:
    own = _whole(knobs, "keepalive_cap", ARMED_CEILING)
    blocks = min(number for number in (own, int(cap), ARMED_CEILING) if number > 0)
    run = "keeps a run going that `hookctl run start` has armed"
    return f"{run}, until it ends or {_count(blocks, 'stop')} were blocked without progress; outside a run it lets go"


def _guard(knobs: dict[str, Any], limit: int, cap: float, host: str) -> str:
    end = (
        f"after {_count(limit, 'stop')} without progress"
        if limit > 0
        else f"where {host} would cut it off"
    )
    return f"never blocks by itself, and ends a chain of stops that other hooks force {end}"


def _off(knobs: dict[str, Any], limit: int, cap: float, host: str) -> str:
    return "lets every stop pass"


_STOPS = {"breaker": _breaker, "keepalive": _keepalive, "guard": _guard, "off": _off}


def _nudge(mode: str, knobs: dict[str, Any]) -> str:
    most, scope = _whole(knobs, "max_nudges", 1), knobs.get("required_scope_env")
    times = "once" if most == 1 else f"at most {most} times"
    where = f" (where {scope} is set)" if scope else ""
    where += " in such a run, once it is concluded" if mode == "keepalive" else ""
    return f"reminds the agent {times} to call {' or '.join(knobs['required_tools'])} before it leaves{where}"


def _dispatch(knobs: dict[str, Any]) -> str:
    most, seconds = _whole(knobs, "dispatch_max", 30), _whole(knobs, "dispatch_window_s", 300)
    tools = "any tool" if "*" in knobs["dispatch_tools"] else " or ".join(knobs["dispatch_tools"])
    whose = "session" if knobs.get("dispatch_scope") == "session" else "project"
    return f"refuses a call of {tools} that was made {_count(most, 'time')} in {seconds} s in the same {whose}"


def _whole(knobs: dict[str, Any], name: str, default: int) -> int:
    return knobs[name] if type(knobs.get(name)) is int else default


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
