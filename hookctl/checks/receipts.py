"""Judges packs' hooks by their receipts: one that fails each time, or that never runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from hookctl.checks.codes import Finding
from hookctl.checks.file import File
from hookctl.checks.host import stops_of
from hookctl.model import HookEntry
from hookctl.packs.model import run_packs
from hookctl.packs.protocol import ALL, SHORT, TOOL_EVENTS
from hookctl.packs.runner import find_event
from hookctl.receipts.model import HookName, Run, Runs
from hookctl.survey.machine import written_at
from hookctl.system import project

_ENOUGH = 3  # runs, or events, before anything is said
_STATUS = {126: " (it cannot be executed)", 127: " (a command was not found)"}  # of sh
# Of a decision about another agent than the one that a pack's hook runs for.
_OF_OTHER_AGENTS = ("child", "subagent", "no_input")


def judge(file: File) -> Iterator[Finding]:
    """The hooks of packs in one settings file, by what the runner noted of them."""
    names = run_packs(file.record) if file.record else []
    if not names:
        return
    folder = ""  # a project's file: what ran in the project alone
    if file.target.project:
        state = project.state_folder(file.machine.folders.state, file.target.project)
        folder = os.path.basename(state)
    runs = file.machine.runs(folder)
    for hook in file.elements:
        event = find_event(str(hook.fields.get("command")))
        if hook.pack not in names or not event:
            continue
        name = HookName(file.host.name, event, hook.id)
        fire = _command_to_fire(file, hook, name)
        recent = runs[name].recent if name in runs else ()
        if len(recent) >= _ENOUGH and all(run.has_failed for run in recent):
            values = {"id": name.id, "event": event, "count": len(recent)}
            reason = _describe_failure(recent[-1])
            yield file.find("hook_fails", reason=reason, fire=fire, **values)
        count = 0 if name in runs else _count_events(file, hook, name, runs, folder)
        if count >= _ENOUGH:
            seen = f"{event} came {count} times or more since its file was written"
            yield file.find("hook_silent", id=name.id, seen=seen, fire=fire)


def _describe_failure(run: Run) -> str:
    """Why a run failed, as far as its receipt says."""
    if run.is_late:
        return "the last one ran out of time"
    if run.status is None:
        return "the last one could not start"
    if run.status == 0:
        return "the answer of the last one is not valid"
    return f"the last one with exit status {run.status}{_STATUS.get(run.status, '')}"


def _command_to_fire(file: File, hook: HookEntry, name: HookName) -> str:
    """The command that runs a hook once; at a tool event with a tool that its matcher names."""
    words = ["hookctl fire", name.event]
    if SHORT[name.event] in TOOL_EVENTS:
        named = re.search(r"\w+", _find_matcher(hook)[1])
        words += ["--tool", named[0] if named else "Bash"]
    if file.target.scope != "user":
        words.append("--run-project")
    return " ".join([*words, "--hook", name.id])


def _count_events(
    file: File, hook: HookEntry, name: HookName, all_runs: Mapping[HookName, Runs], folder: str
) -> int:
    """How often at least a hook should have run since its file was written, as others show."""
    since, matcher, counts = written_at(file.path) or float("inf"), _find_matcher(hook), [0]
    alike = {other.id for other in file.elements if _find_matcher(other) == matcher}
    for other, runs in all_runs.items():
        is_of_event = (other.host, other.event) == (name.host, name.event)
        if is_of_event and (not any(matcher) or other.id in alike):
            counts.append(sum(run.at > since for run in runs.recent))
    if name.event == "Stop":
        stops = 0
        for line in stops_of(file.machine, file.host):
            is_of_it = line.get("event") == "stop" and line.get("code") not in _OF_OTHER_AGENTS
            stops += is_of_it and folder in ("", line["project"]) and line["t"] > since
        counts.append(stops)
    return max(counts)


def _find_matcher(hook: HookEntry) -> tuple[str, str]:
    """What a hook runs for: the matcher of the host, and that of the runner; empty for all."""
    own = hook.fields.get("matcher")
    option = str(hook.fields.get("command")).partition(" --matcher ")[2].partition(" ")[0]
    return "" if own in ALL else str(own), option
