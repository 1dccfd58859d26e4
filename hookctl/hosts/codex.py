"""The hash that Codex wants in the user's config.toml before it runs a hook, and its key.

Measured on the client: `codex app-server` prints key and hash of every hook; see docs/hosts.md.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from hookctl.hosts import shapes
from hookctl.hosts.model import APPROVALS
from hookctl.hosts.shapes import Shape
from hookctl.model import Path
from hookctl.system import files

DEFAULT_TIMEOUT = 600  # seconds
_SHORT = {"SessionEnd": (1, 3), "Interrupt": (1, 3)}  # seconds: the default and the maximum
_WITHOUT_MATCHER = ("Stop", "UserPromptSubmit", "Interrupt", "PreModelRequest", "PostModelRequest")


def state_path(file: str, path: Path) -> Path:
    """The path of a hook's state in config.toml, from its settings file, event and position."""
    _, event, group, _, handler = path
    return *APPROVALS, f"{file}:{_snake(str(event))}:{group}:{handler}"


def file_of_state(path: Path) -> str:
    """The settings file that a path in config.toml is about."""
    return str(path[2]).rsplit(":", 3)[0]


def trusted_hash(event: str, group: dict[str, Any], handler: dict[str, Any]) -> str:
    """The hash that the client trusts a command hook by: its command and event in a fixed form."""
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
    return f"sha256:{files.digest(text.encode('utf-8', 'surrogatepass'))}"


def approvals(shape: Shape, root: Any) -> Iterator[tuple[Path, str]]:
    """The path and the hash of each hook of a settings file; '' for one that is no command."""
    for path, handler, group in shapes.handlers(shape, root):
        seconds, message = handler.get("timeout"), handler.get("statusMessage")
        # Of a file with any other value the client runs no hook.
        if (seconds is None or type(seconds) is int) and isinstance(message, str | None):
            is_command = isinstance(handler.get("command"), str)
            event = shapes.event_of(shape, path)
            yield path, trusted_hash(event, group, handler) if is_command else ""


def _snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
