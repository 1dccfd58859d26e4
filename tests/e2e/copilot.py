"""The real Copilot CLI, headless; stdout has the replies and the tools' output, stderr what failing hooks say."""

from . import agent
from .agent import Driver, starts
from .dialects import chat, shell_of

TRUST = "--trust-folder"  # without it a repository's hooks do not run


class Place(agent.Place):
    FILE = ".copilot/hooks/hookctl.json"  # every other file beside it is read as well

    def lay_out(self) -> None:
        super().lay_out()
        self.make_repository()


_VARIABLES = {"OFFLINE": "true", "AUTO_UPDATE": "false", "PROVIDER_BASE_URL": "URL/v1", "PROVIDER_API_KEY": "made-up",
              "MODEL": "mock"}  # fmt: skip
DRIVER = Driver(
    chat,
    starts(
        *("-p", "PROMPT", "--allow-all-tools", "--disable-client-telemetry", "--log-level", "none"),
        # It unpacks itself there, a quarter of a gigabyte: once, and not once a home.
        XDG_CACHE_HOME="BESIDE/unpacked",
        **{f"COPILOT_{name}": value for name, value in _VARIABLES.items()},
    ),
)
play = DRIVER.play
shell = shell_of("bash", description="a step")  # it may touch the start folder only
