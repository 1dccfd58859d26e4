"""The hooks of a pack that is not installed, as a host would have them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from hookctl.firing.calls import is_meant
from hookctl.firing.model import Call, Shot
from hookctl.hosts import hook_id
from hookctl.packs.model import Pack
from hookctl.packs.trial import Bench
from hookctl.survey.model import Hook, HookFile


def choose_of_pack(folder: str, pack: Pack, call: Call) -> Iterator[Shot]:
    """The hooks of a pack, laid out in a private folder, that a call's host would run for it."""
    host, bench = call.host, Bench(folder, pack, sys.executable)
    bench.lay_table(host)
    path = host.shape.event_path(call.event, pack.name)
    env = {key: claim.value for key, claim in pack.env.items()}
    for wanted in bench.look_at(host)[0]:
        matcher, command = wanted.value.get("matcher"), wanted.value["command"]
        if wanted.path != path or not is_meant(call, matcher):
            continue
        name = hook_id.digest(host.name, "user", call.event, matcher or "", command)
        variables = env if host.env_path else {}
        hook = Hook(
            HookFile(host, "user", pack.source, variables=variables),
            path,
            call.event,
            {**wanted.value, "command": command},
            matcher or "",
            own_id=wanted.id,
            id=name[: hook_id.LENGTH],
        )
        yield Shot(host, hook, call)
