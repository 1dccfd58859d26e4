"""hookctl hosts: what every host can do, how sure that is, and which are in use here."""

from __future__ import annotations

from typing import Any

from hookctl import hosts as known
from hookctl import report
from hookctl.hosts import Host
from hookctl.model import Result
from hookctl.packs.abilities import shortcomings
from hookctl.system.folders import Folders

_PROJECT = "<project>"


def hosts(folders: Folders) -> Result:
    """The matrix of hosts and events, and of each host its files, its cap, its gate and what it cannot do."""
    pages = [_page(known.load(name), folders) for name in known.names()]
    return Result(
        {"hosts": pages}, (*_matrix(pages), *(line for page in pages for line in _lines(page)))
    )


def _page(host: Host, folders: Folders) -> dict[str, Any]:
    events = [
        {"event": event, "name": name, "sure": _sure(host, event)}
        for event, name in host.events.items()
    ]
    return {
        "host": host.name,
        "title": host.title,
        "client_seen": host.client.seen,
        "sure": host.sure,
        "format": host.format,
        "comments": host.comments,
        "files": {
            scope: known.settings_path(host, scope, folders.environ, _PROJECT)
            for scope in host.scopes
        },
        "also": _also(host, folders),
        "scopes_supported": [*host.scopes],
        "events": events,
        "cap": host.cap or None,
        "trust": host.data.get("trust"),  # as its file has it
        "env_channel": host.environment.channel,
        "cannot": shortcomings(host),
        "detected": known.detected(host, folders.environ),
    }


def _also(host: Host, folders: Folders) -> list[str]:
    """Other files of the same scopes, in which hooks are registered where the host reads them from there."""
    usual = {known.settings_path(host, scope, folders.environ, _PROJECT) for scope in host.scopes}
    found = (
        known.settings_path(other, scope, folders.environ, _PROJECT)
        for _, other in known.variants(host)
        for scope in host.scopes
    )
    return [path for path in dict.fromkeys(found) if path not in usual]


def _sure(host: Host, event: str) -> str:
    return host.sure_events.get(event, host.sure)


def _matrix(pages: list[dict[str, Any]]) -> list[str]:
    """A row a host, a column an event; a cell says how sure the event is there."""
    sure = {page["host"]: {one["event"]: one["sure"] for one in page["events"]} for page in pages}
    columns = [event for event in known.EVENTS if any(event in events for events in sure.values())]
    rows = [
        ["HOST", *columns],
        *([host, *(events.get(event, "-") for event in columns)] for host, events in sure.items()),
    ]
    legend = "proven: a run of the client in the test-suite; read: its source; docs: documents only; -: there is none"
    return [*report.table(rows), legend]


def _lines(page: dict[str, Any]) -> list[str]:
    comments = " with comments" if page["comments"] else ", no comments"
    form = page["format"] + (comments if page["format"] == "json" else "")
    names = ", ".join(f"{one['event']}={one['name']}" for one in page["events"])
    return [
        "",
        f"{page['host']}: {page['title']}, facts seen on version {page['client_seen']}",
        *(
            f"  {scope:9} {report.tilde(page['files'][scope])} ({form})"
            for scope in page["scopes_supported"]
        ),
        *(
            f"  or        {report.tilde(path)}, where hooks count from there"
            for path in page["also"]
        ),
        f"  detected  {report.tilde(page['detected']) or 'no'}",
        f"  cap       {_cap(page['cap'])}",
        f"  events    {names}",
        *([f"  gate      {page['trust']['gate']}"] if page["trust"] else []),
        *(f"  cannot    {said}" for said in page["cannot"]),
    ]


def _cap(cap: dict[str, Any] | None) -> str:
    if cap is None:
        return "none: it takes as many blocks as come"
    named = cap.get("key") or cap.get("field") or ".".join(cap.get("setting", ()))
    return f"{named or 'fixed'}, default {cap['default']} blocks in a row"
