"""A pack's command on any host: `hook.py run EVENT --host HOST OPTIONS COMMAND`, JSON on stdin.

The command is asked in Claude Code's protocol, whatever the host, and its answer is given in the
host's own form. EVENT is Claude Code's name. The exit status is 0; 42 says that the host is to see
status 2, which no failure of ours may look like. Options, before COMMAND:

    --id PACK/HOOK       for the receipt
    --timeout SECONDS    10 without it; at the limit the command's process group is ended
    --matcher TEXT       as in Claude Code's settings, where the host cannot tell its tools apart,
                         or another agent that runs the host's file does not look at matchers
    --on-failure deny    a command that fails refuses
    --may-allow          its `allow` may lift the person's own permission
    --env NAME=VALUE     for the command; several times if need be
    --files FOLDER       what {files} in COMMAND stands for
    --file NAME          a file of that folder that has to be there; several times if need be
"""

import _signal
import posix
import sys
import time

from .answer import (
    TOO_LONG,
    TOO_MUCH,
    Answer,
    Failure,
    Rendered,
    add,
    clean,
    join,
    object_in,
    read_answer,
    refuse,
    render,
    without_allow,
)
from .call import (
    SPARE_S,
    Call,
    Expired,
    find_folders,
    read_input,
    read_session,
    read_settings,
    report_error,
    start_timer,
)
from .child import OUTPUT_LIMIT, run_command
from .exact import dump_plain, parse_exactly
from .files import digest, enter, env
from .hosts import find_host
from .matching import matches
from .payload import FAILURE_EVENT, TOOL_EVENTS, questions, to_native, was_refused
from .receipts import write_receipt

TABLE = "runtime/hosts.json"  # what the runner has to know of the hosts, and their packs
TIMEOUT_S = 10
DEEPEST = 5000  # levels of what a model sends; far from what would end the interpreter
REFUSES = 42  # the registered command makes status 2 of it
# On Claude Code a sub-agent has none of these.
OF_MAIN_AGENT = ("UserPromptSubmit", "Stop", "SessionStart", "SessionEnd")
MANY = ("--env", "--file")
SWITCHES = ("--may-allow",)
FAILURE_IS_REFUSAL = ("PreToolUse", "UserPromptSubmit")
REFUSED = "The hook {id} failed ({why}), and a failing one refuses."
NO_TARGET = "nobody can tell what this call changes or runs"
TOO_OLD = "its python3 is older than 3.8"
TOLD = "hookctl: the hook {id} failed: {why}"
MATCHED = {
    "SessionStart": "source",
    "PreCompact": "trigger",
    "Notification": "notification_type",
    "SessionEnd": "reason",
    "SubagentStop": "agent_type",
}


def prepare(words):
    """The function that runs the command; all its modules are loaded before anything is read."""
    options = read_options(words)
    sys.setrecursionlimit(DEEPEST)

    def run():
        run = Run(options)
        try:
            run.answer()
        except BaseException as error:
            report_error(error)
        posix._exit(run.end)

    return run


def read_options(words):
    """The words of the call by name; KeyError or IndexError where one is missing."""
    options = {"event": words[0], "--env": [], "--file": []}
    at = 1
    while words[at].startswith("--"):
        name = words[at]
        if name in SWITCHES:
            options[name] = True
            at += 1
            continue
        if name in MANY:
            options[name].append(words[at + 1])
        else:
            options[name] = words[at + 1]
        at += 2
    options["command"] = words[at]
    options["--host"]
    return options


class Run:
    """One run of the command: what it was asked, what it said, and what the host is told."""

    def __init__(self, options):
        self.options, self.event = options, options["event"]
        self.id = options.get("--id", "")
        self.begin = time.monotonic()
        self.here = enter(".")
        self.call = None
        self.data = bytearray()
        self.status = None  # of the command, when it has ended
        self.end = 0  # our own exit status

    def answer(self):
        """Ask the command and answer the host; nothing where another host is to run it."""
        self.read_call()
        if self.call.host is None:
            return
        self.table = self.call.host.table
        self.forms = self.table.get("answers", {}).get(self.event, {})
        try:
            rendered = None if self.is_elsewhere() else self.judge()
        except Exception as error:  # a command that cannot be asked is one that fails
            report_error(error)
            is_old = sys.version_info < (3, 8)
            rendered = self.fail(TOO_OLD if is_old else type(error).__name__)
        if rendered and len(rendered.data) > OUTPUT_LIMIT:
            rendered = self.fail(TOO_MUCH)
        if rendered:
            self.end = REFUSES if rendered.told else 0  # also where nobody takes the words
            self.write_receipt(rendered)
        write_all(1, rendered.data if rendered and rendered.data else self.silence)
        if rendered and rendered.told:
            write_all(2, rendered.told.encode("utf-8", "replace"))

    @property
    def silence(self):
        """What says that the hook has no opinion, where nothing would be taken for a refusal."""
        return self.forms.get("silence", "").encode()

    def read_call(self):
        """Read what the host sent, and find the folders; then nothing limits the time."""
        host = self.options["--host"]
        call = self.call = Call(self.event, host, TABLE)
        read_settings(call)
        start_timer(call.lock_s + SPARE_S)
        self.data, payload = read_input(parse_exactly)
        call.readable, call.payload = payload is not None, payload or {}
        call.host = find_host(call.table, host, call.payload) if call.table else None
        read_session(call, self.data)
        call.project = call.folder = ""
        try:
            find_folders(call)
        except (Exception, Expired) as error:  # then there is no receipt
            report_error(error)
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        enter(self.here)

    def judge(self):
        """What the host is told; None where the command has nothing to do with this event."""
        if not self.call.readable:
            return self.fail("what the host sent cannot be read")
        asked = self.find_questions()
        meant = [question for question in asked if self.is_meant(question)]
        is_whole = all(question.is_part or question in meant for question in asked)
        return self.ask(meant, is_whole) if meant else None

    def is_elsewhere(self):
        """Does another host run this registration that has one of the same pack itself?"""
        name = self.call.host.name
        if name == self.options["--host"]:
            return False
        own = self.call.config.get("packs", {}).get(name, [])
        return self.id.partition("/")[0] in own

    def find_questions(self):
        asked = questions(self.table, self.event, self.call.payload, self.call.host.name)
        needs_permission = self.forms.get("change_allows") and not self.may_allow
        for question in asked:
            if needs_permission or not question.can_change:
                can = question.portable["can"]
                question.portable["can"] = [name for name in can if name != "change"]
        return asked

    def is_meant(self, asked):
        """Does the matcher fit? Where the host does not tell by what, the hook runs."""
        is_prompt = self.event == "UserPromptSubmit"
        if is_prompt and self.table.get("skips_empty_prompts") and not asked.payload["prompt"]:
            return False
        if self.passes_through():  # it has held its own matcher against the same names
            return True
        if self.event == "Stop" and not self.call.ends_turn:
            return False
        is_sub = asked.portable["agent"] or self.call.subagent
        if self.event in OF_MAIN_AGENT and is_sub:
            return False
        matcher = self.options.get("--matcher", "")
        if self.event in TOOL_EVENTS:
            fits = any(matches(matcher, name) for name in asked.tools)
            return fits and self.is_of_this_event(asked)
        value = asked.payload.get(MATCHED.get(self.event, ""))
        return type(value) is not str or matches(matcher, value)

    def is_of_this_event(self, asked):
        """Did the call end as this event says? Some hosts have one event for both ends."""
        if self.event == "PreToolUse" or FAILURE_EVENT in self.table.get("events", {}):
            return True
        if was_refused(self.table, self.call.payload):
            return False
        return (asked.portable["ok"] is False) == (self.event == FAILURE_EVENT)

    def ask(self, asked, is_whole):
        """Run the command, once for each question; what the host is told.

        A refusal of one part counts even where the command fails on another.
        """
        answers, failures = [], []
        for question in asked:
            try:
                result = self.run_command(question)
                if self.passes_through():
                    return self.pass_through(result)
                answers.append(read_answer(self.event, result))
                if question.is_unnamed:
                    raise Failure(NO_TARGET)
            except Failure as failure:
                failures.append(str(failure))
        is_refused = any(answer.decision == "deny" for answer in answers)
        if failures and (self.refuses_failing or not answers) and not is_refused:
            return self.fail(failures[0])
        answer = join(answers, is_whole and not failures, asked[0].can_change)
        if failures:
            told = TOLD.format(id=self.id, why=failures[0])
            answer.message = "\n".join(filter(None, (answer.message, told)))
        rendered = render(
            self.forms, self.event, answer, self.may_allow, lambda input: to_native(asked[0], input)
        )
        if failures and rendered.outcome == "none":
            rendered.outcome = "failed"
        return rendered

    @property
    def may_allow(self):
        return bool(self.options.get("--may-allow"))

    def passes_through(self):
        """Does this host speak the protocol itself?"""
        return bool(self.table.get("own_protocol"))

    def run_command(self, question):
        """Run the command with a question; raises Failure where it cannot start."""
        for name in self.options["--file"]:
            path = self.options["--files"] + "/" + name
            if not posix.access(path, posix.R_OK):
                raise Failure(path + " is gone")
        seconds = float(self.options.get("--timeout", TIMEOUT_S))
        left = seconds - (time.monotonic() - self.begin)
        if left <= 0:
            raise Failure(TOO_LONG)
        try:
            data = self.input_for(question)
            result = run_command(self.command(), data, self.environ(), left)
            self.status = result.status
            return result
        except OSError as error:
            raise Failure(error.strerror or repr(error)) from None

    def command(self):
        """The command with its placeholders replaced; ${host} is the shell's."""
        values = {
            "files": quote(self.options.get("--files", "")),
            "host": self.options["--host"],
            "event": self.event,
        }
        command = self.options["command"]
        for name, value in values.items():
            first, *rest = command.split("{" + name + "}")
            for part in rest:
                first += ("{" + name + "}" if first.endswith("$") else value) + part
            command = first
        return command

    def input_for(self, question):
        """The command's stdin: on Claude Code the bytes that came, with one more key."""
        if self.passes_through():
            head, brace, tail = bytes(self.data).rstrip().rpartition(b"}")
            between = b"," if head.rstrip()[-1:] != b"{" else b""
            portable = b'"portable":' + dump_plain(question.portable).encode()
            return head + between + portable + brace + tail
        portable = {**question.portable, "native": self.call.payload}
        return dump_plain({**question.payload, "portable": portable}).encode()

    def environ(self):
        """The command's variables: ours, with the pack's and two that every hook may count on."""
        environ = dict(posix.environ)
        if not self.passes_through():
            project = self.call.project or self.here
            environ[b"CLAUDE_PROJECT_DIR"] = project.encode("utf-8", "surrogateescape")
        environ[b"HOOKCTL_HOST"] = self.call.host.name.encode()
        for assignment in self.options["--env"]:
            name, _, value = assignment.encode("utf-8", "surrogateescape").partition(b"=")
            environ[name] = value
        return environ

    def pass_through(self, result):
        """The answer as it is, except for a permission that nobody granted."""
        try:
            answer = read_answer(self.event, result)
        except Failure:
            is_kept = not (result.timed_out or result.overflow or self.refuses_failing)
            if result.status or not is_kept:
                raise
            return Rendered("failed", self.granted_part(result.out))
        judged = render(self.forms, self.event, answer, self.may_allow, lambda input: input)
        if result.status or result.timed_out or result.overflow:
            return judged
        passed = Rendered(judged.outcome, self.granted_part(result.out))
        passed.context_bytes = len(answer.context.encode("utf-8", "replace"))
        if "allow" in judged.dropped:
            passed.dropped.append("allow")
        return passed

    def granted_part(self, out):
        """What a command printed, as long as a client cannot find more in it than we did.

        One object goes on byte for byte; all else is written anew, and what begins like an object
        and is none is nothing.
        """
        text = clean(out)
        if not text.startswith("{"):
            return text.encode()
        values = object_in(text)
        if values is None:
            return b""
        left = values
        if self.event == "PreToolUse" and not self.may_allow:
            left = without_allow(values)
        is_plain = left == values and out.strip(b" \t\r\n") == text.encode()
        return out if is_plain else dump_plain(left).encode() if left else b""

    @property
    def refuses_failing(self):
        is_asked = self.options.get("--on-failure") == "deny"
        return is_asked and self.event in FAILURE_IS_REFUSAL

    def fail(self, why):
        """What the host is told about a command that failed."""
        rendered = Rendered()
        if self.refuses_failing:
            reason = REFUSED.format(id=self.id, why=why)
            refuse(self.forms, self.event, reason, Answer("deny", reason), rendered)
        else:
            add(self.forms, "message", TOLD.format(id=self.id, why=why), rendered)
            del rendered.dropped[:]
        rendered.outcome = "timeout" if why == TOO_LONG else "failed"
        return rendered

    def write_receipt(self, rendered):
        call = self.call
        if not call.folder:
            return
        line = {
            "kind": "run",
            "t": int(call.now),
            "host": call.host.name,
            "session": digest(call.session) if call.session else None,
            "event": self.event,
            "id": self.id,
            "ms": int((time.monotonic() - self.begin) * 1000),
            "status": self.status,
            "outcome": rendered.outcome,
            "bytes": rendered.context_bytes,
        }
        if env("HOOKCTL_FIRED") == "1":  # by a person who tries it: it does not count
            line["fired"] = True
        if rendered.dropped:
            line["dropped"] = rendered.dropped
        try:
            write_receipt(call, line)
        except OSError as error:
            report_error(error)


def quote(text):
    """A text as one word of sh."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def write_all(fd, data):
    """Write all of it, as far as somebody reads."""
    while data:
        data = data[posix.write(fd, data) :]
