"""Runs the hooks of a call as their host does: its variables, its folder, its limits of time.

The guard and the runner of packs get a state folder of their own, with a copy of what they know
of this project, so that they answer as they would and count nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl import hosts
from hookctl.errors import HookctlError
from hookctl.firing.calls import (
    CHANGE,
    FAILED,
    NONE,
    NOT_RUN,
    SESSION,
    TIMEOUT,
    Asked,
    Call,
    Fired,
    Place,
    Ran,
    Reading,
    Shot,
    Volley,
    find_event,
    is_meant,
)
from hookctl.firing.reading import is_serial, judge, object_in, read_answer
from hookctl.hosts import Host, hook_id, loading
from hookctl.hosts.matchers import explain_mismatch
from hookctl.hosts.shapes import split_words
from hookctl.packs import guard
from hookctl.packs.cases import Bench
from hookctl.packs.model import Pack
from hookctl.settings.targets import GUARD
from hookctl.survey.inventory import Inventory
from hookctl.survey.model import RUNS, Hook, HookFile
from hookctl.system import files, project
from hookctl.system.packages import CONFIGS
from hookctl.system.processes import LIMIT, Keeper
from hookctl.system.project import is_inside

_USUAL_TIMEOUT = 60  # seconds of a hook without one, where the host's is not known
_NOT_STARTED = 127  # the exit status of a shell that finds no program
_SHORTEST = 2.0  # seconds of a hook that the host gives next to no time
_LARGEST = 1 << 20  # bytes of a file of the state that is copied
_MARK = "HOOKCTL_FIRED"  # the receipt says so, and nothing counts it


class Stand:
    """A private folder from which hooks are run in a project."""

    def __init__(self, folder: str, state: str, folder_of_project: str) -> None:
        self.project = folder_of_project
        self.state = os.path.join(folder, "state")
        _copy_state(project.state_folder(state, folder_of_project), self._own_state)

    @property
    def _own_state(self) -> str:
        return project.state_folder(self.state, self.project)

    def fire(
        self,
        call: Call,
        shots: Sequence[Shot],
        environ: Mapping[str, str],
        show: Callable[[Shot], None],
    ) -> Volley:
        """Run the hooks in the host's order; `show` tells of each one before it runs."""
        fired: list[Fired] = []
        serial, refused_by = is_serial(call.host, call.protocol), ""
        change: Any = None
        with Keeper() as keeper:
            for shot in shots:
                why_not = shot.why_not or (refused_by and f"{refused_by} has refused before it")
                if why_not:
                    fired.append(Fired(shot, Ran(), Reading(NOT_RUN, why_not)))
                    continue
                show(shot)
                told = _with_input(shot.call, change)
                ran = self._run(keeper, shot, told, environ)
                reading = self._read(told, shot, ran)
                fired.append(Fired(shot, ran, reading))
                if shot.is_out:
                    continue
                if serial and reading.refuses:
                    refused_by = shot.name
                if reading.outcome == CHANGE and call.host.reads.get("passes_change"):
                    change = reading.change
        answers = [each.reading for each in fired if not each.shot.is_out]
        return Volley(call, tuple(fired), judge(call, answers))

    def ask(self, shot: Shot, environ: Mapping[str, str]) -> tuple[Ran, dict[str, Any]]:
        """Run one hook alone: how it ended, and the receipt of the runner."""
        with Keeper() as keeper:
            ran = self._run(keeper, shot, shot.call, environ)
        return ran, self._take_receipt()

    def _run(self, keeper: Keeper, shot: Shot, call: Call, environ: Mapping[str, str]) -> Ran:
        folder = self._folder_of(shot)
        variables = {**self._variables(shot, environ), "PWD": folder}
        try:
            words = _words_of(shot, variables)
            output = keeper.talk(words, call.data, variables, folder, limit_of(shot))
        except (OSError, ValueError) as error:  # as a shell has it
            return Ran(_NOT_STARTED, err=f"not started: {error}\n")
        out, err = (text.decode("utf-8", "replace") for text in (output.out, output.err))
        problem = f"it printed more than {LIMIT >> 20} MiB" if output.is_cut else ""
        is_late = output.status is None
        return Ran(output.status, int(output.seconds * 1000), out, err, is_late, problem)

    def _read(self, call: Call, shot: Shot, ran: Ran) -> Reading:
        """What the host reads; what it cannot see of a pack's command, its receipt tells."""
        reading = read_answer(call, ran)
        if shot.hook.fields.get("async") is True:
            return Reading(NONE, "the host does not wait for it")
        receipt = self._take_receipt()
        outcome = receipt.get("outcome")
        if reading.outcome == NONE and outcome in (FAILED, TIMEOUT):
            return Reading(outcome, _message_in(ran.out))
        dropped = receipt.get("dropped")
        if isinstance(dropped, list) and dropped and not reading.reason:
            words = ", ".join(map(str, dropped))
            return reading._replace(reason=f"{call.host.title} is not told: {words}")
        return reading

    def _take_receipt(self) -> dict[str, Any]:
        """The last receipt, after which there is none."""
        path = os.path.join(self._own_state, "runs.jsonl")
        try:
            with open(path, "rb") as stream:
                receipt = json.loads(stream.read().splitlines()[-1])
            os.unlink(path)
        except (OSError, ValueError, IndexError):
            return {}
        return receipt if isinstance(receipt, dict) else {}

    def _variables(self, shot: Shot, environ: Mapping[str, str]) -> dict[str, str]:
        """The variables of a hook: the person's, the host's, and those of its own entry."""
        host, facts = shot.host, shot.host.environment
        variables = {name: text for name, text in environ.items() if name not in _all_marks()}
        names = [facts.project, *host.sends.get("project", ())]
        variables |= {name: self.project for name in names if name}
        variables |= dict.fromkeys(facts.marks, "1")
        if facts.session:
            variables[facts.session] = SESSION
        own = shot.hook.fields.get(host.env_field) if host.env_field else None
        if isinstance(own, dict):
            variables |= {str(name): str(text) for name, text in own.items()}
        variables |= shot.hook.within.variables
        return {**variables, "HOOKCTL_STATE_DIR": self.state, _MARK: "1"}

    def _folder_of(self, shot: Shot) -> str:
        """The folder that the host starts a hook in: its own, or that of the project."""
        own = shot.hook.fields.get(shot.host.environment.folder)
        return os.path.join(self.project, own) if isinstance(own, str) and own else self.project


def limit_of(shot: Shot) -> float:
    """The seconds that the host gives a hook."""
    given = loading.timeout_seconds(shot.host, dict(shot.hook.fields))
    if given is not None:
        return given
    usual = shot.host.registration.usual_timeouts
    return usual.get(shot.hook.event, usual.get("*", _USUAL_TIMEOUT)) or _SHORTEST


def _words_of(shot: Shot, variables: Mapping[str, str]) -> list[str]:
    """The program that a host starts for a hook, and its arguments."""
    host, fields = shot.host, shot.hook.fields
    key = command_of(host, fields)
    command, args, shell = fields[key], fields.get("args"), fields.get("shell", key)
    if key == "exec":
        return [command, *map(str, args if isinstance(args, list) else ())]
    if shell == "powershell":
        return ["pwsh", "-NoProfile", "-NonInteractive", "-Command", command]
    if isinstance(args, list) and "args" in host.handlers.fields:
        return [_expand(str(word), variables) for word in (command, *args)]
    if not host.shape.shell and not shot.hook.is_ours:
        return split_words(command)
    return ["bash" if shell == "bash" else "/bin/sh", "-c", command]


def _expand(word: str, variables: Mapping[str, str]) -> str:
    """A word with the places of the variables in it filled, as where no shell does it."""
    for name, text in variables.items():
        word = word.replace(f"${{{name}}}", text)
    return word


def _all_marks() -> set[str]:
    """The variables by which hooks know their host: fire may be started by an agent itself."""
    marks: set[str] = set()
    for host in map(hosts.load, hosts.names()):
        marks.update(host.environment.marks)
    return marks


def _with_input(call: Call, change: Any) -> Call:
    """The call as the next hook sees it, with the input that one before has changed, if any."""
    if change is None:
        return call
    payload = {**call.payload}
    for path in _input_fields(call.host):
        if path in payload:
            payload[path] = change
            break
    data = json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogateescape")
    return call._replace(payload=payload, data=data)


def _input_fields(host: Host) -> Sequence[str]:
    fields: Sequence[str] = host.runner.get("fields", {}).get("tool_input", ("tool_input",))
    return fields


def _message_in(out: str) -> str:
    """What the runner tells the person."""
    message = (object_in(out) or {}).get("systemMessage")
    return message if isinstance(message, str) else ""


def _copy_state(source: str, target: str) -> None:
    """Copy what the guard knows of a project, without its log."""
    os.makedirs(target, mode=0o700)
    with contextlib.suppress(OSError):
        for entry in os.scandir(source):
            is_log = ".jsonl" in entry.name or entry.name.startswith("runs")
            if is_log or not entry.is_file(follow_symlinks=False):
                continue
            if entry.stat(follow_symlinks=False).st_size <= _LARGEST:
                shutil.copyfile(entry.path, os.path.join(target, entry.name))


_OF_PROJECT = ("project", "local")


class Chosen(NamedTuple):
    """Which hooks a person wants to run."""

    hooks: tuple[Hook, ...] = ()  # by their IDs; empty for all that the host would run
    is_project_run: bool = False  # those of the project too


def choose(
    inventory: Inventory, calls: Sequence[Call], asked: Asked, chosen: Chosen, place: Place
) -> list[Shot]:
    """The hooks of a host that are for its call; `calls` has it in each dialect of the host."""
    shots = []
    for hook in inventory.hooks:
        if hook.host != calls[0].host.name or (chosen.hooks and hook not in chosen.hooks):
            continue
        host = hook.within.host
        named = {find_event(host, asked.event, asked.tool)[0]: calls[0]}
        named |= {call.event: call for call in calls}
        call = named.get(hook.event)
        if call is None:
            continue
        fits = is_meant(call, _matcher_of(hook))
        if fits or chosen.hooks or _fits_nothing(host, hook):
            shots.append(_make_shot(hook, host, call, chosen, place, fits=fits))
    return shots


def _fits_nothing(host: Host, hook: Hook) -> bool:
    """Whether the person ought to know that a hook is for no tool of the host at all."""
    return hook.state != RUNS and bool(explain_mismatch(host, hook.event, hook.matcher or None))


def _make_shot(
    hook: Hook, host: Host, call: Call, chosen: Chosen, place: Place, *, fits: bool
) -> Shot:
    is_of_project = hook.scope in _OF_PROJECT
    if hook.plugin and is_inside(place.project, hook.file, place.home):
        is_of_project = True
    why_not = _why_not(hook, host, chosen, is_of_project=is_of_project)
    if why_not:
        return Shot(host, hook, call, why_not=why_not)
    out = "" if fits else f"its matcher {json.dumps(hook.matcher)} does not fit this call"
    if not hook.is_started:
        out = f"{host.title} would not run it: {_explain_state(hook)}"
    note = "" if hook.state == RUNS else _explain_state(hook)
    is_asked = is_of_project or bool(hook.plugin)
    return Shot(host, hook, call, note=out or note, is_out=bool(out), is_asked=is_asked)


def _why_not(hook: Hook, host: Host, chosen: Chosen, *, is_of_project: bool) -> str:
    """Why a hook is not run, whatever the person says, or unless they say more; '' if it is."""
    if not hook.is_started and not chosen.hooks:
        return _explain_state(hook)
    kind = hook.fields.get("type", "command")
    if kind != "command":
        return f"it is of the type {kind}, which hookctl does not run"
    if not command_of(host, hook.fields):
        return "it has no command"
    if hook.own_id.startswith(f"{GUARD}/") and _is_locked(hook.command):
        return "its state is locked, so every run counts"
    if is_of_project and not chosen.is_project_run:
        return "it is the project's own: --run-project runs it"
    if chosen.hooks:
        return ""
    if hook.plugin:
        return f"it is a plugin's: --hook {hook.id} runs it"
    if "if" in hook.fields and "if" in host.handlers.fields:
        return f"only {host.title} knows whether its `if` holds: --hook {hook.id} runs it"
    return ""


def _explain_state(hook: Hook) -> str:
    """Why the host would not run a hook."""
    return hook.reason or hook.state.replace("_", " ")


def command_of(host: Host, fields: Mapping[str, Any]) -> str:
    """The key of the command that the host takes; '' where a hook has none."""
    keys = host.registration.commands
    return next((str(key) for key in keys if isinstance(fields.get(key), str)), "")


def _matcher_of(hook: Hook) -> str | None:
    """The matcher of a hook; an empty text is one, where a hook itself has it."""
    if hook.matcher:
        return hook.matcher
    return "" if hook.fields.get("matcher") == "" else None


def _is_locked(command: str) -> bool:
    """Whether the guard's registration keeps its state where nothing moves it."""
    _, path, words = guard.read(command)
    named = re.search(r" --host (\S+)(?: --config (\S+))?", words)
    name = (named[2] or named[1]) if named else ""
    try:  # a project's hook can look like ours, and name a pipe
        data = files.read(os.path.join(os.path.dirname(path), CONFIGS, f"{name}.json")).data
        config = json.loads(data or b"{}")
    except (HookctlError, OSError, ValueError, RecursionError):
        return False
    return isinstance(config, dict) and config.get("locked") is True


def choose_of_pack(folder: str, pack: Pack, call: Call) -> Iterator[Shot]:
    """The hooks of a pack, laid out in a private folder, that a call's host would run for it."""
    bench = Bench(folder, pack, sys.executable)
    path = call.host.shape.event_path(call.event, pack.name)
    for shot in list_shots(bench, call):
        if shot.hook.path == path and is_meant(call, shot.hook.fields.get("matcher")):
            yield shot


def list_shots(bench: Bench, call: Call) -> Iterator[Shot]:
    """Every hook of a pack on a host, to be run for a call."""
    host, pack = call.host, bench.pack
    bench.lay_table(host)
    env = {key: claim.value for key, claim in pack.env.items()}
    file = HookFile(host, "user", pack.source, variables=env if host.env_path else {})
    for wanted in bench.look_at(host)[0]:
        matcher = wanted.value.get("matcher") or ""
        name = hook_id.digest(host.name, "user", call.event, matcher, wanted.value["command"])
        id = name[: hook_id.LENGTH]
        fields = {**wanted.value}
        hook = Hook(file, wanted.path, call.event, fields, matcher, own_id=wanted.id, id=id)
        yield Shot(host, hook, call)
