"""hookctl hosts: what every host can do, how sure that is, and which are in use here."""

from __future__ import annotations

from typing import Any

from hookctl import hosts as known
from hookctl import report
from hookctl.folders import Folders
from hookctl.hosts import Host
from hookctl.model import Result
from hookctl.places import SCOPES

_PROJECT = "<project>"


def hosts(folders: Folders) -> Result:
    """Every host's files, events and detection."""
    pages = [_page(known.load(name), folders) for name in known.names()]
    return Result({"hosts": pages}, tuple(line for page in pages for line in _lines(page)))


def _page(host: Host, folders: Folders) -> dict[str, Any]:
    events = [
        {"event": event, "name": name, "sure": host.data.get("sure_events", {}).get(event, host.data["sure"])}
        for event, name in host.events.items()
    ]
    return {
        "host": host.name,
        "title": host.title,
        "client_seen": host.data["client"]["seen"],
        "format": host.format,
        "comments": host.comments,
        "files": {scope: known.settings_path(host, scope, folders.environ, _PROJECT) for scope in SCOPES},
        "scopes_supported": [*SCOPES],
        "events": events,
        "cap": host.data["cap"],
        "detected": known.detected(host, folders.environ),
    }


def _lines(page: dict[str, Any]) -> list[str]:
    rows = [["EVENT", "ITS NAME", "HOW SURE"], *([e["event"], e["name"], e["sure"]] for e in page["events"])]
    form = page["format"] if page["comments"] else f"{page['format']}, no comments"
    return [
        f"{page['host']}: {page['title']}, facts seen on version {page['client_seen']}",
        *(f"  {scope:9} {report.tilde(page['files'][scope])} ({form})" for scope in page["scopes_supported"]),
        f"  detected  {page['detected'] or 'no'}",
        f"  cap       {page['cap']['key']}, default {page['cap']['default']} blocks in a row",
        *report.table(rows, indent="  "),
    ]
