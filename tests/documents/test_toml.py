# ruff: noqa: E501  # tables
"""The rules for TOML, row by row: which bytes an edit gives, what is read, what is masked."""

import datetime
import math
from typing import Any

import pytest

from hookctl.documents import MISSING
from hookctl.documents.toml import TomlDocument
from hookctl.errors import HookctlError

from .refused import WHERE, refused

Path = tuple[str | int, ...]
STOP: Path = ("hooks", "Stop")
HANDLER = {"type": "command", "command": ": hookctl=guard/stop; 'a' \"b\"", "timeout": 10}
GROUP = {"hooks": [HANDLER]}
BLOCK = """[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = ": hookctl=guard/stop; 'a' \\"b\\""
timeout = 10
"""
STATE: Path = ("hooks", "state", "/home/u/.codex/config.toml:stop:0:0", "trusted_hash")


def parse(text: str) -> TomlDocument:
    return TomlDocument.parse(text.encode("utf-8"), where=WHERE)


def text_of(document: TomlDocument) -> str:
    return document.data.decode("utf-8")


SET: list[tuple[str, Path, Any, str]] = [
    # A value: only its own span.
    ("a = 1 # one\nb = 2\n", ("a",), 3, "a = 3 # one\nb = 2\n"),
    ("a   =   'x'   \n", ("a",), "y", 'a   =   "y"   \n'),
    ("a = [1, # one\n 2]\nb = 1\n", ("a",), [3], "a = [3]\nb = 1\n"),
    ('a = """x\n# no comment\n"""\nb = 1\n', ("a",), True, "a = true\nb = 1\n"),
    ("a = [1, { b = [2] }]\n", ("a", 1, "b", 0), "x", 'a = [1, { b = ["x"] }]\n'),
    ("a.b.c = 1\n", ("a", "b", "c"), 2.5, "a.b.c = 2.5\n"),
    ('a = """x""""" # c\n', ("a",), 1, "a = 1 # c\n"), ("a = '''x''''' # c\n", ("a",), 1, "a = 1 # c\n"), ('a = """"x"""\n', ("a",), 1, "a = 1\n"),
    ("a = 1\n", ("a",), True, "a = true\n"), ("a = 1\n", ("a",), 1.0, "a = 1.0\n"), ("a = true\n", ("a",), 1, "a = 1\n"),
    ("a = 1\n", ("a",), {"b": {"c": [], "d": {}}}, "a = { b = { c = [], d = {} } }\n"),
    ("a = nan\n", ("a",), math.inf, "a = inf\n"), ("a = 0\n", ("a",), math.nan, "a = nan\n"),
    ("a = 1979-05-27 07:32:00Z # c\n", ("a",), 1, "a = 1 # c\n"),
    # A key behind the last one of its table.
    ("a = 1\n", ("b",), 2, "a = 1\nb = 2\n"),
    ("a = 1 # one\n\n[t]\nb = 2\n", ("c",), 3, "a = 1 # one\nc = 3\n\n[t]\nb = 2\n"),
    ("[t]\na = 1\n\n# about u\n[u]\n", ("t", "b"), 2, "[t]\na = 1\nb = 2\n\n# about u\n[u]\n"),
    ("[t] # c\n\n[u]\n", ("t", "b"), 2, "[t] # c\nb = 2\n\n[u]\n"),
    ("[t]\n  a = 1\n", ("t", "b"), 2, "[t]\n  a = 1\n  b = 2\n"),
    ("[t]\na = 1", ("t", "b"), 2, "[t]\na = 1\nb = 2"),
    ("[t]\r\na = 1\r\n", ("t", "b"), 2, "[t]\r\na = 1\r\nb = 2\r\n"),
    ("[t]\na = 1\n[t.u]\nc = 1\n", ("t", "b"), 2, "[t]\na = 1\nb = 2\n[t.u]\nc = 1\n"),
    ("a.b = 1\nc = 2\n", ("a", "d"), 3, "a.b = 1\na.d = 3\nc = 2\n"),
    ("[t]\na.b.c = 1\n", ("t", "a", "d"), 3, "[t]\na.b.c = 1\na.d = 3\n"),
    ('a = """\nx"""\n', ("b",), 2, 'a = """\nx"""\nb = 2\n'),
    ("a = 1\n", ("b c",), 2, 'a = 1\n"b c" = 2\n'), ("a = 1\n", ("",), 2, 'a = 1\n"" = 2\n'), ("a = 1\n", ("é.x",), 2, 'a = 1\n"é.x" = 2\n'),
    # A key in a file that has none before its first header.
    ("[t]\n", ("a",), 1, "a = 1\n\n[t]\n"), ("\ufeff[t]\n", ("a",), 1, "\ufeffa = 1\n\n[t]\n"),
    ("# the file\n\n# about t\n[t]\n", ("a",), 1, "# the file\n\na = 1\n\n# about t\n[t]\n"),
    ("  # about t\n  [t]\n", ("a",), 1, "a = 1\n\n  # about t\n  [t]\n"), ("\r\n[t]\r\n", ("a",), 1, "\r\na = 1\r\n\r\n[t]\r\n"),
    # Empty documents, and those of comments.
    ("", ("a",), 1, "a = 1\n"), ("\ufeff", ("a",), 1, "\ufeffa = 1\n"), ("# c\n", ("a",), 1, "# c\n\na = 1\n"), ("# c", ("a",), 1, "# c\n\na = 1"),
    # A table is a block at the end.
    ("a = 1\n", ("t", "b"), 2, "a = 1\n\n[t]\nb = 2\n"), ("a = 1", ("t", "b"), 2, "a = 1\n\n[t]\nb = 2"),
    ("a = 1\r\n", ("t", "b"), 2, "a = 1\r\n\r\n[t]\r\nb = 2\r\n"), ("", ("t", "b"), 2, "[t]\nb = 2\n"), ("\ufeff", ("t", "b"), 2, "\ufeff[t]\nb = 2\n"),
    ("# c\n\n", ("t",), {}, "# c\n\n\n[t]\n"),
    ("a = 1\n", ("t",), {"b": 1, "u": {"c": 2}, "e": {}, "v": [{"d": 3}, {}], "w": [1, {}]},
     "a = 1\n\n[t]\nb = 1\ne = {}\nw = [1, {}]\n[t.u]\nc = 2\n[[t.v]]\nd = 3\n[[t.v]]\n"),
    ("model = 'x'\n", STATE, "sha256:1", 'model = \'x\'\n\n[hooks.state."/home/u/.codex/config.toml:stop:0:0"]\ntrusted_hash = "sha256:1"\n'),
    ("[hooks.state]\n", STATE, "sha256:1", '[hooks.state]\n\n[hooks.state."/home/u/.codex/config.toml:stop:0:0"]\ntrusted_hash = "sha256:1"\n'),
    ("hooks.state.x.enabled = true\n", ("hooks", "state", "y", "a"), 1, "hooks.state.x.enabled = true\n\n[hooks.state.y]\na = 1\n"),
    # A table that only those below it make: its header would stay when the key goes.
    ("[t.u]\na = 1\n", ("t", "b"), 2, "t.b = 2\n\n[t.u]\na = 1\n"), ("x = 1\n[[t.u.v]]\n", ("t", "u", "b"), 2, "x = 1\nt.u.b = 2\n[[t.u.v]]\n"),
    ("[t.u.v]\n[t]\n", ("t", "u", "b"), 2, "[t.u.v]\n[t]\n\n[t.u]\nb = 2\n"), ("[[t]]\n[t.u.v]\n", ("t", 0, "u", "b"), 2, "[[t]]\n[t.u.v]\n\n[t.u]\nb = 2\n"),
    ("t.a = 1\n[t.u.v]\n", ("t", "u", "b"), 2, "t.a = 1\n[t.u.v]\n\n[t.u]\nb = 2\n"),
    # Inline tables.
    ("t = { a = 1 }\n", ("t", "b"), 2, "t = { a = 1, b = 2 }\n"), ("t = {a=1}\n", ("t", "b"), 2, "t = {a=1, b = 2}\n"),
    ("t = {}\n", ("t", "b"), 2, "t = {b = 2}\n"), ("t = { }\n", ("t", "b", "c"), 2, "t = {b = { c = 2 } }\n"),
    ("t = { a.b = 1, c = 2 }\n", ("t", "a", "d"), 3, "t = { a.b = 1, c = 2, a.d = 3 }\n"),
    # In an element of an array of tables: behind what belongs to it.
    ("[[t]]\n[t.u]\na = 1\n[m]\n[[t]]\n", ("t", 0, "v", "b"), 2, "[[t]]\n[t.u]\na = 1\n[t.v]\nb = 2\n[m]\n[[t]]\n"),
    ("[[t]]\n\n[[t]]\n", ("t", 0, "v"), {"b": 2}, "[[t]]\n\n[t.v]\nb = 2\n\n[[t]]\n"),
    ("[[t]]\na = 1\n[[t]]\n", ("t", 0, "b"), 2, "[[t]]\na = 1\nb = 2\n[[t]]\n"),
    # A table that is there, as a whole.
    ("[t] # c\na = 1 # one\nb = 2\n", ("t",), {"a": 3, "c": {"d": 1}}, "[t] # c\na = 3 # one\n\n[t.c]\nd = 1\n"),
    ("[[t]]\na = 1\n", ("t", 0), {"a": 2}, "[[t]]\na = 2\n"),
    ("", (), {"a": 1, "t": {"b": 2}}, "a = 1\n\n[t]\nb = 2\n"),
    # Characters.
    ("", ("a",), 'q " b \\ t \t n \n r \r d \x7f e \x1b é 😀', 'a = "q \\" b \\\\ t \\t n \\n r \\r d \\u007f e \\u001b é 😀"\n'),
]  # fmt: skip

APPEND: list[tuple[str, Path, Any, str]] = [
    ("a = 1\n", STOP, GROUP, "a = 1\n\n" + BLOCK), ("", STOP, GROUP, BLOCK), ("\ufeff", STOP, GROUP, "\ufeff" + BLOCK),
    ("a = 1", STOP, GROUP, "a = 1\n\n" + BLOCK[:-1]), ("a = 1\r\n", STOP, GROUP, ("a = 1\n\n" + BLOCK).replace("\n", "\r\n")),
    ("# end\n\n", STOP, GROUP, "# end\n\n\n" + BLOCK),
    ("[[hooks.Stop]]\n[m]\n[[hooks.Stop]]\nx = 1\n[n]\n", STOP, GROUP, "[[hooks.Stop]]\n[m]\n[[hooks.Stop]]\nx = 1\n[n]\n\n" + BLOCK),
    ("[hooks]\n[hooks.state]\n", STOP, GROUP, "[hooks]\n[hooks.state]\n\n" + BLOCK),
    ("a = 1\n", STOP, {"matcher": "Bash", **GROUP}, "a = 1\n\n" + BLOCK.replace("]]\n[[", ']]\nmatcher = "Bash"\n[[', 1)),
    # To a group that is there.
    (BLOCK + "\n[m]\n", (*STOP, 0, "hooks"), {"type": "x"}, BLOCK + '\n[[hooks.Stop.hooks]]\ntype = "x"\n\n[m]\n'),
    # Arrays.
    ("a = [1, 2] # c\n", ("a",), 3, "a = [1, 2, 3] # c\n"), ("a = [1,2,]\n", ("a",), 3, "a = [1,2, 3,]\n"), ("a = []\n", ("a",), 1, "a = [1]\n"),
    ("a = [ ]\n", ("a",), 1, "a = [1 ]\n"), ("a = [ 1 ]\n", ("a",), 2, "a = [ 1, 2 ]\n"), ("a = [ # c\n]\n", ("a",), 1, "a = [1 # c\n]\n"),
    ("a = [\n  1, # one\n  2 # two\n]\n", ("a",), 3, "a = [\n  1, # one\n  2, # two\n  3\n]\n"),
    ("a = [\n\t1,\n\t2,\n]\n", ("a",), 3, "a = [\n\t1,\n\t2,\n\t3,\n]\n"), ("a = [\r\n  1\r\n]\r\n", ("a",), 2, "a = [\r\n  1,\r\n  2\r\n]\r\n"),
    ("a = [\n  1,\n  2]\n", ("a",), 3, "a = [\n  1,\n  2,\n  3]\n"), ("a = [1 # one\n , # comma\n]\n", ("a",), 2, "a = [1 # one\n , 2, # comma\n]\n"),
    ("[hooks]\nStop = []\n", STOP, {"hooks": []}, "[hooks]\nStop = [{ hooks = [] }]\n"),
    ("hooks = {}\n", STOP, {"hooks": []}, "hooks = {Stop = [{ hooks = [] }]}\n"),
    ("hooks = { Stop = [{ a = 1 }] }\n", STOP, {"b": [2]}, "hooks = { Stop = [{ a = 1 }, { b = [2] }] }\n"),
    ("[t]\na = 1\n", ("t", "b"), 1, "[t]\na = 1\nb = [1]\n"), ("a = 1\n", ("x", "y"), 2, "a = 1\n\n[x]\ny = [2]\n"),
]  # fmt: skip

REMOVE: list[tuple[str, Path, str]] = [
    # Keys.
    ("a = 1\nb = 2\n", ("a",), "b = 2\n"), ("a = 1\nb = 2\n", ("b",), "a = 1\n"), ("a = 1\nb = 2", ("b",), "a = 1"), ("a = 1", ("a",), ""),
    ("a = 1 # one\nb = 2\n", ("a",), "# one\nb = 2\n"), ("# about a\na = 1\nb = 2\n", ("a",), "# about a\nb = 2\n"),
    ('a = """x\n\n"""\nb = 2\n', ("a",), "b = 2\n"), ("a = [1, # one\n]\nb = 2\n", ("a",), "b = 2\n"), ("\ufeffa = 1\n", ("a",), "\ufeff"),
    ("x = 1\n\na = 1\n\nb = 2\n", ("a",), "x = 1\n\nb = 2\n"), ("x = 1\n \na = 1\n\nb = 2\n", ("a",), "x = 1\n \nb = 2\n"), ("x = 1\n\na = 1\n \nb = 2\n", ("a",), "x = 1\n \nb = 2\n"),
    ("a = 1\n\nb = 2\n", ("a",), "b = 2\n"), ("a = 1\r\n\r\nb = 2\r\n", ("a",), "b = 2\r\n"),
    ("[t]\na = 1\n", ("t", "a"), "[t]\n"), ("a.b = 1\na.c = 2\n", ("a", "b"), "a.c = 2\n"), ("a.b = 1\nx = 1\na.c = 2\n", ("a",), "x = 1\n"),
    # Tables and groups.
    ("a = 1\n\n" + BLOCK, (*STOP, 0, "hooks", 0), "a = 1\n\n[[hooks.Stop]]\nhooks = []\n"),
    ("a = 1\n\n" + BLOCK, (*STOP, 0), "a = 1\n\n[hooks]\nStop = []\n"), ("[[hooks.X]]\n\n" + BLOCK, (*STOP, 0), "hooks.Stop = []\n\n[[hooks.X]]\n"),
    ("a = 1\n\n" + BLOCK, STOP, "a = 1\n\n[hooks]\n"), ("a = 1\n\n" + BLOCK, ("hooks",), "a = 1\n"),
    ("a = 1\n\n" + BLOCK + "\n[m]\n", ("hooks",), "a = 1\n\n[m]\n"), ("a = 1\n\n" + BLOCK + "# about m\n[m]\n", ("hooks",), "a = 1\n\n# about m\n[m]\n"),
    (BLOCK + "\n# theirs\n[[hooks.Stop]]\nx = 1\n", (*STOP, 0), "# theirs\n[[hooks.Stop]]\nx = 1\n".join(["\n", ""])[1:]),
    ("[[hooks.Stop]]\nx = 1\n# end of theirs\n\n" + BLOCK, (*STOP, 1), "[[hooks.Stop]]\nx = 1\n# end of theirs\n"),
    ("[[t]]\na = 1\n[m]\n[[t]]\nb = 2\n[n]\n", ("t", 0), "[m]\n[[t]]\nb = 2\n[n]\n"), ("[[t]]\n[m]\n[t.u]\na = 1\n[n]\n[[t]]\n", ("t", 0), "[m]\n[n]\n[[t]]\n"),
    ("[t] # mine\n\n[u]\n", ("t",), "# mine\n\n[u]\n"), ("[t.u]\na = 1\n[x]\n[t.v]\n", ("t",), "[x]\n"), ("[t]\na = 1\n[t.u]\nb = 2\n", ("t", "u"), "[t]\na = 1\n"),
    # A parent does not go with the last thing in it.
    ("[t.u]\na = 1\n", ("t", "u"), "[t]\n"), ("[t.u]\r\na = 1\r\n", ("t", "u"), "[t]\r\n"), ("a.b = 1\nc = 2\n", ("a", "b"), "c = 2\n\n[a]\n"), ("x = { a.b = 1 }\n", ("x", "a", "b"), "x = {a = {}  }\n"),
    # Arrays and inline tables.
    ("a = [1, 2, 3]\n", ("a", 0), "a = [2, 3]\n"), ("a = [1, 2, 3]\n", ("a", 1), "a = [1, 3]\n"), ("a = [1, 2, 3]\n", ("a", 2), "a = [1, 2]\n"),
    ("a = [1,2,3]\n", ("a", 1), "a = [1,3]\n"), ("a = [1, 2,]\n", ("a", 1), "a = [1,]\n"), ("a = [1]\n", ("a", 0), "a = []\n"),
    ("a = [\n  1, # one\n  2, # two\n]\n", ("a", 1), "a = [\n  1, # one\n  # two\n]\n"), ("a = [\n  1,\n  2 # two\n]\n", ("a", 0), "a = [\n  2 # two\n]\n"),
    ("a = [\n  1,\n  # about 2\n  2\n]\n", ("a", 1), "a = [\n  1\n  # about 2\n]\n"), ("a = [1 # one\n , 2]\n", ("a", 0), "a = [# one\n  2]\n"),
    ("a = [1, # one\n  2]\n", ("a", 1), "a = [1 # one\n  ]\n"), ("a = [\n  1,\n  2]\n", ("a", 1), "a = [\n  1]\n"), ("a = [\n  1 # one\n  ,\n  2\n]\n", ("a", 0), "a = [\n  # one\n  \n  2\n]\n"),
    ("t = { a = 1, b = 2 }\n", ("t", "a"), "t = { b = 2 }\n"), ("t = { a = 1, b = 2 }\n", ("t", "b"), "t = { a = 1 }\n"), ("t = { a = 1 }\n", ("t", "a"), "t = {  }\n"),
    ("t = { a.b = 1, c = 2, a.d = 3 }\n", ("t", "a"), "t = { c = 2 }\n"), ("t = { c = 2, a.b = 1, a.d = 3 }\n", ("t", "a"), "t = { c = 2 }\n"),
    ("t = { c = 0, a.b.c = 1, a.d = 2, a.b.e = 3 }\n", ("t", "a"), "t = { c = 0 }\n"), ("t = {a.b = 1,a.d = 3}\n", ("t", "a"), "t = {}\n"), ("[hooks]\nStop = [{ hooks = [] }]\n", (*STOP, 0), "[hooks]\nStop = []\n"),
    # Nothing there, nothing done.
    ("a = 1\n", ("b",), "a = 1\n"), ("a = 1\n", ("a", "b"), "a = 1\n"), ("a = [1]\n", ("a", 1), "a = [1]\n"), ("", ("a",), ""), ("a = 1\n", (), "a = 1\n"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "path", "value", "after"), SET)
def test_set_gives_these_bytes(before: str, path: Path, value: Any, after: str) -> None:
    document = parse(before)
    edited = document.set(path, value)
    assert text_of(edited) == after
    assert edited.where == WHERE
    assert edited.set(path, value) is edited
    assert text_of(document) == before


@pytest.mark.parametrize(("before", "path", "value", "after"), APPEND)
def test_append_gives_these_bytes(before: str, path: Path, value: Any, after: str) -> None:
    edited = parse(before).append(path, value)
    assert text_of(edited) == after
    assert edited.get(path)[-1] == value


@pytest.mark.parametrize(("before", "path", "after"), REMOVE)
def test_remove_gives_these_bytes(before: str, path: Path, after: str) -> None:
    document = parse(before)
    assert text_of(document.remove(path)) == after
    if before == after:
        assert document.remove(path) is document


SET_RAW: list[tuple[str, Path, str, str]] = [
    ("a = 1\n", ("a",), "'x'", "a = 'x'\n"), ("a = 1\n", ("b",), "0xFF", "a = 1\nb = 0xFF\n"), ("a = 1\n", ("t", "b"), "1_000", "a = 1\n\n[t]\nb = 1_000\n"),
    ("a = 1\n", ("a",), "[1, # one\n]", "a = [1, # one\n]\n"), ("a = 1\n", ("b",), "[{ c = 1 }, # one\n]", "a = 1\nb = [{ c = 1 }, # one\n]\n"),
    ("a = 1\r\n", ("a",), '"""x\ny"""', 'a = """x\r\ny"""\r\n'), ("a = 1\n", ("t",), "{ b.c = 'x', d = 0b1 }", "a = 1\n\n[t]\nb = { c = 'x' }\nd = 0b1\n"),
    ("[t]\na = 1\nb = 2 # two\n", ("t",), "{ a = 1, b = 'x' }", "[t]\na = 1\nb = 'x' # two\n"), ("t = {}\n", ("t", "a"), "nan", "t = {a = nan}\n"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "path", "source", "after"), SET_RAW)
def test_set_raw_puts_a_source_text_in(before: str, path: Path, source: str, after: str) -> None:
    assert text_of(parse(before).set_raw(path, source)) == after


@pytest.mark.parametrize(
    "source",
    [
        "",
        "1, 2",
        "1\nb = 2",
        "1 # c",
        " 1",
        "1 ",
        "]",
        "nothing",
        "{ a = 1",
        '"',
        "\ufeff1",
        "'x\ud800'",
        "[" * 200 + "]" * 200,
    ],
)
def test_set_raw_refuses_what_is_not_one_value(source: str) -> None:
    for before in ("a = 1\nc = 2\n", "c = 2\n", ""):
        assert refused(lambda before=before: parse(before).set_raw(("a",), source))[0] == "unexpected"


def test_what_raw_gave_can_be_put_back_even_a_handler_that_was_taken_over() -> None:
    theirs = "[[hooks.Stop]] # theirs\n[[hooks.Stop.hooks]]\ncommand = 'bell' # rings\ntimeout = 0x5\nargs = [\n  1, # one\n]\n"
    before = parse(theirs)
    raw = before.raw((*STOP, 0, "hooks", 0))
    assert raw == "{ command = 'bell', timeout = 0x5, args = [\n  1, # one\n] }"
    ours = (
        before.set((*STOP, 0, "hooks", 0, "command"), "ours")
        .set((*STOP, 0, "hooks", 0, "timeout"), 10)
        .set((*STOP, 0, "hooks", 0, "async"), True)
    )
    assert text_of(ours.set_raw((*STOP, 0, "hooks", 0), raw)) == theirs


def test_values_source_texts_and_places_are_found_by_path() -> None:
    document = parse(
        '\ufeff# ü\r\na = [1.0, { "b c" = nan }]\r\nd.e = \'x\'\r\n\r\n [t . "u"]\r\nf = 1\r\n[[g]]\r\n[[g]]\r\n  h = 2024-02-29 07:32:00\r\n[i]\r\n'
    )
    found: dict[Path, tuple[str, tuple[int, int]]] = {
        ("a",): ('[1.0, { "b c" = nan }]', (2, 5)), ("a", 0): ("1.0", (2, 6)), ("a", 1, "b c"): ("nan", (2, 21)), ("d",): ("{ e = 'x' }", (3, 1)),
        ("d", "e"): ("'x'", (3, 7)), ("t",): ("{ u = { f = 1 } }", (5, 2)), ("t", "u"): ("{ f = 1 }", (5, 2)), ("t", "u", "f"): ("1", (6, 5)),
        ("g",): ("[{}, { h = 2024-02-29 07:32:00 }]", (7, 1)), ("g", 1): ("{ h = 2024-02-29 07:32:00 }", (8, 1)), ("g", 1, "h"): ("2024-02-29 07:32:00", (9, 7)),
        ("i",): ("{}", (10, 1)),
    }  # fmt: skip
    for path, (raw, place) in found.items():
        assert document.position(path) == place
        assert document.raw(path) == raw
    assert document.get(("g", 1, "h")) == datetime.datetime(2024, 2, 29, 7, 32)
    assert document.get(("d",)) == {"e": "x"}
    assert parse("i = 1\n").get(()) == {"i": 1} and parse("i = 1\n").raw(()) == "{ i = 1 }"
    for path in (
        (0,),
        ("a", 2),
        ("a", -1),
        ("a", "0"),
        ("a", 0, "x"),
        ("d", 0),
        ("g", 2),
        ("g", "h"),
        ("no",),
        ("no", "way"),
    ):
        assert document.get(path) is MISSING
        with pytest.raises(KeyError):
            document.raw(path)
    assert document.position(("g", 1, "no")) == (8, 1)
    assert document.position(("no", "way")) == document.position(()) == parse("").position(("a",)) == (1, 1)
    with pytest.raises(KeyError):
        parse("").raw(())


@pytest.mark.parametrize("text", ["", " ", "\n", "\r\n\t ", "\ufeff", "\ufeff \n", "# c", "# c\n\n# d\n"])
def test_a_file_without_keys_and_headers_is_an_empty_document(text: str) -> None:
    document = parse(text)
    assert document.value is document.get(()) is MISSING
    assert text_of(document) == text


def test_toml_has_no_dialects_and_no_key_twice() -> None:
    document = TomlDocument.parse(b"a = [1, # c\n]\n", where=WHERE)
    document.require_strict(comments=False, trailing_commas=False)
    document.check_path(("a", 0, "b"))


def test_documents_with_what_json_does_not_have_are_compared_and_edited_like_others() -> None:
    text = "a = nan\nb = [-nan, inf, 1979-05-27, 07:32:00, 2024-02-29T10:00:00+02:00]\n[t]\nc = 1\n"
    assert parse(text).value == parse(text).value
    assert parse(text).get(("b",)) == parse(text).get(("b",))
    edited = parse(text).append(STOP, GROUP)
    assert edited.remove(("hooks",)).data == text.encode()
    assert edited.value != parse(text).value


@pytest.mark.parametrize(
    "value", [None, [None], {"a": None}, b"x", {1}, "\ud800", {"\ud800": 1}, datetime.date(2024, 2, 29)]
)
def test_a_value_that_cannot_be_written_is_refused(value: Any) -> None:
    assert refused(lambda: parse("a = 1\n").set(("b",), value)) == ("unexpected", 1, 1)
    assert refused(lambda: parse("a = 1\n").append(("b",), value)) == ("unexpected", 1, 1)


UNFIT: list[tuple[str, str, tuple[Any, ...], tuple[str, int, int]]] = [
    ("a = 1\n", "set", (("a", "b"), 2), ("wrong_shape", 1, 5)), ("x = 0\na = []\n", "set", (("a", "b"), 2), ("wrong_shape", 2, 5)),
    ("a = []\n", "set", (("a", 0), 2), ("wrong_shape", 1, 5)), ("[a]\n", "set", (("a", 0), 2), ("wrong_shape", 1, 1)),
    ("[[a]]\n", "set", (("a", "b"), 2), ("wrong_shape", 1, 1)), ("[[a]]\n", "set", (("a", 1), {}), ("wrong_shape", 1, 1)),
    ("[[a]]\n", "set", (("a",), [1]), ("wrong_shape", 1, 1)), ("x = 0\n[a]\n", "set", (("a",), 1), ("wrong_shape", 2, 1)), ("a.b = 1\n", "set", (("a",), 1), ("wrong_shape", 1, 1)),
    ("a = 1\n", "set", ((), 1), ("wrong_shape", 1, 1)), ("a = 1\n", "set", (("b", 0, "c"), 1), ("wrong_shape", 1, 1)), ("[[a]]\n", "set_raw", (("a",), "[1]"), ("wrong_shape", 1, 1)),
    ("a = 1\n", "append", (("a",), 2), ("wrong_shape", 1, 5)), ("[a]\n", "append", (("a",), 2), ("wrong_shape", 1, 1)), ("[[a]]\n", "append", (("a",), 2), ("wrong_shape", 1, 1)),
    ("a = {}\n", "append", (("a",), 2), ("wrong_shape", 1, 5)), ("hooks = 'x'\n", "append", (STOP, GROUP), ("wrong_shape", 1, 9)),
    ("[hooks.Stop]\n", "append", (STOP, GROUP), ("wrong_shape", 1, 1)), ("[[hooks]]\n", "append", (STOP, GROUP), ("wrong_shape", 1, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "method", "arguments", "wanted"), UNFIT)
def test_an_edit_that_does_not_fit_is_refused_with_its_place(
    text: str, method: str, arguments: tuple[Any, ...], wanted: tuple[str, int, int]
) -> None:
    assert refused(lambda: getattr(parse(text), method)(*arguments)) == wanted


UNREADABLE: list[tuple[str | bytes, tuple[str, int, int], str]] = [
    (b'a = "fran\xe7ais"', ("not_utf8", 1, 10), "not UTF-8"), ("a = 1".encode("utf-16"), ("not_utf8", 1, 1), "UTF-16"), ("a = 1".encode("utf-16-le"), ("unparsable", 1, 2), "UTF-16"),
    ("a = 1\nb = = 2\n", ("unparsable", 2, 5), "not valid TOML"), ("\ufeffa = x\n", ("unparsable", 1, 5), "not valid TOML"), ("a = 1\r\n\r\nb : 2\r\n", ("unparsable", 3, 3), "not valid TOML"),
    ("a = 1\n[t", ("unparsable", 2, 3), "ends in the middle"), ('a = """x\n', ("unparsable", 2, 1), "ends in the middle"), ("a = [1,\n", ("unparsable", 2, 1), "ends in the middle"),
    ("a = 1\na = 2\nb = 3\n", ("unparsable", 2, 6), "duplicate"), ("[t]\n[t]\n", ("unparsable", 2, 3), "duplicate"), ("t = { a = 1, a = 2 }\n", ("unparsable", 1, 19), "duplicate"),
    ("hooks = {}\n[[hooks.Stop]]\n", ("unparsable", 2, 13), "duplicate"), ("a = 1\rb = 2\r", ("unparsable", 1, 6), "not valid TOML"), ("\ufeff\ufeffa = 1\n", ("unparsable", 1, 1), "not valid TOML"),
    ("a = 1\n<<<<<<< HEAD\nb = 1\n=======\nb = 2\n>>>>>>> x\n", ("unparsable", 2, 1), "merge-conflict"), ("a = 1\n\0\0\0", ("unparsable", 2, 1), "zero bytes"),
    ("a = " + "[" * 5000 + "]" * 5000, ("unparsable", 1, 105), "deep"), ("a = " + "[" * 101 + "]" * 101, ("unparsable", 1, 105), "deep"), ("a" + ".a" * 50_000 + " = 1", ("unparsable", 1, 1), "many parts"),
    ("[x]\n [ a" + ". 'a'" * 101 + "]", ("unparsable", 2, 4), "many parts"), ("x = { a" + '."\\""' * 101 + " = 1}", ("unparsable", 1, 7), "many parts"),
    ("a = \u0661\n", ("unparsable", 1, 5), "not valid TOML"), ("\u0661 = 1\n", ("unparsable", 1, 1), "not valid TOML"),
    ("a = 'x\x7f'\n", ("unparsable", 1, 7), "not valid TOML"), ("# \x01\n", ("unparsable", 1, 3), "not valid TOML"),
    ("a = " + "1" * 5000, ("unparsable", 1, 5005), "4300 digits"), ("day = 2024-02-30\n", ("unparsable", 1, 7), "date"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wanted", "said"), UNREADABLE, ids=[f"{at:02}-{row[2]}" for at, row in enumerate(UNREADABLE)]
)
def test_what_cannot_be_read_is_refused_with_its_place(
    text: str | bytes, wanted: tuple[str, int, int], said: str
) -> None:
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    assert refused(lambda: TomlDocument.parse(data, where=WHERE)) == wanted
    with pytest.raises(HookctlError, match=said):
        TomlDocument.parse(data)


def test_nesting_up_to_the_limit_is_read_and_edited() -> None:
    text = "a = " + "[" * 99 + "]" * 99 + "\n"
    document = parse(text)
    assert document.set(("b",), 1).remove(("b",)).data == document.data


def test_more_than_16_mib_is_refused() -> None:
    assert refused(lambda: TomlDocument.parse(b"#" * (16 * 1024 * 1024 + 1), where=WHERE))[0] == "unparsable"


def test_a_document_never_changes() -> None:
    text = "a = [1]\n[b]\nc = 2\n"
    document = parse(text)
    for edited in (
        document.set(("b", "c"), 3),
        document.append(("a",), 2),
        document.remove(("a",)),
        document.set_raw(("d",), "0"),
    ):
        assert edited is not document
    document.value["a"].append("changed by a caller")
    document.get(("b",))["c"] = "changed by a caller"
    assert text_of(document) == text
    assert document.get(()) == {"a": [1], "b": {"c": 2}}


def test_an_edit_that_would_not_give_what_was_wanted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from hookctl.documents import Splice
    from hookctl.documents.toml_layout import Layout

    document = parse("a = 1 # one\nb = 2\n")
    for wrong in (
        [Splice(0, 0, "x = 1\n")],
        [Splice(0, 0, "c = 3 "), Splice(4, 5, "1")],
        [Splice(0, 0, "c = 3\n"), Splice(5, 11, ""), Splice(11, 11, " # two")],
    ):
        monkeypatch.setattr(Layout, "insert_line", lambda self, above, text, wrong=wrong: wrong)
        assert refused(lambda: document.set(("c",), 3)) == ("unexpected", 1, 1)
    lost = parse("c = 0\n# one\n")
    monkeypatch.setattr(Layout, "insert_line", lambda self, above, text: [Splice(6, 11, 'd = "# one"')])
    assert text_of(lost.set(("c",), 1)) == "c = 1\n# one\n"
    monkeypatch.setattr(Layout, "insert_line", lambda self, above, text: [Splice(6, 6, "d = 1 #")])
    assert refused(lambda: lost.set(("d",), 1))[0] == "unexpected"
