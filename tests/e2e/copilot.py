"""The real Copilot CLI, headless; stdout has the replies and the tools' output, stderr what failing hooks say."""

from pathlib import Path

from . import agent
from .agent import Driver, Start
from .clients import Client
from .dialects import Call, chat

TRUST = "--trust-folder"  # without it a repository's hooks do not run


class Place(agent.Place):
    @property
    def settings(self) -> Path:
        """The file that hookctl makes; every other one beside it is read as well."""
        return self.home / ".copilot" / "hooks" / "hookctl.json"

    def lay_out(self) -> None:
        """An empty project that is a repository."""
        super().lay_out()
        (self.project / ".git" / "objects").mkdir(parents=True)
        (self.project / ".git" / "refs").mkdir()
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")  # an empty .git makes no repository


def _call(client: Client, place: Place, url: str, prompt: str) -> Start:
    environment = {
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "made-up",
        "COPILOT_MODEL": "mock",
        # It unpacks itself there, a quarter of a gigabyte: once, and not once a home.
        "XDG_CACHE_HOME": str(client.program.parent / "unpacked"),
    }
    options = ["--allow-all-tools", "--disable-client-telemetry", "--log-level", "none"]
    return Start([*client.command, "-p", prompt, *options], environment)


DRIVER = Driver(chat, _call, agent.Run)
play, start = DRIVER.play, DRIVER.start


def shell(command: str) -> Call:
    """Return a call of the shell tool; it may touch the start folder only."""
    return Call("bash", {"command": command, "description": "a step"})
