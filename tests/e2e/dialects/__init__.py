"""What the model server asks of a model API: a dialect is a module with these functions."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol


class Call(NamedTuple):
    """A reply that calls one tool."""

    tool: str
    arguments: Mapping[str, Any]


def shell_of(tool: str, key: str = "command", **more: Any) -> Callable[[str], Call]:
    """What makes calls of a client's shell tool."""
    return lambda command: Call(tool, {key: command, **more})


Reply = str | Call | tuple[Call, ...]  # several calls at once


class Request(NamedTuple):
    """One request as it came in; `path` has no query, `body` is {} where there was no JSON object."""

    method: str
    path: str
    body: dict[str, Any]


class Answer(NamedTuple):
    """One response, whole; a stream is a body of the type text/event-stream."""

    status: int
    kind: str
    body: bytes


def json_answer(status: int, value: dict[str, Any]) -> Answer:
    return Answer(status, "application/json", json.dumps(value).encode())


class Dialect(Protocol):
    """One model API. A main request takes a step of the script, every other one is answered beside it."""

    def is_main(self, request: Request) -> bool: ...

    def opening(self, request: Request) -> str:
        """Return the text that the conversation of a main request began with."""
        ...

    def play(self, request: Request, reply: Reply, number: int) -> Answer: ...

    def play_beside(self, request: Request) -> Answer: ...

    def refuse(self, message: str) -> Answer:
        """Return the API's own form of an error that a client does not try again."""
        ...
