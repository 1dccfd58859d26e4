"""Broken and hostile settings files of every host: refused with their place, and nothing is written anywhere."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl.documents.plugin import current_code
from tests.conftest import Hookctl, Outcome, put
from tests.hostfiles import BY_NAME, KINDS, Kind
from tests.trees import tree

pytestmark = pytest.mark.usefixtures("fixed_python")

GOOD = json.dumps({"model": "m"})
SEED = '[[hooks]]\n{event} = "{name}"\nname = "mine"\ncommand = "bell"\n'


def nested(path: tuple[str, ...], value: Any) -> Any:
    """A document with the value at this path."""
    for key in reversed(path):
        value = {key: value}
    return value


def handler(kind: Kind) -> Any:
    one = {"type": "command", "command": "bell"}
    return one if kind.flat else {"hooks": [one]}


Broken = Iterator[tuple[str, bytes, tuple[int, int]]]


def json_files(kind: Kind) -> Broken:
    """What is wrong, the file, and the line and column of it."""
    good = json.dumps(kind.document([handler(kind)]), indent=2) + "\n"
    rows = good.splitlines()
    yield "torn", good[: good.index("bell")].encode(), (good[: good.index("bell")].count("\n") + 1, 0)
    yield "merge conflict", f"<<<<<<< HEAD\n{good}=======\n{{}}\n>>>>>>> theirs\n".encode(), (1, 1)
    yield "array at the root", b"[]\n", (1, 1)
    yield "null at the root", b"null\n", (1, 1)
    yield "text at the root", b'"hooks"\n', (1, 1)
    yield from json_maps(kind, good)
    yield "Latin-1", good.replace("bell", "fran\u00e7ais").encode("latin-1"), (0, 0)
    yield "UTF-16", good.encode("utf-16"), (1, 1)
    yield "two documents", (good + good).encode(), (good.count("\n") + 1, 1)
    yield "a trailing comma", "\n".join([*rows[:-1], f",{rows[-1]}"]).encode(), (len(rows), 1)
    yield "a missing quote", good.replace('"bell"', '"bell').encode(), (0, 0)
    if not kind.comments:
        yield "a comment", good.replace("\n", " // mine\n", 1).encode(), (1, 3)
    if not kind.byte_order_mark:
        yield "a byte order mark", b"\xef\xbb\xbf" + good.encode(), (1, 1)


def json_maps(kind: Kind, good: str) -> Broken:
    """What is no map of events, or no list of hooks where the host has one of all."""
    stop, depth = kind.stop, len(kind.stop)
    if kind.event:
        for what, value in (("a map", {stop[-1]: []}), ("null", None), ("a text", "none")):
            yield f"the list is {what}", json.dumps(nested(stop[:-1], value), indent=2).encode(), (depth, 0)
    else:
        for what, value in (("an object", {"hooks": []}), ("null", None)):
            yield f"event is {what}", json.dumps(nested(stop, value), indent=2).encode(), (depth + 1, 0)
        row = good.splitlines()[depth]
        yield "the event twice", good.replace(row, f'"{stop[-1]}": [], {row.strip()}').encode(), (depth + 1, 0)
    if depth > 1:
        twice = f'{{\n  "{stop[0]}": {{}},\n  "{stop[0]}": {{}}\n}}\n'
        yield "the events twice", twice.encode(), (3, 0)
    if depth > 1 and not kind.event:
        for what, value in (("a list", []), ("null", None), ("a text", "none")):
            yield f"events are {what}", json.dumps(nested(stop[:-1], value), indent=2).encode(), (2, 0)


def toml_files(kind: Kind) -> Broken:
    good = (kind.seed or SEED.format(event=kind.event, name=kind.stop[-1])) + '\n[features]\nweb_search = "yes"\n'
    last = good.count("\n")
    yield "torn", good[: good.index("ell")].encode(), (4, 0)
    yield "merge conflict", f"<<<<<<< HEAD\n{good}=======\n>>>>>>> theirs\n".encode(), (1, 0)
    table = kind.stop[0] if kind.event else ".".join(kind.stop)
    yield "the list is a table too", (good + f"[{table}]\nx = 1\n").encode(), (last + 1, 0)
    yield "a key twice", (good + 'web_search = "no"\n').encode(), (last + 1, 0)
    yield "Latin-1", good.replace("bell", "fran\u00e7ais").encode("latin-1"), (0, 0)
    yield "UTF-16", good.encode("utf-16"), (1, 1)


def plugin_files(kind: Kind) -> Broken:
    """Programs at the place of ours that are not ours, or not ours any more."""
    good = "{}\n".join(current_code(kind.host))
    head, mark, code = good.partition("const settings =\n")
    _, end, code = code.partition("// From here on")
    first = head.count("\n") + 2
    yield "another's", b"export const Mine = async () => ({})\n", (1, 1)
    yield "changed", good.replace("SIGKILL", "SIGTERM").encode(), (0, 0)
    yield "torn", good[: len(good) // 2].encode(), (0, 0)
    for what, text, line in (
        ("settings torn", '{\n  "hooks": {\n', 0),
        ("event is an object", '{\n  "hooks": {\n    "EVENT": {}\n  }\n}\n', first + 2),
        ("root is a list", "[]\n", first),
    ):
        yield what, (head + mark + text.replace("EVENT", kind.stop[-1]) + end + code).encode(), (line, 0)
    yield "UTF-16", good.encode("utf-16"), (1, 1)


def yaml_files(kind: Kind) -> Broken:
    good = 'model: m\nhooks:\n  pre_verify:\n    - command: "bell"\n'
    yield "torn", good[: good.index("ell")].encode(), (0, 0)
    yield "merge conflict", f"<<<<<<< HEAD\n{good}=======\n>>>>>>> theirs\n".encode(), (1, 1)
    yield "list at the root", b"- model\n- hooks\n", (1, 1)
    yield "text at the root", b"model\n", (1, 1)
    yield "event is an object", good.replace("- command", "command").encode(), (4, 0)
    yield "event is a text", b"hooks:\n  pre_verify: bell\n", (2, 0)
    yield "events are a list", b"model: m\nhooks:\n  - pre_verify\n", (3, 0)
    yield "the events twice", (good + "hooks: {}\n").encode(), (5, 1)
    yield "the event twice", (good + "  pre_verify: []\n").encode(), (5, 3)
    yield "tabs", good.replace("    -", "\t-").encode(), (4, 0)
    yield "two documents", (good + "---\n" + good).encode(), (0, 0)
    yield "Latin-1", good.replace("bell", "fran\u00e7ais").encode("latin-1"), (4, 0)
    yield "UTF-16", good.encode("utf-16"), (1, 1)


FILES: dict[str, Callable[[Kind], Broken]] = {
    "json": json_files,
    "toml": toml_files,
    "plugin": plugin_files,
    "extension": plugin_files,
    "yaml": yaml_files,
}


def broken() -> Iterator[Any]:
    for kind in KINDS:
        for what, data, place in FILES[kind.format](kind):
            yield pytest.param(kind, data, place, id=f"{kind.name}-{what}")


BROKEN = list(broken())
EACH = pytest.mark.parametrize(("kind", "data", "place"), BROKEN)


def require_refused(done: Outcome, path: Path, place: tuple[int, int]) -> None:
    assert done.code == 4, done
    (error,) = done.result["errors"]
    assert error["path"] == str(path) and error["hint"] and error["message"]
    line, column = place
    assert error["line"] == line if line else error["line"] > 0
    assert error["column"] == column if column else error["column"] > 0


@EACH
def test_a_broken_file_is_refused_with_its_place_and_nothing_is_written(
    kind: Kind, data: bytes, place: tuple[int, int], isolated: Path, hookctl: Hookctl
) -> None:
    path = put(kind.path(isolated, "user"), data)
    before = tree(isolated)
    require_refused(hookctl("install", "--host", kind.host, "--json"), path, place)
    said = hookctl("install", "--host", kind.host, "--force")
    assert said.code == 4 and str(path) in said.err and "Traceback" not in said.err
    assert tree(isolated) == before


INSIDE = [kind for kind in KINDS if "project" in kind.files]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_file_that_is_torn_after_the_install_is_left_alone_by_uninstall(
    kind: Kind, isolated: Path, hookctl: Hookctl
) -> None:
    path = kind.path(isolated, "user")
    if kind.seed:
        put(path, kind.seed)
    assert hookctl("install", "--host", kind.host).code == 0
    data = path.read_bytes()
    put(path, data[: data.index(b": hookctl=")])
    before = tree(isolated)
    for verb in ("uninstall", "install"):
        done = hookctl(verb, "--host", kind.host, "--json")
        assert (done.code, done.result["errors"][0]["path"]) == (4, str(path)), done
        assert done.result["errors"][0]["line"] > 0
    assert tree(isolated) == before
    put(path, data)
    assert hookctl("uninstall", "--host", kind.host).code == 0


# Things that are no file


def a_folder(path: Path, outside: Path) -> None:
    path.mkdir(parents=True)


def a_pipe(path: Path, outside: Path) -> None:
    path.parent.mkdir(parents=True)
    os.mkfifo(path)


def a_circle_of_links(path: Path, outside: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to(path.name + "2")
    path.with_name(path.name + "2").symlink_to(path.name)


def a_file_for_its_folder(path: Path, outside: Path) -> None:
    put(path.parent, "x")


def a_link_to_a_device(path: Path, outside: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to("/dev/zero")


ODD = [a_folder, a_pipe, a_circle_of_links, a_file_for_its_folder, a_link_to_a_device]
Make = Callable[[Path, Path], None]


@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_is_no_file_is_refused(kind: Kind, make: Make, isolated: Path, hookctl: Hookctl) -> None:
    path = kind.path(isolated, "user")
    make(path, isolated / "outside")
    other = put(BY_NAME["claude"].path(isolated, "user"), GOOD) if kind.host != "claude" else None
    before = tree(isolated)
    done = hookctl("install", *(("--host", "claude") if other else ()), "--host", kind.host, "--json")
    named = Path(done.result["errors"][0]["path"])
    assert done.code == 4 and named.parent == path.parent, done
    assert named == path or make is a_file_for_its_folder  # then no file of that folder can be read
    assert tree(isolated) == before


def a_file_elsewhere(path: Path, outside: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to(put(outside / path.name, "{}"))


def a_folder_elsewhere(path: Path, outside: Path) -> None:
    put(outside / path.name, "{}")
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.symlink_to(outside)


def nothing_elsewhere(path: Path, outside: Path) -> None:
    outside.mkdir()
    path.parent.mkdir(parents=True)
    path.symlink_to(outside / "new.json")


def a_file_in_git(path: Path, outside: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to(os.path.relpath(path.parents[1] / ".git" / "config", path.parent))


LEAVING = [a_file_elsewhere, a_folder_elsewhere, nothing_elsewhere, a_file_in_git]


@pytest.mark.parametrize("make", LEAVING, ids=lambda make: make.__name__)
@pytest.mark.parametrize("kind", [k for k in INSIDE if k.name != "codex-config"], ids=lambda kind: kind.name)
def test_a_link_out_of_the_project_is_refused(kind: Kind, make: Make, isolated: Path, hookctl: Hookctl) -> None:
    (isolated / "work" / ".git").mkdir()
    path = kind.path(isolated, "project")
    make(path, isolated / "outside")
    other = put(BY_NAME["claude"].path(isolated, "project"), GOOD) if kind.host != "claude" else None
    before = tree(isolated)
    hosts = (*(("--host", "claude") if other else ()), "--host", kind.host)
    for force in ((), ("--force",)):
        done = hookctl("install", *hosts, "--scope", "project", "--json", *force)
        assert (done.code, done.result["errors"][0]["code"]) == (4, "link_leaves_project"), done
        assert done.result["errors"][0]["path"] == str(path)
    assert tree(isolated) == before
