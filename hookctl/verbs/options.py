"""How a verb writes its options down, and those that several verbs share.

A line names an option, its value, and what it is for; lines that are set in go on. A parameter's
own name stands first where the option's is another one, or where it is an argument, which has no
option's name:

    --event E  Only this event.
    duration --for TIME  How long it lasts.
    file [FILE]  The settings file.
"""

from typing import Any

import typer

COMPLETE = "_HOOKCTL_COMPLETE"  # the variable of a shell that asks for completions
_SHARED = {  # by the heading in a help text
    None: """\
pack  guard, notify, protect, the path of a pack file or its folder, or
    git+https://HOST/REPO[@REV].
everywhere --all  Also the other projects that the records know.
of_project --project DIR  Only what was in this project.
ids ID ...  A pack, PACK/ID, or an ID that `hookctl hooks` shows (its first 4 characters or more).
--since TIME  Only what is newer: 2h, 7d, or a date.
--dry-run  Show the changes as plan does, and write nothing.
--verbose -v  Show every entry, and what is fine.
--json  Print one JSON object for machines.
""",
    "Where": """\
--host H  The host; repeat it for several, or `all` for every detected one.
--scope S  user (you), project (everyone, in version control) or local (this checkout).
any_scope --scope S  Only user, project or local scope; default: all of them.
--project DIR  The project folder; default: the nearest one above with .hookctl or .git.
only_project --project DIR  Only what is installed in this project; . is the one of this folder.
""",
    "The guard": """\
--mode M  The guard's mode: breaker, keepalive, guard or off.
assign --set KEY=VALUE  A setting of the guard: MAX_STOP_BLOCKS=8, latch=false, ...
--dispatch TOOL[:MAX/SECONDS]  Refuse more than MAX (30) identical calls of this tool in
    SECONDS (300), and end the turn after 10 refusals where the host can. '*' is every tool.
--guidance  Tell a session at its start what waits, and how to wait without polling.
--rules  Also tell the agent in its own file (CLAUDE.md, AGENTS.md, ...) how to report work.
--allow-run  Allow the agent `hookctl run`, so that it reports work without being asked.
""",
    "The guard, seldom needed": """\
--preset P  Act like a published system: bmad, nightly, openhands, rockbot, hermes, none.
--nudge TOOL[,TOOL]  Remind the agent once to call one of these before it stops; '' turns it off.
--nudge-env VAR  Remind only where this variable is set.
--wrap TEXT  Limit another tool's Stop hook whose command contains TEXT; '' for none.
""",
    "What it may overwrite": """\
--reset  Start from the defaults instead of the settings of the last install.
--force  Overwrite your changes; uninstall restores them.
""",
    "Other packs": """\
--yes -y  Agree to what a pack that is not built in brings.
--allow-env NAME  Let a pack set PATH, a proxy or another variable that is refused.
--accept-changed  Take a pack whose content changed under the same version.
full --verbose -v  Show long files too.
""",
}


def read_options(text: str) -> dict[str, Any]:
    """What typer needs to know of each parameter: of the shared ones, and of those in a text."""
    found = {}
    for heading, lines in (*_SHARED.items(), (None, text)):
        for line in lines.replace("\n    ", " ").splitlines():
            head, about = line.split("  ", 1)
            words = head.split()
            names = [word for word in words if word.startswith("-") and word != "--"]
            others = [word for word in words if word not in names]
            name = names[0] if words[0] in names else others.pop(0)
            value, _, least = " ".join(others).partition(">=")
            make = typer.Option if names else typer.Argument
            found[name.strip("-").replace("-", "_")] = make(
                *names,
                metavar=value or None,
                help=about,
                rich_help_panel=heading,
                min=int(least) if least else None,
            )
    return found
