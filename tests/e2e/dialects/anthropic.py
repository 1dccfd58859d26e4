"""The Anthropic Messages API, as far as Claude Code uses it."""

import json
from typing import Any

from . import Answer, Call, Reply, Request, json_answer

_USAGE = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}


def is_main(request: Request) -> bool:
    return request.method == "POST" and request.path == "/v1/messages" and bool(request.body.get("tools"))


def opening(request: Request) -> str:
    messages = request.body.get("messages") or [{}]
    return json.dumps(messages[0].get("content", ""), ensure_ascii=False)


def play(request: Request, reply: Reply, number: int) -> Answer:
    message = _message(request, reply, number)
    if not request.body.get("stream"):
        return json_answer(200, message)
    return Answer(200, "text/event-stream", b"".join(_events(message)))


def play_beside(request: Request) -> Answer:
    if request.method != "POST":
        return json_answer(404, _error("not_found_error", "not found"))
    if request.path == "/v1/messages/count_tokens":
        return json_answer(200, {"input_tokens": 10})
    if request.path == "/v1/messages":
        return play(request, "a title", 0)
    return json_answer(200, {})


def refuse(message: str) -> Answer:
    return json_answer(400, _error("invalid_request_error", message))


def _message(request: Request, reply: Reply, number: int) -> dict[str, Any]:
    calls = (reply,) if isinstance(reply, Call) else () if isinstance(reply, str) else reply
    # A resumed session has the calls of an earlier server in it, and no id may be there twice.
    stem = f"toolu_{len(request.body.get('messages', ())):04d}{number:04d}"
    return {
        "id": f"msg_{number:08d}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", "mock"),
        "content": [_call(call, f"{stem}{place:02d}") for place, call in enumerate(calls)] or [_text(str(reply))],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": _USAGE,
    }


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _call(call: Call, id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": call.tool, "input": dict(call.arguments)}


def _events(message: dict[str, Any]) -> list[bytes]:
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return [
        _event("message_start", message={**message, "content": [], "stop_reason": None}),
        *[event for index, block in enumerate(message["content"]) for event in _block_events(index, block)],
        _event("message_delta", delta=end, usage=message["usage"]),
        _event("message_stop"),
    ]


def _block_events(index: int, block: dict[str, Any]) -> list[bytes]:
    if block["type"] == "text":
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return [
        _event("content_block_start", index=index, content_block=empty),
        _event("content_block_delta", index=index, delta=delta),
        _event("content_block_stop", index=index),
    ]


def _event(name: str, **fields: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()


def _error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}
