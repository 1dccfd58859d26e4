"""Another tool's hook, wrapped: everything of it is passed on byte for byte, and its denials are counted to an end."""

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.documents.table import document_of, read_table

from .lab import Lab, own_programs, package_in
from .wraps import Wrapped, alive

ROWS_FOLDER = Path(__file__).parent / "rows"
ROWS = [(host, document_of(command).decode(), kind) for host, command, kind in read_table("denials", ROWS_FOLDER)]
FORMS = [(host, command) for host, command, kind in ROWS if kind == "denies"]
HARMLESS = [(host, command) for host, command, kind in ROWS if kind != "denies"]
WITH_WORDS = ("claude", "codex", "gemini", "qwen", "opencode")


def passed_on(wrapped: Wrapped, times: int) -> list[bool]:
    """Which of these stops got what the other hook says, in full."""
    own = wrapped.lab.environment
    wrapped.lab.environment = {**own, "HOOKCTL_DISABLE": "1"}
    plain = wrapped.run()
    wrapped.lab.environment = own
    passed = []
    for _ in range(times):
        done = wrapped.run()
        passed.append((done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr))
    return passed


@pytest.mark.parametrize(("host", "command"), FORMS)
def test_the_fifth_denial_lets_go_whatever_its_form(lab: Lab, host: str, command: str) -> None:
    lab.host = host
    wrapped = Wrapped(lab, command)
    assert passed_on(wrapped, 4) == [True] * 4
    done = wrapped.run()
    assert (done.returncode, done.stderr) == (0, b"")
    if host in WITH_WORDS:
        words = json.loads(done.stdout)["systemMessage"]
        assert words.startswith("hookctl guard: let the agent stop. Stop hook denied 5 times without progress")
    elif host == "openhands":
        assert json.loads(done.stdout)["decision"] == "allow"
    else:
        assert done.stdout == b""
    assert lab.codes() == ["blocked"] * 4 + ["tripped"]
    assert passed_on(wrapped, 2) == [False] * 2
    assert lab.codes()[5:] == ["open", "open"]


@pytest.mark.parametrize(("host", "command"), HARMLESS)
def test_what_denies_nothing_is_passed_on_for_ever(lab: Lab, host: str, command: str) -> None:
    lab.host = host
    wrapped = Wrapped(lab, command)
    assert passed_on(wrapped, 5) == [True] * 5
    assert lab.log() == []


@pytest.mark.parametrize("host", ["copilot", "droid", "opencode"])  # all others: FORMS
def test_every_host_has_an_end(lab: Lab, host: str) -> None:
    lab.host = host
    assert Wrapped(lab, "exit 2").stops(7).rstrip("A").rstrip("R") == "BBBB"


def test_the_end_of_a_session_is_no_stop(lab: Lab) -> None:
    """Grok Build tells of it by the same event, and takes no denial there."""
    lab.host = "grok"
    wrapped = Wrapped(lab)
    assert wrapped.stops(6, reason="shutdown") == "AAAAAA"
    assert lab.log() == []
    assert wrapped.stops(6, reason="end_turn") == "BBBBAA"


def test_it_lets_go_in_the_words_of_the_host_that_runs_it(lab: Lab) -> None:
    lab.environment["COPILOT_CLI"] = "1"
    lab.payload["timestamp"] = "2026-11-22T08:00:00.000Z"
    assert Wrapped(lab, "exit 2").stops(6) == "BBBBAA"
    assert {line["host"] for line in lab.log()} == {"copilot"}


def test_each_session_and_each_wrapped_hook_has_a_count_of_its_own(lab: Lab) -> None:
    assert Wrapped(lab).stops(4) == "BBBB"
    assert Wrapped(lab, "exit 2").stops(5) == "BBBBR"
    assert Wrapped(lab).stop(session_id="S2") == "B"
    assert Wrapped(lab).stop() == "R"


def test_two_copies_for_one_stop_count_once(lab: Lab) -> None:
    wrapped, other = Wrapped(lab), lab.second()
    answers = ""
    for number in range(6):
        lab.payload["number"] = number
        answers += wrapped.stop(active=True) + wrapped.stop(config=other, active=True)
    assert answers == "BBBBBBBBRRAA"
    assert len(lab.log()) == 6


@pytest.mark.parametrize("stdin", [b"", b"[]", b"{", b'{"cwd":"/"}', b'{"a":"' + b"x" * (17 << 20) + b'"}'], ids=len)
def test_a_denial_of_an_unknown_session_is_not_passed_on(lab: Lab, stdin: bytes) -> None:
    done = Wrapped(lab).run(stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "the session is not known" in json.loads(done.stdout)["systemMessage"]
    assert lab.codes() == ["no_input"]


# A wrapped hook where prompts and tool calls come as events only, and what a person is told when it is let go.
DENY = """echo '{"decision":"deny","reason":"go on"}'"""
TOLD = "hookctl guard: let the agent stop. Stop hook denied 3 times without progress (limit 3). Last feedback: "


@pytest.fixture
def wrapped(lab: Lab) -> Wrapped:
    lab.host = "openhands"
    lab.config(mode="off", max_stop_blocks=3, wraps=True)
    return Wrapped(lab, DENY)


def test_a_tool_call_starts_the_count_anew_in_mode_off_too(lab: Lab, wrapped: Wrapped) -> None:
    assert wrapped.stops(2) == "BB"
    lab.call("post-tool", tool_name="terminal", tool_input={"command": "true 1"})
    assert wrapped.stops(4) == "BBRA"
    lab.call("post-tool", tool_name="terminal", tool_input={"command": "true 1"})  # the same again is no progress
    assert wrapped.stop() == "A"


@pytest.mark.parametrize(
    ("command", "feedback"),
    [
        (DENY, "go on"),
        ("echo 'two\nlines' >&2; exit 2", "two lines"),
        (r"""printf '{"decision":"deny","reason":"\\u001b[31mred\\u0007 {limit} %%s"}'""", "[31mred {limit} %s"),
        ("""echo '{"decision":"deny","reason":"one","additionalContext":"two"}'""", "two"),
        (f"""echo '{{"decision":"deny","reason":"{"x" * 600}"}}'""", "x" * 497 + "..."),
        ("exit 2", "none"),
    ],
    ids=["reason", "stderr", "control characters", "context first", "long", "nothing"],
)
def test_a_person_hears_count_limit_and_last_feedback(lab: Lab, wrapped: Wrapped, command: str, feedback: str) -> None:
    wrapped = Wrapped(lab, command)
    *_, last = [wrapped.run().stdout for _ in range(3)]
    assert json.loads(last) == {"decision": "allow", "reason": TOLD + feedback}
    assert feedback == "none" or feedback not in json.dumps(lab.log())


# What it passes on, as long as it denies nothing

STATUSES = {"exit 0": 0, "exit 1": 1, "exit 2": 2, "exit 3": 3, "no-such-command-at-all": 127, "kill -9 $$": 137}
BYTES = b'\x00\xff{"half": \xe9 \r\n\x1b[31m' * 7


@pytest.mark.parametrize("command", STATUSES)
def test_exit_status_and_words_are_the_other_hooks_byte_for_byte(lab: Lab, command: str) -> None:
    """A denial by its exit status too."""
    (lab.root / "out").write_bytes(BYTES)
    (lab.root / "err").write_bytes(BYTES[::-1])
    done = Wrapped(lab, f"cat out; cat err >&2; {command}").run()
    assert (done.returncode, done.stdout) == (STATUSES[command], BYTES)
    assert done.stderr.startswith(BYTES[::-1])
    assert STATUSES[command] == 127 or done.stderr == BYTES[::-1]


@pytest.mark.parametrize(
    "stdin",
    [b"", b"no JSON at all", BYTES, b'{"session_id":"S1"}\n', b"x" * (17 * 1024 * 1024)],
    ids=["empty", "text", "bytes", "an object", "above 16 MiB"],
)
def test_the_other_hook_reads_the_very_bytes(lab: Lab, stdin: bytes) -> None:
    done = Wrapped(lab, "cat | cksum >&2; cat").run(stdin)
    sum_of = subprocess.run(["cksum"], input=stdin, capture_output=True, check=True)
    assert (done.returncode, done.stderr) == (0, sum_of.stdout)


def test_it_runs_in_the_folder_that_the_host_has_chosen(lab: Lab) -> None:
    """And not in the project: the guard's own hook goes there."""
    lab.environment["CLAUDE_PROJECT_DIR"] = str(lab.project)
    assert Wrapped(lab, "pwd -P").run().stdout.decode().strip() == str(lab.root.resolve())


def test_switched_off_everything_passes_for_ever(lab: Lab) -> None:
    lab.environment["HOOKCTL_DISABLE"] = "1"
    assert Wrapped(lab).stops(7) == "BBBBBBB"
    assert Wrapped(lab, "exit 2").stops(7) == "BBBBBBB"
    assert lab.log() == []


@pytest.mark.parametrize("module", ["call", "wrapped"])
@pytest.mark.parametrize("text", [None, "def (", "raise OSError", "import no_such_module", "prepare = 5"], ids=str)
def test_without_modules_that_work_the_other_hook_runs_by_itself(lab: Lab, module: str, text: str | None) -> None:
    own_programs(lab.top)
    path = package_in(lab.top) / f"{module}.py"
    path.unlink()
    if text is not None:
        path.write_text(text)
    done = Wrapped(lab, "cat; echo said >&2; exit 2").run(b"stdin")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"stdin", b"said\n")


BROKEN = [
    "{",
    " " * 70_000,
    '{"hosts": []}',
    '{"hosts": {"claude": {"payload": 3}}}',
    '{"hosts": {"claude": {"also_run_by": {"cursor": {}}}}}',
    '{"hosts": {"claude": {"denials": {"words": ["decision"]}}}}',
]


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text.strip() or "too large")
def test_whatever_is_wrong_with_our_configuration_the_other_hook_runs_and_its_denials_have_an_end(
    lab: Lab, text: str
) -> None:
    lab.configuration.write_text(text)
    lab.environment["HOOKCTL_DEBUG"] = "1"  # no error is swallowed
    harmless = """echo '{"decision":"approve"}'; echo said >&2; exit 3"""
    done = Wrapped(lab, harmless).run()
    assert (done.returncode, done.stdout, done.stderr) == (3, b'{"decision":"approve"}\n', b"said\n")
    done = Wrapped(lab, "cat; echo why >&2; exit 2").run(stdin := Wrapped(lab).payload())
    assert (done.returncode, done.stdout, done.stderr) == (2, stdin, b"why\n")
    assert Wrapped(lab).stops(6) == "BBBBAA"
    assert Wrapped(lab, "echo x >> ran").stops(2) == "AA"
    assert (lab.root / "ran").read_text() == "x\nx\n"


def test_where_no_process_can_be_started_it_becomes_the_other_hook(lab: Lab) -> None:
    def few_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (7, 7))

    done = subprocess.run(
        Wrapped(lab, "cat; exit 3").words(), input=b"stdin", capture_output=True, env=lab.environment,
        preexec_fn=few_files,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (3, b"stdin", b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_goes_on_to_the_other_hook(lab: Lab, number: int) -> None:
    wrapped = Wrapped(lab, f'trap "echo ended; exit 5" {int(number)}; echo $$ > pid; while :; do sleep 0.05; done')
    pid, process = _started(wrapped)
    process.send_signal(number)
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (5, b"ended\n")
    assert not alive(pid)


def _started(wrapped: Wrapped) -> "tuple[int, subprocess.Popen[bytes]]":
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        wrapped.words(), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=wrapped.lab.environment,
        cwd=wrapped.lab.root,
    )  # fmt: skip
    path, end = wrapped.lab.root / "pid", time.monotonic() + 20
    while not (path.exists() and path.read_text().strip()) and time.monotonic() < end:
        time.sleep(0.02)
    return int(path.read_text()), process


def test_what_it_leaves_running_keeps_nobody_waiting(lab: Lab) -> None:
    """A process in the background holds its output open, as one of a notifier may."""
    begun = time.monotonic()
    done = Wrapped(lab, "sleep 30 & echo $! > pid; echo said").run()
    spent = time.monotonic() - begun
    os.kill(int((lab.root / "pid").read_text()), signal.SIGKILL)
    assert (done.returncode, done.stdout) == (0, b"said\n")
    assert spent < 15
