"""The sentence that says what the guard will do with its options."""

from __future__ import annotations

from typing import Any

from hookctl.packs.abilities import only_counts
from hookctl.packs.guard import ARMED_CEILING
from hookctl.system.package_data import guard_module


def sentence(
    mode: str,
    options: dict[str, Any],
    limit: int,
    cap: float,
    host: str,
    *,
    can_block: bool = True,
    can_end: bool = True,
    can_wrap: bool = False,
    can_end_refused: bool = True,
) -> str:
    """The guard's action on a stop and on a tool call.

    `limit` and `cap` count blocks, 0 or less for no end; `host` is a title. `can_block`: its hooks
    can keep it working; `can_end`: they can end a turn; `can_wrap`: `--wrap` would help;
    `can_end_refused`: a refusal can end a turn.
    """
    parts = [_STOPS[mode](options, limit, cap, host)]
    if mode in ("breaker", "keepalive") and not can_block:
        parts = [f"only watches: no hook keeps {host} working at a stop"]
    if mode == "guard" and not can_end:
        parts = [only_counts(host, can_wrap=can_wrap)]
    if mode != "off" and options.get("required_tools"):
        parts.append(_nudge(mode, options))
    if mode in ("breaker", "keepalive") and options.get("guidance") is True:
        parts.append("tells a session at its start what waits")
    most, seconds = _dispatch_limit(options)
    if options.get("dispatch_tools") and most > 0 and seconds > 0:
        parts.append(_dispatch(options, can_end=can_end_refused))
    if mode == "breaker" and options.get("end_foreign_chains") is False:
        parts.append("leaves chains that other hooks force alone")
    return "; ".join(parts)


def _breaker(options: dict[str, Any], limit: int, cap: float, host: str) -> str:
    blocks = _blocks_of_breaker(options, limit, cap)
    run = ""
    if options.get("require_arm") is True:
        run = " in a run that `hookctl run start` began"
    stops = _count(blocks, "stop")
    return (
        f"blocks at most {stops} without progress while work remains{run}, then lets the agent stop"
    )


def _blocks_of_breaker(options: dict[str, Any], limit: int, cap: float) -> int:
    """The lowest of the limit, the host's cap and the ceiling."""
    if limit > 0 and options.get("count") == "attempts":
        limit -= 1
        if limit == 0:
            return 0
    return _lowest(limit, int(cap), max(1, _whole(options, "ceiling")))


def _lowest(*bounds: int) -> int:
    """The lowest bound; 0 or less is no bound."""
    return min(bound for bound in bounds if bound > 0)


def _keepalive(options: dict[str, Any], limit: int, cap: float, host: str) -> str:
    own = _whole(options, "keepalive_cap")
    most = _lowest(own, int(cap), ARMED_CEILING)
    stops = f"{_count(most, 'stop')} {'was' if most == 1 else 'were'}"
    run = "keeps a run going that `hookctl run start` began"
    return (
        f"{run}, until it ends or {stops} blocked without progress; "
        "outside a run it lets the agent stop"
    )


def _guard(options: dict[str, Any], limit: int, cap: float, host: str) -> str:
    end = f"where {host} would cut it off"
    if limit > 0:
        end = f"after {_count(limit, 'stop')} without progress"
    return f"never blocks by itself, and ends a chain of stops that other hooks force {end}"


def wraps_only(count: int, limit: int, cap: float) -> str:
    """What the guard does in mode off with wrapped hooks."""
    hooks = _count(count, "wrapped hook")
    if limit <= 0 or 0 < cap < limit:
        return f"counts the denials of {hooks} up to the host's cap, and does nothing else"
    return (
        f"lets the agent stop at denial {limit} of {hooks} without progress, and does nothing else"
    )


def _off(options: dict[str, Any], limit: int, cap: float, host: str) -> str:
    return "lets every stop pass"


_STOPS = {"breaker": _breaker, "keepalive": _keepalive, "guard": _guard, "off": _off}


def _nudge(mode: str, options: dict[str, Any]) -> str:
    most = _whole(options, "max_nudges")
    times = "once" if most == 1 else f"at most {most} times"
    tools = " or ".join(options["required_tools"])
    text = f"reminds the agent {times} to call {tools} before it leaves"
    if options.get("required_scope_env"):
        text += f" (where {options['required_scope_env']} is set)"
    if mode == "keepalive":
        text += " in such a run, once it is concluded"
    return text


def _dispatch(options: dict[str, Any], *, can_end: bool) -> str:
    most, seconds = _dispatch_limit(options)
    tools = " or ".join(options["dispatch_tools"])
    if "*" in options["dispatch_tools"]:
        tools = "any tool"
    times = _count(most, "time")
    scope = "session" if options.get("dispatch_scope") == "session" else "project"
    text = f"refuses a call of {tools} that was made {times} in {seconds} s in the same {scope}"
    refusals = _whole(options, "dispatch_end")
    if refusals > 0 and can_end:
        text += f", and asks the client to end the turn after {_count(refusals, 'refusal')}"
    return text


def _dispatch_limit(options: dict[str, Any]) -> tuple[int, int]:
    """How many identical calls are allowed, in how many seconds."""
    return _whole(options, "dispatch_max"), _whole(options, "dispatch_window_s")


def _whole(options: dict[str, Any], name: str) -> int:
    """A number among the options, else the guard's default."""
    value = options.get(name)
    return value if type(value) is int else int(guard_module("settings").DEFAULTS[name])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
