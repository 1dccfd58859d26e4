"""All printing: text for people, one JSON envelope for machines, secrets masked."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

from hookctl.errors import FAILED
from hookctl.masking import by_look, plain, veiled
from hookctl.model import INTERRUPTED, Line, Message, Result
from hookctl.output.lines import render, width, wrap

ENVELOPE = 1
_VERBATIM = ("render", "completion")  # their result is a file, which is of no use when masked


# What was said while the command ran; the envelope has it too.
_said: list[Message] = []


def show(command: str, result: Result, *, as_json: bool) -> None:
    """Print a result: messages and errors on stderr, the text or the envelope on stdout."""
    texts = [one.text if isinstance(one, Message) else one for one in result.messages]
    for text in dict.fromkeys(texts):  # what holds for several hosts is said once
        _print(text)
    result = result._replace(messages=(*_said, *result.messages))
    _said.clear()
    if as_json:
        _write(sys.stdout, json.dumps(envelope(command, result), indent=1) + "\n")
        return
    if result.text:
        is_verbatim = command in _VERBATIM
        lines = [line if is_verbatim else render(line, sys.stdout) for line in result.text]
        _write(sys.stdout, "".join([f"{line}\n" for line in lines]))
    for error in result.errors:
        _print(error_text(error))


def say(message: str | Message) -> None:
    """One message for the person at the terminal, on stderr, before the result is there."""
    if isinstance(message, Message):
        _said.append(message)
        message = message.text
    _print(message)


def _print(text: str) -> None:
    columns = width(sys.stderr)
    first, *others = by_look(text).split("\n")
    lines = [wrap(plain(first), columns, 2, start="hookctl: ")]
    for other in others:  # set in, so that no text from elsewhere looks like a message of its own
        line = plain(other.removeprefix("  "))
        is_prose = line.startswith("fix: ")  # the rest is what people look at whole, or copy
        lines.append(wrap(line, columns if is_prose else 0, 4, start="  "))
    _write(sys.stderr, "\n".join(lines) + "\n")


def progress(line: str) -> None:
    """A progress message, only for a person at a terminal."""
    if sys.stderr and sys.stderr.isatty():
        say(line)


def emit(line: str | Line) -> bool:
    """Print one line of an unfinished result; whether stdout is still read."""
    return _write(sys.stdout, f"{render(line, sys.stdout)}\n")


def envelope(command: str, result: Result) -> dict[str, Any]:
    """The versioned result for machines (schemas/result.schema.json)."""
    has_failed = bool(result.errors) or result.exit_code not in (0, 10)
    return {
        "hookctl_result": ENVELOPE,
        "command": by_look(command),
        "status": "error" if has_failed else "ok",
        "exit_code": result.exit_code,
        "data": _data(command, result),
        "errors": veiled(result.errors),
    }


def _data(command: str, result: Result) -> dict[str, Any]:
    data = dict(result.data if command in _VERBATIM else veiled(result.data))
    messages = []
    for message in result.messages:
        known = message if isinstance(message, Message) else Message(message, "note")
        fields = known._asdict()
        text = by_look(fields.pop("text"))
        messages.append({**fields, "message": text})
    if messages or "actions" in data:
        data["messages"] = messages
    says_changed = "changed" in data or not result.data
    if says_changed and any(message["code"] == INTERRUPTED for message in messages):
        data["changed"] = True  # completing that run changes files, too
    return data


def error_text(error: dict[str, Any]) -> str:
    """An error in two lines: what is wrong and where, and what to do."""
    text = plain(error["message"])
    if error["code"] == "declined":  # a person's answer is no error
        return text
    text = f"error: {text}"
    where = plain(error["path"])
    if where and error["line"]:
        where = f"{where}:{error['line']}:{error['column']}"
    if where:
        text += f": {where}"
    if error["hint"]:
        text += f"\n  fix: {error['hint']}"
    return text


def _write(stream: TextIO | None, text: str) -> bool:
    """Write to a stream; False if it is closed. Characters it does not have are escaped."""
    if stream is None:
        return False
    try:
        stream.write(text)
        stream.flush()
    except UnicodeEncodeError:  # a path that is no UTF-8, or a terminal that knows ASCII only
        encoding = stream.encoding or "ascii"
        return _write(stream, text.encode(encoding, "backslashreplace").decode(encoding))
    except OSError as error:
        # Otherwise Python would try once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):  # that one is `hookctl log | head`
            say(f"error: the result cannot be printed ({error.strerror})")
            raise SystemExit(FAILED) from None
        return False
    return True
