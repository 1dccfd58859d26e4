"""The OpenAI chat completions API, streamed or not, as most clients with a model of one's own speak it."""

import json
from typing import Any

from . import Answer, Call, Reply, Request, json_answer

_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def is_main(request: Request) -> bool:
    if request.method != "POST" or not request.path.endswith("/chat/completions"):
        return False
    # One that forces a tool on the model is a question of the client's own, such as Grok Build's for a title.
    return bool(request.body.get("tools")) and not isinstance(request.body.get("tool_choice"), dict)


def opening(request: Request) -> str:
    """What the user said before the first reply; some clients put words of their own in front, as a user's."""
    said = []
    for message in request.body.get("messages") or []:
        if message.get("role") == "assistant":
            break
        if message.get("role") == "user":
            said.append(message.get("content", ""))
    return json.dumps(said, ensure_ascii=False)


def play(request: Request, reply: Reply, number: int) -> Answer:
    model = request.body.get("model", "mock")
    message, end = _message(request, reply, number)
    if not request.body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": end}
        return json_answer(200, _object("chat.completion", model, number, choices=[choice], usage=_USAGE))
    chunks = (
        {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": end}]},
        {"choices": [], "usage": _USAGE},
    )
    lines = [json.dumps(_object("chat.completion.chunk", model, number, **chunk)) for chunk in chunks]
    return Answer(200, "text/event-stream", "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode())


def play_beside(request: Request) -> Answer:
    if request.path.endswith("/chat/completions"):
        return play(request, "{}", 0)
    if request.path.endswith("/models"):
        return json_answer(200, {"object": "list", "data": [{"id": "mock", "object": "model", "owned_by": "tests"}]})
    return json_answer(404, _error("not found")) if request.method != "POST" else json_answer(200, {})


def refuse(message: str) -> Answer:
    return json_answer(400, _error(message))


def _message(request: Request, reply: Reply, number: int) -> tuple[dict[str, Any], str]:
    """Return the assistant's message and its finish reason."""
    calls = (reply,) if isinstance(reply, Call) else () if isinstance(reply, str) else reply
    # A resumed session has the calls of an earlier server in it, and no id may be there twice.
    stem = f"call_{len(request.body.get('messages', ())):04d}{number:04d}"
    message = {"role": "assistant", "content": reply if isinstance(reply, str) else None}
    if not calls:
        return message, "stop"
    return {**message, "tool_calls": [_call(call, place, stem) for place, call in enumerate(calls)]}, "tool_calls"


def _call(call: Call, place: int, stem: str) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": json.dumps(dict(call.arguments))}
    # Only a stream asks for the index; elsewhere it is one key more.
    return {"index": place, "id": f"{stem}{place:02d}", "type": "function", "function": function}


def _object(kind: str, model: str, number: int, **fields: Any) -> dict[str, Any]:
    return {"id": f"chatcmpl-{number:08d}", "object": kind, "created": 1_700_000_000, "model": model, **fields}


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": None}}
