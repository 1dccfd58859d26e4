"""The guard's scenarios, a row each: the settings, and what happens, in the words of `play`. They lie in scenarios/."""

from typing import Any

from .lab import Lab
from .play import play, rows, scenarios

FILES = ("breaker", "settings", "keepalive", "nudge", "guard", "dispatch", "another-system", "wrapped")


@rows([row for name in FILES for row in scenarios(name)])
def test_the_hook_plays_the_scenario(lab: Lab, config: dict[str, Any], script: str) -> None:
    play(lab, config, script)
