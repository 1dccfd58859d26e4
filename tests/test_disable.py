"""disable and enable: the very bytes come back, whoever's hook it is, in every host's format and in any order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, Outcome, put
from tests.hostfiles import KINDS, Kind
from tests.test_corpus_every_host import counts

pytestmark = pytest.mark.usefixtures("fixed_python")

# An edit there would change more than a hook, or the host takes no hook from that place.
REFUSED = {
    "alias-as-a-whole-event-elsewhere", "claude-shaped", "duplicate-event-inside-hooks", "flat-handler-in-stop",
    "handlers-in-the-wrong-shape",
}  # fmt: skip

PACK = """
[pack]
name = "notify"
version = "1"

[env]
NOTIFY_LEVEL = "2"

[[hooks]]
id = "done"
event = "Stop"
command = "true done"

[[hooks]]
id = "asked"
event = "UserPromptSubmit"
command = "true asked"
"""


def run(hookctl: Hookctl, *arguments: str, code: int = 0) -> Outcome:
    outcome = hookctl(*arguments)
    assert outcome.code == code, outcome
    return outcome


def listed(hookctl: Hookctl, path: Path, host: str = "claude") -> list[dict[str, Any]]:
    """The hooks of one file, as `hooks` lists them."""
    hooks = json.loads(run(hookctl, "hooks", "--host", host, "--json").out)["data"]["hooks"]
    return [hook for hook in hooks if hook["file"] == str(path)]


def states(hookctl: Hookctl, path: Path, host: str = "claude") -> dict[str, str]:
    return {hook["command"]: hook["state"] for hook in listed(hookctl, path, host)}


def book(isolated: Path) -> Path:
    return isolated / "state" / "disabled.json"


def cases() -> Iterator[Any]:
    for kind in KINDS:
        for path in kind.corpus():
            if counts(kind, path):
                yield pytest.param(kind, path, id=f"{kind.name}-{path.stem}")


@pytest.mark.parametrize(("kind", "model"), list(cases()))
def test_two_hooks_leave_and_come_back_in_either_order(
    hookctl: Hookctl, isolated: Path, kind: Kind, model: Path
) -> None:
    path = put(kind.path(isolated, "user"), model.read_bytes())
    hooks = listed(hookctl, path, kind.host)
    if not hooks:
        return
    config = isolated / "home" / ".codex" / "config.toml"
    watched = {path, config} if kind.host == "codex" else {path}
    before = {file: file.read_bytes() if file.exists() else None for file in watched}
    chosen = [hooks[0]["id"], hooks[-1]["id"]] if len(hooks) > 1 else [hooks[0]["id"]]
    if hookctl("disable", *chosen, "--host", kind.host, "--dry-run").code == 4:
        assert model.stem in REFUSED  # and says why
        return
    for order in (chosen, chosen[::-1]):
        run(hookctl, "disable", *chosen, "--host", kind.host)
        away = [hook for hook in listed(hookctl, path, kind.host) if hook["state"] == "disabled"]
        assert len(away) == len(chosen)
        assert {file: file.read_bytes() if file.exists() else None for file in watched} != before
        for number, id in enumerate(order):
            ids = [hook["id"] for hook in listed(hookctl, path, kind.host) if hook["state"] == "disabled"]
            run(hookctl, "enable", id if id in ids else ids[0])
            assert len(ids) == len(order) - number
        after = {file: file.read_bytes() if file.exists() and file.read_bytes() else None for file in watched}
        assert after == {file: text or None for file, text in before.items()}
        assert not book(isolated).exists()
