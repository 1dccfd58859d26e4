"""Who may run a pack's files after an upgrade: as the pack's own files say; otherwise their mode is the operator's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hookctl.system import files
from tests.conftest import Hookctl, put

OLD, NEW = "#!/bin/sh\n", "#!/bin/sh\necho ring\n"
Release = Callable[..., str]


@pytest.fixture
def release(isolated: Path) -> Release:
    """Writes a version of the pack; its path."""

    def write(version: str, text: str, mode: int) -> str:
        program = put(isolated / "bell" / "ring.sh", text)
        program.chmod(mode)
        about = f'[pack]\nname = "bell"\nversion = "{version}"\nprotocol = "host"\n[files]\ninclude = ["ring.sh"]\n'
        return str(put(isolated / "bell" / "pack.toml", f'{about}[env]\nBELL = "{version}"\n'))

    return write


def copy_of(isolated: Path, scope: str) -> Path:
    top = isolated / "work" / ".hookctl" if scope == "project" else isolated / "data"
    (found,) = top.rglob("ring.sh")
    return found


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def install(hookctl: Hookctl, pack: str, scope: str = "user") -> int:
    return hookctl("install", pack, "--host", "claude", "--scope", scope).code


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "public_mode", lambda: 0o644)


@pytest.mark.parametrize("text", [OLD, NEW], ids=["same bytes", "other bytes"])
@pytest.mark.parametrize(
    ("scope", "first", "then", "copies"),
    [
        ("user", 0o644, 0o755, (0o600, 0o700)),
        ("user", 0o755, 0o644, (0o700, 0o600)),
        ("project", 0o644, 0o755, (0o644, 0o755)),
        ("project", 0o755, 0o644, (0o755, 0o644)),
    ],
)
def test_an_upgraded_copy_is_executable_as_the_packs_file_is(
    isolated: Path, hookctl: Hookctl, release: Release, scope: str, first: int, then: int, copies: tuple[int, int],
    text: str,
) -> None:  # fmt: skip
    assert install(hookctl, release("1", OLD, first), scope) == 0
    copy = copy_of(isolated, scope)
    assert mode(copy) == copies[0]
    assert install(hookctl, release("2", text, then), scope) == 0
    assert (mode(copy), copy.read_text()) == (copies[1], text)
    assert hookctl("install", release("2", text, then), "--host", "claude", "--scope", scope).out == "nothing to do\n"
