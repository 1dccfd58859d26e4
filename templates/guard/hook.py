"""The guard's runtime hook: `hook.py EVENT --host HOST`, the host's JSON on stdin, at most one JSON object on stdout.

On a stop, in the order of `on_stop`: gates that let the agent go; then the mode's wish (breaker: block while work
remains; keepalive: block until the run ends; guard: never) against its limits; then the nudge, one reminder of a tool
that has to be called. On a tool call, `admit` refuses what is repeated too often. Whatever goes wrong, it lets the
agent go; its exit status is always 0. Python 3.8 or later, standard library only; installed as one file with its
config.json beside it. Half of a call's cost is compiling this file, so it is short, and the rest is imports: the
public json, hashlib and os would double it, so their C parts are used.
"""

import _signal
import fcntl
import posix
import sys
import time

try:
    from _sha256 import sha256  # up to 3.11
except ImportError:
    try:
        from _sha2 import sha256
    except ImportError:
        from hashlib import sha256

KIB = 1024
INPUT_LIMIT = 16 * KIB * KIB
FILE_LIMIT = 64 * KIB  # config.json, task.json, a session's state
TAIL_LIMIT = 256 * KIB
LOG_LIMIT = 256 * KIB
RING_LIMIT = 32
CEILING = 200  # blocks a session since its last human prompt, whatever settings and progress say
LATEST = 2.5e11  # seconds; no time is later
ARMED_CEILING = 5000  # the same while keepalive is armed
DISPATCH_KEYS = 16 * KIB  # whatever dispatch_max_keys says
DISPATCH_LIMIT = 64 * DISPATCH_KEYS  # dispatch.json
WAITS = (0.01, 0.02, 0.03, 0)  # seconds between two looks at a transcript that is being written
SWEEP_AFTER = 30 * 24 * 3600
LONGEST_LOCK_MS = 8_000  # the host ends a hook after 10 s

KNOBS = {
    "mode": "breaker",
    "max_stop_blocks": 5,
    "keepalive_cap": 5000,
    "count": "blocks",
    "chain_reset": "progress",
    "latch": True,
    "honor_stop_hook_active": False,
    "progress": ["heartbeat", "remaining", "action"],
    "action_novelty": True,
    "max_soft_resets": 20,
    "end_foreign_chains": True,
    "owner": "",
    "require_arm": False,
    "child_env": ["HOOKCTL_CHILD"],
    "yield_on_background": True,
    "run_dir": ".hookctl/run",
    "task_file": "",
    "required_tools": [],
    "required_scope_env": "",
    "max_nudges": 1,
    "dispatch_tools": [],
    "dispatch_max": 30,
    "dispatch_window_s": 300,
    "dispatch_scope": "project",
    "dispatch_max_keys": 1024,
    "reason": "",  # of a block; empty: the mode's own words
    "release_reason": "",
    "nudge_reason": "Before you finish, call {tools}. Then stop.",
    "dispatch_reason": "This exact call was already made too many times in a short period. It was not run. "
    "Change the request or finish.",
    "lock_ms": 500,
    "state_dir": "",
}
WORDS = {
    "mode": ("breaker", "keepalive", "guard", "off"),
    "count": ("blocks", "attempts"),
    "chain_reset": ("progress", "fresh"),
    "progress": ("heartbeat", "remaining", "action"),
    "dispatch_scope": ("project", "session"),
}

BLOCK = '{"decision":"block","reason":%s}'
DENY = '{"decision":"deny","reason":%s}'
SAY = '{"systemMessage":%s}'
END = '{"continue":false,"stopReason":%s}'
REFUSE = '{"permissionDecision":"deny","permissionDecisionReason":%s}'
NESTED = '{"hookSpecificOutput":{"hookEventName":"PreToolUse",' + REFUSE[1:] + "}"
FOLLOW = '{"followup_message":%s}'
GO_ON = '{"decision":"continue","reason":%s}'
FORBID = '{"permission":"deny","user_message":%s,"agent_message":%s}'
# host: its block, release, end of a turn and refusal of a tool call ("" where it has none), its project and session
HOSTS = {
    "claude": (BLOCK, SAY, END, NESTED, "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID"),
    "codex": (BLOCK, SAY, END, NESTED, "", "CODEX_SESSION_ID"),
    "gemini": (DENY, SAY, END, DENY, "GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID"),
    "qwen": (BLOCK, SAY, "", NESTED, "QWEN_PROJECT_DIR", "QWEN_CODE_SESSION_ID"),
    "copilot": (BLOCK, "", "", REFUSE, "COPILOT_PROJECT_DIR", ""),
    "openhands": (DENY, "", "", DENY, "OPENHANDS_PROJECT_DIR", "OPENHANDS_SESSION_ID"),
    "cursor": (FOLLOW, "", "", FORBID, "CURSOR_PROJECT_DIR", ""),
    "antigravity": (GO_ON, "", "", DENY, "", ""),
    "droid": (BLOCK, "", "", NESTED, "FACTORY_PROJECT_DIR", ""),
    "hermes": (BLOCK, "", "", BLOCK, "", ""),
    "opencode": (BLOCK, SAY, "", DENY, "OPENCODE_PROJECT_DIR", ""),
}
NO_CAP = float("inf")
# host: the variable with its cap on blocks in a row, and its default; whether a tool call starts its count anew
CAPS = {
    "claude": ("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", 8, True),
    "qwen": ("QWEN_CODE_STOP_HOOK_BLOCK_CAP", 8, False),
    "copilot": ("", 8, False),
}
TAILS = ("claude", "codex", "droid")  # whose transcripts tell tool calls
FLAGLESS = ("antigravity", "cursor", "gemini", "hermes", "openhands")  # Gemini's is false again after a tool call

NEXT = "Continue with the next step. To wait for something, run one command that blocks until it is there; do not poll."
# mode: the words of a block, for the agent, and of a release, for a person
WORK_REMAINS = "Work remains ({remaining}). " + NEXT + " If less remains, run `hookctl run remaining N`."
RUN_GOES_ON = "This run goes on until the person who started it ends it (`hookctl run conclude`). " + NEXT
LET_GO = "hookctl guard: let go {why}; %s. Send a prompt to go on; `hookctl run %s` ends %s."
TEXTS = {
    "breaker": (WORK_REMAINS, LET_GO % ("work remains ({remaining})", "conclude", "the work")),
    "keepalive": (RUN_GOES_ON, LET_GO % ("the run is still armed", "stop", "it")),
}
WHY = {
    "tripped": "after %s without progress",
    "host_cap": "after %s in a row, since the host would override the next one",
    "ceiling": "after %s since the last prompt",
    "lock_timeout": "because another process holds its state",
    "state_error": "because its state cannot be saved",
}
STOP_LOOP = "hookctl guard: ended a turn that another stop hook forces on without progress. Send a prompt to go on."

UNCOUNTED = {"blocks": None, "attempts": None, "progress": None}
COUNTERS = ("blocks", "attempts", "total", "nudges", "soft", "streak", "host", "acts")
SESSION = {
    "blocks": 0,  # since progress
    "attempts": 0,  # stops since progress
    "total": 0,  # blocks since the last human prompt; above CEILING once that was said
    "open": False,  # the latch
    "nudges": 0,  # since the last human prompt
    "terminal": False,  # a required tool was called since then
    "called": False,  # a required tool was called since the last stop
    "asked": False,  # prompts come as events
    "prompt": "",  # the last one that came as an event since the last stop; with a blank, not a human's
    "loops": 0,  # how often the host had gone on for a hook
    "trips": 0,
    "soft": 0,  # soft progress since the last hard one
    "streak": 0,  # stops in a row without progress, whoever forced them
    "host": 0,  # blocks in a row as the host counts them
    "hb": "",
    "rem": -1,
    "tx": 0,  # how far the transcript was read
    "acts": 0,  # tool calls that count
    "acts_seen": -1,  # the same at the last stop; -1 before the first
    "ran": False,  # any tool call since the last stop
    "ledger": False,  # tool calls come as events
    "ring": [],  # the last tool calls
    "turn": "",
    "stop": "",  # the last stop, which of our registrations answered it, and how
    "by": [],
    "said": [],
    "t": 0,
}


class Values:
    """A dict's values under their names."""

    def __init__(self, values):
        self.__dict__.update(values)


class Expired(BaseException):
    """The hook has run too long; no handler of errors may swallow it."""


def expire(*_):
    raise Expired


# --- JSON, files, environment ----------------------------------------------------------------------------------------


def number(digits):
    """An absurdly long number stays text: converting it could take minutes."""
    return int(digits) if len(digits) < 19 else digits


class Dialect:
    strict = True
    object_hook = object_pairs_hook = array_hook = None  # the last: from Python 3.15 on
    parse_float = parse_constant = float
    parse_int = number


try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner

    scan = make_scanner(Dialect)
    pieces = make_encoder(None, None, encode_basestring_ascii, None, ":", ",", True, False, True)

    def dump(value):
        return "".join(pieces(value, 0))

except Exception:  # another interpreter, or a later one that wants more
    import json

    scan = json.JSONDecoder(parse_int=number).scan_once

    def dump(value):
        return json.dumps(value, separators=(",", ":"), sort_keys=True)


def parse(data, errors="strict"):
    """The object that a JSON document holds; ValueError for everything else."""
    text = data.decode("utf-8", errors).lstrip("\ufeff").strip(" \t\r\n")
    try:
        value, end = scan(text, 0)
    except (StopIteration, RecursionError, SystemError):  # SystemError: json's own error class is not loaded
        raise ValueError from None
    if end < len(text) or type(value) is not dict:
        raise ValueError
    return value


def digest(text):
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def env(name):
    return posix.environ.get(name.encode(), b"").decode("utf-8", "surrogateescape")


def true(value):
    return value.strip().lower() in ("1", "true", "yes", "on") if type(value) is str else bool(value)


def first_text(values, *names):
    for name in names:
        if type(values.get(name)) is str and values[name]:
            return values[name]
    return ""


def exists(path):
    try:
        return bool(posix.lstat(path))
    except (OSError, ValueError):
        return False


def open_file(path, flags):
    """Open a regular file, and nothing else: a pipe could hang us, a device feed us without end."""
    fd = posix.open(path, flags | posix.O_NONBLOCK | posix.O_CLOEXEC, 0o600)
    if posix.fstat(fd).st_mode & 0o170000 != 0o100000:
        raise OSError
    return fd


def read_object(path, limit=FILE_LIMIT):
    """The object in a small file; OSError or ValueError where there is none."""
    data = posix.read(open_file(path, posix.O_RDONLY), limit + 1)
    if len(data) > limit:
        raise ValueError
    return parse(data)


def read_line(path):
    try:
        return posix.read(open_file(path, posix.O_RDONLY), 256).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""


def save(path, value):
    """Whether an object lies on disk now, whole."""
    data = dump(value).encode()
    try:
        fd = open_file(path + ".tmp", posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC)
        if posix.write(fd, data) < len(data):
            return False
        posix.rename(path + ".tmp", path)
        return True
    except OSError:
        return False


def make_folder(path):
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except FileNotFoundError:
        make_folder(path.rpartition("/")[0])
        make_folder(path)


# --- knobs -----------------------------------------------------------------------------------------------------------


def from_text(kind, text):
    """What a variable says, in the type of its knob; None if it cannot be read."""
    text = text.strip()
    if kind is int:
        digits = text[text.startswith("-") :]
        return int(text) if digits.isdigit() and digits.isascii() and len(digits) < 19 else None
    if kind is bool:
        return True if true(text) else False if text.lower() in ("0", "false", "no", "off") else None
    return [word.strip() for word in text.split(",")] if kind is list else text


def knob(name, default, config):
    """Environment over config.json over default; what cannot be read is ignored."""
    kind = type(default)
    variable = "MAX_STOP_BLOCKS" if name == "max_stop_blocks" else "HOOKCTL_" + name.upper()
    for value in (from_text(kind, env(variable)), config.get(name)):
        words = value if kind is list else [value]
        filled = words and all(type(word) is not str or word.strip() for word in words)
        if type(value) is kind and filled and all(word in WORDS.get(name, words) for word in words):
            return value
    return default


def leading_number(text, default):
    """The number that a text begins with, digit first, as Claude Code reads its cap ("3abc" is 3, "0x3" 0)."""
    text = text.strip()[:32]
    for end in range(len(text), 0, -1):
        head = text[:end]
        if not head.strip("0123456789+-.eE") and head.lstrip("+-")[:1] != ".":
            try:
                return float(head) if abs(float(head)) < 1e300 else default
            except ValueError:
                pass
    return default


def blocks_in_a_row(host):
    """How many blocks the host takes before it overrides one, and whether a tool call starts its count anew."""
    variable, default, anew = CAPS.get(host, ("", 0, True))
    cap = int(leading_number(env(variable), default))
    if host == "qwen":  # takes 0 for its default, clamps the rest, and overrides the last of them already
        return max(1, min(cap or default, 100)) - 1, anew
    return cap if cap > 0 else NO_CAP, anew


def clock():
    return leading_number(env("HOOKCTL_NOW"), time.time())


# --- the call: what the host sent, where the project and our own files are -------------------------------------------


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


def running_host(host, payload):
    """Who runs this call: Cursor and Copilot run the hooks of Claude Code's settings too."""
    if host != "claude":
        return host
    if "conversation_id" in payload and not {"cursor_version", "generation_id", "loop_count"}.isdisjoint(payload):
        return "cursor"
    if true(env("COPILOT_CLI")) and {"prompt_id", "permission_mode"}.isdisjoint(payload):
        return "copilot"  # the variable alone says little: a Claude Code that was started in its shell has it too
    return host


def event_key(host, session, data, payload):
    """What all registrations of ours are sent for one event, and for no other: the same bytes.

    Copilot spells them as each file spells its events, but all have one time in milliseconds; Cursor has an id for
    each generation, so that its own fields may differ.
    """
    when = payload.get({"copilot": "timestamp", "cursor": "generation_id"}.get(host))
    if type(when) is int:
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(when // 1000)) + f".{when % 1000:03}Z"
    if type(when) is str and when:
        data = dump([session, when, event_call(payload)[1]]).encode()
    return sha256(data).hexdigest()[:16]


def enter(path):
    """Go to a folder; its real path, or "" where there is no way in."""
    try:
        posix.chdir(path)
        return posix.getcwd()
    except (OSError, ValueError):
        return ""


def home_folder():
    if env("HOME").startswith("/"):
        return env("HOME").rstrip("/")
    from pwd import getpwuid

    return getpwuid(posix.getuid()).pw_dir


def default_state_dir(home):
    """The user's state folder, as platformdirs has it."""
    state = env("XDG_STATE_HOME").strip()
    if not state.startswith("/"):
        state = home + ("/Library/Application Support" if sys.platform == "darwin" else "/.local/state")
    return state + "/hookctl"


def find_project(start, home):
    """The nearest folder upwards that has .hookctl or .git; not HOME, nothing above it, nobody else's; else start."""
    folder = start
    while folder and not (home + "/").startswith(folder + "/"):
        if (exists(folder + "/.hookctl") or exists(folder + "/.git")) and posix.stat(folder).st_uid == posix.geteuid():
            return folder
        folder = folder.rpartition("/")[0]
    return start


def read_call(event, host, read=read_input):
    """Everything that this call depends on, except the files that change while the agent works: each name below."""
    now = clock()
    here = enter(".")
    beside = (here + "/" + __file__ if __file__[0] != "/" else __file__).rpartition("/")[0]
    try:
        config = read_object(beside + "/config.json")
    except FileNotFoundError:
        config = {}
    except (OSError, ValueError):
        config = None
    knobs = Values({name: knob(name, default, config or {}) for name, default in KNOBS.items()})
    lock_s = min(max(knobs.lock_ms, 0), LONGEST_LOCK_MS) / 1000
    _signal.signal(_signal.SIGALRM, expire)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGALRM])
    _signal.setitimer(_signal.ITIMER_REAL, lock_s + 0.9)

    data, payload = read()
    readable, payload = payload is not None, payload or {}
    host, extra = running_host(host, payload), payload.get("extra")
    loops = extra.get("attempt") if host == "hermes" and type(extra) is dict else payload.get("loop_count")
    cap, anew_by_call = blocks_in_a_row(host)
    block, release, end, refuse, project_variable, session_variable = HOSTS[host]
    session = first_text(payload, "conversation_id", "session_id", "sessionId", "conversationId", "taskId")
    session = session or env(session_variable)
    key = event_key(host, session, data, payload)
    flag = payload.get("stop_hook_active", payload.get("stopHookActive"))
    active = true(flag)
    transcript = first_text(payload, "transcript_path") if host in TAILS else ""
    subagent = event == "subagent-stop" or payload.get("hook_event_name") == "SubagentStop" or payload.get("agent_id")

    home = home_folder()
    guard = (knobs.state_dir or default_state_dir(home)) + "/guard"
    guard = guard if guard[0] == "/" else here + "/" + guard
    roots = payload.get("workspace_roots", payload.get("workspacePaths"))  # Cursor, Antigravity
    root = roots[0] if type(roots) is list and roots and type(roots[0]) is str else ""
    named = enter(env(project_variable)) or enter(first_text(payload, "cwd", "working_dir") or root)
    project = find_project(named or here, enter(home) or home)
    folder = guard + "/" + digest(project)
    keepalive = knobs.mode == "keepalive"
    ceiling = ARMED_CEILING if keepalive else CEILING
    enter(project)  # relative paths of knobs start here
    return Values(locals())


def read_task(call):
    """The heartbeat as a hash ("": none), and how much work remains (-1: unknown)."""
    try:
        task = read_object(call.knobs.task_file or call.knobs.run_dir + "/task.json")
    except (OSError, ValueError):
        task = {}
    heartbeat, remaining = task.get("heartbeat"), task.get("remaining")
    if type(remaining) is str:
        remaining = from_text(int, remaining)
    return "" if heartbeat is None else digest(dump(heartbeat)), remaining if type(remaining) is int else -1


# --- state, a file a session and one for dispatch --------------------------------------------------------------------


def open_state(call, name, limit=FILE_LIMIT):
    """Path and content of a state file, locked until the process ends; BlockingIOError where it stays held."""
    make_folder(call.folder)
    path = call.folder + "/" + name
    lock = open_file(path + ".lock", posix.O_RDWR | posix.O_CREAT | posix.O_TRUNC)  # the truncation dates it
    end = time.monotonic() + call.lock_s
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() >= end:
                raise
            time.sleep(0.005)
    try:
        return path, read_object(path, limit)
    except FileNotFoundError:
        sweep(call)
    except (OSError, ValueError):
        pass
    return path, {}


def open_session(call, suffix=".json"):
    path, stored = open_state(call, digest(call.session) + suffix)
    usable = {name: value for name, value in stored.items() if type(value) is type(SESSION.get(name))}
    if any(usable.get(name, 0) < 0 for name in COUNTERS):
        usable = {}  # nothing that this hook wrote: it would be a credit of blocks
    return path, Values({**SESSION, "ring": [], "by": [], **usable})


def save_session(path, state, now):
    state.t = int(now)
    del state.ring[:-RING_LIMIT]
    return save(path, vars(state))


def sweep(call):
    """Remove what sessions left behind that nobody has touched for a month."""
    now = min(call.now, time.time())
    for name in posix.listdir(call.folder):
        path = call.folder + "/" + name
        try:
            if name[16:17] == "." and now - posix.lstat(path).st_mtime > SWEEP_AFTER:
                posix.unlink(path)
        except OSError:
            pass  # another hook sweeps too


# --- the transcript --------------------------------------------------------------------------------------------------


def last_words(call):
    """The end of what the agent said, as bytes that stand in the transcript unescaped; empty if there are none."""
    words = first_text(call.payload, "last_assistant_message").strip()[-24:]
    return words.encode() if words.isascii() and words.isprintable() and not set(words) & set('"\\') else b""


def new_prompt(call, state):
    """The id of a prompt that is new to a known session, as bytes: the entry that has it says who prompted."""
    turn = first_text(call.payload, "prompt_id")
    return turn.encode("utf-8", "replace") if state.turn and turn and digest(turn) != state.turn else b""


def read_tail(path, state, words):
    """The entries at the end of the transcript that matter: (since the last stop?, line, entry).

    The host writes it while the hook starts; it is given a moment for `words`: in a chain the last ones, since the tool
    calls of the turn come before them, and else a new prompt's id.
    """
    try:
        fd = open_file(path, posix.O_RDONLY)
    except (OSError, ValueError):
        return []
    for wait in WAITS:
        size = posix.fstat(fd).st_size
        offset = max(0, size - TAIL_LIMIT)
        data = posix.pread(fd, TAIL_LIMIT, offset)
        if words in data[max(0, state.tx - offset) :]:
            break
        time.sleep(wait)
    lines, marks = data.split(b"\n"), (b'"tool_use"', b'"function_call"', b'"custom_tool_call"', b'"user"')
    if size < state.tx:  # another file
        state.tx, state.ring = 0, []
    entries = []
    for line in lines:
        if line[-1:] == b"}" and any(mark in line for mark in marks):
            try:
                entry = parse(line, "replace")
            except ValueError:
                entry = {}  # among others the line that the window cuts
            if entry and not entry.get("isSidechain"):
                entries.append((offset >= state.tx, line, entry))
        offset += len(line) + 1
    try:
        parse(lines[-1], "replace")
        state.tx = size
    except ValueError:  # nothing, or a line of which the rest is still to come
        state.tx = size - len(lines[-1])
    return entries


def tool_calls(entry):
    """Name and arguments of every tool call in a transcript's entry."""
    entry = entry["payload"] if type(entry.get("payload")) is dict else entry  # Codex
    kind, message = entry.get("type", "assistant"), entry.get("message")
    if kind in ("function_call", "custom_tool_call"):
        yield entry.get("name"), entry.get("arguments", entry.get("input"))
    if kind in ("assistant", "message") and type(message) is dict and type(message.get("content")) is list:
        for item in message["content"]:
            if type(item) is dict and item.get("type") == "tool_use":
                yield item.get("name"), item.get("input")


def is_prompt(line, entry):
    """Is this a user's entry? Stop hooks' feedback (isMeta) and tool results are none; Droid marks its own so."""
    user = entry.get("type") == "user" or b'"interactionMode"' in line
    return user and not entry.get("isMeta") and b'"tool_result"' not in line


def last_prompt(entries, turn=""):
    """The user's entry that began a turn, as its line; the last one where none has the turn's id."""
    prompts = [line for _, line, entry in entries if is_prompt(line, entry)]
    named = [line for line in prompts if turn.encode("utf-8", "replace") in line] if turn else []
    return named[0] if named else prompts[-1] if prompts else b""


def is_wake_up(line):
    """Did a background task begin this turn? A prompt that quotes these words has a backslash before the quotes."""
    marks = [b'"task-notification"', b'"task_notification"', b':"<task-notification>', b': "<task-notification>']
    marks += [b':"<system_notification>']  # Copilot, in its prompt event
    return any(mark in line for mark in marks)


# --- what has happened since the last stop ---------------------------------------------------------------------------


def event_call(payload):
    """Name and arguments of the tool call that an event tells of; None for arguments that it does not tell."""
    payload = payload["toolCall"] if type(payload.get("toolCall")) is dict else payload  # Antigravity
    given = [payload[name] for name in ("tool_input", "toolArgs", "tool_args", "args") if name in payload]
    return first_text(payload, "tool_name", "toolName", "name"), given[0] if given else None


def required(call, name):
    """Is this one of the tools that the agent has to call, by itself or behind a server's name?"""
    if name == "exec_command" and "Bash" in call.knobs.required_tools:
        return True  # Codex: the name in its transcript, and the one that its hooks are told
    ends = [end for tool in call.knobs.required_tools for end in (tool, "__" + tool, "." + tool)]
    return type(name) is str and (name in ends[::3] or name.endswith(tuple(ends[1::3] + ends[2::3])))


def required_since_prompt(call, entries):
    called = False
    for _, line, entry in entries:
        if is_prompt(line, entry) and not is_wake_up(line):
            called = False
        called = called or any(required(call, name) for name, _ in tool_calls(entry))
    return called


def count_call(state, name, arguments, novelty):
    """Count a tool call, unless the same one is among the last."""
    call = digest(dump([name, arguments]))
    known = call in state.ring
    state.ring = [other for other in state.ring if other != call] + [call]
    state.acts += not (known and novelty and arguments is not None)


def begin_turn(state, turn, human):
    state.turn, state.streak, state.stop, state.said = turn, 0, "", []
    if human:
        state.blocks = state.attempts = state.total = state.soft = state.nudges = 0
        state.open = state.terminal = False


def see_turn(call, state, turn, line):
    """Begin a new turn where this stop is the first of one; `turn` is empty where the host has no ids for them.

    Some hosts give a block's reason to the agent as a prompt, event and all, or would count it as a turn: what our
    own block has forced on is none, and neither is a prompt before a stop that the host calls forced.
    """
    forced, prompt, state.prompt = state.said[:1] == ["block"], state.prompt, ""
    told = prompt and (prompt[:16] == turn if turn else not call.active)
    if turn and turn != state.turn:
        if forced and call.active:
            state.turn = turn
        else:
            begin_turn(state, turn, not is_wake_up(line))
    elif told:
        begin_turn(state, turn, prompt[16:] == "")
    elif type(call.loops) is int and not (turn or call.active or forced or state.asked):
        begin_turn(state, turn, True)  # a count that has not risen: no hook made the host go on


def observe(call, state, heartbeat, remaining):
    """Bring turn, progress and counters up to this stop; what progress there was: hard, soft or None."""
    knobs = call.knobs
    if type(call.loops) is int:  # Hermes and Cursor count where others have a flag
        call.active, state.loops = call.loops > state.loops, call.loops
    words = last_words(call) if knobs.required_tools or (call.active and state.attempts) else b""
    words = words or new_prompt(call, state)
    entries = read_tail(call.transcript, state, words)
    for name, arguments in [made for new, _, entry in entries if new for made in tool_calls(entry)]:
        state.ran = True
        if not state.ledger:
            count_call(state, name, arguments, knobs.action_novelty)

    turn = first_text(call.payload, "prompt_id", "turn_id", "prompt")
    line = last_prompt(entries, first_text(call.payload, "prompt_id"))
    forced = state.said[:1] == ["block"]  # by our own block: nobody else did
    if not (turn or call.active or state.asked or (forced and call.host == "droid")):  # it writes reasons like prompts
        state.streak, turn = 0 if call.flag is not None else state.streak, line.decode("utf-8", "replace")
    see_turn(call, state, digest(turn) if turn else "", line)
    forced = state.said[:1] == ["block"]
    call.active = call.active or (forced and call.loops is None and call.host in FLAGLESS)
    state.terminal = state.terminal or state.called or required_since_prompt(call, entries)
    state.called = False

    progress, seen = None, state.acts_seen
    moved = "heartbeat" in knobs.progress and heartbeat != state.hb
    fell = "remaining" in knobs.progress and 0 <= remaining < state.rem
    if seen < 0:
        pass  # the first stop: whatever happened before is the baseline
    elif moved or fell:
        progress, state.soft = "hard", 0
    elif "action" in knobs.progress and state.acts > seen:
        state.streak = 0
        if knobs.mode != "breaker" or not 0 < knobs.max_soft_resets <= state.soft:
            progress, state.soft = "soft", state.soft + 1
    if progress:
        state.streak, state.open = 0, False
    if progress or (knobs.chain_reset == "fresh" and not call.active):
        state.blocks = state.attempts = 0

    state.host = state.host + 1 if call.active and not (state.ran and call.anew_by_call) else 0
    state.attempts += 1
    state.streak += not forced
    state.hb, state.rem, state.acts_seen, state.ran = heartbeat, remaining, state.acts, False
    return progress


# --- decisions: (decision, code, blocks to speak of) -----------------------------------------------------------------


def silent_gate(call):
    """Why this call is none of the hook's business, or None."""
    if true(env("HOOKCTL_DISABLE")):
        return "off"
    if not call.readable or not call.session:
        return "no_input"
    if call.config is None:
        return "config_error"
    if call.knobs.mode == "off":
        return "off"
    if any(true(env(name)) for name in call.knobs.child_env):
        return "child"
    if call.subagent:
        return "subagent"
    return None


def armed(call):
    text = read_line(call.folder + "/ACTIVE")
    try:
        return call.now < float(text) < LATEST and text.isascii() and "_" not in text
    except ValueError:
        return False


def gate(call):
    """Why the agent may go whatever remains, or None."""
    owner = read_line(call.knobs.run_dir + "/OWNER") or call.knobs.owner.strip()
    if owner and owner != call.session:
        return "not_owner"
    if (call.keepalive or call.knobs.require_arm) and not armed(call):
        return "inactive"
    if exists(call.knobs.run_dir + "/STOP"):
        return "stop"
    return None


def verdict(call, state, remaining):
    """What the mode wishes, up to its limits."""
    knobs = call.knobs
    if exists(knobs.run_dir + "/CONCLUDE"):
        return "allow", "conclude", 0
    if knobs.mode == "guard":
        return "allow", "allowed", 0
    if remaining <= 0 and not call.keepalive:
        return "allow", "no_work", 0
    if knobs.honor_stop_hook_active and call.active:
        return "allow", "honor_active", 0
    if state.open:
        return "allow", "open", 0
    if state.total > call.ceiling:
        return "allow", "ceiling", 0
    if 0 < (knobs.keepalive_cap if call.keepalive else knobs.max_stop_blocks) <= getattr(state, knobs.count):
        return "release", "tripped", state.blocks
    if call.cap <= state.host:
        return "release", "host_cap", state.host
    if state.total >= call.ceiling:
        return "release", "ceiling", call.ceiling
    return "block", "blocked", state.blocks + 1


def forced_loop(call, state):
    """Do other hooks force this chain on, without progress or up to the stop where the host overrides them?"""
    knobs = call.knobs
    watched = knobs.end_foreign_chains and not (call.keepalive and armed(call))
    idle = 0 < knobs.max_stop_blocks <= state.streak and (call.active or state.streak > 1)
    at_the_cap = call.active and call.cap == state.host and state.said[:1] != ["block"]
    return (watched or knobs.mode == "guard") and (idle or at_the_cap)


def nudge(call, state, code):
    """Has the agent still to be reminded of a tool before it may go?"""
    knobs = call.knobs
    wanted = knobs.required_tools and not state.terminal and state.nudges < knobs.max_nudges
    in_scope = not knobs.required_scope_env or env(knobs.required_scope_env).strip()
    held = state.open or (knobs.honor_stop_hook_active and call.active)
    bounded = call.cap <= state.host or state.total >= call.ceiling
    return code in ("no_work", "conclude", "allowed") and wanted and in_scope and not held and not bounded


def settle(call, state, decision, code):
    """What the decision itself changes."""
    if decision == "block":
        state.total += 1
        state.nudges += code == "nudged"
        state.blocks += code != "nudged"
    elif decision != "allow":
        state.streak = 0
        state.trips += 1
    if decision == "end" and call.end:
        state.host = 0  # the turn is over
    if decision == "release":
        state.blocks = state.attempts = 0
        state.open = call.knobs.latch and code != "ceiling"
        state.total = call.ceiling + 1 if code == "ceiling" else state.total


def on_stop(call):
    """The decision on a stop, and its line in the log (None: another registration wrote it)."""
    code = silent_gate(call)
    if code:
        return "allow", code, 0, -1, dict(UNCOUNTED)
    code, concluded = gate(call), exists(call.knobs.run_dir + "/CONCLUDE")
    waits = [call.payload.get(name) for name in ("background_tasks", "session_crons", "crons")]
    waiting = any(type(wait) is list and wait for wait in waits) or call.payload.get("fullyIdle") is False
    if call.knobs.yield_on_background and not concluded and waiting:
        return "allow", code or "background", 0, -1, dict(UNCOUNTED)
    if call.host == "cursor" and call.payload.get("status") in ("aborted", "error"):  # a person's wish, or no use
        return "allow", code or "allowed", 0, -1, dict(UNCOUNTED)
    heartbeat, remaining = read_task(call)
    wished = call.keepalive or (call.knobs.mode == "breaker" and remaining > 0)
    lost = "release" if wished and not code and not concluded else "allow"
    try:
        path, state = open_session(call)
    except BlockingIOError:
        return lost, "lock_timeout", 0, remaining, dict(UNCOUNTED)

    line = None
    if state.stop != call.key or digest(call.beside) in state.by:
        progress = observe(call, state, heartbeat, remaining)
        decision, code, blocks = ("allow", code, 0) if code else verdict(call, state, remaining)
        if decision == "allow" and forced_loop(call, state):
            decision, code = "end", "stop_loop"
        if decision == "allow" and nudge(call, state, code):
            decision, code = "block", "nudged"
        line = {"blocks": blocks or state.blocks, "attempts": state.attempts, "progress": progress}
        settle(call, state, decision, code)
        state.stop, state.by, state.said = call.key, [], [decision, code, blocks, remaining]
    decision, code, blocks, remaining = state.said
    state.by.append(digest(call.beside))
    if not save_session(path, state, call.now) and decision == "block":
        decision, code = "allow" if code == "nudged" else "release", "state_error"
    return decision, code, blocks, remaining, line


def leave_breadcrumb(call, code):
    """RESPAWN_REQUESTED, for a supervisor: a chain is being forced on, and does not end of its own will."""
    if not call.keepalive or code in ("no_input", "config_error", "off", "child", "subagent", "not_owner", "inactive"):
        return
    path = call.folder + "/RESPAWN_REQUESTED"
    try:
        if code == "blocked" and call.active:
            fd = open_file(path, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC)
            posix.write(fd, (str(int(call.now)) + " " + digest(call.session) + "\n").encode())
        elif code in ("stop", "conclude", "nudged") or not call.active:
            posix.unlink(path)
    except OSError:
        pass


def on_prompt(call):
    """Remember a prompt until the next stop, which shows whether it began a turn; one with an id begins it now."""
    text = first_text(call.payload, "prompt", "message")
    turn = first_text(call.payload, "prompt_id", "turn_id")
    if silent_gate(call) or not (text or turn):
        return
    path, state = open_session(call)
    human = not is_wake_up(dump({"prompt": text}).encode())
    if state.said[:1] == ["block"] and wording(call, *state.said) in text:
        pass  # what we said ourselves
    elif not turn:
        state.prompt = digest(text) + " " * (not human)
    elif call.host != "qwen" or digest(turn) != state.turn:  # which tells of a prompt after each tool call
        begin_turn(state, digest(turn), human)
    state.asked = True
    save_session(path, state, call.now)


def on_tool(call):
    if not silent_gate(call):
        path, state = open_session(call)
        turn = first_text(call.payload, "prompt_id", "turn_id")
        if turn and digest(turn) != state.turn:
            entries = read_tail(call.transcript, Values(vars(state)), b"")
            begin_turn(state, digest(turn), not is_wake_up(last_prompt(entries, turn)))
        name, arguments = event_call(call.payload)
        count_call(state, name, arguments, call.knobs.action_novelty)
        if required(call, name):
            state.terminal = state.called = True
        state.ran = state.ledger = True
        save_session(path, state, call.now)


# --- dispatch --------------------------------------------------------------------------------------------------------


def is_open(window, call):
    return 0 <= call.now - window[0] < call.knobs.dispatch_window_s


def windows_of(stored):
    """The windows on file: the hash of a call, and its start and count."""
    found = stored.get("w") if type(stored.get("w")) is dict else {}
    kinds = (int, int), (float, int)
    return {key: one for key, one in found.items() if type(one) is list and tuple(map(type, one)) in kinds}


def make_room(windows, key, call):
    """Without windows that are too many: those that are over go first, then the oldest."""
    room = min(max(call.knobs.dispatch_max_keys, 1), DISPATCH_KEYS) - 1
    others = [name for name in windows if name != key]
    if len(others) > room:
        others = sorted((is_open(windows[name], call), windows[name][0], name) for name in others)[len(others) - room :]
        others = [name for _, _, name in others if is_open(windows[name], call)]
    return {name: windows[name] for name in [*others, key]}


def admit(call, key):
    """Whether a tool call may run: at most dispatch_max identical ones in a window that begins with the first.

    A call that several registrations ask about is counted once, as a stop is.
    """
    own = digest(call.session) + ".calls" if call.knobs.dispatch_scope == "session" else ""
    path, stored = open_state(call, own or "dispatch.json", DISPATCH_LIMIT)
    call.now = clock()  # whoever had the lock before may have begun a window since we started
    windows = windows_of(stored)
    start, count = windows.get(key, (call.now, 0))
    start, count = (start, count) if is_open((start,), call) else (call.now, 0)
    asked = stored.get("asked") if type(stored.get("asked")) is list else []
    asked = [one for one in asked if type(one) is str]
    mine, others = call.key + digest(call.beside), [one for one in asked if one[:16] != call.key]
    if mine in asked or others == asked:
        count, asked = count + 1, others
    windows = make_room({**windows, key: [start, count]}, key, call)
    refused = count > call.knobs.dispatch_max
    trips = stored["trips"] if type(stored.get("trips")) is int else 0
    state = {"w": windows, "trips": trips + refused, "asked": [*asked, mine][-RING_LIMIT:]}
    return not (save(path, state) and refused)


def on_dispatch(call):
    """Refuse a listed tool's call that was made too often; everything else is none of our business."""
    knobs = call.knobs
    name, arguments = event_call(call.payload)
    listed = name and (name in knobs.dispatch_tools or "*" in knobs.dispatch_tools)
    counted = listed and arguments is not None and knobs.dispatch_max > 0 and knobs.dispatch_window_s > 0
    known = call.readable and call.config is not None and (call.session or knobs.dispatch_scope == "project")
    asked = counted and known and call.refuse and not true(env("HOOKCTL_DISABLE"))
    if asked and not admit(call, digest(dump([name, arguments]))):
        posix.write(1, call.refuse.replace("%s", dump(knobs.dispatch_reason)).encode())
        log(call, "refuse", "dispatch_refused", dict(UNCOUNTED))


# --- answer and log --------------------------------------------------------------------------------------------------


def wording(call, decision, code, blocks, remaining):
    """What is said of a decision, for the agent or for a person."""
    knobs, (text, release) = call.knobs, TEXTS.get(call.knobs.mode, TEXTS["breaker"])
    if decision == "block":
        text = knobs.nudge_reason if code == "nudged" else knobs.reason or text
    elif decision == "release":
        text = knobs.release_reason or release
        text = text.replace("{why}", WHY[code].replace("%s", "1 block" if blocks == 1 else str(blocks) + " blocks"))
    else:
        text = STOP_LOOP
    text = text.replace("{remaining}", str(remaining) if remaining >= 0 else "unknown")
    return text.replace("{tools}", ", ".join(knobs.required_tools))


def answer(call, decision, *rest):
    """Say it in the host's own form; to allow is to say nothing."""
    form = {"block": call.block, "release": call.release, "end": call.end}.get(decision)
    if form:
        posix.write(1, (form % dump(wording(call, decision, *rest))).encode())


def log(call, decision, code, line):
    """One line a stop in events.jsonl: numbers and hashes only."""
    line.update(t=int(call.now), host=call.host, event=call.event, decision=decision, code=code)
    line["session"] = digest(call.session) if call.session else None
    folder, data = call.folder if call.named else call.guard, (dump(line) + "\n").encode()
    path = folder + "/events.jsonl"
    make_folder(folder)
    if exists(path) and posix.lstat(path).st_size + len(data) > LOG_LIMIT:
        posix.rename(path, path + ".1")
    posix.write(open_file(path, posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT), data)


def main(event, flag, host):
    if flag != "--host" or host not in HOSTS:
        return
    if event not in ("stop", "subagent-stop", "prompt", "pre-tool", "post-tool"):
        return
    call = read_call(event, host)
    if event == "prompt":
        on_prompt(call)
    elif event == "pre-tool":
        on_dispatch(call)
    elif event == "post-tool":
        on_tool(call)
    else:
        try:
            decision, code, blocks, remaining, line = on_stop(call)
        except (Exception, Expired):
            decision, code, blocks, remaining, line = "allow", "state_error", 0, -1, dict(UNCOUNTED)
        if line:
            leave_breadcrumb(call, code)
        answer(call, decision, code, blocks, remaining)
        if line:
            log(call, decision, code, line)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except BaseException as error:
        if env("HOOKCTL_DEBUG") == "1":
            posix.write(2, ("hookctl guard: " + repr(error) + "\n").encode("utf-8", "replace"))
    posix._exit(0)
