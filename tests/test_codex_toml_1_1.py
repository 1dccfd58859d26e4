"""Codex reads TOML 1.1, of which hookctl reads inline tables on many lines; approvals that stay are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookctl.documents.toml import TomlDocument
from hookctl.errors import HookctlError
from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")

NEW = [
    'a = {\n  b = 1,  # mine\n  c = 2,\n}\n',
    'a = { b = [\n 1, 2,\n], c = { d = "}", e = \'\'\'\n,}\'\'\',\n }\n,}\r\n',
    '\ufeffa = {b = """\n{,}""",\r\n # }\r\n}\n',
    "a = [{b = 1,}, {c = 2\n}, ]\n",
]  # fmt: skip


@pytest.fixture
def config(isolated: Path) -> Path:
    return isolated / "home" / ".codex" / "config.toml"


@pytest.mark.parametrize("text", NEW)
def test_codex_is_installed_beside_it_and_the_bytes_come_back(config: Path, hookctl: Hookctl, text: str) -> None:
    before = put(config, text.encode()).read_bytes()
    assert hookctl("install", "--host", "codex").code == 0
    told = json.loads(hookctl("doctor", "--host", "codex", "--json").out)["data"]["findings"]
    assert "unparsable" not in {finding["code"] for finding in told}
    assert "nobody has approved it" in hookctl("status").out
    assert config.read_bytes() == before
    assert hookctl("uninstall", "--host", "codex").code == 0
    assert config.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a = {\n}\nb = = 1\n", 3, 5),
        ("a = {\n\n b = 1, c == 2 }\n", 3, 12),
        ("a = {,}\n", 1, 6),
        ("a = { ,}\n", 1, 7),
        ('a = "\\e[0m"\n', 1, 8),
        ("a = 07:32\n", 1, 6),
        ("a = {b = 1,,}\n", 1, 12),
        ('a = "\\x4"\n', 1, 8),
        ("a = {\n b = 1\n c = 2\n}\n", 2, 7),
    ],
)
def test_what_is_neither_is_refused_at_its_place(text: str, line: int, column: int) -> None:
    with pytest.raises(HookctlError) as caught:
        TomlDocument.parse(text.encode())
    assert (caught.value.code, caught.value.line, caught.value.column) == ("unparsable", line, column)
