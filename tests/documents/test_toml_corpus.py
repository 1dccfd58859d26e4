"""Edits over look-alikes of Codex's config.toml: what was added goes without a trace."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hookctl.documents import MISSING
from hookctl.documents.toml import TomlDocument
from hookctl.errors import HookctlError
from hookctl.hosts import load, shapes
from hookctl.model import AddHook, DropHook, EditHook, Prune

from .test_toml import GROUP, STOP

CODEX = load("codex")
CORPUS = Path(__file__).parents[1] / "corpus" / "codex-config"
FILES = sorted(CORPUS.glob("*.toml"))
REFUSED = sorted((CORPUS / "refused").glob("*.toml"))
BOM = b"\xef\xbb\xbf"

VARIANTS: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda data: data,
    "crlf": lambda data: re.sub(rb"\r?\n", b"\r\n", data),
    "bom": lambda data: data if data.startswith(BOM) else BOM + data,
    "no final newline": lambda data: data.rstrip(b"\r\n"),
    "all three": lambda data: re.sub(rb"\r?\n", b"\r\n", BOM + data.removeprefix(BOM)).rstrip(b"\r\n"),
    "more blank lines": lambda data: data + b"\n\n",
}
each_file = pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])


def variants(path: Path) -> list[bytes]:
    """The file as it is and as other programs would have left it."""
    return [change(path.read_bytes()) for change in VARIANTS.values()]


def is_unmixed(before: bytes, after: bytes) -> bool:
    """Whether the line ends of a file with one kind stayed of that kind."""
    old, new = (set(re.findall(rb"\r?\n", data)) for data in (before, after))
    return len(old) != 1 or new == old


@each_file
def test_the_engines_edits_are_made_and_taken_back(path: Path) -> None:
    """Hooks come behind all that is there, and are edited and removed as in every nested file."""
    for data in variants(path):
        before = TomlDocument.parse(data)
        fields = {**GROUP["hooks"][0], "matcher": "Bash"}
        after = shapes.apply(CODEX.shape, before, (AddHook(STOP, fields), AddHook(STOP, fields)))
        ours = shapes.elements(CODEX.shape, after.value)
        assert [element.fields for element in ours] == [fields, fields]
        assert is_unmixed(data, after.data)
        if not path.stem.startswith(("inline", "stop-is")):
            assert after.data.startswith(data)
        edited = shapes.apply(CODEX.shape, after, (EditHook(ours[0], {"timeout": 20, "matcher": None}),))
        assert shapes.elements(CODEX.shape, edited.value)[0].fields == {**GROUP["hooks"][0], "timeout": 20}
        prunes = tuple(Prune(made) for made in (STOP, STOP[:1]) if before.get(made) is MISSING)
        drops = tuple(map(DropHook, shapes.elements(CODEX.shape, edited.value)))
        assert shapes.apply(CODEX.shape, edited, (*drops, *prunes)).data == data


@each_file
def test_a_field_of_every_hook_that_is_there_is_edited_in_place(path: Path) -> None:
    document = TomlDocument.parse(path.read_bytes())
    groups = document.get(STOP)
    for g, group in enumerate(groups if isinstance(groups, list) else []):
        for h, handler in enumerate(group["hooks"]):
            place = (*STOP, g, "hooks", h)
            text = document.data.decode()
            edited = document.set((*place, "timeout"), 20)
            assert edited.get(place) == {**handler, "timeout": 20}
            if "timeout" not in handler:
                assert edited.remove((*place, "timeout")).data.decode() == text
            assert edited.set_raw(place, document.raw(place)).data.decode() == text


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
