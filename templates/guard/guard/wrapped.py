"""Another tool's Stop hook with a limit: `hook.py wrap stop --host HOST COMMAND`.

No hook can overrule another's block, and some hosts cannot end a turn. So this one runs the other
hook's COMMAND and passes on its output, byte for byte. At the n-th denial without progress
(MAX_STOP_BLOCKS) it lets the agent stop instead, until there is progress or a human prompt.
Progress, limits, state and log are the guard's own. With HOOKCTL_DISABLE=1 the other hook runs by
itself. A denial that cannot be counted is not passed on.
"""

import contextlib
import os
import signal
import subprocess
import threading

from .call import (
    INPUT_LIMIT,
    Call,
    Expired,
    is_disabled,
    is_locked,
    launchers_folder,
    read_call,
    read_config,
    read_words,
    report_error,
)
from .files import digest, enter, first_text, parse
from .hosts import Host, describe_failure, say, word_failure
from .progress import observe
from .state import answer_once, log, open_session, read_session
from .stop import Decision, apply_limits, settle
from .work import read_task

RELEASED = "hookctl guard: let the agent stop. %s. Last feedback: %s"
WHY = {
    "no_input": "Stop hook denied, and the session is not known",
    "tripped": "Stop hook denied {times} without progress (limit {limit})",
    "host_cap": "Stop hook denied {times} in a row, and the host overrides that (host cap {cap})",
    "ceiling": "Stop hook denied {times} since the last prompt (limit {ceiling})",
    "lock_timeout": "Stop hook denied, and another process holds the count",
    "state_error": "Stop hook denied, and the count cannot be saved",
}
DENIED = 2  # the exit status that blocks on most hosts
# Fields with an answer's text for the agent, and how much of it a person is shown.
FEEDBACK = ("additionalContext", "reason", "message", "followup_message", "stopReason")
FEEDBACK_BYTES = 4096
FEEDBACK_LENGTH = 500  # characters
CHUNK = 1 << 16
GRACE = 1.0  # seconds to wait for output that a process left behind holds open
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def prepare(words):
    """The function that runs the other hook; all its modules are loaded."""
    *registration, command = words
    registration = read_words(registration)

    def run():
        status = 0
        try:
            status = run_other(registration, command)
        except BaseException as error:
            report_error(error)
        os._exit(status)

    return run


def run_other(registration, command):
    """Run the other hook; pass on its output unless a limit is reached; the exit status."""
    _, host, file = registration
    path = launchers_folder(enter(".")) + "/" + file
    if is_disabled(is_locked(read_config(path), path)):
        become(command)
    outcome = run(command)
    denied = is_denial(read_denial_marks(path, host), outcome)
    if denied and is_released(registration, command, outcome):
        return 0
    write(1, outcome.out)
    write(2, outcome.err)
    return outcome.status if outcome.status >= 0 else 128 - outcome.status


def read_denial_marks(path, host):
    """How the host recognizes a denial, from the table in a configuration; empty if unknown."""
    marks = read_config(path)
    for name in ("hosts", host, "denials"):
        marks = marks.get(name) if type(marks) is dict else None
    return marks if type(marks) is dict else {}


def is_released(registration, command, outcome):
    """May the agent stop in spite of a denial? Says so, if the host has a form for it."""
    data = outcome.data
    call, judgement = None, Decision("release", "state_error")
    try:
        # Starts the timer.
        call = read_call(Call(*registration), lambda: (data, parse_payload(data)))
        call.host = call.host or Host(call.registered, {})
        judgement = judge(call, command)
    except (Exception, Expired) as error:
        if call:
            call.failure = error
    signal.setitimer(signal.ITIMER_REAL, 0)
    # In the form of the host that runs this call: not always the one in the arguments.
    if judgement.decision == "release" and call and call.host and call.host.release:
        reason = describe_release(call, judgement)
        say(call.host.release, RELEASED % (reason, read_feedback(outcome) or "none"))
    if call and judgement.line:
        write_line(call, judgement)
    return judgement.decision != "block"


def describe_release(call, judgement):
    """Why the agent may stop although the other hook denied it, with count and limit."""
    number = judgement.blocks
    values = {
        "times": "once" if number == 1 else str(number) + " times",
        "limit": call.settings.max_stop_blocks,
        "cap": call.host.cap,
        "ceiling": call.ceiling,
    }
    reason = WHY[judgement.code].format(**values)
    if judgement.code == "state_error" and call.failure:
        reason += " (" + word_failure(call) + ")"
    return reason


def write_line(call, judgement):
    """Log a judgement."""
    call.event = "wrap"
    failure = describe_failure(call) if call.failure else {}
    with contextlib.suppress(OSError):
        log(call, judgement.decision, judgement.code, {**judgement.line, **failure})


def parse_payload(data):
    """The object that the host sent, or None."""
    try:
        return parse(data, "replace") if len(data) <= INPUT_LIMIT else None
    except ValueError:
        return None


def is_denial(marks, outcome):
    """Does this answer make the agent go on? In doubt yes, so that no chain is endless.

    `marks` says how the host reads an answer: whether it reads stderr if stdout is empty, and then
    takes a text with any status above 1 as a denial; whether the end of a turn is a denial too; and
    its own words for going on.
    """
    text = outcome.out.strip()
    if marks.get("stderr"):
        text = text or outcome.err.strip()
        if text and outcome.status not in (0, 1):
            return True
    if outcome.status == DENIED:
        return True
    try:
        answer = parse(text, "replace")
    except ValueError:
        return False
    if marks.get("goes_on_at_end") and answer.get("continue") is False:
        return True
    words = marks.get("words")
    for field in words if type(words) is dict else ():
        if answer.get(field) == words[field]:
            return True
    return answer.get("decision") in ("deny", "block") or bool(answer.get("followup_message"))


def read_feedback(outcome):
    """What a denial says to the agent, on one line without control characters; cut at a length."""
    words = outcome.err.strip() or outcome.out.strip()
    text = words[:FEEDBACK_BYTES].decode("utf-8", "replace")
    with contextlib.suppress(ValueError):
        answer = parse(outcome.out.strip() or outcome.err.strip(), "replace")
        text = first_text(answer, *FEEDBACK) or text
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    line = " ".join(shown.split())
    return line if len(line) <= FEEDBACK_LENGTH else line[: FEEDBACK_LENGTH - 3] + "..."


def judge(call, command):
    """Judge a denial, once for each stop."""
    if not call.readable or not call.session:
        return Decision("release", "no_input")
    if not call.ends_turn:
        return Decision("allow", "allowed", line=None)
    try:
        path, state = open_session(call, "." + digest(command) + ".json")
    except BlockingIOError:
        return Decision("release", "lock_timeout")
    except OSError as error:
        call.failure = error
        return Decision("release", "state_error")
    line, saved = answer_once(call, path, state, lambda: judge_anew(call, state))
    decision, code, number = state.said
    if not saved:
        decision, code = "release", "state_error"
    return Decision(decision, code, number, line=line)


def take_events(call, state):
    """Take over what the host's events have told of prompts and tool calls since the last denial.

    Without such events the transcript tells of them.
    """
    told = read_session(call.folder, digest(call.session))
    if told.ledger:
        state.ran = state.ran or told.acts != state.acts
        state.acts, state.ledger = told.acts, True
    if told.asked:
        state.asked = True
    if told.prompts != state.prompts:
        state.prompts, state.prompt = told.prompts, told.latest


def judge_anew(call, state):
    """Count this denial and judge it in `state.said`; the line for the log."""
    take_events(call, state)
    progress = observe(call, state, *read_task(call))
    tripped = 0 < call.settings.max_stop_blocks <= state.blocks + 1
    decision, code, number = apply_limits(call, state, tripped)
    if decision == "release":
        number += 1  # this denial, which is not passed on
    line = {
        "blocks": state.blocks + (decision == "block"),
        "attempts": state.attempts,
        "progress": progress,
    }
    settle(call, state, decision, code)
    state.said = [decision, code, number]
    return line


class Outcome:
    """Exit status, stdout and stderr of the other hook, and the data from our stdin."""

    def __init__(self, status, out, err, data):
        self.status, self.out, self.err, self.data = status, out, err, data


def write(fd, data):
    """Write all of it; False if the reader is gone."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(fd, rest) :]
    except OSError:
        return False
    return True


def become(command):
    """Replace this process by the other hook."""
    # Python ignores this signal, and the other hook would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execv("/bin/sh", ["/bin/sh", "-c", command])


def run(command):
    """Run the other hook with our stdin and signals; if that fails, become it."""
    data = bytearray()
    try:
        child, feeder = begin(command, data)
    except Exception:
        become(command)
    out, err = collect_output(child)
    feeder.join(GRACE)
    return Outcome(child.returncode, out, err, b"" if feeder.is_alive() else bytes(data))


def begin(command, data):
    """Start the other hook and a thread that feeds it and fills `data`; forward our signals.

    The process starts last: if anything fails before, our stdin is unread and no hook runs twice.
    """
    child, early = None, []

    def send_on(number, _):
        if child:
            child.send_signal(number)
        else:
            early.append(number)

    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, send_on)
    source, sink = os.pipe()
    begun = threading.Event()
    feeder = threading.Thread(target=feed, args=(begun, sink, data))
    feeder.start()
    child = start(command, source)
    os.close(source)
    begun.set()
    for number in early:
        child.send_signal(number)
    return child, feeder


def start(command, source):
    """Start the other hook, marked as our child."""
    return subprocess.Popen(
        ["/bin/sh", "-c", command],
        bufsize=0,
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, HOOKCTL_CHILD="1"),
        close_fds=False,
    )


def feed(begun, pipe, data):
    """Pass our stdin on as it comes, and keep as much of it as the guard itself would read."""
    begun.wait()
    wanted = True
    try:
        for piece in iter(lambda: os.read(0, CHUNK), b""):
            if len(data) <= INPUT_LIMIT:
                data += piece
            wanted = wanted and write(pipe, piece)
    except OSError:
        pass
    os.close(pipe)


def collect_output(child):
    """Its stdout and stderr until it ends; a process that it left behind may hold them open."""
    ended = False
    while True:
        try:
            return child.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired as error:
            if ended:
                return error.output or b"", error.stderr or b""
            ended = child.poll() is not None
