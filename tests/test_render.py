"""hookctl render: the text that an install would write, for those who ship it by other means."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from tests.conftest import Hookctl

DROP_IN = "managed-settings.d/50-hookctl.json"
APPLICATIONS = "/Library/Application Support"
MANAGED = [
    ("claude", "linux", f"/etc/claude-code/{DROP_IN}", True),
    ("claude", "macos", f"{APPLICATIONS}/ClaudeCode/{DROP_IN}", True),
    ("codex", "linux", "/etc/codex/requirements.toml", False),
    ("codex", "macos", "/etc/codex/requirements.toml", False),
    ("gemini", "linux", "/etc/gemini-cli/settings.json", False),
    ("gemini", "macos", f"{APPLICATIONS}/GeminiCli/settings.json", False),
    ("grok", "linux", "/etc/grok/managed_config.toml", False),
    ("hermes", "linux", "/etc/hermes/config.yaml", False),
    ("qwen", "linux", "/etc/qwen-code/settings.json", False),
    ("qwen", "macos", f"{APPLICATIONS}/QwenCode/settings.json", False),
]


@pytest.mark.parametrize(("host", "platform", "path", "drop_in"), MANAGED, ids=str)
def test_managed_settings_have_a_path_mode_and_owner(
    host: str, platform: str, path: str, drop_in: bool, hookctl: Hookctl
) -> None:
    done = hookctl("render", "--host", host, "--platform", platform, "--json")
    assert (done.data["path"], done.data["drop_in"]) == (path, drop_in)
    assert (done.data["owner"], done.data["mode"]) == ("root", "0644")
    assert done.data["sha256"] == sha256(done.data["text"].encode()).hexdigest()
    said = hookctl("render", "--host", host, "--platform", platform).err
    assert f"put the settings at {path} (owner root, mode 0644)" in said
    assert ("merge the two" in said) is not drop_in


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "qwen"])
def test_every_machine_renders_the_same(
    host: str, hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    render = ("render", "--host", host, "--platform", "linux", "--json")
    here = hookctl(*render).data
    monkeypatch.setenv("PATH", str(isolated))
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr("sys.executable", str(isolated / "python3"))
    assert hookctl(*render).data == here
    assert "/usr/bin/python3 -I -S" in here["text"]


def test_managed_files_are_given_with_text_and_digest(hookctl: Hookctl) -> None:
    files = hookctl("render", "--host", "claude", "--json").data["files"]
    assert files[-1]["to"].endswith("/claude.json")
    for file in files:
        assert sha256(file["text"].encode()).hexdigest() == file["sha256"]
        assert file["mode"] == "0644"
        if "from" in file:
            assert Path(file["from"]).read_text() == file["text"]
