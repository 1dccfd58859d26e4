"""What the receipts say of each hook in the list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hookctl.packs.runner import find_event
from hookctl.receipts.model import HookName, Runs
from hookctl.receipts.reading import read_runs
from hookctl.survey.model import Hook

_NEARBY = ("project", "local")  # scopes whose hooks run in one project alone


def with_receipts(hooks: Iterable[Hook], state: str, project: str) -> list[Hook]:
    """The hooks, each with the runs that its receipts tell of.

    `state` is the state folder and `project` the hash of the project: a hook of the project's own
    files has no runs elsewhere.
    """
    hooks = list(hooks)
    everywhere = read_runs(state)
    has_nearby = any(hook.scope in _NEARBY for hook in hooks)
    nearby = read_runs(state, project) if has_nearby else {}
    counted = []
    for hook in hooks:
        runs = nearby if hook.scope in _NEARBY else everywhere
        counted.append(hook._replace(receipts=_find_runs(hook, runs)))
    return counted


def _find_runs(hook: Hook, runs: Mapping[HookName, Runs]) -> Runs:
    """The runs of one hook, which have its PACK/ID."""
    if not hook.own_id:
        return Runs()
    return runs.get(HookName(hook.host, find_event(hook.command), hook.own_id), Runs())
