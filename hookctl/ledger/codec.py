"""Named tuples to JSON and back, by the annotations of their fields.

A named tuple is an object under its field names, so a field's name is a key of hookctl's files on
disk. A field with its default value is left out, and gets it again when it is read.
"""

from __future__ import annotations

import functools
import types
from typing import Any, get_args, get_origin, get_type_hints


def to_json(kind: Any, value: Any) -> Any:
    """A value of this type as JSON data."""
    if _is_object(kind):
        return _object_to_json(kind, value)
    if get_origin(kind) is dict:
        return {key: to_json(get_args(kind)[1], item) for key, item in value.items()}
    if get_origin(kind) is tuple:
        return [to_json(get_args(kind)[0], item) for item in value]
    if _is_optional(kind) and value is not None:
        return to_json(get_args(kind)[0], value)
    return value


def from_json(kind: Any, data: Any, name: str) -> Any:
    """The value of this type; TypeError or KeyError with the field's name if the data is wrong."""
    if kind is Any:
        return data
    if _is_object(kind):
        return _object_from_json(kind, data, name)
    if get_origin(kind) is dict:
        _require(dict, data, name)
        return {key: from_json(get_args(kind)[1], item, name) for key, item in data.items()}
    if get_origin(kind) is tuple:
        _require(list, data, name)
        return tuple(from_json(get_args(kind)[0], item, name) for item in data)
    if _is_optional(kind):
        if data is None:
            return None
        return from_json(get_args(kind)[0], data, name)
    _require(kind, data, name)
    return data


@functools.cache
def _field_types(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _is_object(kind: Any) -> bool:
    return isinstance(kind, type) and hasattr(kind, "_fields")


def _is_optional(kind: Any) -> bool:
    return isinstance(kind, types.UnionType) and get_args(kind)[1:] == (types.NoneType,)


def _object_to_json(kind: Any, value: Any) -> dict[str, Any]:
    json_object = {}
    defaults = kind._field_defaults
    for name, field_kind in _field_types(kind).items():
        field = getattr(value, name)
        if name not in defaults or field != defaults[name]:
            json_object[name] = to_json(field_kind, field)
    return json_object


def _object_from_json(kind: Any, data: Any, name: str) -> Any:
    _require(dict, data, name)
    fields = _field_types(kind)
    unknown = sorted(data.keys() - fields.keys())
    if unknown:
        raise TypeError(f"unknown: {', '.join(unknown)}")
    for field in fields:
        if field not in data and field not in kind._field_defaults:
            raise KeyError(field)
    values = {field: from_json(fields[field], item, field) for field, item in data.items()}
    return kind(**values)


def _require(kind: Any, data: Any, name: str) -> None:
    """Refuse a value of another type; here a bool is not an int."""
    kinds = (kind,)
    if isinstance(kind, types.UnionType):
        kinds = get_args(kind)
    if type(data) not in kinds:
        names = " or ".join(each.__name__ for each in kinds)
        raise TypeError(f"{name} is not of type {names}")
