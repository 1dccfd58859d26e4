# ruff: noqa: E501  # tables
"""What of a YAML file is shown: no value under a secret key, and no secret in a comment."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hookctl.documents.scan import BREAK
from hookctl.documents.redaction import redacted

from .yaml_generated import CORPUS, readable, texts


def shown(text: str) -> str:
    return redacted(text)


SHOWN = [
    ("api_key: made-up  # made-up\nmodel: x # fine\n", 'api_key: "***"  # ***\nmodel: x # fine\n'),
    ("tokens:\n  - one\n  # - two\n  - {x: three}\n# fine\nb: 1\n", 'tokens:\n  - "***"\n  # ***\n  - {x: "***"}\n# fine\nb: 1\n'),
    ("tokens:\n# inside\n  - one\n", 'tokens:\n# ***\n  - "***"\n'),
    ("password: |\n  one\n  two\nb: 1\n", 'password: |\n  "***"\n  "***"\nb: 1\n'),
    ("password: 'one\n  two'\n", 'password: "***"\n  "***"\n'),
    ("password: 10\n", 'password: "***"\n'),
    ("password:\n", 'password:\n'),
    ("a: &k made-up\napi_key: *k\n", 'a: &k "***"\napi_key: *k\n'),
    ("a: &k [made-up]\nb: &j\n  c: *k\nsecrets: *j\n", 'a: &k ["***"]\nb: &j\n  c: *k\nsecrets: *j\n'),
    ("a:\n  - --token\n  - made-up\n  - fine\n", 'a:\n  - --token\n  - "***"\n  - fine\n'),
    ("command: run --token made-up\n", 'command: run --token ***\n'),
    ("command: |\n  API_KEY=made-up\n  run\n", 'command: |\n  API_KEY=***\n  run\n'),
    ("url: https://me:made-up@host/x\n", 'url: https://me:***@host/x\n'),
    ("sk-abcdefgh: 1\n", '***: 1\n'),
    ("# api_key: made-up\n# model: x\na: 1\n", '# api_key: "***"\n# model: x\na: 1\n'),
    ("# api_keys:\n#   - made-up\n#   - more\n# model: x\na: 1\n", '# api_keys:\n#   - "***"\n#   - "***"\n# model: x\na: 1\n'),
    ("# tokens:\n# - made-up\n# b: 1\na: 1\n", '# tokens:\n# - "***"\n# b: 1\na: 1\n'),
    ("a: 1\n# secret: |\n#   made-up\n\n#   more\n# b: 1\n", 'a: 1\n# secret: |\n#   "***"\n\n#   "***"\n# b: 1\n'),
    ("text: | # API_KEY=made-up\n  fine\n", "text: | # API_KEY=***\n  fine\n"),
    ("a: 1\r\n# token: made-up\r\n", 'a: 1\r\n# token: "***"\r\n'),
    ("\ufeffapi_key: made-up\n", '\ufeffapi_key: "***"\n'),
    ("# only a token: made-up\n", "# only a token: ***\n"),
    ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), SHOWN)
def test_secrets_are_masked_and_the_rest_is_shown_as_it_is(text: str, wanted: str) -> None:
    assert shown(text) == wanted


def test_nothing_secret_of_the_corpus_is_shown() -> None:
    text = (CORPUS / "secrets.yaml").read_bytes().decode("utf-8")
    assert text.count("made-up") == 7
    assert "made-up" not in shown(text)
    assert shown(text).count("\n") == text.count("\n")


@given(text=texts())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_any_file_is_shown_with_as_many_lines_and_what_is_shown_is_shown_again(text: str) -> None:
    assume(readable(text))
    assert len(BREAK.findall(shown(text))) == len(BREAK.findall(text))
    assert shown(shown(text)) == shown(text)


def test_a_comment_in_the_first_line_of_a_masked_block_goes_with_it() -> None:
    assert shown("token: | # plain\n  text\nmodel: word") == 'token: | # ***\n  "***"\nmodel: word'
