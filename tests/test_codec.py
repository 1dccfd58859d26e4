"""The codec: whatever the types allow comes back as it was, and what they do not allow is refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookctl.errors import HookctlError
from hookctl.ledger import store
from hookctl.model import Claim, Entry, PackRecord, Record


def made(kind: Any, *fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of a named tuple from values of its first fields."""
    return st.tuples(*fields).map(lambda values: kind(*values))


TEXT = st.text(max_size=6)
TEXTS = st.lists(TEXT, max_size=2).map(tuple)
SHA = st.sampled_from(["", "0" * 64, "f" * 64])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=4,
)
KEYS = st.lists(TEXT | st.integers(), min_size=1, max_size=3).map(tuple)
WISHES = made(Claim, JSON, TEXT, st.sampled_from(["", "first"])) | made(
    Claim, st.integers().map(str), TEXT, st.sampled_from(["max", "min"])
)
OWNERS = st.dictionaries(TEXT, WISHES, min_size=1, max_size=2)
BEFORE = st.none() | TEXT
MODES = st.sampled_from(["owned", "adopted"])
FIELDS = st.fixed_dictionaries({"command": TEXT}, optional={"timeout": st.integers()})
ENTRIES = st.one_of(
    made(Entry, KEYS, st.just("leaf"), MODES, BEFORE, JSON, OWNERS),
    made(Entry, KEYS, st.just("element"), MODES, BEFORE, FIELDS, OWNERS, TEXT),
    made(Entry, KEYS, st.just("container")),
)
PACKS = made(PackRecord, TEXT, st.dictionaries(TEXT, JSON, max_size=2), TEXT, TEXTS, TEXTS, TEXT, SHA)
RECORDS = made(
    Record, TEXT, TEXT, TEXT, st.booleans(), TEXTS,
    st.dictionaries(TEXT, PACKS, max_size=2), SHA, SHA, st.lists(ENTRIES, max_size=3).map(tuple), TEXT, TEXT,
    st.lists(TEXTS, max_size=2).map(tuple),
)  # fmt: skip
MORE = settings(deadline=None, max_examples=200)


@MORE
@given(st.dictionaries(TEXT, RECORDS, max_size=2))
def test_every_ledger_comes_back_as_it_was(records: dict[str, Record]) -> None:
    assert store.parse(store.dump(records), "/l") == records


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value, the whole one apart."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in ((*path, key), *places(value[key], (*path, key)))]


@MORE
@given(RECORDS, JSON, st.data())
def test_one_change_of_the_json_is_read_and_kept_or_refused_in_words(record: Record, other: Any, data: Any) -> None:
    page = json.loads(store.dump({"/x": record}))
    *path, last = data.draw(st.sampled_from(places(page)))
    holder = page
    for key in path:
        holder = holder[key]
    if data.draw(st.booleans()):
        del holder[last]
    else:
        holder[last] = other
    try:
        found = store.parse(json.dumps(page).encode(), "/l")
    except HookctlError as error:
        assert error.code in ("ledger_unreadable", "ledger_newer") and error.message
    else:
        assert store.parse(store.dump(found), "/l") == found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"host": 1}, "host is not of type str"), ({"created_file": 1}, "created_file is not of type bool"),
        ({"created_dirs": "/a"}, "created_dirs is not of type list"),
        ({"created_dirs": [1]}, "created_dirs is not of type str"),
        ({"packs": []}, "packs is not of type dict"), ({"packs": {"p": {"version": "1"}}}, "settings is missing"),
        ({"packs": {"p": {"version": "1", "settings": {}, "files": [1]}}}, "files is not of type str"),
        ({"later": 1, "also": 2}, "unknown: also, later"), ({"gaps": [["a", 1]]}, "a gap is not a path of keys"),
        ({"entries": [{"path": ["a", True], "kind": "leaf"}]}, "path is not of type str or int"),
        ({"entries": [{"path": ["a"], "kind": "leaf", "before": 1}]}, "before is not of type str"),
        ({"entries": [{"path": ["a"], "kind": "weird"}]}, "kind is unknown"),
        ({"entries": [{"path": ["a"], "kind": "leaf"}]}, "an entry has no owner"),
        ({"entries": [{"path": ["a"], "kind": "container", "id": "x"}]}, "a container has more than its path"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(change: dict[str, Any], said: str) -> None:
    page = json.loads(store.dump({"/x": Record("claude", "user", "json")}))
    page["files"]["/x"].update(change)
    with pytest.raises(HookctlError) as caught:
        store.parse(json.dumps(page).encode(), "/l")
    assert caught.value.message == f"hookctl's record cannot be read: {said}"
