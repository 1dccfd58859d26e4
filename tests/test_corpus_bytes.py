"""Install, install again, uninstall over look-alikes of real settings files: nothing of the operator's moves."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, put

CORPUS = Path(__file__).parent / "corpus" / "claude"
GOOD = sorted(path for path in CORPUS.glob("*.json"))
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


SCOPES = ("project", "local", "user")


def cases() -> Iterator[object]:
    """Every file as it is at user scope, and in two other variants, each at another scope."""
    others = [name for name in VARIANTS if name != "as-is"]
    for number, path in enumerate(GOOD):
        original = path.read_bytes()
        yield pytest.param(original, "user", id=path.stem)
        for turn in (number, number + 3):
            name = others[turn % len(others)]
            scope = SCOPES[turn % len(SCOPES)]
            changed = VARIANTS[name](original)
            if changed != original:
                yield pytest.param(changed, scope, id=f"{path.stem}-{name}-{scope}")


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


def only_inserted(before: bytes, after: bytes) -> bool:
    """Whether the old text is the new one with whole stretches left out; blanks in empty containers may move."""
    squeeze = re.compile(rb"(?<=[{\[])\s+(?=[}\]])")
    return is_within(squeeze.sub(b"", before), squeeze.sub(b"", after))


def file_of(isolated: Path, scope: str) -> Path:
    folder = isolated / ("home" if scope == "user" else "work") / ".claude"
    return folder / ("settings.local.json" if scope == "local" else "settings.json")


def records(isolated: Path) -> list[tuple[bytes, int, int]]:
    """Every ledger there is: its bytes, and which file and when."""
    paths = [isolated / "state" / "ledger.json", isolated / "work" / ".hookctl" / "ledger.json"]
    found = [(path.read_bytes(), path.stat()) for path in paths if path.exists()]
    return [(data, about.st_mtime_ns, about.st_ino) for data, about in found]


def there_and_back(isolated: Path, hookctl: Hookctl, scope: str, data: bytes) -> None:
    """Install keeps every line, a second one touches nothing, and uninstall gives the very bytes back."""
    path = put(file_of(isolated, scope), data)
    assert hookctl("install", "--host", "claude", "--scope", scope).code == 0
    installed = path.read_bytes()
    value = json.loads(installed.decode("utf-8-sig"))
    assert "hookctl=guard/stop" in json.dumps(value["hooks"]["Stop"][-1])
    assert only_inserted(data, installed)
    lost = [line for line in lost_lines(data, installed) if not re.search(rb"\{\s*\}|\[\s*\]|^\s*$", line)]
    assert len(lost) <= 2 and all(grown(line, installed) for line in lost), lost
    about, ledgers = path.stat(), records(isolated)
    again = hookctl("install", "--host", "claude", "--scope", scope)
    assert again.code == 0 and again.out.endswith("nothing to do\n")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (about.st_mtime_ns, about.st_ino)
    assert records(isolated) == ledgers and len(ledgers) == (2 if scope == "project" else 1)
    assert hookctl("uninstall", "--scope", scope).code == 0
    assert path.read_bytes() == data


@pytest.mark.parametrize(("data", "scope"), list(cases()))
def test_install_keeps_every_line_and_uninstall_gives_the_bytes_back(
    data: bytes, scope: str, isolated: Path, hookctl: Hookctl, fixed_python: None
) -> None:
    there_and_back(isolated, hookctl, scope, data)


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


def fleet(number: int) -> Any:
    def groups(event: str) -> list[Any]:
        command = f"bash ~/.tools/{event}/run.sh --number "
        return [{"matcher": "Bash", "hooks": [{"type": "command", "command": f"{command}{n}"}]} for n in range(number)]

    events = ("Stop", "PreToolUse", "PostToolUse", "SessionStart")
    env = {f"TOOL_SETTING_{n}": f"value {n}" for n in range(10_000)}
    return {"hooks": {event: groups(event) for event in events}, "env": env}


def minified() -> str:
    return json.dumps(fleet(1600), separators=(",", ":"))


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
