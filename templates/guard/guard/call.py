"""One call of the hook: `hook.py EVENT --host HOST [--config NAME]`, JSON on stdin.

It prints at most one object.
What the host sent, the settings, the session and the folders. Any failure lets the agent stop; the
exit status is always 0.
"""

import _signal
import posix
import sys
import time

from .files import (
    KIB,
    digest,
    digest_bytes,
    dump,
    enter,
    env,
    exists,
    find_project,
    first_text,
    is_foreign_project,
    is_out_of_reach,
    is_true,
    leading_number,
    parse,
    read_file,
    read_object,
)
from .hosts import USUAL, describe_failure, find_host
from .settings import Settings, confine, project_of
from .state import UNCOUNTED, log
from .work import find_task

INPUT_LIMIT = 16 * KIB * KIB
LINE_LIMIT = 64 * KIB  # of a transcript's first line
LONGEST_LOCK_MS = 8_000  # the host ends a hook after 10 s
LOCKED = "locked"  # stands for every project: none may move the state of a locked guard
NOWHERE = "/dev/null"  # stands for an empty folder
SPARE_S = 0.9  # seconds for everything but the wait for a lock


def prepare(words):
    """The function that answers a call; all its modules are loaded before anything is read.

    `words` are those behind the launcher: of an event, or `run` or `wrap` and what belongs to that.
    """
    if words[:1] == ["run"]:
        from .runner import prepare as prepare_run

        return prepare_run(words[1:])
    if words[:1] == ["wrap"]:
        from .wrapped import prepare as prepare_wrap

        return prepare_wrap(words[1:])
    registration = read_words(words)
    handler = find_handler(words[0])

    def run():
        call = Call(*registration)
        try:
            if handler:
                handler(call)
        except BaseException as error:
            report_error(error)
            log_failure(call, error)
        posix._exit(0)

    return run


def read_words(words):
    """Event, host, and the configuration's file from EVENT --host HOST [--config NAME]."""
    options = dict(zip(words[1::2], words[2::2]))  # noqa: B905 - Python 3.8
    host = options["--host"]
    return words[0], host, "guard/" + options.get("--config", host) + ".json"


def find_handler(event):
    """The function for an event; None for an unknown event."""
    if event in ("stop", "subagent-stop"):
        from .stop import on_stop

        return on_stop
    if event == "pre-tool":
        from .dispatch import on_dispatch

        return on_dispatch
    if event in ("prompt", "post-tool", "session-start"):
        from . import events

        return events.HANDLERS[event]
    return None


def report_error(error):
    """Write an error to stderr if HOOKCTL_DEBUG is set."""
    if env("HOOKCTL_DEBUG") == "1":
        posix.write(2, ("hookctl guard: " + repr(error) + "\n").encode("utf-8", "replace"))


def log_failure(call, error):
    """Log that a call was let go, since something failed before it was answered."""
    try:
        if call.answered:
            return
        if not call.folder:
            find_folders(call)
        if type(error) is BlockingIOError:
            log(call, "allow", "lock_timeout", UNCOUNTED)
            return
        call.failure = error
        log(call, "allow", "state_error", dict(UNCOUNTED, **describe_failure(call)))
    except Exception as error:
        report_error(error)


class Expired(BaseException):
    """The hook has run too long; `except Exception` must not catch it."""

    strerror = "its time was up"


def expire(*_):
    raise Expired


class Call:
    """The values that the policies read; each function below sets some of them."""

    def __init__(self, event, host="", file=""):
        self.event, self.file = event, file
        self.registered = self.host_name = host  # another host may run this registration
        self.host, self.payload, self.session, self.folder = None, {}, "", ""
        self.start_folder = enter(".")
        self.process = None  # not looked at yet
        self.task_owner = ""  # the task may name one
        self.failure = None  # why the state cannot be saved
        self.answered = False


def read_call(call, read_input):
    """Read one call; its `host` is None if the configuration is broken or lacks the host."""
    read_settings(call)
    start_timer(call.lock_s + SPARE_S)
    data, payload = read_input()
    call.readable, call.payload = payload is not None, payload or {}
    call.host = find_host(call.table, call.registered, call.payload)
    call.host_name = call.host.name if call.host else call.registered
    read_session(call, data)
    find_folders(call)
    return call


def read_own_call(call):
    """Read the call on stdin; ends where another host makes it and has the guard itself.

    Its own registration lies beside this one, under its name, and answers by its own settings.
    """
    read_call(call, read_input)
    folder, _, name = call.config_path.rpartition("/")
    own = folder + "/" + call.host_name + name[len(call.registered) :]
    if call.host_name != call.registered and (read_config(own) or {}).get("hosts"):
        posix._exit(0)


def read_clock(locked=False):
    """The time in seconds; HOOKCTL_NOW sets it, for tests."""
    return time.time() if locked else leading_number(env("HOOKCTL_NOW"), time.time())


def read_settings(call):
    """Read settings and host table from the file of this registration."""
    call.top = launchers_folder(call.start_folder)
    call.config_path = call.top + "/" + call.file
    config = read_config(call.config_path)
    call.table = None if config is None else config.get("hosts", USUAL)
    call.config = config or {}
    call.locked = is_locked(config, call.config_path)
    call.now = read_clock(call.locked)
    call.settings = Settings(call.config, call.locked)
    call.lock_s = min(max(call.settings.lock_ms, 0), LONGEST_LOCK_MS) / 1000
    call.keepalive = call.settings.mode == "keepalive"
    call.ceiling = call.settings.ceiling
    call.limit = call.settings.max_stop_blocks
    if call.keepalive:
        call.limit = call.settings.keepalive_cap


def launchers_folder(start_folder):
    """The folder of the launcher that started this, absolute."""
    launcher = sys.modules[__package__].__file__
    if launcher[:1] != "/":
        launcher = start_folder + "/" + launcher
    return launcher.rpartition("/")[0]


def read_config(path):
    """The object in a configuration: empty if there is no file, None if it is unreadable."""
    try:
        return read_object(path)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None


def is_locked(config, path):
    """Does a configuration lock the guard, and may its caller not change that?"""
    if not config or config.get("locked") is not True:
        return False
    return is_out_of_reach(path)


def start_timer(seconds):
    """Raise Expired after some seconds; with 0 no more."""
    _signal.signal(_signal.SIGALRM, expire)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGALRM])
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def read_input(parse=parse):
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
    call.loops = look_up(payload, host.attempts if host else [])
    call.transcript = first_text(payload, "transcript_path") if host and host.has_transcript else ""
    call.agent = first_text(payload, "agent_id", "agentId")  # of a subagent
    end = host.turn_end if host else []
    call.ends_turn = look_up(payload, end[:-1]) in (None, *end[-1:])
    stopped = payload.get("hook_event_name") == "SubagentStop" or call.agent
    call.subagent = call.event == "subagent-stop" or bool(stopped) or is_called(call)


def read_turn(payload):
    """The host's id of this turn, or ''."""
    return first_text(payload, "prompt_id", "turn_id", "promptId")


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


def is_called(call):
    """Does the host say that this session is a subagent's?"""
    payload, host = call.payload, call.host
    if host is None:
        return False
    if host.subagent and look_up(payload, host.subagent[:-1]) == host.subagent[-1]:
        return True
    if not host.called_by:
        return False
    return any(payload.get(name) for name in host.called_by) or begins_with(
        call.transcript, host.called_by
    )


def begins_with(transcript, names):
    """Has the first line of a transcript one of these fields?"""
    try:
        line = read_file(transcript, LINE_LIMIT).partition(b"\n")[0]
        return any(name in parse(line, "replace") for name in names)
    except (OSError, ValueError):
        return False


def look_up(payload, names):
    """What stands at a path in the payload; None for no path, or where nothing stands."""
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
    """Keep a project's own configuration, and the call under it, inside that project."""
    project = project_of(call.top)
    brought_by = enter(project) if project else ""
    if not brought_by:
        return
    if not (call.project + "/").startswith(brought_by.rstrip("/") + "/"):
        call.project = brought_by
    call.settings = Settings(confine(call.config, call.project, env), call.locked)


def event_call(payload):
    """Name and arguments of the tool call in an event; None if it has no arguments."""
    if type(payload.get("toolCall")) is dict:  # Antigravity
        payload = payload["toolCall"]
    name = first_text(payload, "tool_name", "toolName", "name")
    for field in ("tool_input", "toolArgs", "tool_args", "args"):
        if field in payload:
            return name, payload[field]
    return name, None


def home_folder():
    """The user's home folder."""
    if env("HOME").startswith("/"):
        return env("HOME").rstrip("/")
    home = registered_home()
    if not home:
        raise KeyError
    return home


def registered_home():
    """The user's home folder as the user database has it; empty if it has none."""
    from pwd import getpwuid

    try:
        return getpwuid(posix.getuid()).pw_dir
    except KeyError:
        return ""


def default_state_dir(home, locked=False):
    """The user's state folder, the same as platformdirs gives; locked, no variable moves it."""
    state = env("XDG_STATE_HOME").strip()
    if locked:
        state, home = "", registered_home() or home
    if not state.startswith("/"):
        is_mac = sys.platform == "darwin"
        state = home + ("/Library/Application Support" if is_mac else "/.local/state")
    return state + "/hookctl"


def is_foreign_home(path):
    """Is the caller root, and the folder that a path lies in another user's?"""
    if posix.geteuid() != 0:
        return False
    while path and not exists(path):
        path = path.rpartition("/")[0]
    try:
        return posix.stat(path or "/").st_uid != 0
    except OSError:  # a link that leads nowhere
        return posix.lstat(path).st_uid != 0


def is_disabled(locked):
    """Does HOOKCTL_DISABLE switch the guard off? Never if it is locked."""
    return not locked and is_true(env("HOOKCTL_DISABLE"))


def reason_to_skip(call):
    """Why no part of the hook can use this call, or None."""
    if is_disabled(call.locked):
        return "off"
    if not call.readable or not call.session:
        return "no_input"
    return "config_error" if call.host is None else None


def reason_to_ignore(call):
    """Why the hook ignores this call, or None."""
    code = reason_to_skip(call)
    if code:
        return code
    if call.settings.mode == "off":
        return "off"
    if not call.locked and any(is_true(env(name)) for name in call.settings.child_env):
        return "child"
    if call.subagent:
        return "subagent"
    return None
