"""The work in hand of a project: the files of a run, and whose the work is.

People and agents write the same files, so other content in them stays, and no link is followed.
The guard's own modules read them, so that both understand them alike.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from hookctl import clock, hosts
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import FAILED, HookctlError, usage_error
from hookctl.masking import MASK
from hookctl.model import PackRecord, Record
from hookctl.ownership import store
from hookctl.packs.choices import confine, read_settings, variables_of, whole_number
from hookctl.receipts import read_object
from hookctl.settings.targets import top
from hookctl.system import files, guard_module, project
from hookctl.system.folders import Folders
from hookctl.system.project import session_hash

DEFAULT_SPAN = "12h"  # of a run
_LONGEST_SPAN = 7 * 24 * 3600  # seconds; the ceiling holds for each prompt, this for the whole run
_SESSION_FILE = r"[0-9a-f]{16}\.json"
NOBODY = "none"  # as --owner
_MOST_DECLINED = 32
_PATIENCE = 5.0  # seconds
_UNMOVED = "unmoved"  # in the state folder: since when the task has said what it says


class RunFiles:
    """The files of one project's run, and who asks about it, as a call of the guard has them."""

    session = host_name = process = ""  # of an agent whose tool runs hookctl; empty: a person does
    task_owner = ""

    def __init__(
        self,
        project: str,
        settings: Any,
        task: str,
        fields: dict[str, str],
        state: str,
        now: float,
        hides: bool = False,
    ) -> None:
        self.project, self.now = project, now
        self.settings = settings  # all of the guard's, with the run folder's whole path
        self.task_path, self.task_names = task, fields  # of a task file that hookctl only reads
        self.folder = self.project_folder = state  # of ACTIVE, the breadcrumb and the claim
        self.hides = hides  # the project itself says which file and fields these are

    def path_of(self, name: str) -> str:
        """The path of STOP, CONCLUDE or OWNER."""
        return os.path.join(self.settings.run_dir, name)

    @property
    def reported_by(self) -> str:
        """What says how much is left: our command, or the field that another system writes."""
        if not self.task_names:
            return "`hookctl run remaining N`"
        return f"`{self.task_names.get('remaining', 'remaining')}` in {self.task_path}"

    @property
    def mark(self) -> str:
        """The name of the file that lets every agent stop; empty where there is none."""
        return next((name for name in project.MARKS if os.path.lexists(self.path_of(name))), "")


def find(folders: Folders, root: str) -> RunFiles:
    """The files of a project's run, as the guard that is installed there reads them."""
    guards, is_brought = installed_guards(folders, root), False
    config: dict[str, Any] = {}
    # A guard that a repository brings counts only if the user has none of their own.
    personal = [installed for installed in guards if installed[0].scope != "project"]
    for record, pack in personal or guards:
        config, is_brought = read_object(pack.config), record.scope == "project"
        if config:
            break
    state, now = project.state_folder(folders.state, root), clock.now(folders.environ)
    return locate(root, config, folders.environ, state, now, is_brought=is_brought)


def locate(
    root: str,
    config: dict[str, Any],
    environ: Mapping[str, str],
    state: str,
    now: float,
    *,
    is_brought: bool,
) -> RunFiles:
    """The files of a run as a configuration says; `is_brought`: the project itself has it."""
    if is_brought:
        config = confine(config, root, environ)
    settings = read_settings(config, environ)
    settings.run_dir = folder = os.path.join(root, settings.run_dir.rstrip("/") or "/")

    def is_there(path: str) -> bool:
        return os.path.lexists(os.path.join(root, path))

    path, fields = guard_module("work").find_task(settings, variables_of(environ), is_there)
    task = os.path.join(root, path)
    # What a project brings, its variables too, could name any file: only task.json is written.
    variables = (f"HOOKCTL_TASK_{name}" for name in ("FILE", "ENV", "FIELDS"))
    is_named = is_brought or any(map(environ.get, variables))  # a project's .env may have set one
    hides = is_named and (bool(fields) or task != os.path.join(folder, "task.json"))
    if hides and not fields:
        fields = {"remaining": "remaining"}
    return RunFiles(root, settings, task, fields, state, now, hides)


def find_project(folders: Folders, named: str = "") -> str:
    """The named project, else the one of a host's variable or of the working folder."""
    if named:
        return project.named(named)
    for name in hosts.names():
        folder = folders.environ.get(hosts.load(name).environment.project, "")
        if os.path.isdir(folder):
            return project.find(folder, folders.environ)
    return project.find(folders.cwd, folders.environ)


def installed_guards(folders: Folders, root: str) -> list[tuple[Record, PackRecord]]:
    """The guard in each settings file: this project's first, then this environment's."""
    try:
        try:
            records = store.read(folders, [root])
        except HookctlError:  # a project's broken ledger must not hide the user's guard
            records = store.read(folders)
        users = set()
        for name in hosts.names():
            path = hosts.settings_path(hosts.load(name), "user", folders.environ)
            users.add(store.find_record(records, path)[0])
    except HookctlError:
        return []
    keys = [key for key, record in records.items() if "guard" in record.packs]
    keys.sort(key=lambda key: (records[key].project != root, key not in users))
    return [(records[key], records[key].packs["guard"]) for key in keys]


def is_armed(run_files: RunFiles) -> bool:
    """Whether a run is active and has not reached its end."""
    return bool(guard_module("work").is_armed(run_files))


def read_end(run_files: RunFiles) -> float | None:
    """When the run ends, as ACTIVE says; None if it says no time."""
    return guard_module("work").read_end(run_files)


def read_task(run_files: RunFiles) -> tuple[dict[str, Any], str]:
    """The values in task.json that may be shown, another system's under our names.

    Then why the guard reads no number of remaining work; '' where it does, or none is there.
    """
    path = run_files.task_path
    try:
        task = _parse(files.read(path).data or b"{}", path).value
    except HookctlError as error:
        where = f" (line {error.line}, column {error.column})" if error.line else ""
        return {}, f"{error.message}{where}"
    name = run_files.task_names.get("remaining", "remaining")
    number = task.get(name) if isinstance(task, dict) else task
    is_number = number is None or whole_number(str(number)) is not None
    fault = "" if is_number else f"`{name}` is not a whole number"
    if not isinstance(task, dict):
        return {}, fault
    for ours, theirs in run_files.task_names.items():
        if theirs in task:
            task[ours] = task.pop(theirs)
    return {key: _mask_foreign(run_files, path, value) for key, value in task.items()}, fault


def _mask_foreign(run_files: RunFiles, path: str, value: Any) -> Any:
    """The value, or a mask if it may come from a foreign file and is no count.

    The hook reads through links. A repository could bring a link to another file, or name one in
    its configuration, so we show nothing of it but a count.
    """
    if not value or str(value).strip().isdecimal():
        return value
    is_named = run_files.hides and path == run_files.task_path
    is_linked = any(os.path.islink(part) for part in _list_linkable(run_files, path))
    return MASK if is_named or is_linked else value


def _parse(data: bytes, path: str) -> JsonDocument:
    """Parse as strictly as the hook does, which takes no comments and no large file."""
    limit = guard_module("files").FILE_LIMIT
    if len(data) > limit:
        message = f"larger than {limit // 1024} KiB, which the guard does not read either"
        raise HookctlError("unparsable", message, path=path, line=1, column=1, hint="Shorten it.")
    return JsonDocument.parse(data, where=path, strict=True)


def set_task(run_files: RunFiles, key: str, value: Any) -> None:
    """Set one key of task.json; agents and people write it too, so all else in it stays."""
    if run_files.task_names:
        message = "another system writes this file, so hookctl only reads it"
        hint = "Let that system say what remains, or install without `task_file` and its variables."
        raise HookctlError(
            "read_only", message, path=run_files.task_path, hint=hint, exit_code=FAILED
        )

    path = run_files.task_path
    _replace(run_files, path, lambda old: _parse(old or b"", path).set((key,), value).data)


def write_mark(run_files: RunFiles, name: str, text: str) -> None:
    """Write STOP, CONCLUDE or OWNER."""
    data = text.encode("utf-8", "surrogateescape")
    _replace(run_files, run_files.path_of(name), lambda old: data)


def _replace(run_files: RunFiles, path: str, change: Callable[[bytes | None], bytes]) -> None:
    """Change a file of the run; try again if another program writes it meanwhile."""
    folder, own_folder = os.path.dirname(path), os.path.join(run_files.project, ".hookctl")
    for _ in range(20):
        refuse_links(run_files, path)
        old = files.read(path)
        data = change(old.data)
        try:
            is_new = not os.path.isdir(own_folder)
            files.make_folders(folder, files.public_mode())
            if is_new and os.path.isdir(own_folder):  # a run is not for others
                with contextlib.suppress(FileExistsError):  # another `hookctl run` was faster
                    ignoring = os.path.join(own_folder, ".gitignore")
                    files.write_new(ignoring, b"run/\n", files.public_mode())
        except OSError as error:
            raise files.cannot_write(folder, error) from None
        with contextlib.suppress(files.Changed):
            files.replace(old, data, mode=files.public_mode())
            return
    message = "it changes faster than it can be written"
    raise HookctlError("changed_meanwhile", message, path=path, hint="Try again.")


def refuse_links(run_files: RunFiles, path: str) -> None:
    """Refuse to write through a link: a repository could bring one that leads elsewhere."""
    with contextlib.suppress(OSError):
        if os.lstat(path).st_nlink > 1 and os.path.isfile(path):
            message = "this file has another name too, and what is written here would be there"
            raise HookctlError("linked", message, path=path, hint="Remove it.")
    for part in _list_linkable(run_files, path):
        if os.path.islink(part):
            message = "this is a link, and hookctl does not write through links here"
            raise HookctlError("linked", message, path=part, hint="Remove it.")


def _list_linkable(run_files: RunFiles, path: str) -> list[str]:
    """The path, and the folders above it that a project could have made a link."""
    parts = [path]
    while parts[-1] != run_files.project and parts[-1].startswith(top(run_files.project)):
        parts.append(os.path.dirname(parts[-1]))
    return parts[-2::-1] or [path]


def clear(path: str) -> None:
    """Remove a file, if it is there."""
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    except OSError as error:
        raise files.cannot_write(path, error) from None


def _clear_mark(run_files: RunFiles, name: str) -> None:
    path = run_files.path_of(name)
    refuse_links(run_files, path)
    clear(path)


def end_of_run(run_files: RunFiles, duration: str) -> float:
    """When a run of this duration ends; without one, the run that is going on, or 12 hours."""
    if is_armed(run_files) and not duration:
        return float(guard_module("work").read_end(run_files))
    span = clock.seconds(duration or DEFAULT_SPAN)
    if not 0 < span <= _LONGEST_SPAN:
        raise usage_error(f"a run cannot last {duration}", "Give 7 days at most, as --for 12h.")
    return run_files.now + span


def begin(run_files: RunFiles, end: float) -> None:
    """Begin a run, which clears the marks of the one before; `end` in epoch seconds."""
    for name in project.MARKS:
        _clear_mark(run_files, name)
    forget_stillness(run_files)
    if read_respawns(run_files.folder):  # the agent of the run before may still live
        note(run_files.folder, 0)
    files.write_own(os.path.join(run_files.folder, "ACTIVE"), f"{end:.0f}\n".encode())


def disarm(run_files: RunFiles) -> None:
    """End the run without a mark, so that agents may stop and the next run may begin."""
    clear(os.path.join(run_files.folder, "ACTIVE"))


def read_sessions(run_files: RunFiles) -> list[Any]:
    """What the guard keeps of each session of the project."""
    folder, read_session = run_files.folder, guard_module("state").read_session
    names = files.names_in(folder, _SESSION_FILE)
    return [read_session(folder, name.removesuffix(".json")) for name in names]


def measure_stillness(run_files: RunFiles, task: str, now: float) -> float:
    """For how many seconds the task has said this; writes down what it had not said before."""
    path = os.path.join(run_files.folder, _UNMOVED)
    digest = files.digest(task.encode("utf-8", "surrogatepass"))
    record = read_object(path)
    since = record.get("since")
    if record.get("digest") == digest and isinstance(since, int | float) and since <= now:
        return now - float(since)
    files.write_own(path, json.dumps({"digest": digest, "since": now}).encode())
    return 0.0


def forget_stillness(run_files: RunFiles) -> None:
    """Measure anew from now on."""
    clear(os.path.join(run_files.folder, _UNMOVED))


BREADCRUMB = "RESPAWN_REQUESTED"
_NAME = "supervised"


@contextlib.contextmanager
def _lock(path: str, seconds: float, message: str, hint: str, code: str) -> Iterator[None]:
    """Hold a lock of the guard's; an error where another process has it for so long."""
    files.make_folders(os.path.dirname(path), files.PRIVATE)
    try:
        handle = guard_module("state").lock(path, seconds)
    except BlockingIOError:
        raise HookctlError(code, message, path=path, hint=hint, exit_code=FAILED) from None
    except OSError as error:
        raise files.cannot_write(path, error) from None
    try:
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def alone(state: str) -> Iterator[None]:
    """Be the only supervisor of the project; else, or where its agent lives, `supervised`."""
    path, code = os.path.join(state, f"{_NAME}.lock"), "supervised"
    hint = "Wait until it ends, or `hookctl run stop` and end it."
    with _lock(path, 0, "another supervisor of this project is running", hint, code):
        process = str(_read(state).get("process", ""))
        if guard_module("work").is_gone(process) is False:
            pid = process.partition(" ")[0]
            message = f"the agent of a supervisor that was ended still runs: {pid}"
            raise HookctlError(code, message, path=path, hint=hint, exit_code=FAILED)
        yield


def find_crumb(state: str) -> float:
    """When the breadcrumb was written; 0 if there is none."""
    return files.written_at(os.path.join(state, BREADCRUMB)) or 0.0


def note(state: str, respawns: int, pid: int = 0) -> None:
    """Write down how often the agent was started again, and which process it is now."""
    record = {**_read(state), "respawns": respawns}
    if pid:
        record["process"] = guard_module("work").describe_process(str(pid))
    files.write_own(os.path.join(state, _NAME), json.dumps(record).encode())


def read_respawns(state: str) -> int:
    """How often a supervisor started its agent again in this run; 0 if there was none."""
    respawns = _read(state).get("respawns")
    return respawns if type(respawns) is int else 0


def _read(state: str) -> dict[str, Any]:
    return read_object(os.path.join(state, _NAME))


# Whose the work is: who holds it, how old it is, and how it is passed on.


class Work(NamedTuple):
    """The work that waits in a project, and the session that it belongs to."""

    remaining: int
    holder: Any  # the guard's own Holder; none if its `session`, a hash, is empty
    name: str  # the holder's id, where OWNER names it
    seen: float  # the holder's last event; 0: it had none yet
    is_free: bool  # it has no holder, or one that is gone, so the work passes on
    touched: float  # when it was last touched; never in the future
    is_stale: bool

    @property
    def is_named(self) -> bool:
        """Whether a person named the holder with --owner."""
        return self.holder.fixed and "t" in self.holder.claim  # else OWNER alone says it

    @property
    def owner(self) -> str:
        """The session that holds the work, with its agent and its process where they are known."""
        text, host = f"session {self.name or self.holder.session}", self.holder.claim.get("host")
        if host in hosts.names():
            text += f" of {hosts.load(host).title}"
        pid = self.holder.process.partition(" ")[0]
        return f"{text}, process {pid}" if pid else text


def find_work(run_files: RunFiles) -> Work:
    """The work that waits in a project, its holder by the guard's rules, and if it is stale."""
    guard = guard_module("work")
    remaining = max(0, guard.read_task(run_files)[1])
    run_files.holder = holder = guard.Holder(run_files)
    name, seen, touched = "", 0.0, files.written_at(run_files.task_path) or 0.0
    if holder.session:
        if holder.session == holder.owner:
            name = _show_owner(run_files, guard.read_owner(run_files))
        seen = guard_module("state").read_session(run_files.folder, holder.session).t
        touched = max(touched, holder.last_event(run_files, "work"))
    is_stale = remaining > 0 and guard.is_stale(run_files) and not guard.is_armed(run_files)
    is_free, touched = holder.is_free(run_files), min(run_files.now, touched)
    return Work(remaining, holder, name, seen, is_free, touched, is_stale)


def _show_owner(run_files: RunFiles, name: str) -> str:
    """An owner's id, masked where a file of a stranger may have put a secret there."""
    if name == run_files.settings.owner.strip():
        return name
    path = run_files.path_of("OWNER")
    # The line of OWNER, else the field of the task.
    read_from = path if guard_module("files").read_line(path) else run_files.task_path
    return str(_mask_foreign(run_files, read_from, name))


def find_caller(run_files: RunFiles, folders: Folders) -> None:
    """Note the session that this command runs in; none where two agents name one."""
    callers = []
    for name in hosts.names():
        environment = hosts.load(name).environment
        session = folders.environ.get(environment.session, "").strip()
        if session:
            pid = folders.environ.get(environment.process, "")
            process = guard_module("work").describe_process(pid) if pid.isdecimal() else ""
            callers.append((session, name, process))
    if len(callers) == 1:
        run_files.session, run_files.host_name, run_files.process = callers[0]


def locked(run_files: RunFiles) -> AbstractContextManager[None]:
    """Keep hooks and other commands from changing the claim; `lock_timeout` after some seconds."""
    path = os.path.join(run_files.folder, "taken.lock")
    message = "another process holds the claim of this project"
    return _lock(path, _PATIENCE, message, "Try again.", "lock_timeout")


def _write_claim(run_files: RunFiles, **values: Any) -> None:
    """Replace the claim, whose sessions are hashes; the guard's work.py has its fields."""
    data = json.dumps(values, sort_keys=True, separators=(",", ":"))
    files.write_own(os.path.join(run_files.folder, "taken"), data.encode())


def _list_declined(run_files: RunFiles, sessions: list[str]) -> list[str]:
    """The sessions that gave the work back, without these."""
    known = guard_module("work").Holder(run_files).declined
    return [item for item in known if isinstance(item, str) and item not in sessions]


def give_to(run_files: RunFiles, owner: str) -> str:
    """Give the work for good to the session that a person names, or to nobody; whose it is now."""
    if owner == NOBODY:
        free(run_files)
        return describe_next(run_files)
    hash = session_hash(owner)
    write_mark(run_files, "OWNER", f"{owner}\n")
    _write_claim(run_files, session=hash, owner=hash, fixed=True, t=int(run_files.now))
    return f"session {owner}"


def take(run_files: RunFiles) -> None:
    """Give the work to the session that the command runs in, until its process is gone."""
    hash = session_hash(run_files.session)
    declined = _list_declined(run_files, [hash])
    write_mark(run_files, "OWNER", f"{run_files.session}\n")
    agent = {"process": run_files.process, "host": run_files.host_name, "declined": declined}
    _write_claim(run_files, session=hash, owner=hash, t=int(run_files.now), **agent)


def free(run_files: RunFiles) -> None:
    """Leave the work to the first session that the guard keeps; earlier claims are dropped."""
    _clear_mark(run_files, "OWNER")
    if guard_module("work").read_claim(run_files):
        _write_claim(run_files)


def give_back(run_files: RunFiles, session: str) -> None:
    """Take the work from its holder; the guard does not give it to that session again."""
    sessions = [session] + [session_hash(run_files.session)] * bool(run_files.session)
    declined = _list_declined(run_files, sessions)
    _clear_mark(run_files, "OWNER")
    _write_claim(run_files, declined=(declined + sessions)[-_MOST_DECLINED:])


def as_data(run_files: RunFiles, work: Work) -> dict[str, Any]:
    """The work that waits, as `--json` shows it."""
    holder, is_held = work.holder, not work.is_free
    owner, seen = work.name or holder.session, max(0.0, run_files.now - work.seen)
    return {
        "project": run_files.project,
        "remaining": work.remaining,
        "owner": (is_held and owner) or None,
        "owner_host": (is_held and str(holder.claim.get("host", ""))) or None,
        "owner_process": (is_held and holder.process.partition(" ")[0]) or None,
        "owner_seen_seconds": seen if is_held and work.seen else None,
        "age_seconds": run_files.now - work.touched,
        "stale": work.is_stale,
    }


def describe_owner(run_files: RunFiles, work: Work) -> str:
    """The owner of the work, in a few words."""
    if work.is_free:
        return describe_next(run_files)
    text = work.owner
    if since := work.holder.claimed_at():
        text += f", since {clock.age(run_files.now - since)}"
    if work.seen:
        text += f", last seen {clock.age(run_files.now - work.seen)} ago"
    return text


def find_kept_owner(run_files: RunFiles) -> str:
    """The owner that another system's task or a setting names, which no command of ours changes."""
    guard_module("work").read_task(run_files)
    return str(run_files.task_owner or run_files.settings.owner.strip())


def describe_next(run_files: RunFiles) -> str:
    """Whose the work is once no owner is named and no session has a claim."""
    if kept := find_kept_owner(run_files):
        return f"session {_show_owner(run_files, kept)}"
    is_first = run_files.settings.claim
    return "the first session that the guard blocks" if is_first else "every session"
