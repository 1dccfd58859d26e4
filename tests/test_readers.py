"""Who reads whose files: one table, in the files of their hosts, which everything that tells of it follows."""

from __future__ import annotations

from pathlib import Path

from hookctl import hosts
from hookctl.hosts.readers import find_read_by
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


def test_hosts_names_both_directions(hookctl: Hookctl) -> None:
    by_host = {host["host"]: host for host in hookctl("hosts", "--json").data["hosts"]}
    for owner, reader, scopes in PAIRS:
        read_by = [(agent["host"], tuple(agent["scopes"])) for agent in by_host[owner]["also_read_by"]]
        reads = [(other["host"], tuple(other["scopes"])) for other in by_host[reader]["also_reads"]]
        assert (reader, scopes) in read_by
        assert (owner, scopes) in reads
    assert by_host["codex"]["also_read_by"] == by_host["codex"]["also_reads"] == []


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


def test_uninstall_for_one_host_says_which_file_still_runs_the_guard_in_it(hookctl: Hookctl, isolated: Path) -> None:
    config = isolated / "home" / ".grok" / "config.toml"
    put(config, "")
    hookctl("install", "--host", "claude")
    hookctl("install", "--host", "claude", "--scope", "project")
    assert said_of_reading(hookctl, "grok") == [
        "guard still runs in Grok Build from ~/.claude/settings.json, which it reads too "
        "unless [compat.claude] of its config.toml says no"
    ]
    assert said_of_reading(hookctl, "copilot") == []  # it reads a project's alone
    assert len(said_of_reading(hookctl, "copilot", "--scope", "project")) == 1
    config.write_text("[compat.claude]\nhooks = false\n")
    assert said_of_reading(hookctl, "grok") == []
    config.unlink()
    assert len(said_of_reading(hookctl, "grok")) == 1
    assert "still runs" not in hookctl("uninstall", "--host", "grok", "--host", "claude", "--json").out


def said_of_reading(hookctl: Hookctl, host: str, *scope: str) -> list[str]:
    """What uninstall says of the files that a host reads too."""
    hookctl("install", "--host", host, *scope)
    said = hookctl("uninstall", "--host", host, *scope, "--json").data["messages"]
    return [message["message"] for message in said if "still runs" in message["message"]]
