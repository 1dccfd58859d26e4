"""Owner, group, mode and access list of a file that is replaced: no user gains or loses access.

A rename puts a file in place of the old one that belongs to the caller. Where the caller cannot
give it the old owner, group or access list, it may take the old one's place only if no user's
rights depend on the difference.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import stat

from hookctl.errors import FAILED, HookctlError

ACCESS_LIST = "system.posix_acl_access"
_ROOT = 0  # it may read and write every file, whatever the mode says


def copy_attributes(path: str, handle: int, chmod: int | None) -> None:
    """Give the file of a handle what the file at a path has; the mode comes last, or is `chmod`.

    Raises `owner_would_change` (exit 1) where a user would gain or lose access.
    """
    old = os.stat(path)
    mode = stat.S_IMODE(old.st_mode)
    if chmod is not None:
        mode = chmod
    new = os.fstat(handle)
    if new.st_gid != old.st_gid:
        with contextlib.suppress(OSError):
            os.fchown(handle, -1, old.st_gid)
    if new.st_uid != old.st_uid:
        with contextlib.suppress(OSError):
            os.fchown(handle, old.st_uid, -1)
    _require_same_access(path, old, os.fstat(handle), mode)
    _copy_extended(path, handle)
    os.fchmod(handle, mode)


def _require_same_access(path: str, old: os.stat_result, new: os.stat_result, mode: int) -> None:
    """Refuse another owner or group where a user's rights would change under this `mode`."""
    if (old.st_uid, old.st_gid) == (new.st_uid, new.st_gid):
        return
    _, group, others = _rights(mode)
    if ACCESS_LIST in _list_extended(path):
        raise _refuse(path, old, "its access list names rights of the owner and the group")
    if old.st_gid != new.st_gid and group != others:
        raise _refuse(path, old, f"group {old.st_gid} would lose its rights to it")
    if old.st_uid not in (new.st_uid, _ROOT) and _loses_rights(old, mode):
        raise _refuse(path, old, f"user {old.st_uid}, its owner, would lose rights to it")


def _loses_rights(old: os.stat_result, mode: int) -> bool:
    """Whether the old owner has fewer rights once another user is the owner."""
    owner, group, others = _rights(mode)
    rights = group if _is_member(old.st_uid, old.st_gid) else others
    return bool(owner & ~rights)


def _is_member(user: int, group: int) -> bool:
    """Whether the system's tables have a user in a group."""
    import pwd  # late: Windows has none

    try:
        entry = pwd.getpwuid(user)
        return group in os.getgrouplist(entry.pw_name, entry.pw_gid)
    except (KeyError, OSError):
        return False


def _rights(mode: int) -> tuple[int, int, int]:
    """The rights of owner, group and others."""
    return mode >> 6 & 7, mode >> 3 & 7, mode & 7


def _copy_extended(path: str, handle: int) -> None:
    """Copy the extended attributes; an access list that only the folder gave is removed."""
    names = _list_extended(path)
    for name in names:
        try:
            os.setxattr(handle, name, os.getxattr(path, name))
        except OSError as error:
            if name == ACCESS_LIST:
                reason = f"its access list cannot be copied ({error.strerror})"
                raise _refuse(path, os.stat(path), reason) from None
    if ACCESS_LIST in names or ACCESS_LIST not in _list_extended(handle):
        return
    try:
        os.removexattr(handle, ACCESS_LIST)
    except OSError as error:
        reason = f"the access list of its folder would count for it ({error.strerror})"
        raise _refuse(path, os.stat(path), reason) from None


def _list_extended(file: str | int) -> list[str]:
    with contextlib.suppress(OSError, AttributeError):  # not every platform has them
        return os.listxattr(file)
    return []


def _refuse(path: str, old: os.stat_result, reason: str) -> HookctlError:
    message = f"replacing this file would change who has access to it: {reason}"
    hint = f"Run the command as the file's owner: `sudo -u '#{old.st_uid}' hookctl ...`."
    if old.st_uid == os.geteuid():
        hint = f'Give the file a group of yours: `chgrp "$(id -gn)" {shlex.quote(path)}`.'
    return HookctlError("owner_would_change", message, path=path, hint=hint, exit_code=FAILED)
