"""hookctl hosts: what every host can do, how sure that is, and which hosts are in use here."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hookctl import errors
from hookctl import hosts as known
from hookctl.hosts import Host, readers
from hookctl.hosts.model import OtherAgent
from hookctl.ledger import store
from hookctl.model import Line, Record, Result
from hookctl.output.hosts import describe_host, table_lines
from hookctl.packs.abilities import list_abilities, shortcomings
from hookctl.survey.records import read_records
from hookctl.system.folders import Folders

_PROJECT = "<project>"

HELP = """
host <host>  Only these hosts, in detail.

Examples:
  hookctl hosts
  hookctl hosts claude gemini    their events, limits and approvals
"""


def hosts(folders: Folders, host: Sequence[str] = ()) -> Result:
    """A row for every host; or of the named ones the files, events, cap and shortcomings.

    Where a record cannot be read, that is an error, and the rest is shown all the same.
    """
    found = read_records(folders, everywhere=False)
    # Another user's project has nothing of ours.
    problems = [error.as_dict() for error in found.errors if error.code != "foreign_project"]
    facts = []
    for one in map(known.load, dict.fromkeys(host or known.names())):
        packs = []  # what is installed there, for the user and in this project
        for record in found.records.values():
            for name, pack in record.packs.items() if record.host == one.name else ():
                packs.append({"pack": name, "version": pack.version, "scope": record.scope})
        facts_of_one = _gather_facts(one, folders, found.records)
        facts.append({**facts_of_one, "packs": None if problems else packs})
    lines: list[str | Line] = []
    for facts_of_host in facts if host else ():
        lines += describe_host(facts_of_host)
    return Result(
        {"hosts": facts},
        tuple(lines or table_lines(facts)),
        errors=tuple(problems),
        exit_code=errors.UNREADABLE if problems else errors.OK,
    )


def _gather_facts(host: Host, folders: Folders, records: Mapping[str, Record]) -> dict[str, Any]:
    """The facts about a host, as `--json` shows them."""
    environment = host.environment
    paths = {}
    for scope in host.scopes:
        paths[scope] = known.settings_path(host, scope, folders.environ, _PROJECT)
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
        "format": host.syntax,
        "comments": host.comments,
        "files": paths,
        "also": _other_paths(host, folders, paths),
        "managed": host.managed_files.get(sys.platform, []),
        "rules": rules,
        "scopes_supported": [*host.scopes],
        "events": events,
        "can": list_abilities(host),
        "cap": host.cap or None,
        "trust": host.data.get("trust"),  # as its file has it
        "env_channel": environment.channel,
        # The variable that tells the agent's own commands their session.
        "session": (environment.session_in_tools and environment.session) or None,
        "process": environment.process or None,
        "cannot": shortcomings(host),
        "also_read_by": [_describe_reader(agent) for agent in host.also_read_by],
        "also_reads": [
            {**_describe_reader(agent), "host": owner.name, "agent": owner.title}
            for owner, agent in readers.find_read_by(host.name)
        ],
        "detected": known.detected(host, folders.environ, store.list_made(records)),
    }


def _describe_reader(agent: OtherAgent) -> dict[str, Any]:
    """Another agent that reads a host's files, as `--json` shows it."""
    return {
        "agent": readers.title_of(agent),
        "host": agent.host or None,
        "scopes": [*agent.scopes],
        "plugins": [*agent.plugins],
        "only": readers.condition(agent),
        "sure": agent.sure,
    }


def _other_paths(host: Host, folders: Folders, usual: dict[str, str]) -> list[str]:
    """Other files of the same scopes; hooks go there where the host reads its hooks from them."""
    paths: dict[str, None] = {}
    for _, variant in host.variants:
        for scope in host.scopes:
            paths[known.settings_path(variant, scope, folders.environ, _PROJECT)] = None
    return [path for path in paths if path not in usual.values()]
