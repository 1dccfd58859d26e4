"""How clients are had: from the cache, from npm, or not at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from . import clients

ROOT = Path(__file__).parents[2]


def run_one_test(cache: Path, **environment: str) -> str:
    """Run one e2e test where neither a cached client nor npm is to be found, and return what pytest says."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/e2e/test_claude_facts.py"]
    done = subprocess.run(
        [*command, "-k", "without_a_hook"],
        cwd=ROOT,
        env={"PATH": "/nowhere", "HOME": str(cache), "HOOKCTL_TEST_CACHE": str(cache), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return done.stdout


def test_without_a_client_the_tests_are_skipped_and_say_why(tmp_path: Path) -> None:
    said = run_one_test(tmp_path / "cache")
    assert "1 skipped" in said
    assert "there is no npm to fetch it" in said


def test_without_a_client_the_tests_fail_where_they_are_required(tmp_path: Path) -> None:
    said = run_one_test(tmp_path / "cache", HOOKCTL_E2E="require")
    assert "1 error" in said
    assert "there is no npm to fetch it" in said


def test_a_cached_client_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "_CACHE", tmp_path)
    monkeypatch.setattr(clients, "_NPM_ENVIRONMENT", {"PATH": "/nowhere"})
    pins = clients.read_pins("claude")
    package = pins["package"].replace("PLATFORM", clients._platform())
    program = tmp_path / f"{package.partition('/')[2]}-{pins['version']}" / "node_modules" / package / "claude"
    program.parent.mkdir(parents=True)
    program.touch()
    assert clients.find_client("claude").program == program


def test_a_fetch_that_fails_says_what_npm_said_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\necho 'no such version' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setattr(clients, "_CACHE", tmp_path / "cache")
    monkeypatch.setattr(clients, "_NPM_ENVIRONMENT", {"PATH": f"{npm.parent}:{os.defpath}"})
    with pytest.raises(clients.Unavailable, match="no such version"):
        clients.find_client("claude")
    assert list((tmp_path / "cache").iterdir()) == []
