"""The corpus itself: large enough, readable where it should be, and hard on rewriters."""

import json
from pathlib import Path

FILES = sorted((Path(__file__).parent / "claude").glob("*.json"))
REFUSED = sorted((Path(__file__).parent / "claude" / "refused").glob("*.json"))


def _rewrite(data: bytes) -> bytes:
    """Say what a program writes that reads settings with json and writes them with json."""
    return (json.dumps(json.loads(data.decode("utf-8-sig")), indent=2, ensure_ascii=False) + "\n").encode(
        "utf-8", "surrogatepass"
    )


def _is_blank(data: bytes) -> bool:
    return not data.decode("utf-8-sig").strip()


def test_there_are_at_least_60_settings_files_and_20_that_must_be_refused() -> None:
    assert len(FILES) >= 60
    assert len(REFUSED) >= 20


def test_every_settings_file_is_a_json_object_or_blank() -> None:
    bad = []
    for path in FILES:
        data = path.read_bytes()
        try:
            if not _is_blank(data) and not isinstance(json.loads(data.decode("utf-8-sig")), dict):
                bad.append(path.name)
        except ValueError as error:
            bad.append(f"{path.name}: {error}")
    assert bad == []


def test_a_naive_rewriter_would_change_at_least_half_of_the_files() -> None:
    blank = {path.name for path in FILES if _is_blank(path.read_bytes())}
    changed = [
        path.name for path in FILES if path.name not in blank and _rewrite(path.read_bytes()) != path.read_bytes()
    ]
    assert len(changed) * 2 >= len(FILES)


def test_git_kept_the_special_bytes() -> None:
    folder = FILES[0].parent
    assert b"\r\n" in (folder / "crlf-one-line-arrays.json").read_bytes()
    assert b"\n" not in (folder / "cr-only.json").read_bytes()
    assert (folder / "bom.json").read_bytes().startswith(b"\xef\xbb\xbf{")
    assert not (folder / "no-final-newline.json").read_bytes().endswith(b"\n")
    assert (folder / "empty.json").read_bytes() == b""
    assert b"fran\xe7ais" in (folder / "refused" / "latin-1.json").read_bytes()
