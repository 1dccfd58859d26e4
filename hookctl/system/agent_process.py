"""The process of an agent: which one a command runs in, and whether it has ended (Linux only).

A process is described as "pid start machine", as the guard's hook writes it, so that neither a
reused id nor another machine is taken for it.
"""

from __future__ import annotations

import os

_LIMIT = 20  # ancestors
_START = 19  # of the fields behind the name in /proc/PID/stat


def describe(pid: str) -> str:
    """A process in our form; empty if it cannot be looked at."""
    fields = _read_status(pid)
    machine = _name_machine()
    if len(fields) <= _START or not machine:
        return ""
    return f"{pid} {fields[_START]} {machine}"


def is_gone(process: str) -> bool | None:
    """Whether a described process has ended; None if that cannot be seen from here."""
    pid, _, rest = process.partition(" ")
    start, _, machine = rest.partition(" ")
    if not machine or machine != _name_machine():
        return None
    fields = _read_status(pid)
    return len(fields) <= _START or fields[_START] != start or fields[0] in ("Z", "X")


def find_agent(variable: str, value: str) -> tuple[str, int]:
    """The id of the agent that gave this variable to its tools, and how many processes lie between.

    It is the nearest process above us that was itself started without it; ("", 0) if unknown.
    """
    mark = f"{variable}={value}".encode("utf-8", "surrogateescape")
    pid = str(os.getpid())
    for depth in range(_LIMIT):
        try:
            with open(f"/proc/{pid}/environ", "rb") as stream:
                has_it = mark in stream.read().split(b"\0")
        except OSError:
            return "", 0
        if not has_it:
            return (pid, depth) if depth else ("", 0)
        fields = _read_status(pid)
        if not fields:
            return "", 0
        pid = fields[1]
    return "", 0


def _read_status(pid: str) -> list[str]:
    """The fields of /proc/PID/stat behind the name: state, parent, ...; none if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()
    except (OSError, ValueError):
        return []


def _name_machine() -> str:
    """The boot and the space of process ids that we are in; empty where there is no /proc."""
    try:
        space = os.readlink("/proc/self/ns/pid").strip("pid:[]")
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
            return f"{stream.read().strip()[:8]}:{space}"
    except (OSError, ValueError):
        return ""
