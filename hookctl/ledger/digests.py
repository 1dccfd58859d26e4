"""The digest of everything that a pack brings."""

from __future__ import annotations

from collections.abc import Mapping

from hookctl.system.files import sha256


def content_digest(manifest: bytes, files: Mapping[str, bytes]) -> str:
    """The SHA-256 over a pack's manifest and the names and bytes of its files, sorted by name."""
    parts = [manifest]
    for name in sorted(files):
        parts += [name.encode("utf-8", "surrogatepass"), files[name]]
    digest = sha256()
    for part in parts:
        # The length before each part keeps parts apart: "ab", "c" differs from "a", "bc".
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


def with_unix_endings(data: bytes) -> bytes:
    """A text as it was before git's autocrlf wrote it out."""
    return data.replace(b"\r\n", b"\n")
