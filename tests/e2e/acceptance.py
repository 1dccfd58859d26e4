"""What each client needs for the story that hookctl's promises are kept by: test_acceptance.py tells it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from . import grok, pi, tables
from .agent import Place
from .dialects import Reply
from .everywhere import DRIVERS
from .probe import Probe
from .product import LIMIT

OPERATORS = Path(__file__).parent / "operators"


def operators_file(name: str, command: str) -> str:
    """A settings file that is written by hand, with a stop hook of the operator's own."""
    return (OPERATORS / name).read_text().replace("COMMAND", json.dumps(command))


@dataclass(frozen=True)
class Case:
    """One client and scope."""

    driver: ModuleType
    file: str  # the operator's own, of those in operators/
    project_file: str = ""  # at project and local scope: the settings file, from the project
    home_file: str = ""  # where it is not the usual one, from the home
    arguments: Sequence[str] = ()
    trusts: bool = False  # a user has trusted the project before
    cap: int = LIMIT  # so many blocks in a turn does the client heed, if they are fewer than the limit
    tells_the_last: bool = True  # it tells of the stop behind these, too
    says: str = ""  # what a person or a program that drives it reads then
    replies: Sequence[Any] = ("done",)

    @property
    def host(self) -> str:
        return tables.name_of(self.driver)

    @property
    def id(self) -> str:
        return " ".join([self.host, self.home_file or self.scope])

    @property
    def scope(self) -> str:
        return "local" if "local" in self.project_file else "project" if self.project_file else "user"

    @property
    def kept(self) -> list[str]:
        """The guard's reasons in a turn whose work does not move."""
        return ["blocked"] * self.cap + ["tripped" if self.cap == LIMIT else "host_cap"] * self.tells_the_last

    def prepare(self, place: Place) -> None:
        if self.trusts:
            self.driver.trust_project(place, place.project)

    def turn(self, place: Place) -> list[Reply]:
        return [tables.reply(self.driver, each) for each in tables.placed(self.replies, place)]

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
        path.write_text(operators_file(self.file, probe.command))
        return self.texts(place)


CASES = [Case(driver, **row) for driver in DRIVERS for row in tables.read(driver, "acceptance")]
