"""The Responses and the Gemini dialect of the model server, without a client."""

import json
from typing import Any

from .dialects import Answer, Call, Request, gemini, responses

ASK = Request("POST", "/v1/responses", {"input": [{"role": "user", "content": "MARK: look"}]})
STREAM = "/v1beta/models/m:streamGenerateContent"
LOOK = Call("look", {"where": "here"})


def events(answer: Answer) -> list[Any]:
    assert (answer.status, answer.kind) == (200, "text/event-stream")
    lines = [event.split("\n") for event in answer.body.decode().strip().split("\n\n")]
    data = [json.loads(line.removeprefix("data: ")) for _, line in lines]
    assert [name.removeprefix("event: ") for name, _ in lines] == [event["type"] for event in data]
    return data


def test_every_post_to_responses_is_a_main_request() -> None:
    assert responses.is_main(ASK)
    assert not responses.is_main(ASK._replace(method="GET"))
    assert not responses.is_main(ASK._replace(path="/v1/models"))
    assert "MARK" in responses.opening(ASK)


def test_a_response_repeats_its_items_when_it_is_completed() -> None:
    started, added, done, completed = events(responses.play(ASK, "hello", 3))
    assert added["item"] == {**done["item"], "status": "in_progress"}
    assert completed["response"]["output"] == [done["item"]]
    assert completed["response"]["id"] == started["response"]["id"]
    assert done["item"]["content"][0]["text"] == "hello"


def test_tool_calls_of_two_responses_have_different_ids() -> None:
    resumed = ASK._replace(body={"input": [1, 2]})
    items = [
        item
        for request, number in ((ASK, 1), (ASK, 2), (resumed, 1))
        for item in events(responses.play(request, (LOOK, LOOK), number))[-1]["response"]["output"]
    ]
    assert len({item["call_id"] for item in items}) == 6
    assert {(item["name"], item["arguments"]) for item in items} == {("look", '{"where": "here"}')}


def test_gemini_s_own_questions_are_no_main_requests() -> None:
    assert gemini.is_main(Request("POST", STREAM, {}))
    assert not gemini.is_main(Request("POST", "/v1beta/models/m:generateContent", {}))
    assert not gemini.is_main(Request("POST", STREAM, {"generationConfig": {"responseJsonSchema": {}}}))
    assert not gemini.is_main(Request("POST", STREAM, {"generationConfig": {"responseSchema": {}}}))
    assert "MARK" in gemini.opening(Request("POST", STREAM, {"contents": [{"parts": [{"text": "MARK"}]}]}))


def test_gemini_gets_a_text_or_calls_in_one_chunk() -> None:
    def parts(answer: Answer) -> list[Any]:
        data = json.loads(answer.body.decode().removeprefix("data: "))
        return data["candidates"][0]["content"]["parts"]

    asked = Request("POST", STREAM, {})
    assert parts(gemini.play(asked, "hello", 1)) == [{"text": "hello"}]
    assert parts(gemini.play(asked, LOOK, 1)) == [{"functionCall": {"name": "look", "args": {"where": "here"}}}]
    assert gemini.play(asked._replace(path="m:generateContent"), "hello", 1).kind == "application/json"


def test_gemini_s_own_questions_get_an_opinion() -> None:
    answer = json.loads(gemini.play_beside(Request("POST", "/m:generateContent", {})).body)
    opinion = json.loads(answer["candidates"][0]["content"]["parts"][0]["text"])
    assert {"reasoning", "model_choice", "next_speaker", "complexity_reasoning", "complexity_score"} <= set(opinion)
    assert json.loads(gemini.play_beside(Request("POST", "/m:countTokens", {})).body) == {"totalTokens": 10}


def test_both_refuse_in_their_own_form() -> None:
    for dialect, code in ((responses, "invalid_request"), (gemini, 400)):
        answer = dialect.refuse("enough")
        error = json.loads(answer.body)["error"]
        assert (answer.status, error["message"], error["code"]) == (400, "enough", code)
        assert dialect.play_beside(Request("GET", "/nowhere", {})).status == 404
    assert json.loads(responses.play_beside(Request("GET", "/v1/models", {})).body)["models"] == []
