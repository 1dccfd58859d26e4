"""hookctl pack: everything for those who write packs, up to handing one on."""

from __future__ import annotations

import os
import shlex
from typing import NamedTuple

from hookctl import packs
from hookctl.errors import nearest, usage_error
from hookctl.model import Line, Result
from hookctl.packs.model import Pack
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.package_data import list_data, read_data
from hookctl.verbs.pack_folder import new_folder, require_name

ACTIONS = ("new", "check", "test", "import", "export")
LANGUAGES = ("sh", "python", "node")


class Request(NamedTuple):
    """What is to be done with which pack."""

    action: str
    subject: str = ""  # a name for `new`, else a path
    language: str = "python"
    hosts: tuple[str, ...] = ()
    output: str = ""
    form: str = ""


def pack(folders: Folders, request: Request) -> Result:
    """Make, check, test, import or export a pack."""
    if request.action == "new":
        return _make(folders, request)
    if request.action == "check":
        from hookctl.verbs.pack_check import check  # late: one action of several

        return _with_next(
            check(folders, load_pack(request.subject), request.hosts), "pack test", request
        )
    if request.action == "test":
        from hookctl.verbs.pack_test import test  # late: as above

        return _with_next(
            test(folders, load_pack(request.subject), request.hosts), "install", request
        )
    if request.action == "import":
        from hookctl.verbs.pack_import import import_hooks  # late: as above

        return import_hooks(folders, request.hosts, request.output)
    if request.action == "export":
        from hookctl.verbs.pack_export import export  # late: as above

        return export(folders, load_pack(request.subject), request.form, request.output)
    hint = f"{nearest(request.action, ACTIONS)}Use one of: {', '.join(ACTIONS)}."
    raise usage_error(f"unknown action {request.action!r}", hint)


def load_pack(path: str) -> Pack:
    """A pack by its path, with a bare name as a folder here."""
    if path in packs.names():
        raise usage_error(f"{path} is built in", "Give the path of a pack of your own.")
    name = path if packs.is_path(path or ".") else os.path.join(os.curdir, path)
    return packs.load(name or os.curdir)


def _with_next(result: Result, verb: str, request: Request) -> Result:
    """The result with the next command for the same pack and hosts; as it is where it failed."""
    if result.exit_code:
        return result
    path = request.subject or os.curdir
    shown = path if packs.is_path(path) else os.path.join(os.curdir, path)
    words = ["hookctl", verb, shlex.quote(shown), *(f"--host {host}" for host in request.hosts)]
    return result._replace(text=(*result.text, Line(f"Next: {' '.join(words)}")))


# new


def _make(folders: Folders, request: Request) -> Result:
    """Write a pack that works, with a test, into a new folder of its name."""
    name, language = request.subject, request.language
    require_name(name, 'Use a-z, 0-9 and "-": `hookctl pack new my-hook`.')
    if language not in LANGUAGES:
        hint = f"{nearest(language, LANGUAGES)}Use one of: {', '.join(LANGUAGES)}."
        raise usage_error(f"there is no template in {language!r}", hint)
    hint = "Choose another name, or another folder with -o."
    folder = new_folder(folders, request.output or name, hint)
    written = {path: _template(language, path, name) for path in _template_paths(language)}
    files.write_tree(folder, written, 0o644)
    lines = [Line(f"{name} is a pack that works", "ok", path=folder)]
    lines += [Line(path, sign="+", indent=2) for path in written]
    shown = shlex.quote(os.path.relpath(folder, folders.cwd))
    lines.append(Line(f"Next: hookctl pack test {shown}"))
    return Result({"folder": folder, "files": sorted(written)}, tuple(lines))


def _template_paths(language: str) -> list[str]:
    names = ("templates", "pack", language)
    tests = [f"tests/{test}" for test in list_data(*names, "tests", ending=".toml")]
    # Folders have no ending; an installation adds one with bytecode.
    return [name for name in list_data(*names, ending="") if "." in name] + tests


def _template(language: str, path: str, name: str) -> bytes:
    data = read_data("templates", "pack", language, *path.split("/"))
    return data.replace(b'"NAME"', f'"{name}"'.encode()) if path == "pack.toml" else data
