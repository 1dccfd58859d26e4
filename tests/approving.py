"""Approves every hook of a settings file of Codex as a person does under /hooks: `python -m tests.approving [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path

from hookctl import hosts
from hookctl.documents import MISSING, formats
from hookctl.hosts import codex


def approve(settings: Path, config: Path | None = None) -> None:
    """Write the client's own hash of each hook into the user's config.toml, which else is beside the settings file."""
    config, shape = config or settings.with_name("config.toml"), hosts.load("codex").shape
    format = settings.suffix.removeprefix(".")
    root = formats.parse(format, settings.read_bytes(), where=str(settings)).value
    document = formats.parse("toml", config.read_bytes() if config.exists() else b"", where=str(config))
    for path, digest in codex.approvals(shape, {} if root is MISSING else root):
        document = document.set((*codex.state_path(str(settings), path), "trusted_hash"), digest)
    config.write_bytes(document.data)


if __name__ == "__main__":
    approve(Path(sys.argv[1] if sys.argv[1:] else "~/.codex/hooks.json").expanduser())
