"""hookctl completion: the completion script for a shell, and the values that it offers."""

from __future__ import annotations

from collections.abc import Sequence

from typer.completion import get_completion_script

from hookctl import events, hosts, packs
from hookctl.errors import usage_error
from hookctl.model import Result
from hookctl.packs.choices import MODES, PRESETS
from hookctl.settings import managed
from hookctl.settings.targets import SCOPES

SHELLS = ("bash", "zsh", "fish")
ACTIONS = ("start", "heartbeat", "remaining", "conclude", "stop", "release", "status", "wait")
# At the first TAB zsh runs a file of $fpath as the function itself. Typer's script only defines
# the function then, so this line also calls it.
_AUTOLOADED = "if [[ $funcstack[1] == _hookctl ]]; then _hookctl_completion; fi"
VARIABLE = "_HOOKCTL_COMPLETE"  # set by the scripts when a shell asks for completions


def completion(shell: str) -> Result:
    """The completion script for one shell."""
    if shell not in SHELLS:
        raise usage_error(f"unknown shell {shell!r}", f"Shells: {', '.join(SHELLS)}.")
    script = get_completion_script(prog_name="hookctl", complete_var=VARIABLE, shell=shell)
    if shell == "zsh":
        script += f"\n\n{_AUTOLOADED}"
    return Result({"shell": shell, "script": f"{script}\n"}, tuple(script.split("\n")))


def values(name: str) -> Sequence[str]:
    """The possible values of an option or argument."""
    return {
        "action": ACTIONS,
        "code": tuple(events.CODES),
        "decision": events.DECISIONS,
        "host": hosts.names(),
        "hosts": (*hosts.names(), "all"),
        "mode": MODES,
        "pack": packs.names(),
        "platform": tuple(managed.PLATFORMS),
        "preset": (*PRESETS, "none"),
        "rendered scope": (*SCOPES, "managed"),
        "scope": SCOPES,
        "shell": SHELLS,
    }[name]
