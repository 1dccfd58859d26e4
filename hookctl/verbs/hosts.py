"""hookctl hosts: what every host can do, how sure that is, and which hosts are in use here."""

from __future__ import annotations

from typing import Any

from hookctl import hosts as known
from hookctl import report
from hookctl.hosts import Host
from hookctl.model import Result
from hookctl.packs.abilities import shortcomings
from hookctl.system.folders import Folders

_PROJECT = "<project>"
_LEGEND = (
    "proven: a run of the client in the test-suite; read: its source; "
    "docs: documents only; -: there is none"
)


def hosts(folders: Folders) -> Result:
    """A table of hosts and events; for each host its files, cap, approval and shortcomings."""
    facts = [_gather_facts(known.load(name), folders) for name in known.names()]
    lines = _make_table(facts)
    for facts_of_host in facts:
        lines += _describe(facts_of_host)
    return Result({"hosts": facts}, tuple(lines))


def _gather_facts(host: Host, folders: Folders) -> dict[str, Any]:
    """The facts about a host, as `--json` shows them."""
    events = []
    for event, name in host.events.items():
        events.append({"event": event, "name": name, "sure": _sureness(host, event)})
    return {
        "host": host.name,
        "title": host.title,
        "client_seen": host.client.seen,
        "sure": host.sure,
        "format": host.format,
        "comments": host.comments,
        "files": _settings_paths(host, folders),
        "also": _other_paths(host, folders),
        "scopes_supported": [*host.scopes],
        "events": events,
        "cap": host.cap or None,
        "trust": host.data.get("trust"),  # as its file has it
        "env_channel": host.environment.channel,
        "session": _told_session(host),
        "process": host.environment.process or None,
        "cannot": shortcomings(host),
        "detected": known.detected(host, folders.environ),
    }


def _told_session(host: Host) -> str | None:
    """The variable that tells the agent's own commands their session."""
    environment = host.environment
    return environment.session or None if environment.session_in_tools else None


def _settings_paths(host: Host, folders: Folders) -> dict[str, str]:
    """The settings file of each scope."""
    paths = {}
    for scope in host.scopes:
        paths[scope] = known.settings_path(host, scope, folders.environ, _PROJECT)
    return paths


def _other_paths(host: Host, folders: Folders) -> list[str]:
    """Other files of the same scopes; hooks go there where the host reads its hooks from them."""
    usual = _settings_paths(host, folders).values()
    paths: list[str] = []
    for _, variant in known.variants(host):
        for scope in host.scopes:
            path = known.settings_path(variant, scope, folders.environ, _PROJECT)
            if path not in usual and path not in paths:
                paths.append(path)
    return paths


def _sureness(host: Host, event: str) -> str:
    return host.sure_events.get(event, host.sure)


def _make_table(facts: list[dict[str, Any]]) -> list[str]:
    """A row for each host and a column for each event; a cell says how sure the event is."""
    cells = {}
    for facts_of_host in facts:
        events = facts_of_host["events"]
        cells[facts_of_host["host"]] = {event["event"]: event["sure"] for event in events}
    columns = []
    for event in known.EVENTS:
        if any(event in row for row in cells.values()):
            columns.append(event)
    rows = [["HOST", *columns]]
    for name, row in cells.items():
        rows.append([name, *(row.get(event, "-") for event in columns)])
    return [*report.table(rows), _LEGEND]


def _describe(facts: dict[str, Any]) -> list[str]:
    """The lines about one host, below the table."""
    lines = ["", f"{facts['host']}: {facts['title']}, facts seen on version {facts['client_seen']}"]
    format_name = _describe_format(facts)
    for scope in facts["scopes_supported"]:
        lines.append(f"  {scope:9} {report.tilde(facts['files'][scope])} ({format_name})")
    for path in facts["also"]:
        lines.append(f"  or        {report.tilde(path)}, where hooks count from there")
    names = ", ".join(f"{event['event']}={event['name']}" for event in facts["events"])
    lines.append(f"  detected  {report.tilde(facts['detected']) or 'no'}")
    lines.append(f"  cap       {_describe_cap(facts['cap'])}")
    lines.append(f"  session   {_describe_session(facts['session'])}")
    lines.append(f"  process   {_describe_process(facts['process'])}")
    lines.append(f"  events    {names}")
    if facts["trust"]:
        lines.append(f"  gate      {facts['trust']['gate']}")
    for shortcoming in facts["cannot"]:
        lines.append(f"  cannot    {shortcoming}")
    return lines


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
    if told_by == "shared":
        return "of several sessions: work passes on when it ends, or after 30 minutes"
    variable = "parent of the hook's shell, on Linux"
    return variable if told_by == "parent" else f"{told_by}, else the {variable}"


def _describe_cap(cap: dict[str, Any] | None) -> str:
    if cap is None:
        return "none: it takes as many blocks as come"
    name = cap.get("key") or cap.get("field") or ".".join(cap.get("setting", ())) or "fixed"
    return f"{name}, default {cap['default']} blocks in a row"
