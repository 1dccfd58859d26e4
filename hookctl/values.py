"""NamedTuple as in typing, but without compiling code for each class.

hookctl has about eighty such classes. With typing, they took a tenth of a call with nothing to
do.
"""

from __future__ import annotations

import sys
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 14):  # annotations are made late there
    from typing import NamedTuple as NamedTuple
else:

    class _Maker(type):
        """The metaclass: the annotations in a class body are the fields, its values defaults."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            """The class, with a property for each field; without any it has those of its base."""
            if "__annotations__" not in body:
                return super().__new__(cls, name, bases, {**body, "__slots__": ()})
            fields = tuple(body["__annotations__"])
            defaults = {field: body[field] for field in fields if field in body}
            for index, field in enumerate(fields):
                body[field] = property(itemgetter(index))
            body |= {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            return super().__new__(cls, name, bases, {**body, "__slots__": ()})

    class NamedTuple(tuple, metaclass=_Maker):
        """A tuple with named fields, which can be given by name."""

        def __new__(cls, *given: Any, **named: Any) -> NamedTuple:
            """The tuple of these values; a field that is not given has its default."""
            if named or len(given) != len(cls._fields):
                given = cls._complete(given, named)
            return tuple.__new__(cls, given)

        @classmethod
        def _complete(cls, given: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
            """The values of all fields in their order."""
            later = cls._fields[len(given) :]
            values = {**cls._field_defaults, **named}
            wrong = set(later) - values.keys() | named.keys() - set(later)
            if wrong or len(given) > len(cls._fields):
                raise TypeError(f"{cls.__name__}: {len(given)} values, and {sorted(wrong)}")
            return [*given, *map(values.__getitem__, later)]

        def _asdict(self) -> dict[str, Any]:
            """The values by their names."""
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, **changed: Any) -> NamedTuple:
            """A copy with other values in these fields."""
            return type(self)(**{**self._asdict(), **changed})

        def __getnewargs__(self) -> tuple[Any, ...]:
            """The arguments for a copy, or for a pickle."""
            return tuple(self)

        def __repr__(self) -> str:
            """The expression that makes the value."""
            pairs = [f"{field}={value!r}" for field, value in self._asdict().items()]
            return f"{type(self).__name__}({', '.join(pairs)})"
