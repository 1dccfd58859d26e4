"""What a host cannot do, in sentences: said at install and by `hookctl hosts`, and never papered over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hookctl.hosts import Host, read_cap
from hookctl.packs.choices import Settings
from hookctl.packs.guard import UNLIMITED_CAP, can_refuse, wanted_limit


def shortcomings(host: Host) -> list[str]:
    """Everything that a host cannot do, whatever is installed."""
    return [*_unproven(host), *_cap(host), *_unanswered(host), *host.cannot]


def remarks_for(host: Host, settings: Settings, cap: str = "") -> list[str]:
    """What somebody who installs the guard with these settings there has to know; `cap` is the operator's setting."""
    return [f"{host.title}: {said}" for said in _remarks(host, settings, cap)]


def _remarks(host: Host, settings: Settings, cap: str) -> Iterator[str]:
    yield from _unproven(host)
    if not settings.events:
        return
    yield from host.cannot
    yield from in_the_way(host, settings.mode, int(wanted_limit(settings)), settings.effective, cap)


def in_the_way(
    host: Host, mode: str, limit: int, knobs: Mapping[str, Any], cap: str = ""
) -> Iterator[str]:
    """What keeps the guard from what its mode and its knobs say, where the operator's own cap is `cap`."""
    most, dialect = _most(host, cap), host.dialect
    limit = int(UNLIMITED_CAP) if mode == "keepalive" else limit
    if mode in ("breaker", "keepalive") and 0 < most < limit:
        yield f"it grants no more than {most} blocks in a row, so the guard lets go after {most} and not {limit}"
    if not dialect.end and mode == "guard":
        yield "a hook cannot end a turn that others force on, so mode guard only counts"
    if knobs.get("dispatch_tools") and not can_refuse(host):
        yield "a hook cannot refuse a tool call, so --dispatch does nothing"


def _unproven(host: Host) -> Iterator[str]:
    if host.sure != "proven":
        words = {"read": "the source of the client", "docs": "documents"}
        yield f"not proven: what hookctl knows of it is from {words[host.sure]}, and no client was run"


def _most(host: Host, text: str = "") -> int:
    """The most blocks in a row that nothing of ours lifts, `text` being the operator's setting; 0: no such bound."""
    cap = host.cap
    if not cap or "field" in cap or ("key" in cap and "most" not in cap):
        return 0
    if "key" not in cap:
        return int(read_cap(host, text))
    return cap.get("most", cap["default"]) - cap.get("overrides_last", False)


def _cap(host: Host) -> Iterator[str]:
    if _most(host):
        named = "" if "key" in host.cap else ".".join(host.cap.get("setting", ()))
        unless = f"if {named} does not say otherwise" if named else "whatever is set"
        yield f"grants at most {_most(host)} blocks in a row, {unless}"


def _unanswered(host: Host) -> Iterator[str]:
    dialect = host.dialect
    if not dialect.release:
        yield "shows no word of a hook that lets go, so the guard does so in silence; `hookctl log` has it"
    if not dialect.end:
        yield "a hook cannot end a turn that other hooks force on"
    if not can_refuse(host):
        yield "a hook cannot refuse a tool call"
