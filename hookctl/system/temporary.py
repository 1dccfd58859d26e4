"""Temporary folders in which our programs run: no other user can replace them."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

from hookctl.system import files, owners


@contextlib.contextmanager
def private_folder(purpose: str, state: str) -> Iterator[str]:
    """A new private folder of the caller, removed at the end with its content.

    It lies in the system's folder for temporary files, or in the state folder where another user
    could change that one: who may write a folder without the sticky bit can rename any file in it,
    TMPDIR may name such a folder, and some containers have such a /tmp.
    """
    place = state
    with contextlib.suppress(FileNotFoundError):  # no folder for temporary files at all
        usual = os.path.abspath(tempfile.gettempdir())
        if not owners.find_fault(usual):
            place = usual
    with folder_in(place, f"hookctl-{purpose}-") as folder:
        yield folder


@contextlib.contextmanager
def folder_in(place: str, prefix: str) -> Iterator[str]:
    """The same in this folder; refuses it where another user could change it (`unsafe_path`)."""
    owners.require_safe(place)
    try:
        if not os.path.isdir(place):
            files.make_folders(place, files.PRIVATE)
        folder = tempfile.TemporaryDirectory(prefix=prefix, dir=place, ignore_cleanup_errors=True)
    except OSError as error:
        raise files.cannot_write(place, error) from None
    with folder as path:
        yield path
