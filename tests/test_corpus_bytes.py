"""Install, install again, uninstall over look-alikes of real settings files: nothing of the operator's moves."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

CORPUS = Path(__file__).parent / "corpus" / "claude"
REFUSED = sorted((CORPUS / "refused").glob("*.json"))


def _text(change: Callable[[str], str]) -> Callable[[bytes], bytes]:
    # A lone surrogate is an escape in the file; a decoded one becomes that escape again.
    return lambda data: change(data.decode()).encode("utf-8", "backslashreplace")


def _minified(text: str) -> str:
    if not text.removeprefix("\ufeff").strip():
        return text

    def marked(number: str) -> str:
        return f"\0{number}\0"

    value = json.loads(text.removeprefix("\ufeff"), parse_float=marked, parse_int=marked)
    flat = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return re.sub(r'"\\u0000([^"\\]*)\\u0000"', r"\1", flat)


VARIANTS: dict[str, Callable[[bytes], bytes]] = {
    "as-is": lambda data: data,
    "crlf": _text(lambda text: re.sub(r"\r\n|\r|\n", "\r\n", text)),
    "bom": lambda data: data if data.startswith(b"\xef\xbb\xbf") else b"\xef\xbb\xbf" + data,
    "no-final-newline": lambda data: data.rstrip(b"\r\n"),
    "tabs": _text(lambda text: re.sub(r"(?m)^(?:  )+", lambda m: "\t" * (len(m[0]) // 2), text)),
    "four-spaces": _text(lambda text: re.sub(r"(?m)^(?:  )+", lambda m: m[0] * 2, text)),
    "minified": _text(_minified),
    "non-ascii": _text(lambda text: re.sub(r"(?<=[^\\])echo", "écho 已完成 🎉", text)),
}


def lines(data: bytes) -> list[bytes]:
    return re.split(rb"\r\n|\r|\n", data)


def lost_lines(before: bytes, after: bytes) -> list[bytes]:
    """The operator's lines that are not there any more, in order; a comma added at the end is forgiven."""
    new, lost, start = lines(after), [], 0
    for line in lines(before):
        at = next((i for i in range(start, len(new)) if line in (new[i], new[i].removesuffix(b","))), None)
        if at is None:
            lost.append(line)
        else:
            start = at + 1
    return lost


def grown(line: bytes, after: bytes) -> bool:
    """Whether a line is there with nothing but something inserted, as in a container on one line."""
    return any(is_within(line, other) for other in lines(after))


def is_within(old: bytes, new: bytes) -> bool:
    rest = iter(new)
    return all(byte in rest for byte in old)


def file_of(isolated: Path, scope: str) -> Path:
    folder = isolated / ("home" if scope == "user" else "work") / ".claude"
    return folder / ("settings.local.json" if scope == "local" else "settings.json")


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_a_bad_file_is_refused_with_its_place_and_left_alone(
    path: Path, isolated: Path, settings: Path, hookctl: Hookctl
) -> None:
    put(settings, path.read_bytes())
    done = hookctl("install", "--host", "claude", "--json")
    assert done.code == 4, done.out
    (error,) = done.result["errors"]
    assert error["path"] == str(settings) and error["line"] > 0 and error["column"] > 0 and error["hint"]
    assert settings.read_bytes() == path.read_bytes()
    assert not (isolated / "state").exists() and not (isolated / "data").exists()


# Large files


# Odd files: the operator's links, names, modes and owners stay as they are

PLAIN = b'{\n  "model": "m"\n}\n'


def a_link(path: Path, elsewhere: Path) -> Path:
    path.symlink_to(put(elsewhere / "claude.json", PLAIN))
    return elsewhere / "claude.json"


def a_chain(path: Path, elsewhere: Path) -> Path:
    put(elsewhere / "deep" / "claude.json", PLAIN)
    (elsewhere / "second").symlink_to("deep/claude.json")
    (elsewhere / "first").symlink_to(elsewhere / "second")
    path.symlink_to(os.path.relpath(elsewhere / "first", path.parent))
    return elsewhere / "deep" / "claude.json"


def a_dangling_link(path: Path, elsewhere: Path) -> Path:
    path.symlink_to(elsewhere / "not" / "there.json")
    return elsewhere / "not" / "there.json"


def a_second_name(path: Path, elsewhere: Path) -> Path:
    os.link(put(elsewhere / "claude.json", PLAIN), path)
    return elsewhere / "claude.json"


def a_linked_folder(path: Path, elsewhere: Path) -> Path:
    path.parent.rmdir()
    path.parent.symlink_to(put(elsewhere / path.name, PLAIN).parent)
    return elsewhere / path.name


def a_file(path: Path, elsewhere: Path) -> Path:
    return put(path, PLAIN)


KINDS: list[Callable[[Path, Path], Path]] = [
    a_file, a_link, a_chain, a_dangling_link, a_second_name, a_linked_folder,
]  # fmt: skip


def shape(path: Path, target: Path) -> tuple[object, ...]:
    """What the operator sees of a file besides its bytes."""
    about = target.stat()
    links = [os.readlink(place) for place in (path, path.parent) if place.is_symlink()]
    return links, about.st_nlink, stat.S_IMODE(about.st_mode), about.st_uid, about.st_gid


@pytest.mark.parametrize("scope", ["user", "project", "local"])
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664], ids=oct)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_links_names_and_modes_stay(
    kind: Callable[[Path, Path], Path], mode: int, scope: str, isolated: Path, hookctl: Hookctl, fixed_python: None
) -> None:
    path = file_of(isolated, scope)
    path.parent.mkdir()
    target = kind(path, path.parents[1] / "dotfiles")
    there = target.exists()
    if there:
        target.chmod(mode)
        before = shape(path, target)
    elif mode != 0o600:
        return
    inode = target.stat().st_ino if there else 0
    for option in ("latch=yes", "latch=no"):
        done = hookctl("install", "--host", "claude", "--scope", scope, "--set", option)
        assert (done.code, "so it is made there" in done.err) == (0, not there and option == "latch=yes")
        assert b"hookctl=guard/stop" in target.read_bytes() and target.read_bytes() == path.read_bytes()
        if there:
            assert shape(path, target) == before
    assert kind is not a_second_name or target.stat().st_ino == path.stat().st_ino == inode
    assert hookctl("uninstall", "--scope", scope).code == 0
    if there:
        assert (target.read_bytes(), shape(path, target)) == (PLAIN, before)
    else:
        assert path.is_symlink() and not (path.parents[1] / "dotfiles").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("mode", [0o600, 0o2664], ids=oct)
@pytest.mark.parametrize("kind", [a_file, a_link, a_second_name], ids=lambda kind: kind.__name__)
def test_another_owner_and_group_stay(
    kind: Callable[[Path, Path], Path], mode: int, scope: str, isolated: Path, hookctl: Hookctl, fixed_python: None
) -> None:
    path = file_of(isolated, scope)
    path.parent.mkdir()
    target = kind(path, path.parents[1] / "dotfiles")
    os.chown(target, 12345, 54321)
    target.chmod(mode)
    before = shape(path, target)
    assert before[2:] == (mode, 12345, 54321)
    assert hookctl("install", "--host", "claude", "--scope", scope).code == 0
    assert b"hookctl=guard/stop" in target.read_bytes() and shape(path, target) == before
    assert hookctl("uninstall", "--scope", scope).code == 0
    assert (target.read_bytes(), shape(path, target)) == (PLAIN, before)
