"""How a command asks a person, calls its verb, and shows what comes of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from hookctl.errors import UNREADABLE, USAGE, HookctlError, Recovered

if TYPE_CHECKING:  # late: a help text needs none of it
    from hookctl.model import Result


def show(
    command: str,
    verb: Callable[..., Result],
    as_json: bool,
    *,
    writes: bool = False,
    homeless: bool = False,
) -> int:
    """Run a verb and print its result; `writes` in the user's folders, `homeless` needs none."""
    from hookctl import report
    from hookctl.system import folders, owners

    while True:
        place = folders.without_home() if homeless else folders.here()
        if writes:
            owners.require_own_home(place.home, place.state, place.data)
        try:
            result = verb(place)
            break
        except Recovered:  # it looks everything up again
            continue
        except HookctlError as error:
            if writes and error.exit_code == UNREADABLE:
                error.say_unwritten()
            raise
    report.show(command, result, as_json=as_json)
    return result.exit_code


def confirm(question: str) -> bool:
    """Whether a person says yes, or there is no question; False without a terminal."""
    if not all(stream and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        return False
    if not question:
        return True
    # typer's own question writes a blank to stdout, which is for results.
    from hookctl.report import plain

    *above, last = map(plain, question.split("\n"))
    sys.stderr.write("".join(f"{line}\n" for line in above) + f"{last} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise HookctlError("declined", "nothing was changed", exit_code=USAGE)
    return True
