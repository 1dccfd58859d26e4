"""What fifty machines have in their settings before anybody rolls anything out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hookctl import hosts
from tests.conftest import put
from tests.documents.table import document_of, read_table

SECRET = "sk-ant-nobody-may-read-this-4711"
# Texts that are no JSON, and where each stops being it.
_BROKEN = {"n47": '{\n  "a": 1\n  "b": 2\n}\n', "n48": '{"a":\n<<<<<<< ours\n', "n49": '{"token": "x'}
BROKEN = {"n47": (3, 3), "n48": (2, 1), "n49": (1, 11)}
OVERRIDDEN, KILLED = "n05", "n06"
COUNT = 50

_AGENTS = ("claude", "claude", "gemini", "qwen", "claude")
_TEXTS = [None if text == "-" else document_of(text) for (text,) in read_table("starts", Path(__file__).parent)]


class Machine(NamedTuple):
    """One host of the inventory."""

    name: str
    folder: Path
    agent: str

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def settings(self) -> Path:
        return Path(hosts.settings_path(hosts.load(self.agent), "user", {"HOME": str(self.home)}))

    @property
    def environ(self) -> dict[str, str]:
        """The variables of every task there."""
        own = {name: str(self.folder / name) for name in ("home", "state", "data")}
        return {"HOME": own["home"], "HOOKCTL_STATE_DIR": own["state"], "HOOKCTL_DATA_DIR": own["data"]}


def lay_out(top: Path) -> list[Machine]:
    """Fifty machines, no two neighbours alike."""
    machines = []
    for number in range(COUNT):
        name = f"n{number:02}"
        agent = "claude" if name in (OVERRIDDEN, KILLED, *BROKEN) else _AGENTS[number % len(_AGENTS)]
        machine = Machine(name, top / name, agent)
        machine.home.mkdir(parents=True)
        text = _BROKEN.get(name, _TEXTS[number % len(_TEXTS)])
        if text is not None:
            put(machine.settings, text).chmod((0o600, 0o644, 0o640)[number % 3])
        if text is not None and number % 7 == 0:  # as with stow or chezmoi
            real = machine.home / "dotfiles.json"
            machine.settings.rename(real)
            machine.settings.symlink_to(real)
        machines.append(machine)
    return machines


def contents(machine: Machine) -> dict[str, tuple[object, ...]]:
    """Every file of a home: its mode and bytes, or where a link leads."""
    return dict(_contents(machine.home))


def _contents(top: Path) -> Iterator[tuple[str, tuple[object, ...]]]:
    for path in sorted(top.rglob("*")):
        about = path.lstat()
        data = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None
        yield str(path.relative_to(top)), (about.st_mode, data)
