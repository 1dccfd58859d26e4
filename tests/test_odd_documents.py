"""No odd document that can be parsed makes a command end unexpectedly (3), on any host."""

from __future__ import annotations

import json
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl import hosts
from hookctl.documents.toml import inline, key_text
from tests.conftest import Hookctl, put
from tests.hostfiles import KINDS, Kind

pytestmark = pytest.mark.usefixtures("fixed_python")

EXAMPLES = int(os.environ.get("HOOKCTL_TEST_ODD") or 5)
COMMANDS = [
    ("doctor",),
    ("plan",),
    ("install",),
    ("install", "--set", "max_stop_blocks=3"),
    ("doctor",),
    ("doctor", "--fix"),
    ("uninstall",),
]
OTHERS = [
    "x", "", "é", "a.b", "a b", "__proto__", "matcher", "hooks", "description", "$schema", "PreToolUse", "<<", "=",
    "\u2028",
]  # fmt: skip
TABLES = ("registration", "handlers", "known_keys", "switches", "cap", "environment", "guarding", "trust", "events")
SCALARS = st.sampled_from(
    [None, True, False, 0, 1, -1, 10, 1.5, 10**25, "", "x", "0", "10", "*", "command", "http", "prompt", "é\u2028\x1b",
     ": hookctl=guard/stop; x", ": hookctl=other/stop; x", "sh -c 'x", "a.b", [], {}]
)  # fmt: skip


def words_in(value: Any) -> list[str]:
    """Every key and text of a host's file that is a single word."""
    words = []
    if isinstance(value, dict):
        for key, inner in value.items():
            words += [key, *words_in(inner)]
    elif isinstance(value, list):
        for inner in value:
            words += words_in(inner)
    elif isinstance(value, str) and value.isidentifier():
        words.append(value)
    return words


@cache
def names(host: str) -> list[str]:
    """What a key may be called where this host looks: in a settings file and in a hook."""
    found = {*OTHERS, "hooks", "type", "command", "timeout", "env"}
    for name in TABLES:
        found.update(words_in(hosts.load(host).data.get(name, {})))
    return sorted(found)


def maps(kind: Kind, inner: st.SearchStrategy[Any], size: int = 2) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from([*names(kind.host), *kind.stop]), inner, max_size=size)


def odd_values(kind: Kind) -> st.SearchStrategy[Any]:
    return st.recursive(
        SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), maps(kind, inner, 4)), max_leaves=8
    )


@st.composite
def documents(draw: st.DrawFn, kind: Kind) -> dict[str, Any]:
    """A document with something odd at the root, on the way to the hooks, or in a hook."""
    odd = odd_values(kind)
    path = list(kind.stop[:-1] if kind.event else kind.stop)
    handler = {"type": "command", "command": "x", **draw(maps(kind, odd))}
    handler |= {kind.event: kind.stop[-1]} if kind.event else {}
    groups = [handler if kind.flat else {"hooks": [handler, *draw(st.lists(odd, max_size=1))]}]
    value: Any = draw(st.sampled_from([groups, [*groups, draw(odd)], draw(odd)]))
    for key in reversed(path[draw(st.integers(0, len(path) - 1)) :]):
        value = {**draw(maps(kind, odd)), key: value}
    return {**draw(maps(kind, odd, 3)), **value}


def without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_null(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_null(inner) for inner in value if inner is not None]
    return value


def with_odd_keys(value: Any) -> Any:
    """YAML's keys may be of any type."""
    if isinstance(value, dict):
        changed = {"": None, "x": True, "a.b": 1, "=": 0.5}
        return {changed.get(key, key): with_odd_keys(inner) for key, inner in value.items()}
    return [with_odd_keys(inner) for inner in value] if isinstance(value, list) else value


def text_of(kind: Kind, value: dict[str, Any]) -> str:
    """The document in the format of the kind."""
    if kind.format == "toml":
        return "".join(f"{key_text(key)} = {inline(inner)}\n" for key, inner in without_null(value).items())
    if kind.format == "yaml":
        return yaml.safe_dump(with_odd_keys(value), allow_unicode=True)
    return json.dumps(value, indent=2)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.format != "plugin"], ids=lambda kind: kind.name)
def test_no_odd_document_ends_a_command_unexpectedly(isolated: Path, hookctl: Hookctl, kind: Kind) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(documents(kind))
    def check(value: dict[str, Any]) -> None:
        for name in ("home", "state", "data"):
            shutil.rmtree(isolated / name, ignore_errors=True)
        path = kind.path(isolated, "user")
        put(path, text_of(kind, value))
        for command in COMMANDS:
            done = hookctl(command[0], "--host", kind.host, *command[1:])
            assert done.code in (0, 1, 4), (command, done, path.read_text() if path.exists() else None)

    check()
