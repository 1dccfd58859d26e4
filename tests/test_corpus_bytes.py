"""Install, install again, uninstall over look-alikes of real settings files: nothing of the operator's moves."""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, Outcome, put
from tests.hostfiles import KINDS, Kind
from tests.manifest import hook, manifest
from tests.trees import tree

CORPUS = Path(__file__).parent / "corpus" / "claude"


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
    "crlf": _text(lambda text: re.sub(r"\r\n|\r|\n", "\r\n", text)),
    "bom": lambda data: data if data.startswith(b"\xef\xbb\xbf") else b"\xef\xbb\xbf" + data,
    "no-final-newline": lambda data: data.rstrip(b"\r\n"),
    "tabs": _text(lambda text: re.sub(r"(?m)^(?:  )+", lambda m: "\t" * (len(m[0]) // 2), text)),
    "four-spaces": _text(lambda text: re.sub(r"(?m)^(?:  )+", lambda m: m[0] * 2, text)),
    "minified": _text(_minified),
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


def is_within(old: bytes, new: bytes) -> bool:
    rest = iter(new)
    return all(byte in rest for byte in old)


def file_of(isolated: Path, scope: str) -> Path:
    folder = isolated / ("home" if scope == "user" else "work") / ".claude"
    return folder / ("settings.local.json" if scope == "local" else "settings.json")


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


def a_linked_folder(path: Path, elsewhere: Path) -> Path:
    path.parent.rmdir()
    path.parent.symlink_to(put(elsewhere / path.name, PLAIN).parent)
    return elsewhere / path.name


def a_file(path: Path, elsewhere: Path) -> Path:
    return put(path, PLAIN)


PLACED: list[Callable[[Path, Path], Path]] = [
    a_file, a_link, a_chain, a_dangling_link, a_linked_folder,
]  # fmt: skip


def shape(path: Path, target: Path) -> tuple[object, ...]:
    """What the operator sees of a file besides its bytes."""
    about = target.stat()
    links = [os.readlink(place) for place in (path, path.parent) if place.is_symlink()]
    return links, about.st_nlink, stat.S_IMODE(about.st_mode), about.st_uid, about.st_gid


@pytest.mark.parametrize("scope", ["user", "project", "local"])
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664], ids=oct)
@pytest.mark.parametrize("kind", PLACED, ids=lambda kind: kind.__name__)
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
    for option in ("latch=yes", "latch=no"):
        done = hookctl("install", "--host", "claude", "--scope", scope, "--set", option)
        assert done.code == 0
        assert b"hookctl=guard/stop" in target.read_bytes() and target.read_bytes() == path.read_bytes()
        if there:
            assert shape(path, target) == before
    assert hookctl("uninstall", "--scope", scope).code == 0
    if there:
        assert (target.read_bytes(), shape(path, target)) == (PLAIN, before)
    else:
        assert path.is_symlink() and not (path.parents[1] / "dotfiles").exists()


@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_hard_links_are_neither_parted_nor_written_through(verb: str, isolated: Path, hookctl: Hookctl) -> None:
    path, second = put(file_of(isolated, "user"), PLAIN), isolated / "second"
    if verb == "uninstall":
        assert hookctl("install", "--host", "claude").code == 0
    os.link(path, second)
    before = path.read_bytes()
    refused = hookctl(verb, "--host", "claude")
    assert (refused.code, "hard links" in refused.err) == (1, True)
    assert path.samefile(second) and path.read_bytes() == before
    if verb == "uninstall":  # where several files are meant, the others go on
        assert hookctl("install", "--host", "gemini").code == 0
        assert hookctl("uninstall", "--all", "--yes").code == 1
        assert not (isolated / "home" / ".gemini" / "settings.json").exists()
    part = re.search("`(cp .*?)`", refused.err)
    assert part is not None and os.system(part[1].replace("~", str(isolated / "home"))) == 0
    assert hookctl(verb, "--host", "claude").code == 0
    assert path.read_bytes() != before == second.read_bytes()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("mode", [0o600, 0o2664], ids=oct)
@pytest.mark.parametrize("kind", [a_file, a_link], ids=lambda kind: kind.__name__)
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


# Install, install again, edit, force and uninstall over look-alikes of every host's settings files.
pytestmark = pytest.mark.usefixtures("fixed_python")

OURS = ": hookctl=guard/"


def counts(kind: Kind, path: Path) -> bool:
    """Whether the host's settings stand in a file like this one."""
    if kind.name != "codex-config":
        return True
    hooks = tomllib.loads(path.read_text("utf-8-sig")).get("hooks")
    return isinstance(hooks, dict) and any(isinstance(event, list) for event in hooks.values())


def files(kinds: list[Kind] = KINDS) -> Iterator[tuple[Kind, Path]]:
    for kind in kinds:
        if kind.name != "claude":  # has a test of its own
            yield from ((kind, path) for path in kind.corpus() if counts(kind, path))


def variants_of(kind: Kind) -> list[str]:
    """The ways in which other tools write such a file that are a file of this kind still."""
    names = ["crlf", "no-final-newline", *(["bom"] if kind.byte_order_mark else [])]
    if kind.format == "json":
        names += ["tabs", "four-spaces", *([] if kind.comments else ["minified"])]
    return names


def cases() -> Iterator[Any]:
    """Every file once: in turn as it is at user scope, and in another variant in a project."""
    for number, (kind, path) in enumerate(files()):
        if number % 2 == 0 or "project" not in kind.files:
            yield pytest.param(kind, "user", path.read_bytes(), id=f"{kind.name}-{path.stem}")
        else:
            names = variants_of(kind)
            name = names[number // 2 % len(names)]
            data = VARIANTS[name](path.read_bytes())
            yield pytest.param(kind, "project", data, id=f"{kind.name}-{path.stem}-{name}-in-a-project")


def records(isolated: Path) -> list[tuple[bytes, int]]:
    found = [isolated / "state" / "ledger.json", isolated / "work" / ".hookctl" / "ledger.json"]
    return [(path.read_bytes(), path.stat().st_mtime_ns) for path in found if path.exists()]


def run(hookctl: Hookctl, verb: str, kind: Kind, *options: str, scope: str = "user") -> Outcome:
    done = hookctl(verb, "--host", kind.host, "--scope", scope, *options)
    assert done.code == 0, done
    return done


def bare(text: bytes) -> bytes:
    """Without blanks and empty containers, which an element of ours may turn into another kind of text."""
    return re.sub(rb"\s|\{\s*\}|\[\s*\]", b"", text)


@pytest.mark.parametrize(("kind", "scope", "data"), list(cases()))
def test_install_adds_only_ours_and_uninstall_gives_the_bytes_back(
    kind: Kind, scope: str, data: bytes, isolated: Path, hookctl: Hookctl
) -> None:
    (isolated / "work" / ".git").mkdir()
    path = put(kind.path(isolated, scope), data)
    run(hookctl, "install", kind, scope=scope)
    installed = path.read_bytes()
    assert OURS.encode() in installed
    assert is_within(bare(data), bare(installed))
    if kind.format != "json":  # whose edits the judge of tests/documents looks at
        lost = [line for line in lost_lines(data, installed) if bare(line) == b"".join(line.split()) != b""]
        grown = [line for line in lost if any(is_within(line, other) for other in lines(installed))]
        assert len(lost) <= 2 and grown == lost, "but for what is inserted in a container on one line"
    about, ledgers = path.stat(), records(isolated)
    assert run(hookctl, "install", kind, scope=scope).out.endswith("nothing to do\n")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (about.st_mtime_ns, about.st_ino)
    assert records(isolated) == ledgers
    run(hookctl, "uninstall", kind, scope=scope)
    assert path.read_bytes() == data
    assert not (isolated / "data").exists() and not (isolated / "work" / ".hookctl").exists()


# Two packs, other settings, a disable, a moved HOME, in each kind of settings file: nothing stays behind.
PACK = manifest(
    "notify",
    hook("Stop", "true done", id="done"),
    hook("PreToolUse", "true asked", matcher="Bash", id="asked", timeout=7),
)
CASES = [(kind, scope) for kind in KINDS for scope in kind.files]


def first_file(kind: Kind) -> bytes | None:
    """A look-alike with a hook of another tool in it, if there is one; none for a plugin."""
    found = [path for path in kind.corpus() if counts(kind, path)]
    with_hooks = [path for path in found if b"bell" in path.read_bytes() and b"hookctl=" not in path.read_bytes()]
    return (with_hooks or found)[0].read_bytes() if found else None


def kept(top: Path) -> dict[str, tuple[object, ...]]:
    """The mode of each file and folder, and the bytes of each file; hookctl's own backups apart."""
    found = {name: (about[0], *about[2:]) for name, about in tree(top).items()}
    return {name: about for name, about in found.items() if not re.match(r"home/\.local(/state.*)?$", name)}


@pytest.mark.parametrize(("kind", "scope"), CASES, ids=[f"{kind.name}-{scope}" for kind, scope in CASES])
def test_nothing_stays_behind(
    kind: Kind, scope: str, isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, pack = ("--host", kind.host, "--scope", scope), str(put(isolated / "notify.toml", PACK))
    (isolated / "work" / ".git").mkdir()
    for name in ("HOOKCTL_STATE_DIR", "HOOKCTL_DATA_DIR"):  # they lie in HOME, and go with it
        monkeypatch.delenv(name)
    path, before = kind.path(isolated, scope), first_file(kind)
    if before is not None:
        put(path, before)
    start = kept(isolated)

    def run(*arguments: str) -> bytes:
        done = hookctl(*arguments)
        assert done.code == 0, (arguments, done)
        return path.read_bytes() if path.exists() else b""

    one = run("install", *place)
    both = run("install", pack, *place)
    assert one != both and b": hookctl=notify/" in both
    run("install", "--set", "max_stop_blocks=3", *place)
    assert run("install", "--reset", *place) == both
    assert run("upgrade", "--yes") == both
    for command in (("status",), ("hooks",), ("doctor", "--host", kind.host)):
        assert hookctl(*command).code in (0, 1)
        assert path.read_bytes() == both, command
    run("disable", "guard", "notify")
    assert run("enable", "notify", "guard") == both
    if scope == "user":
        os.rename(isolated / "home", isolated / "elsewhere")
        monkeypatch.setenv("HOME", str(isolated / "elsewhere"))
        path = isolated / "elsewhere" / path.relative_to(isolated / "home")
        assert kind.host in str(hookctl("status", "--json").data["files"])
    assert b"".join(run("uninstall", "notify", *place).split()) == b"".join(one.split())
    run("uninstall", "--all", "--yes")
    if scope == "user":
        os.rename(isolated / "elsewhere", isolated / "home")
    assert kept(isolated) == start
