"""Codex runs a hook only where the user's config.toml has its hash: which hash, and under which key.

Measured on the client (its own `codex app-server` says key and hash of every hook); see docs/hosts.md.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from hookctl.documents import MISSING, Document
from hookctl.hosts import shapes
from hookctl.hosts.shapes import Shape
from hookctl.model import Path

DEFAULT_TIMEOUT = 600  # seconds
_SHORT = {"SessionEnd": 3, "Interrupt": 3}  # seconds that the client gives at most
_WITHOUT_MATCHER = ("Stop", "UserPromptSubmit", "SessionEnd", "Interrupt")


def state_path(file: str, path: Path) -> Path:
    """Where config.toml has the state of a hook: by its settings file, its event and its place there."""
    _, event, group, _, handler = path
    return "hooks", "state", f"{file}:{_snake(str(event))}:{group}:{handler}"


def trusted_hash(event: str, group: dict[str, Any], handler: dict[str, Any]) -> str:
    """The hash that the client trusts a command hook by: of what it runs and when, in a fixed form."""
    seconds = handler.get("timeout", DEFAULT_TIMEOUT)
    hook = {
        "type": "command",
        "command": handler["command"],
        "timeout": min(max(seconds, 1), _SHORT.get(event, max(seconds, 1))),
        "async": handler.get("async", False),
    }
    if "statusMessage" in handler:
        hook["statusMessage"] = handler["statusMessage"]
    identity: dict[str, Any] = {"event_name": _snake(event), "hooks": [hook]}
    if event not in _WITHOUT_MATCHER and group.get("matcher") is not None:
        identity["matcher"] = group["matcher"]
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def approvals(shape: Shape, file: str, root: Any, pack: str) -> Iterator[tuple[Path, str]]:
    """For each hook of a pack in a settings file: where its approval stands, and the hash that approves it."""
    ours = {element.path for element in shapes.elements(shape, root) if element.id.partition("/")[0] == pack}
    for path, handler, group in shapes.handlers(shape, root):
        if path in ours:
            yield state_path(file, path), trusted_hash(shapes.event_of(shape, path), group, handler)


def approved(config: Document, path: Path) -> str | None:
    """The hash that config.toml has for a hook; None if it has none."""
    value = config.get((*path, "trusted_hash"))
    return None if value is MISSING else str(value)


def _snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
