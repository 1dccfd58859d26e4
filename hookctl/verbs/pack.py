"""hookctl pack: everything for those who write packs, up to handing one on."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator

from hookctl import packs
from hookctl.errors import FAILED, OK, nearest, usage_error
from hookctl.model import Line, Result
from hookctl.packs.model import Pack
from hookctl.packs.pack import read_files
from hookctl.packs.trial import Bench, every_host
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.package_data import list_data, read_data
from hookctl.system.temporary import private_folder
from hookctl.values import NamedTuple
from hookctl.verbs.pack_folder import new_folder, require_name

ACTIONS = ("new", "check", "test", "import", "export")
LANGUAGES = ("sh", "python", "node")
_COMPILE = "import sys; compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec')"
_CHECKS = {  # by the ending of a file: what says whether it can run
    ".sh": ["sh", "-n", "FILE"],
    ".py": [sys.executable, "-I", "-S", "-c", _COMPILE, "FILE"],
    ".js": ["node", "--check", "FILE"],
    ".mjs": ["node", "--check", "FILE"],
    ".cjs": ["node", "--check", "FILE"],
}


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
        return _check(folders, request)
    if request.action == "test":
        from hookctl.verbs.pack_test import test  # late: one action of several

        return test(folders, _load(request.subject), request.hosts)
    if request.action == "import":
        from hookctl.verbs.pack_import import import_hooks  # late: as above

        return import_hooks(folders, request.hosts, request.output)
    if request.action == "export":
        from hookctl.verbs.pack_export import export  # late: as above

        return export(folders, _load(request.subject), request.form, request.output)
    hint = f"{nearest(request.action, ACTIONS)}Use one of: {', '.join(ACTIONS)}."
    raise usage_error(f"unknown action {request.action!r}", hint)


def _load(path: str) -> Pack:
    """A pack by its path, with a bare name as a folder here."""
    if path in packs.names():
        raise usage_error(f"{path} is built in", "Give the path of a pack of your own.")
    name = path if packs.is_path(path or ".") else os.path.join(os.curdir, path)
    return packs.load(name or os.curdir)


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


# check


def _check(folders: Folders, request: Request) -> Result:
    """What of a pack runs on each host and what cannot; and whether its scripts compile."""
    content = _load(request.subject)
    faults = [*_find_faults(content)]
    lines = [Line(text, "error") for text in faults]
    hosts = []
    with private_folder("pack", folders.state) as top:
        bench = Bench(top, content, sys.executable)
        for host in every_host(request.hosts):
            hooks, notes = bench.commands(host)
            count = f"{len(hooks)} hook{'' if len(hooks) == 1 else 's'}"
            lines.append(Line(f"{host.title}: {count}", "warn" if notes else "ok"))
            lines += [Line(note.removeprefix(f"{content.name}: "), indent=2) for note in notes]
            hosts.append({"host": host.name, "hooks": [hook.id for hook in hooks], "notes": notes})
    data = {"pack": content.name, "version": content.version, "faults": faults, "hosts": hosts}
    return Result(data, tuple(lines), exit_code=FAILED if faults else OK)


def _find_faults(content: Pack) -> Iterator[str]:
    """Why a script of the pack cannot run, in one line each."""
    folder = os.path.dirname(os.path.realpath(content.source))
    for name in read_files(content):  # which refuses what leads out of the folder
        call = _CHECKS.get(os.path.splitext(name)[1])
        if call is None or shutil.which(call[0]) is None:
            continue
        path = os.path.join(folder, name)
        words = [path if word == "FILE" else word for word in call]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it does not compile"])[-1]
            yield f"{name}: {last}"
