"""A pack that answers as it is told, in the host's own protocol, on each event that it has a command for."""

import json
from typing import Any

from tests.manifest import hook, manifest

from .agent import Place
from .product import hookctl


def install_judge(place: Place, host: str, **commands: str) -> None:
    """Install a pack that runs a command on each event."""
    folder = place.root / "judge"
    folder.mkdir()
    events = {event.replace("_", "-"): command for event, command in commands.items()}
    cases = "".join(f"{event}) {command} ;;\n" for event, command in events.items())
    (folder / "judge.sh").write_text(f"case $1 in\n{cases}esac\n")
    hooks = [hook(event, "sh {files}/judge.sh {event}", timeout=10) for event in events]
    (folder / "pack.toml").write_text(manifest("judge", *hooks, protocol="host", files=["judge.sh"]))
    hookctl(place, "install", str(folder), "--host", host)


def nested(event: str, **answer: Any) -> str:
    """The command of a hook that answers in Claude Code's nested form."""
    return f"echo '{json.dumps({'hookSpecificOutput': {'hookEventName': event, **answer}})}'"
