"""The model server itself, without a client: what no run of a client would show."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .dialects import Call, anthropic
from .model_server import ModelServer, Script, serve

TOOLS = [{"name": "Bash"}]
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(server: ModelServer, path: str = "/v1/messages?beta=true", **body: Any) -> tuple[int, str]:
    """Send a request and return status and text, for errors too."""
    request = urllib.request.Request(server.url + path, json.dumps(body).encode() if body else None)
    try:
        with DIRECT.open(request, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def ask_main(server: ModelServer, **body: Any) -> Any:
    return json.loads(ask(server, tools=TOOLS, messages=[{"role": "user", "content": "begin"}], **body)[1])


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve(Script([Call("Bash", {"command": "true"}), "one", "two"], limit=4), anthropic) as server:
        yield server


def test_one_reply_is_taken_for_each_main_request_and_the_last_one_repeats(server: ModelServer) -> None:
    blocks = [ask_main(server)["content"][0] for _ in range(4)]
    assert blocks[0]["type"] == "tool_use"
    assert blocks[0]["input"] == {"command": "true"}
    assert [block["text"] for block in blocks[1:]] == ["one", "two", "two"]


def test_a_main_request_beyond_the_limit_is_refused(server: ModelServer) -> None:
    assert [ask(server, tools=TOOLS)[0] for _ in range(6)] == [200, 200, 200, 200, 400, 400]
    assert (server.count("main"), server.count("refused")) == (4, 2)
    assert ask_main(server)["error"]["type"] == "invalid_request_error"


def test_side_traffic_takes_no_step_of_the_script(server: ModelServer) -> None:
    assert ask(server, "/v1/messages/count_tokens", tools=TOOLS) == (200, '{"input_tokens": 10}')
    assert json.loads(ask(server, messages=[])[1])["content"][0]["type"] == "text"
    assert ask(server, "/api/event_logging", events=[1]) == (200, "{}")
    assert ask(server, "/v1/models")[0] == 404
    assert (server.count("side"), server.count("main")) == (4, 0)
    assert ask_main(server)["content"][0]["type"] == "tool_use"


def test_a_subagent_is_told_by_its_marker_and_has_replies_of_its_own() -> None:
    with serve(Script(["main"], sub_marker="MARK", sub_replies=["sub"]), anthropic) as server:
        opening = [{"role": "user", "content": [{"type": "text", "text": "MARK: look"}]}]
        sub = json.loads(ask(server, tools=TOOLS, messages=opening)[1])
        assert sub["content"][0]["text"] == "sub"
        assert ask_main(server)["content"][0]["text"] == "main"
        assert (server.count("sub"), server.count("main")) == (1, 1)


def test_a_function_that_fails_is_kept_for_the_test() -> None:
    def fail(number: int) -> None:
        raise LookupError(f"at {number}")

    with serve(Script(["one"], before=fail), anthropic) as server:
        assert ask(server, tools=TOOLS)[0] == 400
        assert [str(error) for error in server.failures] == ["at 1"]


def test_every_request_is_in_the_log_file(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with serve(Script(["one"]), anthropic, log) as server:
        ask_main(server)
        ask(server, "/v1/models")
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [entry[1:4] for entry in entries] == [["main", "POST", "/v1/messages"], ["side", "GET", "/v1/models"]]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "localhost"])
def test_it_serves_loopback_addresses_only(host: str) -> None:
    with pytest.raises(ValueError):
        ModelServer(Script(["one"]), anthropic, host=host)
