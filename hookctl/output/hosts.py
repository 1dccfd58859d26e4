"""The hosts as people see them: a row for each, or all facts of one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from hookctl.model import Line
from hookctl.output.lines import cut, labelled, table, tilde, width

# What a hook can do there, by the names of `can` in --json.
_ABILITIES = {
    "block": "block a stop",
    "refuse": "refuse a tool call",
    "ask": "have a person asked about it",
    "change": "change its input",
    "end_at_stop": "end the turn at a stop",
    "end_at_call": "end the turn after a refused call",
}
_LEAST_NEEDED = ("SETTINGS", "END", "CHANGE", "ASK", "CAP", "REFUSE", "SURE", "BLOCK")
_LONGEST_PACKS = 12  # characters
_LEGEND = (
    Line("BLOCK a stop; REFUSE, ASK about, CHANGE a call; END the turn at a stop or a call"),
    Line("CAP: blocks in a row or turn. SURE: proven by runs, read in its source, or docs"),
    Line("`hookctl hosts NAME` shows files, events, limits and approvals. ?: not known"),
)


def table_lines(facts: Sequence[dict[str, Any]]) -> list[str | Line]:
    """A row for each host, those in use here first; a narrow terminal has fewer columns."""
    in_order = sorted(facts, key=lambda host: not (host["detected"] or host["packs"]))
    rows = [_make_row(host) for host in in_order]
    columns = width(sys.stdout)
    lines = _align(rows)
    for name in _LEAST_NEEDED:
        if not columns or max(map(len, lines)) <= columns:
            break
        for row in rows:
            del row[name]
        lines = _align(rows)
    return [*lines, *_LEGEND]


def _make_row(host: dict[str, Any]) -> dict[str, str]:
    """The cells of a host by the heads of their columns."""
    sure = {event["event"]: event["sure"] for event in host["events"]}
    row = {
        "HOST": host["host"],
        "HERE": "yes" if host["detected"] else "-",
        "PACKS": _name_packs(host["packs"]),
    }
    can = host["can"]
    for ability in ("block", "refuse", "ask", "change"):
        row[ability.upper()] = "yes" if can[ability] else "-"
    row["END"] = "stop" if can["end_at_stop"] else "call" if can["end_at_call"] else "-"
    if can["end_at_stop"] and can["end_at_call"]:
        row["END"] = "both"
    row["CAP"] = _limit(host)
    row["SURE"] = sure.get("stop", host["sure"])
    row["SETTINGS"] = tilde(next(iter(host["files"].values())))
    return row


def _limit(host: dict[str, Any]) -> str:
    """How many blocks the host takes; a question mark where its documents name no limit."""
    if host["cap"]:
        return str(host["cap"]["default"])
    if not host["can"]["block"]:
        return "-"
    return "?" if host["sure"] == "docs" else "none"


def _name_packs(packs: list[dict[str, Any]] | None) -> str:
    """The packs that are installed; a question mark where the record cannot be read."""
    if packs is None:
        return "?"
    names = dict.fromkeys(pack["pack"] for pack in packs)
    return cut(", ".join(names), _LONGEST_PACKS) or "-"


def _align(rows: Sequence[dict[str, str]]) -> list[str]:
    return table([[*rows[0]], *([*row.values()] for row in rows)])


def describe_host(facts: dict[str, Any]) -> list[Line]:
    """The lines about one host."""
    title = f"{facts['title']} ({facts['host']}), facts seen on version {facts['client_seen']}"
    format_name = _describe_format(facts)
    rows = []
    for scope in facts["scopes_supported"]:
        rows.append((scope, f"{tilde(facts['files'][scope])} ({format_name})"))
    for path in facts["also"]:
        rows.append(("or", f"{tilde(path)}, where hooks count from there"))
    for path in facts["managed"]:
        rows.append(("managed", path))
    for scope, path in facts["rules"].items():
        rows.append(("rules", f"{tilde(path)} ({scope} scope)"))
    rows.append(("detected", tilde(facts["detected"]) or "no"))
    for pack in facts["packs"] or ():
        rows.append(("pack", f"{pack['pack']} {pack['version']} ({pack['scope']} scope)"))
    if facts["can"]["block"]:
        rows.append(("host cap", _describe_cap(facts["cap"], facts["sure"])))
    rows.append(("session", _describe_session(facts["session"])))
    rows.append(("process", _describe_process(facts["process"])))
    for event in facts["events"]:
        rows.append(("event", f"{event['event']:13} {event['name']}, {event['sure']}"))
    if facts["trust"]:
        rows.append(("approval", facts["trust"]["gate"]))
    can = [text for ability, text in _ABILITIES.items() if facts["can"][ability]]
    if can:
        rows.append(("can", ", ".join(can)))
    for shortcoming in facts["cannot"]:
        rows.append(("cannot", shortcoming))
    for agent in facts["also_read_by"]:
        rows.append(("read by", _name_what_is_read(agent)))
    for owner in facts["also_reads"]:
        rows.append(("reads too", _name_what_is_read(owner)))
    return [Line(title), *labelled(rows)]


def _name_what_is_read(reader: dict[str, Any]) -> str:
    """An agent, and which files it reads of another one, or another one of it."""
    what = ", ".join([*reader["scopes"], *(["plugins"] if reader["plugins"] else [])])
    only = f", {reader['only']}" if reader["only"] else ""
    return f"{reader['agent']} ({what}){only}, {reader['sure']}"


def _describe_format(facts: dict[str, Any]) -> str:
    if facts["format"] != "json":
        return facts["format"]
    return "json with comments" if facts["comments"] else "json, no comments"


def _describe_session(variable: str | None) -> str:
    if variable:
        return f"{variable}, in the agent's own commands too"
    return "not told to the agent's own commands: `hookctl run` there is as a person's"


def _describe_process(told_by: str | None) -> str:
    """How the guard knows that a session with work is gone."""
    if not told_by:
        return "not told: work passes on after 30 minutes without an event"
    return f"{told_by}, on Linux"


def _describe_cap(cap: dict[str, Any] | None, sure: str) -> str:
    if cap is None and sure == "docs":
        return "not known: its documents name none"
    if cap is None:
        return "none: it takes as many blocks as come"
    name = cap.get("key") or cap.get("field") or ".".join(cap.get("setting", ())) or "fixed"
    unit = "block" if cap["default"] == 1 else "blocks"
    value = f"{cap['default']} {unit} in a {'turn' if cap.get('per_turn') else 'row'}"
    return f"{value}, fixed" if name == "fixed" else f"{name}, default {value}"
