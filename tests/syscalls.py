"""strace as the hand of a test: what a command asks the system for, and the command with one of these calls struck."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

KILL = "KILL"
_CHANGING_BY_HANDLE = (
    "write", "writev", "pwrite64", "pwritev", "pwritev2", "ftruncate", "fallocate", "fchmod", "fchown", "fsync",
    "fdatasync", "fsetxattr", "fremovexattr", "flock", "sendfile", "copy_file_range",
)  # fmt: skip
_CHANGING_BY_NAME = (
    "openat", "open", "creat", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "unlink",
    "unlinkat", "mkdir", "mkdirat", "rmdir", "truncate", "chmod", "fchmodat", "fchmodat2", "chown", "lchown",
    "fchownat", "setxattr", "lsetxattr", "removexattr", "utimensat", "mknodat",
)  # fmt: skip
_READING_BY_HANDLE = ("read", "close", "getdents64")
_READING_BY_NAME = ("newfstatat", "stat", "lstat", "access", "faccessat2", "readlink", "readlinkat", "listxattr")
_BY_HANDLE = (*_CHANGING_BY_HANDLE, *_READING_BY_HANDLE)
_FOR_READING = re.compile(r"(openat|open)\((?!.*(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC))")
_LINE = re.compile(r"(\w+)\((.*)")
# What differs from run to run: temporary names, the times of backups, and both within hidden names.
_RANDOM = re.compile(r"[0-9a-f]{8}\.[0-9]+\.[0-9a-f]{8}(?=\.hookctl)|(?<![0-9])[0-9]{20}(?=-)")


class Call(NamedTuple):
    """One call that has to do with files."""

    name: str
    number: int  # how many calls of this name the process has made with it
    paths: tuple[str, ...]  # those that it names, without what is random in them
    changes: bool  # not only reads

    def __str__(self) -> str:
        return f"{self.name} {self.number} of {' to '.join(self.paths)}"


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    said: str  # on stderr
    met: Call | None = None  # the call that was struck, by its number in this run; None where that changed nothing


def unavailable() -> str:
    """Why there is no strace here; empty if there is."""
    if not shutil.which("strace"):
        return "strace is not installed"
    tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, text=True)
    return f"strace does not work here: {tried.stderr.strip()}" if tried.returncode else ""


def recorded(top: Path, log: Path, *command: str, environ: Mapping[str, str] | None = None) -> list[Call]:
    """The calls of hookctl with this command that read or change something below `top`, in their order."""
    every = (*_BY_HANDLE, *_CHANGING_BY_NAME, *_READING_BY_NAME)
    done = _ended(_started(log, every, (), command, environ))
    assert done.code == 0, done.said
    return list(_below(top, log))


def struck(top: Path, log: Path, call: Call, fault: str, *command: str, lasting: bool = False) -> Ended:
    """Run hookctl with this command; it is killed right before the call, or the call fails with this error.

    With `lasting` every later call of that name fails too. Calls are counted in each run anew: another program's work
    may move one to another number, and then the run is judged by the call that it met.
    """
    what = "signal" if fault == KILL else "error"
    how = f"inject={call.name}:{what}={fault}:when={call.number}{'+' * lasting}"
    done = _ended(_started(log, (call.name,), ("-e", how), command))
    met = next((other for other in _below(top, log) if other.number == call.number and other.changes), None)
    if met and fault == KILL:
        assert done.code == -signal.SIGKILL, f"{met} did not kill it"
        assert log.read_text().endswith("+++ killed by SIGKILL +++\n")
    elif met:
        lines = [line for line in log.read_text().splitlines() if _LINE.match(line)]
        assert "(INJECTED)" in lines[met.number - 1]
    return done._replace(met=met)


def stopped(log: Path, call: Call, meanwhile: Callable[[], None], *command: str) -> Ended | None:
    """Run hookctl with this command, and do something while it stands still right after the call.

    None, and nothing was done, where another call had this number in this run.
    """
    how = f"inject={call.name}:signal=STOP:when={call.number}"
    log.write_text("")
    strace = _started(log, (call.name,), ("-e", how), command)
    while "--- stopped by SIGSTOP ---\n" not in log.read_text():
        if strace.poll() is not None:
            return None
        time.sleep(0.002)
    is_met = call in _calls(log)
    if is_met:
        meanwhile()
    os.kill(_child(strace.pid), signal.SIGCONT)
    done = _ended(strace)
    return done if is_met else None


def _started(
    log: Path, names: tuple[str, ...], how: tuple[str, ...], command: tuple[str, ...],
    environ: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:  # fmt: skip
    trace = "trace=" + ",".join(f"?{name}" for name in names)  # not every machine has them all
    call = ["strace", "-qq", "-y", "-o", str(log), "-e", trace, *how, sys.executable, "-m", "hookctl", *command]
    return subprocess.Popen(
        call, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        preexec_fn=_on_one_processor, env=environ,
    )  # fmt: skip


def _on_one_processor() -> None:
    """On two, each of the thousands of stops of the traced process costs ten times as much."""
    usable = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {usable[os.getppid() % len(usable)]})


def _ended(strace: subprocess.Popen[str]) -> Ended:
    said = strace.communicate(timeout=60)[1]
    return Ended(strace.returncode, said)


def _child(parent: int) -> int:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[1]) == parent:
            return int(path.parent.name)
    raise AssertionError("strace has no child")


def _below(top: Path, log: Path) -> Iterator[Call]:
    """The calls in a log that name something below this folder."""
    return (call for call in _calls(log) if any(path.startswith(f"{top}/") for path in call.paths))


def _calls(log: Path) -> Iterator[Call]:
    """The calls in a log, each with its number among those of its name."""
    counts: dict[str, int] = {}
    for line in log.read_text().splitlines():
        match = _LINE.match(line)
        if match:
            name, rest = match[1], match[2]
            counts[name] = counts.get(name, 0) + 1
            if name in _BY_HANDLE:
                paths = re.findall(r"[0-9]<(/[^>]*)>", rest)[:1]  # what stands behind it is data
            else:
                paths = re.findall(r'"(/[^"]*)"', rest)
                paths = paths or re.findall(r"[0-9]<(/[^>]*)>", rest)[:1]  # newfstatat knows both forms
            changes = name not in (*_READING_BY_HANDLE, *_READING_BY_NAME) and not _FOR_READING.match(line)
            yield Call(name, counts[name], tuple(_RANDOM.sub("*", path) for path in paths), changes)
