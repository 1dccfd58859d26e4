"""Makes this version's line of hookctl/packs/released.json: `python -m tests.digests_of_programs` writes it."""

from __future__ import annotations

import json

from hookctl import __version__
from hookctl.packs import released


def renewed() -> str:
    """The table with the programs of this version; a line for each version."""
    table = {**released.table(), __version__: released.digests_of_this_version()}
    lines = [f" {json.dumps(version)}: {json.dumps(digests)}" for version, digests in table.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    text = renewed()
    with open(released.TABLE, "w", encoding="ascii") as stream:
        stream.write(text)
