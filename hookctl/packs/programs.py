"""What comes with hookctl: the built-in packs, and the programs that hosts run."""

import functools
import json
import os
import re
import tomllib
from collections.abc import Callable
from typing import NamedTuple

from hookctl import __version__
from hookctl.errors import HookctlError, nearest, usage_error
from hookctl.model import GIT, OURS
from hookctl.packs import MANIFEST, Pack, PackHook, Part
from hookctl.system import asset, files, list_data, read_data, read_folder
from hookctl.system.packages import (
    HOOK,
    PACKAGES,
    Modules,
    list_former,
    name_package,
    packages_named,
)

_GUARD, _RUNNER = ("templates", "guard", "guard"), ("templates", "runner")
_ALONG = ("templates", "packs")


class Programs(NamedTuple):
    """The launcher, and its packages by the names of their folders."""

    launcher: bytes
    guard: dict[str, Modules]
    runner: dict[str, Modules]

    @property
    def all(self) -> dict[str, bytes]:
        """Every file, by its path from the folder of the launcher, which is the last one."""
        files = {}
        for package, modules in {**self.guard, **self.runner}.items():
            files |= {f"{PACKAGES}/{package}/{name}": data for name, data in modules.items()}
        return {**files, HOOK: self.launcher}


@functools.cache
def load_programs() -> Programs:
    """The programs of this version."""
    launcher = read_data("templates", "guard", HOOK).decode()
    stamps, packages = {"VERSION": __version__}, []
    for name, folder in (("guard", _GUARD), ("runner", _RUNNER)):
        modules = read_folder(*folder, ending=".py")
        package = name_package(name, modules)
        packages.append({package: modules})
        stamps[name.upper()] = f"{PACKAGES}/{package}"
    for name, value in stamps.items():
        launcher = re.sub(rf'(?m)^{name} = "[a-z]*"', f'{name} = "{value}"', launcher)
    return Programs(launcher.encode(), *packages)


def released_versions() -> bytes:
    """The file with the digests of what each released version laid."""
    return read_data("packs", "released.json")


def version_of_launcher(launcher: bytes) -> str:
    """The released version that has this launcher, which names its packages; '' if none has."""
    released, digest = json.loads(released_versions()), files.digest(launcher)
    return next((version for version, known in released.items() if known.get(HOOK) == digest), "")


def find_former(top: str, read: Callable[[str], files.Snapshot]) -> set[str]:
    """The files below a folder that 0.2.0 laid there: its programs as released, and their data."""
    known, found = set(json.loads(released_versions())["0.2.0"].values()), set()
    runtime = os.path.join(top, PACKAGES)
    for path in list_former(top):
        if not path.endswith(".py"):
            found.add(path)
            continue
        prefix = os.path.relpath(runtime, os.path.dirname(path))
        try:
            launcher = read(path).data or b""
            programs, paths = {os.path.basename(path): launcher}, {path}
            for package in packages_named(launcher):
                for name in sorted(os.listdir(os.path.join(runtime, package))):
                    module = os.path.join(runtime, package, name)
                    if name.endswith(".py"):
                        paths.add(module)
                        relative = os.path.normpath(os.path.join(prefix, package, name))
                        programs[relative] = read(module).data or b""
        except (HookctlError, OSError):
            continue
        if files.content_digest(b"", programs) in known:
            found |= paths
    return found


# The built-in packs.


def list_built_in() -> list[str]:
    """The built-in packs."""
    return [name[:-5] for name in list_data("packs", ending=".toml")]


def find_along(name: str) -> str:
    """The file of a pack that comes along, by its name or its source; '' if it is none."""
    name = name.removeprefix(OURS)
    return asset(*_ALONG, name, MANIFEST) if name in list_data(*_ALONG, ending="") else ""


def is_path(name: str) -> bool:
    """Whether a PACK on the command line is a path instead of a name."""
    return os.sep in name or name.endswith(".toml") or name in (os.curdir, os.pardir)


def load_pack(name: str) -> Pack:
    """The pack of this name that hookctl brings, or the pack at this path; else a usage error."""
    if name in list_built_in():
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
    if re.match("[a-z]+://", name):  # which may have a password in it
        raise usage_error("an address needs `git+` in front", "Use git+https://HOST/REPO[@REV].")
    along = find_along(name)
    is_there = not name.startswith(OURS) and (is_path(name) or os.path.isdir(name))
    if along and is_there:
        message = f"{name} is a folder here, and a pack that comes with hookctl"
        raise usage_error(message, f"Give ./{name} or {OURS}{name}.")
    if along or is_there:
        from hookctl.packs.pack import load_file  # late: most calls are about the guard

        return load_file(along)._replace(source="") if along else load_file(name)
    known = [*list_built_in(), *list_data(*_ALONG, ending="")]
    hint = f"{nearest(name, known)}Built-in packs: {', '.join(known)}. "
    hint += f"Or give the path of a pack file, as ./{name}.toml."
    raise usage_error(f"unknown pack {name!r}", hint)
