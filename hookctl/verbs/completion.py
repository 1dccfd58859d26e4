"""hookctl completion: typer's script for a shell, which asks hookctl at each TAB; and what it is told then."""

from __future__ import annotations

from collections.abc import Sequence

from hookctl.errors import USAGE, HookctlError
from hookctl.model import Result

SHELLS = ("bash", "zsh", "fish")
ACTIONS = ("start", "heartbeat", "remaining", "conclude", "stop", "status")
# zsh runs a file of $fpath at the first TAB as the function itself; typer's script only defines another one then.
_AUTOLOADED = "if [[ $funcstack[1] == _hookctl ]]; then _hookctl_completion; fi"
VARIABLE = "_HOOKCTL_COMPLETE"  # by its name the scripts tell typer that a shell is asking


def completion(shell: str) -> Result:
    """The script for one shell."""
    if shell not in SHELLS:
        raise HookctlError(
            "usage",
            f"unknown shell {shell!r}",
            hint=f"Shells: {', '.join(SHELLS)}.",
            exit_code=USAGE,
        )
    from typer.completion import get_completion_script

    script = get_completion_script(prog_name="hookctl", complete_var=VARIABLE, shell=shell)
    if shell == "zsh":
        script += f"\n\n{_AUTOLOADED}"
    return Result({"shell": shell, "script": f"{script}\n"}, tuple(script.split("\n")))


def values(name: str) -> Sequence[str]:
    """What may stand for an option or argument of this name."""
    from hookctl import events, hosts, packs
    from hookctl.packs.choices import MODES
    from hookctl.packs.presets import PRESETS
    from hookctl.settings.targets import SCOPES

    return {
        "action": ACTIONS,
        "code": tuple(events.CODES),
        "decision": events.DECISIONS,
        "host": hosts.names(),
        "hosts": (*hosts.names(), "all"),
        "mode": MODES,
        "pack": packs.names(),
        "preset": (*PRESETS, "none"),
        "rendered scope": (*SCOPES, "managed"),
        "scope": SCOPES,
        "shell": SHELLS,
    }[name]
