"""What the command line knows of a command, and the options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from hookctl.values import NamedTuple


class Command(NamedTuple):
    """A command: what runs it, what it does in one sentence, and examples, one a line."""

    function: Callable[..., int]  # its parameters are the options; it returns the exit code
    summary: str
    examples: str


_WHERE, _WHAT, _GUARD, _PACKS = (
    "Where",
    "What it may overwrite",
    "The guard's settings",
    "Other packs",
)


def with_fixed(function: Callable[..., int], **fixed: Any) -> Callable[..., int]:
    """A command with all options of another one but these, whose values are fixed."""
    signature = inspect.signature(function, eval_str=True)
    options = [option for name, option in signature.parameters.items() if name not in fixed]

    def command(**given: Any) -> int:
        return function(**given, **fixed)

    command.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    return command


def completed_by(name: str) -> Callable[[str], Sequence[str]]:
    """The completion of an argument, worked out only when a shell asks."""

    def offered(incomplete: str) -> Sequence[str]:
        from hookctl.verbs.completion import values

        return values(name)

    return offered


Pack = Annotated[
    str,
    typer.Argument(
        help="A built-in pack, or the path of a pack file or its folder.",
        autocompletion=completed_by("pack"),
    ),
]
Hosts = Annotated[
    list[str] | None,
    typer.Option(
        "--host",
        metavar="H",
        help="The host; repeat it for several, or `all` for every detected one.",
        autocompletion=completed_by("hosts"),
        rich_help_panel=_WHERE,
    ),
]
Scope = Annotated[
    str,
    typer.Option(
        metavar="S",
        help="user (you), project (everyone, in version control) or local (this checkout).",
        autocompletion=completed_by("scope"),
        rich_help_panel=_WHERE,
    ),
]
Mode = Annotated[
    str,
    typer.Option(
        metavar="M",
        help="The guard's mode: breaker, keepalive, guard or off.",
        show_default=False,
        autocompletion=completed_by("mode"),
        rich_help_panel=_GUARD,
    ),
]
Preset = Annotated[
    str,
    typer.Option(
        metavar="P",
        help="Act like a published system: bmad, nightly, openhands, rockbot, hermes; or none.",
        show_default=False,
        autocompletion=completed_by("preset"),
        rich_help_panel=_GUARD,
    ),
]
Nudge = Annotated[
    str | None,
    typer.Option(
        metavar="TOOL[,TOOL]",
        help="Remind the agent once to call one of these before it stops; '' turns it off.",
        rich_help_panel=_GUARD,
    ),
]
NudgeEnv = Annotated[
    str | None,
    typer.Option(
        "--nudge-env",
        metavar="VAR",
        help="Remind only where this variable is set.",
        rich_help_panel=_GUARD,
    ),
]
Dispatch = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOOL[:MAX/SECONDS]",
        help="Refuse more than MAX (30) identical calls of this tool in SECONDS (300), and end "
        "the turn after 10 refusals where the host can. '*' is every tool.",
        rich_help_panel=_GUARD,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the guard: MAX_STOP_BLOCKS=8, latch=false, ...",
        rich_help_panel=_GUARD,
    ),
]
Wrap = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Limit another tool's Stop hook whose command contains TEXT; '' for none.",
        rich_help_panel=_GUARD,
    ),
]
Guidance = Annotated[
    bool,
    typer.Option(
        "--guidance",
        help="Tell a session at its start what waits, and how to wait without polling.",
        rich_help_panel=_GUARD,
    ),
]
Rules = Annotated[
    bool,
    typer.Option(
        "--rules",
        help="Also tell the agent in its own file (CLAUDE.md, AGENTS.md, ...) how to report work.",
        rich_help_panel=_GUARD,
    ),
]
Reset = Annotated[
    bool,
    typer.Option(
        "--reset",
        help="Start from the defaults instead of the settings of the last install.",
        rich_help_panel=_WHAT,
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Overwrite your changes; uninstall restores them.",
        rich_help_panel=_WHAT,
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Also approve the hooks on a host that needs it (Codex).",
        rich_help_panel=_WHAT,
    ),
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        "-y",
        help="Agree to what a pack that is not built in brings.",
        rich_help_panel=_PACKS,
    ),
]
AllowEnv = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-env",
        metavar="NAME",
        help="Let a pack set PATH, a proxy or another variable that is refused.",
        rich_help_panel=_PACKS,
    ),
]
AcceptChanged = Annotated[
    bool,
    typer.Option(
        "--accept-changed",
        help="Take a pack whose content changed under the same version.",
        rich_help_panel=_PACKS,
    ),
]
Dry = Annotated[
    bool, typer.Option("--dry-run", help="Show the changes as plan does, and write nothing.")
]
Diff = Annotated[
    bool,
    typer.Option("--diff", help="Show the unified diff, with hookctl's own files in it."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]
Project = Annotated[
    str,
    typer.Option(
        metavar="DIR",
        help="The project folder; default: the nearest one above with .hookctl or .git.",
        show_default=False,
        rich_help_panel=_WHERE,
    ),
]
AnyScope = Annotated[
    str,
    typer.Option(
        "--scope",
        metavar="S",
        help="Only user, project or local scope; default: all of them.",
        autocompletion=completed_by("scope"),
        rich_help_panel=_WHERE,
    ),
]
Everywhere = Annotated[
    bool, typer.Option("--all", help="Also the other projects that the records know.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show every entry, and what is fine.")
]
