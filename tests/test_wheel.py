"""The wheel: what is in it, and that it works alone, in an empty home."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Taken when this module is read: the tests' own HOME has neither pip's settings nor its cache.
_OURS = re.compile("PATH|HOME|LANG|(PIP|SSL|REQUESTS)_.*|(http|https|no)_proxy", re.IGNORECASE)
_ENVIRONMENT = {name: value for name, value in os.environ.items() if _OURS.fullmatch(name)}


def pip(*arguments: str) -> None:
    """Run pip with the settings that it has outside of the tests."""
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=_ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout; built from a copy, since building leaves files behind."""
    folder = tmp_path_factory.mktemp("wheel")
    ignore = shutil.ignore_patterns(".git", ".cache", "__pycache__", ".*_cache", ".hypothesis", ".venv*", "*.egg-info")
    shutil.copytree(ROOT, folder / "source", ignore=ignore, symlinks=True)
    cache = folder / "source" / "hookctl" / "__pycache__"
    cache.mkdir()
    (cache / "cli.cpython-399.pyc").write_bytes(b"")
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(folder / "source"))
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_has_the_package_its_data_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    files = [path for folder in ("hookctl", "schemas", "templates") for path in (ROOT / folder).rglob("*")]
    wanted = {
        str(Path("hookctl", path.relative_to(ROOT)) if path.relative_to(ROOT).parts[0] != "hookctl"
            else path.relative_to(ROOT))
        for path in files
        if path.is_file() and path.suffix in (".py", ".toml", ".json", ".js", ".sh", ".mjs", ".html")
    }  # fmt: skip
    assert {name for name in names if not re.match(r"hookctl-[^/]+\.dist-info/", name)} == wanted
    assert {"hookctl/templates/guard/hook.py", "hookctl/schemas/guard-config.schema.json"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_works_alone(wheel: Path, tmp_path: Path) -> None:
    venv, home = tmp_path / "venv", tmp_path / "empty"
    home.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    pip("--python", str(venv / "bin" / "python"), "install", str(wheel))
    program = venv / "bin" / "hookctl"
    agent = tmp_path / "agent" / "claude"
    agent.parent.mkdir()
    agent.write_text("#!/bin/sh\necho 2.1.330\n")
    agent.chmod(0o755)

    def run(*arguments: str) -> str:
        environ = {"HOME": str(home), "PATH": f"{agent.parent}:/usr/bin:/bin"}
        done = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=home, env=environ)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    settings = home / ".claude" / "settings.json"
    run("install", "--host", "claude")
    command = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert str(venv) not in command, "the hook outlives hookctl's own environment"
    findings = json.loads(run("doctor", "--strict", "--json"))["data"]["findings"]
    assert "self_test_passed" in {finding["code"] for finding in findings}
    changed = run("install", "--host", "claude", "--set", "latch=false")
    assert changed.startswith("ok    Claude Code  ~/.claude/settings.json\n")
    run("uninstall")
    assert not settings.parent.exists()
    for language in ("sh", "python", "node"):
        run("pack", "new", f"my-{language}", "--lang", language)
        assert (home / f"my-{language}" / "tests" / "cases.toml").exists()
    if sys.platform == "linux":
        assert (home / ".local" / "state" / "hookctl" / "ledger.json").exists()
        assert not (home / ".local" / "share" / "hookctl").exists()
