"""A traced hook is to the host what it is alone: the oracle is the same command without a trace."""

import contextlib
import os
import random
import resource
import select
import shlex
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .lab import PYTHON
from .traces import FAR, TraceLab, children_of, wait_until

SHELLS = [shell for shell in ("/bin/sh", "/bin/dash", "/bin/bash") if Path(shell).exists()]
NOISE = random.Random(5).randbytes(5_000_000)
LINUX = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system has no /proc")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[TraceLab]:
    lab = TraceLab(tmp_path.resolve())
    yield lab
    lab.close()


def run_with_sockets(lab: TraceLab, text: str, stdin: bytes) -> tuple[int, bytes]:
    """Run a text with sockets as stdin and stdout, as Node does; status and stdout."""
    ours, theirs = socket.socketpair()
    process = lab.start(text, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
    theirs.close()
    ours.sendall(stdin)
    ours.shutdown(socket.SHUT_WR)
    out = b"".join(iter(lambda: ours.recv(1 << 16), b""))
    ours.close()
    return process.wait(60), out


def test_five_megabytes_of_any_bytes_pass_both_ways(lab: TraceLab) -> None:
    assert lab.both("cat", input=NOISE).stdout == NOISE
    assert lab.receipt["bytes"] == 0


def test_five_megabytes_pass_between_two_sockets(lab: TraceLab) -> None:
    (lab.project / "noise").write_bytes(NOISE)
    stdin, stdout = socket.socketpair(), socket.socketpair()
    process = lab.start(lab.text("cat - noise"), stdin=stdin[1], stdout=stdout[1])
    for end in (stdin[1], stdout[1]):
        end.close()
    stdin[0].sendall(b"begin ")
    stdin[0].close()
    with stdout[0]:
        assert b"".join(iter(lambda: stdout[0].recv(1 << 16), b"")) == b"begin " + NOISE
    assert process.wait(60) == 0


@LINUX
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_stdout_is_of_the_kind_that_the_host_gave(lab: TraceLab, kind: str) -> None:
    texts = ["readlink /proc/self/fd/1", lab.text("readlink /proc/self/fd/1")]
    for text in texts:
        if kind == "pipe":
            out = lab.run(text).stdout
        else:
            ours, theirs = socket.socketpair()
            process = lab.start(text, stdin=subprocess.DEVNULL, stdout=theirs)
            theirs.close()
            out = b"".join(iter(lambda ours=ours: ours.recv(999), b""))
            process.wait(60)
            ours.close()
        assert out.startswith(kind.encode())


def test_one_socket_for_both_stdin_and_stdout_is_the_commands_own(lab: TraceLab) -> None:
    assert run_with_sockets(lab, "cat; exit 3", b"x") == run_with_sockets(lab, lab.text("cat; exit 3"), b"x")
    assert lab.receipt["status"] == 3


@pytest.mark.parametrize("status", range(256))
def test_the_status_is_the_commands(lab: TraceLab, status: int) -> None:
    done = lab.run(lab.text(f"exit {status}"))
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", b"")
    assert lab.receipt["status"] == status


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "name", ["HUP", "INT", "QUIT", "ILL", "ABRT", "FPE", "KILL", "SEGV", "PIPE", "ALRM", "TERM", "USR1", "XCPU", "XFSZ"]
)
def test_a_death_by_a_signal_is_one(lab: TraceLab, shell: str, name: str) -> None:
    done = lab.both(f"kill -{name} $$", shell=shell)
    is_dead = name != "QUIT" or not shell.endswith("bash")  # which ignores that one
    assert done.returncode == (-getattr(signal, f"SIG{name}") if is_dead else 0)
    assert lab.receipt["outcome"] == ("failed" if is_dead else "none")


def test_both_streams_come_in_the_order_of_the_command_where_they_are_one(lab: TraceLab) -> None:
    command = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done"
    lab.both(command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, capture_output=False)


def test_each_word_comes_as_it_is_said(lab: TraceLab) -> None:
    """The command waits for an answer to each, so none can be kept back."""
    command = "echo one; read x; echo two >&2; read x; echo three; read x; exit 5"
    process = lab.start(
        lab.text(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    assert process.stdin and process.stdout and process.stderr
    for stream, word in ((process.stdout, b"one"), (process.stderr, b"two"), (process.stdout, b"three")):
        assert stream.readline() == word + b"\n"
        process.stdin.write(b"go\n")
    assert process.wait(60) == 5


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "command",
    [
        "cat <&0; echo $?",
        "echo x; echo y >&2; exit 4",
        'printf "%s|" "$0" "$#" "$@"; set',
        "tr '\\0' '\\n' < /proc/$$/cmdline",
        "ulimit -a; umask; pwd; pwd -P",
        "env -0",
        "set -e; false; echo never",
        "echo 'a'\"b\"\\\\$((1+1)) é; : # a comment",
        "no-such-command-at-all",
        "if",
        "trap 'echo bye; exit 9' EXIT; echo hi",
        "cat <<'E'\nlines\nE\nexit 7",
        "ps -o pgid= -p $$ | wc -l; kill -0 $$",
        "exec 3>&1; echo three >&3; exec >&-; echo nothing",
        "type [[ ; echo ${BASH_VERSION:+bash}",
        "trap",
    ],
)
def test_nothing_else_differs(lab: TraceLab, shell: str, command: str) -> None:
    if "set" in command and "BASH" not in command and command.endswith("set"):
        command += " | grep -v -E '^(_|PPID|BASHPID|BASH_EXECUTION_STRING|RANDOM|SECONDS|EPOCH.*|SRANDOM)='"
    lab.both(command, shell=shell, input=b"some input")


@pytest.mark.parametrize(
    "variables", [{}, {"LC_ALL": "C", "A": "\xe9\n=x", "B_": ""}, {"_": "/usr/bin/agent", "SHLVL": "3"}]
)
@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_has_the_hosts_variables_and_no_other(lab: TraceLab, shell: str, variables: dict[str, str]) -> None:
    lab.both("env -0 | sort -z", shell=shell, env={"PATH": "/usr/bin:/bin", **variables})


@LINUX
def test_limits_folder_mask_and_priority_stay(lab: TraceLab) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 50))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 21))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.nice(3)
        os.umask(0o027)

    command = "cat /proc/self/limits; umask; nice; pwd; grep -E '^(Sig(Blk|Cgt)|NoNewPrivs)' /proc/self/status"
    lab.both(command, preexec_fn=limit)


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)])
def test_closed_descriptors_are_closed(lab: TraceLab, closed: tuple[int, ...]) -> None:
    ends = " ".join(f"{fd}>&-" for fd in closed)
    command = (
        "for fd in 0 1 2; do if [ -e /proc/$$/fd/$fd ]; then echo $fd >> seen; else echo no >> seen; fi; done; exit 3"
    )
    for text in (command, lab.text(command)):
        outer = f"exec {ends}; exec /bin/sh -c {shlex.quote(text)}"
        assert lab.run(outer).returncode == 3
    lines = (lab.project / "seen").read_text().splitlines()
    assert lines[:3] == lines[3:]


def test_further_descriptors_are_the_commands_too(lab: TraceLab) -> None:
    for text in ("echo more >&9", lab.text("echo more >&9")):
        assert lab.run(f"exec /bin/sh -c {shlex.quote(text)} 9>&1").stdout == b"more\n"


def test_a_command_that_reads_nothing_leaves_the_input_to_the_host(lab: TraceLab) -> None:
    """What the host sends stays unread, so it gets the same error as without a trace."""
    for text in ("exit 0", lab.text("exit 0")):
        process = lab.start(text, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin
        process.wait(60)
        with pytest.raises(BrokenPipeError):
            process.stdin.write(NOISE)
            process.stdin.flush()


def test_input_that_never_ends_is_not_waited_for(lab: TraceLab) -> None:
    for text in ("echo done", lab.text("echo done")):
        process = lab.start(text, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout and process.stdout.read() == b"done\n"
        assert process.wait(60) == 0


def test_a_host_that_reads_no_more_ends_the_command_by_the_same_signal(lab: TraceLab) -> None:
    for text in ("exec yes", lab.text("exec yes")):
        process = lab.start(text, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, preexec_fn=default_sigpipe)
        assert process.stdout
        process.stdout.read(100)
        process.stdout.close()
        assert process.wait(60) == -signal.SIGPIPE


@LINUX
def test_a_word_after_the_host_has_gone_ends_the_command_by_that_signal(lab: TraceLab) -> None:
    command = "echo a; read x; echo b; exit 3"
    for text in (command, lab.text(command)):
        process = lab.start(text, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=default_sigpipe)
        assert process.stdin and process.stdout
        process.stdout.readline()
        process.stdout.close()
        for child in children_of(process.pid):  # what the command says goes nowhere any more
            wait_until(lambda process=process, child=child: pipe_at(child, 1) not in pipes_of(process.pid))
        process.stdin.write(b"go\n")
        process.stdin.close()
        assert process.wait(60) == -signal.SIGPIPE


def pipe_at(pid: int, fd: int) -> str:
    return os.readlink(f"/proc/{pid}/fd/{fd}")


def pipes_of(pid: int) -> set[str]:
    found = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found.add(os.readlink(entry))
    return found


def test_a_host_that_never_reads_ends_the_command_at_its_first_word(lab: TraceLab) -> None:
    for text in ("echo a; exit 3", lab.text("echo a; exit 3")):
        read, write = os.pipe()
        os.close(read)
        process = lab.start(text, stdin=subprocess.DEVNULL, stdout=write, preexec_fn=default_sigpipe)
        os.close(write)
        assert process.wait(60) == -signal.SIGPIPE


def default_sigpipe() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def test_children_in_the_background_do_not_keep_the_host(lab: TraceLab) -> None:
    """The status comes at once; what they say comes later, as without a trace."""
    gate = lab.project / "gate"
    os.mkfifo(gate)
    for text in ("(read x < gate; echo late) & echo early; exit 6", None):
        text = text or lab.text("(read x < gate; echo late) & echo early; exit 6")
        process = lab.start(text, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert process.wait(60) == 6
        assert process.stdout and process.stdout.readline() == b"early\n"
        gate.write_text("go\n")
        assert process.stdout.read() == b"late\n"


def test_what_the_background_has_closed_is_closed(lab: TraceLab) -> None:
    gate = lab.project / "gate"
    os.mkfifo(gate)
    command = "(exec 2> /dev/null; read x < gate; echo late) & exit 0"
    for text in (command, lab.text(command)):
        process = lab.start(text, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.wait(60) == 0
        assert process.stdout and process.stderr
        wait_until(lambda process=process: select.select([process.stderr], [], [], 0)[0])
        assert process.stderr.read() == b""
        gate.write_text("go\n")
        assert process.stdout.read() == b"late\n"


def test_the_background_may_die_by_a_host_that_goes(lab: TraceLab) -> None:
    process = lab.start(
        lab.text("(trap 'exit' PIPE; while echo x; do sleep 0.05; done; echo > gone) & exit 0"), stdout=subprocess.PIPE
    )
    assert process.wait(60) == 0
    assert process.stdout
    process.stdout.close()
    wait_until(lambda: not pids_in(lab.project))


def pids_in(folder: Path) -> list[int]:
    """The processes whose working folder this is."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") == str(folder):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


COUNTS = "trap 'echo got >> got' {name}; echo up > up; while [ ! -e stop ]; do sleep 0.02; done; exit 8"


@LINUX
@pytest.mark.parametrize("whom", ["group", "process"])
@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1", "WINCH", "CONT", "ALRM"])
def test_a_signal_comes_once(lab: TraceLab, name: str, whom: str) -> None:
    """To the group or to the process that the host knows: the command has it once, as without a trace."""
    for text in (COUNTS.format(name=name), lab.text(COUNTS.format(name=name))):
        for file in ("up", "got", "stop"):
            (lab.project / file).unlink(missing_ok=True)
        process = lab.start(text, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
        wait_until((lab.project / "up").exists)
        if text.startswith(": hookctl-trace"):  # the command, and the one that tells whom a signal was for
            wait_until(lambda process=process: len(children_of(process.pid)) == 2)
        number = getattr(signal, f"SIG{name}")
        for count in (1, 2):
            os.killpg(process.pid, number) if whom == "group" else os.kill(process.pid, number)
            wait_until(lambda count=count: has_lines(lab.project / "got", count))
        (lab.project / "stop").touch()
        assert process.wait(60) == 8
        assert (lab.project / "got").read_text() == "got\n" * 2


def has_lines(path: Path, count: int) -> bool:
    return path.exists() and len(path.read_text().splitlines()) >= count


@pytest.mark.parametrize("whom", ["group", "process"])
@pytest.mark.parametrize("name", ["TERM", "INT"])
def test_a_signal_that_the_command_does_not_catch_ends_both(lab: TraceLab, name: str, whom: str) -> None:
    for text in ("echo up; exec sleep 300", lab.text("echo up; exec sleep 300")):
        process = lab.start(text, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
        assert process.stdout and process.stdout.readline() == b"up\n"
        number = getattr(signal, f"SIG{name}")
        os.killpg(process.pid, number) if whom == "group" else os.kill(process.pid, number)
        assert process.wait(60) == -number
        assert process.stdout.read() == b""
    wait_until(lambda: not pids_in(lab.project))


def test_a_signal_goes_on_while_the_host_does_not_read(lab: TraceLab) -> None:
    process = lab.start(lab.text("exec yes"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    wait_until(lambda: children_of(process.pid))
    process.send_signal(signal.SIGTERM)
    assert process.stdout
    while process.stdout.read(1 << 16):
        assert process.poll() in (None, -signal.SIGTERM)
    assert process.wait(60) == -signal.SIGTERM


def test_the_end_of_the_whole_group_leaves_nothing_behind(lab: TraceLab) -> None:
    process = lab.start(lab.text("echo up; sleep 300 & wait"), stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout and process.stdout.readline() == b"up\n"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)
    wait_until(lambda: not pids_in(lab.project))


@pytest.mark.parametrize("ignored", ["HUP", "TERM", "INT"])
def test_what_the_host_ignores_stays_ignored(lab: TraceLab, ignored: str) -> None:
    number = getattr(signal, f"SIG{ignored}")
    done = lab.both(f"kill -{ignored} $$; echo alive", preexec_fn=lambda: ignore(number))
    assert done.stdout == b"alive\n"


def ignore(number: int) -> None:
    signal.signal(number, signal.SIG_IGN)


@pytest.mark.parametrize("lost", ["trace.py", "hook.py", "package", "module", "time", "table", "state"])
def test_whatever_is_lost_the_hook_runs_once(lab: TraceLab, lost: str) -> None:
    command = "echo ran >> ran; cat; echo said; echo told >&2; exit 5"
    package = next(lab.runtime.glob("runner_*"))
    until = FAR
    if lost in ("trace.py", "hook.py"):
        (lab.runtime / lost).unlink()
    elif lost == "package":
        package.rename(lab.root / "moved")
    elif lost == "module":
        (package / "outcome.py").write_text("raise OSError")
        for file in (package / "__pycache__").glob("outcome*"):
            file.unlink()
    elif lost == "time":
        until = 1
    elif lost == "table":
        (lab.runtime / "claude.json").write_text("{")
    elif lost == "state":
        lab.state.write_text("no folder")
    done = lab.run(lab.text(command, until=until), input=b"in")
    assert (done.returncode, done.stdout, done.stderr) == (5, b"insaid\n", b"told\n")
    assert (lab.project / "ran").read_text() == "ran\n"


def test_without_the_interpreter_the_hook_runs(lab: TraceLab) -> None:
    text = lab.text('printf "%s,%s" "$0" "$#"; exit 4').replace(PYTHON, "/nowhere/python3")
    done = lab.run(text)
    assert (done.returncode, done.stdout) == (4, b"/bin/sh,0")


RECEIPTS: list[tuple[str, str, str, int]] = [
    ("PreToolUse", "echo nothing", "none", 0),
    ("PreToolUse", "exit 2", "deny", 0),
    ("Stop", "exit 2", "block", 0),
    ("SessionEnd", "exit 2", "none", 0),
    ("PreToolUse", "exit 1", "failed", 0),
    ("PreToolUse", "kill -9 $$", "failed", 0),
    ("SessionStart", "printf 'five\\n\\n'", "context", 4),
    ("UserPromptSubmit", "head -c 100000 /dev/zero | tr '\\0' x", "context", 100_000),
    ("PreToolUse", """echo '{"hookSpecificOutput":{"permissionDecision":"ask"}}'""", "ask", 0),
    ("PreToolUse", """echo '{"permissionDecision":"deny"}'; exit 1""", "deny", 0),
    ("PreToolUse", """echo '{"permission":"allow"}'""", "allow", 0),
    ("Stop", """echo '{"decision":"block","reason":"r"}'""", "block", 0),
    ("Stop", """echo '{"continue":false}'""", "end", 0),
    ("PostToolUse", """echo '{"additional_context":"abc"}'""", "context", 3),
    ("PostToolUse", """echo '{"hookSpecificOutput":{"additionalContext":"é"}}'""", "context", 2),
    ("PostToolUse", """echo '{"hook_specific_output":{"additional_context":"é"}}'""", "context", 2),
    ("PreToolUse", """echo '{"hookSpecificOutput":{"updatedInput":{}}}'""", "change", 0),
    ("PreToolUse", """echo '{"hook_specific_output":{"tool_input":{}}}'""", "change", 0),
    ("PreToolUse", """echo '{"broken'""", "none", 0),
]


@pytest.mark.parametrize(("event", "command", "outcome", "size"), RECEIPTS)
def test_the_receipt_says_what_the_hook_did(lab: TraceLab, event: str, command: str, outcome: str, size: int) -> None:
    lab.run(lab.text(command, event))
    receipt = lab.receipt
    assert (receipt["outcome"], receipt["bytes"], receipt["event"]) == (outcome, size, event)
    assert (receipt["kind"], receipt["host"], receipt["id"]) == ("run", "claude", "abc123")
    assert 0 <= receipt["ms"] < 60_000


def test_the_receipt_lies_with_the_project_of_the_hook(lab: TraceLab) -> None:
    folder = lab.project / "deep" / "er"
    folder.mkdir(parents=True)
    lab.run(lab.text(":"), cwd=folder)
    lab.run(lab.text(":"), env={**lab.environment, "CLAUDE_PROJECT_DIR": str(lab.project)}, cwd="/")
    assert len(list(lab.state.glob("guard/*"))) == 1
    assert len(lab.receipts()) == 2
