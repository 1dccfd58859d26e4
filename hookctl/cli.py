"""The command line: parses the options and calls a verb, which is imported only then."""

import inspect
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from hookctl import __version__
from hookctl.errors import INTERRUPTED, OK, usage_error
from hookctl.output import lines
from hookctl.verbs.options import COMPLETE, read_options

# The headings of `hookctl --help`: the three main jobs, then the rest; what each command does.
GROUPS = {
    "Guard my agent": {
        "install": "Add a pack's hooks and settings to a host's settings file.",
        "run": "Report progress to the guard: remaining work, a heartbeat, a stop.",
        "status": "Show what is installed where, and whether it is active here.",
        "log": "Show what the guard decided, and why; with --runs also what packs' hooks did.",
        "uninstall": "Remove what was installed; what you changed stays.",
    },
    "Ship a hook to every agent": {
        "pack": "Write a pack of hooks: make, check, test, import and export one.",
        "upgrade": "Install every pack again from where it came, with its recorded settings.",
        "check": "Check a project's own files, as CI does; exit code 1 if something is wrong.",
    },
    "See what my hooks do": {
        "hooks": "List every hook that would run here, and why others would not.",
        "fire": "Run the hooks of an event once, time them, and show what the host would do.",
        "doctor": "Check that the installed hooks work; exit code 1 if an error is found.",
        "disable": "Switch off any hook or a whole pack, until `hookctl enable`.",
        "enable": "Put back what disable switched off, byte for byte.",
    },
    "More": {
        "plan": "Show what install would do as a unified diff, and write nothing.",
        "demo": "Watch the guard for twenty seconds in a temporary folder; "
        "nothing of yours is touched.",
        "stats": "Count what the guard decided, and what each hook of a pack cost.",
        "report": "Write one page: hooks, what they cost, the guard's decisions, "
        "what needs attention.",
        "hosts": "List the hosts: which are here or have packs, what hooks can do there, "
        "how sure that is.",
        "restore": "Restore a settings file from before hookctl was installed, "
        "or from a later backup.",
        "render": "Print the settings text alone, for managed settings, MDM or Nix; "
        "nothing is written.",
        "supervise": "Run an agent, and start it again if it fails or is killed, "
        "or if it ends while the guard keeps it going, until the run ends.",
        "verify": "Run a check until it passes or its tries are used up.",
        "completion": "Print a shell's completion script; it edits no files.",
    },
}
SUMMARIES = {name: text for rows in GROUPS.values() for name, text in rows.items()}
_JSON = inspect.Parameter(
    "json", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=False, annotation=bool
)
_SETTINGS: dict[str, Any] = {
    # The columns of a help text; the formatter leaves two of them free.
    "context_settings": {"max_content_width": 122, "help_option_names": ["--help", "-h"]},
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "add_completion": False,
}

_ABOUT = """Installs hooks and environment settings into coding agents' settings files, and
removes them again, without touching a byte of anybody else's.

\b
Start here:
  hookctl install --host claude     put the guard into Claude Code's settings
  hookctl pack new my-hook          write a hook that every agent runs
  hookctl hooks                     see every hook that runs here
"""


def call(arguments: list[str]) -> int:
    """Parse the arguments and run the command; a usage error is a HookctlError."""
    if arguments[:1] == ["help"]:  # `hookctl help install`, as other programs have it
        words = [word for word in arguments if word != "help"]  # `hookctl help help` too
        arguments = [*words, "--help"]
    name, words, parser = lines.program, arguments or ["--help"], None
    if COMPLETE in os.environ:  # a shell asks, by the script of `hookctl completion`
        typer.completion.completion_init()
    elif words[0] == "--version":
        lines.emit(f"hookctl {__version__}")
        return OK
    elif words[0] in SUMMARIES:
        name, parser, words = f"{name} {words[0]}", command(words[0]), words[1:]
    try:
        code = (parser or program())(words, prog_name=name, standalone_mode=False)
    except typer.TyperException as error:
        hint = f"`{name} --help` shows how it is used."
        raise usage_error(error.format_message(), hint) from None
    if code == INTERRUPTED:  # what typer makes of it; nothing has been said yet
        raise KeyboardInterrupt
    return code if isinstance(code, int) else OK


def program() -> TyperGroup:
    """The program; its commands have no options yet, since each call needs those of one."""
    app = typer.Typer(**_SETTINGS)
    app.callback(cls=_Program, help=lines.CALLED.sub(lines.program, _ABOUT))(_main)
    group = typer.main.get_group(app)
    for name, summary in SUMMARIES.items():
        group.commands[name] = TyperCommand(name, help=summary)
    return group


def command(name: str) -> TyperCommand:
    """A command with its options: the parameters of its verb behind the first one."""
    module = import_module(f"hookctl.verbs.{name}")
    _, *parameters = inspect.signature(getattr(module, name)).parameters.values()
    takes_json = any(one.name == "json" for one in parameters)
    parameters += [] if takes_json else [_JSON]
    at = module.HELP.index("\nEx")  # examples, or what the exit codes mean
    described = read_options(module.HELP[:at].strip())
    for number, one in enumerate(parameters):
        kind = list[str] if one.annotation == Sequence[str] else one.annotation
        parameters[number] = one.replace(annotation=Annotated[kind, described[one.name]])

    def run(**given: Any) -> int:
        from hookctl.system import folders, owners  # late: a help text needs none of it

        as_json = given["json"] if takes_json else given.pop("json")
        for option, value in given.items():
            given[option] = tuple(value) if isinstance(value, list) else value
        needs_home = name not in ("check", "completion", "demo", "verify")
        place = folders.here() if needs_home else folders.without_home()
        reads = given.get("dry_run", name not in ("pack", "run", "supervise"))
        if name == "run":
            reads = given["action"] == "status" or (
                given["action"] == "wait" and not given["stall"]
            )
        if given.get("fix") or not (reads or given.get("list_")):
            owners.require_own_home(place.home, place.state, place.data)
        result = getattr(module, name)(place, **given)
        if result is None:  # it has printed all
            return OK
        lines.show(name, result, as_json=as_json)
        return result.exit_code

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    more = lines.CALLED.sub(lines.program, module.HELP[at:]).strip().split("\n\n")
    app = typer.Typer(**_SETTINGS)
    app.command(name, cls=_Command, help="\n\n\b\n".join([SUMMARIES[name], *more]))(run)
    return typer.main.get_command(app)


def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Only for its help text: `call` prints the version."""


# The help texts: commands in groups, options in panels, and no description cut short.


class _Program(TyperGroup):
    """The program, whose help shows its commands in groups, the last one by name only."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Give the command that is called its options."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, name and found and command(name), rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a list for each group of commands, every description in full."""
        columns = max(map(len, SUMMARIES))
        *groups, (more, others) = GROUPS.items()
        for heading, rows in groups:
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(columns), text) for name, text in rows.items()])
        with formatter.section(f"{more} ({lines.program} COMMAND --help)"):
            formatter.write_text(", ".join(others))


class _Command(TyperCommand):
    """A command, whose help shows its arguments, and its options in panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and then a list for each panel of options."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            heading = getattr(parameter, "rich_help_panel", None) or "Options"
            if parameter.param_type_name == "argument":
                heading = "Arguments"
            if row := parameter.get_help_record(ctx):
                panels.setdefault(heading, []).append(row)
        for heading in sorted(panels, key=lambda name: name == "Options"):  # these last
            with formatter.section(heading):
                formatter.write_dl(panels[heading])
