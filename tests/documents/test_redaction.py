# ruff: noqa: E501  # tables
"""What of a settings file is shown, whatever its format: no value under a secret key, and no secret in a comment."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import HealthCheck, assume, given, settings

from hookctl.documents import BREAK, formats
from hookctl.documents.redaction import redacted, redacted_text

from .yaml_generated import CORPUS, readable, texts

YAML = [
    ('api_key: made-up  # made-up\nmodel: x # fine\n', 'api_key: "***"  # ***\nmodel: x # fine\n'),
    ('tokens:\n  - one\n  # - two\n  - {x: three}\n# fine\nb: 1\n', 'tokens:\n  - "***"\n  # ***\n  - {x: "***"}\n# ***\nb: 1\n'),
    ('tokens:\n# inside\n  - one\n', 'tokens:\n# ***\n  - "***"\n'),
    ('password: |\n  one\n  two\nb: 1\n', 'password: ***\n  ***\n  ***\nb: 1\n'),
    ("password: 'one\n  two'\n", 'password: ***\n  ***\n'),
    ('password: 10\n', 'password: "***"\n'),
    ('password:\n', 'password:\n'),
    ('a: &k made-up\napi_key: *k\n', 'a: "***"\napi_key: *k\n'),
    ('a: &k [made-up]\nb: &j\n  c: *k\nsecrets: *j\n', 'a: &k ["***"]\nb: &j\n  c: *k\nsecrets: *j\n'),
    ('a:\n  - --token\n  - made-up\n  - fine\n', 'a:\n  - --token\n  - "***"\n  - fine\n'),
    ('command: run --token made-up\n', 'command: run --token ***\n'),
    ('command: |\n  API_KEY=made-up\n  run\n', 'command: ***\n  ***\n  ***\n'),
    ('url: https://me:made-up@host/x\n', 'url: https://me:***@host/x\n'),
    ('sk-abcdefgh: 1\n', '***: 1\n'),
    ('# api_key: made-up\n# model: x\na: 1\n', '# ***\n# ***\na: 1\n'),
    ('# api_keys:\n#   - made-up\n#   - more\n# model: x\na: 1\n', '# ***\n#   ***\n#   ***\n# ***\na: 1\n'),
    ('# tokens:\n# - made-up\n# b: 1\na: 1\n', '# ***\n# ***\n# ***\na: 1\n'),
    ('a: 1\n# secret: |\n#   made-up\n\n#   more\n# b: 1\n', 'a: 1\n# ***\n#   ***\n\n#   ***\n# ***\n'),
    ('token: | # plain\n  text\nmodel: word', 'token: ***\n  ***\nmodel: word'),
    ('text: | # API_KEY=made-up\n  fine\n', 'text: ***\n  ***\n'),
    ('a: 1\r\n# token: made-up\r\n', 'a: 1\r\n# ***\r\n'),
    ('\ufeffapi_key: made-up\n', '\ufeffapi_key: "***"\n'),
    ('# only a token: made-up\n', '# ***\n'),
    ('', ''),
    ('"to\\x6ben": made-up\n', '"to\\x6ben": "***"\n'),
    ('{"a": {"to\\x6ben": made-up}}\n', '{"a": {"to\\x6ben": "***"}}\n'),
    ('? token\n: made-up\nb: 1\n', '? token\n: "***"\nb: 1\n'),
    ('- ? |\n    token\n  : - made-up\n    - more\n  ? b\n  : c\n', '- ? |\n    token\n  : - "***"\n    - "***"\n  ? b\n  : c\n'),
    ("? 'token' # c\n:\n- made-up\nb: 1\n", '? \'token\' # ***\n:\n- "***"\nb: 1\n'),
    ('my api_key here: made-up\nb c: 1\n', 'my api_key here: "***"\nb c: 1\n'),
    ('a:\n  my token of it:\n    b: made-up\n  c: 1\n', 'a:\n  my token of it:\n    b: "***"\n  c: 1\n'),
    ('a: {k: &z made-up}\ntoken: *z\n', 'a: {k: "***"}\ntoken: *z\n'),
    ("a: [&z {b: made-up}, &y 'made-up', !!str c]\ntoken: [*z, *y]\n", 'a: [&z {b: "***"}, "***", !!str c]\ntoken: [*z, *y]\n'),
    ('a:\n- &z\n  b: made-up\n- c\ntoken: *z\n', 'a:\n- &z\n  b: "***"\n- c\ntoken: *z\n'),
    ('token:\n  [made-up]\nb:\n  [c]\n', 'token:\n  ["***"]\nb:\n  [c]\n'),
    ('token: |\n  made: up\n\n  [made-up]\n  - *made-up\nb: 1\n', 'token: ***\n  ***\n\n  ***\n  ***\nb: 1\n'),
    ("token: 'a\n\n  [made-up]\n\n  '\nb: 1\n", 'token: ***\n\n  ***\n\n  ***\nb: 1\n'),
    ('a: |\n  {[\ntoken:\n  b: |\n    made-up\n', 'a: |\n  {[\ntoken:\n  b: ***\n    ***\n'),
    ("a: |\n  '''\ntoken: made-up\nb: |\n  '''\n", 'a: |\n  \'\'\'\ntoken: "***"\nb: |\n  \'\'\'\n'),
    ('a = "\\e \\U0011ffff"\n', 'a = "\\e \\U0011ffff"\n'),
    ('# -----BEGIN RSA PRIVATE KEY-----\n# MIIabc\n# -----END RSA PRIVATE KEY-----\na: 1\n', '# ***\n# ***\n# ***\na: 1\n'),
]  # fmt: skip
TOML = [
    ('token = "x" # c\na = "y"\n', 'token = "***" # ***\na = "y"\n'),
    ('a.token.b = 1\n', 'a.token.b = "***"\n'),
    ('[token]\na = 1\n[b]\na = 1\n', '[token]\na = "***"\n[b]\na = 1\n'),
    ('[[a.token.b]]\nc = [1, { d = nan }, []]\n', '[[a.token.b]]\nc = ["***", { d = "***" }, []]\n'),
    ('token = 2024-02-29 07:32:00\n', 'token = "***"\n'),
    ("a = 'token'\n", "a = 'token'\n"),
    ('token = """\n x = 1\n"""\r\na = 1\n', 'token = ***\n ***\n***\r\na = 1\n'),
    ('"t\\u006fken" = 2\n', '"t\\u006fken" = "***"\n'),
    ("# token = 'abc'\n# one\n# two\n", '# ***\n# ***\n# ***\n'),
    ("a = 'token=abc' # password: x y\n", 'a = "token=***" # ***\n'),
    ("a = ['--token', 'abc', 'sk-abcdefgh']\n", 'a = [\'--token\', "***", "***"]\n'),
    ('token = 1 # c d\n# e\n', 'token = "***" # ***\n# ***\n'),
    ('[token] # c d\n# e f\na = 1 # g\n[b] # h\n', '[token] # ***\n# ***\na = "***" # ***\n[b] # h\n'),
    ('["https://u:pw@h"]\n"a.b" = 1\n', '["https://u:***@h"]\n"a.b" = 1\n'),
    ('a = { token = [1, # x\n 2] } # y\nb = 1 # z\n', 'a = { token = ["***", # ***\n "***"] } # ***\nb = 1 # z\n'),
    ('a = 1 # z\n\n\n# token:\n# abc\n', 'a = 1 # ***\n\n\n# ***\n# ***\n'),
    ('a = """\nfirst\ntoken: abc\n"""\nb = 1\n', 'a = ***\n***\n***\n***\nb = 1\n'),
    ('"to\\U0000006ben" = "made-up"\n', '"to\\U0000006ben" = "***"\n'),
    ('["a"."to\\U0000006ben\\e"]\nb = "made-up"\n', '["a"."to\\U0000006ben\\e"]\nb = "***"\n'),
]  # fmt: skip
JSON = [
    ('{"token": "x", "a": "y"}', '{"token": "***", "a": "y"}'),
    ('{"a": {"token" : [1, {"b": null, "c": []}, true, -1.5e3]}, "z": 2}', '{"a": {"token" : ["***", {"b": "***", "c": []}, "***", "***"]}, "z": 2}'),
    ('{"t\\u006fken": "x,\\"]}", "b": "token"}', '{"t\\u006fken": "***", "b": "token"}'),
    ('\ufeff{\r\n  // token: x\r\n  "token": 1, /* "token": 2 */ "a": [1],\r\n}\r\n', '\ufeff{\r\n  // ***\r\n  "token": "***", /* *** */ "a": [1],\r\n}\r\n'),
    ('{"token": 1, "token": 2, "a": {"b": "x", "token": false}, "c": "token"}', '{"token": "***", "token": "***", "a": {"b": "x", "token": "***"}, "c": "token"}'),
    ('[{"token": "x"}, "y", {"a": "z"}]', '[{"token": "***"}, "y", {"a": "z"}]'),
    ('{"token": {"a": {}, "b": {"c": 1}}, "d": 1}', '{"token": {"a": {}, "b": {"c": "***"}}, "d": 1}'),
    ('"token"', '"token"'),
    ('', ''),
    ('// token\n', '// ***\n'),
    ('{\n"tokens": {\n"a": "x"\n},\n"b": 1\n}', '{\n"tokens": {\n"a": "***"\n},\n"b": 1\n}'),
    ('{"token" /* a * b */ : "made-up"}', '{"token" /* *** */ : "***"}'),
]  # fmt: skip
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
TEXT = [
    ("TOKEN=made-up run\nx\n", "TOKEN=*** run\nx\n"),
    ("tokens:\n  - made-up\n  - more\n\nb: fine\n", "tokens:\n  ***\n  ***\n\nb: fine\n"),
    ('SECRETS = [\r\n  "made-up",\r\n]\r\n\r\nfine = 1\r\n', "SECRETS = ***\r\n  ***\r\n***\r\n\r\nfine = 1\r\n"),
    ("# -----BEGIN RSA PRIVATE KEY-----\n# MIIabc\n# -----END RSA PRIVATE KEY-----\nfine\n", "# ***\n# ***\n# ***\nfine\n"),
    ("Never print a token.\n\nRun `make test`.\n", "Never print a token.\n\nRun `make test`.\n"),
]  # fmt: skip


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


ROWS = [(format, *row) for format, rows in (("yaml", YAML), ("toml", TOML), ("json", JSON)) for row in rows]


@pytest.mark.parametrize(("format", "text", "wanted"), ROWS)
def test_secrets_are_masked_and_the_rest_is_shown_as_it_is(format: str, text: str, wanted: str) -> None:
    assert shown(format, text) == wanted
    assert len(BREAK.findall(wanted)) == len(BREAK.findall(text))


@pytest.mark.parametrize(("text", "wanted"), TEXT)
def test_of_any_other_text_what_is_named_or_looks_secret_is_masked(text: str, wanted: str) -> None:
    assert redacted_text(text) == wanted


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
