"""Whatever a file may hold: bytes by chance and texts that are nearly right, and every call on what is read of them."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from hookctl.errors import HookctlError


def nearly(texts: st.SearchStrategy[str], pieces: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    """Any bytes, pieces in a row, and texts of which a part is cut out or replaced by a piece."""

    def cut(text: str) -> st.SearchStrategy[str]:
        parts = st.tuples(st.integers(0, len(text)), st.integers(0, 3), pieces | st.just(""))
        return parts.map(lambda part: text[: part[0]] + part[2] + text[part[0] + part[1] :])

    rows = st.lists(pieces, max_size=14).map("".join)
    return st.binary(max_size=60) | (rows | texts.flatmap(cut)).map(str.encode)


def call_everything(
    document: Any, path: tuple[str | int, ...], source: str, expected: Callable[[HookctlError], bool]
) -> None:
    """Read and edit at a path in every way; what is raised must be expected."""
    for action in (
        lambda: document.value,
        lambda: document.get(path),
        lambda: document.raw(path),
        lambda: document.position(path),
        lambda: document.check_path(path),
        lambda: document.set(path, {"x": [1]}),
        lambda: document.set_raw(path, source),
        lambda: document.append(path, "y"),
        lambda: document.append(path, {"y": [{}]}),
        lambda: document.remove(path),
        lambda: document.require_strict(comments=False, trailing_commas=False),
    ):
        try:
            action()
        except HookctlError as error:
            assert expected(error), error
        except KeyError:
            pass
