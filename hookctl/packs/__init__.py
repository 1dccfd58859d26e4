"""Packs: the built-in ones, packs by path, and the guard's settings, commands and files.

It may import `settings`, `hosts`, `documents`, `system` and the values at the root.
"""

import os
import tomllib

from hookctl.errors import nearest, usage_error
from hookctl.model import GIT
from hookctl.packs.model import Pack, PackHook, Part
from hookctl.system import list_data, read_data


def names() -> list[str]:
    """The built-in packs."""
    return [name[:-5] for name in list_data("packs", ending=".toml")]


def is_path(name: str) -> bool:
    """Whether a PACK on the command line is a path instead of a name."""
    return os.sep in name or name.endswith(".toml") or name in (os.curdir, os.pardir)


def load(name: str) -> Pack:
    """The built-in pack of this name, or the pack at this path; else a usage error."""
    if name in names():
        # The commands are not in its file, since they depend on its settings.
        data = tomllib.loads(read_data("packs", f"{name}.toml").decode())
        hooks = [PackHook(hook["id"], hook["event"], "", hook["timeout"]) for hook in data["hooks"]]
        return Pack(
            **data["pack"],
            files=tuple(data["files"]["include"]),
            parts={"": Part(hooks=tuple(hooks))},
            rules=data["rules"]["text"].strip("\n"),
        )
    if name.startswith(GIT):
        hint = "Give the pack's name, or the path of a copy."
        raise usage_error("this command fetches no pack", hint, name)
    if is_path(name) or os.path.isdir(name):
        from hookctl.packs.pack import load_file  # late: most calls are about the guard

        return load_file(name)
    hint = f"{nearest(name, names())}Built-in packs: {', '.join(names())}. "
    hint += f"Or give the path of a pack file, as ./{name}.toml."
    raise usage_error(f"unknown pack {name!r}", hint)
