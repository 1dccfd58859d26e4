"""What the receipts say of each hook in the list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hookctl.hooks.model import Hook, Receipts
from hookctl.receipts.model import HookName, Runs
from hookctl.receipts.reading import read_runs

_NEARBY = ("project", "local")  # scopes whose hooks run in one project alone


def with_receipts(hooks: Iterable[Hook], state: str, project: str) -> list[Hook]:
    """The hooks, each with the runs that its receipts tell of.

    `state` is the state folder and `project` the hash of the project: a hook of the project's own
    files has no runs elsewhere.
    """
    hooks = list(hooks)
    everywhere = _by_id(read_runs(state))
    has_nearby = any(hook.scope in _NEARBY for hook in hooks)
    nearby = _by_id(read_runs(state, project)) if has_nearby else {}
    counted = []
    for hook in hooks:
        runs = nearby if hook.scope in _NEARBY else everywhere
        counted.append(hook._replace(receipts=_find(hook, runs)))
    return counted


def _by_id(runs: Mapping[HookName, Runs]) -> dict[tuple[str, str], Receipts]:
    """What the receipts add up to, by host and id."""
    return {
        (name.host, name.id): Receipts(
            found.runs, found.failures, found.median_ms, found.p95_ms, found.bytes, found.last_run
        )
        for name, found in runs.items()
    }


def _find(hook: Hook, receipts: Mapping[tuple[str, str], Receipts]) -> Receipts:
    """Those of one hook: a pack's have PACK/ID, those of anybody else's the hook's own ID."""
    none = Receipts()
    if hook.own_id:
        return receipts.get((hook.host, hook.own_id), none)
    return receipts.get((hook.host, hook.id), none)
