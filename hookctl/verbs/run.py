"""hookctl run: the work in hand, as the guard reads it from .hookctl/run in the project."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from hookctl import clock, hosts
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import USAGE, HookctlError
from hookctl.ledger import committed, store
from hookctl.masking import MASK
from hookctl.model import PackRecord, Record, Result
from hookctl.packs import guard
from hookctl.settings.targets import OWN, top
from hookctl.system import files, project
from hookctl.system.folders import Folders

DEFAULT_SPAN = "12h"
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


class _Run(NamedTuple):
    """The places of one project's run."""

    project: str
    folder: str  # of STOP, CONCLUDE and OWNER
    task: str  # task.json, as a rule in that folder
    state: str  # of ACTIVE and the breadcrumb
    now: float


def run(folders: Folders, request: Request) -> Result:
    """Do one action on the run of the project that the request, the host or the working folder names."""
    actions = {
        "start": _start,
        "heartbeat": _heartbeat,
        "remaining": _remaining,
        "conclude": _conclude,
        "stop": _stop,
        "status": _status,
    }
    if request.action not in actions:
        raise _usage(f"unknown action {request.action!r}", f"Actions: {', '.join(actions)}.")
    if request.count and request.action != "remaining":
        raise _usage(f"{request.action} takes no number", "Did you mean `hookctl run remaining N`?")
    if request.action != "start" and (request.remaining or request.owner or request.duration):
        raise _usage(
            "--remaining, --owner and --for go with `run start`", "See `hookctl run --help`."
        )
    place = _place(folders, request)
    messages = tuple(_surprises(folders, place, request))
    text = actions[request.action](folders, place, request)
    return Result(_data(place), tuple(text), messages)


def _surprises(folders: Folders, place: _Run, request: Request) -> Iterator[str]:
    """What the person may not expect of this place."""
    marked = any(
        os.path.lexists(os.path.join(place.project, mark)) for mark in (".git", ".hookctl")
    )
    if not marked and not request.project and request.action != "status":
        yield f"{place.project} has neither .git nor .hookctl; from now on it counts as a project, with all below it"
    if not _guards(folders, place.project):
        yield "the ledger knows of no guard, so nothing may read this: `hookctl install --host claude`"


def _place(folders: Folders, request: Request) -> _Run:
    variables = [hosts.load(name).environment.project for name in hosts.names()]
    named = next(
        (at for v in variables if os.path.isdir(at := folders.environ.get(v, ""))), folders.cwd
    )
    root = (
        project.named(request.project) if request.project else project.find(named, folders.environ)
    )
    knobs = _installed_knobs(folders, root)
    folder = project.run_folder(root, folders.environ, knobs.get("run_dir", ""))
    task = folders.environ.get("HOOKCTL_TASK_FILE", "").strip() or knobs.get("task_file", "")
    return _Run(
        root,
        folder,
        os.path.join(root, task) if task else os.path.join(folder, "task.json"),
        project.state_folder(folders.state, root),
        clock.now(folders.environ),
    )


def _guards(folders: Folders, root: str) -> list[tuple[Record, PackRecord]]:
    """The guard as it is installed, once a settings file: first in this project, then where this environment leads."""
    with contextlib.suppress(HookctlError):
        try:
            records = committed.read(folders, [root])
        except HookctlError:  # a stranger's ledger that is none must not hide the guard of the user
            records = committed.read(folders)
        users = (
            hosts.settings_path(hosts.load(name), "user", folders.environ) for name in hosts.names()
        )
        here = {store.find_record(records, path)[0] for path in users}
        order = sorted(records, key=lambda path: (records[path].project != root, path not in here))
        return [
            (records[path], records[path].packs["guard"])
            for path in order
            if "guard" in records[path].packs
        ]
    return []


def _installed_knobs(folders: Folders, root: str) -> dict[str, str]:
    """Where the installed guard looks for the work: its configuration, as the operator may have edited it."""
    guards = _guards(folders, root)
    # What a repository brings counts only where nobody installed the guard for themselves: that one must see it.
    for record, page in [found for found in guards if found[0].scope != "project"] or guards:
        value = guard.current_configuration(page)
        if value:
            knobs = {name: text.strip() for name, text in value.items() if isinstance(text, str)}
            return _inside(root, knobs) if record.scope == "project" else knobs
    return {}


def _inside(root: str, knobs: dict[str, str]) -> dict[str, str]:
    """What a repository's own configuration may say: it must not lead our writes out of our folder there."""
    leaves = [
        name
        for name in ("run_dir", "task_file")
        if not f"{os.path.normpath(os.path.join(root, knobs.get(name, '')))}/".startswith(
            f"{top(root)}{OWN}/"
        )
    ]
    return {name: text for name, text in knobs.items() if name not in leaves}


def _start(folders: Folders, place: _Run, request: Request) -> list[str]:
    span = clock.seconds(request.duration or DEFAULT_SPAN)
    if span <= 0:
        raise _usage(f"a run cannot last {request.duration}", "Give a time above 0, as --for 12h.")
    end = place.now + span
    if request.remaining:
        _set_task(place, "remaining", _count(request.remaining))
    owner = (request.owner or _session(folders)).strip()
    if len(os.fsencode(owner)) > _LONGEST_OWNER:
        raise _usage("the owner's id is too long", f"The guard reads {_LONGEST_OWNER} bytes of it.")
    _refuse_links(place, os.path.join(place.folder, "STOP"))
    for name in ("STOP", "CONCLUDE", *(() if owner else ("OWNER",))):
        _clear(os.path.join(place.folder, name))
    _clear(os.path.join(place.state, _BREADCRUMB))
    if owner:
        _write(place, "OWNER", owner + "\n")
    files.write_own(os.path.join(place.state, "ACTIVE"), f"{end:.0f}\n".encode())
    whose = f"session {owner}" if owner else "every session"
    lines = [f"a run of {place.project} begins, for {whose}: STOP and CONCLUDE are cleared"]
    lines.append(f"armed until {clock.local(end)} (in {clock.age(span)}); {_ARMED}")
    return [*lines, *_work_line(place)]


def _heartbeat(folders: Folders, place: _Run, request: Request) -> list[str]:
    value = clock.stamp(place.now)
    while value == _task(place).get("heartbeat"):  # only a change counts as progress
        value += "+"
    _set_task(place, "heartbeat", value)
    return [f"heartbeat {value}", *_work_line(place)]


def _remaining(folders: Folders, place: _Run, request: Request) -> list[str]:
    if not request.count:
        raise _usage("how much is left?", "Give a number: `hookctl run remaining 3`.")
    _set_task(place, "remaining", _count(request.count))
    return _work_line(place)


def _conclude(folders: Folders, place: _Run, request: Request) -> list[str]:
    _write(place, "CONCLUDE", "")
    _clear(os.path.join(place.state, _BREADCRUMB))
    return ["concluded: the guard no longer asks the agent to go on"]


def _stop(folders: Folders, place: _Run, request: Request) -> list[str]:
    _write(place, "STOP", "")
    _clear(os.path.join(place.state, _BREADCRUMB))
    return ["stopped: the guard lets the agent go at once; `hookctl run start` ends that"]


def _status(folders: Folders, place: _Run, request: Request) -> list[str]:
    data = _data(place)
    ages = {name: clock.age(seconds) for name, seconds in data["ages"].items()}
    heartbeat = "none" if data["heartbeat"] is None else json.dumps(data["heartbeat"])
    owner = (data["owner"] or "every session") + (
        f" (since {ages['OWNER']})" if "OWNER" in ages else ""
    )
    return [
        f"project    {place.project}",
        f"run folder {place.folder}",
        f"remaining  {_remaining_text(place, data['remaining'])}",
        f"heartbeat  {heartbeat}" + (f" ({ages['heartbeat']} ago)" if "heartbeat" in ages else ""),
        f"owner      {owner}",
        *_armed_line(place, data["active_seconds"]),
        *(
            f"{name:10} since {ages[name]}: {meaning}"
            for name, meaning in _MEANINGS.items()
            if name in ages
        ),
        *([f"breadcrumb {ages[_BREADCRUMB]} old: {_CRUMB}"] if _BREADCRUMB in ages else []),
        *([f"task.json  written {ages['task.json']} ago"] if "task.json" in ages else []),
    ]


def _armed_line(place: _Run, left: float | None) -> list[str]:
    if left is None:
        return []
    if left <= 0:
        return [f"armed      no longer: the run ended {clock.age(-left)} ago"]
    return [f"armed      until {clock.local(place.now + left)} (in {clock.age(left)}); {_ARMED}"]


def _data(place: _Run) -> dict[str, Any]:
    task, owner, active = _task(place), None, None
    with contextlib.suppress(HookctlError):
        path = os.path.join(place.folder, "OWNER")
        owner = _shown(
            place, path, (files.read(path).data or b"")[:256].decode("utf-8", "replace").strip()
        )
    with contextlib.suppress(HookctlError, UnicodeDecodeError):
        active = clock.timestamp(
            (files.read(os.path.join(place.state, "ACTIVE")).data or b"").decode()
        )
    left = None if active is None else active - place.now
    return {
        "project": place.project,
        "run_dir": place.folder,
        "remaining": task.get("remaining"),
        "heartbeat": task.get("heartbeat"),
        "owner": owner or None,
        "stop": os.path.lexists(os.path.join(place.folder, "STOP")),
        "conclude": os.path.lexists(os.path.join(place.folder, "CONCLUDE")),
        "active_until": active if left is not None and left > 0 else None,
        "active_seconds": left,
        "ages": _ages(place, task.get("heartbeat")),
    }


def _ages(place: _Run, heartbeat: Any) -> dict[str, float]:
    """How old each file of the run is, in seconds; the heartbeat, where it says a time, is as old as it says."""
    since = {}
    names = {name: os.path.join(place.folder, name) for name in ("STOP", "CONCLUDE", "OWNER")}
    names |= {"task.json": place.task, _BREADCRUMB: os.path.join(place.state, _BREADCRUMB)}
    for name, path in names.items():
        with contextlib.suppress(OSError):
            since[name] = os.lstat(path).st_mtime
    with contextlib.suppress(TypeError, ValueError, OverflowError, AttributeError):
        since["heartbeat"] = datetime.fromisoformat(heartbeat.rstrip("+")).timestamp()
    return {name: max(0.0, place.now - at) for name, at in since.items()}


def _work_line(place: _Run) -> list[str]:
    remaining = _task(place).get("remaining")
    if remaining is None:
        return [f"no work is named in {place.project}: `hookctl run remaining N` does"]
    lines = [f"{_remaining_text(place, remaining)} remaining in {place.project}"]
    for name in ("STOP", "CONCLUDE"):
        if os.path.lexists(os.path.join(place.folder, name)):
            lines.append(
                f"but {name} is there, so the guard lets the agent go; `hookctl run start` removes it"
            )
    return lines


def _remaining_text(place: _Run, remaining: Any) -> str:
    """What the hook makes of the task, where it is not what it looks like."""
    try:
        _parse(files.read(place.task).data or b"", place.task)
    except HookctlError as error:
        return f"unknown, which counts as no work: {error.message} (line {error.line}, column {error.column})"
    if remaining is None:
        return "not said, which counts as no work"
    text = str(remaining) if isinstance(remaining, str) or type(remaining) is int else ""
    counts = re.fullmatch(r"[0-9]{1,18}", text.strip())
    return text if counts else f"{json.dumps(remaining)}, which is no count and so no work"


def _task(place: _Run) -> dict[str, Any]:
    """What task.json says; an unreadable one says nothing, as for the hook."""
    try:
        value = _parse(files.read(place.task).data or b"", place.task).value
    except HookctlError:
        return {}
    return (
        {name: _shown(place, place.task, one) for name, one in value.items()}
        if isinstance(value, dict)
        else {}
    )


def _shown(place: _Run, path: str, value: Any) -> Any:
    """A value from a file of the run. The hook reads through links, and so does this, but of what lies behind one only
    a count is shown: a repository could bring a link to what is not its own."""
    behind = any(os.path.islink(part) for part in _parts(place, path))
    return MASK if behind and value and not str(value).strip().isdecimal() else value


def _parse(data: bytes, path: str) -> JsonDocument:
    """Strictly, as the hook does: to it, a task with a comment says nothing."""
    return JsonDocument.parse(data, where=path, comments=False, trailing_commas=False)


def _set_task(place: _Run, key: str, value: Any) -> None:
    """Set one key of task.json; agents and people write it too, so what they put there stays."""
    _replace(place, place.task, lambda old: _parse(old or b"", place.task).set((key,), value).data)


def _write(place: _Run, name: str, text: str) -> None:
    _replace(
        place, os.path.join(place.folder, name), lambda old: text.encode("utf-8", "surrogateescape")
    )


def _replace(place: _Run, path: str, make: Callable[[bytes | None], bytes]) -> None:
    """Make a file of the run anew from what it is, as often as somebody else writes in between."""
    for _ in range(20):
        _refuse_links(place, path)
        old = files.read(path)
        data = make(old.data)
        with contextlib.suppress(files.Changed):
            _make_folder(place, os.path.dirname(path))
            files.replace(old, data, mode=_PUBLIC & ~files.umask())
            return
    message = "it changes faster than it can be written"
    raise HookctlError("changed_meanwhile", message, path=path, hint="Try again.")


def _make_folder(place: _Run, folder: str) -> None:
    """The run folder; .hookctl comes with a .gitignore, since a run is nobody else's business."""
    above = os.path.join(place.project, ".hookctl")
    try:
        fresh = not os.path.isdir(above)
        os.makedirs(folder, exist_ok=True)
        if fresh and os.path.isdir(above):
            with (
                contextlib.suppress(FileExistsError),  # another `hookctl run` was faster
                open(os.path.join(above, ".gitignore"), "x", encoding="ascii") as stream,
            ):
                stream.write("run/\n")
    except OSError as error:
        raise files.cannot_write(folder, error) from None


def _refuse_links(place: _Run, path: str) -> None:
    """A repository could bring a link that leads our writes elsewhere."""
    for part in _parts(place, path):
        if os.path.islink(part):
            message, hint = (
                "this is a link, and hookctl does not write through links here",
                "Remove it.",
            )
            raise HookctlError("linked", message, path=part, hint=hint)


def _parts(place: _Run, path: str) -> list[str]:
    """The path, and the folders above it that a project could have made a link."""
    parts = [path]
    while parts[-1] != place.project and parts[-1].startswith(top(place.project)):
        parts.append(os.path.dirname(parts[-1]))
    return parts[-2::-1] or [path]


def _clear(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise files.cannot_write(path, error) from None


def _session(folders: Folders) -> str:
    """The session whose tool this call runs in, as its host tells it."""
    for name in hosts.names():
        session = folders.environ.get(hosts.load(name).environment.session, "")
        if session:
            return session
    return ""


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise _usage(f"{text!r} is not a count", "Give a whole number, 0 or more.")
    return int(text)


def _usage(message: str, hint: str) -> HookctlError:
    return HookctlError("usage", message, hint=hint, exit_code=USAGE)
