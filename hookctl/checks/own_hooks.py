"""What doctor and check say alike of one hook of hookctl, and the commands that they name."""

from __future__ import annotations

import json
import os
import shlex
from typing import Any

from hookctl import __version__
from hookctl.checks.trial import Trial
from hookctl.hosts import Host, loading
from hookctl.hosts.shapes import event_of
from hookctl.masking import masked
from hookctl.model import WRAP, HookEntry, IgnoreRule, Record
from hookctl.packs import guard, wrapping
from hookctl.packs.choices import settings_from
from hookctl.packs.guard_options import is_true, value_in_effect
from hookctl.packs.model import ADDED, GONE, LINE_ENDINGS, Origin
from hookctl.settings.targets import GUARD, Target

_SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin")


def find_defect(host: Host, hook: HookEntry) -> str:
    """Why the host does not run a hook of hookctl, or not in the way that it needs; or ''."""
    event = event_of(host.shape, hook.path)
    pack, _, name = hook.id.partition("/")
    wanted = host.events.get(name) if pack == GUARD else None
    if wanted and event != wanted:
        return f"it is registered on {event}, and not on {wanted}"
    return loading.why_disarmed(host, event, hook.fields, blocks=pack == GUARD)


def find_forgery(target: Target, hook: HookEntry) -> str:
    """Why a hook of the guard in a project's settings is none that hookctl writes; or ''.

    The committed record is no witness: it comes with the same commit.
    """
    if hook.pack != GUARD or not target.shared:
        return ""
    others = [key for key in target.host.registration.commands if key != "command"]
    for key in others:
        if key in hook.fields:
            return f"{hook.id} has another command as well, in {key}"
    text = str(hook.fields.get("command"))
    is_wrap = hook.id.startswith(WRAP)
    if is_wrap and wrapping.is_shared_command(text, target):
        return ""
    if not is_wrap and guard.is_shared_command(text, hook.id, target):
        return ""
    return f"the command of {hook.id} is none that hookctl writes"


def list_left_out(record: Record, host: Host) -> list[str]:
    """The guard's hooks that its recorded settings need, and that the record does not have.

    Another version may need other events than this one, but always the stop.
    """
    pack_record = record.packs.get(GUARD)
    if pack_record is None:
        return []
    recorded = {entry.id for entry in record.entries}
    left_out = []
    wraps = any(id.startswith(WRAP) for id in recorded)
    for event in guard.events(settings_from(pack_record.settings), host, wraps=wraps):
        is_needed = event == "stop" or pack_record.version == __version__
        if is_needed and f"{GUARD}/{event}" not in recorded:
            left_out.append(f"{GUARD}/{event}")
    return left_out


def install_command(target: Target, pack: str, source: str, project: str) -> str:
    """The command that installs a pack in a settings file, for somebody who works in `project`."""
    name = "" if pack == GUARD else f" {shlex.quote(source) if source else pack}"
    where = "" if target.scope == "user" else f" --scope {target.scope}"
    if target.project and target.project != project:
        where += f" --project {shlex.quote(target.project)}"
    return f"hookctl install{name} --host {target.host.name}{where}"


def checkout_command(project: str, name: str, start_project: str) -> str:
    """The command of git that brings a committed file or folder of a project back."""
    where = "" if project == start_project else f" -C {shlex.quote(project)}"
    name = name if project != start_project or name.startswith(".") else f"./{name}"
    return f"git{where} checkout -- {shlex.quote(name)}"


def repair_command(project: str, start_project: str) -> str:
    """The command that repairs what is hookctl's in a project."""
    return f"hookctl doctor --fix{project_option(project, start_project)}"


def upgrade_command(target: Target, start_project: str) -> str:
    """The command that puts back every pack of a settings file whose source is known."""
    named = project_option(target.project, start_project) or " --project ."
    return f"hookctl upgrade --host {target.host.name}{named}"


def project_option(project: str, start_project: str) -> str:
    """The option that names a project to a command which is typed in another one."""
    return "" if project == start_project else f" --project {shlex.quote(project)}"


def nearby(path: str, folder: str) -> str:
    """A path as it is typed in a folder."""
    relative = os.path.relpath(path, folder)
    return relative if relative.startswith("../") else f"./{relative}"


def describe_unknown(origin: Origin) -> str:
    """What is wrong with a program that hookctl did not release."""
    if origin.difference == ADDED:
        return "hookctl did not write this file into the guard's package"
    if origin.difference == GONE:
        return "this file of the guard's package is gone"
    if origin.difference == LINE_ENDINGS:
        return "the guard's programs have other line endings than hookctl wrote (git's autocrlf?)"
    return "this is not a program that hookctl released"


def fix_unknown(origin: Origin, again: str, *, shared: bool) -> str:
    """What to do about it; `again` is the sentence that names the install."""
    if origin.difference == ADDED:
        return "Look at it, then remove it."
    if origin.difference == LINE_ENDINGS and shared:
        return f"{KEEP_ENDINGS}; then {again}"
    return f"Look at it; {again}"


def describe_uncommitted(rule: IgnoreRule) -> tuple[str, str]:
    """What is wrong where git ignores a file that belongs in every clone, and what to do."""
    names = " and ".join(rule.names)
    message = f"git ignores {names} (line {rule.line}), so a clone has no hook that works"
    return message, "Remove that line, or install with `--scope local`."


KEEP_ENDINGS = "Add the line `.hookctl/** -text` to .gitattributes"


_PROMISES = {  # each as it is done, and as it is not
    "block": ("it blocked a stop while work remained", "does not block a stop while work remains"),
    "end": ("it ended a chain of stops", "does not end a chain of stops that another hook forces"),
    "refuse": ("it refused a repeated tool call", "does not refuse a tool call that is repeated"),
}


def describe_promise(trial: Trial) -> str:
    """What the guard did when it was asked."""
    return _PROMISES[trial.promised][0]


def describe_cause(trial: Trial, name: str, value: Any = None) -> str:
    """What the guard does not do because of a setting with this value, or of a variable."""
    said = f"{name} is set"
    if name in trial.settings:
        said = f"{name} is {json.dumps(masked(value, name))}"
    return f"{said}, so the guard {_PROMISES[trial.promised][1]}"


def off_by_variable(name: str, value: str, config: Any) -> str:
    """What a variable does that keeps the guard from blocking; '' where it does not."""
    is_child = name in value_in_effect("child_env", config, {}) and is_true(value)
    if guard.switches_off(name, value) or is_child:
        return "switches the guard off"
    if name == "HOOKCTL_MODE" and value.strip() == "off":
        return "sets the guard's mode to off, so it keeps no agent from stopping"
    return ""


def ends_guard(name: str, value: str) -> str:
    """What a variable that a project sets does to everybody's guard, whatever else is set; or ''.

    Where the state is moved to, it can perhaps be kept on one machine and not on another.
    """
    if guard.switches_off(name, value):
        return "switches the guard off"
    if name in ("HOME", "XDG_STATE_HOME", "HOOKCTL_STATE_DIR") and value.strip():
        return "moves the guard's state, perhaps to where it cannot be kept"
    if name == "HOOKCTL_NOW" and value.strip():
        return "stops the guard's clock"
    return ""


def fault_of_path(value: str, python: str, project: str) -> str:
    """Why a project's hook finds no python3, or the project's own, on this PATH; or ''.

    `python` is the first one on it here, if any. The settings are everybody's, so a folder where
    systems have their programs counts as one with python3.
    """
    if "$" in value or "~" in value:  # some hosts put variables in
        return ""
    for folder in value.split(":"):
        if folder.rstrip("/") in _SYSTEM_FOLDERS:
            return ""
        if python and os.path.join(project, folder, "python3") == python:
            is_own = os.path.normpath(python).startswith(f"{project}/")
            return (
                f"the guard would run {python}, a program of the project itself" if is_own else ""
            )
    return "there is no python3, so the guard does nothing"
