"""Codex runs a hook only where the user's config.toml has its hash: which hash, and under which key.

Measured on the client (its own `codex app-server` says key and hash of every hook); see docs/hosts.md.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Container, Iterator
from typing import Any

from hookctl.documents import MISSING, Document
from hookctl.hosts import shapes
from hookctl.hosts.shapes import Shape
from hookctl.model import Path

APPROVALS = ("hooks", "state")  # where config.toml has the state of hooks
DEFAULT_TIMEOUT = 600  # seconds
_SHORT = {
    "SessionEnd": (1, 3),
    "Interrupt": (1, 3),
}  # seconds that the client gives unasked, and at most
_WITHOUT_MATCHER = ("Stop", "UserPromptSubmit", "Interrupt", "PreModelRequest", "PostModelRequest")


def state_path(file: str, path: Path) -> Path:
    """Where config.toml has the state of a hook: by its settings file, its event and its place there."""
    _, event, group, _, handler = path
    return *APPROVALS, f"{file}:{_snake(str(event))}:{group}:{handler}"


def trusted_hash(event: str, group: dict[str, Any], handler: dict[str, Any]) -> str:
    """The hash that the client trusts a command hook by: of what it runs and when, in a fixed form."""
    handler = {name: value for name, value in handler.items() if value is not None}
    default, most = _SHORT.get(event, (DEFAULT_TIMEOUT, None))
    seconds = max(handler.get("timeout", default), 1)
    hook = {
        "type": "command",
        "command": handler["command"],
        "timeout": seconds if most is None else min(seconds, most),
        "async": handler.get("async", False),
    }
    if "statusMessage" in handler:
        hook["statusMessage"] = handler["statusMessage"]
    identity: dict[str, Any] = {"event_name": _snake(event), "hooks": [hook]}
    if event not in _WITHOUT_MATCHER and group.get("matcher") is not None:
        identity["matcher"] = group["matcher"]
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def approvals(
    shape: Shape, file: str, root: Any, paths: Container[Path]
) -> Iterator[tuple[Path, str]]:
    """For each hook at these paths of a settings file: where its approval stands, and the hash that approves it."""
    for path, handler, group in shapes.handlers(shape, root):
        if path in paths and _is_loaded(handler):
            yield state_path(file, path), trusted_hash(shapes.event_of(shape, path), group, handler)


def _is_loaded(handler: dict[str, Any]) -> bool:
    """Whether the client can read a hook at all; if not, it runs none of the file, approved or not."""
    seconds, said = handler.get("timeout"), handler.get("statusMessage")
    return (seconds is None or type(seconds) is int) and (said is None or isinstance(said, str))


def approved(config: Document, path: Path) -> str | None:
    """The hash that config.toml has for a hook; None if it has none."""
    value = config.get((*path, "trusted_hash"))
    return None if value is MISSING else str(value)


def _snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
