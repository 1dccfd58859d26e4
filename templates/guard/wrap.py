"""Runs another tool's Stop hook in its place: `wrap.py EVENT --host HOST COMMAND`, the host's JSON on stdin.

No hook can overrule another's block, and some hosts have no way to end a turn. So this one runs the other hook's
COMMAND and passes on what it says, byte for byte, but lets the agent go at the n-th denial without progress
(MAX_STOP_BLOCKS), and from then on until there is progress or a human prompt. Progress, limits, state and log are
those of hook.py, which lies beside it; without that, or with HOOKCTL_DISABLE=1, the other hook runs by itself. A denial
that cannot be counted is not passed on.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading

CHUNK = 1 << 16
DENIED = 2  # the exit status that blocks on most hosts
GRACE = 1.0  # seconds that what the other hook left running may hold its output open
LET_GO = "hookctl guard: let go of the agent %s. Send a prompt to go on."
WHY = {
    "no_input": "although the hook that it wraps denied the stop: the session is not known",
    "tripped": "at denial %s of the hook that it wraps, without progress",
    "host_cap": "after %s denials of the hook that it wraps, since the host would override the next one",
    "ceiling": "after %s denials of the hook that it wraps, since the last prompt",
    "lock_timeout": "although the hook that it wraps denied the stop: another process holds the count",
    "state_error": "although the hook that it wraps denied the stop: the count cannot be saved",
}


def load(path):
    """The module in a file, and never a cache of it or another module beside it: a repository could bring those."""
    module = type(sys)("hook")
    module.__file__ = path
    with open(path, "rb") as stream:
        exec(compile(stream.read(), path, "exec"), vars(module))
    return module


try:
    hook = load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "hook.py"))
except Exception:
    hook = None


# --- the other hook --------------------------------------------------------------------------------------------------


def write(fd, data):
    """Whether somebody took all of it."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(fd, rest) :]
    except OSError:
        return False
    return True


def feed(pipe, data):
    """Give the other hook our stdin as it comes, and remember as much of it as hook.py would read."""
    wanted = True
    try:
        for piece in iter(lambda: os.read(0, CHUNK), b""):
            data += piece if len(data) <= hook.INPUT_LIMIT else b""
            wanted = wanted and write(pipe.fileno(), piece)
    except OSError:
        pass
    pipe.close()


def run(command):
    """Exit status, stdout and stderr of the other hook, and what our stdin had; signals go on to it."""
    pipe, environment, data = subprocess.PIPE, dict(os.environ, HOOKCTL_CHILD="1"), bytearray()
    child, early = None, []

    def send_on(number, _):
        child.send_signal(number) if child else early.append(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, send_on)
    child = subprocess.Popen(
        ["/bin/sh", "-c", command], bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, close_fds=False
    )
    for number in early:
        child.send_signal(number)
    feeder = threading.Thread(target=feed, args=(child.stdin, data), daemon=True)
    child.stdin = None  # the thread's
    feeder.start()
    out, err = outcome(child)
    feeder.join(GRACE)
    return child.returncode, out, err, b"" if feeder.is_alive() else bytes(data)


def outcome(child):
    """What it says until it has ended; what it leaves running may hold its output open longer, as long as it likes."""
    ended = False
    while True:
        try:
            return child.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired as error:
            if ended:
                return error.output or b"", error.stderr or b""
            ended = child.poll() is not None


def by_itself(command):
    """Become the other hook."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and so would whoever comes after
    os.execv("/bin/sh", ["/bin/sh", "-c", command])


def denies(host, status, out, err):
    """Does this answer make the agent go on? In doubt it does: a word too many is counted, but no chain is without end.

    Claude Code heeds an object whatever the exit status. Gemini reads stderr where stdout is empty, and takes a text
    with any status above 1 for a denial.
    """
    said = out.strip() or (err.strip() if host == "gemini" else b"")
    if status == DENIED or (host == "gemini" and said and status not in (0, 1)):
        return True
    try:
        answer = hook.parse(said, "replace")
    except ValueError:
        return False
    if host in ("qwen", "openhands") and answer.get("continue") is False:
        return True  # it ends the turn elsewhere
    if {"hermes": answer.get("action"), "antigravity": answer.get("decision")}.get(host) == "continue":
        return True
    return answer.get("decision") in ("block", "deny") or bool(answer.get("followup_message"))


# --- its denials -----------------------------------------------------------------------------------------------------


def verdict(call, state):
    """Whether this denial is passed on, and which number it is."""
    limit, number = call.knobs.max_stop_blocks, state.blocks + 1
    if state.open:
        return "allow", "open", number
    if state.total > hook.CEILING:
        return "allow", "ceiling", number
    if 0 < limit <= number:
        return "release", "tripped", number
    if call.cap <= state.host:
        return "release", "host_cap", state.host
    if state.total >= hook.CEILING:
        return "release", "ceiling", hook.CEILING
    return "block", "blocked", number


def judge(call, command):
    """The verdict on a denial, once for a stop, and its line in the log (None: another registration wrote it)."""
    if not call.readable or not call.session:
        return "release", "no_input", 0, dict(hook.UNCOUNTED)
    try:
        path, state = hook.open_session(call, "." + hook.digest(command) + ".json")
    except BlockingIOError:
        return "release", "lock_timeout", 0, dict(hook.UNCOUNTED)
    line = None
    if state.stop != call.key or hook.digest(call.beside) in state.by:
        progress = hook.observe(call, state, *hook.read_task(call))
        decision, code, number = verdict(call, state)
        line = {"blocks": state.blocks + (decision == "block"), "attempts": state.attempts, "progress": progress}
        hook.settle(call, state, decision, code)
        state.stop, state.by, state.said = call.key, [], [decision, code, number]
    decision, code, number = state.said
    state.by.append(hook.digest(call.beside))
    if not hook.save_session(path, state, call.now) and decision == "block":
        decision, code = "release", "state_error"
    return decision, code, number, line


def payload_of(data):
    """The object that the host sent, or None."""
    try:
        return hook.parse(data, "replace") if len(data) <= hook.INPUT_LIMIT else None
    except ValueError:
        return None


def let_go(event, host, command, data):
    """Whether the agent goes in spite of a denial, after saying so where the host has words for it."""
    call, decision, code, number, line = None, "release", "state_error", 0, dict(hook.UNCOUNTED)
    try:
        call = hook.read_call(event, host, lambda: (data, payload_of(data)))  # from here on it has hook.py's time
        decision, code, number, line = judge(call, command)
    except (Exception, hook.Expired):
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    form = call.release if call else ""  # in the words of the host that runs it: not always the one it is told
    if decision == "release" and form:
        write(1, (form % hook.dump(LET_GO % WHY[code].replace("%s", str(number)))).encode())
    if call and line:
        call.event = "wrap"
        with contextlib.suppress(OSError):
            hook.log(call, decision, code, line)
    return decision != "block"


def main(event, flag, host, command):
    if hook is None or host not in hook.HOSTS or hook.true(hook.env("HOOKCTL_DISABLE")):
        by_itself(command)
    status, out, err, data = run(command)
    if denies(host, status, out, err) and let_go(event, host, command, data):
        return 0
    write(1, out)
    write(2, err)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    status = 0
    try:
        status = main(*sys.argv[1:])
    except BaseException as error:
        if os.environ.get("HOOKCTL_DEBUG") == "1":
            write(2, ("hookctl guard: " + repr(error) + "\n").encode("utf-8", "replace"))
    os._exit(status)
