"""Adds this version's line to hookctl/packs/released.json, for the versions after it."""

from __future__ import annotations

import json
from pathlib import Path

from hookctl import __version__
from hookctl.packs.programs import load_programs
from hookctl.system import asset
from hookctl.system.files import digest
from hookctl.system.packages import HOOK

TABLE = Path(asset("hookctl", "packs", "released.json"))


def digests() -> dict[str, str]:
    """The digest of this version's launcher, which names its packages by theirs."""
    return {HOOK: digest(load_programs().launcher)}


if __name__ == "__main__":
    table = {**json.loads(TABLE.read_text("ascii")), __version__: digests()}
    lines = [f" {json.dumps(version)}: {json.dumps(line)}" for version, line in table.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "ascii")
