"""hookctl simulate: the real hook's decisions on events from a file, with nothing touched."""

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Hookctl
from .trees import tree


@pytest.fixture
def play(isolated: Path, monkeypatch: pytest.MonkeyPatch, hookctl: Hookctl) -> Any:
    """Run the command over events, given as objects or as text: exit code and envelope, once nothing was touched."""
    monkeypatch.setenv("MAX_STOP_BLOCKS", "1")  # the operator's own environment is not the one that is asked about
    monkeypatch.setenv("HOOKCTL_DISABLE", "1")

    def run(events: list[Any] | str, *options: str) -> tuple[int, dict[str, Any]]:
        source = isolated / "events.jsonl"
        source.write_text(events if isinstance(events, str) else "\n".join(map(json.dumps, events)))
        before = tree(isolated)
        outcome = hookctl("simulate", str(source), "--json", *options)
        assert tree(isolated) == before
        return outcome.code, outcome.result

    return run


def decisions(envelope: dict[str, Any]) -> list[str]:
    return [one["code"] for one in envelope["data"]["decisions"]]


WORK = {"run": {"remaining": 2}}
FRESH, AGAIN = {"stop_hook_active": False}, {"stop_hook_active": True}


def test_it_decides_as_the_hook_does(play: Any) -> None:
    code, found = play([WORK, FRESH, *[AGAIN] * 6])
    assert (code, decisions(found)) == (0, ["blocked"] * 5 + ["tripped", "open"])
    assert found["data"]["counts"] == {"block": 5, "release": 1, "allow": 1}
    first = found["data"]["decisions"][0]
    assert (first["line"], first["blocks"], first["answer"]["decision"]) == (2, 1, "block")


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        (["--set", "MAX_STOP_BLOCKS=2"], ["blocked"] * 2 + ["tripped", "open"]),
        (["--set", "MAX_STOP_BLOCKS=12"], ["blocked"] * 4),
        (["--preset", "openhands", "--set", "max_stop_blocks=3"], ["allowed", "allowed", "stop_loop", "allowed"]),
        (["--mode", "keepalive"], ["inactive"] * 4),
        (["--nudge", "done", "--mode", "guard"], ["nudged", "allowed", "allowed", "allowed"]),
        (["--mode", "off"], ["off"] * 4),
    ],
)
def test_the_settings_are_those_of_install(play: Any, options: list[str], codes: list[str]) -> None:
    assert decisions(play([WORK, FRESH, AGAIN, AGAIN, AGAIN], *options)[1]) == codes


def test_a_limit_above_the_hosts_cap_brings_its_cap_along(play: Any) -> None:
    found = play([WORK, FRESH, *[AGAIN] * 12], "--set", "MAX_STOP_BLOCKS=12")[1]
    assert decisions(found) == ["blocked"] * 12 + ["tripped"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"a', 1, "this line is not a JSON object"),
        ("\n[]", 2, "this line is not a JSON object"),
        ('{}\n{"host": "nobody"}', 2, "unknown host 'nobody'"),
        ('{"event": "session-end"}', 1, "the guard does not decide on 'session-end'"),
        ('{"run": 5}', 1, "`run` is not an object"),
        ('{"at": "soon"}', 1, "`at` is not a number"),
    ],
)
def test_a_bad_line_is_named_before_anything_is_asked(play: Any, text: str, line: int, message: str) -> None:
    code, found = play(text)
    (error,) = found["errors"]
    assert (code, error["line"], error["message"][: len(message)]) == (4, line, message)
    assert error["path"].endswith("events.jsonl") and "decisions" not in found["data"]
