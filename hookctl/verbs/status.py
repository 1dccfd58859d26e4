"""hookctl status: what is installed where, what was changed since, and what the guard will do."""

from __future__ import annotations

from typing import Any

from hookctl import engine, ledger, planner, report
from hookctl import hosts as known
from hookctl.documents import MISSING
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.model import Entry, Record, Result
from hookctl.packs import guard


def status(folders: Folders) -> Result:
    """Every settings file that the ledger knows, entry by entry, and the hosts that have nothing of ours."""
    records = ledger.load(folders.ledger)
    pages = [_page(path, record) for path, record in sorted(records.items())]
    lines = [line for page in pages for line in _lines(page)]
    for name in known.names():
        host = known.load(name)
        if all(record.host != name for record in records.values()):
            where = known.detected(host, folders.environ)
            seen = f"detected: {report.tilde(where)}" if where else "not detected"
            lines.append(f"{host.title}: nothing is installed ({seen}); `hookctl install --host {name}` does it")
    return Result({"files": pages}, tuple(lines))


def _page(path: str, record: Record) -> dict[str, Any]:
    page: dict[str, Any] = {
        "file": path,
        "host": record.host,
        "scope": record.scope,
        "packs": {name: pack.version for name, pack in record.packs.items()},
        "entries": [],
        "error": None,
        "guard": None,
    }
    try:
        _, document = planner.read_document(path)
        live = planner.look(document, (), record.entries)
    except HookctlError as error:
        return {**page, "error": error.as_dict()}
    for entry in record.entries:
        if entry.kind != "container":
            page["entries"].append(_entry(entry, engine.state(entry, live, entry.path, entry.id), live.values))
    if "guard" in record.packs and record.host in known.names():
        settings = guard.settings_from(record.packs["guard"].settings)
        limit = document.get(guard.limit_path(known.load(record.host)))
        page["guard"] = sentence(settings, "" if limit is MISSING else str(limit))
    return page


def _entry(entry: Entry, state: str, values: dict[Any, Any]) -> dict[str, Any]:
    return {
        "path": list(entry.path),
        "kind": entry.kind,
        "id": entry.id,
        "state": state,
        "mode": entry.mode,
        "value": values.get(entry.path) if entry.kind == "leaf" else entry.written,
        "owners": list(entry.owners),
    }


def sentence(settings: guard.Settings, limit: str) -> str:
    """What the guard will do, in one sentence."""
    if settings.mode == "off":
        return "does nothing: its mode is off"
    blocks = guard.limit_of(limit)
    if blocks <= 0:
        return "blocks stops while work remains, without a limit of its own, up to 200 a prompt"
    stops = "1 stop" if blocks == 1 else f"{blocks} stops"
    return f"blocks at most {stops} without progress while work remains, then lets go"


def _lines(page: dict[str, Any]) -> list[str]:
    packs = ", ".join(f"{name} {version}" for name, version in page["packs"].items())
    title = known.load(page["host"]).title if page["host"] in known.names() else page["host"]
    lines = [f"{title} ({page['scope']}): {report.tilde(page['file'])}", f"  installed  {packs}"]
    if page["error"]:
        return [*lines, f"  error      {page['error']['message']} (`hookctl doctor` says more)"]
    for entry in page["entries"]:
        name = f"{entry['id']} at {'.'.join(entry['path'])}" if entry["id"] else entry["path"][-1]
        value = f"={entry['value']}" if entry["kind"] == "leaf" and entry["value"] is not None else ""
        shown = "***" if value and report.is_secret(name) else f"{name}{value}"
        lines.append(f"  {entry['state']:10} {shown}")
    return [*lines, f"  the guard  {page['guard']}"] if page["guard"] else lines
