"""OpenAI's Responses API, as far as Codex uses it."""

import json
from typing import Any

from . import Answer, Call, Reply, Request, json_answer

_USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 15,
}


def is_main(request: Request) -> bool:
    return request.method == "POST" and request.path.endswith("/responses")


def opening(request: Request) -> str:
    said = (item for item in request.body.get("input") or () if item.get("role") == "user")
    return json.dumps([item.get("content") for item in said], ensure_ascii=False)


def play(request: Request, reply: Reply, number: int) -> Answer:
    id = f"resp_{number:08d}"
    items = _items(request, reply, number)
    done = {"id": id, "status": "completed", "output": items, "usage": _USAGE}
    events = [
        _event("response.created", response={"id": id}),
        *[event for index, item in enumerate(items) for event in _item_events(index, item)],
        _event("response.completed", response=done),
    ]
    return Answer(200, "text/event-stream", b"".join(events))


def play_beside(request: Request) -> Answer:
    if request.path.endswith("/models"):
        return json_answer(200, {"object": "list", "data": [], "models": []})
    return json_answer(200, {}) if request.method == "POST" else json_answer(404, _error("not found"))


def refuse(message: str) -> Answer:
    return json_answer(400, _error(message))


def _items(request: Request, reply: Reply, number: int) -> list[dict[str, Any]]:
    # A resumed session has the calls of an earlier server in it, and no id may be there twice.
    stem = f"{len(request.body.get('input', ())):04d}{number:04d}"
    if isinstance(reply, str):
        content = [{"type": "output_text", "text": reply, "annotations": []}]
        about = {"id": f"msg_{stem}", "role": "assistant", "status": "completed"}
        return [{"type": "message", **about, "content": content}]
    calls = (reply,) if isinstance(reply, Call) else reply
    tools = {tool.get("name"): tool for tool in request.body.get("tools") or ()}
    return [_call(call, tools, f"{stem}{place:02d}") for place, call in enumerate(calls)]


def _call(call: Call, tools: dict[str, Any], stem: str) -> dict[str, Any]:
    """One call of a tool. A custom one takes a text, the call's only argument; others may stand in a namespace."""
    said = {"call_id": f"call_{stem}", "name": call.tool, "status": "completed"}
    if tools.get(call.tool, {}).get("type") == "custom":
        (text,) = call.arguments.values()
        return {"type": "custom_tool_call", "id": f"ctc_{stem}", "input": text, **said}
    for name, tool in tools.items():
        if any(inner["name"] == call.tool for inner in tool.get("tools", ())):
            said["namespace"] = name
    return {"type": "function_call", "id": f"fc_{stem}", "arguments": json.dumps(dict(call.arguments)), **said}


def _item_events(index: int, item: dict[str, Any]) -> list[bytes]:
    return [
        _event("response.output_item.added", output_index=index, item={**item, "status": "in_progress"}),
        _event("response.output_item.done", output_index=index, item=item),
    ]


def _event(name: str, **fields: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": "invalid_request"}}
