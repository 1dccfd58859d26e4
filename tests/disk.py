"""Everything that a writing run may touch: prepared, kept, put back and compared."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import Any, NamedTuple

from hookctl.__main__ import run
from hookctl.ownership import store
from hookctl.system import folders
from tests.conftest import agreed, put

THEIRS = b'{\n    "model": "m",   "hooks": {"Stop": []},\n\n  "env": { "A": "1" }\n}'
INSTALL, UNINSTALL = ("install", "--host", "claude"), ("uninstall", "--host", "claude")
HOOKS = (  # the same with hooks of other tools
    THEIRS.replace(b'"Stop": []', b'"Stop": [{"hooks": [{"type":"command",  "command": "exit 3"}]}]')
)
UPGRADE = (*INSTALL, "--set", "max_stop_blocks=9", "--set", "latch=false")
PROJECT = ("--scope", "project")
DISABLE, ENABLE = ("disable", "guard"), ("enable", "guard")
# What goes its own way to the text of a file: one list of all hooks, and a program with settings in it.
LIST, PLUGIN = ("--host", "kimi"), ("--host", "pi")
LISTED = b'# mine\nmodel = "m"\n\n[[hooks]] # theirs\nevent  =  "Stop"\ncommand = "bell"\n\n[other]\na = 1.0\n'
RESTORE = ("restore", "../home/.claude/settings.json", "--yes")
# What lies there before, and the command that a run is struck in.
STRUCK = [
    *[("existing", verb) for verb in (INSTALL, UPGRADE, UNINSTALL)],
    *[(kind, verb) for kind in ("absent", "link") for verb in (INSTALL, UNINSTALL)],
    *[("project", (*verb, *PROJECT)) for verb in (INSTALL, UNINSTALL)],
    *[
        (kind, (verb, *host))
        for kind, host in (("list", LIST), ("plugin", PLUGIN))
        for verb in ("install", "uninstall")
    ],
]


def quiet(*arguments: str) -> int:
    """Run the command in this process; what it prints is nobody's business."""
    keep = os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        return run(agreed(arguments))
    finally:
        for number, handle in zip((1, 2), keep, strict=True):
            os.dup2(handle, number)
            os.close(handle)
        os.close(null)


class Tree(NamedTuple):
    """Every folder, link and file below one folder."""

    modes: dict[str, int]
    links: dict[str, str]
    data: dict[str, bytes]


def tree(top: Path) -> Tree:
    modes: dict[str, int] = {}
    links, data = {}, {}
    for folder, inner, names in os.walk(top):
        inner.sort()
        for name in (*inner, *sorted(names)):
            path = os.path.join(folder, name)
            about = os.lstat(path)
            if stat.S_ISLNK(about.st_mode):
                links[path] = os.readlink(path)
                continue
            modes[path] = stat.S_IMODE(about.st_mode)
            if stat.S_ISREG(about.st_mode):
                data[path] = Path(path).read_bytes()
    return Tree(modes, links, data)


def put_back(top: Path, kept: Tree) -> None:
    for path in top.iterdir():
        path.unlink() if path.is_symlink() or path.is_file() else shutil.rmtree(path)
    for path, mode in kept.modes.items():
        if path not in kept.data:
            os.mkdir(path)
        else:
            Path(path).write_bytes(kept.data[path])
        os.chmod(path, mode)
    for path, target in kept.links.items():
        os.symlink(target, path)
    os.chdir(top / "work")


def outcome(top: Path) -> Any:
    """What a run leaves, the backups and the lock apart; no ledger is an empty one."""
    found = tree(top)
    state = str(top / "state")
    own = [path for path in found.modes if path.startswith((f"{state}/backups", f"{state}/lock"))]
    for part in (found.modes, found.data):
        for path in own:
            part.pop(path, None)
    book = store.load(folders.here()).files
    found.data.pop(f"{state}/ledger.json", None)
    for path in (state, f"{state}/ledger.json"):
        found.modes.pop(path, None)
    return found, book


def temporary(top: Path) -> list[str]:
    """What a run needs only while it is under way, and is there still."""
    found = [path for path in tree(top).modes if not path.endswith("/.hookctl")]  # that folder is a project's
    return [path for path in found if path.endswith(".hookctl") or "journal" in path]


def settings_at(top: Path, kind: str) -> Path:
    """A settings file of this kind; the name under which the host reads it."""
    if kind == "list":
        return put(top / "home" / ".kimi-code" / "config.toml", LISTED)
    if kind == "plugin":
        return top / "home" / ".pi" / "agent" / "extensions" / "hookctl.js"
    path = top / ("work" if "project" in kind else "home") / ".claude" / "settings.json"
    path.parent.mkdir()
    if "absent" in kind:
        path.parent.rmdir()
    elif kind == "link":
        put(top / "dotfiles" / "claude.json", THEIRS).chmod(0o640)
        path.symlink_to("../../dotfiles/claude.json")
    else:
        put(path, HOOKS if "hooks" in kind else THEIRS).chmod(0o644)
    return path


def prepared(top: Path, kind: str, verb: tuple[str, ...]) -> Path:
    path = settings_at(top, kind)
    if verb[0] != "install" or "--set" in verb:
        assert quiet(*first(verb)) == 0
    if verb[0] == "enable":
        assert quiet(*opposite(verb)) == 0
    return path


def first(verb: tuple[str, ...]) -> tuple[str, ...]:
    """The install of the same scope."""
    return ("install", *_place_of(verb))


def last(verb: tuple[str, ...]) -> tuple[str, ...]:
    """The uninstall of the same scope."""
    return ("uninstall", *_place_of(verb))


def _place_of(verb: tuple[str, ...]) -> tuple[str, ...]:
    """The host and the scope of a command."""
    host = verb[verb.index("--host") + 1] if "--host" in verb else "claude"
    return ("--host", host, *(PROJECT if "project" in verb else ()))


def opposite(verb: tuple[str, ...]) -> tuple[str, ...]:
    """What turns the command back."""
    if verb[0] in ("disable", "enable"):
        return ("enable" if verb[0] == "disable" else "disable", *verb[1:])
    return last(verb) if verb[0] == "install" else first(verb)


def reached(top: Path, start: Tree, *commands: tuple[str, ...]) -> Any:
    """The outcome of these commands, one after the other, without a kill."""
    put_back(top, start)
    for command in commands:
        assert quiet(*command) == 0
    return outcome(top)


def data_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
