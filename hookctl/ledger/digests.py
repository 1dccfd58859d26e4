"""One digest for all that a pack brings."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping


def content_digest(manifest: bytes, files: Mapping[str, bytes]) -> str:
    """The SHA-256 of a pack's manifest and of its files, their names and bytes in the order of the names."""
    parts = [manifest]
    for name in sorted(files):
        parts += [name.encode("utf-8", "surrogatepass"), files[name]]
    found = hashlib.sha256()
    for part in parts:
        # With its length before it, no part can be taken for the end of another one.
        found.update(b"%d:" % len(part))
        found.update(part)
    return found.hexdigest()
