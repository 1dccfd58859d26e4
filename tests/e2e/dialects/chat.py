"""OpenAI's chat completions, which many clients speak to a model server of one's own."""

import json
from typing import Any

from . import Answer, Call, Reply, Request

_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def is_main(request: Request) -> bool:
    return request.path.endswith("/chat/completions") and bool(request.body.get("tools"))


def opening(request: Request) -> str:
    messages = (message for message in request.body.get("messages") or () if message.get("role") == "user")
    return json.dumps(next(messages, {}).get("content", ""), ensure_ascii=False)


def play(request: Request, reply: Reply, number: int) -> Answer:
    message = _message(request, reply, number)
    finish = "tool_calls" if "tool_calls" in message else "stop"
    about = {"id": f"chatcmpl-{number:08d}", "created": 1_700_000_000, "model": request.body.get("model", "mock")}
    if not request.body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return _json(200, {**about, "object": "chat.completion", "choices": [choice], "usage": _USAGE})
    chunks = [
        {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {"choices": [], "usage": _USAGE},
    ]
    lines = [json.dumps({**about, "object": "chat.completion.chunk", **chunk}) for chunk in chunks]
    return Answer(200, "text/event-stream", "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode())


def play_beside(request: Request) -> Answer:
    if request.path.endswith("/chat/completions"):
        return play(request, "{}", 0)
    if request.path.endswith("/models"):
        return _json(200, {"object": "list", "data": [{"id": "mock", "object": "model", "owned_by": "tests"}]})
    return _json(200, {}) if request.method == "POST" else _json(404, _error("not found"))


def refuse(message: str) -> Answer:
    return _json(400, _error(message))


def _message(request: Request, reply: Reply, number: int) -> dict[str, Any]:
    if isinstance(reply, str):
        return {"role": "assistant", "content": reply}
    calls = (reply,) if isinstance(reply, Call) else reply
    # A resumed session has the calls of an earlier server in it, and no id may be there twice.
    stem = f"call_{len(request.body.get('messages', ())):04d}{number:04d}"
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "index": place,
                "id": f"{stem}{place:02d}",
                "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(dict(call.arguments))},
            }
            for place, call in enumerate(calls)
        ],
    }


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": "invalid_request"}}


def _json(status: int, value: dict[str, Any]) -> Answer:
    return Answer(status, "application/json", json.dumps(value).encode())
