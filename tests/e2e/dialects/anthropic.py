"""The Anthropic Messages API, as far as Claude Code uses it."""

import json
from typing import Any

from . import Answer, Call, Reply, Request

_USAGE = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


def is_main(request: Request) -> bool:
    return request.method == "POST" and request.path == "/v1/messages" and bool(request.body.get("tools"))


def opening(request: Request) -> str:
    messages = request.body.get("messages") or [{}]
    return json.dumps(messages[0].get("content", ""), ensure_ascii=False)


def play(request: Request, reply: Reply, number: int) -> Answer:
    message = _message(request, reply, number)
    if not request.body.get("stream"):
        return _json(200, message)
    return Answer(200, "text/event-stream", b"".join(_events(message)))


def play_beside(request: Request) -> Answer:
    if request.method != "POST":
        return _json(404, _error("not_found_error", "not found"))
    if request.path == "/v1/messages/count_tokens":
        return _json(200, {"input_tokens": 10})
    if request.path == "/v1/messages":
        return play(request, "a title", 0)
    return _json(200, {})


def refuse(message: str) -> Answer:
    return _json(400, _error("invalid_request_error", message))


def _message(request: Request, reply: Reply, number: int) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": reply}
    if isinstance(reply, Call):
        # A resumed session has the calls of an earlier server in it, and no id may be there twice.
        id = f"toolu_{len(request.body.get('messages', ())):04d}{number:04d}"
        block = {"type": "tool_use", "id": id, "name": reply.tool, "input": dict(reply.arguments)}
    return {
        "id": f"msg_{number:08d}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", "mock"),
        "content": [block],
        "stop_reason": "tool_use" if isinstance(reply, Call) else "end_turn",
        "stop_sequence": None,
        "usage": _USAGE,
    }


def _events(message: dict[str, Any]) -> list[bytes]:
    block = message["content"][0]
    if block["type"] == "text":
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return [
        _event("message_start", message={**message, "content": [], "stop_reason": None}),
        _event("content_block_start", index=0, content_block=empty),
        _event("content_block_delta", index=0, delta=delta),
        _event("content_block_stop", index=0),
        _event("message_delta", delta=end, usage=message["usage"]),
        _event("message_stop"),
    ]


def _event(name: str, **fields: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()


def _error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _json(status: int, value: dict[str, Any]) -> Answer:
    return Answer(status, "application/json", json.dumps(value).encode())
