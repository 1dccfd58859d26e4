"""A pack that refuses calls, changes and judges them, with the real hosts whose plugin is ours: OpenCode and Pi."""

from pathlib import Path
from types import ModuleType

import pytest

from . import opencode, pi
from .clients import Client
from .judge import install_judge, nested

pytestmark = [pytest.mark.e2e, pytest.mark.full]


class Agent:
    """One of the two, and a place for it."""

    def __init__(self, driver: ModuleType, client: Client, root: Path) -> None:
        self.place = driver.Place.make(root, own_folders=True)
        self._client, self._shell = client, driver.shell
        self._play = driver.play_one_turn if driver is opencode else driver.play

    def call(self, command: str, **answers: str) -> list[str]:
        """What the model is told of a call, with a pack that answers so; the turn goes on behind it."""
        install_judge(self.place, self._client.name, **answers)
        run = self._play(self._client, self.place, [self._shell(command), "done"])
        assert (run.requests, run.code) == (2, 0)
        return run.told("tool")

    def has(self, name: str) -> bool:
        return (self.place.project / name).exists()


@pytest.fixture(params=[opencode, pi], ids=["opencode", "pi"])
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Agent:
    client = request.getfixturevalue(request.param.__name__.rpartition(".")[2])
    return Agent(request.param, client, tmp_path / "place")


@pytest.mark.parametrize(
    "command",
    [
        nested("PreToolUse", permissionDecision="deny", permissionDecisionReason="not this one"),
        nested("PreToolUse", permissionDecision="ask", permissionDecisionReason="not this one"),
        "echo not this one >&2; exit 2",
        "sleep 30 & echo not this one >&2; exit 2",
    ],
    ids=["nested", "ask", "status 2", "status 2, beside what it left running"],
)
def test_a_refusal_keeps_the_tool_from_running_and_its_reason_reaches_the_model(agent: Agent, command: str) -> None:
    assert agent.call("touch marker", pre_tool=command) == ["not this one"]
    assert not agent.has("marker")


def test_the_tool_runs_with_a_changed_input(agent: Agent) -> None:
    change = nested("PreToolUse", updatedInput={"command": "touch other; echo changed"})
    assert agent.call("touch marker", pre_tool=change) == ["changed\n"]
    assert (agent.has("marker"), agent.has("other")) == (False, True)


def test_a_status_of_2_after_a_call_is_said_beside_its_result(agent: Agent) -> None:
    (told,) = agent.call("echo ran", post_tool="echo wrong >&2; exit 2")
    assert told.split() == ["ran", "wrong"]
