"""Runs the hooks of a call as their host does: its variables, its folder, its limits of time.

The guard and the runner of packs get a state folder of their own, with a copy of what they know
of this project, so that they answer as they would and count nothing.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from hookctl import hosts
from hookctl.firing.calls import (
    SESSION,
    Asked,
    Call,
    Place,
    Reading,
    Shot,
    Volley,
    combine,
    find_event,
    is_meant,
    read_answer,
)
from hookctl.hosts import Host, loading
from hookctl.hosts.matchers import explain_mismatch
from hookctl.hosts.shapes import ID_LENGTH, event_of, hook_digest
from hookctl.model import Wanted
from hookctl.packs import Pack, PackHook, guard
from hookctl.packs.programs import load_programs
from hookctl.packs.runner import find_programs, hosts_file, possible_answers, wants
from hookctl.receipts import read_object
from hookctl.settings.targets import GUARD, Target
from hookctl.survey.model import RUNS, Hook, HookFile, command_of
from hookctl.system import files, guard_module, project
from hookctl.system.packages import CONFIGS, PACKS, TABLE
from hookctl.system.processes import Keeper, Output
from hookctl.system.project import is_inside

_USUAL_TIMEOUT = 60  # seconds of a hook without one, where the host's is not known
_NOT_STARTED = 127  # the exit status of a shell that finds no program
_SHORTEST = 2.0  # seconds of a hook that the host gives next to no time
_MARK = "HOOKCTL_FIRED"  # the receipt says so, and nothing counts it


class Stand:
    """A private folder from which hooks are run in a project."""

    def __init__(self, folder: str, state: str, folder_of_project: str) -> None:
        self.project = folder_of_project
        self.state = os.path.join(folder, "state")
        self._own_state = project.state_folder(self.state, folder_of_project)
        os.makedirs(self._own_state, mode=0o700)
        with contextlib.suppress(OSError):  # what the guard knows of the project, without its log
            for entry in os.scandir(project.state_folder(state, folder_of_project)):
                is_log = ".jsonl" in entry.name or entry.name.startswith("runs")
                if not is_log and entry.is_file(follow_symlinks=False):
                    shutil.copyfile(entry.path, os.path.join(self._own_state, entry.name))

    def fire(
        self,
        call: Call,
        shots: Sequence[Shot],
        environ: Mapping[str, str],
        show: Callable[[str], None],
    ) -> Volley:
        """Run the hooks in the host's order; `show` tells of each one before it runs."""
        fired: list[Shot] = []
        serial, refused_by = call.host.reads.get("serial") or (), ""
        # The host asks its hooks one after the other, and none after a refusal.
        is_serial = serial is True or call.protocol in serial
        change: Any = None
        with Keeper() as keeper:
            for shot in shots:
                why_not = shot.why_not or (refused_by and f"{refused_by} has refused before it")
                if why_not:
                    fired.append(shot._replace(reading=Reading("not_run", why_not)))
                    continue
                show(f"{shot.host.title}: {shot.name} ...")
                told = shot.call if change is None else _with_input(shot.call, change)
                ran, receipt = self._run(keeper, shot, told, environ), self._take_receipt()
                reading = self._read(told, shot, ran, receipt)
                fired.append(shot._replace(ran=ran, receipt=receipt, reading=reading))
                if shot.is_out:
                    continue
                if is_serial and reading.refuses:
                    refused_by = shot.name
                if reading.outcome == "change" and call.host.reads.get("passes_change"):
                    change = reading.change
        return call, fired, combine(call, [one.reading for one in fired if not one.is_out])

    def _run(self, keeper: Keeper, shot: Shot, call: Call, environ: Mapping[str, str]) -> Output:
        own = shot.hook.fields.get(shot.host.environment.folder)
        folder = os.path.join(self.project, own) if own and isinstance(own, str) else self.project
        facts, sends = shot.host.environment, shot.host.sends
        # The person's, without marks: fire may be started by an agent itself.
        marks = {name for one in hosts.names() for name in hosts.load(one).environment.marks}
        variables = {name: text for name, text in environ.items() if name not in marks}
        # The host's, and those of the hook's own entry.
        names = filter(None, [facts.project, *sends.get("project", ())])
        variables |= dict.fromkeys(names, self.project) | dict.fromkeys(facts.marks, "1")
        if facts.session:
            variables[facts.session] = SESSION
        given = shot.hook.fields.get(shot.host.env_field) if shot.host.env_field else None
        if isinstance(given, dict):
            variables |= {str(name): str(text) for name, text in given.items()}
        ours = {"HOOKCTL_STATE_DIR": self.state, _MARK: "1", "PWD": folder}
        variables |= {**shot.hook.within.variables, **ours}
        try:
            words = _words_of(shot, variables)
            return keeper.talk(words, call.data, variables, folder, limit_of(shot))
        except (OSError, ValueError) as error:  # as a shell has it
            return Output(_NOT_STARTED, err=f"not started: {error}\n")

    def _read(self, call: Call, shot: Shot, ran: Output, receipt: dict[str, Any]) -> Reading:
        """What the host reads; what it cannot see of a pack's command, its receipt tells."""
        reading = read_answer(call, ran)
        if shot.hook.fields.get("async") is True:
            return Reading("none", "the host does not wait for it")
        outcome = receipt.get("outcome")
        if reading.outcome == "none" and outcome in ("failed", "timeout"):
            said = guard_module("answer").object_in(ran.out) or {}
            message = said.get("systemMessage")  # of the runner
            return Reading(outcome, message if isinstance(message, str) else "")
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
        words = [str(word) for word in (command, *args)]
        for name, text in variables.items():  # which no shell expands
            words = [word.replace(f"${{{name}}}", text) for word in words]
        return words
    if not host.shape.shell and not shot.hook.own_id:
        return shlex.split(command)
    return ["bash" if shell == "bash" else "/bin/sh", "-c", command]


def _with_input(call: Call, change: Any) -> Call:
    """The call as the next hook sees it, with the input that one before has changed."""
    payload = {**call.payload}
    for path in call.host.runner.get("fields", {}).get("tool_input", ("tool_input",)):
        if path in payload:
            payload[path] = change
            break
    data = json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogateescape")
    return call._replace(payload=payload, data=data)


def choose(
    known: Iterable[Hook],
    calls: Sequence[Call],
    asked: Asked,
    place: Place,
    hooks: Sequence[Hook],
    *,
    is_project_run: bool,
) -> list[Shot]:
    """The hooks of a host that are for its call; `calls` has it in each dialect of the host."""
    shots = []
    for hook in known:
        if hook.host != calls[0].host.name or (hooks and hook not in hooks):
            continue
        named = {find_event(hook.within.host, asked.event, asked.tool)[0]: calls[0]}
        named |= {call.event: call for call in calls}
        call = named.get(hook.event)
        if call is None:
            continue
        empty = "" if hook.fields.get("matcher") == "" else None
        fits = is_meant(call, hook.matcher or empty)
        is_off, host = hook.state != RUNS, hook.within.host
        # A hook for no tool of the host at all is named with its reason.
        if fits or hooks or (is_off and explain_mismatch(host, hook.event, hook.matcher or None)):
            why = _why_not(hook, place, is_named=bool(hooks), is_project_run=is_project_run)
            note = _explain_state(hook) if is_off else ""
            if not hook.is_started:
                note = f"{host.title} would not run it: {_explain_state(hook)}"
            elif not fits:
                note = f"its matcher {json.dumps(hook.matcher)} does not fit this call"
            is_out = not (why or (hook.is_started and fits))
            is_asked = bool(hook.plugin) or _is_of_project(hook, place)
            shots.append(Shot(hook, call, why, note, is_out, is_asked))
    return shots


def _is_of_project(hook: Hook, place: Place) -> bool:
    is_there = bool(hook.plugin) and is_inside(place.project, hook.file, place.home)
    return is_there or hook.scope in ("project", "local")


def _why_not(hook: Hook, place: Place, *, is_named: bool, is_project_run: bool) -> str:
    """Why a hook is not run, whatever the person says, or unless they say more; '' if it is."""
    host, kind = hook.within.host, hook.fields.get("type", "command")
    has_condition = "if" in hook.fields and "if" in host.handlers.fields
    rows = (
        (not hook.is_started and not is_named, _explain_state(hook)),
        (kind != "command", f"it is of the type {kind}, which hookctl does not run"),
        (not command_of(host, hook.fields), "it has no command"),
        (
            hook.own_id.startswith(f"{GUARD}/") and _is_locked(hook.command),
            "its state is locked, so every run counts",
        ),
        (
            _is_of_project(hook, place) and not is_project_run,
            "it is the project's own: --run-project runs it",
        ),
        (hook.plugin and not is_named, f"it is a plugin's: --hook {hook.id} runs it"),
        (
            has_condition and not is_named,
            f"only {host.title} knows whether its `if` holds: --hook {hook.id} runs it",
        ),
    )
    return next((text for applies, text in rows if applies), "")


def _explain_state(hook: Hook) -> str:
    return hook.reason or hook.state.replace("_", " ")


def _is_locked(command: str) -> bool:
    """Whether the guard's registration keeps its state where nothing moves it."""
    _, path, words = guard.read(command)
    named = re.search(r" --host (\S+)(?: --config (\S+))?", words)
    name = (named[2] or named[1]) if named else ""
    config = read_object(os.path.join(os.path.dirname(path), CONFIGS, f"{name}.json"))
    return config.get("locked") is True


class Bench:
    """A private folder with a pack's files, the runner and a project."""

    def __init__(self, top: str, pack: Pack) -> None:
        self.top, self.pack = top, pack
        self.state = os.path.join(top, "state")
        self.project = os.path.join(top, "project")
        self.data = os.path.join(top, "data")
        self.files = os.path.join(self.data, PACKS, pack.name, "files")
        os.makedirs(os.path.join(self.project, ".git"))
        contents = {name: data for name, (data, _) in pack.contents.items()}
        programs = [name for name, (_, is_executable) in pack.contents.items() if is_executable]
        files.write_tree(self.data, load_programs().all, files.PRIVATE)
        files.write_tree(self.files, contents, files.PRIVATE, programs)

    def look_at(
        self, host: Host, answers_of: Callable[[PackHook], Collection[str]] = possible_answers
    ) -> tuple[list[Wanted], list[str]]:
        """The pack's hooks as they would be registered, and what the host lacks."""
        target = Target(host, "user", os.path.join(self.top, "settings"))
        programs = find_programs(target, self.files, self.data, sys.executable)
        wanted, notes = wants(self.pack, host, programs, answers_of)
        certain_first = sorted(notes, key=lambda note: not note[1])
        texts = [text for text, _ in certain_first]
        return [want for want in wanted if want.kind == "element"], texts


def hooks_of_pack(bench: Bench, host: Host) -> list[Hook]:
    """The hooks of a pack on a host, as they would stand in its user's file."""
    table = hosts_file({host.name: [bench.pack.name]}, bench.state)
    files.write_own(os.path.join(bench.data, TABLE), table)
    env = {key: claim.value for key, claim in bench.pack.parts[""].env.items()}
    file = HookFile(host, "user", bench.pack.source, variables=env if host.env_path else {})
    hooks = []
    for wanted in bench.look_at(host)[0]:
        event, matcher = event_of(host.shape, wanted.path), wanted.value.get("matcher") or ""
        name = hook_digest(host.name, "user", event, matcher, wanted.value["command"])
        fields, id = {**wanted.value}, name[:ID_LENGTH]
        hooks.append(Hook(file, wanted.path, event, fields, matcher, own_id=wanted.id, id=id))
    return hooks
