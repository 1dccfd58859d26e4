"""The real Kimi Code, headless; its replies are in stdout, one after the other."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import agent
from .agent import Driver, Run, starts
from .clients import Client
from .dialects import Reply, chat, shell_of
from .model_server import Script

_PATIENCE = 30.0  # seconds


class Place(agent.Place):
    FILE = ".kimi-code/config.toml"


_MODEL = {"NAME": "mock", "PROVIDER_TYPE": "openai", "BASE_URL": "URL/v1", "API_KEY": "made-up"}
_KEYS = {f"KIMI_MODEL_{name}": value for name, value in _MODEL.items()}
DRIVER = Driver(chat, starts("-p", "PROMPT", **_KEYS, KIMI_DISABLE_TELEMETRY="1", KIMI_CODE_NO_AUTO_UPDATE="1"))
shell = shell_of("Bash")


def play(client: Client, place: Place, replies: Sequence[Reply] | Script, *arguments: str, **options: Any) -> Run:
    """Run the client from its start to its end, with a model that takes its time, as a real one does.

    Nobody waits for a hook on a call that has run, and the end of the turn ends it.
    """
    script = replies if isinstance(replies, Script) else Script(replies)

    def wait_for_hooks(number: int) -> None:
        deadline = time.monotonic() + _PATIENCE
        while _is_named_by_a_process(place.root) and time.monotonic() < deadline:
            time.sleep(0.02)
        if script.before is not None:
            script.before(number)

    return DRIVER.play(client, place, script._replace(before=wait_for_hooks), *arguments, **options)


def _is_named_by_a_process(folder: Path) -> bool:
    """Whether a process has a path in this folder on its command line, as each hook of a test has."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in path.read_bytes():
                return True
        except OSError:  # it has just ended
            continue
    return False


def refusal(event: str, reason: str, **more: Any) -> str:
    """The answer that blocks a stop, a tool call or a prompt."""
    nested = {"hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": reason}
    return json.dumps({"hookSpecificOutput": nested, **more})
