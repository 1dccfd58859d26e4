"""What the command line permits about a pack that is not built in."""

from __future__ import annotations

from collections.abc import Callable

from hookctl.values import NamedTuple


class Permission(NamedTuple):
    """What the command line permits."""

    yes: bool = False
    accept_changed: bool = False
    show: Callable[[str], None] | None = None  # shows what the pack brings
    confirm: Callable[[str], bool] | None = None  # asks at a terminal; None: nobody is asked
