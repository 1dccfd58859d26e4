"""The real Factory Droid, headless; stdout has the last reply. Nothing is said about hooks."""

import json
from collections.abc import Sequence

from . import agent
from .agent import Driver, Start
from .clients import Client
from .dialects import Reply, chat, shell_of
from .model_server import Script

# Without the airgap it asks for its vendor's servers at every start.
QUIET = {"FACTORY_AIRGAP_ENABLED": "true", "FACTORY_TELEMETRY_DISABLED": "1"}


class Place(agent.Place):
    FILE = ".factory/settings.json"


def _call(client: Client, place: Place, url: str, prompt: str) -> Start:
    apis = {"mock": "generic-chat-completion-api", "gpt-5": "openai"}
    about = {"base_url": f"{url}/v1", "api_key": "made-up", "max_tokens": 4096}
    models = [{"model_display_name": name, "model": name, "provider": api, **about} for name, api in apis.items()]
    # Not into settings.json: that is the operator's, and its bytes are compared.
    (place.settings.parent / "config.json").write_text(json.dumps({"custom_models": models}))
    command = [*client.command, "exec", "--auto", "medium", "-m", "custom:mock-0"]
    return Start([*command, *([prompt] if prompt else [])], QUIET)


DRIVER = Driver(chat, _call)
play = DRIVER.play
shell = shell_of("Execute", summary="a step", timeout=30, riskLevel="low", riskLevelReason="it only looks")


def converse(client: Client, place: Place, replies: Sequence[Reply] | Script, *prompts: str) -> agent.Run:
    """Give several prompts to one session."""
    typed = "".join(json.dumps({"role": "user", "content": prompt}) + "\n" for prompt in prompts)
    return play(client, place, replies, "--input-format", "stream-json", "-o", "stream-json", prompt="", typed=typed)
