"""Adds this version's line to hookctl/packs/released.json, for the versions after it."""

from __future__ import annotations

import json
from pathlib import Path

from hookctl import __version__
from hookctl.packs.programs import load_programs, load_runner
from hookctl.system.files import content_digest
from hookctl.system.package_data import asset
from hookctl.system.packages import HOOK, WRAPPER

TABLE = Path(asset("hookctl", "packs", "released.json"))


def digests() -> dict[str, str]:
    """The digests of what this version installs: hook and runner, each with its package, and wrap.py."""
    hook, runner = load_programs(wrapper=True).all, load_runner()
    wrapper = {WRAPPER: hook.pop(WRAPPER)}
    modules = {f"{runner.package}/{name}": data for name, data in runner.modules.items()}
    kinds = {
        "hook": hook, "wrap": wrapper, "runner": {**modules, HOOK: runner.launcher},
    }  # fmt: skip
    return {kind: content_digest(b"", programs) for kind, programs in kinds.items()}


if __name__ == "__main__":
    table = {**json.loads(TABLE.read_text("ascii")), __version__: digests()}
    lines = [f" {json.dumps(version)}: {json.dumps(line)}" for version, line in table.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "ascii")
