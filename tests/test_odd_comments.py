"""Comments that JSON with comments has, and that Gemini CLI and Qwen Code cannot take out: neither starts with one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")

ODD = {
    "/* \u3000 */{}": "U+3000 in", "/* \u00a0 */{}": "U+00A0 in", "// \f\n{}": "U+000C in",
    "/* \v */{}": "U+000B in", "// \u2028\n{}": "U+2028 in", "{ // mine\r}": "carriage return alone",
}  # fmt: skip
PLAIN = [
    "/* a *//* b */{} // c",
    "{} // c\r\n",
    "{} // c\r \t\n",
    "{}// c\r",
    "// one\r// two\n{}",
    "{ // mine\r\n}",
    "/* \u0085 \u180e \u00e9 */{}",
    '{"a": "\u3000 // \u00a0"}',
    "{ /* mine\r */\r}",
]


@pytest.mark.parametrize("host", ["gemini", "qwen"])
@pytest.mark.parametrize(("text", "kind"), ODD.items())
def test_such_a_file_is_refused_and_an_error(isolated: Path, hookctl: Hookctl, host: str, text: str, kind: str) -> None:
    path = put(isolated / "home" / f".{host}" / "settings.json", text.encode())
    for verb in ("install", "plan"):
        done = hookctl(verb, "--host", host)
        assert (done.code, path.read_bytes()) == (4, text.encode())
        assert kind in done.err and "which this host does not read" in done.err
    told = json.loads(hookctl("doctor", "--host", host, "--json").out)["data"]["findings"]
    assert [finding["code"] for finding in told if finding["level"] == "error"] == ["strict_host"]
    assert hookctl("uninstall", "--host", host).code == 0
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize("host", ["gemini", "qwen"])
@pytest.mark.parametrize("text", PLAIN)
def test_other_comments_are_taken(isolated: Path, hookctl: Hookctl, host: str, text: str) -> None:
    path = put(isolated / "home" / f".{host}" / "settings.json", text.encode())
    assert hookctl("install", "--host", host).code == 0
    assert "strict_host" not in hookctl("doctor", "--host", host, "--json").out
    assert hookctl("uninstall", "--host", host).code == 0
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize("host", ["gemini", "qwen"])
def test_what_an_edit_would_make_unreadable_is_refused(isolated: Path, hookctl: Hookctl, host: str) -> None:
    """The client reads this, and would take a line of ours for a part of the comment."""
    text = b"{ // mine\r\r\n}"
    path = put(isolated / "home" / f".{host}" / "settings.json", text)
    assert "strict_host" not in hookctl("doctor", "--host", host, "--json").out
    assert (hookctl("install", "--host", host).code, path.read_bytes()) == (4, text)


def test_another_host_reads_them(isolated: Path, hookctl: Hookctl) -> None:
    put(isolated / "home/.factory/settings.json", "/* \u3000 */{}")
    assert hookctl("install", "--host", "droid").code == 0
