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
    bench = Bench(folder, pack, sys.executable)
    path = call.host.shape.event_path(call.event, pack.name)
    for shot in list_shots(bench, call):
        if shot.hook.path == path and is_meant(call, shot.hook.fields.get("matcher")):
            yield shot


def list_shots(bench: Bench, call: Call) -> Iterator[Shot]:
    """Every hook of a pack on a host, to be run for a call."""
    host, pack = call.host, bench.pack
    bench.lay_table(host)
    env = {key: claim.value for key, claim in pack.env.items()}
    file = HookFile(host, "user", pack.source, variables=env if host.env_path else {})
    for wanted in bench.look_at(host)[0]:
        matcher = wanted.value.get("matcher") or ""
        name = hook_id.digest(host.name, "user", call.event, matcher, wanted.value["command"])
        id = name[: hook_id.LENGTH]
        fields = {**wanted.value}
        hook = Hook(file, wanted.path, call.event, fields, matcher, own_id=wanted.id, id=id)
        yield Shot(host, hook, call)
