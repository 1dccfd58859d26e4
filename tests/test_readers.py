"""Who reads whose files: one table, in the files of their hosts, which everything that tells of it follows."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Hookctl


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
