# ruff: noqa: E501  # tables
"""The rules for TOML, row by row: which bytes an edit gives, what is read, what is masked."""

import re
from pathlib import Path

import pytest

from hookctl.documents.toml import TomlDocument
from hookctl.errors import HookctlError

from .refused import WHERE, refused

STOP = ("hooks", "Stop")
HANDLER = {"type": "command", "command": ": hookctl=guard/stop; 'a' \"b\"", "timeout": 10}
GROUP = {"hooks": [HANDLER]}
STATE = ("hooks", "state", "/home/u/.codex/config.toml:stop:0:0", "trusted_hash")


def parse(text: str) -> TomlDocument:
    return TomlDocument.parse(text.encode("utf-8"), where=WHERE)


def text_of(document: TomlDocument) -> str:
    return document.data.decode("utf-8")


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


def test_an_edit_that_would_not_give_what_was_wanted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from hookctl.documents import Splice

    document = parse("a = 1 # one\nb = 2\n")
    for wrong in (
        [Splice(0, 0, "x = 1\n")],
        [Splice(0, 0, "c = 3 "), Splice(4, 5, "1")],
    ):
        monkeypatch.setattr(TomlDocument, "_insert_line", lambda self, above, text, wrong=wrong: wrong)
        assert refused(lambda: document.set(("c",), 3)) == ("unexpected", 1, 1)


# Edits over look-alikes of Codex's config.toml: what was added goes without a trace.


CORPUS = Path(__file__).parents[1] / "corpus" / "codex-config"
REFUSED = sorted((CORPUS / "refused").glob("*.toml"))


def is_unmixed(before: bytes, after: bytes) -> bool:
    """Whether the line ends of a file with one kind stayed of that kind."""
    old, new = (set(re.findall(rb"\r?\n", data)) for data in (before, after))
    return len(old) != 1 or new == old


@pytest.mark.parametrize("path", REFUSED, ids=[path.stem for path in REFUSED])
def test_the_corpus_of_refused_files_is_refused_with_line_and_column(path: Path) -> None:
    with pytest.raises(HookctlError) as caught:
        TomlDocument.parse(path.read_bytes(), where="/x").append(STOP, GROUP)
    error = caught.value
    special = {"latin-1": "not_utf8", "utf-16-little-endian": "not_utf8"}
    wanted = "wrong_shape" if path.stem.startswith(("hooks-is", "stop-is")) else special.get(path.stem, "unparsable")
    if path.stem.startswith(("inline-hooks", "inline-stop")):
        wanted = "unsupported_toml"
    assert error.code == wanted
    assert (error.path, error.exit_code) == ("/x", 4) and error.line >= 1 and error.column >= 1
