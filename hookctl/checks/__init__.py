"""Health: what the survey found and what is on record, judged for doctor, check and status.

It may import the rooms below it, such as `survey` and `ownership`, and it writes nothing.

- findings.toml lists what can be found, each with one text and one fix; `finding` makes one.
- A rule is a function that takes a File (file.py: a settings file) or a HostHere (survey.py: a host
  as it starts here), asks it, the survey and the disk for what it needs, and yields findings.
- file.py has the rules about a file, survey.py those about a host, and both their lists: doctor
  asks all of a machine, and check of a project alone those that need nothing else.
- project.py has what check asks beside them. It runs nothing of the project.
- self_test.py asks the guard whether it does its work.

A finding says what keeps something of ours, a whole settings file or a client from working; of
what is fine, of style and of other tools' hooks it says nothing (`hookctl hooks` lists those).

To add one: look first whether a code says the same of something else. Else add an entry to
findings.toml, run `python -m tests.page_of_codes`, and say in the new row of docs/doctor.md what
it means and what to do. Write the rule and list it; in project.py a table has the levels of what
is no error of doctor. Then add a row to MADE in tests/findings.py that brings it about, and one to
test_nothing_is_said_where_nothing_is_wrong of what it must not take for it.
"""

import functools
import tomllib
from collections.abc import Iterable
from typing import Any, NamedTuple

from hookctl.errors import HookctlError
from hookctl.hosts.loading import Unreadable
from hookctl.system import read_data

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
