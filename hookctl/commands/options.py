"""What makes a command: its call, the question it asks, and the options that several share."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from hookctl.errors import UNREADABLE, USAGE, HookctlError

if TYPE_CHECKING:  # late: a help text needs none of it
    from hookctl.model import Result

COMPLETE = "_HOOKCTL_COMPLETE"  # the variable of a shell that asks for completions
WHERE, _WHAT = "Where", "What it may overwrite"
_GUARD, _SELDOM, _PACKS = "The guard", "The guard, seldom needed", "Other packs"


class Command(NamedTuple):
    """A command: what runs it, what it does in one sentence, and examples, one a line."""

    function: Callable[..., int]  # its parameters are the options; it returns the exit code
    summary: str
    examples: str
    fixed: dict[str, Any] = {}  # noqa: RUF012 (its parameters that are no options; never changed)

    def build(self) -> Callable[..., int]:
        """What typer makes the command of: the function, with the fixed parameters given."""
        if not self.fixed:
            return self.function

        def command(**given: Any) -> int:
            return self.function(**given, **self.fixed)

        signature = inspect.signature(self.function, eval_str=True)
        options = [each for each in signature.parameters.values() if each.name not in self.fixed]
        command.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
        return command


def show(
    command: str,
    verb: Callable[..., Result],
    as_json: bool,
    *,
    writes: bool = False,
    homeless: bool = False,
) -> int:
    """Run a verb and print its result.

    `writes`: it changes the user's folders; `homeless`: it works without HOME.
    """
    from hookctl import report
    from hookctl.system import folders, owners

    place = folders.without_home() if homeless else folders.here()
    if writes:
        owners.require_own_home(place.home, place.state, place.data)
    try:
        result = verb(place)
    except HookctlError as error:
        if writes and error.exit_code == UNREADABLE:
            error.say_unwritten()
        raise
    report.show(command, result, as_json=as_json)
    return result.exit_code


def can_ask() -> bool:
    """Whether a person at a terminal can be asked."""
    return all(stream and stream.isatty() for stream in (sys.stdin, sys.stderr))


def confirm(question: str) -> bool:
    """Whether a person says yes, or there is no question; False without a terminal."""
    if not can_ask():
        return False
    if not question:
        return True
    # typer's own question writes a blank to stdout, which is for results.
    from hookctl.output.lines import plain

    *above, last = map(plain, question.split("\n"))
    sys.stderr.write("".join(f"{line}\n" for line in above) + f"{last} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise HookctlError("declined", "nothing was changed", exit_code=USAGE)
    return True


def option(
    value: str | None,
    help: str,
    *names: str,
    completes: str = "",
    panel: str | None = None,
    make: Callable[..., Any] = typer.Option,
    **more: Any,
) -> Any:
    """An option; `value` stands for its value, and `completes` names what a shell offers for it.

    typer takes long over a completion, so there is one only where a shell asks.
    """
    offers = _offer(completes) if completes and COMPLETE in os.environ else None
    return make(
        *names, metavar=value, help=help, rich_help_panel=panel, autocompletion=offers, **more
    )


flag = partial(option, None)  # without a value
argument = partial(option, make=typer.Argument)


def _offer(name: str) -> Callable[[str], Sequence[str]]:
    def offered(incomplete: str) -> Sequence[str]:
        from hookctl.verbs.completion import values

        return values(name)

    return offered


_PACK = "A built-in pack, the path of a pack file or its folder, or git+https://HOST/REPO[@REV]."
Pack = Annotated[
    str,
    argument(None, _PACK, completes="pack"),
]
_HOSTS = "The host; repeat it for several, or `all` for every detected one."
Hosts = Annotated[list[str] | None, option("H", _HOSTS, "--host", completes="hosts", panel=WHERE)]
_SCOPE = "user (you), project (everyone, in version control) or local (this checkout)."
Scope = Annotated[str, option("S", _SCOPE, completes="scope", panel=WHERE)]
_ANY_SCOPE = "Only user, project or local scope; default: all of them."
AnyScope = Annotated[str, option("S", _ANY_SCOPE, "--scope", completes="scope", panel=WHERE)]
_PROJECT = "The project folder; default: the nearest one above with .hookctl or .git."
Project = Annotated[str, option("DIR", _PROJECT, panel=WHERE)]
Everywhere = Annotated[bool, flag("Also the other projects that the records know.", "--all")]

_MODE = "The guard's mode: breaker, keepalive, guard or off."
Mode = Annotated[str, option("M", _MODE, completes="mode", panel=_GUARD)]
_PRESET = "Act like a published system: bmad, nightly, openhands, rockbot, hermes; or none."
Preset = Annotated[str, option("P", _PRESET, completes="preset", panel=_SELDOM)]
_SET = "A setting of the guard: MAX_STOP_BLOCKS=8, latch=false, ..."
Set = Annotated[list[str] | None, option("KEY=VALUE", _SET, "--set", panel=_GUARD)]
_NUDGE = "Remind the agent once to call one of these before it stops; '' turns it off."
Nudge = Annotated[str | None, option("TOOL[,TOOL]", _NUDGE, panel=_SELDOM)]
_NUDGE_ENV = "Remind only where this variable is set."
NudgeEnv = Annotated[str | None, option("VAR", _NUDGE_ENV, "--nudge-env", panel=_SELDOM)]
_DISPATCH = (
    "Refuse more than MAX (30) identical calls of this tool in SECONDS (300), and end "
    "the turn after 10 refusals where the host can. '*' is every tool."
)
Dispatch = Annotated[list[str] | None, option("TOOL[:MAX/SECONDS]", _DISPATCH, panel=_GUARD)]
_WRAP = "Limit another tool's Stop hook whose command contains TEXT; '' for none."
Wrap = Annotated[str | None, option("TEXT", _WRAP, panel=_SELDOM)]
_GUIDANCE = "Tell a session at its start what waits, and how to wait without polling."
Guidance = Annotated[bool, flag(_GUIDANCE, "--guidance", panel=_GUARD)]
_RULES = "Also tell the agent in its own file (CLAUDE.md, AGENTS.md, ...) how to report work."
Rules = Annotated[bool, flag(_RULES, "--rules", panel=_GUARD)]
_ALLOW_RUN = "Allow the agent `hookctl run`, so that it reports work without being asked."
AllowRun = Annotated[bool, flag(_ALLOW_RUN, "--allow-run", panel=_GUARD)]

_RESET = "Start from the defaults instead of the settings of the last install."
Reset = Annotated[bool, flag(_RESET, "--reset", panel=_WHAT)]
_FORCE = "Overwrite your changes; uninstall restores them."
Force = Annotated[bool, flag(_FORCE, "--force", panel=_WHAT)]

_YES = "Agree to what a pack that is not built in brings."
Yes = Annotated[bool, flag(_YES, "--yes", "-y", panel=_PACKS)]
_ALLOW_ENV = "Let a pack set PATH, a proxy or another variable that is refused."
AllowEnv = Annotated[list[str] | None, option("NAME", _ALLOW_ENV, "--allow-env", panel=_PACKS)]
_ACCEPT = "Take a pack whose content changed under the same version."
AcceptChanged = Annotated[bool, flag(_ACCEPT, "--accept-changed", panel=_PACKS)]

Dry = Annotated[bool, flag("Show the changes as plan does, and write nothing.", "--dry-run")]
Diff = Annotated[bool, flag("Show the unified diff, with hookctl's own files in it.", "--diff")]
Json = Annotated[bool, flag("Print one JSON object for machines.", "--json")]
Verbose = Annotated[bool, flag("Show every entry, and what is fine.", "--verbose", "-v")]
