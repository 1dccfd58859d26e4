"""Owners of paths: which other user could change a path, and so what runs as the caller.

As ssh's StrictModes: a path, each folder and link on the way and what it resolves to belong to the
caller or to root, and only they can write it. A group without other members is the caller's own,
and a sticky folder passes.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterable

from hookctl.errors import FAILED, HookctlError
from hookctl.model import PathFault

_ROOT = 0
_MOST_LINKS = 40


def find_faults(paths: Iterable[str]) -> dict[str, PathFault]:
    """The faults of these paths, by the path; many files lie in one folder, which is read once."""
    known: dict[str, PathFault | None] = {}
    faults = {path: find_fault(path, known) for path in paths}
    return {path: fault for path, fault in faults.items() if fault}


def find_fault(
    path: str, known: dict[str, PathFault | None] | None = None, *, whole: bool = True
) -> PathFault | None:
    """The first part on the way to a path that another user could change; None if there is none.

    What does not exist yet is passed over: the folder above decides. Unless `whole`, so is the
    file itself. `known` keeps what was found of each part: many files lie in one folder.
    """
    known = {} if known is None else known
    waiting = ["", *_split(path)]
    folder, links, fault = "/", 0, None
    while waiting and not fault:
        name = waiting.pop(0)
        if name == "..":
            folder = os.path.dirname(folder)
            continue
        part = os.path.join(folder, name)
        is_link = os.path.islink(part)
        if whole or waiting or is_link:
            if part not in known:
                known[part] = _find_fault_of(part)
            fault = known[part]
        if not is_link:
            folder = part
            continue
        target = os.readlink(part)
        links += 1
        if links > _MOST_LINKS:
            return PathFault(part, "symbolic link loop", f"rm {shlex.quote(part)}")
        waiting = _split(target) + waiting
        if os.path.isabs(target):
            folder = "/"
    return fault


def _split(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _find_fault_of(part: str) -> PathFault | None:
    """The fault of one file, folder or link, links not followed."""
    try:
        status = os.lstat(part)
    except OSError:
        return None
    if is_foreign(status):
        reason = f"belongs to another user ({user_name(status.st_uid)})"
        return PathFault(part, reason, f"sudo chown {os.geteuid()} {shlex.quote(part)}")
    if stat.S_ISLNK(status.st_mode):
        return None  # its folder decides who may replace it
    if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX:
        return None
    if status.st_mode & stat.S_IWOTH:
        return PathFault(part, "is writable by everybody", f"chmod o-w {shlex.quote(part)}")
    if not status.st_mode & stat.S_IWGRP:
        return None  # with an access list, these bits are its mask
    if group := _find_foreign_group(status.st_gid):
        reason = f"is writable by the group {group}"
        return PathFault(part, reason, f"chmod g-w {shlex.quote(part)}")
    from hookctl.system import attributes  # late: few folders are a group's

    if attributes.ACCESS_LIST in attributes.list_extended(part):
        return PathFault(part, "is writable by others (ACL)", f"setfacl -b {shlex.quote(part)}")
    return None


def is_foreign(status: os.stat_result) -> bool:
    """Whether a file belongs neither to the caller nor to root."""
    return status.st_uid not in (_ROOT, os.geteuid())


def _find_foreign_group(gid: int) -> str:
    """The group's name; '' if it is root's, or is known to have no member but the caller."""
    if gid == _ROOT:
        return ""
    import grp  # late: Windows has none
    import pwd

    try:
        group = grp.getgrgid(gid)
    except KeyError:
        return str(gid)
    members = {*group.gr_mem} | {user.pw_name for user in pwd.getpwall() if user.pw_gid == gid}
    return "" if members <= {"root", user_name(os.geteuid())} else group.gr_name


def user_name(uid: int) -> str:
    """The name of a user; the number where there is no name."""
    import pwd  # late: Windows has none

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def require_safe(*paths: str, ways: Iterable[str] = ()) -> None:
    """Refuse paths that another user could change, and of `ways` only the way to the file."""
    known: dict[str, PathFault | None] = {}
    for path in (*ways, *paths):
        fault = find_fault(path, known, whole=path in paths)
        if not fault:
            continue
        message = f"this {fault.reason}, so another user could run commands as you"
        hint = f"It leads to {path}. Nothing was written.\n  fix: {fault.fix}"
        raise HookctlError("unsafe_path", message, path=fault.path, hint=hint, exit_code=FAILED)


def require_own_home(*paths: str) -> None:
    """Refuse, as root, to write into the home or folders of another user."""
    if os.geteuid() != _ROOT:
        return
    for path in paths:
        nearest = path
        while not os.path.exists(nearest):
            nearest = os.path.dirname(nearest)
        status = os.stat(nearest)
        if status.st_uid == _ROOT:
            continue
        user = user_name(status.st_uid)
        message = f"this is {user}'s, and you are root: what root makes there, {user} cannot use"
        hint = (
            f"Nothing was written. Run it as {user}: `sudo -u '#{status.st_uid}' -H hookctl ...`."
        )
        raise HookctlError("other_user", message, path=path, hint=hint, exit_code=FAILED)
