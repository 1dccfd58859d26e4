# ruff: noqa: E501  # tables
"""The rules for JSON, TOML and YAML, row by row (rows/): which bytes an edit gives, and what is read.

What an edit gives in a file that a program wrote is below: a judge compares it with what `json` writes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from pathlib import Path as FilePath
from typing import Any

import pytest

from hookctl.documents import MISSING, Document, formats
from hookctl.documents.jsonc import JsonDocument
from hookctl.documents.toml import TomlDocument
from hookctl.errors import HookctlError
from tests.documents.generated import FORMS, INSERTED, SETTINGS_TEXT, edits
from tests.documents.judge import BOM, edited, judge, read, value_of
from tests.documents.refused import WHERE, refused
from tests.documents.table import Edit, document_of, read_table
from tests.texts import all_of

EDITS = [(format, *row) for format in ("json", "toml", "yaml") for row in read_table(f"edits-{format}")]
EVENT = ("hooks", "pre_verify")
HOOK = {"command": "sh -c ': x; [ -f \"/a b\" ]'", "timeout": 10}
HOOKS = [row[1:] for row in read_table("hooks-yaml")]


def parse(format: str, cell: str) -> Document:
    return formats.parse(format, document_of(cell), where=WHERE)


@all_of(("format", "edit", "before", "after"), EDITS)
def test_an_edit_gives_these_bytes_and_a_new_document(format: str, edit: str, before: str, after: str) -> None:
    document, asked = parse(format, before), Edit.read(edit)
    edited = asked.of(document)
    assert edited.data == document_of(after)
    assert (document.data, edited.where) == (document_of(before), WHERE)
    if before == after:
        assert edited is document
    if asked.method == "set":
        assert edited.get(asked.path) == asked.arguments[0] or "NaN" in edit
        assert asked.of(edited) is edited, "nothing there to do"
    elif asked.method == "append":
        assert edited.get(asked.path)[-1] == asked.arguments[0]
    elif asked.method == "set_raw" and format == "json":
        assert edited.raw(asked.path) == asked.arguments[0]


@pytest.mark.parametrize(("before", "after"), HOOKS)
def test_a_new_hook_is_lines_of_its_own_in_the_file_s_layout(before: str, after: str) -> None:
    assert parse("yaml", before).append(EVENT, HOOK).data == document_of(after)


@pytest.mark.parametrize(("before", "after"), HOOKS)
def test_a_hook_that_is_removed_again_leaves_the_very_bytes(before: str, after: str) -> None:
    """The hook first, then what came with it, where nothing else is in there; as an uninstall does it."""
    old, document = parse("yaml", before), parse("yaml", after)
    document = document.remove((*EVENT, len(document.get(EVENT)) - 1))
    for path in (EVENT, EVENT[:1]):
        if old.get(path) is MISSING:
            assert "".join(document.raw(path).split()) in ("{}", "[]")
            document = document.remove(path)
    assert document.data == document_of(before)


@all_of(("format", "asked", "text", "answer"), read_table("reads"))
def test_what_is_read_at_a_path(format: str, asked: str, text: str, answer: str) -> None:
    document, edit = parse(format, text), Edit.read(asked)
    found = edit.of(document)
    if edit.method == "raw":
        assert found.encode() == document_of(answer)
    elif edit.method == "position":
        assert "{}:{}".format(*found) == answer
    elif answer == "MISSING":
        assert found is MISSING
    else:
        assert found == json.loads(answer)
    if asked == "get []":
        assert document.value is found or document.value == found
    assert document.data == document_of(text)


THREE = {
    "json": '{\n  "a": [\n    1, // one\n    {"b": 2},\n    3\n  ]\n}\n',
    "toml": "x = 1\n\n[[a]]\nb = 0x1 # one\nc = 'y'\n\n[[a]]\nb = 2\n[a.d]\ne = 1\n\n# three\n[[a]]\nb = 3\n",
    "yaml": "a:\n  - b: 1\n    c: 'x'\n  # two\n  - - 2\n    - y\n  - 3\nz: 1\n",
}


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("format", THREE)
def test_an_element_that_went_comes_back_to_its_place(format: str, number: int) -> None:
    before = formats.parse(format, THREE[format].encode())
    place = ("a", number)
    gone = before.remove(place)
    back = gone.insert_raw(place, before.block(place))
    assert (len(gone.get(("a",))), back.value) == (2, before.value)
    assert back.raw(place) == before.raw(place)
    assert set(back.data.split()) == set(before.data.split())


# What JSON is: texts that every reader must take, and texts that it must not.
TEXTS = [(kind, document_of(text).decode()) for kind, text in read_table("standard")]
VALID = [text for kind, text in TEXTS if kind == "valid"]
INVALID = [text for kind, text in TEXTS if kind == "invalid"]
LENIENT = [(text, kind) for kind, text in TEXTS if "valid" not in kind]


@all_of("text", VALID)
@all_of("lenient", [False, True])
def test_valid_json_is_read_in_every_dialect(text: str, lenient: bool) -> None:
    for data in (text.encode("utf-8"), b"\xef\xbb\xbf" + text.encode("utf-8")):
        document = JsonDocument.parse(data, strict=not lenient)
        assert document.data == data
        assert document.value == json.loads(text)
        document.require_strict(comments=False, trailing_commas=False)


@all_of("text", INVALID)
@all_of("lenient", [False, True])
def test_what_is_not_json_is_refused_in_every_dialect(text: str, lenient: bool) -> None:
    with pytest.raises(HookctlError) as caught:
        JsonDocument.parse(text.encode("utf-8"), strict=not lenient)
    assert caught.value.code == "unparsable"
    assert caught.value.line >= 1 and caught.value.column >= 1


@pytest.mark.parametrize(("text", "needs"), LENIENT)
def test_comments_and_trailing_commas_are_read_only_where_they_are_allowed(text: str, needs: str) -> None:
    assert needs in ("comment", "comma", "both")
    document = JsonDocument.parse(text.encode("utf-8"))
    with pytest.raises(HookctlError, match="this host does not read"):
        document.require_strict(comments=needs == "comma", trailing_commas=needs == "comment")
    document.require_strict(comments=needs != "comma", trailing_commas=needs != "comment")
    with pytest.raises(HookctlError, match=r"not valid JSON|comment"):
        JsonDocument.parse(text.encode("utf-8"), strict=True)


@pytest.mark.parametrize("text", ["", " ", "\n", "\r\n\t ", "\ufeff", "\ufeff \n"])
def test_an_empty_file_is_an_empty_document_in_every_dialect(text: str) -> None:
    document = JsonDocument.parse(text.encode("utf-8"), strict=True)
    document.require_strict(comments=False, trailing_commas=False)
    assert not document.value


# Edits of what a program wrote: byte for byte what that program would have written.
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", BOM])
@pytest.mark.parametrize("form", FORMS)
def test_an_edit_of_what_a_program_wrote_gives_what_that_program_would_write(form: str, bom: str, end: str) -> None:
    value = json.loads(SETTINGS_TEXT.replace("Infinity", "1.5"))

    def spelled(value: Any) -> bytes:
        text = json.dumps(value, ensure_ascii=False, **FORMS[form])
        return (bom + text + "\n").replace("\n", end).encode("utf-8")

    text = spelled(value).decode("utf-8")
    document = JsonDocument.parse(spelled(value))
    wrong = []
    for edit in edits("json", text):
        wanted = spelled(value_of(edited("json", read("json", text), edit)))
        if edit.of(document).data != wanted:
            wrong.append((edit, wanted, edit.of(document).data))
    assert wrong == []


@pytest.mark.parametrize("value", [*INSERTED, {"a": {"b": [1, {"c": []}], "é": "\u2028 \x7f"}}, [[]], [{}, "x"]])
def test_a_document_made_from_nothing_is_what_json_writes(value: object) -> None:
    wanted = json.dumps({"key": value}, indent=2, ensure_ascii=False) + "\n"
    assert JsonDocument.parse(b"").set(("key",), value).data == wanted.encode("utf-8")
    assert JsonDocument.parse(b"").set((), {"key": value}).data == wanted.encode("utf-8")


# The judge bites: it refuses what other editors make of these files.
@pytest.mark.parametrize(("asked", "before", "after"), read_table("wrong-edits"))
def test_a_wrong_or_careless_edit_is_refused(asked: str, before: str, after: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        judge("json", document_of(before), document_of(after), Edit.read(asked))


# The rules for JSON and JSONC, row by row: which bytes an edit gives, what is read.
def parse_json(text: str) -> JsonDocument:
    return JsonDocument.parse(text.encode("utf-8"), where=WHERE)


@pytest.mark.parametrize(("text", "first", "comma", "comment"), read_table("strict"))
def test_what_a_strict_host_does_not_read_is_named_with_its_place(
    text: str, first: str, comma: str, comment: str
) -> None:
    document = JsonDocument.parse(document_of(text), where=WHERE)
    asked = ((False, False, first), (True, False, comma), (False, True, comment), (True, True, "-"))
    for comments_are_read, commas_are_read, wanted in asked:
        what, _, place = wanted.rpartition(" ")
        found = []
        try:
            document.require_strict(comments=comments_are_read, trailing_commas=commas_are_read)
        except HookctlError as error:
            assert (error.code, error.path) == ("strict_host", WHERE) and what in error.message
            found = [f"{error.line}:{error.column}"]
        assert found == ([place] if what else [])


# The rules for TOML, row by row: which bytes an edit gives, what is read, what is masked.
STOP = ("hooks", "Stop")
HANDLER = {"type": "command", "command": ": hookctl=guard/stop; 'a' \"b\"", "timeout": 10}
GROUP = {"hooks": [HANDLER]}
STATE = ("hooks", "state", "/home/u/.codex/config.toml:stop:0:0", "trusted_hash")


def parse_toml(text: str) -> TomlDocument:
    return TomlDocument.parse(text.encode("utf-8"), where=WHERE)


def text_of(document: TomlDocument) -> str:
    return document.data.decode("utf-8")


@pytest.mark.parametrize("before", ["a = 1\nc = 2\n", "c = 2\n", ""])
def test_set_raw_of_toml_refuses_what_is_too_deep(before: str) -> None:
    assert refused(lambda: parse_toml(before).set_raw(("a",), "[" * 200 + "]" * 200))[0] == "unexpected"


def test_what_raw_gave_can_be_put_back_even_a_handler_that_was_taken_over() -> None:
    theirs = "[[hooks.Stop]] # theirs\n[[hooks.Stop.hooks]]\ncommand = 'bell' # rings\ntimeout = 0x5\nargs = [\n  1, # one\n]\n"
    before = parse_toml(theirs)
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

    document = parse_toml("a = 1 # one\nb = 2\n")
    for wrong in ([Splice(0, 0, "x = 1\n")], [Splice(0, 0, "c = 3 "), Splice(4, 5, "1")]):
        monkeypatch.setattr(TomlDocument, "_insert", lambda self, holder, key, new, wrong=wrong: wrong)
        assert refused(lambda: document.set(("c",), 3)) == ("unexpected", 1, 1)


# Edits over look-alikes of Codex's config.toml: what was added goes without a trace.
CORPUS = Path(__file__).parents[1] / "corpus"
REFUSED = [*sorted(CORPUS.glob("codex-config/refused/*.toml")), *sorted(CORPUS.glob("hermes/refused/*.yaml"))]
CODES = {  # by how a file's name begins
    "latin-1": "not_utf8", "utf-16.": "not_utf8", "utf-16-little": "not_utf8", "hooks-is": "wrong_shape", "stop-is": "wrong_shape",
    "inline-hooks": "unsupported_toml", "inline-stop": "unsupported_toml",
}  # fmt: skip
OF_YAML = ("unparsable", "not_utf8", "wrong_shape", "duplicate_key", "unsupported_yaml")


@all_of("path", REFUSED)
def test_the_corpus_of_refused_files_is_refused_with_line_and_column(path: Path) -> None:
    format = path.suffix[1:]
    with pytest.raises(HookctlError) as caught:
        formats.parse(format, path.read_bytes(), where="/x").append(
            *((STOP, GROUP) if format == "toml" else (EVENT, HOOK))
        )
    error, named = caught.value, [code for name, code in CODES.items() if path.name.startswith(name)]
    assert error.code in (OF_YAML if format == "yaml" and named != ["not_utf8"] else (*named, "unparsable")[:1])
    assert (error.path, error.exit_code) == ("/x", 4) and error.line >= 1 and error.column >= 1 and error.hint


def test_without_the_extra_the_message_says_how_to_get_it(tmp_path: FilePath) -> None:
    (tmp_path / "yaml.py").write_text("raise ImportError('there is no such package')\n")
    program = (
        "from hookctl.documents.yaml import YamlDocument\n"
        "from hookctl.errors import HookctlError\n"
        "try:\n    YamlDocument.parse(b'a: 1', where='/x/config.yaml')\n"
        "except HookctlError as error:\n    print(error.code, error.exit_code, error)\n"
    )
    root = str(FilePath(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), root])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("extra_missing 4 /x/config.yaml: "), done.stderr
    assert "-m pip install" in done.stdout


def test_the_reader_is_imported_with_the_first_file_only() -> None:
    program = "import sys, hookctl.documents.yaml; print('yaml' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=FilePath(__file__).parents[2]
    )
    assert done.stdout == "False\n", done.stderr
