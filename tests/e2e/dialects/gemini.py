"""The Gemini API, as far as Gemini CLI uses it."""

import json
from typing import Any

from . import Answer, Call, Reply, Request, json_answer

_USAGE = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
_SCHEMAS = ("responseJsonSchema", "responseSchema")
# What the client's own questions to a model (which model to take, does it loop?) look for.
_OPINION = {
    "reasoning": "none",
    "model_choice": "flash",
    "next_speaker": "user",
    "complexity_reasoning": "none",
    "complexity_score": 1,
}


def is_main(request: Request) -> bool:
    settings = request.body.get("generationConfig") or {}
    return request.path.endswith(":streamGenerateContent") and not any(name in settings for name in _SCHEMAS)


def opening(request: Request) -> str:
    contents = request.body.get("contents") or [{}]
    return json.dumps(contents[0].get("parts", ""), ensure_ascii=False)


def play(request: Request, reply: Reply, number: int) -> Answer:
    calls = (reply,) if isinstance(reply, Call) else () if isinstance(reply, str) else reply
    parts = [{"functionCall": {"name": call.tool, "args": dict(call.arguments)}} for call in calls]
    candidate = {"content": {"role": "model", "parts": parts or [{"text": reply}]}, "finishReason": "STOP", "index": 0}
    value = {"candidates": [candidate], "usageMetadata": _USAGE, "modelVersion": "mock"}
    if request.path.endswith(":streamGenerateContent"):
        return Answer(200, "text/event-stream", f"data: {json.dumps(value)}\n\n".encode())
    return json_answer(200, value)


def play_beside(request: Request) -> Answer:
    if request.path.endswith(":countTokens"):
        return json_answer(200, {"totalTokens": 10})
    if request.path.endswith("enerateContent"):
        return play(request, json.dumps(_OPINION), 0)
    return json_answer(200, {}) if request.method == "POST" else json_answer(404, _error(404, "not found", "NOT_FOUND"))


def refuse(message: str) -> Answer:
    return json_answer(400, _error(400, message, "INVALID_ARGUMENT"))


def _error(code: int, message: str, status: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status}}
