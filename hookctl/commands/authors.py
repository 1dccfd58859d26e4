"""The command for those who write packs."""

from __future__ import annotations

from typing import Annotated

from hookctl.commands import options
from hookctl.commands.options import Command, argument, option, show

_ACTION = "One of: new, check, test, import, export."
_SUBJECT = "For new: the pack's name; else the path of a pack or its folder."
_LANG = "For new: the language of its hook: sh, python or node."
_HOST = "Only this host; repeat it for several. For import: the host to read."
_OUT = "For new, import and export: the folder to write; it must be new."
_AS = "For export: claude-plugin."


def _pack(
    action: Annotated[str, argument("ACTION", _ACTION)],
    subject: Annotated[str, argument("[NAME|PATH]", _SUBJECT)] = "",
    lang: Annotated[str, option("L", _LANG)] = "python",
    host: Annotated[list[str] | None, option("H", _HOST, "--host", completes="host")] = None,
    output: Annotated[str, option("DIR", _OUT, "--output", "-o")] = "",
    form: Annotated[str, option("FORM", _AS, "--as")] = "",
    json: options.Json = False,
) -> int:
    from hookctl.verbs.pack import Request, pack

    request = Request(action, subject, lang, tuple(host or ()), output, form)
    return show("pack", lambda f: pack(f, request), json, writes=True)


COMMANDS = {
    "pack": Command(
        _pack,
        "Write a pack of hooks: make, check, test, import and export one.",
        "  hookctl pack new no-force\n"
        "  hookctl pack check no-force\n"
        "  hookctl pack test no-force --host gemini\n"
        "  hookctl pack import --host claude -o my-hooks\n"
        "  hookctl pack export no-force --as claude-plugin -o plugin\n",
    ),
}
