# tables
"""What of a settings file is shown, whatever its format: no value under a secret key, and no secret in a comment."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import HealthCheck, assume, given, settings

from hookctl.documents import BREAK, formats
from hookctl.documents.redaction import redacted, redacted_text

from .table import document_of, read_table
from .yaml_generated import CORPUS, readable, texts

LINES = "made-up \\\\ 'it' \"is\"\n" * 400  # longer than any pattern should have to look at
# Words of which a pattern could make a square of the time, or a stack of levels.
LONG = [
    "-----BEGIN KEY-----\n",
    "# # ",
    "/* ",
    "[",
    "- ",
    "a: ",
    "x\n",
    "'",
    "a.",
    ": ",
    "//",
    "token:\n# x\n",
    "token ",
    "a=",
    '"',
]


def shown(format: str, text: str) -> str:
    return redacted(formats.parse(format, text.encode()))


@pytest.mark.parametrize("word", LONG)
def test_a_long_text_is_masked_in_no_time(word: str) -> None:
    start = time.process_time()
    redacted_text(word * (60_000 // len(word)))
    shown("json", json.dumps({"a": word * 1000, "b": [word] * 1000}) + "\n//" + word.replace("\n", " ") * 1000)
    shown("toml", "#" + word.replace("\n", " ") * 1000 + "\na = 1\n")
    assert time.process_time() - start < 5


@pytest.mark.parametrize(("lead", "word", "end"), [("[0", ", 1 /* c */", "]"), ("[0", ', "--token", [1]', "]")])
def test_eight_times_the_text_does_not_take_the_square_of_eight(lead: str, word: str, end: str) -> None:
    def took(count: int) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            shown("json", lead + word * count + end)
            times.append(time.process_time() - start)
        return min(times)

    assert took(16_000) < 30 * took(2_000)


@pytest.mark.parametrize(("format", "text", "wanted"), read_table("redaction"))
def test_secrets_are_masked_and_the_rest_is_shown_as_it_is(format: str, text: str, wanted: str) -> None:
    before, after = document_of(text).decode(), document_of(wanted).decode()
    assert (redacted_text(before) if format == "text" else shown(format, before)) == after
    assert len(BREAK.findall(after)) == len(BREAK.findall(before))


def test_a_value_of_many_lines_under_a_secret_key_keeps_its_lines() -> None:
    for text in (f'token = """\n{LINES}"""\na = 1\n', f"token = ['''\n{LINES}''']\na = 1\n"):
        masked = shown("toml", text)
        assert "made-up" not in masked and masked.endswith("a = 1\n")
        assert masked.count("\n") == text.count("\n")
    text = f'a = """\n{LINES}"""\ntoken = 1\n'
    assert shown("toml", text) == text.replace("= 1", '= "***"')


def test_the_values_of_a_long_chain_of_aliases_are_masked() -> None:
    links = [f"x{at}: &k{at}\n  a: *k{at - 1}\n" for at in range(1, 90)]
    assert "made-up" not in shown("yaml", "x0: &k0 made-up\n" + "".join(links) + "token: *k89\n")


def test_nothing_secret_of_the_corpus_is_shown() -> None:
    text = (CORPUS / "secrets.yaml").read_bytes().decode("utf-8")
    assert text.count("made-up") == 7
    assert "made-up" not in shown("yaml", text)
    assert shown("yaml", text).count("\n") == text.count("\n")


@given(text=texts())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_any_file_is_shown_with_as_many_lines(text: str) -> None:
    assume(readable(text))
    assert len(BREAK.findall(shown("yaml", text))) == len(BREAK.findall(text))
