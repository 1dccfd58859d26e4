"""Who reads whose files: one table, in the files of their hosts, which everything that tells of it follows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.hosts.readers import find_read_by, title_of
from hookctl.settings import switches
from tests.conftest import Hookctl, put

PAIRS = [
    (owner.name, agent.host, tuple(agent.scopes))
    for owner in map(hosts.load, hosts.names())
    for agent in owner.also_read_by
    if agent.host
]


def test_what_is_written_down_once_is_found_from_both_sides() -> None:
    found = [(owner.name, name, tuple(agent.scopes)) for name in hosts.names() for owner, agent in find_read_by(name)]
    assert sorted(found) == sorted(PAIRS)
    assert len(PAIRS) > 1


@pytest.mark.parametrize(("owner", "reader", "scopes"), PAIRS)
def test_whoever_reads_a_hosts_files_can_be_told_from_it(owner: str, reader: str, scopes: tuple[str, ...]) -> None:
    assert owner != reader
    assert hosts.load(reader).told_by, "its calls look like those of the owner"
    assert set(scopes) <= set(hosts.load(owner).scopes)


def test_hosts_names_both_directions(hookctl: Hookctl) -> None:
    by_host = {host["host"]: host for host in hookctl("hosts", "--json").data["hosts"]}
    for owner, reader, scopes in PAIRS:
        read_by = [(agent["host"], tuple(agent["scopes"])) for agent in by_host[owner]["also_read_by"]]
        reads = [(other["host"], tuple(other["scopes"])) for other in by_host[reader]["also_reads"]]
        assert (reader, scopes) in read_by
        assert (owner, scopes) in reads
    assert by_host["codex"]["also_read_by"] == by_host["codex"]["also_reads"] == []


def test_hosts_says_it_of_one_host(hookctl: Hookctl) -> None:
    lines = [" ".join(line.split()) for line in hookctl("hosts", "copilot").out.splitlines()]
    assert "reads too Claude Code (project, local), proven" in lines
    for agent in hosts.load("copilot").also_read_by:
        assert any(line.startswith(f"read by {title_of(agent)} (user, project)") for line in lines)
    assert "read by Goose (plugins), read" in " ".join(hookctl("hosts", "openhands").out.split())


def test_a_plugin_in_a_shared_folder_is_said_to_be_read_by_others(hookctl: Hookctl, isolated: Path) -> None:
    for folder in (".agents/plugins/shared", ".openhands/plugins/own"):
        path = isolated / "home" / folder / "hooks" / "hooks.json"
        path.parent.mkdir(parents=True)
        command = {"type": "command", "command": f"echo {path.parents[1].name}"}
        path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [command]}]}}))
    listed = hookctl("hooks", "--host", "openhands", "--json").data["hooks"]
    readers = {hook["plugin"]: [agent["agent"] for agent in hook["also_read_by"]] for hook in listed}
    assert readers == {"shared": ["Goose"], "own": []}
    assert "~/.agents/plugins/shared/hooks/hooks.json is also read by Goose" in hookctl("hooks").out


def test_copilot_and_vs_code_each_have_a_file_of_their_own_in_one_folder(isolated: Path, hookctl: Hookctl) -> None:
    """Copilot CLI reads every other file there, each once."""
    for host in ("copilot", "vscode"):
        assert hookctl("install", "--host", host).code == 0
    hooks = hookctl("hooks", "--json").data["hooks"]
    assert {(hook["host"], Path(hook["file"]).name) for hook in hooks} == {
        ("copilot", "hookctl.json"),
        ("vscode", "hookctl-vscode.json"),
    }
    assert len({(hook["host"], hook["id"]) for hook in hooks}) == len(hooks)
    assert {hook["state"] for hook in hooks} == {"runs"}


def test_uninstall_for_one_host_names_the_file_that_still_has_the_guard(hookctl: Hookctl) -> None:
    hookctl("install", "--host", "claude")
    said = "still installed: guard in ~/.claude/settings.json; `hookctl status --all` says more"
    assert said in hookctl("uninstall", "--host", "grok").err
    assert "still installed" not in hookctl("uninstall", "--host", "grok", "--host", "claude").err


def test_uninstall_for_one_host_needs_no_other_ones_files(hookctl: Hookctl, isolated: Path) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    for name in (".gemini/settings.json", ".codex/hooks.json", ".codex/config.toml", ".copilot/hooks/a.json"):
        put(isolated / "home" / name, '{"hooks": [')
    assert hookctl("uninstall", "--host", "claude").code == 0
    assert not (isolated / "home" / ".claude").exists()


@pytest.mark.parametrize(("word", "is_left"), [("", False), ("off", True), ("on", False), ("x", False)])
def test_a_variable_alone_tells_grok_to_leave_claude_codes_files(word: str, is_left: bool, isolated: Path) -> None:
    (agent,) = (one for one in hosts.load("claude").also_read_by if one.host == "grok")
    environ = {"HOME": str(isolated / "home"), agent.switch.files[0].removeprefix("$"): word}
    assert switches.leaves_alone(agent, environ) is is_left
