"""Whoever comes from 0.1.0, at every host and scope, goes on, and uninstall gives the operator's bytes back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hookctl.system import interpreter
from tests import of_0_1_0
from tests.conftest import Hookctl
from tests.of_0_1_0 import Fixture

KILLED = [name for name in of_0_1_0.names() if name.startswith("killed-")]
CHAINS = [name for name in of_0_1_0.names() if name.startswith("chain-")]
INSTALLED = [name for name in of_0_1_0.names() if name not in (*KILLED, *CHAINS)]
COMMITTED = [name for name in INSTALLED if "-project" in name and "-user-" not in name]
TRUSTED = [name for name in INSTALLED if name.endswith("-trust")]
HOSTS = {
    "antigravity", "claude", "codex", "copilot", "cursor", "droid", "gemini", "hermes", "opencode", "openhands", "qwen",
}  # fmt: skip
_KEPT_OPTIONS = ("--host", "--scope")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter that the fixtures name."""
    python = of_0_1_0.python()
    monkeypatch.setattr(interpreter, "choose", lambda environ: (python, ""))


def again(command: tuple[str, ...]) -> tuple[str, ...]:
    """The same command without what is recorded of it."""
    words, kept = iter(command), []
    for word in words:
        value = next(words) if word.startswith("--") and word != "--trust" and word != "--force" else ""
        if not word.startswith("--"):
            kept.append(word)
        elif word in _KEPT_OPTIONS:
            kept += [word, value]
    return tuple(kept)


def installs(fixture: Fixture) -> list[tuple[str, ...]]:
    """What brings everything of the fixture up to date."""
    return list(dict.fromkeys(again(command) for command in fixture.commands if command[0] == "install"))


def uninstalls(fixture: Fixture) -> list[tuple[str, ...]]:
    """What takes all of it out, the last pack first."""
    return [("uninstall", *command[1:]) for command in reversed(installs(fixture))]


def run_all(hookctl: Hookctl, commands: list[tuple[str, ...]]) -> None:
    for command in commands:
        done = hookctl(*command)
        assert done.code == 0, (command, done)


def found_wrong(hookctl: Hookctl, *options: str) -> set[str]:
    """The codes of the errors that doctor finds."""
    done = hookctl("doctor", "--json", *options)
    wrong = {finding["code"] for finding in done.data["findings"] if finding["level"] == "error"}
    assert done.code == bool(wrong), done
    return wrong


def waits_for_approval(name: str) -> set[str]:
    """What doctor finds where a host asks its operator first, and nobody has agreed."""
    return {"not_approved"} if name.startswith(("codex", "hermes")) and not name.endswith("-trust") else set()


def assert_gone(fixture: Fixture, top: Path) -> None:
    """The operator's very bytes are back, and nothing of ours is left."""
    assert operators(of_0_1_0.tree(top)) == operators(fixture.before())
    assert not (top / "data").exists()
    assert {path.name for path in (top / "work").glob(".hookctl/*")} <= {"run"}
    for path in (top / "state").glob("*.json"):
        assert str(top) not in path.read_text(), path
    assert not list((top / "state").glob("journal*")) and not list((top / "state" / "pending").glob("*"))


def operators(tree: dict[str, tuple[str, bytes | None]]) -> dict[str, tuple[str, bytes | None]]:
    """What of a tree is the operator's; a folder for the work in hand may stay."""
    ours = "work/.hookctl"
    return {name: about for name, about in tree.items() if name.startswith(("home/", "work/")) and name != ours}


def stable(top: Path) -> dict[str, tuple[str, bytes | None]]:
    return {name: about for name, about in of_0_1_0.tree(top).items() if "__pycache__" not in name}


def test_every_host_and_scope_has_its_fixture() -> None:
    assert {name.split("-")[0] for name in INSTALLED} == HOSTS
    scopes = {name.rpartition("-")[2] for name in INSTALLED}
    assert scopes >= {"user", "project", "local"}
    assert len(COMMITTED) >= len(HOSTS)
    assert len(KILLED) > 15 and len(CHAINS) == 2 and len(TRUSTED) == 4


@pytest.mark.parametrize("name", INSTALLED)
def test_what_0_1_0_installed_goes_on_and_goes(name: str, hookctl: Hookctl, isolated: Path) -> None:
    fixture = Fixture(name, isolated)
    fixture.lay_out()
    run_all(hookctl, [("status",)])
    assert found_wrong(hookctl) == waits_for_approval(name)
    run_all(hookctl, installs(fixture))
    once = stable(isolated)
    run_all(hookctl, installs(fixture))
    assert stable(isolated) == once
    assert found_wrong(hookctl, "--fix") == waits_for_approval(name)
    assert stable(isolated) == once
    assert hookctl("status", "--json").data["files"]
    run_all(hookctl, uninstalls(fixture))
    assert_gone(fixture, isolated)
    assert not hookctl("status", "--json").data["files"]


@pytest.mark.parametrize("name", INSTALLED[::2])
def test_what_0_1_0_installed_is_taken_out_at_once(name: str, hookctl: Hookctl, isolated: Path) -> None:
    fixture = Fixture(name, isolated)
    fixture.lay_out()
    run_all(hookctl, uninstalls(fixture))
    assert_gone(fixture, isolated)


@pytest.mark.parametrize("name", INSTALLED[1::2])
def test_doctor_repairs_what_0_1_0_installed(name: str, hookctl: Hookctl, isolated: Path) -> None:
    fixture = Fixture(name, isolated)
    fixture.lay_out()
    assert found_wrong(hookctl, "--fix") == waits_for_approval(name)
    run_all(hookctl, uninstalls(fixture))
    assert_gone(fixture, isolated)


@pytest.mark.parametrize("command", [("install", "--host", "claude"), ("doctor", "--fix")], ids=" ".join)
def test_what_the_operator_changed_since_stays(command: tuple[str, ...], hookctl: Hookctl, isolated: Path) -> None:
    """A setting in the configuration and an edited program; the edited program still blocks."""
    Fixture("chain-user", isolated).lay_out()
    (hook,) = isolated.glob("data/guard/*/hook.py")
    hook.write_text("# mine\n" + hook.read_text())
    config = hook.with_name("config.json")
    config.write_text(json.dumps({**json.loads(config.read_text()), "latch": False}))
    assert hookctl(*command).code in (0, 1)
    assert hook.read_text().startswith("# mine\n")
    assert json.loads(config.read_text())["latch"] is False
    assert asked(isolated)


@pytest.mark.parametrize("name", COMMITTED)
def test_a_fresh_clone_of_what_0_1_0_committed(name: str, hookctl: Hookctl, isolated: Path) -> None:
    """Nothing is known here but what was committed."""
    fixture = Fixture(name, isolated)
    shutil.rmtree(isolated / "work")
    fixture.lay_out("work")
    os.chdir(isolated / "work")
    packs = [path for path in fixture.before() if path.startswith("home/packs")]
    if packs:
        fixture.lay_out("home")
    run_all(hookctl, [*installs(fixture), *installs(fixture)])
    assert found_wrong(hookctl) == waits_for_approval(name)
    run_all(hookctl, uninstalls(fixture))
    before = {path: data for path, data in fixture.before().items() if path.startswith("work")}
    assert {path: data for path, data in of_0_1_0.tree(isolated).items() if path.startswith("work")} == before
    assert not (isolated / "data").exists()


@pytest.mark.parametrize("name", KILLED)
def test_a_killed_run_of_0_1_0_is_carried_to_its_end(name: str, hookctl: Hookctl, isolated: Path) -> None:
    fixture = Fixture(name, isolated)
    fixture.lay_out()
    last = fixture.commands[-1]
    run_all(hookctl, [("status",), last])
    assert not (isolated / "state" / "journal.json").exists()
    assert not list(isolated.rglob("*.hookctl")) or set(isolated.rglob("*.hookctl")) == {isolated / "work" / ".hookctl"}
    if last[0] == "install":
        once = stable(isolated)
        run_all(hookctl, [last])
        assert stable(isolated) == once
        run_all(hookctl, uninstalls(fixture))
    assert_gone(fixture, isolated)


@pytest.mark.parametrize("name", KILLED)
def test_a_killed_run_of_0_1_0_is_taken_back(name: str, hookctl: Hookctl, isolated: Path) -> None:
    fixture = Fixture(name, isolated)
    fixture.lay_out()
    run_all(hookctl, uninstalls(fixture))
    assert_gone(fixture, isolated)


@pytest.mark.parametrize("name", TRUSTED)
def test_what_0_1_0_approved_stays_approved_and_goes(name: str, hookctl: Hookctl, isolated: Path) -> None:
    """An approval of somebody else's is none of ours."""
    fixture = Fixture(name, isolated)
    fixture.lay_out()
    config = isolated / "home" / ".codex" / "config.toml"
    approved = config.read_text().count("trusted_hash")
    run_all(hookctl, installs(fixture))
    assert config.read_text().count("trusted_hash") == approved
    assert "not_approved" not in {finding["code"] for finding in hookctl("doctor", "--json").data["findings"]}
    run_all(hookctl, uninstalls(fixture))
    assert_gone(fixture, isolated)


@pytest.mark.parametrize("upgraded", [True, False], ids=["upgraded", "as it was"])
@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_of_blocks_goes_on_to_its_limit(name: str, upgraded: bool, hookctl: Hookctl, isolated: Path) -> None:
    """Three of five are used: two more at most, and then the agent may stop, and may again."""
    fixture = Fixture(name, isolated)
    fixture.lay_out()
    if upgraded:
        run_all(hookctl, installs(fixture))
    blocked = [asked(isolated) for _ in range(6)]
    assert blocked == [True, True, False, False, False, False]


def asked(top: Path) -> bool:
    """Let the registered command answer a stop of the session; whether it blocks."""
    (settings,) = [path for path in top.rglob("settings.json") if "backups" not in path.parts]
    entries = [handler for group in json.loads(settings.read_text())["hooks"]["Stop"] for handler in group["hooks"]]
    (command,) = [entry["command"] for entry in entries if "hookctl=guard" in entry["command"]]
    payload = {"session_id": "S", "prompt_id": "p", "cwd": str(top / "work"), "stop_hook_active": True}
    environ = {**os.environ, "MAX_STOP_BLOCKS": "5", "CLAUDE_PROJECT_DIR": str(top / "work")}
    call = ["sh", "-c", command]
    done = subprocess.run(call, input=json.dumps(payload), env=environ, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return '"block"' in done.stdout
