"""The guard's runtime hook: `hook.py EVENT --host HOST`, the host's JSON on stdin, at most one JSON object on stdout.

It blocks a stop while work remains, and lets go after MAX_STOP_BLOCKS blocks without progress. Whatever goes wrong, it
lets the agent go; its exit status is always 0. Python 3.8 or later, standard library only; installed as one file with
its config.json beside it. The public json, hashlib and os would double the cost of a call, so their C parts are used.
"""

import _signal
import fcntl
import posix
import sys
import time

try:
    from _sha256 import sha256
except ImportError:
    try:
        from _sha2 import sha256
    except ImportError:
        from hashlib import sha256

KIB = 1024
INPUT_LIMIT = 16 * KIB * KIB
FILE_LIMIT = 64 * KIB  # config.json, task.json, session files
OWNER_LIMIT = 256
TAIL_LIMIT = 256 * KIB
LOG_LIMIT = 256 * KIB
RING_LIMIT = 32
CEILING = 200  # blocks a session since its last human prompt, whatever the settings and the progress
LONGEST_LOCK_MS = 60_000
SWEEP_AFTER = 30 * 24 * 3600  # seconds

# knob: (kind, default). A kind is a type; a tuple of words, one of which is meant; or a list: of these words, or of any.
KNOBS = {
    "mode": (("breaker", "off"), "breaker"),
    "max_stop_blocks": (int, 5),
    "count": (("blocks", "attempts"), "blocks"),
    "chain_reset": (("progress", "fresh"), "progress"),
    "latch": (bool, True),
    "honor_stop_hook_active": (bool, False),
    "progress": (["heartbeat", "remaining", "action"], ["heartbeat", "remaining", "action"]),
    "action_novelty": (bool, True),
    "max_soft_resets": (int, 20),
    "end_foreign_chains": (bool, True),
    "owner": (str, ""),
    "require_arm": (bool, False),
    "child_env": ([], ["HOOKCTL_CHILD"]),
    "yield_on_background": (bool, True),
    "run_dir": (str, ".hookctl/run"),
    "task_file": (str, ""),
    "reason": (str, "Work remains ({remaining}). Continue with the next step."),
    "lock_ms": (int, 500),
    "state_dir": (str, ""),
}

BLOCK = '{"decision":"block","reason":%s}'
DENY = '{"decision":"deny","reason":%s}'
SAY = '{"systemMessage":%s}'
END = '{"continue":false,"stopReason":%s}'

# host: block, release, end (None: the host has no such answer), its project variable, its session variable
HOSTS = {
    "claude": (BLOCK, SAY, END, "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID"),
    "codex": (BLOCK, SAY, END, None, "CODEX_SESSION_ID"),
    "gemini": (DENY, SAY, END, "GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID"),
    "qwen": (BLOCK, SAY, None, "QWEN_PROJECT_DIR", "QWEN_CODE_SESSION_ID"),
    "copilot": (BLOCK, None, None, "COPILOT_PROJECT_DIR", None),
    "openhands": (DENY, None, None, "OPENHANDS_PROJECT_DIR", "OPENHANDS_SESSION_ID"),
    "cursor": ('{"followup_message":%s}', None, None, None, None),
    "antigravity": (DENY, None, None, None, None),
    "droid": (BLOCK, None, None, "FACTORY_PROJECT_DIR", None),
    "hermes": (BLOCK, None, None, None, None),
}

# host: the variable that holds its cap on blocks in a row, and its default
CAPS = {"claude": ("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", 8)}

NEXT = "Send a prompt to go on; `hookctl run conclude` ends the work."
MESSAGES = {
    "tripped": "hookctl guard: let go after {n} without progress; work remains ({remaining}). " + NEXT,
    "host_cap": "hookctl guard: let go after {n} in a row, before the host overrides one; work remains ({remaining}). "
    + NEXT,
    "ceiling": "hookctl guard: let go after {n} since the last prompt; work remains ({remaining}). " + NEXT,
    "lock_timeout": "hookctl guard: let go because another process holds its state; work remains ({remaining}). "
    + NEXT,
    "state_error": "hookctl guard: let go because its state cannot be saved; work remains ({remaining}). "
    "`hookctl doctor` says why.",
    "stop_loop": "hookctl guard: ended the turn, since another stop hook forces it on without progress. "
    "Send a prompt to go on.",
}

NEW_SESSION = {
    "v": 1,
    "blocks": 0,  # given since progress
    "attempts": 0,  # stops since progress
    "total": 0,  # blocks since the last human prompt; above CEILING once that was said
    "open": False,  # the latch
    "trips": 0,
    "soft": 0,  # soft progress used up since the last hard one
    "streak": 0,  # stops without progress, whoever forced them
    "host": 0,  # blocks in a row as the host counts them
    "hb": None,
    "rem": None,
    "tx": 0,  # how far the transcript has been read
    "acts": 0,  # tool calls that count
    "acts_seen": None,  # the same at the last stop; None before the first
    "ran": False,  # any tool call since the last stop
    "ledger": False,  # post-tool events come
    "ring": [],  # the last tool calls
    "turn": None,
    "last": None,  # the last stop, for other registrations of it
    "t": 0,
}


class Expired(BaseException):
    """The hook has run too long; no handler of ordinary errors may swallow it."""


def expire(*_):
    raise Expired


# --- small readers ---------------------------------------------------------------------------------------------------


def number(text):
    """A JSON integer; an absurdly long one stays text, since converting it could take minutes."""
    return int(text) if len(text) < 19 else text


class Dialect:
    strict = True
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float
    parse_int = number


try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner

    scan = make_scanner(Dialect)
    chunks = make_encoder(None, None, encode_basestring_ascii, None, ":", ",", True, False, True)

    def dump(value):
        return "".join(chunks(value, 0))

except ImportError:
    import json

    scan = json.JSONDecoder(parse_int=number).scan_once

    def dump(value):
        return json.dumps(value, separators=(",", ":"), sort_keys=True)


def parse(data, errors="strict"):
    """The value of a JSON document; ValueError for everything else."""
    text = data.decode("utf-8", errors).lstrip("\ufeff").strip(" \t\r\n")
    try:
        value, end = scan(text, 0)
    except (StopIteration, RecursionError):
        raise ValueError("not JSON") from None
    if end != len(text):
        raise ValueError("text after the JSON document")
    return value


def digest(text):
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def env(name):
    return posix.environ.get(name.encode(), b"").decode("utf-8", "surrogateescape")


def truth(value):
    return value.strip().lower() in ("1", "true", "yes", "on") if isinstance(value, str) else bool(value)


def join(folder, path):
    return path if path.startswith("/") else folder + "/" + path


def exists(path):
    try:
        posix.lstat(path)
    except (OSError, ValueError):
        return False
    return True


def open_regular(path, flags):
    """A file descriptor of a regular file: a pipe or a device must neither hang us nor feed us without end."""
    fd = posix.open(path, flags | posix.O_NONBLOCK | posix.O_CLOEXEC, 0o600)
    if posix.fstat(fd).st_mode & 0o170000 != 0o100000:
        posix.close(fd)
        raise OSError("not a regular file")
    return fd


def read_file(path, limit):
    fd = open_regular(path, posix.O_RDONLY)
    try:
        return posix.read(fd, limit)
    finally:
        posix.close(fd)


def read_object(path):
    """A JSON object from a file of ours or of the project; OSError or ValueError if there is none."""
    data = read_file(path, FILE_LIMIT + 1)
    value = parse(data)
    if len(data) > FILE_LIMIT or not isinstance(value, dict):
        raise ValueError("too large, or not an object")
    return value


# --- knobs -----------------------------------------------------------------------------------------------------------


def from_text(kind, text):
    """What a variable says, in the type of its knob; None if it cannot be read."""
    text = text.strip()
    if kind is int:
        digits = text[1:] if text.startswith("-") else text
        return int(text) if digits.isdigit() and digits.isascii() and len(digits) < 19 else None
    if kind is bool:
        words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
        return words.get(text.lower())
    return [word.strip() for word in text.split(",")] if isinstance(kind, list) else text


def accepted(kind, value):
    if isinstance(kind, tuple):
        return value in kind
    if isinstance(kind, list):
        words = isinstance(value, list) and all(isinstance(word, str) and word for word in value) and value
        return bool(words) and all(word in kind for word in value if kind)
    return type(value) is kind and (kind is not str or bool(value.strip()))


def knob(name, config):
    """Environment over config.json over default; what cannot be read is ignored."""
    kind, default = KNOBS[name]
    variable = "MAX_STOP_BLOCKS" if name == "max_stop_blocks" else "HOOKCTL_" + name.upper()
    for value in (from_text(kind, env(variable)), config.get(name)):
        if accepted(kind, value):
            return value
    return default


def leading_number(text, default):
    """The number that a text begins with, as JavaScript's parseFloat reads it: that is how the host reads its cap."""
    text = text.strip()[:32]
    for end in range(len(text), 0, -1):
        if not text[:end].strip("0123456789+-.eE"):
            try:
                return float(text[:end])
            except ValueError:
                pass
    return default


# --- folders ---------------------------------------------------------------------------------------------------------


def enter(path):
    """Go to a folder; its real path, or "" where there is no way in."""
    try:
        posix.chdir(path)
        return posix.getcwd()
    except (OSError, ValueError):
        return ""


def home_folder():
    home = env("HOME")
    if not home.startswith("/"):
        import pwd

        home = pwd.getpwuid(posix.getuid()).pw_dir
    return home.rstrip("/")


def find_project(start, home):
    """The nearest folder upwards with .hookctl or .git that is ours, below HOME or outside it; else the start."""
    folder = start
    while folder and not (home + "/").startswith(folder + "/"):
        if posix.stat(folder).st_uid == posix.geteuid() and (exists(folder + "/.hookctl") or exists(folder + "/.git")):
            return folder
        folder = folder.rpartition("/")[0]
    return start


def default_state_dir(home):
    """The user's state folder, as platformdirs has it."""
    state = env("XDG_STATE_HOME").strip()
    if not state.startswith("/"):
        state = home + ("/Library/Application Support" if sys.platform == "darwin" else "/.local/state")
    return state.rstrip("/") + "/hookctl"


def make_folder(path):
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except FileNotFoundError:
        make_folder(path.rpartition("/")[0])
        posix.mkdir(path, 0o700)


# --- one call --------------------------------------------------------------------------------------------------------


def read_input():
    """What the host sent: the raw bytes and the object, or None where that is unusable."""
    data = b""
    while len(data) <= INPUT_LIMIT:
        piece = posix.read(0, INPUT_LIMIT + 1 - len(data))
        if not piece:
            break
        data += piece
    try:
        payload = parse(data, "replace") if len(data) <= INPUT_LIMIT else None
    except ValueError:
        payload = None
    return data, payload if isinstance(payload, dict) else None


class Call:
    """What one call of the hook knows about its host, session, project and settings."""

    def __init__(self, event, host):
        self.event, self.host = event, host
        self.wires = HOSTS[host][:3]
        self.payload, self.session, self.key, self.numbers = None, "", "", (None, None, None)
        here, self.folder, self.log_folder = enter("."), "", ""
        self.me = join(here, __file__).rpartition("/")[0]
        self.now = leading_number(env("HOOKCTL_NOW"), None) or time.time()
        try:
            self.config = read_object(self.me + "/config.json")
        except FileNotFoundError:
            self.config = {}
        except (OSError, ValueError):
            self.config = None
        self.knobs = {name: knob(name, self.config or {}) for name in KNOBS}
        self.lock_s = min(max(self.knobs["lock_ms"], 0), LONGEST_LOCK_MS) / 1000
        _signal.signal(_signal.SIGALRM, expire)
        _signal.setitimer(_signal.ITIMER_REAL, self.lock_s + 0.9)

        home = home_folder()
        guard = join(here, self.knobs["state_dir"] or default_state_dir(home)) + "/guard"
        self.log_folder = guard
        data, self.payload = read_input()
        payload = self.payload or {}
        self.key = sha256(data).hexdigest()[:16]
        self.session = self.text("session_id", "sessionId", "conversation_id", "conversationId", "taskId")
        self.session = self.session or env(HOSTS[host][4] or "")
        self.active = truth(payload.get("stop_hook_active", payload.get("stopHookActive", False)))
        if type(payload.get("loop_count")) is int:
            self.active = self.active or payload["loop_count"] > 0

        home = enter(home) or home
        named = enter(env(HOSTS[host][3] or "")) or enter(self.text("cwd", "working_dir"))
        self.project = find_project(named or here, home)
        self.folder = guard + "/" + digest(self.project)
        self.log_folder = self.folder if named else guard
        self.run_dir = join(self.project, self.knobs["run_dir"])

    def text(self, *names):
        for name in names:
            value = (self.payload or {}).get(name)
            if isinstance(value, str) and value:
                return value
        return ""

    def marker(self, name):
        return exists(self.run_dir + "/" + name)

    def owner(self):
        try:
            owner = read_file(self.run_dir + "/OWNER", OWNER_LIMIT).decode("utf-8", "replace").strip()
        except (OSError, ValueError):
            owner = ""
        return owner or self.knobs["owner"].strip()

    def armed(self):
        try:
            return self.now < float(read_file(self.folder + "/ACTIVE", OWNER_LIMIT))
        except (OSError, ValueError):
            return False

    def task(self):
        """Heartbeat (as its hash) and remaining work; None for what is not there or odd."""
        try:
            task = read_object(join(self.project, self.knobs["task_file"] or self.run_dir + "/task.json"))
        except (OSError, ValueError):
            task = {}
        heartbeat, remaining = task.get("heartbeat"), task.get("remaining")
        if isinstance(remaining, str):
            remaining = from_text(int, remaining)
        return (
            None if heartbeat is None else digest(dump(heartbeat)),
            remaining if type(remaining) is int else None,
        )

    def cap(self):
        """How many blocks in a row the host honours; 0 or less: it has no limit."""
        variable, default = CAPS.get(self.host, ("", 0))
        return leading_number(env(variable), default)

    def busy(self):
        """Does the host wait for something itself, and will it wake the agent?"""
        lists = (self.payload.get(name) for name in ("background_tasks", "session_crons", "crons"))
        return self.knobs["yield_on_background"] and any(isinstance(items, list) and items for items in lists)


# --- a session's state -----------------------------------------------------------------------------------------------


class Session:
    """A session's state, read and written under its lock."""

    def __init__(self, call):
        make_folder(call.folder)
        self.call, self.path = call, call.folder + "/" + digest(call.session) + ".json"
        self.lock = open_regular(self.path + ".lock", posix.O_RDWR | posix.O_CREAT)
        end = time.monotonic() + call.lock_s
        while True:
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise
                time.sleep(0.005)
        self.state = dict(NEW_SESSION, ring=[])
        try:
            stored = read_object(self.path)
        except FileNotFoundError:
            sweep(call)
        except (OSError, ValueError):
            pass
        else:
            self.state.update((name, value) for name, value in stored.items() if fits(name, value))

    def save(self):
        """True if the state lies on disk."""
        state = dict(self.state, t=int(self.call.now), ring=self.state["ring"][-RING_LIMIT:])
        try:
            data = dump(state).encode()
            fd = open_regular(self.path + ".tmp", posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_NOFOLLOW)
            try:
                whole = posix.write(fd, data) == len(data)
            finally:
                posix.close(fd)
            if whole:
                posix.rename(self.path + ".tmp", self.path)
            return whole
        except OSError:
            return False


def fits(name, value):
    """Is this a value that we could have stored under this name?"""
    default = NEW_SESSION.get(name, ())
    if name == "last":
        return isinstance(value, dict) and set(value) == {"key", "by", "verdict"} and len(value["verdict"]) == 4
    if name in ("hb", "turn"):
        return value is None or isinstance(value, str)
    if name in ("rem", "acts_seen"):
        return value is None or type(value) is int
    return type(value) is type(default)


def sweep(call):
    """Remove what sessions left behind that nobody has touched for a month."""
    for name in posix.listdir(call.folder):
        if len(name) == 26 and name.endswith(".json.lock"):
            lock = call.folder + "/" + name
            state = lock[: -len(".lock")]
            if call.now - posix.stat(state if exists(state) else lock).st_mtime > SWEEP_AFTER:
                for path in (state, lock):
                    if exists(path):
                        posix.unlink(path)


# --- the transcript --------------------------------------------------------------------------------------------------


def read_tail(path, state):
    """The transcript's last lines as (is new since the last stop, line); remembers how far it was read."""
    try:
        fd = open_regular(path, posix.O_RDONLY)
    except (OSError, ValueError):
        return []
    try:
        size = posix.fstat(fd).st_size
        start = max(0, size - TAIL_LIMIT)
        data = posix.pread(fd, TAIL_LIMIT, start)
    finally:
        posix.close(fd)
    if size < state["tx"]:
        state["tx"], state["ring"] = 0, []
    seen, state["tx"] = state["tx"], size
    lines, offset = [], start
    for line in data.split(b"\n"):
        if offset > start or start == 0:  # else cut by the window
            lines.append((offset >= seen, line))
        offset += len(line) + 1
    return lines


def read_entry(line):
    try:
        entry = parse(line, "replace")
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) and not entry.get("isSidechain") else {}


def tool_calls(lines):
    """(name, arguments) of every tool call since the last stop."""
    for new, line in lines:
        if not new or line[-1:] != b"}" or not (b"tool_use" in line or b"function_call" in line):
            continue
        entry = read_entry(line)
        if isinstance(entry.get("payload"), dict):  # Codex
            entry = entry["payload"]
        if entry.get("type") == "function_call":
            yield entry.get("name"), entry.get("arguments")
        message = entry.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if entry.get("type", "assistant") == "assistant" and isinstance(content, list):
            for item in content:
                if isinstance(item, dict) and item.get("type") == "tool_use":
                    yield item.get("name"), item.get("input")


def last_user_entry(lines):
    """The entry that began the turn (its line, and whether a background task wrote it), or (None, False)."""
    for _, line in reversed(lines):
        if line[-1:] != b"}" or b'"user"' not in line:
            continue
        entry = read_entry(line)
        message = entry.get("message")
        if entry.get("type") != "user" or entry.get("isMeta") or not isinstance(message, dict):
            continue  # isMeta: among others the feedback of stop hooks
        text = message.get("content")
        if isinstance(text, list):
            items = [item for item in text if isinstance(item, dict)]
            if any(item.get("type") == "tool_result" for item in items):
                continue
            text = items[0].get("text") if items else None
        origin = entry.get("origin")
        woken = entry.get("turnOrigin") == "task_notification" or is_wake_up(text)
        return line, woken or (isinstance(origin, dict) and origin.get("kind") == "task-notification")
    return None, False


def is_wake_up(text):
    return isinstance(text, str) and text.lstrip().startswith("<task-notification>")


# --- what has happened since the last stop ---------------------------------------------------------------------------


def count_call(state, name, arguments, novelty):
    """Count a tool call, unless the same one is among the last."""
    call = digest(dump([name, arguments]))
    known = call in state["ring"]
    if known:
        state["ring"].remove(call)
    state["ring"].append(call)
    if not (known and novelty and arguments is not None):
        state["acts"] += 1


def begin_turn(state, turn, human):
    state["turn"], state["streak"] = turn, 0
    if human:
        state.update(blocks=0, attempts=0, total=0, soft=0, open=False)


def payload_turn(call):
    turn = call.text("prompt_id", "turn_id", "prompt")
    return digest(turn) if turn else None


def observe(call, state, heartbeat, remaining):
    """Bring turn, progress and counters up to this stop; what progress there was: hard, soft or None."""
    knobs, first = call.knobs, state["acts_seen"] is None
    lines = read_tail(call.text("transcript_path", "transcriptPath"), state)
    for name, arguments in tool_calls(lines):
        state["ran"] = True
        if not state["ledger"]:
            count_call(state, name, arguments, knobs["action_novelty"])

    turn = payload_turn(call)
    if turn is None and not call.active:
        state["streak"] = 0
    if turn != state["turn"] if turn else not call.active:
        entry, woken = last_user_entry(lines)
        turn = turn or (digest(entry.decode("utf-8", "replace")) if entry else state["turn"])
        if turn != state["turn"]:
            begin_turn(state, turn, not woken)

    moved = "heartbeat" in knobs["progress"] and heartbeat != state["hb"]
    fell = "remaining" in knobs["progress"] and None not in (remaining, state["rem"]) and remaining < state["rem"]
    acted = "action" in knobs["progress"] and state["acts"] > (state["acts_seen"] or 0)
    progress = None
    if first:
        pass  # what happened before the first stop is the baseline
    elif moved or fell:
        progress, state["soft"] = "hard", 0
    elif acted:
        state["streak"] = 0
        if knobs["max_soft_resets"] <= 0 or state["soft"] < knobs["max_soft_resets"]:
            progress, state["soft"] = "soft", state["soft"] + 1
    if progress:
        state.update(blocks=0, attempts=0, streak=0, open=False)
    if knobs["chain_reset"] == "fresh" and not call.active:
        state.update(blocks=0, attempts=0)

    state["host"] = state["host"] + 1 if call.active and not state["ran"] else 0
    state["attempts"] += 1
    state["streak"] += 1
    state.update(hb=heartbeat, rem=remaining, acts_seen=state["acts"], ran=False)
    return progress


# --- decisions: (decision, code, blocks to speak of, remaining) ------------------------------------------------------


def allow(code):
    return "allow", code, 0, 0


def silent_gate(call):
    """Why this call is none of the hook's business, or None."""
    if truth(env("HOOKCTL_DISABLE")):
        return "off"
    if call.payload is None or not call.session:
        return "no_input"
    if call.config is None:
        return "config_error"
    if call.knobs["mode"] == "off":
        return "off"
    if any(truth(env(name)) for name in call.knobs["child_env"]):
        return "child"
    if call.event == "subagent-stop" or call.text("hook_event_name") == "SubagentStop" or call.text("agent_id"):
        return "subagent"
    return None


def gate(call):
    """Why the agent may go whatever remains, or None."""
    if call.owner() not in ("", call.session):
        return "not_owner"
    if call.knobs["require_arm"] and not call.armed():
        return "inactive"
    if call.marker("STOP"):
        return "stop"
    return None


def breaker(call, state, remaining):
    """Block while work remains, until the limit."""
    knobs = call.knobs
    limit, cap = knobs["max_stop_blocks"], call.cap()
    if call.marker("CONCLUDE"):
        return allow("conclude")
    if remaining is None or remaining <= 0:
        return allow("no_work")
    if knobs["honor_stop_hook_active"] and call.active:
        return allow("honor_active")
    if state["open"]:
        return allow("open")
    if state["total"] > CEILING:
        return allow("ceiling")
    if 0 < limit <= state[knobs["count"]]:
        return "release", "tripped", state["blocks"], remaining
    if 0 < cap < state["host"] + 1:
        return "release", "host_cap", state["host"], remaining
    if state["total"] >= CEILING:
        return "release", "ceiling", CEILING, remaining
    return "block", "blocked", state["blocks"] + 1, remaining


def forced_loop(call, state):
    """Do other hooks force this chain on without progress, or up to the stop at which the host overrides them?"""
    limit, cap = call.knobs["max_stop_blocks"], call.cap()
    without_progress = 0 < limit <= state["streak"] and (call.active or state["streak"] > 1)
    at_the_cap = call.active and cap > 0 and state["host"] <= cap < state["host"] + 1
    return call.knobs["end_foreign_chains"] and (without_progress or at_the_cap)


def record(state, verdict, knobs):
    """What the decision itself changes."""
    decision, code = verdict[:2]
    if decision == "block":
        state["blocks"] += 1
        state["total"] += 1
    elif decision == "release":
        state.update(blocks=0, attempts=0, streak=0, trips=state["trips"] + 1)
        if code == "ceiling":
            state["total"] = CEILING + 1
        else:
            state["open"] = knobs["latch"]
    elif decision == "end":
        state.update(streak=0, trips=state["trips"] + 1)


def on_stop(call):
    """The decision on a stop; None where another registration has already logged it."""
    code = silent_gate(call)
    if code:
        return allow(code)
    code = gate(call)
    concluded = call.marker("CONCLUDE")
    if call.busy() and not concluded:
        return allow(code or "background")
    heartbeat, remaining = call.task()
    wanted = not code and not concluded and remaining is not None and remaining > 0
    try:
        session = Session(call)
    except BlockingIOError:
        return ("release", "lock_timeout", 0, remaining) if wanted else allow("lock_timeout")

    state, me = session.state, digest(call.me)
    last = state["last"]
    if last and last["key"] == call.key and me not in last["by"]:
        last["by"].append(me)
        verdict, call.event = tuple(last["verdict"]), ""
    else:
        progress = observe(call, state, heartbeat, remaining)
        verdict = allow(code) if code else breaker(call, state, remaining)
        if verdict[0] == "allow" and forced_loop(call, state):
            verdict = "end", "stop_loop", state["streak"], remaining
        call.numbers = verdict[2] or state["blocks"], state["attempts"], progress
        record(state, verdict, call.knobs)
        state["last"] = {"key": call.key, "by": [me], "verdict": list(verdict)}
    if not session.save() and verdict[0] == "block":
        return "release", "state_error", 0, remaining
    return verdict


def on_prompt(call):
    if not silent_gate(call):
        session = Session(call)
        begin_turn(session.state, payload_turn(call), not is_wake_up(call.text("prompt")))
        session.save()


def on_tool(call):
    if not silent_gate(call):
        session = Session(call)
        arguments = next((call.payload[n] for n in ("tool_input", "toolArgs", "tool_args", "args") if n in call.payload), None)
        count_call(session.state, call.text("tool_name", "toolName"), arguments, call.knobs["action_novelty"])
        session.state.update(ran=True, ledger=True)
        session.save()


# --- answer and log --------------------------------------------------------------------------------------------------


def answer(call, verdict):
    """Say it in the host's own words."""
    decision, code, blocks, remaining = verdict
    if decision == "allow":
        return
    wire = call.wires[("block", "release", "end").index(decision)]
    if decision == "block":
        text = call.knobs["reason"].replace("{remaining}", str(remaining))
    else:
        text = MESSAGES[code].format(n="%d block%s" % (blocks, "" if blocks == 1 else "s"), remaining=remaining)
    if wire:
        posix.write(1, (wire % dump(text)).encode())


def log(call, verdict):
    """One line a stop in events.jsonl; numbers and hashes only."""
    blocks, attempts, progress = call.numbers
    entry = {
        "t": int(call.now),
        "host": call.host,
        "session": digest(call.session) if call.session else None,
        "event": call.event,
        "decision": verdict[0],
        "code": verdict[1],
        "blocks": blocks,
        "attempts": attempts,
        "progress": progress,
    }
    path, line = call.log_folder + "/events.jsonl", (dump(entry) + "\n").encode()
    make_folder(call.log_folder)
    if exists(path) and posix.stat(path).st_size + len(line) > LOG_LIMIT:
        posix.rename(path, path + ".1")
    fd = open_regular(path, posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_NOFOLLOW)
    posix.write(fd, line)


def main(arguments):
    if len(arguments) != 3 or arguments[1] != "--host" or arguments[2] not in HOSTS:
        return
    event, host = arguments[0], arguments[2]
    call = Call(event, host)
    if event == "prompt":
        on_prompt(call)
    elif event == "post-tool":
        on_tool(call)
    elif event in ("stop", "subagent-stop"):
        try:
            verdict = on_stop(call)
        except Exception:
            verdict = allow("state_error")
        answer(call, verdict)
        if call.event:
            log(call, verdict)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BaseException as error:
        if env("HOOKCTL_DEBUG") == "1":
            posix.write(2, ("hookctl guard: %r\n" % error).encode("utf-8", "replace"))
    posix._exit(0)
