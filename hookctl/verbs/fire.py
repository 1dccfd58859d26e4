"""hookctl fire: run the hooks of an event once, as the hosts would, and say what follows."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hookctl import hosts
from hookctl.errors import USAGE, HookctlError, usage_error
from hookctl.firing import calls
from hookctl.firing.calls import Asked, Call, Place, Shot, Volley, find_event
from hookctl.firing.shooting import Bench, Stand, choose, hooks_of_pack
from hookctl.hosts import Host
from hookctl.masking import OwnText, masked_text
from hookctl.model import Line, Result
from hookctl.output.lines import amount, confirm, cut, place, progress, say, tildes
from hookctl.settings import switches
from hookctl.survey import listing
from hookctl.survey.listing import Inventory, take_inventory
from hookctl.survey.machine import Machine, read_records
from hookctl.survey.model import Hook
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.project import find_quietly, require_own
from hookctl.verbs.choosing import in_project, load_hosts
from hookctl.verbs.hooks import BEHIND_ID, name_hook
from hookctl.verbs.pack import load_pack

_LONGEST = 60  # characters of a command in its line
_WIDEST = 300  # characters of an output or a reason
_MARKS = {
    "failed": "error",
    "timeout": "error",
    "not_run": "skip",
    "unknown": "warn",
    "deny": "warn",
    "block": "warn",
}
_WOULD = {
    "allow": "would make the call, without asking anybody",
    "deny": "would refuse the call",
    "ask": "would ask the person",
    "change": "would go on with what the hook changed",
    "end": "would end the turn",
    "unknown": "may do anything",
}
_BY_EVENT = {  # without an opinion of any hook, and where one blocks; by Claude Code's names
    "PreToolUse": ("would make the call", "would refuse the call"),
    "UserPromptSubmit": ("would take the prompt", "would refuse the prompt"),
    "PostToolUse": ("would go on", "would tell the model what is wrong with the call"),
    "Stop": ("would stop", "would not stop: the agent goes on"),
}

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
  hookctl fire stop --hook 3f84 --run-project
"""


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
    values = calls.parse(input, "--input") if input else None
    asked = Asked(event, tool, values, calls.read_payload(payload) if payload else None)
    loaded, wanted = load_pack(pack) if pack else None, load_hosts(host)
    folders = in_project(folders, project)
    require_own(find_quietly(folders.cwd, folders.environ))
    with files.private_folder("fire", folders.state) as folder:
        transcript = os.path.join(folder, "transcript.jsonl")
        files.write_own(transcript, b"")  # an empty record of a session, for hooks that read it
        machine = Machine(folders, read_records(folders, everywhere=False).records)
        inventory = None if loaded else take_inventory(folders, wanted)
        known: Sequence[Hook] = inventory.hooks if inventory else ()
        named = tuple(found for name in hook for found in listing.find(known, name))
        looked_at = wanted or [hosts.load(name) for name in hosts.names()]
        calls.require_question(looked_at, asked)
        aimed, skipped = list[tuple[Call, list[Shot]]](), list[str]()
        for each in looked_at:
            if not find_event(each, event)[0]:
                skipped += [f"{each.title} has no event {event}"] if wanted else []
                continue
            where = Place(machine.start_of(each), folders.home, transcript, folders.environ)
            told = calls.make_calls(each, asked, where)
            if loaded:
                known = hooks_of_pack(Bench(os.path.join(folder, each.name), loaded), each)
            shots = choose(known, told, asked, where, named, is_project_run=run_project)
            if named and shots and all(shot.why_not for shot in shots):
                message = f"{shots[0].name} is not run: {shots[0].why_not}"
                raise usage_error(message, "Nothing was run.")
            if shots and calls.lacks_tool(each, tool):
                skipped.append(f"{each.title} has no tool for {tool}")
            elif shots or (wanted and not named):
                aimed.append((told[0], shots))
        if asked.payload is not None and len(aimed) > 1:
            names = ", ".join(call.host.name for call, _ in aimed)
            hint = f"Name the host whose payload it is with --host: {names}."
            raise usage_error("a payload is one host's own", hint)
        if inventory and not named:
            for file in inventory.unreadable:
                skipped.append(f"hooks not known: {place(file.path, file.line)}: {file.message}")
            skipped += _name_foreign_hooks(inventory, [call.host for call, _ in aimed], asked)
        if not aimed and not skipped:
            about = event + (f" with {tool}" if tool else "")
            if named:
                raise usage_error(f"no named hook is for {about}", "Nothing was run.")
            skipped.append(f"no hook here is for {about}")
        _require_consent(aimed, is_given=yes, as_json=json)
        volleys = []
        for number, (call, shots) in enumerate(aimed):
            room = os.path.join(folder, str(number))
            os.mkdir(room, 0o700)
            start = machine.start_of(call.host)
            environ = _environ(machine, call.host, start, is_project_run=run_project)
            volleys.append(Stand(room, folders.state, start).fire(call, shots, environ, progress))
    text = [line for volley in volleys for line in _volley_lines(volley)]
    text += [Line(reason, "skip") for reason in skipped]
    return Result({"hosts": [*map(_describe, volleys)]}, tuple(text))


def _name_foreign_hooks(
    inventory: Inventory, looked_at: Sequence[Host], asked: Asked
) -> Iterator[str]:
    """The hosts whose files have hooks that these hosts read too: they are run as their owners'."""
    names = {host.name for host in looked_at}
    owners = set()
    for hook in [one for one in inventory.hooks if one.host not in names]:
        if hook.event == find_event(hook.within.host, asked.event, asked.tool)[0]:
            owners |= {(agent.host, hook.host) for agent in hook.within.readers}
    for reader, owner in sorted(pair for pair in owners if pair[0] in names):
        whose = f"{hosts.load(owner).title}'s files, which {hosts.load(reader).title} reads too"
        yield f"not run: hooks in {whose}; add --host {owner}"


def _environ(
    machine: Machine, host: Host, start: str, *, is_project_run: bool
) -> Mapping[str, str]:
    """The variables of the person, and those that settings give to all hooks.

    Those of a project's own settings could change what a person's hooks run.
    """
    found = machine.sources(host, machine.active_file(host, "user")[1], start)
    kept = [one for one in found if one.scope in ("user", "managed") or is_project_run]
    return {**machine.environ, **switches.variables(kept)}


# Consent.


def _require_consent(
    aimed: Iterable[tuple[Call, list[Shot]]], *, is_given: bool, as_json: bool
) -> None:
    """Show the hooks of the project and of plugins, and ask; a usage error without a yes."""
    asked: list[Hook] = []
    for _, shots in aimed:
        asked += [shot.hook for shot in shots if shot.is_asked and not shot.why_not]
    if not asked:
        return
    lines = ["these hooks would run here, as you:"]
    for hook in asked:
        whose = f"of the plugin {hook.plugin}" if hook.plugin else "of this project"
        where = f"{hook.within.host.title} {hook.event}, {whose}"
        lines.append(f"  {where}: {place(hook.file, hook.line)}")
        lines.append(f"    {masked_text(hook.command)}")
    if not as_json:
        say(OwnText("\n".join(lines)))
    count = amount(len(asked), "hook")
    if not is_given and (as_json or not confirm(f"Run {count}?")):
        message = f"{count} of this project or of a plugin would run: it needs your consent"
        hint = "Read what would run (`hookctl hooks`), then add --yes. Nothing was run."
        path = asked[0].file
        raise HookctlError("consent_needed", message, path=path, hint=hint, exit_code=USAGE)


# What came of it.


def _describe(volley: Volley) -> dict[str, Any]:
    (call, shots, verdict), hooks = volley, []
    for shot in shots:
        ran, reading = shot.ran, shot.reading
        hooks.append(
            {
                "id": shot.hook.id,
                "ms": None if shot.why_not or reading.outcome == "not_run" else ran.ms,
                "status": ran.status,
                "stdout": masked_text(ran.out),
                "stderr": masked_text(ran.err),
                "outcome": reading.outcome,
                "reason": masked_text(reading.reason),
            }
        )
    return {
        "host": call.host.name,
        "event": call.event,
        "hooks": hooks,
        "outcome": verdict.outcome,
        "reason": masked_text(verdict.reason),
    }


def _volley_lines(volley: Volley) -> Iterator[Line]:
    call, shots, verdict = volley
    yield Line(f"{call.host.title}  {call.event} {call.tool}".rstrip())
    for shot in shots:
        yield from _lines_of(shot)
    if not shots:
        yield Line("no hook is for this", indent=2)
    elif all(shot.is_out for shot in shots):
        return
    event, outcome = call.protocol.removeprefix("Subagent"), verdict.outcome
    would, blocked = _BY_EVENT.get(event, ("would go on", "would go on"))
    if outcome == "block" or (outcome == "context" and event == "Stop"):
        would = blocked
    elif outcome == "context":
        would += ", and tell the model more"
    text = f"{call.host.title} {_WOULD.get(outcome, would)}"
    if outcome == "end" and verdict.refuses and event == "PreToolUse":
        text += " and not make the call"
    if skipped := sum(bool(shot.why_not) for shot in shots):
        text += f" ({amount(skipped, 'hook')} not run)"
    if reason := cut(masked_text(verdict.reason), _WIDEST):
        text += f": {reason}"
    yield Line(text, "ok" if outcome in ("none", "allow", "context", "change") else "warn")


def _lines_of(shot: Shot) -> Iterator[Line]:
    ran, reading = shot.ran, shot.reading
    name = shot.hook.own_id or cut(masked_text(shot.hook.command), _LONGEST)
    yield name_hook(shot.hook, name, _MARKS.get(reading.outcome, "ok"))
    if reading.outcome == "not_run":
        yield Line(f"not run: {tildes(reading.reason)}", indent=BEHIND_ID)
        return
    if shot.note:
        yield Line(tildes(shot.note), indent=BEHIND_ID)
    status = "" if ran.status is None else f"exit status {ran.status}, "
    text = f"{ran.ms} ms, {status}outcome {reading.outcome}"
    is_below = reading.outcome in ("block", "deny") and ran.out + ran.err
    if reading.reason and not is_below:
        text += f": {cut(masked_text(reading.reason), _WIDEST)}"
    yield Line(text, indent=BEHIND_ID)
    for name, output in (("stdout", ran.out), ("stderr", ran.err)):
        if shown := cut(masked_text(output).strip("\n"), _WIDEST):
            yield Line(shown, indent=BEHIND_ID, label=f"{name}:")
