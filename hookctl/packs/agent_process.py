"""The process of an agent: which one a command runs in, and whether it has ended (Linux only).

A process is described as "pid start machine", as the guard's hook writes it, so that neither a
reused id nor another machine is taken for it.
"""

from __future__ import annotations

import os

from hookctl.packs.guard_package import guard_module

_LIMIT = 20  # ancestors


def describe(pid: str) -> str:
    """A process in the guard's form; empty if it cannot be looked at."""
    described: str = guard_module("owner").describe_process(pid)
    return described


def is_gone(process: str) -> bool | None:
    """Whether a described process has ended; None if that cannot be seen from here."""
    gone: bool | None = guard_module("owner").is_gone(process)
    return gone


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
        fields = guard_module("owner").read_status(pid)
        if not fields:
            return "", 0
        pid = fields[1]
    return "", 0
