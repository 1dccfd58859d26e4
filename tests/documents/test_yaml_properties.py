"""What every YAML edit keeps, whatever the file looks like; the judge shares no code with the package."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import yaml

from hookctl.documents import MISSING
from hookctl.documents import yaml as hookctl_yaml
from hookctl.documents.yaml import YamlDocument
from hookctl.errors import HookctlError

from .yaml_generated import CORPUS, edits, readable
from .yaml_judge import Edit, comments, edited, is_one_insertion, line_ends, read, span

FILES = {path.stem: path.read_bytes().decode("utf-8") for path in sorted(CORPUS.glob("*.yaml"))}
VARIANTS = {
    "as it is": lambda text: text,
    "crlf": lambda text: text.replace("\n", "\r\n") if line_ends(text) <= {"\n"} else text,
    "bom": lambda text: "\ufeff" + text.removeprefix("\ufeff"),
    "no final newline": lambda text: text.rstrip("\r\n"),
}
EMPTY = r"\s*(?:\{\s*\}|\[\s*\])"  # brackets that lines come in the place of
# Some edits of what is shared, or of what has no other end than the one it has, are refused.
ODD = ("&", "|", ">", "? ", "!!")


def parse(text: str) -> YamlDocument:
    return YamlDocument.parse(text.encode("utf-8"))


def text_of(document: YamlDocument) -> str:
    return document.data.decode("utf-8")


def made(document: YamlDocument, edit: Edit) -> YamlDocument:
    arguments = (edit.path,) if edit.verb == "remove" else (edit.path, edit.value)
    return getattr(document, edit.verb)(*arguments)


def is_in_order(some: list[str], more: list[str]) -> bool:
    rest = iter(more)
    return all(one in rest for one in some)


def inserts(edit: Edit) -> bool:
    return edit.verb == "append" or "ours" in edit.path


def check(text: str, edit: Edit) -> bool:
    """Whether the edit was made, and then rightly in every way; what is refused leaves the document as it was."""
    before = parse(text)
    try:
        after = made(before, edit)
    except HookctlError as error:
        assert error.code == "unsupported_yaml", error
        assert error.line >= 1 and error.column >= 1
        assert text_of(before) == text
        return False
    new = text_of(after)
    wanted = edited(read(text), edit)
    assert read(new) == wanted or (read(new) is None and wanted[2] == []), edit
    assert (None if after.value is MISSING else after.value) == yaml.safe_load(new.removeprefix("\ufeff"))
    assert line_ends(new) <= (line_ends(text) or {"\n"})
    assert new.startswith("\ufeff") == text.startswith("\ufeff")
    start, end = (0, 0) if inserts(edit) else span(text, edit.path)
    said = [words for _, words in comments(new)]
    assert is_in_order(said, [words for _, words in comments(text)])
    assert is_in_order([words for at, words in comments(text) if not start <= at < end], said)
    if inserts(edit):
        check_insertion(text, after, edit)
    elif edit.verb == "set":
        try:
            raw = before.raw(edit.path)
        except HookctlError as error:
            assert error.code == "unsupported_yaml", error
            return False
        back = after.set_raw(edit.path, raw)
        assert back.value == before.value
        # A block scalar at the end of a file without a final line break is put back as a plain value, an alias too.
        odd = "<*" if text[-1:] in "\r\n" else "<*|>"
        assert read(text_of(back)) == read(text) or any(mark in text for mark in odd)
    return True


def check_insertion(text: str, after: YamlDocument, edit: Edit) -> None:
    """Nothing of the file goes but an empty pair of brackets, and removing the new member gives the bytes back."""
    unfolded = (text[: found.start()] + text[found.end() :] for found in re.finditer(EMPTY, text))
    assert any(is_one_insertion(old, text_of(after)) for old in (text, *unfolded))
    if edit.path[-1] == "list":
        path = edit.path[:-1]
    else:
        path = edit.path if edit.verb == "set" else (*edit.path, len(after.get(edit.path)) - 1)
    assert re.sub(EMPTY, "", text_of(after.remove(path))) == re.sub(EMPTY, "", text)


CASES = [(name, variant) for name in FILES for variant in VARIANTS if readable(VARIANTS[variant](FILES[name]))]


def check_some(name: str, variant: str) -> None:
    """A few edits of each file; each variant takes others."""
    text = VARIANTS[variant](FILES[name])
    tried = edits(text)
    tried = tried[len(variant) % 3 :: max(1, len(tried) // 12)]
    refused = [edit for edit in tried if not check(text, edit)]
    if not any(mark in text for mark in ODD):
        assert not refused
    assert len(refused) <= len(tried) * 0.6


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_every_edit_of_every_file_of_the_corpus_is_right(name: str, variant: str) -> None:
    check_some(name, variant)


@pytest.fixture
def without_c(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """PyYAML has two readers; which one is there depends on how it was installed."""
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    hookctl_yaml._loader.cache_clear()
    yield
    hookctl_yaml._loader.cache_clear()


@pytest.mark.parametrize("name", [name for name, variant in CASES if variant == "as it is"])
@pytest.mark.usefixtures("without_c")
def test_the_reader_in_python_does_as_well(name: str) -> None:
    check_some(name, "as it is")
