"""The hooks of a pack that is not installed, as a host would have them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from hookctl.firing.calls import is_meant
from hookctl.firing.model import Call, Shot
from hookctl.hosts import hook_id
from hookctl.packs.model import Pack
from hookctl.packs.trial import Bench
from hookctl.survey.model import RUNS, Hook


def choose_of_pack(folder: str, pack: Pack, call: Call) -> Iterator[Shot]:
    """The hooks of a pack, laid out in a private folder, that a call's host would run for it."""
    host, bench = call.host, Bench(folder, pack, sys.executable)
    bench.lay_table(host)
    path = host.shape.event_path(call.event, pack.name)
    env = {key: claim.value for key, claim in pack.env.items()}
    for wanted in bench.commands(host):
        matcher, command = wanted.value.get("matcher"), wanted.value["command"]
        if wanted.path != path or not is_meant(call, matcher):
            continue
        name = hook_id.digest(host.name, "user", call.event, matcher or "", command)
        hook = Hook(
            id=name[: hook_id.LENGTH],
            host=host.name,
            scope="user",
            event=call.event,
            matcher=matcher or "",
            command=command,
            file=pack.source,
            line=0,
            owner=pack.name,
            state=RUNS,
            reason="",
            path=path,
            fields=dict(wanted.value),
            own_id=wanted.id,
            variables=env if host.env_path else {},
        )
        yield Shot(host, hook, call)
