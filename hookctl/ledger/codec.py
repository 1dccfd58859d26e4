"""Named tuples to JSON and back, by the annotations of their fields.

A named tuple is an object under its field names, so a field's name is a key of hookctl's files on
disk. A field with its default value is left out, and gets it again when it is read. How a type is
written and read is worked out once; values that are JSON as they stand are only looked at.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, get_args, get_origin, get_type_hints

_PLAIN = (str, int, bool, dict)
_NO_DEFAULT = object()


def to_json(kind: Any, value: Any) -> Any:
    """A value of this type as JSON data."""
    writer = _writer(kind)
    return writer(value) if writer else value


def from_json(kind: Any, data: Any, name: str) -> Any:
    """The value of this type; TypeError or KeyError with the field's name if the data is wrong."""
    return _reader(kind)(data, name)


@functools.cache
def _plain_types(kind: Any) -> tuple[type, ...] | None:
    """The types of values that are JSON as they stand, none for all; None for other kinds."""
    if kind is Any:
        return ()
    kinds = get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if all(each in (*_PLAIN, types.NoneType) for each in kinds):
        return kinds
    return None


@functools.cache
def _writer(kind: Any) -> Callable[[Any], Any] | None:
    """How values of a type are written; None where they are JSON as they stand."""
    if _plain_types(kind) is not None:
        return None
    if hasattr(kind, "_fields"):
        fields = []
        for name, field_kind in get_type_hints(kind).items():
            default = kind._field_defaults.get(name, _NO_DEFAULT)
            fields.append((name, default, _writer(field_kind)))
        return functools.partial(_write_object, fields)
    inner = _writer(get_args(kind)[0 if get_origin(kind) is not dict else 1])
    if get_origin(kind) is dict:
        return functools.partial(_write_values, inner) if inner else None
    if get_origin(kind) is tuple:
        return functools.partial(_write_items, inner)
    return lambda value: None if value is None else inner and inner(value)


def _write_object(fields: list[tuple[str, Any, Any]], value: Any) -> dict[str, Any]:
    json_object = {}
    for name, default, writer in fields:
        field = getattr(value, name)
        if default is _NO_DEFAULT or field != default:
            json_object[name] = writer(field) if writer else field
    return json_object


def _write_values(writer: Callable[[Any], Any], value: dict[str, Any]) -> dict[str, Any]:
    return {key: writer(item) for key, item in value.items()}


def _write_items(writer: Callable[[Any], Any] | None, value: tuple[Any, ...]) -> list[Any]:
    return [writer(item) for item in value] if writer else list(value)


@functools.cache
def _reader(kind: Any) -> Callable[[Any, str], Any]:
    """How values of a type are read from data, with the name that a fault is told by."""
    plain = _plain_types(kind)
    if plain is not None:
        return functools.partial(_read_plain, plain)
    if hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        return functools.partial(
            _read_object,
            kind,
            {name: _plain_types(hint) for name, hint in hints.items()},
            {name: _reader(hint) for name, hint in hints.items()},
        )
    if get_origin(kind) is dict:
        return functools.partial(_read_values, get_args(kind)[1])
    if get_origin(kind) is tuple:
        return functools.partial(_read_items, get_args(kind)[0])
    inner = _reader(get_args(kind)[0])
    return lambda data, name: None if data is None else inner(data, name)


def _read_plain(kinds: tuple[type, ...], data: Any, name: str) -> Any:
    """The data, if it is of these types; here a bool is not an int."""
    if kinds and type(data) not in kinds:
        names = [each.__name__ for each in kinds if each is not types.NoneType]
        raise TypeError(f"{name} is not of type {' or '.join(names)}")
    return data


def _read_object(
    kind: Any,
    plain: dict[str, tuple[type, ...] | None],
    readers: dict[str, Callable[[Any, str], Any]],
    data: Any,
    name: str,
) -> Any:
    _read_plain((dict,), data, name)
    unknown = sorted(data.keys() - readers.keys())
    if unknown:
        raise TypeError(f"unknown: {', '.join(unknown)}")
    for field in readers:
        if field not in data and field not in kind._field_defaults:
            raise KeyError(field)
    values = {}
    for field, item in data.items():
        kinds = plain[field]
        is_read = kinds is not None and type(item) in kinds
        values[field] = item if is_read else readers[field](item, field)
    return kind(**values)


def _read_values(kind: Any, data: Any, name: str) -> dict[str, Any]:
    _read_plain((dict,), data, name)
    kinds, reader = _plain_types(kind), _reader(kind)
    if kinds == ():
        return data
    return {
        key: item if kinds and type(item) in kinds else reader(item, name)
        for key, item in data.items()
    }


def _read_items(kind: Any, data: Any, name: str) -> tuple[Any, ...]:
    _read_plain((list,), data, name)
    kinds, reader = _plain_types(kind), _reader(kind)
    return tuple(item if kinds and type(item) in kinds else reader(item, name) for item in data)
