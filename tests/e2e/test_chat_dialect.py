"""The chat completions dialect of the model server, without a client."""

import json
from typing import Any

from .dialects import Answer, Call, Request, chat

PATH = "/v1/chat/completions"
LOOK = Call("bash", {"command": "true"})


def ask(path: str = PATH, method: str = "POST", **body: Any) -> Request:
    return Request(method, path, body)


def chunks(answer: Answer) -> list[Any]:
    lines = answer.body.decode().split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]


def test_only_a_completion_with_tools_is_a_main_request() -> None:
    assert chat.is_main(ask(tools=[{}]))
    assert chat.is_main(ask("/api/v1/chat/completions", tools=[{}]))
    assert not chat.is_main(ask(messages=[]))
    assert not chat.is_main(ask(tools=[]))
    assert not chat.is_main(ask("/v1/models", tools=[{}]))
    assert not chat.is_main(ask(method="GET", tools=[{}]))


def test_the_opening_is_the_first_message_of_the_user() -> None:
    messages = [{"role": "system", "content": "be good"}, {"role": "user", "content": "MARK: look"}]
    assert chat.opening(ask(messages=[*messages, {"role": "user", "content": "go on"}])) == '"MARK: look"'
    assert chat.opening(ask()) == '""'


def test_a_streamed_text_has_its_finish_reason_and_its_usage_in_chunks_of_their_own() -> None:
    first, end, usage = chunks(chat.play(ask(stream=True, model="m"), "done", 3))
    assert first["choices"][0] == {
        "index": 0,
        "delta": {"role": "assistant", "content": "done"},
        "finish_reason": None,
    }
    assert end["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "stop"}
    assert (usage["choices"], usage["usage"]["total_tokens"]) == ([], 15)
    assert {chunk["object"] for chunk in (first, end, usage)} == {"chat.completion.chunk"}
    assert first["model"] == "m"


def test_streamed_tool_calls_carry_index_id_and_all_arguments() -> None:
    first, end, _ = chunks(chat.play(ask(stream=True), (LOOK, LOOK), 3))
    delta = first["choices"][0]["delta"]
    assert [call["index"] for call in delta["tool_calls"]] == [0, 1]
    assert len({call["id"] for call in delta["tool_calls"]}) == 2
    assert json.loads(delta["tool_calls"][0]["function"]["arguments"]) == {"command": "true"}
    assert (delta["content"], end["choices"][0]["finish_reason"]) == (None, "tool_calls")


def test_without_a_stream_there_is_one_object() -> None:
    answer = chat.play(ask(), LOOK, 3)
    body = json.loads(answer.body)
    choice = body["choices"][0]
    assert (answer.kind, body["object"]) == ("application/json", "chat.completion")
    assert (choice["finish_reason"], choice["message"]["tool_calls"][0]["function"]["name"]) == ("tool_calls", "bash")
    assert json.loads(chat.play(ask(), "done", 1).body)["choices"][0]["message"] == {
        "role": "assistant",
        "content": "done",
    }


def test_tool_calls_of_two_requests_have_different_ids() -> None:
    ids = [
        json.loads(chat.play(ask(messages=messages), LOOK, number).body)["choices"][0]["message"]["tool_calls"][0]["id"]
        for messages, number in (([1], 1), ([1, 2], 1), ([1, 2], 2))
    ]
    assert len(set(ids)) == 3


def test_side_traffic_gets_an_answer() -> None:
    assert json.loads(chat.play_beside(ask("/api/v1/models", "GET")).body)["data"][0]["id"] == "mock"
    assert chat.play_beside(ask("/v1/props", "GET")).status == 404
    assert chat.play_beside(ask("/v1/events")).status == 200
    title = json.loads(chat.play_beside(ask(messages=[])).body)
    assert title["choices"][0]["message"]["content"] == "{}"


def test_a_refusal_is_an_error_that_no_client_tries_again() -> None:
    answer = chat.refuse("enough")
    assert (answer.status, json.loads(answer.body)["error"]["message"]) == (400, "enough")
