"""Who may change a file: other users on the way to a path, and the rights on a file replaced.

As ssh's StrictModes: a path, each folder and link on the way and what it resolves to belong to the
caller or to root, and only they can write it. A group without other members is the caller's own,
and a sticky folder passes.
"""

import contextlib
import os
import shlex
import stat
from collections.abc import Iterable

from hookctl.errors import FAILED, HookctlError
from hookctl.model import PathFault

_ROOT = 0
_MOST_LINKS = 40
_ACCESS_LIST = "system.posix_acl_access"


def find_fault(
    path: str, known: dict[str, PathFault | None] | None = None, *, whole: bool = True
) -> PathFault | None:
    """The first part on the way to a path that another user could change; None if there is none.

    What does not exist yet is passed over: the folder above decides. Unless `whole`, so is the
    file itself. `known` keeps what was found of each part: many files lie in one folder.
    """
    known = {} if known is None else known
    waiting, folder, links, fault = ["", *path.split("/")], "/", 0, None
    while waiting and not fault:
        name = waiting.pop(0)
        part = os.path.normpath(os.path.join(folder, name))  # the folder has no links
        is_link = os.path.islink(part)
        if whole or any(waiting) or is_link:
            if part not in known:
                known[part] = _find_fault_of(part)
            fault = known[part]
        if not is_link:
            folder = part
            continue
        links += 1
        if links > _MOST_LINKS:
            return PathFault(part, "symbolic link loop", f"rm {shlex.quote(part)}")
        target = os.readlink(part)
        waiting = target.split("/") + waiting
        if os.path.isabs(target):
            folder = "/"
    return fault


def find_faults(paths: Iterable[str], ways: Iterable[str] = ()) -> dict[PathFault, str]:
    """The faults of all these paths, each with the first path that has it.

    Those of `ways` come first: of these only the way to the file counts.
    """
    known: dict[str, PathFault | None] = {}  # of each part: many files lie in one folder
    first: dict[PathFault, str] = {}
    looks = [*((path, False) for path in ways), *((path, True) for path in paths)]
    for path, whole in looks:
        fault = find_fault(path, known, whole=whole)
        if fault:
            first.setdefault(fault, path)
    return first


def _find_fault_of(part: str) -> PathFault | None:
    """The fault of one file, folder or link, links not followed."""
    try:
        status = os.lstat(part)
    except OSError:
        return None
    if is_foreign(status):
        reason = f"belongs to another user ({user_name(status.st_uid)})"
        return PathFault(part, reason, f"sudo chown {os.geteuid()} {shlex.quote(part)}")
    is_sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    if stat.S_ISLNK(status.st_mode) or is_sticky:  # of a link, its folder decides who replaces it
        return None
    if status.st_mode & stat.S_IWOTH:
        return PathFault(part, "is writable by everybody", f"chmod o-w {shlex.quote(part)}")
    if not status.st_mode & stat.S_IWGRP:
        return None  # with an access list, these bits are its mask
    if group := _find_foreign_group(status.st_gid):
        reason = f"is writable by the group {group}"
        return PathFault(part, reason, f"chmod g-w {shlex.quote(part)}")
    if _ACCESS_LIST in _list_extended(part):
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
    for fault, path in find_faults(paths, ways).items():
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


# A file that is replaced: no user gains or loses access to it.


def copy_attributes(path: str, handle: int, chmod: int | None) -> None:
    """Give the file of a handle what the file at a path has; the mode comes last, or is `chmod`."""
    old = os.stat(path)
    mode = stat.S_IMODE(old.st_mode) if chmod is None else chmod
    new, names = os.fstat(handle), _list_extended(path)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with contextlib.suppress(OSError):
            os.fchown(handle, old.st_uid, old.st_gid)
    new = os.fstat(handle)
    # No other owner, and no other group unless it has no rights of its own.
    has_own_rights = mode >> 3 & 7 != mode & 7 or _ACCESS_LIST in names
    if old.st_uid != new.st_uid or (old.st_gid != new.st_gid and has_own_rights):
        message = (
            "replacing this file would change who has access to it:"
            f" user {old.st_uid} or group {old.st_gid} would lose rights to it"
        )
        hint = f"Run the command as the file's owner: `sudo -u '#{old.st_uid}' -H hookctl ...`."
        if old.st_uid == os.geteuid():
            hint = f'Give the file a group of yours: `chgrp "$(id -gn)" {shlex.quote(path)}`.'
        raise HookctlError("owner_would_change", message, path=path, hint=hint, exit_code=FAILED)
    for name in names:
        try:
            os.setxattr(handle, name, os.getxattr(path, name))
        except OSError:
            if name == _ACCESS_LIST:
                raise
    if _ACCESS_LIST not in names and _ACCESS_LIST in _list_extended(handle):  # its folder's
        os.removexattr(handle, _ACCESS_LIST)
    os.fchmod(handle, mode)


def _list_extended(file: str | int) -> list[str]:
    with contextlib.suppress(OSError, AttributeError):  # not every platform has them
        return os.listxattr(file)
    return []
