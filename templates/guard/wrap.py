"""Runs another tool's Stop hook in its place: `wrap.py EVENT --host HOST COMMAND`, the host's JSON on stdin.

No hook can overrule another's block, and some hosts have no way to end a turn. So this one runs the other hook's
COMMAND and passes on what it says, word for word, but lets the agent go at the n-th denial without progress
(MAX_STOP_BLOCKS), and from then on until there is progress or a human prompt. Progress, limits, state and log are
those of hook.py, which lies beside it. A denial that cannot be counted is not passed on.
"""

import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True  # the folder goes with what install has put there
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import hook  # noqa: E402

DENIED = 2  # the exit status that blocks on most hosts
LET_GO = "hookctl guard: let go of the agent %s. Send a prompt to go on."
WHY = {
    "no_input": "although the hook that it wraps denied the stop: the session is not known",
    "tripped": "at denial %s of the hook that it wraps, without progress",
    "host_cap": "after %s denials of the hook that it wraps, since the host would override the next one",
    "ceiling": "after %s denials of the hook that it wraps, since the last prompt",
    "lock_timeout": "although the hook that it wraps denied the stop: another process holds the count",
    "state_error": "although the hook that it wraps denied the stop: the count cannot be saved",
}


def run(command, data):
    """Exit status, stdout and stderr of the other hook; a signal that ends this process ends it, too."""
    pipe, environment = subprocess.PIPE, dict(os.environ, HOOKCTL_CHILD="1")
    child = subprocess.Popen(["/bin/sh", "-c", command], stdin=pipe, stdout=pipe, stderr=pipe, env=environment)

    def end(number, _):
        child.send_signal(number)
        os._exit(0)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    out, err = child.communicate(data)
    return child.returncode, out, err


def denies(host, status, out):
    """Does this answer make the agent go on?"""
    if status:
        return status == DENIED
    try:
        answer = hook.parse(out)
    except ValueError:
        return False
    opposite = answer.get("continue") is False and host in ("qwen", "openhands")  # it ends the turn elsewhere
    return answer.get("decision") in ("block", "deny") or bool(answer.get("followup_message")) or opposite


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


def let_go(call, command):
    """Whether the agent goes in spite of a denial, after saying so where the host has words for it."""
    signal.setitimer(signal.ITIMER_REAL, call.lock_s + 0.9)  # the same time that hook.py gives itself
    decision, code, number, line = "release", "no_input", 0, dict(hook.UNCOUNTED)
    try:
        if call.readable and call.session:
            decision, code, number, line = judge(call, command)
    except (Exception, hook.Expired):
        decision, code = "release", "state_error"
    signal.setitimer(signal.ITIMER_REAL, 0)
    if decision == "release" and call.release:
        text = LET_GO % WHY[code].replace("%s", str(number))
        os.write(1, (call.release % hook.dump(text)).encode())
    if line:
        call.event = "wrap"
        hook.log(call, decision, code, line)
    return decision != "block"


def main(event, flag, host, command):
    call = hook.read_call(event, host)
    signal.setitimer(signal.ITIMER_REAL, 0)  # the other hook's time is between it and the host
    rest = sys.stdin.buffer.read() if not call.readable else b""
    status, out, err = run(command, bytes(call.data) + rest)
    watched = host in hook.HOSTS and not hook.true(hook.env("HOOKCTL_DISABLE"))
    if watched and denies(host, status, out) and let_go(call, command):
        return 0
    sys.stdout.buffer.write(out)
    sys.stderr.buffer.write(err)
    sys.stdout.flush()
    sys.stderr.flush()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
