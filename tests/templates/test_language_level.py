"""What is copied out to users runs on Python 3.8: nothing of the language or the library is newer."""

import ast
from pathlib import Path

import pytest
import vermin

from .lab import TEMPLATES

OLDEST = (3, 8)
FILES = sorted(TEMPLATES.rglob("*.py"))


def config() -> vermin.Config:
    config = vermin.Config()
    config.set_eval_annotations(True)  # as Python itself does before it runs a definition
    return config


def methods() -> set[str]:
    """The methods of built-in types that came later: of a value whose type it cannot see, vermin does not know them."""
    later = [name.split(".") for name, (_, since) in vermin.MOD_MEM_REQS(config()).items() if since and since > OLDEST]
    types = ("str", "bytes", "bytearray", "int", "float", "dict", "list", "set", "tuple")
    return {name[1] for name in later if len(name) == 2 and name[0] in types}


def too_new(source: str) -> list[str]:
    """What of a program Python 3.8 does not have."""
    ast.parse(source, feature_version=OLDEST)
    _, since = vermin.detect(source, config())
    later = methods() & {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}
    return [f"Python {since}"] * (since > OLDEST) + sorted(later)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_what_is_copied_out_needs_nothing_newer_than_python_38(path: Path) -> None:
    assert too_new(path.read_text("utf-8")) == []
