"""Does the hook really work: its file, its configuration, its interpreter, a self-test, and when it last ran."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

from hookctl import clock, events, files, interpreter, runtime_files
from hookctl.checks import Finding, Scene
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.folders import asset
from hookctl.masking import masked_text
from hookctl.packs import guard

_SECONDS = 5  # a self-test; the host gives the hook 10


def check(scene: Scene) -> Iterator[Finding]:
    """The runtime files of one registration."""
    page = scene.guard
    if page is None:
        return
    settings = guard.settings_from(page.settings)
    if settings.mode == "off":
        message, fix = "the guard is off", f"{_install(scene, ' --mode breaker')} switches it on."
        yield scene.find("guard_off", "info", message, fix)
        return
    chosen = settings.python
    if scene.place.shared:  # there the command takes whatever python3 is on PATH
        chosen = shutil.which("python3", path=scene.folders.environ.get("PATH", os.defpath)) or "python3"
    python = list(_interpreter(scene, chosen))
    program = list(_program(scene, page.folder, page.files.get("hook.py", "")))
    yield from (*python, *program, *_configuration(scene, page.folder))
    if not any(finding.level in ("error", "warning") for finding in (*python, *program)):
        yield from _self_test(scene, chosen, os.path.join(page.folder, "hook.py"))
    yield from _last_run(scene)


def _install(scene: Scene, option: str = "") -> str:
    return f"`{scene.install}{option}`"


def _interpreter(scene: Scene, python: str) -> Iterator[Finding]:
    if not os.path.isfile(python) or not os.access(python, os.X_OK):
        message, fix = "the hook's Python is gone, so the hook does nothing", f"{_install(scene)} chooses another."
        if scene.place.shared:
            message, fix = "there is no python3 on PATH, so the hook does nothing", "Install Python 3.8 or later."
        yield scene.find("interpreter_missing", "error", message, fix, python)
        return
    found = interpreter.ask(python)
    if found is None:
        message = "the hook's Python does not run, so the hook does nothing"
        yield scene.find("interpreter_broken", "error", message, "Mend it.", python)
    elif found[1] < interpreter.MINIMUM:
        version, needed = (".".join(map(str, v)) for v in (found[1], interpreter.MINIMUM))
        message = f"the hook's Python is {version}; it needs {needed} or later"
        yield scene.find("interpreter_old", "error", message, f"Upgrade it, then {_install(scene)}.", python)


def _program(scene: Scene, folder: str, sha: str) -> Iterator[Finding]:
    path = os.path.join(folder, "hook.py")
    try:
        there = files.read(path)
    except HookctlError as error:
        yield scene.find("hook_unreadable", "error", error.message, error.hint, path)
        return
    if there.data is None:
        message = "the hook's file is missing, so the hook does nothing"
        yield scene.find("hook_missing", "error", message, f"{_install(scene)} puts it back.", path)
    elif not runtime_files.is_ours(there, sha):
        message = "the hook's file is not as hookctl installed it; it was not tried"
        yield scene.find("hook_changed", "warning", message, f"{_install(scene, ' --force')} puts ours back.", path)
    elif there.data != runtime_files.program():
        message = "the hook is of another version of hookctl"
        yield scene.find("hook_old", "info", message, f"{_install(scene)} brings this version's.", path)


def _configuration(scene: Scene, folder: str) -> Iterator[Finding]:
    """The hook ignores what it cannot read, so a slip here would go unnoticed."""
    path = os.path.join(folder, "config.json")
    try:
        data = files.read(path).data
        value = JsonDocument.parse(data or b"", where=path, comments=False, trailing_commas=False).value
        if data is not None and not isinstance(value, dict):
            raise HookctlError("wrong_shape", "it holds no object", hint=f"{_install(scene, ' --force')} puts it back.")
    except HookctlError as error:
        message = f"the hook's configuration cannot be read, so it lets every stop pass: {error.message}"
        yield scene.find("config_unreadable", "error", message, error.hint, path)
        return
    if data is None:
        message = "the hook's configuration is missing, so the defaults hold"
        yield scene.find("config_missing", "warning", message, f"{_install(scene)} puts it back.", path)
        return
    import jsonschema

    with open(asset("schemas", "guard-config.schema.json"), encoding="utf-8") as stream:
        schema = json.load(stream)
    for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
        name = ".".join(map(str, error.absolute_path)) or "the configuration"
        message = f"{name}: {masked_text(error.message)}; the hook ignores it"
        yield scene.find("config_invalid", "warning", message, "Mend it.", path)
    if value.get("mode") == "off":
        message = "the hook's configuration says mode off, so it lets every stop pass"
        yield scene.find("guard_off", "info", message, "Change the mode there.", path)


def _self_test(scene: Scene, python: str, hook: str) -> Iterator[Finding]:
    """Two stops of a made-up session in a throw-away project: the first is blocked, the second let go."""
    with tempfile.TemporaryDirectory(prefix="hookctl-doctor-") as folder:
        run_dir = os.path.join(folder, "project", ".hookctl", "run")
        os.makedirs(run_dir)
        with open(os.path.join(run_dir, "task.json"), "w", encoding="ascii") as stream:
            stream.write('{"remaining": 1}')
        environ = {
            "HOME": folder,
            "HOOKCTL_STATE_DIR": os.path.join(folder, "state"),
            "HOOKCTL_RUN_DIR": run_dir,
            "HOOKCTL_MODE": "breaker",
            "HOOKCTL_REQUIRE_ARM": "0",
            "HOOKCTL_COUNT": "blocks",
            "HOOKCTL_HONOR_STOP_HOOK_ACTIVE": "0",
            "HOOKCTL_OWNER": "doctor",
            "HOOKCTL_TASK_FILE": os.path.join(run_dir, "task.json"),
            "MAX_STOP_BLOCKS": "1",
        }
        said = [_stop(python, hook, scene.host.name, environ, folder, active) for active in (False, True)]
    answers = [_object(text) for text in said]
    if answers[0].get("decision") == "block" and "systemMessage" in answers[1]:
        message = "the hook works: in a self-test it blocked a stop and then let go"
        yield scene.find("self_test_passed", "info", message, "", hook)
        return
    message = f"the hook does not work: in a self-test it said {said[0]!r} and then {said[1]!r}"
    yield scene.find("self_test_failed", "error", message, f"{_install(scene, ' --force')} puts it back.", hook)


def _stop(python: str, hook: str, host: str, environ: dict[str, str], folder: str, active: bool) -> str:
    project = os.path.join(folder, "project")
    payload = {"session_id": "doctor", "cwd": project, "hook_event_name": "Stop", "stop_hook_active": active}
    call = [python, "-I", "-S", hook, "stop", "--host", host]
    try:
        run = subprocess.run(
            call, input=json.dumps(payload), capture_output=True, text=True, timeout=_SECONDS, env=environ, cwd=project
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return f"{type(error).__name__}"
    return run.stdout if run.returncode == 0 else f"exit status {run.returncode}"


def _object(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _last_run(scene: Scene) -> Iterator[Finding]:
    decisions = [event for event in events.read(scene.folders.state) if event.get("host") == scene.host.name]
    if not decisions:
        message = f"the hook has not run yet; it does when {scene.host.title} ends its first turn"
        yield scene.find("never_ran", "info", message)
        return
    last = decisions[-1]
    ago = clock.age(clock.now(scene.folders.environ) - last["t"])
    message = f"the hook last ran {ago} ago, at {clock.local(last['t'])}: {last.get('decision')} ({last.get('code')})"
    yield scene.find("last_ran", "info", message, "`hookctl log` shows more.")
