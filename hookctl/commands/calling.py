"""How a command calls its verb, and shows what comes of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from hookctl.errors import UNREADABLE, HookctlError, Recovered

if TYPE_CHECKING:
    from hookctl.model import Result
    from hookctl.system.folders import Folders


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
    from hookctl.system import folders

    while True:
        place = folders.without_home() if homeless else folders.here()
        if writes:
            require_own_home(place)
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


def require_own_home(place: Folders) -> None:
    """Refuse, as root, to write into another user's folders."""
    if os.geteuid() == 0:
        from hookctl.system.owners import require_own_home

        require_own_home(place.home, place.state, place.data)
