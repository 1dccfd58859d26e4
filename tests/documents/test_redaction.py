# ruff: noqa: E501  # tables
"""What of a settings file is shown, whatever its format: no value under a secret key, and no secret in a comment."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, assume, given, settings

from hookctl.documents import redaction
from hookctl.documents.redaction import redacted
from hookctl.documents.text import BREAK

from .yaml_generated import CORPUS, readable, texts

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
    ("token: | # plain\n  text\nmodel: word", 'token: | # ***\n  "***"\nmodel: word'),
    ("text: | # API_KEY=made-up\n  fine\n", "text: | # API_KEY=***\n  fine\n"),
    ("a: 1\r\n# token: made-up\r\n", 'a: 1\r\n# token: "***"\r\n'),
    ("\ufeffapi_key: made-up\n", '\ufeffapi_key: "***"\n'),
    ("# only a token: made-up\n", "# only a token: ***\n"),
    ("", ""),
]  # fmt: skip


TOML = [
    ('token = "x" # c\na = "y"\n', 'token = "***" # ***\na = "y"\n'), ("a.token.b = 1\n", 'a.token.b = "***"\n'), ("[token]\na = 1\n[b]\na = 1\n", '[token]\na = "***"\n[b]\na = 1\n'),
    ("[[a.token.b]]\nc = [1, { d = nan }, []]\n", '[[a.token.b]]\nc = ["***", { d = "***" }, []]\n'), ("token = 2024-02-29 07:32:00\n", 'token = "***"\n'), ("a = 'token'\n", "a = 'token'\n"),
    ('token = """\n x = 1\n"""\r\na = 1\n', 'token = "***"\n\n\r\na = 1\n'), ('"t\\u006fken" = 2\n', '"t\\u006fken" = "***"\n'),
    ("# token = 'abc'\n# one\n# two\n", '# token = "***"\n# one\n# two\n'), ("a = 'token=abc' # password: x y\n", 'a = "token=***" # password: "***"\n'),
    ("a = ['--token', 'abc', 'sk-abcdefgh']\n", "a = ['--token', \"***\", \"***\"]\n"), ("token = 1 # c d\n# e\n", 'token = "***" # ***\n# e\n'),
    ("[token] # c d\n# e f\na = 1 # g\n[b] # h\n", '[token] # ***\n# ***\na = "***" # ***\n[b] # h\n'), ('["https://u:pw@h"]\n"a.b" = 1\n', '["https://u:***@h"]\n"a.b" = 1\n'),
    ("a = { token = [1, # x\n 2] } # y\nb = 1 # z\n", 'a = { token = ["***", # ***\n "***"] } # y\nb = 1 # z\n'), ("a = 1 # z\n\n\n# token:\n# abc\n", 'a = 1 # z\n\n\n# token:\n# "***"\n'),
    ('a = """\nfirst\ntoken: abc\n"""\nb = 1\n', 'a = "\\nfirst\\ntoken: ***\\n"\n\n\n\nb = 1\n'),
]  # fmt: skip
JSON = [
    ('{"token": "x", "a": "y"}', '{"token": "***", "a": "y"}'),
    ('{"a": {"token" : [1, {"b": null, "c": []}, true, -1.5e3]}, "z": 2}', '{"a": {"token" : ["***", {"b": "***", "c": []}, "***", "***"]}, "z": 2}'),
    ('{"t\\u006fken": "x,\\"]}", "b": "token"}', '{"t\\u006fken": "***", "b": "token"}'),
    ('\ufeff{\r\n  // token: x\r\n  "token": 1, /* "token": 2 */ "a": [1],\r\n}\r\n', '\ufeff{\r\n  // token: "***"\r\n  "token": "***", /* *** */ "a": [1],\r\n}\r\n'),
    ('{"token": 1, "token": 2, "a": {"b": "x", "token": false}, "c": "token"}', '{"token": "***", "token": "***", "a": {"b": "x", "token": "***"}, "c": "token"}'),
    ('[{"token": "x"}, "y", {"a": "z"}]', '[{"token": "***"}, "y", {"a": "z"}]'), ('{"token": {"a": {}, "b": {"c": 1}}, "d": 1}', '{"token": {"a": {}, "b": {"c": "***"}}, "d": 1}'),
    ('"token"', '"token"'), ("", ""), ("// token\n", "// token\n"),
    ('{\n"tokens": {\n"a": "x"\n},\n"b": 1\n}', '{\n"tokens": {\n"a": "***"\n},\n"b": 1\n}'),
    ("# -----BEGIN RSA PRIVATE KEY-----\n# MIIabc\n# -----END RSA PRIVATE KEY-----\na: 1\n", "# ***\n# ***\n# ***\na: 1\n"),
]  # fmt: skip
LINES = "made-up \\\\ 'it' \"is\"\n" * 400  # longer than any pattern should have to look at
OF_ONE_FORMAT = [
    (f'token = """\n{LINES}"""\na = 1\n', 'token = "***"' + "\n" * 402 + "a = 1\n"),
    (f"token = ['''\n{LINES}''']\na = 1\n", 'token = ["***"' + "\n" * 401 + "]\na = 1\n"),
    (f'a = """\n{LINES}"""\ntoken = 1\n', f'a = """\n{LINES}"""\ntoken = "***"\n'),
    ('"to\\x6ben": made-up\n', '"to\\x6ben": "***"\n'),
    ('{"a": {"to\\x6ben": made-up}}\n', '{"a": {"to\\x6ben": "***"}}\n'),
    ('"to\\U0000006ben" = "made-up"\n', '"to\\U0000006ben" = "***"\n'),
    ('["a"."to\\U0000006ben\\e"]\nb = "made-up"\n', '["a"."to\\U0000006ben\\e"]\nb = "***"\n'),
    ("? token\n: made-up\nb: 1\n", '? token\n: "***"\nb: 1\n'),
    ("- ? |\n    token\n  : - made-up\n    - more\n  ? b\n  : c\n", '- ? |\n    token\n  : - "***"\n    - "***"\n  ? b\n  : c\n'),
    ("? 'token' # c\n:\n- made-up\nb: 1\n", '? \'token\' # c\n:\n- "***"\nb: 1\n'),
    ("my api_key here: made-up\nb c: 1\n", 'my api_key here: "***"\nb c: 1\n'),
    ("a:\n  my token of it:\n    b: made-up\n  c: 1\n", 'a:\n  my token of it:\n    b: "***"\n  c: 1\n'),
    ("a: {k: &z made-up}\ntoken: *z\n", 'a: {k: &z "***"}\ntoken: *z\n'),
    ("a: [&z {b: made-up}, &y 'made-up', !!str c]\ntoken: [*z, *y]\n", 'a: [&z {b: "***"}, &y "***", !!str c]\ntoken: [*z, *y]\n'),
    ("a:\n- &z\n  b: made-up\n- c\ntoken: *z\n", 'a:\n- &z\n  b: "***"\n- c\ntoken: *z\n'),
    ("token:\n  [made-up]\nb:\n  [c]\n", 'token:\n  ["***"]\nb:\n  [c]\n'),
    ("token: |\n  made: up\n\n  [made-up]\n  - *made-up\nb: 1\n", 'token: |\n  "***"\n\n  "***"\n  "***"\nb: 1\n'),
    ("token: 'a\n\n  [made-up]\n\n  '\nb: 1\n", 'token: "***"\n\n  "***"\n\n  "***"\nb: 1\n'),
    ("a: |\n  {[\ntoken:\n  b: |\n    made-up\n", 'a: |\n  {[\ntoken:\n  b: |\n    "***"\n'),
    ("a: |\n  '''\ntoken: made-up\nb: |\n  '''\n", 'a: |\n  \'\'\'\ntoken: "***"\nb: |\n  \'\'\'\n'),
    ('{"token" /* a * b */ : "made-up"}', '{"token" /* *** */ : "***"}'),
    ('a = "\\e \\U0011ffff"\n', 'a = "\\e \\U0011ffff"\n'),
]  # fmt: skip
# Words of which a pattern could make a square of the time, or a stack of levels.
LONG = ["'''", '"""', "-----BEGIN KEY-----\n", "# # ", "/* ", "[", "- ", "a: ", "{a: ", "x\n", "&a ", "'", "a.", "*a ", "\n# x", ": ", "//", "token:\n# x\n"]


@pytest.mark.parametrize("word", LONG)
def test_a_long_text_is_masked_in_no_time(word: str) -> None:
    start = time.process_time()
    redacted(word * (60_000 // len(word)))
    assert time.process_time() - start < 5


@pytest.mark.parametrize(("lead", "word"), [('{"a": "x" ', "/* */"), ("[", "1 /* c */,"), ('["""', '\\"""\n')])
def test_eight_times_the_text_does_not_take_the_square_of_eight(lead: str, word: str) -> None:
    def took(count: int) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            redacted(lead + word * count)
            times.append(time.process_time() - start)
        return min(times)

    assert took(16_000) < 30 * took(2_000)


def test_a_long_chain_of_names_is_followed_in_few_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    walks, run = [], redaction._Walk.run

    def counted(walk: redaction._Walk) -> None:
        walks.append(walk)
        run(walk)

    monkeypatch.setattr(redaction._Walk, "run", counted)
    links = [f"x{at}: &k{at}\n  a: *k{at - 1}\n" for at in range(1, 100)]
    assert "made-up" not in redacted("x0: &k0 made-up\n" + "".join(links) + "token: *k99\n")
    assert len(walks) <= 20


@pytest.mark.parametrize(("text", "wanted"), [*SHOWN, *TOML, *JSON, *OF_ONE_FORMAT])
def test_secrets_are_masked_and_the_rest_is_shown_as_it_is(text: str, wanted: str) -> None:
    assert redacted(text) == wanted
    assert redacted(wanted) == wanted


def test_nothing_secret_of_the_corpus_is_shown() -> None:
    text = (CORPUS / "secrets.yaml").read_bytes().decode("utf-8")
    assert text.count("made-up") == 7
    assert "made-up" not in redacted(text)
    assert redacted(text).count("\n") == text.count("\n")


@given(text=texts())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_any_file_is_shown_with_as_many_lines_and_what_is_shown_is_shown_again(text: str) -> None:
    assume(readable(text))
    assert len(BREAK.findall(redacted(text))) == len(BREAK.findall(text))
    assert redacted(redacted(text)) == redacted(text)
