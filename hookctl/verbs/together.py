"""All or nothing: of several files, each that cannot be done is named, and the commands that do the rest."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from typing import NamedTuple

from hookctl import report
from hookctl.errors import HookctlError
from hookctl.model import Result


class Part(NamedTuple):
    """One of the files that a command means; `plan` raises what keeps this one from being done."""

    host: str
    scope: str
    plan: Callable[[], object]


def refusal(error: HookctlError, parts: Iterable[Part], command: Callable[[list[str]], list[str]]) -> Result:
    """The refusal of all for what some cannot do; `command` has the words of a call for the rest, by its options.

    What is wrong with a single part, or with none when it is planned alone, is raised again.
    """
    parts, problems, bad = list(parts), {}, []
    for part in parts if len(parts) > 1 else ():
        try:
            part.plan()
        except HookctlError as problem:
            problems[str(problem)] = problem  # what is wrong for all, such as a ledger, is said once
            bad.append(part)
    if str(error) not in problems:
        raise error
    calls = _rest([part for part in parts if part not in bad], bad)
    if calls:
        *_, last = problems.values()
        ways = ", ".join(f"`{report.program()} {shlex.join(command(call))}`" for call in calls)
        last.hint = f"{last.hint}\n  Nothing was written in the other files either; for those: {ways}."
    return Result({}, errors=tuple(p.as_dict() for p in problems.values()), exit_code=error.exit_code)


def _rest(good: list[Part], bad: list[Part]) -> list[list[str]]:
    """The options of calls for the rest: one for the hosts that are fine as a whole, one a scope of the others."""
    whole = [part for part in good if part.host not in {one.host for one in bad}]
    broken = {(one.host, one.scope) for one in bad}
    left = [part for part in good if part not in whole and (part.host, part.scope) not in broken]
    calls = [[*_hosts([one for one in left if one.scope == scope]), "--scope", scope]
             for scope in dict.fromkeys(part.scope for part in left)]  # fmt: skip
    return [_hosts(whole), *calls] if whole else calls


def _hosts(parts: list[Part]) -> list[str]:
    return [word for host in dict.fromkeys(part.host for part in parts) for word in ("--host", host)]
