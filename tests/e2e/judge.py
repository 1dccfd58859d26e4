"""A pack that answers as it is told, in the host's own protocol, on each event that it has a command for."""

import json
from typing import Any

from .agent import Place
from .product import hookctl

_PACK = """\
[pack]
name = "NAME"
version = "1"
protocol = "host"
description = "Answers as it is told"

[files]
include = ["judge.sh"]
"""
_HOOK = """
[[hooks]]
event = "EVENT"
command = "sh {files}/judge.sh {event}"
timeout = 10
"""


def install_judge(place: Place, host: str, name: str = "judge", **commands: str) -> None:
    """Install a pack that runs a command on each event."""
    folder = place.root / name
    folder.mkdir()
    cases = "".join(f"{event.replace('_', '-')}) {command} ;;\n" for event, command in commands.items())
    (folder / "judge.sh").write_text(f"case $1 in\n{cases}esac\n")
    hooks = "".join(_HOOK.replace("EVENT", event.replace("_", "-")) for event in commands)
    (folder / "pack.toml").write_text(_PACK.replace("NAME", name) + hooks)
    hookctl(place, "install", str(folder), "--host", host)


def nested(event: str, **answer: Any) -> str:
    """The command of a hook that answers in Claude Code's nested form."""
    return f"echo '{json.dumps({'hookSpecificOutput': {'hookEventName': event, **answer}})}'"
