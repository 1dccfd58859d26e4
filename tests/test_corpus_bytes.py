"""Install, install again, uninstall over look-alikes of real settings files: nothing of the operator's moves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

CORPUS = Path(__file__).parent / "corpus" / "claude"
GOOD = sorted(path for path in CORPUS.glob("*.json"))
REFUSED = sorted((CORPUS / "refused").glob("*.json"))


def _text(change: Callable[[str], str]) -> Callable[[bytes], bytes]:
    # A lone surrogate is an escape in the file; a decoded one becomes that escape again.
    return lambda data: change(data.decode()).encode("utf-8", "backslashreplace")


def _minified(text: str) -> str:
    if not text.removeprefix("\ufeff").strip():
        return text

    def marked(number: str) -> str:
        return f"\0{number}\0"

    value = json.loads(text.removeprefix("\ufeff"), parse_float=marked, parse_int=marked)
    flat = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return re.sub(r'"\\u0000([^"\\]*)\\u0000"', r"\1", flat)


VARIANTS: dict[str, Callable[[bytes], bytes]] = {
    "as-is": lambda data: data,
    "crlf": _text(lambda text: re.sub(r"\r\n|\r|\n", "\r\n", text)),
    "bom": lambda data: data if data.startswith(b"\xef\xbb\xbf") else b"\xef\xbb\xbf" + data,
    "no-final-newline": lambda data: data.rstrip(b"\r\n"),
    "tabs": _text(lambda text: re.sub(r"(?m)^(?:  )+", lambda m: "\t" * (len(m[0]) // 2), text)),
    "four-spaces": _text(lambda text: re.sub(r"(?m)^(?:  )+", lambda m: m[0] * 2, text)),
    "minified": _text(_minified),
    "non-ascii": _text(lambda text: re.sub(r"(?<=[^\\])echo", "écho 已完成 🎉", text)),
}


def cases() -> Iterator[object]:
    for path in GOOD:
        seen = set()
        for name, change in VARIANTS.items():
            data = change(path.read_bytes())
            if data not in seen:
                seen.add(data)
                yield pytest.param(data, id=f"{path.stem}-{name}")


def lines(data: bytes) -> list[bytes]:
    return re.split(rb"\r\n|\r|\n", data)


def lost_lines(before: bytes, after: bytes) -> list[bytes]:
    """The operator's lines that are not there any more, in order; a comma added at the end is forgiven."""
    new, lost = lines(after), []
    for line in lines(before):
        at = next((i for i, other in enumerate(new) if line in (other, other.removesuffix(b","))), None)
        if at is None:
            lost.append(line)
        else:
            new = new[at + 1 :]
    return lost


def grown(line: bytes, after: bytes) -> bool:
    """Whether a line is there with nothing but something inserted, as in a container on one line."""
    return any(is_within(line, other) for other in lines(after))


def is_within(old: bytes, new: bytes) -> bool:
    rest = iter(new)
    return all(byte in rest for byte in old)


def only_inserted(before: bytes, after: bytes) -> bool:
    """Whether the old text is the new one with whole stretches left out; blanks in empty containers may move."""
    squeeze = re.compile(rb"(?<=[{\[])\s+(?=[}\]])")
    return is_within(squeeze.sub(b"", before), squeeze.sub(b"", after))


def test_the_corpus_is_large_enough() -> None:
    assert len(GOOD) + len(REFUSED) >= 60


@pytest.mark.parametrize("data", list(cases()))
def test_install_keeps_every_line_and_uninstall_gives_the_bytes_back(
    data: bytes, settings: Path, hookctl: Hookctl
) -> None:
    put(settings, data)
    assert hookctl("install", "--host", "claude").code == 0
    installed = settings.read_bytes()
    value = json.loads(installed.decode("utf-8-sig"))
    assert "hookctl=guard/stop" in json.dumps(value["hooks"]["Stop"][-1])
    assert only_inserted(data, installed)
    lost = [line for line in lost_lines(data, installed) if not re.search(rb"\{\s*\}|\[\s*\]|^\s*$", line)]
    assert len(lost) <= 2 and all(grown(line, installed) for line in lost), lost
    ledger = (settings.parents[2] / "state" / "ledger.json").read_bytes()
    about = settings.stat()
    again = hookctl("install", "--host", "claude")
    assert again.code == 0 and again.out.endswith("nothing to do\n")
    assert (settings.stat().st_mtime_ns, settings.stat().st_ino) == (about.st_mtime_ns, about.st_ino)
    assert (settings.parents[2] / "state" / "ledger.json").read_bytes() == ledger
    assert hookctl("uninstall").code == 0
    assert settings.read_bytes() == data


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_a_bad_file_is_refused_with_its_place_and_left_alone(
    path: Path, isolated: Path, settings: Path, hookctl: Hookctl
) -> None:
    put(settings, path.read_bytes())
    done = hookctl("install", "--host", "claude", "--json")
    assert done.code == 4, done.out
    (error,) = done.result["errors"]
    assert error["path"] == str(settings) and error["line"] > 0 and error["column"] > 0 and error["hint"]
    assert settings.read_bytes() == path.read_bytes()
    assert not (isolated / "state").exists() and not (isolated / "data").exists()


def test_an_absent_file_is_absent_again(isolated: Path, settings: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    assert settings.exists()
    assert hookctl("uninstall").code == 0
    assert not settings.parent.exists() and not (isolated / "data").exists()
