"""hookctl's own files as JSON: named tuples to data and back, and how a broken file is refused.

A named tuple is an object under its field names, so a field's name is a key of hookctl's files on
disk. A field with its default value is left out, and gets it again when it is read.
"""

import contextlib
import functools
import json
import re
import types
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin, get_type_hints

from hookctl.documents import is_too_deep
from hookctl.errors import HookctlError
from hookctl.model import Entry, Record

VERSION = 3
_OLDEST = 2  # of 0.2.0
NEEDS = "0.3.0"  # the first hookctl that can read what this one writes
MOVE_AWAY = (
    "Move it away; `hookctl install` then takes back the hooks that it finds by their names."
)
ESCAPED = "backslashreplace"  # JSON's own escapes, for a path that is not UTF-8
_MERGE_RULES = ("", "max", "min", "first")
_WRONG_TYPE = r"object|indices|argument|must be|invalid literal|conversion"

# The fields with paths, and those whose keys are paths.
_PATHS = {"created_dirs", "file", "folder", "folders", "known_as", "made"}
_PATHS |= {"packages", "path", "project", "source", "unswept"}
_BY_PATH = {"disabled", "files", "records"}
Change = Callable[[str], str]  # of a path, from or to its form on disk


def to_json(value: Any, change: Change = str, name: str = "") -> Any:
    """A value of hookctl's types as JSON data, with its paths changed."""
    if isinstance(value, str):
        return change(value) if value and name in _PATHS else value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        defaults = type(value)._field_defaults
        fields = dict(zip(value._fields, value, strict=True))
        named = [each for each in fields if each not in defaults or fields[each] != defaults[each]]
        json_object = {each: to_json(fields[each], change, each) for each in named}
        for claim in json_object.get("owners", {}).values() if isinstance(value, Entry) else ():
            if json.dumps(claim["value"]) == json.dumps(value.written):
                del claim["value"]  # as most are; a line stays short, and merges
        return json_object
    if isinstance(value, tuple):  # the path of an entry is one of keys
        return [to_json(item, change, name * (name != "path")) for item in value]
    if isinstance(value, dict):
        items = {key: to_json(item, change) for key, item in value.items()}
        return {change(key): item for key, item in items.items()} if name in _BY_PATH else items
    return value


def from_json(kind: Any, data: Any, name: str, change: Change = str) -> Any:
    """The value of this type, with its paths changed.

    TypeError, mostly with the field's name, if the data is wrong.
    """
    if kind is Any:
        return data
    kinds = get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if type(data) in kinds:  # here a bool is not an int
        return change(data) if type(data) is str and data and name in _PATHS else data
    kind, origin = kinds[0], get_origin(kinds[0])  # of X | None: X
    if hasattr(kind, "_fields"):
        return _read_object(kind, from_json(dict, data, name), change)
    if origin is dict:
        inner, items = get_args(kind)[1], from_json(dict, data, name)
        items = {key: from_json(inner, item, name, change) for key, item in items.items()}
        return {change(key): item for key, item in items.items()} if name in _BY_PATH else items
    if origin is tuple:
        if isinstance(data, dict):  # 0.2.0 had a digest with each name
            data = list(data)
        inner, items = get_args(kind)[0], from_json(list, data, name)
        change = str if name == "path" else change  # an entry's is of keys, and no file's
        return tuple(from_json(inner, item, name, change) for item in items)
    names = [each.__name__ for each in kinds if each is not types.NoneType]
    raise TypeError(f"{name} is not of type {' or '.join(names)}")


_field_types = functools.cache(get_type_hints)


def _read_object(kind: Any, data: dict[str, Any], change: Change) -> Any:
    field_types = _field_types(kind)
    if kind is Record and "disabled" in data:  # 0.2.0 had these entries apart
        data = {**data, "entries": [*data.get("entries", ()), *data["disabled"]]}
        del data["disabled"]
    if kind is Entry and "owners" in data:
        usual, owners = {"value": data.get("written")}, from_json(dict, data["owners"], "owners")
        owners = {name: usual | from_json(dict, owners[name], name) for name in owners}
        for claim in owners.values():
            claim.pop("version", None)  # 0.2.0 had that of the pack
        data = {**data, "owners": owners}
    unknown = sorted(data.keys() - field_types.keys())
    if unknown:
        raise TypeError(f"unknown: {', '.join(unknown)}")
    values = {each: from_json(field_types[each], data[each], each, change) for each in data}
    value = kind(**values)
    for entry in value.entries if kind is Record else ():
        _check_entry(entry)
    if kind is Record and not all(isinstance(key, str) for path in value.gaps for key in path):
        raise TypeError("a gap is not a path of keys")
    return value


def dump_object(key: str, value: Any, change: Change = str) -> bytes:
    """The bytes of a file of hookctl's own, with its version under `key` and changed paths."""
    json_object = {key: VERSION, "needs": NEEDS, **to_json(value, change)}
    text = json.dumps(json_object, indent=1, ensure_ascii=False) + "\n"
    return text.encode("utf-8", ESCAPED)


@contextlib.contextmanager
def refusals(title: str, path: str, hint: str) -> Iterator[None]:
    """Turn every fault of a file of hookctl's own into a `ledger_unreadable` in plain words."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise unreadable(title, error, path, hint) from None


def parse_object(data: bytes, key: str, path: str) -> dict[str, Any]:
    """The values of a file of hookctl's own; its version stands under `key`."""
    json_object = json.loads(data, parse_constant=_refuse_constant)
    if is_too_deep(json_object):
        raise RecursionError
    version = json_object.pop(key)
    if type(version) is not int or version < 1:
        raise TypeError(f"{key} is not a number")
    if version > VERSION:
        needs, least = json_object.get("needs"), "a later hookctl"
        if isinstance(needs, str) and re.fullmatch(r"[0-9]+(\.[0-9]+){1,3}", needs):
            least = f"hookctl {needs} or later"
        message, hint = f"{least} is needed to read this record", f"Upgrade to {least}."
        raise HookctlError("ledger_newer", message, path=path, hint=hint)
    if version < _OLDEST:
        message = "a hookctl before 0.2.0 wrote this record, and no such version was released"
        raise HookctlError("ledger_unreadable", message, path=path, hint=MOVE_AWAY)
    from_json(str, json_object.pop("needs"), "needs")
    return json_object


def unreadable(title: str, error: Exception, path: str, hint: str) -> HookctlError:
    """The error of a file of hookctl's own, with the position where it is known."""
    line, column, why = 0, 0, str(error)
    if isinstance(error, json.JSONDecodeError):
        line, column, why = error.lineno, error.colno, "not valid JSON"
    elif type(error) not in (ValueError, TypeError) or re.search(_WRONG_TYPE, why):
        why = "hookctl does not write it like this"  # for Python's words
    message = f"{title} cannot be read: {why}"
    return HookctlError(
        "ledger_unreadable", message, path=path, line=line, column=column, hint=hint
    )


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")


def _check_entry(entry: Entry) -> None:
    """Refuse an entry of the right types that hookctl still cannot have written."""
    if not entry.path:
        raise TypeError("an entry's path is empty")
    if entry.kind not in ("leaf", "element", "container"):
        raise ValueError("kind is unknown")
    if entry.kind == "container":
        if entry != Entry(entry.path, entry.kind, before=entry.before):
            raise ValueError("a container has more than its path")
        return
    if entry.kind == "element":
        from_json(str, from_json(dict, entry.written, "written")["command"], "command")
    if not entry.owners:
        raise ValueError("an entry has no owner")
    for claim in entry.owners.values():
        if claim.merge not in _MERGE_RULES:
            raise ValueError("merge is unknown")
        if claim.merge in ("max", "min"):
            int(claim.value)
