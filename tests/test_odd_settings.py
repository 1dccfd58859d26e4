"""Settings files that are valid and odd: nobody's hooks are lost, and no command fails unexpectedly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")

OPENHANDS = ("--host", "openhands")


@pytest.fixture
def openhands(isolated: Path, hookctl: Hookctl) -> Path:
    """OpenHands' settings with our hooks at the root, as install writes them into a new file."""
    assert hookctl("install", *OPENHANDS).code == 0
    return isolated / "home" / ".openhands" / "hooks.json"


def add(path: Path, **keys: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **keys}))


def commands(path: Path) -> int:
    """How many commands of ours the file has."""
    return path.read_text().count(": hookctl=guard/")


@pytest.mark.parametrize("theirs", [{}, {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}])
def test_uninstall_finds_hooks_that_a_new_key_has_hidden(openhands: Path, hookctl: Hookctl, theirs: object) -> None:
    add(openhands, hooks=theirs)
    done = hookctl("uninstall")
    assert done.code == 0
    assert "- stop hook (guard)" in done.out
    assert json.loads(openhands.read_text()) == {"hooks": theirs}


def test_install_moves_hooks_to_where_the_host_reads_them(openhands: Path, hookctl: Hookctl) -> None:
    number = commands(openhands)
    add(openhands, hooks={})
    assert hookctl("install", *OPENHANDS).code == 0
    assert commands(openhands) == number
    assert set(json.loads(openhands.read_text())) == {"hooks"}
    assert hookctl("install", *OPENHANDS).out == "nothing to do\n"
    assert hookctl("uninstall").code == 0
    assert json.loads(openhands.read_text()) == {"hooks": {}}


@pytest.mark.parametrize("text", ['{"hooks": {}}', '{"hooks": []}', '{"hooks": null}', "[]", "null", '{"stop": {}}'])
@pytest.mark.parametrize("command", ["doctor --fix", "doctor", "status", "install --host openhands", "uninstall"])
def test_no_command_fails_unexpectedly(openhands: Path, hookctl: Hookctl, text: str, command: str) -> None:
    openhands.write_text(text)
    assert hookctl(*command.split()).code in (0, 1, 4)


@pytest.mark.parametrize("host", ["cursor", "copilot"])
def test_a_key_that_others_hooks_never_had_goes_with_ours(isolated: Path, hookctl: Hookctl, host: str) -> None:
    hookctl("install", "--host", host)
    (path,) = (file for file in (isolated / "home").rglob("*.json"))
    assert hookctl("uninstall").code == 0
    theirs = '{"hooks": {"stop": [{"command": "x"}]}}' if host == "cursor" else '{"hooks": {"Stop": [{"bash": "x"}]}}'
    put(path, theirs)
    done = hookctl("install", "--host", host)
    assert done.code == 0
    # Without it Cursor runs no hook of the file: theirs run from now on.
    assert ("version also wakes hooks that Cursor has not run without it: stop" in done.err) == (host == "cursor")
    assert "version" in json.loads(path.read_text())
    path.write_text(path.read_text() + " ")
    assert hookctl("uninstall").code == 0
    assert path.read_text() == theirs + " "


@pytest.mark.parametrize("key", ["hooks", "env"])
def test_uninstall_takes_null_for_nothing(settings: Path, hookctl: Hookctl, key: str) -> None:
    hookctl("install", "--host", "claude")
    add(settings, **{key: None})
    assert hookctl("install", "--host", "claude").code == 4
    assert hookctl("uninstall").code == 0
    assert json.loads(settings.read_text()) == {key: None}


def test_uninstall_takes_an_event_that_is_null_for_nothing(settings: Path, hookctl: Hookctl) -> None:
    hookctl("install", "--host", "claude")
    add(settings, hooks={"Stop": None})
    assert hookctl("uninstall").code == 0
    assert json.loads(settings.read_text()) == {"hooks": {"Stop": None}}


@pytest.fixture
def shared(isolated: Path, settings: Path) -> Path:
    """One file for two hosts: Qwen's settings are a link to Claude Code's."""
    put(settings, "{}")
    qwen = isolated / "home" / ".qwen" / "settings.json"
    qwen.parent.mkdir()
    qwen.symlink_to("../.claude/settings.json")
    return settings


def test_two_hosts_at_once_cannot_share_a_file(shared: Path, hookctl: Hookctl) -> None:
    done = hookctl("install", "--host", "claude", "--host", "qwen")
    assert (done.code, shared.read_text()) == (1, "{}")
    assert f"this is the settings file of Claude Code and of Qwen Code: {shared}" in done.err


def test_a_second_host_cannot_take_the_file_of_the_first(shared: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    before = shared.read_bytes()
    done = hookctl("install", "--host", "qwen")
    assert (done.code, shared.read_bytes()) == (1, before)
    assert "Claude Code and of Qwen Code" in done.err
    assert hookctl("uninstall").code == 0
    assert shared.read_text() == "{}"


# Keys that a settings file must have at its top: the operator's hooks must not lose them when ours go.

MINE = {"command": "./format.sh"}


HOST = ("--host", "cursor")


@pytest.fixture
def file(isolated: Path) -> Path:
    return isolated / "home" / ".cursor" / "hooks.json"


def add_mine(file: Path) -> None:
    document = json.loads(file.read_text())
    document["hooks"]["afterFileEdit"] = [MINE]
    put(file, json.dumps(document))


@pytest.mark.parametrize("last", [("uninstall",), ("install", "--mode", "off")], ids=["uninstall", "off"])
def test_a_version_of_ours_stays_with_hooks_that_the_operator_has_added(
    last: tuple[str, ...], file: Path, hookctl: Hookctl
) -> None:
    assert hookctl("install", *HOST).code == 0
    add_mine(file)
    done = hookctl(*last, *HOST)
    assert done.code == 0 and "version kept: without it Cursor may load no hook" in done.out
    assert json.loads(file.read_text()) == {"version": 1, "hooks": {"afterFileEdit": [MINE]}}
    before = file.read_bytes()
    assert "nothing to do" in hookctl(*last, *HOST).out
    assert hookctl("uninstall", *HOST).code == 0
    assert file.read_bytes() == before


def test_it_goes_with_the_last_hook(file: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", *HOST).code == 0
    put(file, json.dumps(json.loads(file.read_text()), indent=4))
    assert hookctl("uninstall", *HOST).code == 0
    assert not file.exists()


def test_it_stays_until_the_last_pack_has_gone(file: Path, isolated: Path, hookctl: Hookctl) -> None:
    pack = put(isolated / "p.toml", '[pack]\nname = "p"\nversion = "1"\n[[hooks]]\nevent = "stop"\ncommand = "p"\n')
    for what in ("guard", str(pack)):
        assert hookctl("install", what, *HOST).code == 0
    put(file, json.dumps(json.loads(file.read_text()), indent=4))
    assert hookctl("uninstall", "guard", *HOST).code == 0
    assert json.loads(file.read_text())["version"] == 1
    assert hookctl("uninstall", "p", *HOST).code == 0
    assert not file.exists()


@pytest.mark.parametrize("off", [True, False], ids=["switched-off-first", "at-once"])
def test_a_file_that_had_none_has_none_again(off: bool, file: Path, hookctl: Hookctl) -> None:
    before = json.dumps({"hooks": {"afterFileEdit": [MINE]}})
    put(file, before)
    assert hookctl("install", *HOST).code == 0
    if off:
        assert hookctl("install", "--mode", "off", *HOST).code == 0
    assert hookctl("uninstall", *HOST).code == 0
    assert file.read_text() == before
