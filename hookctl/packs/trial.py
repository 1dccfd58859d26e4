"""A pack's hook run as a host runs it, by the real runner, without being installed anywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from hookctl import hosts
from hookctl.hosts import Host
from hookctl.model import Wanted
from hookctl.packs.model import Pack, PackHook
from hookctl.packs.native import native_payload
from hookctl.packs.programs import load_programs
from hookctl.packs.runner import find_programs, hosts_file
from hookctl.packs.shortfalls import Note, possible_answers
from hookctl.packs.wants import wants
from hookctl.settings.targets import Target
from hookctl.system.packages import PACKS, TABLE

LONGEST = 60  # seconds beyond a hook's own limit


class Trial(NamedTuple):
    """What came of one run."""

    outcome: str  # as in the receipt; "" if the hook was not asked
    answer: str  # for the host
    dropped: tuple[str, ...] = ()  # what the host cannot take
    ms: int = 0


class Bench:
    """A private folder with a pack's files, the runner and a project."""

    def __init__(self, top: str, pack: Pack, python: str) -> None:
        self.top, self.pack, self.python = top, pack, python
        self.state = os.path.join(top, "state")
        self.project = os.path.join(top, "project")
        self.data = os.path.join(top, "data")
        self.files = os.path.join(self.data, PACKS, pack.name, "files")
        os.makedirs(os.path.join(self.project, ".git"))
        for name, (data, is_executable) in pack.contents.items():
            self._write(os.path.join(self.files, name), data, 0o700 if is_executable else 0o600)
        for name, data in load_programs().all.items():
            self._write(os.path.join(self.data, name), data)

    def _write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(data)
        os.chmod(path, mode)

    def look_at(
        self, host: Host, answers_of: Callable[[PackHook], Collection[str]] = possible_answers
    ) -> tuple[list[Wanted], list[Note]]:
        """The pack's hooks as they would be registered, and what the host lacks."""
        target = Target(host, "user", os.path.join(self.top, "settings"))
        programs = find_programs(target, self.files, self.data, self.python)
        wanted, notes = wants(self.pack, host, programs, answers_of)
        return [want for want in wanted if want.kind == "element"], notes

    def lay_table(self, host: Host) -> None:
        """Write what the runner has to know of a host."""
        table = hosts_file({host.name: [self.pack.name]}, self.state)
        self._write(os.path.join(self.data, TABLE), table)

    def ask(
        self,
        host: Host,
        hook: Wanted,
        event: str,
        tool: str,
        input: dict[str, Any],
        fields: dict[str, Any],
    ) -> Trial:
        """Run one of these hooks with a question of Claude Code's protocol."""
        self.lay_table(host)
        common = {"session_id": "trial", "cwd": self.project}
        payload = native_payload(host, event, tool, input, {**common, **fields})
        environ = {**os.environ, "HOME": self.top, "HOOKCTL_STATE_DIR": self.state}
        variable = host.environment.project
        if variable:
            environ[variable] = self.project
        if host.env_path or host.env_field:
            environ.update({key: claim.value for key, claim in self.pack.env.items()})
        done = subprocess.run(
            ["/bin/sh", "-c", hook.value["command"]],
            input=json.dumps(payload).encode(),
            capture_output=True,
            cwd=self.project,
            env=environ,
            check=False,
        )
        receipt = self._take_receipt()
        dropped = tuple(receipt.get("dropped", ()))
        outcome, ms = str(receipt.get("outcome", "")), int(receipt.get("ms", 0))
        # An exit status that refuses has its reason on stderr.
        said = done.stderr if done.returncode == 2 else done.stdout
        return Trial(outcome, said.decode("utf-8", "replace"), dropped, ms)

    def _take_receipt(self) -> dict[str, Any]:
        """The last receipt, after which there is none."""
        for folder, _, names in os.walk(self.state):
            if "runs.jsonl" in names:
                path = os.path.join(folder, "runs.jsonl")
                with open(path, encoding="utf-8") as stream:
                    lines = stream.read().splitlines()
                shutil.rmtree(self.state)
                receipt: dict[str, Any] = json.loads(lines[-1])
                return receipt
        return {}


def every_host(names: tuple[str, ...]) -> list[Host]:
    """The named hosts, or all that have answers to the runner."""
    chosen = dict.fromkeys(names) or hosts.names()
    return [hosts.load(name) for name in chosen]
