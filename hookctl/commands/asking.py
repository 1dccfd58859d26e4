"""Questions to a person at the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from hookctl.errors import USAGE, HookctlError

if TYPE_CHECKING:
    from hookctl.packs.model import Pack
    from hookctl.planner.permission import Permission


def permission_for(pack: Pack, yes: bool, accept_changed: bool, as_json: bool) -> Permission | None:
    """What may be done with a pack; None for a built-in one, which needs no consent."""
    return permission_from(yes, accept_changed, as_json) if pack.source else None


def permission_from(yes: bool, accept_changed: bool, as_json: bool) -> Permission:
    """What may be done with packs that are not built in."""
    from hookctl.planner.permission import Permission
    from hookctl.report import say

    if as_json:
        return Permission(yes, accept_changed)
    return Permission(yes, accept_changed, say, confirm)


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
