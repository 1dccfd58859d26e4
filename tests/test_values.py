"""hookctl's NamedTuple beside the one of typing, and all that hookctl makes with it."""

from __future__ import annotations

import importlib
import inspect
import pickle
import typing
from typing import Any

import pytest

from hookctl import values
from tests.test_architecture import modules


class Plain(typing.NamedTuple):
    """A point."""

    x: int
    y: int = 2

    @property
    def sum(self) -> int:
        return self.x + self.y


class BelowPlain(Plain):
    """A point of another kind."""

    @property
    def twice(self) -> int:
        return 2 * self.y


class Ours(values.NamedTuple):
    """A point."""

    x: int
    y: int = 2

    @property
    def sum(self) -> int:
        return self.x + self.y


class BelowOurs(Ours):
    """A point of another kind."""

    @property
    def twice(self) -> int:
        return 2 * self.y


def facts(kind: Any) -> list[Any]:
    point = kind(1)
    for given, named in [((), {}), ((1, 2, 3), {}), ((1,), {"x": 1}), ((1,), {"z": 1})]:
        with pytest.raises(TypeError):
            kind(*given, **named)
    with pytest.raises(AttributeError):
        point.x = 3
    return [
        kind.__doc__, kind.__module__, kind._fields, kind._field_defaults, kind.__match_args__,
        typing.get_type_hints(kind), point == (1, 2), kind(4, 3),
        point._replace(x=5), point.sum, kind(y=3, x=4)._asdict(), hash(point), hasattr(point, "__dict__"),
        repr(point).removeprefix(kind.__name__), pickle.loads(pickle.dumps(point)) == point,
    ]  # fmt: skip


def test_a_value_is_as_typing_makes_it() -> None:
    assert facts(Ours) == facts(Plain)
    assert (BelowOurs(3).twice, BelowOurs(y=1, x=5)) == (BelowPlain(3).twice, BelowPlain(y=1, x=5)) == (4, (5, 1))


@pytest.mark.parametrize("name", sorted(name for name in modules() if name != "__main__"))
def test_every_field_of_a_value_has_a_type(name: str) -> None:
    module = importlib.import_module(f"hookctl.{name}".removesuffix(".__init__"))
    for kind in vars(module).values():
        if inspect.isclass(kind) and kind.__bases__ == (values.NamedTuple,):
            assert tuple(kind.__annotations__) == kind._fields
