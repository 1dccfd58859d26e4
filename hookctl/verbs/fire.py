"""hookctl fire: run the hooks of an event once, as the hosts would, and say what follows."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl import hosts
from hookctl.errors import USAGE, HookctlError, usage_error
from hookctl.firing import calls
from hookctl.firing.calls import Asked, Place, find_event
from hookctl.firing.choosing import Chosen, choose
from hookctl.firing.model import Call, Fired, Shot, Volley
from hookctl.firing.shooting import Stand
from hookctl.firing.trying import choose_of_pack
from hookctl.hosts import Host
from hookctl.masking import OwnText, masked_text
from hookctl.model import Line, Result
from hookctl.output.fire import ask_lines, describe_if_all, describe_none, volley_lines
from hookctl.output.lines import amount
from hookctl.packs.choices import Permission
from hookctl.packs.model import Pack
from hookctl.report import progress
from hookctl.settings import effective
from hookctl.survey import ids
from hookctl.survey.inventory import Inventory, take_inventory
from hookctl.survey.machine import Machine
from hookctl.survey.model import Hook
from hookctl.survey.records import read_records
from hookctl.system.folders import Folders
from hookctl.system.project import look, require_own
from hookctl.system.temporary import private_folder
from hookctl.verbs.choosing import in_project, load_hosts, permission
from hookctl.verbs.pack import load_pack

_OF_USER = ("user", "managed")


HELP = """
event EVENT  The event: stop, PreToolUse, or a host's own name.
--tool NAME  For an event about a tool call: the tool, by Claude Code's name or the host's.
--input JSON  Its input as JSON, by Claude Code's names; default: a harmless example.
--payload FILE  A file with a payload of the host, instead of one that is made.
--hook ID  Only this hook, also one that the host would not run; repeat it for several.
--pack PATH  The hooks of a pack that is not installed, by its path.
--run-project  Also the project's own hooks, after a look at them.
--yes -y  Run hooks of the project or of a plugin without asking.

Examples:
  hookctl fire stop                the hooks really run
  hookctl fire pre-tool --tool Bash --input '{"command": "rm -rf x"}' --host claude
  hookctl fire prompt --pack ./my-pack --host gemini
  hookctl fire stop --hook 3f84 --run-project
"""


class _Request(NamedTuple):
    """What a person wants to try."""

    asked: Asked
    hosts: Sequence[Host]  # empty: those with a hook for it
    ids: Sequence[str]  # empty: all hooks that the host would run
    is_project_run: bool  # those of the project too
    pack: Pack | None  # instead of the installed hooks


class _Salvo(NamedTuple):
    """The hooks of one call, before they run."""

    call: Call
    shots: tuple[Shot, ...]
    environ: Mapping[str, str]
    start: str  # the folder that the host is started in
    others: tuple[str, ...] = ()  # matchers of hooks for the event, but for another call


def fire(
    folders: Folders,
    event: str,
    host: Sequence[str] = (),
    tool: str = "",
    input: str = "",
    payload: str = "",
    hook: Sequence[str] = (),
    pack: str = "",
    run_project: bool = False,
    yes: bool = False,
    project: str = "",
    json: bool = False,
) -> Result:
    """Run the hooks that match; exit code 0, whatever the hosts would do."""
    if pack and (hook or run_project):
        raise usage_error("--pack runs the pack's hooks alone", "Leave out the other option.")
    if payload and (tool or input):
        raise usage_error("--payload has the tool call in it", "Leave out --tool and --input.")
    asked = Asked(
        event,
        tool,
        calls.parse_input(input) if input else None,
        calls.read_payload(payload) if payload else None,
    )
    loaded = load_pack(pack) if pack else None
    request = _Request(asked, load_hosts(host), hook, run_project, loaded)
    folders = in_project(folders, project)
    require_own(look(folders.cwd, folders.environ))
    with private_folder("fire", folders.state) as folder:
        with open(_transcript_in(folder), "xb"):
            pass
        salvos, skipped = _aim(folders, request, folder)
        _require_consent(salvos, permission(yes, False, json))
        volleys = [
            _fire_salvo(folders, salvo, os.path.join(folder, str(number)))
            for number, salvo in enumerate(salvos)
        ]
    text = [line for volley in volleys for line in volley_lines(volley)]
    text += [Line(reason, "skip") for reason in skipped]
    data = {"hosts": [_describe(volley) for volley in volleys]}
    return Result(data, tuple(text))


def _transcript_in(folder: str) -> str:
    """An empty record of a session, for hooks that read it."""
    return os.path.join(folder, "transcript.jsonl")


# Which hooks.


def _aim(folders: Folders, request: _Request, folder: str) -> tuple[list[_Salvo], list[str]]:
    """The hooks of each host, and what else is to be said."""
    machine = Machine(folders, read_records(folders, everywhere=False).records)
    asked = request.asked
    inventory = None if request.pack else take_inventory(folders, request.hosts)
    known = inventory.hooks if inventory else ()
    named = tuple(hook for name in request.ids for hook in ids.find(known, name))
    looked_at = request.hosts or (inventory.hosts if inventory else ())
    if inventory is None and not looked_at:
        all_hosts = map(hosts.load, hosts.names())
        looked_at = [host for host in all_hosts if find_event(host, asked.event)[0]]
    calls.require_question(looked_at, asked)
    salvos, skipped = [], []
    for host in looked_at:
        if not find_event(host, asked.event)[0]:
            if request.hosts and not named:
                skipped.append(f"{host.title} has no event {asked.event}")
            continue
        salvo = _aim_at(folders, machine, request, host, inventory, named, folder)
        if not (salvo.shots or salvo.others) and (named or not request.hosts):
            continue
        if calls.lacks_tool(host, asked.tool):
            skipped.append(f"{host.title} has no tool for {asked.tool}")
            continue
        salvos.append(salvo)
    if asked.payload is not None and len(salvos) > 1:
        names = ", ".join(salvo.call.host.name for salvo in salvos)
        hint = f"Name the host whose payload it is with --host: {names}."
        raise usage_error("a payload is one host's own", hint)
    if named and not salvos and not skipped:
        events = ", ".join(sorted({hook.event for hook in named}))
        hint = f"Name the event that it is for: {events}."
        raise usage_error(f"{', '.join(request.ids)} is not for {asked.event}", hint)
    if inventory and not named:
        skipped += _name_foreign_hooks(inventory, [salvo.call.host for salvo in salvos], asked)
    aimed = [salvo for salvo in salvos if salvo.shots or request.hosts]
    if not aimed and not skipped:
        tool = asked.tool or next((salvo.call.tool for salvo in salvos), "")
        others = [matcher for salvo in salvos for matcher in salvo.others]
        skipped.append(describe_none(f"no hook here is for {asked.event}", tool, others))
    return aimed, skipped


def _name_foreign_hooks(
    inventory: Inventory, looked_at: Sequence[Host], asked: Asked
) -> Iterator[str]:
    """The hooks in other hosts' files that these hosts read too: they are run as their owners'."""
    names = {host.name for host in looked_at}
    of_tool = f" --tool {shlex.quote(asked.tool)}" if asked.tool else ""
    for host in looked_at:
        counts: Counter[str] = Counter()
        for hook in inventory.hooks:
            is_read = any(agent.host == host.name for agent in hook.within.readers)
            of_host = find_event(hosts.load(hook.host), asked.event, asked.tool)[0]
            if is_read and hook.event == of_host and hook.host not in names:
                counts[hook.host] += 1
        for owner, count in counts.items():
            where = f"{hosts.load(owner).title}'s files, which {host.title} reads too"
            command = f"hookctl fire {asked.event}{of_tool} --host {owner}"
            runs = f"`{command}` runs {'it' if count == 1 else 'them'}"
            yield f"not run: {amount(count, 'hook')} for {asked.event} in {where}; {runs}"


def _aim_at(
    folders: Folders,
    machine: Machine,
    request: _Request,
    host: Host,
    inventory: Inventory | None,
    named: tuple[Hook, ...],
    folder: str,
) -> _Salvo:
    start = machine.start_of(host)
    place = Place(start, folders.home, _transcript_in(folder), folders.environ)
    told = calls.make_calls(host, request.asked, place)
    environ = _environ(machine, host, start, is_project_run=request.is_project_run)
    if inventory is None:
        assert request.pack
        shots = choose_of_pack(os.path.join(folder, f"pack-{host.name}"), request.pack, told[0])
        return _Salvo(told[0], tuple(shots), environ, start)
    chosen = Chosen(named, request.is_project_run)
    shots, others = choose(inventory, told, request.asked, chosen, place)
    reasons = [shot.why_not for shot in shots]
    if named and reasons and all(reasons):
        raise usage_error(f"{shots[0].name} is not run: {reasons[0]}", "Nothing was run.")
    return _Salvo(told[0], tuple(shots), environ, start, () if shots else tuple(others))


def _environ(
    machine: Machine, host: Host, start: str, *, is_project_run: bool
) -> Mapping[str, str]:
    """The variables of the person, and those that settings give to all hooks.

    Those of a project's own settings could change what a person's hooks run.
    """
    environ = dict(machine.environ)
    user = machine.active_file(host, "user")[1]
    for source in reversed(machine.sources(host, user, start) if host.env_path else ()):
        if source.scope in _OF_USER or is_project_run:
            environ |= effective.variables([source])
    return environ


# Consent.


def _require_consent(salvos: Sequence[_Salvo], given: Permission) -> None:
    """Show the hooks of the project and of plugins, and ask; a usage error without a yes."""
    asked = [shot for salvo in salvos for shot in salvo.shots if shot.is_asked and not shot.why_not]
    if not asked:
        return
    if given.show is not None:
        given.show(OwnText("\n".join(ask_lines(asked))))
    if given.yes:
        return
    if given.confirm is not None and given.confirm(f"Run {_count(asked)}?"):
        return
    first = asked[0]
    message = f"{_count(asked)} of this project or of a plugin would run: it needs your consent"
    hint = "Read what would run (`hookctl hooks`), then add --yes. Nothing was run."
    raise HookctlError("consent_needed", message, path=first.hook.file, hint=hint, exit_code=USAGE)


def _count(shots: Sequence[Shot]) -> str:
    return "this hook" if len(shots) == 1 else f"these {len(shots)} hooks"


# What came of it.


def _fire_salvo(folders: Folders, salvo: _Salvo, folder: str) -> Volley:
    os.mkdir(folder, 0o700)
    stand = Stand(folder, folders.state, salvo.start)

    def show(shot: Shot) -> None:
        progress(f"{shot.host.title}: {shot.name} ...")

    volley = stand.fire(salvo.call, salvo.shots, salvo.environ, show)
    return volley._replace(others=salvo.others)


def _describe(volley: Volley) -> dict[str, Any]:
    """A call as `--json` shows it."""
    verdict = volley.verdict
    reasons = filter(None, (verdict.reason, describe_if_all(volley)))
    return {
        "host": volley.call.host.name,
        "event": volley.call.event,
        "hooks": [*_describe_hooks(volley.fired)],
        "outcome": verdict.outcome,
        "reason": masked_text("\n".join(reasons)),
    }


def _describe_hooks(fired: Sequence[Fired]) -> Iterator[dict[str, Any]]:
    for shot, ran, reading in fired:
        yield {
            "id": shot.hook.id,
            "ms": None if shot.why_not or reading.outcome == "not_run" else ran.ms,
            "status": ran.status,
            "stdout": masked_text(ran.out),
            "stderr": masked_text(ran.err),
            "outcome": reading.outcome,
            "reason": masked_text(reading.reason),
        }
