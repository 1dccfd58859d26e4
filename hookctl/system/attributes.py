"""Owner, group, mode and access list of a file that is replaced: no user gains or loses access."""

from __future__ import annotations

import contextlib
import os
import shlex
import stat

from hookctl.errors import FAILED, HookctlError

ACCESS_LIST = "system.posix_acl_access"


def copy_attributes(path: str, handle: int, chmod: int | None) -> None:
    """Give the file of a handle what the file at a path has; the mode comes last, or is `chmod`.

    Raises `owner_would_change` (exit 1) where the caller cannot.
    """
    old = os.stat(path)
    mode = stat.S_IMODE(old.st_mode) if chmod is None else chmod
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
    """Refuse another owner, and another group unless it has no rights of its own."""
    if (old.st_uid, old.st_gid) == (new.st_uid, new.st_gid):
        return
    if ACCESS_LIST in list_extended(path):
        raise _refuse(path, old, "its access list names rights of the owner and the group")
    if old.st_gid != new.st_gid and mode >> 3 & 7 != mode & 7:
        raise _refuse(path, old, f"group {old.st_gid} would lose its rights to it")
    if old.st_uid != new.st_uid:
        raise _refuse(path, old, f"user {old.st_uid} would not be its owner any more")


def _copy_extended(path: str, handle: int) -> None:
    """Copy the extended attributes; an access list that only the folder gave is removed."""
    names = list_extended(path)
    for name in names:
        try:
            os.setxattr(handle, name, os.getxattr(path, name))
        except OSError as error:
            if name == ACCESS_LIST:
                reason = f"its access list cannot be copied ({error.strerror})"
                raise _refuse(path, os.stat(path), reason) from None
    if ACCESS_LIST in names or ACCESS_LIST not in list_extended(handle):
        return
    try:
        os.removexattr(handle, ACCESS_LIST)
    except OSError as error:
        reason = f"the access list of its folder would count for it ({error.strerror})"
        raise _refuse(path, os.stat(path), reason) from None


def list_extended(file: str | int) -> list[str]:
    """The names of a file's extended attributes."""
    with contextlib.suppress(OSError, AttributeError):  # not every platform has them
        return os.listxattr(file)
    return []


def _refuse(path: str, old: os.stat_result, reason: str) -> HookctlError:
    message = f"replacing this file would change who has access to it: {reason}"
    hint = f"Run the command as the file's owner: `sudo -u '#{old.st_uid}' hookctl ...`."
    if old.st_uid == os.geteuid():
        hint = f'Give the file a group of yours: `chgrp "$(id -gn)" {shlex.quote(path)}`.'
    return HookctlError("owner_would_change", message, path=path, hint=hint, exit_code=FAILED)
