"""Prepares an install: the pack is shown and agreed to, and only that very content is planned."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from hookctl.packs.choices import Choice, Permission
from hookctl.packs.model import Pack
from hookctl.planner.install import plan_install
from hookctl.planner.plan import Plan
from hookctl.planner.sources import Sources
from hookctl.settings.targets import Target
from hookctl.values import NamedTuple

if TYPE_CHECKING:  # late: most calls are about the guard
    from hookctl.planner.consent import Review


class Prepared(NamedTuple):
    """An install that may be carried out, and what was shown of its pack."""

    make_plan: Callable[[], Plan]
    review: Review | None = None  # None for a built-in pack, and where nothing of it fits


def prepare(
    sources: Sources,
    pack: Pack,
    targets: list[Target],
    choice: Choice,
    *,
    ask: Permission | None,
    command: str,
    show_progress: Callable[[Target], None] | None = None,
) -> Prepared:
    """An install of the pack at these targets, agreed to by whoever `ask` asks; None asks nobody.

    `command` shows what an install would write. Raises a usage error where nobody agrees.
    """
    make_plan = partial(plan_install, sources, pack, targets, choice, show_progress)
    if not pack.source:
        return Prepared(make_plan)
    from hookctl.planner import consent  # late: most calls are about the guard

    plan = make_plan()
    if plan.conflicts or not _has_targets(plan, pack):
        return Prepared(make_plan)
    review = consent.review(sources, pack, plan)
    if ask is not None:
        consent.require_consent(review, ask, command)
    sources.forget()

    def make_reviewed_plan() -> Plan:
        plan = make_plan()
        consent.require_digest(plan, pack.name, review.digest)
        return plan

    return Prepared(make_reviewed_plan, review)


def _has_targets(plan: Plan, pack: Pack) -> bool:
    """Whether something of the pack belongs to any host of this command."""
    return any(file.record and pack.name in file.record.packs for file in plan.files)
