"""The hooks of a pack that is not installed, as a host would have them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from hookctl.firing.calls import is_meant
from hookctl.firing.model import Call, Shot
from hookctl.hosts import hook_id
from hookctl.packs.model import Pack
from hookctl.packs.trial import Bench


class Trials:
    """A pack's hooks in a private folder."""

    def __init__(self, folder: str, pack: Pack) -> None:
        self._bench = Bench(folder, pack, sys.executable)
        self.pack = pack

    def choose(self, call: Call) -> Iterator[Shot]:
        """The hooks of the pack that the host of a call would run for it."""
        host = call.host
        self._bench.lay_table(host)
        path = host.shape.event_path(call.event, self.pack.name)
        for wanted in self._bench.commands(host):
            fields = dict(wanted.value)
            matcher = fields.get("matcher")
            if wanted.path != path or not is_meant(call, matcher):
                continue
            command = fields["command"]
            name = hook_id.digest(host.name, "user", call.event, matcher or "", command)
            id = name[: hook_id.LENGTH]
            env = {key: claim.value for key, claim in self.pack.env.items()}
            variables = env if host.env_path else {}
            yield Shot(
                host, call.event, id, wanted.id, command, fields,
                file=self.pack.source, variables=variables,
            )  # fmt: skip
