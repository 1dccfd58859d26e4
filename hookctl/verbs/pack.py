"""hookctl pack: everything for those who write packs, up to handing one on."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from hookctl import packs
from hookctl.errors import nearest, usage_error
from hookctl.model import Line, Result
from hookctl.packs.model import Pack
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.package_data import list_data, read_data
from hookctl.verbs.choosing import new_folder, require_name

ACTIONS = ("new", "check", "test", "import", "export")
LANGUAGES = ("sh", "python", "node")


HELP = """
action ACTION  One of: new, check, test, import, export.
subject [NAME|PATH]  For new: the pack's name; else the path of a pack or its folder.
--lang L  For new: the language of its hook: sh, python or node.
--host H  Only this host; repeat it for several. For import: the host to read.
--output -o DIR  For new, import and export: the folder to write; it must be new.
form --as FORM  For export: claude-plugin.

Examples:
  hookctl pack new no-force
  hookctl pack check no-force
  hookctl pack test no-force --host gemini
  hookctl pack import --host claude -o my-hooks
  hookctl pack export no-force --as claude-plugin -o plugin
"""


def pack(
    folders: Folders,
    action: str,
    subject: str = "",
    lang: str = "python",
    host: Sequence[str] = (),
    output: str = "",
    form: str = "",
) -> Result:
    """Make, check, test, import or export a pack."""
    if action == "new":
        return _make(folders, subject, lang, output)
    if action == "check":
        from hookctl.verbs.pack_check import check  # late: one action of several

        return _with_next(check(folders, load_pack(subject), host), "pack test", subject, host)
    if action == "test":
        from hookctl.verbs.pack_test import test  # late: as above

        return _with_next(test(folders, load_pack(subject), host), "install", subject, host)
    if action == "import":
        from hookctl.verbs.pack_import import import_hooks  # late: as above

        return import_hooks(folders, host, output)
    if action == "export":
        from hookctl.verbs.pack_export import export  # late: as above

        return export(folders, load_pack(subject), form, output)
    hint = f"{nearest(action, ACTIONS)}Use one of: {', '.join(ACTIONS)}."
    raise usage_error(f"unknown action {action!r}", hint)


def load_pack(path: str) -> Pack:
    """A pack by its path, with a bare name as a folder here."""
    if path in packs.names():
        raise usage_error(f"{path} is built in", "Give the path of a pack of your own.")
    name = path if packs.is_path(path or ".") else os.path.join(os.curdir, path)
    return packs.load(name or os.curdir)


def _with_next(result: Result, verb: str, subject: str, hosts: Sequence[str]) -> Result:
    """The result with the next command for the same pack and hosts; as it is where it failed."""
    if result.exit_code:
        return result
    path = subject or os.curdir
    shown = path if packs.is_path(path) else os.path.join(os.curdir, path)
    words = ["hookctl", verb, shlex.quote(shown), *(f"--host {host}" for host in hosts)]
    return result._replace(text=(*result.text, Line(f"Next: {' '.join(words)}")))


# new


def _make(folders: Folders, name: str, language: str, output: str) -> Result:
    require_name(name)
    if language not in LANGUAGES:
        hint = f"{nearest(language, LANGUAGES)}Use one of: {', '.join(LANGUAGES)}."
        raise usage_error(f"there is no template in {language!r}", hint)
    folder = new_folder(folders, output or name)
    place = ("templates", "pack", language)
    # Folders have no ending; an installation adds one with bytecode.
    paths = [path for path in list_data(*place, ending="") if "." in path]
    paths += [f"tests/{test}" for test in list_data(*place, "tests", ending=".toml")]
    written = {path: read_data(*place, *path.split("/")) for path in paths}
    written["pack.toml"] = written["pack.toml"].replace(b'"NAME"', f'"{name}"'.encode())
    files.write_tree(folder, written, 0o644)
    lines = [Line(f"{name} is a pack that works", "ok", path=folder)]
    lines += [Line(path, sign="+", indent=2) for path in written]
    shown = shlex.quote(os.path.relpath(folder, folders.cwd))
    lines.append(Line(f"Next: hookctl pack test {shown}"))
    return Result({"folder": folder, "files": sorted(written)}, tuple(lines))
