"""Install, install again, edit, force and uninstall over look-alikes of every host's settings files."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, Outcome, put
from tests.cut import added
from tests.documents import judge
from tests.hostfiles import JSON, KINDS, Kind
from tests.test_corpus_bytes import VARIANTS, grown, is_within, lost_lines

pytestmark = pytest.mark.usefixtures("fixed_python")

OURS = ": hookctl=guard/"
TOP = {"version", "env", "MAX_STOP_BLOCKS", "QWEN_CODE_STOP_HOOK_BLOCK_CAP", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"}


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


def each(found: list[tuple[Kind, Path]]) -> Any:
    parameters = [pytest.param(kind, path.read_bytes(), id=f"{kind.name}-{path.stem}") for kind, path in found]
    return pytest.mark.parametrize(("kind", "data"), parameters)


# Files with a command that an operator may edit; a version is taken over by --force, or stays (tests/stories).
VERSIONS = ("another-version", "no-version")
BELLS = [(k, p) for k, p in files() if b"bell" in p.read_bytes() and p.stem not in VERSIONS]
KEYS = [(k, p) for k, p in files(JSON) if re.search(rb"version|MAX_STOP_BLOCKS|_CAP", p.read_bytes())]


def records(isolated: Path) -> list[tuple[bytes, int]]:
    found = [isolated / "state" / "ledger.json", isolated / "work" / ".hookctl" / "ledger.json"]
    return [(path.read_bytes(), path.stat().st_mtime_ns) for path in found if path.exists()]


def placed(kind: Kind, isolated: Path, data: bytes, scope: str = "user") -> Path:
    (isolated / "work" / ".git").mkdir(exist_ok=True)
    return put(kind.path(isolated, scope), data)


def run(hookctl: Hookctl, verb: str, kind: Kind, *options: str, scope: str = "user") -> Outcome:
    done = hookctl(verb, "--host", kind.host, "--scope", scope, *options)
    assert done.code == 0, done
    return done


def bare(text: bytes) -> bytes:
    """Without blanks and empty containers, which an element of ours may turn into another kind of text."""
    return re.sub(rb"\s|\{\s*\}|\[\s*\]", b"", text)


def require_only_ours(before: bytes, after: bytes) -> None:
    """Every byte of before is there, and what is new is of ours."""
    found = added(before, after)
    assert any(OURS in text for _, text in found)
    assert all(OURS in text or path[-1] in TOP for path, text in found), found


@pytest.mark.parametrize(("kind", "scope", "data"), list(cases()))
def test_install_adds_only_ours_and_uninstall_gives_the_bytes_back(
    kind: Kind, scope: str, data: bytes, isolated: Path, hookctl: Hookctl
) -> None:
    path = placed(kind, isolated, data, scope)
    run(hookctl, "install", kind, scope=scope)
    installed = path.read_bytes()
    assert OURS.encode() in installed
    if kind.format == "json":
        require_only_ours(data, installed)
    else:
        assert is_within(bare(data), bare(installed))
        lost = [line for line in lost_lines(data, installed) if bare(line) == b"".join(line.split()) != b""]
        assert len(lost) <= 2 and all(grown(line, installed) for line in lost), lost
    about, ledgers = path.stat(), records(isolated)
    assert run(hookctl, "install", kind, scope=scope).out.endswith("nothing to do\n")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (about.st_mtime_ns, about.st_ino)
    assert records(isolated) == ledgers
    run(hookctl, "uninstall", kind, scope=scope)
    assert path.read_bytes() == data
    assert not (isolated / "data").exists() and not (isolated / "work" / ".hookctl").exists()


@each(BELLS[::5])
def test_an_edit_of_the_operators_stays_through_everything(
    kind: Kind, data: bytes, isolated: Path, hookctl: Hookctl
) -> None:
    path = placed(kind, isolated, data)
    run(hookctl, "install", kind)
    edited = path.read_bytes().replace(b"bell", b"gong --twice")
    put(path, edited)
    assert run(hookctl, "install", kind).out.endswith("nothing to do\n")
    assert path.read_bytes() == edited
    run(hookctl, "install", kind, "--force")
    assert path.read_bytes() == edited
    run(hookctl, "uninstall", kind)
    left, wanted = path.read_bytes(), data.replace(b"bell", b"gong --twice")
    assert b"".join(left.split()) == b"".join(wanted.split()), "nothing but blanks differs"
    if kind.format == "json":
        assert judge.read(left.decode()) == judge.read(wanted.decode())


@each([(kind, path) for kind, path in BELLS if kind.name != "windsurf"][1::8])  # that has no timeouts
def test_a_timeout_that_the_operator_changed_is_theirs_until_force(
    kind: Kind, data: bytes, isolated: Path, hookctl: Hookctl
) -> None:
    path = placed(kind, isolated, data)
    run(hookctl, "install", kind)
    installed = path.read_bytes()
    head, behind = installed.split(OURS.encode(), 1)
    changed, count = re.subn(rb"(timeout(?:Sec)?\"?(?: =|:) ?)10(?:000)?\b", rb"\g<1>777", behind, count=1)
    assert count == 1
    mine = put(path, head + OURS.encode() + changed).read_bytes()
    assert "timeout" in run(hookctl, "install", kind).out  # kept, and said
    assert path.read_bytes() == mine
    run(hookctl, "install", kind, "--force")
    assert path.read_bytes() == installed
    run(hookctl, "uninstall", kind)
    assert b"".join(path.read_bytes().split()) == b"".join(data.split())


@each(KEYS[::5])
def test_what_force_takes_over_uninstall_gives_back(kind: Kind, data: bytes, isolated: Path, hookctl: Hookctl) -> None:
    path = placed(kind, isolated, data)
    run(hookctl, "install", kind, "--force")
    forced = judge.value_of(judge.read(path.read_text("utf-8-sig")))
    assert OURS in json.dumps(kind.stop_hooks(forced)[-1])
    run(hookctl, "uninstall", kind)
    assert path.read_bytes() == data
