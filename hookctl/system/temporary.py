"""Temporary folders in which programs of ours run: nobody else can put others in their place."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

from hookctl.errors import FAILED, HookctlError
from hookctl.system import files, owners


@contextlib.contextmanager
def private_folder(purpose: str, state: str) -> Iterator[str]:
    """A new folder of the caller's alone, which goes with all that is in it.

    Refuses (`unsafe_path`, `write_failed`) where no place is left that nobody else can change.
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

    Whoever may write a folder without the sticky bit can rename what lies in it, whatever the
    rights of that are, and lay his own there. TMPDIR may name such a folder, and some containers
    have a /tmp like it.
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
