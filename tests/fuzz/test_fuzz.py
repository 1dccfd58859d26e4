"""Odd bytes at every door: look-alikes as they are, bent by Hypothesis, and what was once found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from tests.fuzz.doors import BY_DOOR, DOORS, Door, knock
from tests.fuzz.world import World, quick

FINDS = Path(__file__).parent / "finds"
EXAMPLES = int(os.environ.get("HOOKCTL_TEST_FUZZ", "10"))
SPICE = st.sampled_from(
    [b"\0", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"{", b"}", b"[" * 300, b'"', b"\\u0000", b"9" * 40,
     b"-", b"e999", b"null", b"#", b"//", b"/*", b",", b":", b"\'\'\'", b"&a", b"*a", b"..", b"/", b"<<<<<<< a\n",
     b"[[hooks.Stop]]\n"]
)  # fmt: skip
EACH = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)


@pytest.fixture
def world(isolated: Path) -> Iterator[Callable[[Door], World]]:
    def made(door: Door) -> World:
        one = World(isolated)
        one.keep()
        door.prepare(one)
        return one

    with quick():
        yield made


@st.composite
def bent(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """One of the seeds with pieces of it cut, doubled or replaced."""
    data = draw(st.sampled_from(seeds) | st.binary(max_size=40))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        stop = draw(st.integers(start, min(len(data), start + 60)))
        middle = draw(SPICE | st.just(b"") | st.just(data[start:stop] * 2) | st.binary(max_size=4))
        data = data[:start] + middle + data[stop:]
    return data


@EACH
def test_every_seed_is_handled(door: Door, world: Callable[[Door], World]) -> None:
    one = world(door)
    seeds = list(door.seeds())
    assert seeds
    for data in seeds[:: 1 + len(seeds) // 8]:
        knock(door, one, data)


@EACH
def test_bent_bytes_are_handled(door: Door, world: Callable[[Door], World]) -> None:
    one = world(door)
    seeds = sorted(door.seeds(), key=len)[:20]

    @examples(
        max_examples=EXAMPLES, deadline=None, database=None, derandomize="HOOKCTL_TEST_FUZZ" not in os.environ,
        suppress_health_check=[*HealthCheck],
    )  # fmt: skip
    @given(bent(seeds))
    def run(data: bytes) -> None:
        knock(door, one, data)

    run()


def test_what_was_once_found_is_handled(world: Callable[[Door], World]) -> None:
    for path in sorted(FINDS.glob("*/*")):
        door = BY_DOOR[path.parent.name]
        knock(door, world(door), path.read_bytes())
