"""Who reads whose files: one table, in the files of their hosts, which everything that tells of it follows."""

from __future__ import annotations

from pathlib import Path

from hookctl import hosts
from hookctl.hosts.readers import find_read_by
from tests.conftest import Hookctl

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


def test_uninstall_for_one_host_names_the_file_that_still_has_the_guard(hookctl: Hookctl) -> None:
    hookctl("install", "--host", "claude")
    said = "still installed: guard in ~/.claude/settings.json; `hookctl status --all` says more"
    assert said in hookctl("uninstall", "--host", "grok").err
    assert "still installed" not in hookctl("uninstall", "--host", "grok", "--host", "claude").err
