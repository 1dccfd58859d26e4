"""The real OpenHands SDK: an agent in a program of a few lines, as its users write them."""

from dataclasses import dataclass
from pathlib import Path

from . import agent
from .agent import Driver, starts
from .dialects import chat, shell_of

_AGENT = Path(__file__).parent / "openhands_agent.py"
# Without the first, a thread of the client fetches prices, and where there is no network it may end the process.
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "TERM": "dumb", "OPENHANDS_SUPPRESS_BANNER": "1", "DO_NOT_TRACK": "1",
         "POSTHOG_DISABLED": "1", "LOG_LEVEL": "ERROR"}  # fmt: skip


class Place(agent.Place):
    FILE = ".openhands/hooks.json"


@dataclass(frozen=True)
class Run(agent.Run):
    """What one run left; stdout has the agent's status at the end."""

    @property
    def status(self) -> str:
        return self.out.strip()

    def told(self, role: str) -> list[str]:
        return [content[0]["text"] for content in super().told(role)]


DRIVER = Driver(chat, starts("-I", str(_AGENT), "URL", "PROMPT", **QUIET), Run)
shell = shell_of("terminal", security_risk="LOW", summary="a step")
play = DRIVER.play
