"""What each client needs for the story that hookctl's promises are kept by: test_acceptance.py tells it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from . import claude, codex, copilot, droid, gemini, grok, hermes, kimi, openhands, pi, qwen, vibe
from .agent import Place
from .dialects import Reply
from .probe import Probe
from .product import LIMIT


def _nothing(place: Place) -> None:
    pass


@dataclass(frozen=True)
class Case:
    """One client and scope.

    The operator's file is written by hand and has a stop hook of the operator's own, whose command stands at COMMAND.
    """

    driver: ModuleType
    operators_file: str
    project_file: str = ""  # at project and local scope: the settings file, from the project
    home_file: str = ""  # where it is not the usual one, from the home
    arguments: tuple[str, ...] = ()
    prepare: Callable[[Place], None] = _nothing  # what a user has accepted before
    quick: bool = False  # runs on every change
    cap: int = LIMIT  # so many blocks in a turn does the client heed, if they are fewer than the limit
    tells_the_last: bool = True  # it tells of the stop behind these, too
    says: str = ""  # what a person or a program that drives it reads then
    turn: Callable[[Place], Sequence[Reply]] = lambda place: ["done"]

    @property
    def host(self) -> str:
        return self.driver.__name__.rpartition(".")[2]

    @property
    def id(self) -> str:
        return " ".join([self.host, self.home_file or self.scope])

    @property
    def marks(self) -> list[pytest.MarkDecorator]:
        return [] if self.quick else [pytest.mark.full]

    @property
    def scope(self) -> str:
        return "local" if "local" in self.project_file else "project" if self.project_file else "user"

    @property
    def kept(self) -> list[str]:
        """The guard's reasons in a turn whose work does not move."""
        return ["blocked"] * self.cap + ["tripped" if self.cap == LIMIT else "host_cap"] * self.tells_the_last

    def settings(self, place: Place) -> Path:
        if self.home_file:
            return place.home / self.home_file
        return place.project / self.project_file if self.project_file else place.settings

    def texts(self, place: Place) -> dict[str, bytes]:
        """What stands in the settings; on Pi every file in the folder is one."""
        path = self.settings(place)
        return {each.name: each.read_bytes() for each in (path.parent.iterdir() if self.driver is pi else [path])}

    def heard(self, probe: Probe) -> int:
        """At how many ends of a turn a stop hook was called; Grok Build calls it at the session's end as well."""
        payloads = [heard.payload for heard in probe.heard()]
        return len(payloads) if self.driver is not grok else len([*filter(grok.ends_turn, payloads)])

    def write_operators_file(self, place: Place, probe: Probe) -> dict[str, bytes]:
        """Write the operator's settings around a stop hook and return their bytes."""
        path = self.settings(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.operators_file.replace("COMMAND", json.dumps(probe.command)))
        return self.texts(place)


CLAUDE_FILE = """\
{
  "permissions" : { "allow": ["Bash(true:*)", "Bash(sleep:*)", "Task", "Agent"] },

  "env": { "OPERATORS_OWN": "yes",
           "PAGER": "less" },
  "hooks": {
    "PreToolUse": [ {"matcher": "Write|Edit", "hooks": [ {"type": "command", "command": "true"} ]} ],

    "Stop": [
      { "hooks": [ { "type": "command", "command": COMMAND, "timeout": 5.0 } ] }
    ]
  },
  "cleanupPeriodDays"   :   30
}"""

CODEX_FILE = """\
{ "description" : "by hand",
  "hooks": {
    "Stop": [ { "hooks": [ {"type": "command", "command": COMMAND, "timeout": 5} ] } ] }
}"""

CODEX_TOML = """\
# by hand
[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"   # mine
command = COMMAND

[tools]
view_image = false
"""

GEMINI_FILE = """\
// by hand
{
    "security": { "auth": {"selectedType": "gemini-api-key"} },
  "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false},
  "model": { "name": "gemini-2.5-flash" }, /* the quick one */
  "hooks": { "AfterAgent": [ { "hooks": [ {"type": "command", "command": COMMAND, "timeout": 5000} ] } ] }
}"""

QWEN_FILE = """\
// by hand
{
    "$version": 4, "security": { "auth": {"selectedType": "openai"} },
  "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false},
  "memory": { "enableManagedAutoMemory": false }, /* it asks the model once more */
  "hooks": { "Stop": [ { "hooks": [ {"type": "command", "command": COMMAND, "timeout": 5} ] } ] }
}"""

COPILOT_FILE = """\
{ "version" : 1,
    "hooks": { "agentStop": [ {"type": "command", "bash": COMMAND, "timeoutSec": 5} ] }
}"""

DROID_FILE = """\
// by hand
{
    "cloudSessionSync": false,
  "hooks": { "Stop": [ { "hooks": [ {"type": "command", "command": COMMAND, "timeout": 5} ] } ] }
}"""


GROK_FILE = """\
{ "description" : "by hand",
    "hooks": { "Stop": [ { "hooks": [ {"type": "command", "command": COMMAND, "timeout": 5} ] } ] }
}"""

OPENHANDS_FILE = """\
{
    "stop": [ { "matcher" : "*", "hooks": [ {"type": "command", "command": COMMAND, "timeout": 5} ] } ] }
"""

OPENHANDS_WRAPPED = """\
{ "hooks": {"Stop": [ {"hooks": [ {"type": "command", "command": COMMAND} ] } ] } }"""

VIBE_FILE = """\
# by hand
[[hooks]]
    name = "bell"   # rings
    type = 'post_agent'
    command = COMMAND
    timeout = 5.0"""


KIMI_FILE = """\
# by hand
default_model = "m"   # the model

# rings
[[hooks]]
event = "Stop"
command = COMMAND
timeout = 5
# end
"""

# A list with odd blanks and comments, and settings behind it.
HERMES_FILE = f"""\
# by hand
hooks:
    pre_verify:   # before it is done
    -   command: COMMAND
        timeout: 5
    # - command: ./old.sh

{hermes.BASE}"""

PI_FILE = """\
import { execSync } from "node:child_process"
export default (pi) => {
    pi.on("agent_before_settle", () => { execSync(COMMAND, { input: "{}" }) })
}"""


def _trust(place: Place) -> None:
    codex.trust_project(place, place.project)


def _trust_in_grok(place: Place) -> None:
    grok.trust_project(place, place.project)


CASES = [
    Case(claude, CLAUDE_FILE, quick=True, says="Stop says: hookctl guard: "),
    Case(claude, CLAUDE_FILE, ".claude/settings.json", quick=True),
    Case(claude, CLAUDE_FILE, ".claude/settings.local.json", quick=True),
    Case(codex, CODEX_FILE, arguments=(codex.BYPASS,), quick=True),
    Case(codex, CODEX_TOML, home_file=".codex/config.toml", arguments=(codex.BYPASS,)),
    Case(codex, CODEX_FILE, ".codex/hooks.json", arguments=(codex.BYPASS,), prepare=_trust, quick=True),
    Case(gemini, GEMINI_FILE, says="Hook system message: hookctl guard: stopped blocking after 5 blocks"),
    Case(gemini, GEMINI_FILE, ".gemini/settings.json"),
    Case(qwen, QWEN_FILE),
    Case(qwen, QWEN_FILE, ".qwen/settings.json"),
    Case(copilot, COPILOT_FILE),
    Case(copilot, COPILOT_FILE, ".github/hooks/hookctl.json", arguments=(copilot.TRUST,)),
    Case(droid, DROID_FILE),
    Case(droid, DROID_FILE, ".factory/settings.json"),
    Case(grok, GROK_FILE, quick=True),
    Case(grok, GROK_FILE, ".grok/hooks/hookctl.json", prepare=_trust_in_grok),
    Case(openhands, OPENHANDS_FILE),
    Case(openhands, OPENHANDS_WRAPPED),
    Case(openhands, OPENHANDS_FILE, ".openhands/hooks.json"),
    Case(vibe, VIBE_FILE, cap=3),
    Case(vibe, VIBE_FILE, ".vibe/hooks.toml", arguments=(vibe.TRUST,), cap=3),
    Case(kimi, KIMI_FILE, cap=1, tells_the_last=False),
    Case(hermes, HERMES_FILE, arguments=(hermes.YOLO, hermes.ACCEPT), cap=3, tells_the_last=False,
         turn=lambda place: [hermes.write_file(place), "done"]),
    Case(pi, PI_FILE, says="stopped blocking after 5 blocks", quick=True),
    Case(pi, PI_FILE, ".pi/extensions/operators.js", arguments=(pi.TRUST,)),
]  # fmt: skip
