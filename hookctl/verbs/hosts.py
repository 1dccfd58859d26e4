"""hookctl hosts: what every host can do, how sure that is, and which hosts are in use here."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hookctl import errors
from hookctl import hosts as known
from hookctl.hosts import Host
from hookctl.model import Line, Record, Result
from hookctl.output.lines import amount, cut, labelled, table, tilde
from hookctl.ownership import store
from hookctl.packs.guard import list_abilities, shortcomings
from hookctl.survey.machine import read_records
from hookctl.system.folders import Folders

_PROJECT = "<project>"
_COLUMNS = ["HOST", "HERE", "PACKS", "BLOCK", "REFUSE", "ASK", "CHANGE", "END", "CAP", "SURE"]
_LEGEND = (
    Line("BLOCK a stop; REFUSE, ASK about, CHANGE a call; END the turn at a stop or a call"),
    Line("CAP: blocks in a row or turn. SURE: proven by runs, read in its source, or docs"),
    Line("`hookctl hosts NAME` shows files, events, limits and approvals. ?: not known"),
)

HELP = """
host  Only these hosts, in detail.

Examples:
  hookctl hosts claude gemini    their events, limits and approvals
"""


def hosts(folders: Folders, host: Sequence[str] = ()) -> Result:
    """A row for every host; or of the named ones the files, events, cap and shortcomings."""
    found = read_records(folders, everywhere=False)
    # Another user's project has nothing of ours.
    problems = [error.as_dict() for error in found.errors if error.code != "foreign_project"]
    named = map(known.load, dict.fromkeys(host or known.names()))
    facts = [_gather_facts(one, folders, found.records) for one in named]
    for one in facts if problems else ():
        one["packs"] = None
    if host:
        lines: list[str | Line] = [line for one in facts for line in _describe_host(one)]
    else:  # a row for each, those in use here first
        rows = sorted(map(_make_row, facts), key=lambda row: row[1:3] == ["-", "-"])
        lines = [*table([_COLUMNS, *rows]), *_LEGEND]
    exit_code = errors.UNREADABLE if problems else errors.OK
    return Result({"hosts": facts}, tuple(lines), errors=tuple(problems), exit_code=exit_code)


def _gather_facts(host: Host, folders: Folders, records: Mapping[str, Record]) -> dict[str, Any]:
    environment, environ = host.environment, folders.environ
    packs = []  # what is installed there, for the user and in this project
    for record in records.values():
        for name, pack in record.packs.items() if record.host == host.name else ():
            packs.append({"pack": name, "version": pack.version, "scope": record.scope})
    paths = {scope: known.settings_path(host, scope, environ, _PROJECT) for scope in host.scopes}
    also = [  # other files of the same scopes with hooks
        known.settings_path(variant, scope, environ, _PROJECT)
        for variant in host.variants
        for scope in host.scopes
    ]
    config = known.config_folder(host, environ)
    return {
        "host": host.name,
        "title": host.title,
        "client_seen": host.client.seen,
        "sure": host.sure,
        "format": host.syntax,
        "comments": host.comments,
        "files": paths,
        "also": [path for path in dict.fromkeys(also) if path not in paths.values()],
        "managed": host.managed_files.get(sys.platform, []),
        "rules": {  # the file with instructions for the agent of each scope
            scope: pattern.format(config=config, project=_PROJECT)
            for scope, pattern in host.rules.items()
        },
        "scopes_supported": [*host.scopes],
        "events": [
            {"event": event, "name": name, "sure": host.sure_events.get(event, host.sure)}
            for event, name in host.events.items()
        ],
        "can": list_abilities(host),
        "cap": host.cap or None,
        "trust": host.data.get("trust"),  # as its file has it
        "env_channel": environment.channel,
        # The variable that tells the agent's own commands their session.
        "session": (environment.session_in_tools and environment.session) or None,
        "process": environment.process or None,
        "cannot": shortcomings(host),
        "detected": known.detected(host, environ, store.list_made(records)),
        "packs": packs,
    }


# For people.


def _make_row(host: dict[str, Any]) -> list[str]:
    can, packs, cap = host["can"], host["packs"], "-"
    if host["cap"]:
        cap = str(host["cap"]["default"])
    elif can["block"]:
        cap = "?" if host["sure"] == "docs" else "none"
    ends = [name for name in ("stop", "call") if can[f"end_at_{name}"]]
    sure = {event["event"]: event["sure"] for event in host["events"]}
    names = dict.fromkeys(pack["pack"] for pack in packs or ())
    return [
        host["host"],
        "yes" if host["detected"] else "-",
        "?" if packs is None else cut(", ".join(names), 12) or "-",
        *("yes" if can[ability] else "-" for ability in ("block", "refuse", "ask", "change")),
        "both" if len(ends) > 1 else "".join(ends) or "-",
        cap,
        sure.get("stop", host["sure"]),
    ]


def _describe_host(facts: dict[str, Any]) -> list[Line]:
    title = f"{facts['title']} ({facts['host']}), facts seen on version {facts['client_seen']}"
    syntax = facts["format"] + (" with comments" if facts["comments"] else "")
    rows = [(scope, f"{tilde(path)} ({syntax})") for scope, path in facts["files"].items()]
    rows += [("or", f"{tilde(path)}, where hooks count from there") for path in facts["also"]]
    rows += [("managed", path) for path in facts["managed"]]
    rows += [("rules", f"{tilde(path)} ({scope} scope)") for scope, path in facts["rules"].items()]
    rows.append(("detected", tilde(facts["detected"]) or "no"))
    if facts["can"]["block"]:
        cap = facts["cap"]
        of = "turn" if cap and cap.get("per_turn") else "row"
        shown = f"{amount(cap['default'], 'block')} in a {of}" if cap else "none is known"
        rows.append(("host cap", shown))
    for event in facts["events"]:
        rows.append(("event", f"{event['event']:13} {event['name']}, {event['sure']}"))
    if facts["trust"]:
        rows.append(("approval", facts["trust"]["gate"]))
    rows += [("cannot", shortcoming) for shortcoming in facts["cannot"]]
    return [Line(title), *labelled(rows)]
