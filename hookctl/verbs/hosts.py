"""hookctl hosts: what every host can do, how sure that is, and which hosts are in use here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from hookctl import hosts as known
from hookctl.hosts import Host
from hookctl.ledger.store import made_paths
from hookctl.model import Line, Result
from hookctl.output.lines import labelled, table, tilde
from hookctl.packs.abilities import shortcomings
from hookctl.system.folders import Folders

_PROJECT = "<project>"
_LEGEND = (
    Line("sure: `proven` by runs of the client itself, `read` in its source, `docs` in its manual"),
    Line("`hookctl hosts NAME` shows a host's events, limits and approvals."),
)


def hosts(folders: Folders, names: Sequence[str] = ()) -> Result:
    """A row for every host; or of the named ones the files, events, cap and shortcomings."""
    chosen = list(dict.fromkeys(names)) or known.names()
    facts = [_gather_facts(known.load(name), folders) for name in chosen]
    lines: list[Line] = []
    for facts_of_host in facts if names else ():
        lines += _describe(facts_of_host)
    text = lines if names else _make_table(facts)
    return Result({"hosts": facts}, tuple(text))


def _gather_facts(host: Host, folders: Folders) -> dict[str, Any]:
    """The facts about a host, as `--json` shows them."""
    environment = host.environment
    paths = {scope: _settings_path(host, scope, folders) for scope in host.scopes}
    config = known.config_folder(host, folders.environ)
    rules = {}  # the file with instructions for the agent of each scope
    for scope, pattern in host.rules.items():
        rules[scope] = pattern.format(config=config, project=_PROJECT)
    events = []
    for event, name in host.events.items():
        sure = host.sure_events.get(event, host.sure)
        events.append({"event": event, "name": name, "sure": sure})
    return {
        "host": host.name,
        "title": host.title,
        "client_seen": host.client.seen,
        "sure": host.sure,
        "format": host.format,
        "comments": host.comments,
        "files": paths,
        "also": _other_paths(host, folders, paths),
        "managed": host.managed_files.get(sys.platform, []),
        "rules": rules,
        "scopes_supported": [*host.scopes],
        "events": events,
        "cap": host.cap or None,
        "trust": host.data.get("trust"),  # as its file has it
        "env_channel": environment.channel,
        # The variable that tells the agent's own commands their session.
        "session": (environment.session_in_tools and environment.session) or None,
        "process": environment.process or None,
        "cannot": shortcomings(host),
        "detected": known.detected(host, folders.environ, made_paths(folders)),
    }


def _settings_path(host: Host, scope: str, folders: Folders) -> str:
    return known.settings_path(host, scope, folders.environ, _PROJECT)


def _other_paths(host: Host, folders: Folders, usual: dict[str, str]) -> list[str]:
    """Other files of the same scopes; hooks go there where the host reads its hooks from them."""
    paths: dict[str, None] = {}
    for _, variant in host.variants:
        for scope in host.scopes:
            paths[_settings_path(variant, scope, folders)] = None
    return [path for path in paths if path not in usual.values()]


def _make_table(facts: list[dict[str, Any]]) -> list[str | Line]:
    """A row for each host: is it here, how sure its stop hook is, its cap, its settings."""
    rows = [["HOST", "HERE", "SURE", "HOST CAP", "SETTINGS"]]
    for host in facts:
        sure = {event["event"]: event["sure"] for event in host["events"]}
        here = "yes" if host["detected"] else "no"
        cap = str(host["cap"]["default"]) if host["cap"] else "none"
        path = next(iter(host["files"].values()))
        rows.append([host["host"], here, sure.get("stop", "-"), cap, tilde(path)])
    return [*table(rows), *_LEGEND]


def _describe(facts: dict[str, Any]) -> list[Line]:
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
    rows.append(("host cap", _describe_cap(facts["cap"])))
    rows.append(("session", _describe_session(facts["session"])))
    rows.append(("process", _describe_process(facts["process"])))
    for event in facts["events"]:
        rows.append(("event", f"{event['event']:13} {event['name']}, {event['sure']}"))
    if facts["trust"]:
        rows.append(("approval", facts["trust"]["gate"]))
    for shortcoming in facts["cannot"]:
        rows.append(("cannot", shortcoming))
    return [Line(title), *labelled(rows)]


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
        return (
            "one process may run several sessions; work passes on when the process ends "
            "or after 30 idle minutes"
        )
    variable = "parent of the hook's shell, on Linux"
    return variable if told_by == "parent" else f"{told_by}, else the {variable}"


def _describe_cap(cap: dict[str, Any] | None) -> str:
    if cap is None:
        return "none: it takes as many blocks as come"
    name = cap.get("key") or cap.get("field") or ".".join(cap.get("setting", ())) or "fixed"
    return f"{name}, default {cap['default']} blocks in a row"
