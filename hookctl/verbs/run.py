"""hookctl run: report progress to the guard: remaining work, a heartbeat, a stop."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from hookctl import clock, hosts, report
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError, usage_error
from hookctl.ledger import committed, store
from hookctl.masking import MASK
from hookctl.model import PackRecord, Record, Result
from hookctl.packs import guard
from hookctl.settings.targets import OWN, top
from hookctl.system import files, project
from hookctl.system.folders import Folders

DEFAULT_SPAN = "12h"
_LONGEST_SPAN = 7 * 24 * 3600  # seconds; the ceiling holds for each prompt, this for the whole run
_BREADCRUMB = "RESPAWN_REQUESTED"
_ARMED = "counts in mode keepalive, or with require_arm"
_MEANINGS = {
    "STOP": "the guard lets the agent go at once",
    "CONCLUDE": "the guard no longer asks the agent to go on",
}
_CRUMB = "the guard kept the agent going then; if no agent runs now, it did not end of its own will"
_LONGEST_OWNER = 256
_PUBLIC = 0o666  # less the umask: these files are the project's


class Request(NamedTuple):
    """What was asked on the command line, still as text."""

    action: str
    count: str = ""
    remaining: str = ""
    owner: str = ""
    duration: str = ""
    project: str = ""


class _RunFiles(NamedTuple):
    """Where the files of one project's run are."""

    project: str
    folder: str  # of STOP, CONCLUDE and OWNER
    task: str  # task.json, by default in that folder
    state: str  # of ACTIVE and the breadcrumb
    now: float


def run(folders: Folders, request: Request) -> Result:
    """Do one action on the run of a project: the named one, the host's, or the working folder's."""
    actions = {
        "start": _start,
        "heartbeat": _heartbeat,
        "remaining": _remaining,
        "conclude": _conclude,
        "stop": _stop,
        "status": _status,
    }
    if request.action not in actions:
        raise usage_error(f"unknown action {request.action!r}", f"Actions: {', '.join(actions)}.")
    _require_matching_options(request)
    if request.action != "status":
        _finish_pending(folders)
    run_files = _find_run_files(folders, request)
    warnings = tuple(_warnings(folders, run_files, request))
    text = actions[request.action](folders, run_files, request)
    return Result(_data(run_files), tuple(text), warnings)


def _finish_pending(folders: Folders) -> None:
    """Finish an interrupted install; where that fails, an agent can be stopped all the same."""
    from hookctl.planner.run import finish_pending

    try:
        finish_pending(folders, report.say)
    except HookctlError as error:
        report.say(f"an interrupted run could not be completed: {error}")


def _require_matching_options(request: Request) -> None:
    if request.count and request.action != "remaining":
        raise usage_error(
            f"{request.action} takes no number", "Did you mean `hookctl run remaining N`?"
        )
    if request.action != "start" and (request.remaining or request.owner or request.duration):
        raise usage_error(
            "--remaining, --owner and --for go with `run start`", "See `hookctl run --help`."
        )


def _warnings(folders: Folders, run_files: _RunFiles, request: Request) -> Iterator[str]:
    """What the person may not expect of this project."""
    if not (_is_marked(run_files.project) or request.project or request.action == "status"):
        yield (
            f"{run_files.project} has neither .git nor .hookctl; "
            "from now on it counts as a project, with all below it"
        )
    if not _installed_guards(folders, run_files.project):
        yield (
            "the ledger knows of no guard, so nothing may read this: "
            "`hookctl install --host claude`"
        )


def _is_marked(folder: str) -> bool:
    marks = (os.path.join(folder, name) for name in (".git", ".hookctl"))
    return any(os.path.lexists(mark) for mark in marks)


def _find_run_files(folders: Folders, request: Request) -> _RunFiles:
    root = _find_project(folders, request)
    settings = _read_guard_settings(folders, root)
    folder = project.run_folder(root, folders.environ, settings.get("run_dir", ""))
    task = folders.environ.get("HOOKCTL_TASK_FILE", "").strip() or settings.get("task_file", "")
    task_path = os.path.join(root, task) if task else os.path.join(folder, "task.json")
    state = project.state_folder(folders.state, root)
    return _RunFiles(root, folder, task_path, state, clock.now(folders.environ))


def _find_project(folders: Folders, request: Request) -> str:
    """The named project, else the one of a host's variable or of the working folder."""
    if request.project:
        return project.named(request.project)
    for name in hosts.names():
        variable = hosts.load(name).environment.project
        folder = folders.environ.get(variable, "")
        if os.path.isdir(folder):
            return project.find(folder, folders.environ)
    return project.find(folders.cwd, folders.environ)


def _installed_guards(folders: Folders, root: str) -> list[tuple[Record, PackRecord]]:
    """The guard in each settings file: this project's first, then this environment's."""
    try:
        records = _read_records(folders, root)
        user_keys = set()
        for name in hosts.names():
            path = hosts.settings_path(hosts.load(name), "user", folders.environ)
            user_keys.add(store.find_record(records, path)[0])
    except HookctlError:
        return []
    order = sorted(records, key=lambda key: (records[key].project != root, key not in user_keys))
    guards = []
    for key in order:
        record = records[key]
        if "guard" in record.packs:
            guards.append((record, record.packs["guard"]))
    return guards


def _read_records(folders: Folders, root: str) -> dict[str, Record]:
    try:
        return committed.read(folders, [root])
    except HookctlError:  # a project's broken ledger must not hide the user's guard
        return committed.read(folders)


def _read_guard_settings(folders: Folders, root: str) -> dict[str, str]:
    """The text settings of the installed guard, as its config.json says them now."""
    guards = _installed_guards(folders, root)
    # A guard that a repository brings counts only if nobody installed one for themselves.
    personal = [installed for installed in guards if installed[0].scope != "project"]
    for record, pack_record in personal or guards:
        config = guard.current_configuration(pack_record)
        if config:
            texts = {key: text.strip() for key, text in config.items() if isinstance(text, str)}
            return _drop_outside_paths(root, texts) if record.scope == "project" else texts
    return {}


def _drop_outside_paths(root: str, settings: dict[str, str]) -> dict[str, str]:
    """A repository's settings without paths that lead our writes out of our folder there."""
    kept = dict(settings)
    for name in ("run_dir", "task_file"):
        path = os.path.normpath(os.path.join(root, settings.get(name, "")))
        if not f"{path}/".startswith(f"{top(root)}{OWN}/"):
            kept.pop(name, None)
    return kept


def _start(folders: Folders, run_files: _RunFiles, request: Request) -> list[str]:
    span = clock.seconds(request.duration or DEFAULT_SPAN)
    if span <= 0:
        raise usage_error(
            f"a run cannot last {request.duration}", "Give a time above 0, as --for 12h."
        )
    if span > _LONGEST_SPAN:
        raise usage_error(
            f"a run cannot last {request.duration}: 7 days are the most",
            "Give a shorter time, as --for 12h; start the run again when it ends.",
        )
    end = run_files.now + span
    if request.remaining:
        _set_task(run_files, "remaining", _parse_count(request.remaining))
    owner = (request.owner or _find_session(folders)).strip()
    if len(os.fsencode(owner)) > _LONGEST_OWNER:
        raise usage_error(
            "the owner's id is too long", f"The guard reads {_LONGEST_OWNER} bytes of it."
        )
    _refuse_links(run_files, os.path.join(run_files.folder, "STOP"))
    _clear(os.path.join(run_files.folder, "STOP"))
    _clear(os.path.join(run_files.folder, "CONCLUDE"))
    if not owner:
        _clear(os.path.join(run_files.folder, "OWNER"))
    _clear(os.path.join(run_files.state, _BREADCRUMB))
    if owner:
        _write(run_files, "OWNER", owner + "\n")
    files.write_own(os.path.join(run_files.state, "ACTIVE"), f"{end:.0f}\n".encode())
    sessions = f"session {owner}" if owner else "every session"
    return [
        f"a run of {run_files.project} begins, for {sessions}: STOP and CONCLUDE are cleared",
        f"armed until {clock.local(end)} (in {clock.age(span)}); {_ARMED}",
        *_describe_work(run_files),
    ]


def _heartbeat(folders: Folders, run_files: _RunFiles, request: Request) -> list[str]:
    value = clock.stamp(run_files.now)
    while value == _read_task(run_files).get("heartbeat"):  # only a change counts as progress
        value += "+"
    _set_task(run_files, "heartbeat", value)
    return [f"heartbeat {value}", *_describe_work(run_files)]


def _remaining(folders: Folders, run_files: _RunFiles, request: Request) -> list[str]:
    if not request.count:
        raise usage_error("how much is left?", "Give a number: `hookctl run remaining 3`.")
    _set_task(run_files, "remaining", _parse_count(request.count))
    return _describe_work(run_files)


def _conclude(folders: Folders, run_files: _RunFiles, request: Request) -> list[str]:
    _write(run_files, "CONCLUDE", "")
    _clear(os.path.join(run_files.state, _BREADCRUMB))
    return ["concluded: the guard no longer asks the agent to go on"]


def _stop(folders: Folders, run_files: _RunFiles, request: Request) -> list[str]:
    _write(run_files, "STOP", "")
    _clear(os.path.join(run_files.state, _BREADCRUMB))
    return ["stopped: the guard lets the agent go at once; `hookctl run start` ends that"]


def _status(folders: Folders, run_files: _RunFiles, request: Request) -> list[str]:
    data = _data(run_files)
    ages = {name: clock.age(seconds) for name, seconds in data["ages"].items()}
    heartbeat = "none"
    if data["heartbeat"] is not None:
        heartbeat = json.dumps(data["heartbeat"])
    if "heartbeat" in ages:
        heartbeat += f" ({ages['heartbeat']} ago)"
    owner = data["owner"] or "every session"
    if "OWNER" in ages:
        owner += f" (since {ages['OWNER']})"
    lines = [
        f"project    {run_files.project}",
        f"run folder {run_files.folder}",
        f"remaining  {_describe_remaining(run_files, data['remaining'])}",
        f"heartbeat  {heartbeat}",
        f"owner      {owner}",
        *_describe_armed(run_files, data["active_seconds"]),
    ]
    for name, meaning in _MEANINGS.items():
        if name in ages:
            lines.append(f"{name:10} since {ages[name]}: {meaning}")
    if _BREADCRUMB in ages:
        lines.append(f"breadcrumb {ages[_BREADCRUMB]} old: {_CRUMB}")
    if "task.json" in ages:
        lines.append(f"task.json  written {ages['task.json']} ago")
    return lines


def _describe_armed(run_files: _RunFiles, seconds_left: float | None) -> list[str]:
    if seconds_left is None:
        return []
    if seconds_left <= 0:
        return [f"armed      no longer: the run ended {clock.age(-seconds_left)} ago"]
    end = clock.local(run_files.now + seconds_left)
    return [f"armed      until {end} (in {clock.age(seconds_left)}); {_ARMED}"]


def _data(run_files: _RunFiles) -> dict[str, Any]:
    """The run as `--json` shows it."""
    task = _read_task(run_files)
    end = _read_end(run_files)
    seconds_left = None if end is None else end - run_files.now
    is_active = seconds_left is not None and seconds_left > 0
    return {
        "project": run_files.project,
        "run_dir": run_files.folder,
        "remaining": task.get("remaining"),
        "heartbeat": task.get("heartbeat"),
        "owner": _read_owner(run_files),
        "stop": os.path.lexists(os.path.join(run_files.folder, "STOP")),
        "conclude": os.path.lexists(os.path.join(run_files.folder, "CONCLUDE")),
        "active_until": end if is_active else None,
        "active_seconds": seconds_left,
        "ages": _measure_ages(run_files, task.get("heartbeat")),
    }


def _read_owner(run_files: _RunFiles) -> str | None:
    path = os.path.join(run_files.folder, "OWNER")
    try:
        data = files.read(path).data or b""
    except HookctlError:
        return None
    owner = data[:_LONGEST_OWNER].decode("utf-8", "replace").strip()
    return _mask_linked(run_files, path, owner) or None


def _read_end(run_files: _RunFiles) -> float | None:
    """When the run ends, as ACTIVE says; None if it says no time."""
    try:
        data = files.read(os.path.join(run_files.state, "ACTIVE")).data or b""
        return clock.timestamp(data.decode())
    except (HookctlError, UnicodeDecodeError):
        return None


def _measure_ages(run_files: _RunFiles, heartbeat: Any) -> dict[str, float]:
    """The age of each file in seconds; the heartbeat's own time counts if it is one."""
    paths = {name: os.path.join(run_files.folder, name) for name in ("STOP", "CONCLUDE", "OWNER")}
    paths["task.json"] = run_files.task
    paths[_BREADCRUMB] = os.path.join(run_files.state, _BREADCRUMB)
    times = {}
    for name, path in paths.items():
        with contextlib.suppress(OSError):
            times[name] = os.lstat(path).st_mtime
    with contextlib.suppress(TypeError, ValueError, OverflowError, AttributeError):
        times["heartbeat"] = datetime.fromisoformat(heartbeat.rstrip("+")).timestamp()
    return {name: max(0.0, run_files.now - moment) for name, moment in times.items()}


def _describe_work(run_files: _RunFiles) -> list[str]:
    remaining = _read_task(run_files).get("remaining")
    if remaining is None:
        return [f"no work is named in {run_files.project}: `hookctl run remaining N` does"]
    amount = _describe_remaining(run_files, remaining)
    lines = [f"{amount} remaining in {run_files.project}"]
    for name in ("STOP", "CONCLUDE"):
        if os.path.lexists(os.path.join(run_files.folder, name)):
            lines.append(
                f"but {name} is there, so the guard lets the agent go; "
                "`hookctl run start` removes it"
            )
    return lines


def _describe_remaining(run_files: _RunFiles, remaining: Any) -> str:
    """The remaining work as the hook understands it."""
    try:
        _parse(files.read(run_files.task).data or b"", run_files.task)
    except HookctlError as error:
        position = f"line {error.line}, column {error.column}"
        return f"unknown, which counts as no work: {error.message} ({position})"
    if remaining is None:
        return "not said, which counts as no work"
    if isinstance(remaining, str) or type(remaining) is int:
        text = str(remaining)
        if re.fullmatch(r"[0-9]{1,18}", text.strip()):
            return text
    return f"{json.dumps(remaining)}, which is no count and so no work"


def _read_task(run_files: _RunFiles) -> dict[str, Any]:
    """The values in task.json; none if it is unreadable, as for the hook."""
    try:
        task = _parse(files.read(run_files.task).data or b"", run_files.task).value
    except HookctlError:
        return {}
    if not isinstance(task, dict):
        return {}
    return {key: _mask_linked(run_files, run_files.task, value) for key, value in task.items()}


def _mask_linked(run_files: _RunFiles, path: str, value: Any) -> Any:
    """The value, or a mask if it is read through a link and is no count.

    The hook reads through links. A repository could bring a link to somebody else's file, so we
    show nothing of it but a count.
    """
    if not value or str(value).strip().isdecimal():
        return value
    is_linked = any(os.path.islink(part) for part in _list_linkable(run_files, path))
    return MASK if is_linked else value


def _parse(data: bytes, path: str) -> JsonDocument:
    """Parse as strictly as the hook does, which takes no comments."""
    return JsonDocument.parse(data, where=path, comments=False, trailing_commas=False)


def _set_task(run_files: _RunFiles, key: str, value: Any) -> None:
    """Set one key of task.json; agents and people write it too, so all else in it stays."""

    def change(old: bytes | None) -> bytes:
        return _parse(old or b"", run_files.task).set((key,), value).data

    _replace(run_files, run_files.task, change)


def _write(run_files: _RunFiles, name: str, text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    _replace(run_files, os.path.join(run_files.folder, name), lambda old: data)


def _replace(run_files: _RunFiles, path: str, change: Callable[[bytes | None], bytes]) -> None:
    """Change a file of the run; try again if somebody else writes it meanwhile."""
    for _ in range(20):
        _refuse_links(run_files, path)
        old = files.read(path)
        data = change(old.data)
        with contextlib.suppress(files.Changed):
            _make_folder(run_files, os.path.dirname(path))
            files.replace(old, data, mode=_PUBLIC & ~files.umask())
            return
    message = "it changes faster than it can be written"
    raise HookctlError("changed_meanwhile", message, path=path, hint="Try again.")


def _make_folder(run_files: _RunFiles, folder: str) -> None:
    """Make the run folder; a new .hookctl gets a .gitignore, since a run is not for others."""
    own_folder = os.path.join(run_files.project, ".hookctl")
    try:
        is_new = not os.path.isdir(own_folder)
        os.makedirs(folder, exist_ok=True)
        if is_new and os.path.isdir(own_folder):
            _write_ignore_file(os.path.join(own_folder, ".gitignore"))
    except OSError as error:
        raise files.cannot_write(folder, error) from None


def _write_ignore_file(path: str) -> None:
    try:
        with open(path, "x", encoding="ascii") as stream:
            stream.write("run/\n")
    except FileExistsError:  # another `hookctl run` was faster
        pass


def _refuse_links(run_files: _RunFiles, path: str) -> None:
    """Refuse to write through a link: a repository could bring one that leads elsewhere."""
    for part in _list_linkable(run_files, path):
        if os.path.islink(part):
            message = "this is a link, and hookctl does not write through links here"
            raise HookctlError("linked", message, path=part, hint="Remove it.")


def _list_linkable(run_files: _RunFiles, path: str) -> list[str]:
    """The path, and the folders above it that a project could have made a link."""
    parts = [path]
    while parts[-1] != run_files.project and parts[-1].startswith(top(run_files.project)):
        parts.append(os.path.dirname(parts[-1]))
    return parts[-2::-1] or [path]


def _clear(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise files.cannot_write(path, error) from None


def _find_session(folders: Folders) -> str:
    """The session that this command runs in, as its host's variable says; '' if unknown."""
    for name in hosts.names():
        variable = hosts.load(name).environment.session
        session = folders.environ.get(variable, "")
        if session:
            return session
    return ""


def _parse_count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise usage_error(f"{text!r} is not a count", "Give a whole number, 0 or more.")
    return int(text)
