"""One call of the hook: what the host sent, the settings, the session and the folders."""

import _signal
import posix
import sys
import time

from .confined import confine, project_of
from .dialects import USUAL, find_host
from .files import KIB, enter, env, is_out_of_reach, read_object
from .project import (
    default_state_dir,
    find_project,
    find_task,
    home_folder,
    is_foreign_home,
    is_foreign_project,
)
from .settings import Settings
from .tools import event_call
from .values import digest, digest_bytes, dump, first_text, is_true, leading_number, parse

INPUT_LIMIT = 16 * KIB * KIB
CEILING = 200  # blocks since the last human prompt, whatever settings and progress say
ARMED_CEILING = 5000  # the same in keepalive
LONGEST_LOCK_MS = 8_000  # the host ends a hook after 10 s
LOCKED = "locked"  # stands for every project: none may move the state of a locked guard
NOWHERE = "/dev/null"  # a folder that nothing is in
SPARE_S = 0.9  # seconds for everything but the wait for a lock


class Expired(BaseException):
    """The hook has run too long; `except Exception` must not catch it."""


def expire(*_):
    raise Expired


class Call:
    """The values that the policies read; each function below sets some of them."""

    def __init__(self, event):
        self.event = event
        self.start_folder = enter(".")
        self.process = None  # not looked at yet
        self.task_owner = ""  # the task may name one
        self.failure = None  # why the state cannot be saved


def read_call(event, host, read_input):
    """Read one call; its `host` is None if config.json is broken or lacks the host."""
    call = Call(event)
    read_settings(call)
    start_timer(call.lock_s + SPARE_S)
    data, payload = read_input()
    call.readable, call.payload = payload is not None, payload or {}
    call.host = find_host(call.table, host, call.payload)
    call.host_name = call.host.name if call.host else host
    read_session(call, data)
    find_folders(call)
    return call


def read_clock(locked=False):
    """The time in seconds; HOOKCTL_NOW sets it, for tests."""
    return time.time() if locked else leading_number(env("HOOKCTL_NOW"), time.time())


def read_settings(call):
    """Read settings and host table from config.json beside the launcher."""
    call.beside = launchers_folder(call.start_folder)
    config = read_config(call.beside)
    call.table = None if config is None else config.get("hosts", USUAL)
    call.config = config or {}
    call.locked = is_locked(config, call.beside)
    call.now = read_clock(call.locked)
    call.settings = Settings(call.config, call.locked)
    call.lock_s = min(max(call.settings.lock_ms, 0), LONGEST_LOCK_MS) / 1000
    call.keepalive = call.settings.mode == "keepalive"
    call.ceiling = ARMED_CEILING if call.keepalive else CEILING
    call.limit = call.settings.max_stop_blocks
    if call.keepalive:
        call.limit = call.settings.keepalive_cap


def launchers_folder(start_folder):
    """The folder of the launcher that started this package, absolute."""
    launcher = sys.modules[__package__].__file__
    if launcher[:1] != "/":
        launcher = start_folder + "/" + launcher
    return launcher.rpartition("/")[0]


def read_config(folder):
    """The object in config.json: empty if there is no file, None if it is unreadable."""
    try:
        return read_object(folder + "/config.json")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None


def is_locked(config, folder):
    """Does config.json lock the guard, and may its caller not change that?"""
    if not config or config.get("locked") is not True:
        return False
    return is_out_of_reach(folder + "/config.json")


def start_timer(seconds):
    """Raise Expired after some seconds."""
    _signal.signal(_signal.SIGALRM, expire)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGALRM])
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def read_input():
    """The bytes on stdin, and the object in them or None."""
    data = bytearray()
    try:
        while len(data) <= INPUT_LIMIT:
            piece = posix.read(0, INPUT_LIMIT + 1 - len(data))
            data += piece
            if not piece:
                return data, parse(data, "replace")
    except (OSError, ValueError, Expired):
        pass
    return data, None


def read_session(call, data):
    """Read the session, and what the host says about this stop."""
    payload, host = call.payload, call.host
    session = first_text(
        payload, "conversation_id", "session_id", "sessionId", "conversationId", "taskId"
    )
    call.session = session or env(host.session_variable if host else "")
    call.key = event_key(host, call.session, data, payload)
    call.flag = payload.get("stop_hook_active", payload.get("stopHookActive"))
    call.active = is_true(call.flag)  # does a hook force this stop's chain on?
    call.loops = read_attempts(payload, host.attempts if host else [])
    call.transcript = first_text(payload, "transcript_path") if host and host.has_transcript else ""
    call.agent = first_text(payload, "agent_id", "agentId")  # of a subagent
    stopped = payload.get("hook_event_name") == "SubagentStop" or call.agent
    call.subagent = call.event == "subagent-stop" or bool(stopped)


def event_key(host, session, data, payload):
    """A hash that all our registrations get for one event, and for no other event.

    Most hosts send them the same bytes. Copilot's differ in spelling but share a time in
    milliseconds; Cursor's fields may differ but share an id for each generation.
    """
    when = payload.get(host.same_event) if host else None
    if type(when) is int:
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(when // 1000)) + f".{when % 1000:03}Z"
    if type(when) is str and when:
        data = dump([session, when, event_call(payload)[1]]).encode()
    return digest_bytes(data)


def read_attempts(payload, names):
    """How often hooks have made the host go on, if it counts that; else None."""
    value = payload if names else None
    for name in names:
        value = value.get(name) if type(value) is dict else None
    return value


def find_folders(call):
    """Find the project and its state folder; enter the project, where relative paths start."""
    payload, home = call.payload, home_folder()
    roots = payload.get("workspace_roots", payload.get("workspacePaths"))  # Cursor, Antigravity
    root = roots[0] if type(roots) is list and roots and type(roots[0]) is str else ""
    from_variable = enter(env(call.host.project_variable)) if call.host else ""
    call.named = from_variable or enter(first_text(payload, "cwd", "working_dir") or root)
    call.project = find_project(call.named or call.start_folder, enter(home) or home)
    confine_settings(call)
    guard = (call.settings.state_dir or default_state_dir(home, call.locked)) + "/guard"
    call.guard = guard if guard[0] == "/" else call.start_folder + "/" + guard
    if is_foreign_home(call.guard):  # what root made there, its owner could not use
        raise PermissionError
    call.project_folder = call.guard + "/" + digest(call.project)
    call.folder = call.guard + "/" + digest(LOCKED) if call.locked else call.project_folder
    if is_foreign_project(call.project):
        call.settings.run_dir = NOWHERE
        call.settings.task_file = call.settings.task_env = ""
    enter(call.project)
    call.task_path, call.task_names = find_task(call.settings)


def confine_settings(call):
    """Keep a configuration that a project brought, and the call that it rules, in that project."""
    project = project_of(call.beside)
    brought_by = enter(project) if project else ""
    if not brought_by:
        return
    if not (call.project + "/").startswith(brought_by.rstrip("/") + "/"):
        call.project = brought_by
    call.settings = Settings(confine(call.config, call.project, env), call.locked)
