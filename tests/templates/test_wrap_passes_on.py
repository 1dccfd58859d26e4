"""What `hook.py wrap` passes on of another tool's hook: everything, byte for byte, as long as it denies nothing."""

import os
import resource
import signal
import subprocess
import time

import pytest

from .lab import Lab, package_in
from .wraps import Wrapped, alive

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
