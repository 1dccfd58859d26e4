"""What doctor and check can find, by its code: findings.toml lists it, and this fills in the texts.

docs/doctor.md says of each code what it means and what to do; `python -m tests.page_of_codes`
renews the levels there.
"""

import functools
import tomllib
from collections.abc import Iterable
from typing import Any, NamedTuple

from hookctl.errors import HookctlError
from hookctl.hosts.loading import Unreadable
from hookctl.system.package_data import read_data

# What follows from a record that is gone: where it is only unreadable, it says nothing.
UNRECORDED = "ledger_missing"


class Finding(NamedTuple):
    """One thing that doctor found."""

    code: str
    level: str  # error | warning | info
    message: str
    host: str = ""
    path: str = ""
    fix: str = ""


@functools.cache
def entries() -> dict[str, Any]:
    """The list, by code: `level`, `message` and `fix`."""
    return tomllib.loads(read_data("checks", "findings.toml").decode())


def finding(
    code: str, /, host_name: str = "", path: str = "", level: str = "", **values: Any
) -> Finding:
    """A finding by its code; with the usual level unless another one is given."""
    texts = {name: text.format(path=path, **values) for name, text in entries()[code].items()}
    usual = texts["level"].partition(",")[0]
    return Finding(code, level or usual, texts["message"], host_name, path, texts["fix"])


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """The findings by their level, errors first."""
    return sorted(findings, key=lambda one: ("error", "warning", "info").index(one.level))


def describe_error(error: HookctlError) -> str:
    """What is wrong with a file, after the position in it."""
    where = f"line {error.line}, column {error.column}: " if error.line else ""
    return where + error.message


def from_lost(lost: Unreadable, level: str, host: str) -> Finding:
    """The finding that a host takes nothing of a file."""
    fix = lost.fix or "Fix that place, or remove it."
    return Finding(lost.code, level, lost.text, host, lost.path, fix)


def from_error(error: HookctlError, host: str = "", path: str = "") -> Finding:
    """The finding that something cannot be read."""
    return Finding(error.code, "error", describe_error(error), host, path or error.path, error.hint)
