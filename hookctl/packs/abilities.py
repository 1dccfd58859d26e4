"""What a host can do, and what it cannot, in sentences for install and `hookctl hosts`."""

from __future__ import annotations

from collections.abc import Iterator

from hookctl.documents import Document
from hookctl.hosts import Host, loading, parse_version, read_cap
from hookctl.packs.choices import DEFAULT_LIMIT, Settings
from hookctl.packs.guard import UNLIMITED_CAP, can_refuse, ends_refused, matcher_of, wanted_limit

_BLOCKING = ("breaker", "keepalive")  # the modes that block stops


def list_abilities(host: Host) -> dict[str, bool]:
    """What a hook can do there at a stop and at a tool call."""
    dialect, answers = host.dialect, host.runner.get("answers", {})  # it may have no runner
    tool, stop = answers.get("PreToolUse", {}), answers.get("Stop", {})
    at_stop = bool(dialect.end or stop.get("end"))
    at_call = bool(dialect.refuse_end or tool.get("end"))
    return {
        "block": bool(dialect.block or stop.get("refuse")),
        "refuse": bool(dialect.refuse or tool.get("refuse")),
        "ask": bool(tool.get("ask")),
        "change": bool(tool.get("change")),
        "end": at_stop or at_call,
        "end_at_stop": at_stop,
        "end_at_call": at_call,
    }


def shortcomings(host: Host) -> list[str]:
    """Everything that a host cannot do, with any settings."""
    older = [f"before {since} it {does}" for since, does in host.client.since.values()]
    most, unless = _fixed_cap(host), "whatever is set"
    if "setting" in host.cap and "key" not in host.cap:
        unless = f"if {'.'.join(host.cap['setting'])} does not say otherwise"
    caps = [f"grants at most {count_blocks(host, most)}, {unless}"] if most else []
    return [*_unproven(host), *caps, *_find_lost(host).values(), *host.cannot, *older]


def lacks(
    host: Host, version: str, settings: Settings | None, document: Document | None
) -> Iterator[tuple[str, str, str]]:
    """What of the installed setup a client's version lacks: level, what it does, since when."""
    is_read = document and "entries" in host.client.since
    faults = loading.read(host, document).faults if is_read else ()
    refuses = settings is not None and "pre-tool" in settings.events
    costs_hooks = any(fault.reach in (loading.ITEM, loading.EVENT) for fault in faults)
    rows = {
        "entries": ("error", costs_hooks),
        "refuse_end": ("warning", refuses and ends_refused(settings, host)),
        "message": ("info", settings is not None and settings.mode != "off"),
    }
    for feature, (since, does) in host.client.since.items():
        level, is_needed = rows.get(feature, ("error", True))
        if is_needed and parse_version(version) < parse_version(since):
            yield level, does, since


def limits_for(host: Host, settings: Settings, cap: str = "") -> tuple[list[str], list[str]]:
    """Where the host does not do what the person asks the guard for; and what else limits it."""
    mode, limit, options = settings.mode, wanted_limit(settings), settings.effective
    missed: list[str] = []
    others = [*_unproven(host), *(host.cannot if settings.events else ())]
    # Nobody chose the default limit, so a cap below it takes nothing from anybody.
    is_chosen = mode == "keepalive" or limit != str(DEFAULT_LIMIT)
    most = _fixed_cap(host, cap)
    own = UNLIMITED_CAP if mode == "keepalive" else int(limit)
    if mode in _BLOCKING and 0 < most < own:
        blocks = f"the host grants no more than {count_blocks(host, most)}"
        text = f"{blocks}, so the guard stops blocking after {most} and not {own}"
        (missed if is_chosen else others).append(text)
    asked = {
        "block": mode in _BLOCKING,
        "end": mode == "guard",
        "refuse": bool(options.get("dispatch_tools")),
        "context": options.get("guidance") is True,
    }
    for name, text in _find_lost(host).items() if settings.events else ():
        if asked.get(name):
            missed.append(text)
        if name == "refuse_end" and asked["refuse"] and options.get("dispatch_end", 0) > 0:
            others.append(text)
    where = options.get("required_scope_env") if options.get("required_tools") else ""
    if settings.events and mode != "off" and where and where == host.guard.reminds_where:
        missed.append(f"it reminds its own workers, where {where} is set, so the guard does not")
    if "pre-tool" in settings.events and can_refuse(host):
        from hookctl.hosts.matchers import explain_mismatch  # late: few guards count calls

        reason = explain_mismatch(host, host.events["pre-tool"], matcher_of(settings, host))
        missed += [f"--dispatch does nothing: {reason}"] if reason else []
    title = host.title
    return [f"{title}: {line}" for line in missed], [f"{title}: {line}" for line in others]


def count_blocks(host: Host, number: int) -> str:
    """A number of blocks in words, as the host counts them."""
    blocks = "1 block" if number == 1 else f"{number} blocks"
    return f"{blocks} in a turn" if host.cap.get("per_turn") else f"{blocks} in a row"


def _unproven(host: Host) -> list[str]:
    source = {"read": "the source of the client", "docs": "documents"}.get(host.sure)
    text = f"not proven: what hookctl knows of it is from {source}, and no client was run"
    return [text] if source else []


def _fixed_cap(host: Host, text: str = "") -> int:
    """The cap on blocks in a row that hookctl cannot lift; 0 if there is none."""
    cap = host.cap
    if not cap or "field" in cap or ("key" in cap and "most" not in cap):
        return 0
    if "key" not in cap:
        return int(read_cap(host, text))
    return cap.get("most", cap["default"]) - cap.get("overrides_last", False)


def _find_lost(host: Host) -> dict[str, str]:
    """What the guard cannot do there, by a word for it."""
    dialect, refuses = host.dialect, can_refuse(host)
    wrap = "; `--wrap` limits such a hook" * host.registration.wraps
    packs = "; a pack's hook can" if not refuses and list_abilities(host)["refuse"] else ""
    rows = {
        "block": (dialect.block, "a hook cannot keep it working at a stop"),
        "message": (
            dialect.release,
            "shows no message of a hook that lets the agent stop; `hookctl log` has it",
        ),
        "end": (dialect.end, f"a hook cannot end a turn that other hooks force on{wrap}"),
        "refuse": (refuses, f"the guard cannot refuse a tool call{packs}"),
        "refuse_end": (
            dialect.refuse_end or not refuses,
            "a refused tool call cannot end the turn",
        ),
        "context": (dialect.context, "a session's start takes no text from a hook"),
    }
    return {name: text for name, (can, text) in rows.items() if not can}
