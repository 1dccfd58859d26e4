"""NamedTuple as typing has it, without typing's check of each annotation.

hookctl's values are about eighty classes. To make them took a tenth of a call that finds nothing to
do, and two thirds of that went into the checks.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 14):  # annotations are made late there
    from typing import NamedTuple as NamedTuple
else:

    class _Maker(type):
        """The metaclass: a class below NamedTuple becomes a named tuple with its methods."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            """The named tuple; the values in the class body are the defaults of its fields."""
            fields = body.pop("__annotations__", {})
            defaults = [body.pop(field) for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body.pop("__module__"))
            made.__annotations__ = fields
            for key, value in body.items():
                setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
