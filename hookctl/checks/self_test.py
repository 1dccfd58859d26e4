"""Asks hookctl's own copy of the guard whether it would do what a configuration promises.

It never runs the project's copy, but hookctl's own modules, as if their launcher lay in a private,
otherwise empty folder.
Variables of settings files reach only the guard, because some could change the interpreter.
"""

import json
import marshal
import os
import re
import subprocess
import sys
import time
from collections.abc import Container, Mapping
from typing import Any

from hookctl.hosts import Host
from hookctl.packs.choices import MODES, confine, variables_of
from hookctl.packs.guard import HOSTS, can_refuse, host_table
from hookctl.settings.targets import OWN
from hookctl.system import asset, guard_module
from hookctl.system.files import private_folder
from hookctl.system.packages import CONFIGS, HOOK
from hookctl.system.project import session_hash, state_folder

LONGEST = 5.0  # seconds for an answer, and for the search for the causes of a failure
_SESSION = "self-test"
_MODE = "HOOKCTL_MODE"
Part = tuple[str, bool]  # a setting, or a variable (True), that may keep the guard from its promise
# They move the guard's state, which stays in our folder, or its clock.
_LEFT_OUT = ("HOME", "XDG_STATE_HOME", "HOOKCTL_STATE_DIR", "HOOKCTL_NOW")
_START = """
import marshal, posix, sys
variables, modules, launcher, *words = sys.argv[1:]
with open(variables, "rb") as file:
    for name, text in marshal.load(file).items():
        posix.environ[name.encode("utf-8", "replace")] = text.encode("utf-8", "replace")
package = sys.modules["hook"] = type(sys)("hook")
package.__path__, package.__file__ = [modules], launcher
try:
    __import__("hook.call")
    sys.modules["hook.call"].prepare(words)()
finally:
    posix._exit(0)
"""


def run(
    host: Host,
    given: Mapping[str, Any],
    variables: Mapping[str, str],
    of_project: Mapping[str, str],
    is_shared: bool,  # the configuration is a project's, shared by every clone
    state: str,
) -> tuple[str, str, list[Part]] | None:
    """The promise (block, end or refuse) that the guard broke, its answer and the causes, or None.

    `variables` are those that settings files give it, and `of_project` those of a project's own.
    """
    config, variables = dict(given), dict(variables)
    mode = variables.get(_MODE, "").strip()
    if mode in MODES and mode != "off":  # that is a choice; to switch the guard off is none
        config["mode"] = mode
        del variables[_MODE]
    promised = _find_promise(guard_module("settings").Settings(config, env=lambda name: ""), host)
    if not promised or not getattr(host.dialect, promised):
        return None
    # What is a part of the promise cannot be the cause of a failure.
    needs = ("mode", "dispatch_") if promised == "refuse" else "mode"
    needed = {name: value for name, value in config.items() if name.startswith(needs)}
    parts: dict[Part, Any] = {
        (name, False): value for name, value in config.items() if name not in needed
    }
    parts |= {(name, True): text for name, text in variables.items() if name not in _LEFT_OUT}
    with private_folder("doctor", state) as folder:

        def ask(kept: Mapping[Part, Any]) -> str:
            place = os.path.join(os.path.realpath(folder), str(len(os.listdir(folder))))
            own = {name: value for (name, is_variable), value in kept.items() if not is_variable}
            texts = {name: text for (name, is_variable), text in kept.items() if is_variable}
            return _ask(place, host, promised, {**needed, **own}, texts, of_project, is_shared)

        answer, end, causes = ask(parts), time.monotonic() + LONGEST, []
        if says(answer, host, promised):
            return None
        for part, value in parts.items() if says(ask({}), host, promised) else ():
            if time.monotonic() < end and not says(ask({part: value}), host, promised):
                causes.append(part)
    return promised, answer, causes


def says(answer: str, host: Host, what: str) -> bool:
    """Whether an answer has the form that the host expects, whatever its text."""
    form = re.escape(getattr(host.dialect, what)).replace("%s", r'"(?:[^"\\]|\\.)*"')
    return bool(re.fullmatch(form, answer.strip()))


def _find_promise(settings: Any, host: Host) -> str:
    if settings.mode in ("breaker", "keepalive"):
        return "block"
    if settings.mode == "guard":
        return "end"
    counts = settings.dispatch_tools and settings.dispatch_max > 0 < settings.dispatch_window_s
    return "refuse" if counts and can_refuse(host) else ""


def _ask(
    place: str,
    host: Host,
    promised: str,
    given: Mapping[str, Any],
    texts: Mapping[str, str],
    of_project: Container[str],
    is_shared: bool,
) -> str:
    """The guard's answer to an event in a project of the new folder `place`."""
    project, config = os.path.join(place, "project"), {HOSTS: host_table(host), **given}
    own = os.path.join(project, OWN)
    _write(os.path.join(own, CONFIGS, f"{host.name}.json"), json.dumps(config).encode())
    variables = _confine(texts, of_project, config, project)
    personal = {name: text for name, text in variables.items() if name not in of_project}
    confined = confine(config, project, personal)
    settings = guard_module("settings").Settings(confined, env=variables_of(personal))
    session = settings.owner.strip() if settings.owner and not is_shared else _SESSION
    _lay_work(project, settings, personal, session)
    state = os.path.join(place, "state")
    needs_arm = settings.mode == "keepalive" or (settings.require_arm and not is_shared)
    _lay_state(state_folder(state, project), promised, settings, session, needs_arm=needs_arm)
    environ = {
        "HOME": place,
        "SHLVL": "1",
        **dict.fromkeys(host.environment.marks, "1"),
        host.environment.session or "PWD": session,
        host.environment.project or "PWD": project,
        "PWD": project,
        **variables,
        "HOOKCTL_STATE_DIR": state,
    }
    payload: dict[str, Any] = {"session_id": session, "cwd": project, "hook_event_name": "Stop"}
    event, payload["stop_hook_active"] = "stop", promised == "end"
    if promised == "refuse":
        event, (name, arguments) = "pre-tool", _tool_call(settings)
        payload |= {"hook_event_name": "PreToolUse", "tool_name": name, "tool_input": arguments}
    return _call([os.path.join(own, HOOK), event, "--host", host.name], place, environ, payload)


def _confine(
    given: Mapping[str, str], of_project: Container[str], config: Mapping[str, Any], project: str
) -> dict[str, str]:
    """The variables without a path that leads out of our folder.

    A person's variable is left out; a project's leads to a missing path, as in any other clone.
    """
    confined = guard_module("settings")
    with_paths = {f"HOOKCTL_{name.upper()}" for name in confined.PATHS}
    with_paths |= {given.get("HOOKCTL_TASK_ENV", "").strip(), str(config.get("task_env", ""))}
    variables = {}
    for name, text in given.items():
        paths = text.strip().split(":") if name in with_paths else []
        if all(confined.is_inside(project, path.strip()) for path in paths):
            variables[name] = text
        elif name in of_project:
            variables[name] = os.path.join(os.path.dirname(project), "nowhere")
    return variables


def _lay_work(project: str, settings: Any, variables: Mapping[str, str], session: str) -> None:
    paths, names = guard_module("work").list_tasks(settings, variables_of(variables))
    task = {names.get("remaining", "remaining"): 1}
    if "owner" in names:
        task[names["owner"]] = session
    path = paths[0].strip() if paths else os.path.join(settings.run_dir, "task.json")
    _write(os.path.join(project, path), json.dumps(task).encode())


def _lay_state(folder: str, promised: str, settings: Any, session: str, *, needs_arm: bool) -> None:
    if needs_arm:
        _write(os.path.join(folder, "ACTIVE"), str(time.time() + 3600).encode())
    if promised == "end":
        stored = {"streak": max(settings.max_stop_blocks, 1)}
        _write(os.path.join(folder, f"{session_hash(session)}.json"), json.dumps(stored).encode())
    if promised == "refuse":
        values = guard_module("files")
        key = values.digest(values.dump(list(_tool_call(settings))))
        by_session = settings.dispatch_scope == "session"
        name = f"{session_hash(session)}.calls" if by_session else "dispatch.json"
        windows = {"w": {key: [time.time(), settings.dispatch_max]}}
        _write(os.path.join(folder, name), json.dumps(windows).encode())


def _tool_call(settings: Any) -> tuple[str, dict[str, str]]:
    tool = settings.dispatch_tools[0]
    return ("Bash" if tool == "*" else tool), {"command": "true"}


def _call(words: list[str], place: str, environ: dict[str, str], payload: dict[str, Any]) -> str:
    modules = asset("templates", "guard", "guard")
    variables = os.path.join(place, "variables")
    _write(variables, marshal.dumps(environ))
    try:
        process = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _START, variables, modules, *words],
            input=json.dumps(payload),
            capture_output=True,
            text=True,
            timeout=LONGEST,
            env={},
            cwd=os.path.join(place, "project"),
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return type(error).__name__
    return process.stdout if process.returncode == 0 else f"exit status {process.returncode}"


def _write(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "wb") as stream:
        stream.write(data)
