"""Temporary folders in which our programs run: no other user can replace them."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

from hookctl.errors import FAILED, HookctlError
from hookctl.system import files, owners


@contextlib.contextmanager
def private_folder(purpose: str, state: str) -> Iterator[str]:
    """A new private folder of the caller, removed at the end with its content.

    Refuses (`unsafe_path`, `write_failed`) where another user could change every usable place.
    """
    parent = _choose_place(state)
    try:
        folder = tempfile.TemporaryDirectory(prefix=f"hookctl-{purpose}-", dir=parent)
    except OSError as error:
        raise _cannot_make(parent, error) from None
    with folder as path:
        yield path


def _choose_place(state: str) -> str:
    """The system's folder for temporary files, or hookctl's state folder.

    A user who may write a folder without the sticky bit can rename any file in it, and put another
    one there. TMPDIR may name such a folder, and some containers have such a /tmp.
    """
    with contextlib.suppress(FileNotFoundError):  # no folder for temporary files at all
        place = os.path.abspath(tempfile.gettempdir())
        if not owners.find_fault(place):
            return place
    owners.require_safe(state)
    try:
        files.make_folders(state, files.PRIVATE)
    except OSError as error:
        raise _cannot_make(state, error) from None
    return state


def _cannot_make(path: str, error: OSError) -> HookctlError:
    message = f"no temporary folder can be made here ({error.strerror})"
    hint = "Name one that only you can write: `export TMPDIR=FOLDER`."
    return HookctlError("write_failed", message, path=path, hint=hint, exit_code=FAILED)
